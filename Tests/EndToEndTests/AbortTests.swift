import Foundation
import Testing

extension EndToEnd {
    /// An objective with `abort` ends the run as soon as it is broken.
    @Suite struct AbortTests {
        private static let options =
            [ShortRun.scenario] + ShortRun.options
            + ShortRun.set([
                "fleet.commuters.arrivals=2/s", "fleet.commuters.devices=60",
                "faults=[{do: http-error, on: upload, status: 503, retry-after: 5s, chance: 50%}]",
            ])

        @Test func `a broken objective ends the run, with its report and what was not captured`() async throws
        {
            let run = try RunProcess(
                Self.options + ShortRun.set(["slo={http.503: {expect: count < 3, abort: on}}"]))
            let outcome = try await run.end(seconds: 40)
            #expect(outcome.code == 99, "\(outcome)")
            #expect(outcome.complaint.contains("ended early: http.503 was "), "\(outcome.complaint)")
            #expect(outcome.output.contains("ended early: http.503 was "))
            let summary = try run.report.summary()
            // A minute of arrivals was planned.
            #expect((1..<100).contains(summary.scans.captured))
            #expect(summary.scans.isConserved && summary.scans.lost == 0)
        }

        @Test func `without abort the same objective waits for the end`() async throws {
            let run = try RunProcess(
                Self.options
                    + ShortRun.set([
                        "slo={http.503: count < 3}", "fleet.commuters.devices=12",
                        "fleet.commuters.arrivals=12/s",
                    ]))
            let outcome = try await run.end(seconds: 40)
            #expect(outcome.code == 99, "\(outcome)")
            #expect(try run.report.summary().scans.captured == ShortRun.scans)
        }
    }
}
