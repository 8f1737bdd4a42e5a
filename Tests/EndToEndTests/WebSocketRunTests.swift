import Foundation
import Testing

extension SideBySide {
    /// Jobs that are followed by WebSocket, with a client and a server that others wrote.
    @Suite struct WebSocketRunTests {
        private static let python = Package.root.appending(path: ".build/venv/bin/python")

        /// What the client saw, by the name of the check.
        private struct Check: Decodable {
            var check: String
            var types: [String]?
            var code, status: Int?
            var first, upgrade: String?
            var pong, token: Bool?
        }

        @Test func `a published client follows jobs on serve, and is refused and closed by the contract`()
            async throws
        {
            let serve = try await ServeProcess.start(
                Binary.path,
                [
                    "serve", "--port", "0", "--set", "server.job-time=2s..3s", "--set",
                    "server.rate-limit=off", "--set", "server.token-lifetime=20m",
                ])
            let script = Package.tests.appending(path: "Tools/websocket_client.py").path
            let outcome = try await Subprocess.run(
                Self.python, ["-B", "-W", "ignore", script, serve.base], seconds: 60)
            try #require(outcome.code == 0, "\(outcome.complaint)")
            let lines = outcome.output.split(separator: "\n").map { Data($0.utf8) }
            var checks: [String: Check] = [:]
            for line in lines {
                let check = try JSONDecoder().decode(Check.self, from: line)
                checks[check.check] = check
            }
            let followed = try #require(checks["followed"]?.types)
            #expect(followed.prefix(2) == ["ready_ack", "job_started"] && followed.last == "job_complete")
            #expect(checks["followed"]?.code == 1_000)
            #expect(checks["fragments"]?.first == "ready_ack" && checks["fragments"]?.pong == true)
            #expect(checks["used"]?.status == 401)
            #expect(checks["reconnected"]?.types?.dropFirst().first == "reconnected")
            #expect(checks["reconnected"]?.code == 1_000)
            #expect(checks["wrong"]?.status == 401 && checks["none"]?.status == 401)
            #expect(checks["plain"]?.status == 426 && checks["plain"]?.upgrade == "websocket")
            #expect(checks["refresh"]?.status == 200 && checks["refresh"]?.token == true)
            let line = try #require(lines.first { $0.starts(with: Data(#"{"check": "flaws""#.utf8)) })
            let flaws = try #require(try JSONSerialization.jsonObject(with: line) as? [String: Any])
            let codes = [
                "unmasked": 1_002, "reserved": 1_002, "continuation": 1_002, "not-utf8": 1_007,
                "binary": 1_003, "bad-code": 1_002, "too-long": 1_009,
            ]
            for (name, code) in codes { #expect(flaws[name] as? Int == code, "\(name)") }
        }

        @Test func `phones exchange the tokens of their jobs, and follow these to the end`() async throws {
            let scratch = try Scratch()
            let folder = scratch.folder.appending(path: "report")
            let settings = ShortRun.set([
                "fleet.shelves.phones=6", "fleet.shelves.scans=1", "fleet.shelves.preprocess=once",
                "slo.refresh.attempts=count >= 12",
            ])
            let options = ["--output", folder.path, "--quiet", "--no-color"]
            let outcome = try await Binary.run(["run", "websocket-tokens"] + settings + options)
            #expect(outcome.hasPassed, "\(outcome)")
            let log = try RunReport(folder: folder).log()
            let received = log.count { $0.isPhone("token-exchanged") }
            #expect(received >= 6)
            #expect(log.count { $0.side == "backend" && $0.what == "token-exchanged" } >= received)
            // A token lasts 6 s, and a job 9 at least.
            #expect(try RunReport(folder: folder).summary().scans.completed == 6)
        }

        private static let both = """
            scenario: 1
            name: both
            seed: 7
            transports: [websocket, sse]
            fleet:
              shelves:
                {journey: bookshelf-scan, phones: 6, scans: 2, arrivals: 6/s, network: perfect, preprocess: once}
            server: {job-time: 1s..2s, rate-limit: off, ping: 1s}
            faults:
              - {do: reset, on: stream, after: 2 events}
            slo: {scans.lost: count == 0}
            """

        @Test func `the transports of a target are compared by all that is asked of them`() async throws {
            let scratch = try Scratch()
            let scenario = try scratch.file("both.scenario", Data(Self.both.utf8)).path
            let serve = try await ServeProcess.start(
                Binary.path,
                [
                    "serve", "--port", "0", "--set", "server.job-time=1s..2s", "--set",
                    "server.rate-limit=off",
                ])
            let folder = scratch.folder.appending(path: "report")
            let options = ["--target", serve.base, "--output", folder.path, "--quiet", "--no-color"]
            let outcome = try await Binary.run(["run", scenario] + options)
            let bytes = try Data(contentsOf: folder.appending(path: "transports.json"))
            let json = try #require(try JSONSerialization.jsonObject(with: bytes) as? [String: Any])
            let figures = try #require(json["figures"] as? [[String: Any]])
            #expect(figures.count { $0["decides"] as? Bool == true } == 9, "\(outcome)")
            for figure in figures where figure["decides"] as? Bool == true {
                let (old, new) = (figure["old"], figure["new"])
                #expect(old is NSNumber && new is NSNumber, "\(figure)")
            }
        }

        @Test func `phones follow jobs of a published server, whatever it answers and however it closes`()
            async throws
        {
            let script = Package.root.appending(path: "Tests/Targets/sockets.py").path
            // Without arguments it tries all; 1013 waits for 30 s.
            let modes = ["plain", "1001", "1011", "4000", "401", "503"]
            let outcome = try await Subprocess.run(
                Self.python,
                ["-B", "-W", "ignore", script, "--binary", Binary.path.path] + modes, seconds: 560)
            #expect(outcome.code == 0, "\(outcome.output)\(outcome.complaint)")
            #expect(outcome.output == modes.map { "\($0): ok\n" }.joined())
        }
    }
}
