import Foundation
import Testing

extension SideBySide {
    /// What a network does, to the real program: a small fleet meets each kind of trouble at every point
    /// where it can occur, and loses nothing.
    @Suite struct LinkFaultTests {
        private static let scans = 8

        private static func scenario(_ faults: [String], server: String = "") -> String {
            """
            scenario: 1
            name: link-faults
            seed: 7
            fleet:
              phones:
                phones: 4
                scans: 2
                arrivals: 40/s
                photos: grey
                idle-timeout: 800ms
                request-timeout: 900ms
                inline-books: off
            server: {books: 2..3, job-time: 250ms..350ms, ping: 200ms\(server)}
            drain: 25s
            faults:
            \(faults.map { "  - \($0)" }.joined(separator: "\n"))
            """
        }

        /// A whole run with these faults. One that could not be trusted (98) is made again.
        private static func run(
            _ faults: [String], _ more: [String] = [], server: String = ""
        ) async throws -> (outcome: Outcome, process: RunProcess) {
            let scratch = try Scratch()
            defer { withExtendedLifetime(scratch) {} }
            let path = try GreyPhoto.scenario(self.scenario(faults, server: server), in: scratch)
            var attempt = 1
            while true {
                let process = try RunProcess([path, "--trace"] + more)
                let outcome = try await process.end(seconds: 45)
                guard outcome.code == 98, attempt < 3 else { return (outcome, process) }
                attempt += 1
            }
        }

