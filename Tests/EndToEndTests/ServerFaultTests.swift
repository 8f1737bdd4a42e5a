import Foundation
import Testing

extension SideBySide {
    /// Each fault of the server on the real wire, with real phones: it fires for every scan, and nothing is lost.
    @Suite struct ServerFaultTests {
        static let devices = 6

        /// What one kind of fault brings about, per scan unless said otherwise.
        struct Case: CustomTestStringConvertible, Sendable {
            var name: String
            var faults: [String]
            /// Counters that have this value for every scan.
            var each: [String: Int] = [:]
            /// Counters that are at least one for every scan.
            var atLeastEach: [String] = []
            /// The class that every scan ends in.
            var outcome = "completed"
            /// The loss that every scan meets, once.
            var loss: String?
            /// How the loss ends: what is said in the table of disconnections.
            var lossRestarts = false
            /// Why the phone gives a job of every scan up.
            var abandoned: String?
            /// What the fault is meant to break.
            var breaks: String?
            var jobTime = "200ms..400ms"
            /// Two and a half of them are the silence that a phone bears with.
            var ping = "1s"

            var testDescription: String { self.name }
        }

        static let cases: [Case] = [
            Case(
                name: "http-error on upload",
                faults: ["{do: http-error, on: upload, status: 503, retry-after: 200ms}"],
                each: ["http.503": 1, "http.202": 1, "upload.attempts": 2]),
            Case(
                name: "http-error on upload, final",
                faults: ["{do: http-error, on: upload, status: 422, code: INVALID_IMAGE_SIZE}"],
                each: ["http.422": 1, "upload.attempts": 1], outcome: "refused", breaks: "scans.completed"),
            Case(
                name: "http-error on upload, too many requests",
                faults: [
                    "{do: http-error, on: upload, status: 429, retry-after: 300ms, retry-after-in: body}"
                ],
                each: ["http.429": 1, "upload.attempts": 2]),
            Case(
                name: "http-error on stream",
                faults: ["{do: http-error, on: stream, status: 500, retry-after-in: neither}"],
                each: ["http.500": 1, "sse.connect.attempts": 2], loss: "refused-by-status",
                lossRestarts: true),
            Case(
                name: "http-error on results",
                faults: [
                    "{do: strip-books, on: stream}",
                    "{do: http-error, on: results, status: 502, retry-after: 100ms}",
                ],
                each: ["http.502": 1, "results.attempts": 2]),
            Case(
                name: "http-error on cleanup",
                faults: ["{do: http-error, on: cleanup, status: 403}"],
                each: ["http.403": 1, "cleanup.attempts": 1], abandoned: "status-403",
                breaks: "cleanup.unfinished"),
            Case(
                name: "http-error on cleanup, repeated",
                faults: ["{do: http-error, on: cleanup, status: 503}"],
                each: ["http.503": 1, "http.204": 1, "cleanup.attempts": 2]),
            Case(
                name: "truncate-results",
                faults: ["{do: strip-books, on: stream}", "{do: truncate-results, on: results}"],
                each: ["results.attempts": 2, "http.200": 3]),
            Case(
                name: "reorder-results",
                faults: ["{do: strip-books, on: stream}", "{do: reorder-results, on: results}"],
                each: ["results.attempts": 1, "http.200": 2]),
            Case(
                name: "job-gone on stream", faults: ["{do: job-gone, on: stream, status: 404}"],
                each: ["http.404": 1, "http.202": 2, "jobs.cleaned": 1], abandoned: "job-gone"),
            Case(
                name: "job-gone on results",
                faults: ["{do: strip-books, on: stream}", "{do: job-gone, on: results}"],
                each: ["http.410": 1, "http.202": 2, "results.attempts": 1, "jobs.cleaned": 1],
                abandoned: "job-gone"),
            Case(
                name: "retryable-error", faults: ["{do: retryable-error, on: stream, after: 1 events}"],
                each: ["http.202": 2, "jobs.cleaned": 2]),
            Case(
                name: "final-error", faults: ["{do: final-error, on: stream, after: 1 events}"],
                each: ["http.202": 1, "jobs.cleaned": 1], outcome: "refused", breaks: "scans.completed"),
            Case(name: "degraded", faults: ["{do: degraded, on: stream, books: 70%}"]),
            Case(
                name: "slow-stage",
                faults: ["{do: slow-stage, on: stream, stage: enriching, by: 900ms..1s}"],
                atLeastEach: ["sse.pings"], ping: "300ms"),
            Case(
                name: "unknown-event", faults: ["{do: unknown-event, on: stream, after: 1 events}"],
                each: ["sse.unknown": 1]),
            Case(
                name: "bad-json, an event more", faults: ["{do: bad-json, on: stream}"],
                each: ["sse.undecodable": 1]),
            Case(
                name: "bad-json in progress", faults: ["{do: bad-json, on: stream, in: progress}"],
                each: ["sse.undecodable": 1]),
            Case(
                name: "bad-json in completed", faults: ["{do: bad-json, on: stream, in: completed}"],
                each: ["results.attempts": 1, "sse.undecodable": 1]),
            Case(name: "no-message", faults: ["{do: no-message, on: stream}"]),
            Case(name: "split-data", faults: ["{do: split-data, on: stream}"]),
            Case(
                name: "an event without a name", faults: ["{do: unknown-event, event: message}"],
                each: ["sse.unknown": 1]),
            Case(
                name: "late-ping", faults: ["{do: late-ping, on: stream, by: 1s}"],
                each: ["sse.resumes": 1], loss: "silence", jobTime: "2s", ping: "300ms"),
            Case(
                name: "no-ping", faults: ["{do: no-ping, on: stream}"],
                each: ["sse.resumes": 1], loss: "silence", jobTime: "2s", ping: "300ms"),
            Case(
                name: "two-terminals", faults: ["{do: two-terminals, on: stream}"],
                each: ["jobs.cleaned": 1]),
            Case(
                name: "end-without-terminal", faults: ["{do: end-without-terminal, on: stream}"],
                each: ["sse.resumes": 1], loss: "end-without-terminal"),
            Case(
                name: "ignore-last-event-id",
                faults: [
                    "{do: end-without-terminal, on: stream}", "{do: ignore-last-event-id, on: stream}",
                ],
                each: ["sse.resumes": 1], loss: "end-without-terminal"),
            Case(
                name: "forget-events",
                faults: [
                    "{do: forget-events, on: stream, after: 1 events}",
                    "{do: end-without-terminal, on: stream}",
                ],
                each: ["sse.resumes": 1, "results.attempts": 1], loss: "end-without-terminal"),
        ]

