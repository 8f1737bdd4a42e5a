import Metrics
import ReportSamples
import Reports
import RunJudge
import SimBase
import Testing

@testable import RunComparison

@Suite struct TrendTests {
    private func run(_ day: Int64, _ milliseconds: Int64, build: String? = nil) throws -> RunTrend.Run {
        var result = Samples.passed()
        result.started += day * 86_400_000
        if let build {
            result.labels = RunLabels(target: nil, tags: try RunTag.list(parsing: ["build=\(build)"]))
        }
        result.metrics = MetricTable(groups: ["commuters", "readers"])
        for _ in 0..<40 {
            result.metrics.record(.scanTime, .milliseconds(milliseconds), in: MetricGroup(index: 0))
        }
        return RunTrend.Run(folder: "Reports/\(day)", result: result, wasCutOff: false)
    }

    @Test func `runs stand in the order of their start, each with its figures`() throws {
        let trend = RunTrend([
            try self.run(3, 4_000, build: "3"), try self.run(1, 1_000, build: "1"),
            try self.run(2, 2_000, build: "2"),
        ])
        let text = TrendText.text(trend, style: .plain)
        let rows = text.split(separator: "\n").filter { $0.contains("passed") }
        #expect(rows.map { $0.prefix(1) } == ["1", "2", "3"], "\(text)")
        #expect(rows[2].contains("4.00s") && rows[2].contains("118 of 126"))
        #expect(trend.lastTwo?.base == "Reports/2" && trend.lastTwo?.new == "Reports/3")
        let page = TrendPage.text(trend)
        #expect(page.contains("id=\"trend-scan-time\"") && page.contains("Trend of 3 runs"))
        #expect(page.contains("p50: 1 1.00\u{202F}s, 2 2.00\u{202F}s, 3 4.00\u{202F}s"))
        #expect(page.components(separatedBy: "<circle").count == 1 + 2 * 3)
        #expect(!page.contains("http://") && page.components(separatedBy: "<script").count == 2)
    }

    @Test func `what may make the runs incomparable is said`() throws {
        var other = try self.run(2, 1_000)
        other.result.labels = RunLabels(target: "https://staging.example", tags: [])
        let trend = RunTrend([try self.run(1, 1_000), other])
        #expect(trend.warnings == ["the backends differ: https://staging.example, simulated backend"])
        #expect(TrendPage.text(trend).contains("the backends differ"))
        #expect(RunTrend([try self.run(1, 1_000)]).warnings == [])
    }

    @Test(arguments: [40, 80]) func `no line is too wide, and text of others is text`(columns: Int) {
        var hostile = Samples.hostile()
        hostile.labels = RunLabels(target: "<script>alert(1)</script>\u{1B}", tags: [])
        let trend = RunTrend([
            .init(folder: "<img src=x>\u{1B}[2J", result: hostile, wasCutOff: true),
            .init(folder: "b", result: Samples.passed(), wasCutOff: false),
        ])
        let text = TrendText.text(
            trend, style: TerminalStyle(columns: columns, isColored: false, isASCII: false))
        for line in text.split(separator: "\n") {
            #expect(Printable.width(String(line)) <= columns, "\(line)")
        }
        let page = TrendPage.text(trend)
        #expect(!page.contains("<script>alert") && !page.contains("<img"))
        for text in [text, page] { #expect(!text.utf8.contains(0x1B)) }
    }
}
