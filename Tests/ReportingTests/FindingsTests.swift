import Foundation
import Ledger
import SimBase
import Talaria
import Testing

@testable import Reporting

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
        #expect(terminal.contains("×, first phone 3, scan 1 at 0:02; could not be used"))
        let markdown = MarkdownReport.text(result)
        #expect(markdown.contains("### Findings"))
        #expect(markdown.contains("| `upload 202` | `data.sseUrl` | a string | a number | `17` | not used |"))
        let page = HTMLPage(RunReport(result, Chronicle(faults: 0), folders: [])).text
        #expect(page.contains("finding-table") && page.contains("39,712"))
    }

    @Test func `a run without findings shows none`() {
        let result = Samples.passed()
        #expect(!TerminalSummary.text(result, style: Self.wide).contains("Findings"))
        #expect(!MarkdownReport.text(result).contains("Findings"))
    }

    @Test func `the summary is read back`() throws {
        var result = self.result()
        result.findings.addOther(7)
        let summary = try #require(JSONValue(reading: SummaryJSON.bytes(result)))
        let found = FindingsTable(reading: summary["findings"])
        #expect(found == result.findings)
        #expect(FindingsTable(reading: nil).isEmpty, "an older summary has none")
    }

    @Test func `nothing that a server wrote reaches a report as it is`() {
        let result = self.result(excerpt: Self.bad)
        let texts = [
            TerminalSummary.text(result, style: .plain), MarkdownReport.text(result),
            HTMLPage(RunReport(result, Chronicle(faults: 0), folders: [])).text,
        ]
        for text in texts {
            #expect(!text.contains("\u{1B}") && text.utf8.count < 400_000)
        }
        #expect(!texts[2].contains("<img"))
    }
}
