package import RunArchive
package import RunJudge
package import RunMetrics

extension RunReport {
    /// Every report, by the name of its file.
    package var files: [ReportFile] {
        [
            ReportFile(name: RunDirectory.FileName.summary, bytes: SummaryJSON.bytes(self.result)),
            ReportFile(name: RunDirectory.FileName.page, bytes: Array(HTMLPage(self).text.utf8)),
            ReportFile(name: RunDirectory.FileName.markdown, bytes: Array(MarkdownReport.text(self).utf8)),
            ReportFile(name: RunDirectory.FileName.junit, bytes: Array(JUnitReport.text(self.result).utf8)),
            ReportFile(name: RunDirectory.FileName.metrics, bytes: Array(OpenMetrics.text(self.result).utf8)),
        ]
    }
}

extension RunDirectory {
    /// Ends the logs and writes the reports. Returns the names of all files; throws when any of them is missing or cut
    /// short, having written the others: they then say so.
    package func finish(
        _ result: RunResult, _ timeline: RunTimeline, failures: [OutputError.Failure] = []
    ) throws(OutputError) -> [String] {
        try self.finish(result, timeline, failures: failures) { $0.files }
    }

    /// Writes the reports again for another result. Those that cannot be written are no longer there.
    package func rewrite(_ result: RunResult, _ timeline: RunTimeline) {
        self.rewrite(result, timeline) { $0.files }
    }
}
