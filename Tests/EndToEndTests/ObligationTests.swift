import Foundation
import Testing

extension SideBySide {
    /// A green exit is earned: what had to be judged was judged.
    @Suite struct ObligationTests {
        /// What `summary.json` says of obligations.
        private struct Judged: Decodable {
            struct Tally: Decodable {
                var held, without_occasion, broken, excused: Int
                var open: [String: Int]
            }
            struct Obligations: Decodable {
                var slos, invariants: Tally
                var text: String
            }
            struct Objective: Decodable {
                var metric: String
                var stated: Bool
                var why_open: String?
            }
            var exit: Int32
            var exit_reasons: [String]
            var obligations: Obligations
            var slos: [Objective]
        }

        private static func judged(_ folder: URL) throws -> Judged {
            try JSONDecoder().decode(
                Judged.self, from: Data(contentsOf: folder.appending(path: "summary.json")))
        }

        private static func latency(_ options: String) -> String {
            "slo={sse.event.delay: {expect: p(99) < 1m\(options)}}"
        }

        /// Against a target, the latency of events and five invariants cannot be judged.
        @Test(arguments: [("", 98), (", not-judged: pass", 0), (", severity: warn", 0)])
        func `an objective that a run against a target cannot judge decides its exit`(
            options: String, code: Int32
        ) async throws {
            let serve = try await ServeProcess.start(["steady-load", "--quiet"])
            let run = try RunProcess(
                ["steady-load", "--target", serve.base]
                    + ShortRun.set([
                        Self.latency(options), "fleet.regulars.phones=4", "fleet.regulars.scans=1",
                        "fleet.campaign.phones=4", "fleet.campaign.scans=1", "fleet.campaign.arrivals=4/s",
                    ]))
            let outcome = try await run.end(seconds: 40)
            #expect(outcome.code == code, "\(outcome)")
            let judged = try Self.judged(run.report.folder)
            #expect(judged.exit == code)
            #expect(judged.exit_reasons == (code == 0 ? [] : ["objective-not-judged"]))
            #expect(judged.slos.first { $0.metric == "sse.event.delay" }?.why_open == "target")
            #expect(judged.slos.contains { !$0.stated && $0.why_open == nil })
            #expect(judged.obligations.slos.open["target"] ?? 0 > 0)
            #expect(judged.obligations.invariants.without_occasion > 0)
            #expect(
                outcome.output.contains("could not be judged without a simulated backend"),
                "\(outcome.output)")
            #expect(outcome.output.contains("had no occasion"))
            let junit = try run.report.text("junit.xml")
            #expect(junit.contains("<skipped message=\"could not be judged without a simulated backend\"/>"))
            #expect(junit.contains("<error type=\"run\"") == (code != 0))
            // The files say the same when they are read again.
            let again = try await Binary.run(["report", run.report.folder.path])
            #expect(again.code == code, "\(again)")
        }

        @Test func `check and plan say beforehand what a run against a target cannot judge`() async throws {
            for command in ["check", "plan"] {
                let outcome = try await Binary.run(
                    [command, "steady-load", "--target", "http://127.0.0.1:9"]
                        + ShortRun.set([Self.latency("")]))
                #expect(outcome.code == 0, "\(outcome)")
                #expect(
                    outcome.complaint.contains(
                        "slo.sse.event.delay: `p(99) < 1m` cannot be judged without a simulated backend: the run ends with 98"
                    ),
                    "\(outcome.complaint)")
                #expect(
                    outcome.complaint.contains(
                        "invariants that cannot be judged without a simulated backend: "))
            }
            let plain = try await Binary.run(["check", "steady-load"])
            #expect(!plain.complaint.contains("cannot be judged"))
        }
    }
}
