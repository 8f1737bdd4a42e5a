import Foundation
import Testing

extension SideBySide {
    /// Objectives that hold for stretches of a live run, not for all of it.
    @Suite struct ObjectiveSpanTests {
        /// Uploads fail from half a second on, for one and a half.
        private func run(objective: String) async throws -> Outcome {
            let run = try RunProcess(
                [ShortRun.scenario] + ShortRun.options
                    + ShortRun.set([
                        "fleet.commuters.scans=4",
                        "faults=[{do: http-error, on: upload, status: 503, retry-after: 1s, at: 500ms, for: 1500ms}]",
                        "slo={\(objective)}",
                    ]))
            return try await run.end(seconds: 50)
        }

        @Test func `over a time, the objective must hold in each window of it`() async throws {
            let whole = try await self.run(objective: "http.503: count >= 1")
            let windows = try await self.run(objective: "http.503: count >= 1 over 1s")
            #expect(whole.code == 0, "\(whole)")
            // There are seconds without any.
            #expect(windows.code == 99, "\(windows)")
            #expect(windows.output.contains("windows missed"), "\(windows)")
        }

        @Test func `within a time of a fault's end, nothing else of the run counts`() async throws {
            let whole = try await self.run(objective: "http.202: count < 20")
            let after = try await self.run(
                objective: "http.202: count < 20 within 300ms of http-error-1.end")
            // 48 scans are accepted in all.
            #expect(whole.code == 99, "\(whole)")
            #expect(after.code == 0, "\(after)")
        }
    }
}
