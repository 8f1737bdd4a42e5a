import Reports
package import RunArchive
package import RunJudge

/// The end of a command that makes reports from the files of runs that are over.
package struct ReportOutput {
    private let folder: String
    private let console: Console
    /// The names of files that stay as the run itself wrote them.
    package var kept: [String] = []
    /// Other files for the folder.
    package var others: [ReportFile] = []
    /// The folders of the runs that were merged: what they have together makes the folder that of a run.
    package var parts: [String] = []
    /// The failures of other outputs.
    package var failures: [OutputError.Failure] = []

    package init(folder: String, console: Console) {
        self.folder = folder
        self.console = console
    }

    private func withRun(_ files: [ReportFile], _ report: RunReport) -> [ReportFile] {
        guard !self.parts.isEmpty else { return files }
        let run = files + report.runFiles(of: self.parts)
        return run + [report.evidence(run)].compactMap { $0 }
    }

    /// Writes the reports and prints the summary. Returns the exit code: where something cannot be written, that of the run if
    /// it is a graver one, and the reports that are written say so. `written` gets the result as the files have it.
    package func write(_ merged: RunReport, written: (RunResult) -> Void = { _ in }) -> ExitCode {
        var report = merged
        report.result.directory = self.folder
        var complaint = self.failures.isEmpty ? nil : OutputError(failures: self.failures, saved: [])
        if let complaint { report.result.failOutput(complaint.description) }
        do throws(OutputError) {
            let files = report.files.filter { !self.kept.contains($0.name) }
            report.result.files = try ReportFile.write(
                self.others + self.withRun(files, report), to: self.folder)
        } catch {
            complaint = complaint ?? error
            report.result.files = error.saved
            report.result.failOutput(error.description)
            _ = try? ReportFile.write(
                report.files.filter { error.saved.contains($0.name) }, to: self.folder)
        }
        written(report.result)
        self.console.out(TerminalSummary.text(report.result, style: self.console.style))
        if let complaint { self.console.error("swiftwing-sim: \(complaint)") }
        return report.result.exit
    }
}
