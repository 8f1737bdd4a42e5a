import Ledger
import RunArchive
import RunJudge
import SimBase

extension LiveRun {
    /// Writes the plan of a run that failed into its folder, and of any run to the file of `--save-plan`. Returns the failures,
    /// which must not cost the results.
    func savePlan(
        _ result: RunResult, waiting: [WaitingRecord], endedAt: Instant
    ) -> [OutputError.Failure] {
        let file = LivePlanFile(
            plan: self.plan, result: result, timeline: self.feed.judge.timeline, waiting: waiting,
            folders: [self.directory.path], wallClockAtZero: self.startedWall, endedAt: endedAt)
        let path = self.request.savesPlanTo
        // The phones of a worker were not all there from the start, and did not all stay.
        guard file.isKept || path != nil, self.request.worker == nil else { return [] }
        self.directory.flush()
        let text = file.text
        if file.isKept { self.directory.write(plan: text) }
        guard let path else { return [] }
        do throws(OutputError) {
            try OutputError.write([(path: path, text: text)])
            return []
        } catch {
            return error.failures
        }
    }
}
