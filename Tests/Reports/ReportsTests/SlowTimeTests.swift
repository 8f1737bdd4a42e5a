import Foundation
import Metrics
import ReportSamples
import RunArchive
import RunJudge
import RunMetrics
import SimBase
import Testing

@testable import Reports

/// Why scans were slow, in every format.
@Suite struct SlowTimeTests {
    private static func slow(isLimit: Bool, unfinished: Int = 0) -> SlowTime {
        SlowTime(
            least: .seconds(25), isLimit: isLimit, scans: 10, unfinished: unfinished, known: 200,
            parts: [
                .init(.limited, .seconds(180)), .init(.upload, .seconds(117)), .init(.results, .seconds(3)),
            ])
    }

    private static func result(_ slow: SlowTime?, passed: Bool) -> RunResult {
        var result = passed ? Samples.passed() : Samples.failedSLO()
        result.slow = slow
        return result
    }

    private static func terminal(_ result: RunResult, isASCII: Bool = false) -> String {
        TerminalSummary.text(
            result, style: TerminalStyle(columns: 200, isColored: false, isASCII: isASCII))
    }

    private static let means =
        "on average 18.0s waiting as a 429 requested (Retry-After), 11.7s uploading"

    @Test func `the sentence leaves small parts out`() {
        let missed = Self.result(Self.slow(isLimit: true, unfinished: 2), passed: false)
        #expect(
            missed.whySlow == "Of 200 scans 2 had not ended and 8 took longer than 25.0s: \(Self.means)")
        #expect(Self.result(Self.slow(isLimit: false), passed: false).whySlow == nil, "no limit was missed")
        let passed = Self.result(Self.slow(isLimit: true), passed: true)
        #expect(passed.whySlow == nil)
        #expect(
            SlowTimeText(passed)?.sentence == "10 of 200 scans took longer than 25.0s: \(Self.means)")
        #expect(SlowTimeText(Self.result(nil, passed: true)) == nil)
    }

    @Test func `terminal and Markdown have a bar for each activity, and the sentence once`() {
        for passed in [true, false] {
            let result = Self.result(Self.slow(isLimit: true), passed: passed)
            for text in [Self.terminal(result), MarkdownReport.text(result)] {
                #expect(text.contains("Why slow"))
                #expect(text.contains(String(repeating: "█", count: 18) + String(repeating: "░", count: 12)))
                #expect(text.split(separator: Self.means, omittingEmptySubsequences: false).count == 2)
            }
        }
        let ascii = Self.terminal(Self.result(Self.slow(isLimit: true), passed: true), isASCII: true)
        #expect(ascii.contains(String(repeating: "#", count: 18) + String(repeating: ".", count: 12)))
    }

    @Test func `a comparison shows both runs side by side`() {
        let new = Self.result(Self.slow(isLimit: true), passed: true)
        let table = SlowTimeText.table(base: new, new: new)
        #expect(table.columns.map(\.title) == ["activity", "BASE share", "mean", "NEW share", "mean"])
        #expect(table.rows.first?.cells.map(\.text) == ["Retry-After", "60 %", "18.0s", "60 %", "18.0s"])
        #expect(SlowTimeText.table(base: Self.result(nil, passed: true), new: new).isEmpty)
    }

    @Test func `the page has one bar`() {
        let section = SlowTimeText(Self.result(Self.slow(isLimit: true), passed: true))?.section
        let body = section?.body.text ?? ""
        #expect(body.contains("<rect class=\"a-limited\" x=\"0\" width=\"6000\""))
        #expect(body.contains("<rect class=\"a-upload\" x=\"6000\" width=\"3900\""))
    }

    @Test func `times of very many scans are shown`() {
        var result = Samples.passed()
        let each = Interval.seconds(1_000_000_000)
        result.slow = SlowTime(
            least: .seconds(20), isLimit: true, scans: 1_000_000, unfinished: 0, known: 1_000_000,
            parts: SlowTime.parts { [.queue, .server].contains($0) ? each : .zero })
        #expect(Self.terminal(result).components(separatedBy: "50 %").count == 3)
        #expect(
            HTMLPage(RunReport(result, RunTimeline(faults: 0), folders: [])).text.contains(
                "server at work 50 %"))
    }
}
