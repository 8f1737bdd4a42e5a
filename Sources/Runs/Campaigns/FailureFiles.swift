import RunArchive
import RunDriver
import Search
import SystemIO

/// Prints the reports of failures, and saves each beside its smallest plan.
struct FailureFiles {
    let folder: String
    let console: Console

    /// Returns what could not be written. The report was printed.
    func tell(
        _ failure: ShrunkFailure, _ result: Shrinker.Result, _ origin: FailureOrigin
    ) -> [OutputError.Failure] {
        let name = "\(failure.kind.name)-\(failure.seed)"
        let path = "\(self.folder)/\(name).plan.json"
        let report = FailureReport(
            failure: failure, result: result,
            story: FailureStory(failure.kind, result.plan, result.outcome), plan: path, origin: origin)
        self.console.out(report.text)
        do {
            try FileTree.makeFolder(self.folder, mode: 0o755)
        } catch {
            return [OutputError.Failure(path: self.folder, reason: "\(error)")]
        }
        do throws(OutputError) {
            try PlanFiles.save(
                result.plan, digest: result.outcome.digest, events: result.outcome.events,
                note: report.title, to: path)
            try OutputError.write([("\(self.folder)/\(name).txt", report.text)])
            return []
        } catch {
            return error.failures
        }
    }
}
