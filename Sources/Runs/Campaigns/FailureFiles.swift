import JSON
import Reports
import RunArchive
import RunDriver
import ScenarioFile
import Search
import SystemIO
import Talaria

/// Prints the reports of failures, and saves each next to its smallest plan.
struct FailureFiles {
    let folder: String
    let console: Console

    /// Returns what could not be written. The report was printed, and a plan that has no file is printed, too.
    ///
    /// - Parameter isShort: Only a line is printed: a failure with the same cause was printed whole.
    func tell(
        _ failure: ShrunkFailure, _ result: Shrinker.Result, _ origin: FailureOrigin, recipe: SwarmRecipe?,
        isShort: Bool = false
    ) -> [OutputError.Failure] {
        let name = "\(failure.kind.name)-\(failure.seed)"
        let path = "\(self.folder)/\(name).plan.json"
        let report = FailureReport(
            failure: failure, result: result,
            story: FailureStory(
                failure.kind, result.plan, result.outcome,
                isTold: { StoryText.text($0, .scan, faults: []) != nil }), plan: path, origin: origin)
        self.console.out(
            isShort
                ? "\(report.title)\n      the same cause; the report is \(self.folder)/\(name).txt\n"
                : report.text)
        let plan = PlanFiles.text(
            result.plan, digest: result.outcome.digest, events: result.outcome.events, note: report.title)
        let record = String(decoding: JSON.encode(report.record(recipe: recipe)), as: UTF8.self) + "\n"
        var failures: [OutputError.Failure] = []
        do {
            try FileTree.makeFolder(self.folder, mode: 0o755)
            do throws(OutputError) {
                try OutputError.write([
                    (path, plan), ("\(self.folder)/\(name).txt", report.text),
                    ("\(self.folder)/\(name).json", record),
                ])
            } catch {
                failures = error.failures
            }
        } catch {
            failures = [OutputError.Failure(path: self.folder, reason: "\(error)")]
        }
        if failures.contains(where: { $0.path == path || $0.path == self.folder }) {
            self.console.out("The smallest plan could not be saved to \(path):\n\(plan)")
        }
        return failures
    }
}