        @Test(arguments: Self.cases) func `phones get through it, and nothing is lost`(_ one: Case)
            async throws
        {
            let (outcome, summary) = try await Self.run(one)
            #expect(outcome.code == 0, "\(outcome)")
            let devices = Self.devices
            #expect(summary.scans.isConserved && summary.scans.lost == 0, "\(summary.scans)")
            #expect(summary.scans.captured == devices)
            let settled = one.outcome == "refused" ? summary.scans.refused : summary.scans.completed
            #expect(settled == devices, "\(summary.scans)")
            #expect(summary.broken.isEmpty)
            #expect(summary.books.duplicated == 0)
            #expect(summary.faults.count == one.faults.count)
            for (id, count) in summary.faults { #expect(count.number == devices, "\(id)") }
            for (counter, count) in one.each {
                let value = summary.counters[counter]?.number
                #expect(value == count * devices, "\(counter)")
            }
            for counter in one.atLeastEach {
                let value = summary.counters[counter]?.number ?? 0
                #expect(value >= devices, "\(counter)")
            }
            let losses = summary.disconnections.filter { $0.count > 0 }
            #expect(losses.map(\.cause) == (one.loss.map { [$0] } ?? []))
            for loss in losses {
                #expect(loss.count == devices)
                #expect(loss.resumed == (one.lossRestarts ? 0 : devices))
                #expect(loss.restarted == (one.lossRestarts ? devices : 0))
            }
            #expect(summary.jobs.abandoned_by_cause == (one.abandoned.map { [$0: devices] } ?? [:]))
        }

        /// A run that could not be trusted, because this machine was too busy for it (98), is made again.
        private static func run(_ one: Case) async throws -> (Outcome, Summary) {
            let scratch = try Scratch()
            let file = try scratch.file("server-fault.scenario", Data(Self.scenario(one).utf8))
            var attempt = 1
            while true {
                let process = try RunProcess([file.path])
                let outcome = try await process.end(seconds: 25)
                if outcome.code == 98, attempt < 3 {
                    attempt += 1
                    continue
                }
                return (outcome, try process.report.summary())
            }
        }

        private static func scenario(_ one: Case) -> String {
            """
            scenario: 1
            name: server-fault
            description: \(one.name)
            seed: 42
            fleet:
              phones:
                {phones: \(self.devices), profile: contract, network: perfect, scans: 1, arrivals: 20/s,
                 spacing: uniform, photos: shelves}
            server:
              {dialect: contract, books: 4..6, job-time: \(one.jobTime), ping: \(one.ping),
               rate-limit: off}
            drain: 15s
            faults:
            \(one.faults.map { "  - \($0)" }.joined(separator: "\n"))
            slo:
              scans.lost: count == 0
            expect-broken: [\(one.breaks ?? "")]

            """
        }
    }
}
