import Foundation
import Testing

extension SideBySide {
    /// `serve --record` and `serve --replay`, with curl's clock as the judge.
    @Suite struct RecordedServerTests {
        private struct Journey: Equatable {
            struct Event: Equatable {
                var name, id, data: String
            }
            var job: String
            var token: String
            var events: [Event] = []
            /// Milliseconds since the stream's head.
            var times: [Double] = []
        }

        /// Uploads, follows the stream and cleans up; `Tools/timed_stream.py` says when each event came.
        private static func journey(_ serve: ServeProcess) async throws -> Journey {
            var phone = Curl(base: serve.base)
            let accepted = try await phone.upload([Curl.photo]).decoded(Accepted.self).data
            phone.token = accepted.authToken
            var journey = Journey(job: accepted.jobId, token: accepted.authToken)
            let script = Package.tests.appending(path: "Tools/timed_stream.py").path
            let outcome = try await Subprocess.run(
                URL(filePath: "/usr/bin/env"),
                ["python3", script, serve.base + accepted.sseUrl, Curl.device, accepted.authToken])
            try #require(outcome.code == 0, "\(outcome.complaint)")
            struct Line: Decodable {
                var ms: Double
                var name, id, data: String
            }
            for line in outcome.output.split(separator: "\n") {
                let event = try JSONDecoder().decode(Line.self, from: Data(line.utf8))
                journey.events.append(.init(name: event.name, id: event.id, data: event.data))
                journey.times.append(event.ms)
            }
            #expect(try await phone.delete("/v3/jobs/scans/\(accepted.jobId)/cleanup").status == 204)
            return journey
        }

        @Test func `what was recorded is played with the same events at the same times`() async throws {
            let scratch = try Scratch()
            let file = scratch.folder.appending(path: "run.ndjson").path
            let options = ["--set", "server.job-time=4s", "--set", "server.ping=400ms"]
            let recorded = try await ServeProcess.during(options + ["--record", file]) {
                try await Self.journey($0)
            }
            #expect(recorded.events.last?.name == "completed")
            #expect(recorded.events.contains { $0.name == "ping" })
            let text = try String(contentsOfFile: file, encoding: .utf8)
            #expect(!text.contains(recorded.token))

            // A busy machine may be late once; a wrong replay is late each time.
            var off = Double.infinity
            for _ in 0..<4 where off >= 20 {
                let played = try await ServeProcess.during(["--replay", file]) { try await Self.journey($0) }
                #expect(played.job == recorded.job)
                #expect(played.token != recorded.token)
                #expect(played.events == recorded.events)
                off = zip(played.times, recorded.times).map { abs($0 - $1) }.max() ?? .infinity
            }
            #expect(off < 20, "milliseconds")
        }

        @Test func `a stream that was cut is cut again at the same byte`() async throws {
            let scratch = try Scratch()
            let file = scratch.folder.appending(path: "run.ndjson").path
            let scenario = try scratch.file(
                "cut.scenario",
                Data(
                    """
                    scenario: 1
                    fleet: {nobody: {phones: 1, arrivals: 1/s}}
                    server: {job-time: 800ms}
                    faults: [{do: reset, on: stream, after: 2 events, cut: inside-event}]
                    """.utf8))
            func streams(_ serve: ServeProcess) async throws -> [String] {
                var phone = Curl(base: serve.base)
                let accepted = try await phone.upload([Curl.photo]).decoded(Accepted.self).data
                phone.token = accepted.authToken
                var bodies: [String] = []
                for _ in 0..<2 {
                    // curl ends with an error where the stream is cut, and keeps what came.
                    bodies.append(try await phone.cutStream(accepted.jobId))
                }
                return bodies.map { body in
                    body.split(separator: "\n").filter { !$0.hasPrefix(": t=") }.joined(separator: "\n")
                }
            }
            let recorded = try await ServeProcess.during([scenario.path, "--record", file]) {
                try await streams($0)
            }
            let played = try await ServeProcess.during(["--replay", file]) { try await streams($0) }
            #expect(recorded[0].contains("event: progress") && !recorded[0].contains("completed"))
            #expect(recorded[1].contains("event: completed"))
            #expect(played == recorded)
        }

        @Test func `what cannot be recorded into or played is refused with its path`() async throws {
            let scratch = try Scratch()
            let there = try scratch.file("there", Data("{\"recording\":1}\n".utf8)).path
            let folder = scratch.folder.path
            let refusals: [(arguments: [String], code: Int32, says: String)] = [
                (["--record", there], 64, "cannot record to '\(there)': the file exists"),
                (["--record", folder + "/no/file"], 74, "cannot record to '\(folder)/no/file'"),
                (["--replay", folder + "/missing"], 66, "cannot read \(folder)/missing"),
                (["--replay", there], 65, "\(there):1: not a recording"),
                (["--replay", there, "flaky-network"], 64, "--replay cannot be combined with the scenario"),
            ]
            for (arguments, code, says) in refusals {
                let outcome = try await Binary.run(["serve"] + arguments)
                #expect(outcome.code == code, "\(arguments)")
                #expect(outcome.complaint.contains(says), "\(outcome.complaint)")
            }
            #expect(try String(contentsOfFile: there, encoding: .utf8) == "{\"recording\":1}\n")
        }
    }
}
