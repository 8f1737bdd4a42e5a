import Foundation
import JSON
import Ledger
import Observations
import ReportSamples
import RunJudge
import RunMetrics
import SimBase
import Talaria
import Testing

@testable import Reports
@testable import RunArchive

/// What the server said that its contract does not, in every report.
@Suite struct FindingsTests {
    private static let wide = TerminalStyle(columns: 100, isColored: false, isASCII: false)
    private static let bad = "\u{1B}[2J|`<img src=x>@all" + String(repeating: "書", count: 999)

    private func result(excerpt: String? = "17") -> RunResult {
        var result = Samples.passed()
        for (path, isDecisive, count) in [("data.sseUrl", true, 39_712), ("metadata.timestamp", false, 3)] {
            result.findings.add(
                ContractFinding(
                    operation: .upload, part: "202", path: path, expected: "a string", seen: "a number",
                    excerpt: excerpt, isDecisive: isDecisive, count: count),
                device: DeviceNumber(3), scan: ScanNumber(1), at: .zero + .milliseconds(2_013))
        }
        return result
    }

    @Test func `each report has the table`() {
        let result = self.result()
        let terminal = TerminalSummary.text(result, style: Self.wide)
        #expect(terminal.contains("upload 202: data.sseUrl: expected a string, was a number (17)"))
        #expect(terminal.contains("×, first phone 3, scan 1 at 0:02; response rejected"))
        let markdown = MarkdownReport.text(result)
        #expect(markdown.contains("### Findings"))
        #expect(markdown.contains("| `upload 202` | `data.sseUrl` | a string | a number | `17` | rejected |"))
        let page = HTMLPage(RunReport(result, RunTimeline(faults: 0), folders: [])).text
        #expect(page.contains("finding-table") && page.contains("39,712"))
    }