        private func expectNothingLost(
            _ summary: Summary, sourceLocation: SourceLocation = #_sourceLocation
        ) {
            #expect(summary.scans.captured == Self.scans, sourceLocation: sourceLocation)
            #expect(
                summary.scans.completed == Self.scans, "\(summary.scans)", sourceLocation: sourceLocation)
            #expect(
                summary.scans.isConserved && summary.scans.lost == 0, sourceLocation: sourceLocation)
            #expect(summary.books.duplicated == 0, sourceLocation: sourceLocation)
            #expect(summary.broken.isEmpty, "\(summary.broken)", sourceLocation: sourceLocation)
        }

        private func cause(_ summary: Summary, _ name: String) -> Summary.Loss? {
            summary.disconnections.first { $0.cause == name }
        }

        // MARK: Ends

        @Test(
            arguments: ["reset", "close", "silence"],
            [["reset": "reset", "close": "end-without-terminal", "silence": "silence"]])
        func `every exchange may end anywhere, on either side`(kind: String, causes: [String: String])
            async throws
        {
            let indexes = [
                "upload, side: request", "upload, side: request, after: 500B", "upload",
                "stream, after: 1..2 events, cut: inside-event", "results, after: 150B",
                "cleanup, side: request", "cleanup",
            ]
            let (outcome, process) = try await Self.run(indexes.map { "{do: \(kind), on: \($0)}" })
            try #require(outcome.code == 0, "\(outcome)")
            let summary = try process.report.summary()
            self.expectNothingLost(summary)
            for index in indexes.indices {
                let fired = summary.faults["\(kind)-\(index + 1)"]?.number
                #expect(fired == Self.scans, "\(kind) on \(indexes[index])")
            }
            // A lost reply of an upload leaves a job that no phone knows; what never arrived leaves none.
            #expect(summary.counters["jobs.accepted"]?.number == Self.scans * 2)
            #expect(summary.counters["jobs.orphaned"]?.number == Self.scans)
            #expect(summary.counters["jobs.cleaned"]?.number == Self.scans)
            let loss = try #require(self.cause(summary, causes[kind] ?? ""))
            #expect(loss.count >= Self.scans && loss.resumed >= Self.scans)

            let log = try process.report.log()
            func fired(_ index: Int) -> [LogLine.Exchange] {
                log.filter { $0.isFault("fired") && $0.fault == "\(kind)-\(index + 1)" }.map(\.exchange)
            }
            let answered = Set(log.filter { $0.isBackend("answered") }.map(\.exchange))
            #expect(fired(0).allSatisfy { !answered.contains($0) }, "the server never saw the whole")
            #expect(fired(2).allSatisfy { answered.contains($0) }, "the server has acted")
            let replied = Set(log.filter { $0.isPhone("replied") }.map(\.exchange))
            #expect((fired(0) + fired(2) + fired(6)).allSatisfy { !replied.contains($0) })
            if kind == "silence" {
                let detected = try process.report.metricCount("sse.detect.time")
                #expect(detected >= Self.scans)
                let late = log.filter { $0.isPhone("request-failed") && $0.failure == "timed-out" }
                #expect(late.count >= Self.scans * 4)
            }
        }

        @Test(arguments: ["crlf", "cr", "mixed"])
        func `a stream may end cleanly inside an event, whatever ends its lines`(ends: String) async throws {
            let (outcome, process) = try await Self.run(
                [
                    "{do: end-cleanly, after: 1..2 events}",
                    "{do: reset, on: stream, after: 1..3 events, cut: inside-line-end}",
                    "{do: slice, on: stream, bytes: 1..5, chance: 50%}",
                ], server: ", line-ends: \(ends)")
            try #require(outcome.code == 0, "\(outcome)")
            let summary = try process.report.summary()
            self.expectNothingLost(summary)
            // A job may be over before so many of its events are new to a stream.
            let ended = try #require(summary.faults["end-cleanly-1"]?.number)
            #expect(ended > Self.scans / 2)
            #expect(summary.faults["reset-1"]?.number ?? 0 > 0)
            #expect(self.cause(summary, "end-without-terminal")?.resumed == ended)
            #expect(summary.counters["sse.undecodable"]?.number == 0)
        }

        // MARK: Slowness

        @Test func `what slows a link down breaks nothing`() async throws {
            let (outcome, process) = try await Self.run([
                "{do: slice, on: link, bytes: 1..9}", "{do: delay, on: link, by: 5ms..30ms}",
                "{do: bandwidth, on: link, rate: 800kbps}", "{do: loss, on: link, share: 10%}",
            ])
            try #require(outcome.code == 0, "\(outcome)")
            let summary = try process.report.summary()
            self.expectNothingLost(summary)
            // Four requests make a scan, if nothing has to be tried again.
            for id in ["slice-1", "delay-1", "bandwidth-1"] {
                #expect(try #require(summary.faults[id]?.number) >= Self.scans * 4, "\(id)")
            }
            #expect(try #require(summary.faults["loss-1"]?.number) > 0)
            #expect(summary.counters["jobs.orphaned"]?.number == 0)
        }

        // MARK: Refusals

        @Test func `a refused connection is tried again, and the server never hears of it`() async throws {
            let (outcome, process) = try await Self.run([
                "{do: refuse, on: upload}", "{do: refuse, on: stream, count: 2}",
                "{do: refuse, on: results}", "{do: refuse, on: cleanup}",
            ])
            try #require(outcome.code == 0, "\(outcome)")
            let summary = try process.report.summary()
            self.expectNothingLost(summary)
            #expect(
                (1...4).map { summary.faults["refuse-\($0)"]?.number }
                    == [Self.scans, Self.scans * 2, Self.scans, Self.scans])
            #expect(self.cause(summary, "connect-failed")?.count == Self.scans)
            let log = try process.report.log()
            let refused = Set(log.filter { $0.isFault("fired") }.map(\.exchange))
            let failed = log.filter { $0.isPhone("request-failed") && $0.failure == "connect-refused" }
            #expect(Set(failed.map(\.exchange)) == refused)
            #expect(refused.count == Self.scans * 5)
            let seen = Set(log.filter { $0.isBackend("requested") }.map(\.exchange))
            #expect(seen.isDisjoint(with: refused))
        }

        @Test func `a foreign target refuses as well`() async throws {
            let scratch = try Scratch()
            defer { withExtendedLifetime(scratch) {} }
            let served = try GreyPhoto.scenario(Self.scenario([]), in: scratch)
            let (outcome, process) = try await ServeProcess.during([served]) { serve in
                try await Self.run(["{do: refuse, on: link, count: 2}"], ["--target", serve.base])
            }
            try #require(outcome.code == 0, "\(outcome)")
            let summary = try process.report.summary()
            self.expectNothingLost(summary)
            #expect(summary.faults["refuse-1"]?.number == Self.scans * 2)
            let failed = try process.report.log().filter { $0.isPhone("request-failed") }
            #expect(failed.map(\.failure) == Array(repeating: "connect-refused", count: Self.scans * 2))
            #expect(!outcome.output.contains("faults of server and link are not applied"))
        }
    }
}
