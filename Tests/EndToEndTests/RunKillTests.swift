import Foundation
import Testing

extension SideBySide {
    /// One of the two processes of a run is killed without a word.
    @Suite struct RunKillTests {
        @Test func `a backend does not outlive its run`() async throws {
            let run = try RunProcess(ShortRun.arguments)
            try await run.waitForLog("an accepted upload") { $0.isPhone("upload-accepted") }
            let backend = try await run.backendProcess()
            #expect(try await backend.isAlive())
            run.signal(SIGKILL)
            #expect(try await run.end(seconds: 10).code == SIGKILL)
            // It hears of it at once; the rest is a busy machine's.
            let isGone = try await Patience.until(seconds: 5) { try await !backend.isAlive() }
            #expect(isGone)
        }

        @Test func `a run whose backend is killed says so, and still reports`() async throws {
            let run = try RunProcess(ShortRun.arguments)
            try await run.waitForLog("an accepted upload") { $0.isPhone("upload-accepted") }
            kill(try await run.backendProcess().number, SIGKILL)
            let outcome = try await run.end(seconds: 40)
            #expect(outcome.code == 70)
            let complaint = outcome.complaint.dropFirst("swiftwing-sim: ".count).dropLast()
            #expect(complaint.hasPrefix("the backend process died (killed by signal 9) at 0:0"))
            #expect(complaint.hasSuffix(": its last observations may be missing"))
            let failure = String(complaint)
            #expect(outcome.output.contains("the backend process died (killed by signal 9)"))

            #expect(run.report.files.filter { $0 != "progress.ndjson" } == RunReport.names)
            #expect(try run.report.text("report.md").contains(failure))
            let summary = try run.report.summary()
            #expect(summary.failure == failure)
            #expect(summary.exit == 70 && !summary.passed)
            // The phones are well: what they had not finished waits, and no phone is blamed.
            #expect(summary.scans.isConserved && summary.scans.lost == 0, "\(summary.scans)")
            #expect(summary.scans.captured > 0 && summary.scans.waiting > 0)
            #expect(summary.broken.isEmpty)
        }

        /// Each kill falls between other observations: no phone is blamed for what the backend had not
        /// reported.
        @Test func `no kill of a backend breaks an invariant`() async throws {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for kill in 1...14 {
                    group.addTask {
                        let run = try RunProcess(ShortRun.arguments)
                        try await run.waitForBackend()
                        try await Task.sleep(for: .milliseconds(300 * kill))
                        Foundation.kill(try await run.backendProcess().number, SIGKILL)
                        let outcome = try await run.end(seconds: 40)
                        #expect(outcome.code == 70, "kill \(kill): \(outcome)")
                        let summary = try run.report.summary()
                        #expect(summary.broken.isEmpty, "kill \(kill): \(outcome)")
                        #expect(
                            summary.invariants.contains {
                                $0.id == "server.agrees" && $0.violations == .notAvailable
                            })
                    }
                }
                try await group.waitForAll()
            }
        }
    }
}