    @Test func `a finding about a request is one of the phone`() throws {
        var result = Samples.passed()
        let finding = ContractFinding(
            operation: .stream, part: ContractFinding.requestPart, path: "header Authorization",
            expected: "a bearer token", seen: "missing", excerpt: nil, isDecisive: true, count: 1)
        result.findings.add(finding, device: DeviceNumber(3), scan: ScanNumber(1), at: .zero)
        let terminal = TerminalSummary.text(result, style: Self.wide)
        #expect(
            terminal.contains("stream request: header Authorization: expected a bearer token, was missing"))
        #expect(terminal.contains("; request rejected"))
        let summary = try #require(JSONNode(SummaryJSON.bytes(result)))
        #expect(summary["findings"]?.elements.map { $0["side"]?.text } == ["phone"])
        #expect(FindingsTable(reading: summary["findings"]).rows.map(\.finding) == [finding])
    }

    @Test func `an injected finding is marked in each report and comes back from the summary`() throws {
        var result = Samples.passed()
        let strip = Cause.injected(fault: "strip-1")
        for (index, causes) in [[(strip, 5)], [(strip, 2), (.target, 3)]].enumerated() {
            for (cause, count) in causes {
                result.findings.add(
                    ContractFinding(
                        operation: .stream, part: "completed", path: "body \(index)",
                        expected: "a JSON object", seen: "not JSON", excerpt: nil, isDecisive: index == 0,
                        count: count),
                    device: DeviceNumber(3), scan: ScanNumber(1), at: .zero, cause: cause)
            }
        }
        let terminal = TerminalSummary.text(result, style: Self.wide)
        #expect(terminal.contains("10 in total, not in the API contract; 7 of them injected by faults"))
        #expect(terminal.contains("; response rejected, injected by strip-1"))
        #expect(terminal.contains("at 0:00, 3 by the target, 2 injected by strip-1"))
        let markdown = MarkdownReport.text(result)
        #expect(markdown.contains("| rejected, injected by strip-1 |"))
        #expect(markdown.contains("| accepted, 3 by the target, 2 injected by strip-1 |"))
        let page = HTMLPage(RunReport(result, RunTimeline(faults: 0), folders: [])).text
        #expect(page.contains("rejected, injected by strip-1"))
        let summary = try #require(JSONNode(SummaryJSON.bytes(result)))
        #expect(FindingsTable(reading: summary["findings"]) == result.findings)
        #expect(summary["findings"]?.elements.map { $0["injected"]?.integer } == [5, 2])
    }

    @Test func `a run without findings shows none`() {
        let result = Samples.passed()
        #expect(!TerminalSummary.text(result, style: Self.wide).contains("Findings"))
        #expect(!MarkdownReport.text(result).contains("Findings"))
    }

    @Test func `the summary is read back`() throws {
        var result = self.result()
        result.findings.addOther(7)
        let summary = try #require(JSONNode(SummaryJSON.bytes(result)))
        let found = FindingsTable(reading: summary["findings"])
        #expect(found == result.findings)
        #expect(FindingsTable(reading: nil).isEmpty, "an older summary has none")
    }

    // MARK: Files

    /// Writes what a run leaves in which this phone finds something once in the first second.
    private func write(_ path: String, device: UInt32, isFinished: Bool) throws {
        let directory = try RunDirectory.create(
            .exactly(path), log: ObservationLog(isTracing: false, faults: []))
        directory.begin(Samples.head(groups: ["commuters", "readers"]))
        directory.log(
            Observation(
                at: .zero + .seconds(1), device: DeviceNumber(device), scan: ScanNumber(1),
                what: .phone(.found(Self.finding))), cause: .target)
        directory.flush()
        guard isFinished else { return }
        var result = Samples.passed()
        result.findings = self.table([device])
        _ = try directory.finish(result, RunTimeline(faults: 0))
    }

    private static let finding = ContractFinding(
        operation: .upload, part: "202", path: "data.sseUrl", expected: "a string", seen: "a number",
        excerpt: "17", isDecisive: true, count: 1)

    private func table(_ devices: [UInt32]) -> FindingsTable {
        var table = FindingsTable()
        for device in devices {
            table.add(
                Self.finding, device: DeviceNumber(device), scan: ScanNumber(1), at: .zero + .seconds(1),
                cause: .target)
        }
        return table
    }

    private func read(_ path: String) throws -> PastRun {
        try PastRun(
            folder: path, head: try PastRun.head(of: path), settings: Samples.settings())
    }

    @Test(arguments: [true, false]) func `a report from files has them, also of a run that was killed`(
        isFinished: Bool
    ) throws {
        let scratch = try Scratch()
        try self.write(scratch.at("run"), device: 3, isFinished: isFinished)
        let past = try self.read(scratch.at("run"))
        #expect(past.wasCutOff == !isFinished)
        #expect(past.result.findings == self.table([3]))
        #expect(MarkdownReport.text(past.report.result).contains("| `upload 202` | `data.sseUrl` |"))
    }

    @Test func `shards add theirs up`() throws {
        let scratch = try Scratch()
        for device: UInt32 in [1, 4] {
            try self.write(scratch.at("\(device)"), device: device, isFinished: device == 1)
        }
        let shards = try [self.read(scratch.at("1")), self.read(scratch.at("4"))]
        let merged = try #require(try PastRun.merged(shards, Samples.settings()))
        #expect(merged.result.findings == self.table([1, 4]))
        #expect(merged.result.findings.count == 2)
    }

    @Test func `nothing that a server wrote reaches a report as it is`() {
        let result = self.result(excerpt: Self.bad)
        let texts = [
            TerminalSummary.text(result, style: .plain), MarkdownReport.text(result),
            HTMLPage(RunReport(result, RunTimeline(faults: 0), folders: [])).text,
        ]
        for text in texts {
            #expect(!text.contains("\u{1B}") && text.utf8.count < 400_000)
        }
        #expect(!texts[2].contains("<img"))
    }
}
