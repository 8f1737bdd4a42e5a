import Metrics
import ReportSamples
import Reports
import RunJudge
import SimBase
import Testing

@testable import RunComparison

@Suite struct TrendTests {
    private func run(
        _ day: Int64, _ milliseconds: Int64, build: String? = nil, target: String? = nil
    ) throws -> RunTrend.Run {
        var result = Samples.passed()
        result.started += day * 86_400_000
        result.labels = RunLabels(
            target: target,
            tags: try RunTag.list(parsing: build.map { ["build=\($0)", "commit=c\($0)"] } ?? []))
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
        #expect(
            page.contains("p99: 1 1.00\u{202F}s, ") && page.contains("<h2 id=\"judged-title\">What is judged")
        )
        #expect(text.contains("not enough runs to see a step: 3 runs, and it takes 10"))
        #expect(!page.contains("http://") && page.components(separatedBy: "<script").count == 2)
    }

    @Test func `what may make the runs incomparable is said`() throws {
        let other = try self.run(2, 1_000, target: "https://staging.example")
        let trend = RunTrend([try self.run(1, 1_000), other])
        #expect(trend.warnings == ["the backends differ: https://staging.example, simulated backend"])
        #expect(TrendPage.text(trend).contains("the backends differ"))
        #expect(RunTrend([try self.run(1, 1_000)]).warnings == [])
    }

    // MARK: Steps

    @Test func `a step is named by the build and the commit from which on it is there`() throws {
        let trend = RunTrend(
            try (1...12).map { try self.run($0, $0 < 8 ? 1_000 : 1_500, build: "b\($0)") })
        let steps = trend.steps.filter { $0.figure.selector.metric == .latency(.scanTime) }
        #expect(steps.map(\.name) == ["p99", "p95", "p50"] && steps.allSatisfy { $0.step.index == 7 })
        let text = TrendText.text(trend, style: .plain)
        #expect(text.contains("scan.time p50") && text.contains("b8 (commit cb8)"), "\(text)")
        let page = TrendPage.text(trend)
        #expect(page.contains("b8 (commit cb8)") && page.contains("<title>step at b8</title>"))
        guard case .array(let told)? = TrendJSON.members(trend)["steps"] else {
            Issue.record("no steps")
            return
        }
        #expect(told.count == trend.steps.count)
        let line = try #require(told.last?.line)
        #expect(line.contains(#""before":1000,"figure":"p50","from":"Reports/8","label":"b8""#), "\(line)")
        let flat = RunTrend(try (1...12).map { try self.run($0, 1_000) })
        #expect(
            flat.steps.isEmpty && TrendText.text(flat, style: .plain).contains("no step in what is judged"))
    }

    @Test func `a chart is there for every objective, and none for what is always 0`() throws {
        var result = Samples.failedSLO()
        result.slos += [
            try self.slo("faults.reset-1", "count >= 1"), try self.slo("http.5xx", "count < 9"),
            try self.slo("scan.time{group:readers}", "p(95) < 2s"), try self.slo("scans.lost", "count == 0"),
        ].map { $0.evaluate(against: result.metrics) }
        result.metrics.record(.scanTime, .seconds(1), in: MetricGroup(index: 1))
        result.metrics.answered(.upload, status: 503, in: MetricGroup(index: 1))
        result.metrics.fired(fault: "reset-1", in: .none)
        let run = RunTrend.Run(folder: "a", result: result, wasCutOff: false)
        let judged = RunTrend([run]).figures.filter(\.isJudged)
        let names = judged.map(\.selector.description)
        #expect(names.first == "scan.time" && !names.contains("scans.lost"))
        for name in ["faults.reset-1", "http.5xx", "scan.time{group:readers}"] {
            #expect(names.contains(name), "\(names)")
        }
        // A line of a history has what the charts need.
        let read = try TrendHistory.read(Array(TrendHistory.line(run).utf8), file: "h")
        #expect(RunTrend(read).figures.map(\.selector) == RunTrend([run]).figures.map(\.selector))
        for (one, other) in zip(RunTrend(read).figures, RunTrend([run]).figures) {
            #expect(one.series.map(\.values) == other.series.map(\.values), "\(one.selector)")
        }
    }

    private func slo(_ selector: String, _ condition: String) throws -> SLO {
        let selector = try MetricSelector(parsing: selector, vocabulary: nil)
        return SLO(
            selector: selector, condition: try SLOCondition(parsing: condition, for: selector.metric.kind),
            severity: .error, abort: false)
    }

    // MARK: A history

    @Test func `a history is one line a run, with all that the table and the page show`() throws {
        let runs = [try self.run(1, 1_000, build: "1"), try self.run(2, 2_000, build: "2")]
        let text = runs.map { TrendHistory.line($0) }.joined()
        #expect(text.split(separator: "\n").count == 2 && text.hasSuffix("}\n"))
        // A merge of two branches may have a line twice, and empty ones.
        let read = try TrendHistory.read(Array((text + "\n" + text).utf8), file: "load.ndjson")
        #expect(read.map(\.place) == ["load.ndjson:1", "load.ndjson:2"])
        #expect(zip(read, runs).allSatisfy { $0.isSame(as: $1) } && !read[0].isSame(as: read[1]))
        #expect(read.map { TrendHistory.line($0) }.joined() == text, "what was read is written again")
        func rows(_ trend: RunTrend) -> [[String]] {
            trend.table.rows.map { $0.cells.dropLast().map(\.text) }
        }
        #expect(rows(RunTrend(read)) == rows(RunTrend(runs)))
        #expect(RunTrend(read).lastTwo == nil, "the judge of two runs needs their folders")
    }

    @Test(arguments: [
        ("{", "it is not JSON"), ("[]", "it is not a JSON object"), ("<<<<<<< HEAD", "it is not JSON"),
        ("{}", "'schema' is missing or no number"),
        (#"{"schema": 2}"#, "it has schema 2, and this program reads 1"),
        (#"{"schema":1,"world":"live","scenario":{"name":"a"},"exit":0}"#, "'started' is missing or wrong"),
    ]) func `a line that is none of a run is named`(line: String, reason: String) throws {
        let text = TrendHistory.line(try self.run(1, 1_000)) + "\n" + line + "\n"
        #expect(throws: TrendHistory.BadLine(file: "load.ndjson", line: 3, reason: reason)) {
            try TrendHistory.read(Array(text.utf8), file: "load.ndjson")
        }
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
