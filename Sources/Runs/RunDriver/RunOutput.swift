import EventLoop
import Foundation
import Reports
import RunArchive
import RunJudge
import SystemIO

/// The end of a run of either world: its reports are written and its summary is printed. Whatever of it cannot be written,
/// the rest is, and nothing that was written says that all went well.
struct RunOutput {
    let directory: RunDirectory
    let console: Console
    /// The failures of other outputs, such as the plan of `--save-plan`.
    var failures: [OutputError.Failure] = []
    /// Whether one line is printed instead of the summary.
    var isOneLine: Bool
    /// Whether others are to merge it.
    var isShard = false
    /// Nil without a collector.
    var export: SpanExport?

    /// Returns what the process ends with. `judged` gets the result before it is written, `written` as the files have it.
    func finish(
        _ judgement: RunResult, of judge: RunJudge, judged: (RunResult) -> Void = { _ in },
        written: (RunResult) -> Void = { _ in }
    ) -> ExitCode {
        var result = judgement
        result.directory = self.directory.path
        if let error = judge.harnessError { self.console.error("swiftwing-sim: \(error)") }
        if let export { result.add([.end(.exported(export.finish(result)))]) }
        judged(result)
        var complaint: OutputError?
        self.directory.write(scans: judge.scans)
        if self.isShard { self.directory.write(evidence: judge.evidence, of: result, judge.timeline) }
        do throws(OutputError) {
            result.files = try self.directory.finish(result, judge.timeline, failures: self.failures)
        } catch {
            complaint = error
            result.files = error.saved
            result.failOutput(error.description)
        }
        written(result)
        self.console.out(
            self.isOneLine
                ? SummaryLine.text(result, style: self.console.style)
                : TerminalSummary.text(result, style: self.console.style))
        if let complaint { self.console.error("swiftwing-sim: \(complaint)") }
        if let code = StandardStream.output.failure, complaint == nil {
            let failure = OutputError.Failure(path: "standard output", reason: SystemError.text(of: code))
            result.failOutput(OutputError(failures: [failure], saved: []).description)
            self.directory.rewrite(result, judge.timeline)
        }
        return RunInterruption.code(after: result.exit)
    }
}
