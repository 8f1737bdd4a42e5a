import Foundation
import Ledger
import Metrics
import ReportSamples
import Reports
import RunJudge
import RunMetrics
import SimBase
import Talaria
import Testing

@testable import Dashboard
@testable import RunArchive

/// What is shown of a run while it goes on.
@Suite struct LiveTests {
    private static let commuters = MetricGroup(index: 0)

    /// One second of a run.
    private static func second(_ number: Int, _ head: RunHead) -> MetricTable {
        var table = head.table
        for step in 0..<5 {
            table.record(
                .uploadTime, .microseconds(Int64(20_000 + number * 37 % 5_000 + step * 911)),
                in: Self.commuters)
        }
        if number % 3 == 0 { table.record(.sseReconnectTime, .milliseconds(Int64(number + 1)), in: .none) }
        table.record(.sseConnectFailed, failed: number % 10 == 0, in: Self.commuters)
        table.add(7, to: .sseEvents, in: Self.commuters)
        return table
    }

    private static func slo(_ selector: String, _ condition: String) throws -> SLO {
        let selector = try MetricSelector(parsing: selector, vocabulary: nil)
        return SLO(
            selector: selector, condition: try SLOCondition(parsing: condition, for: selector.metric.kind),
            severity: .error, abort: false)
    }

    private static func objectives() throws -> [SLO] {
        try [
            Self.slo("upload.time", "p(95) < 1s"),
            Self.slo("sse.connect.failed", "rate < 5%"),
            Self.slo("results.time", "p(95) < 1s"),
        ]
    }

    /// The page of a run that goes on and its report read the same numbers.
    @Test(arguments: [5, 200, 700]) func `the curves of the page are those of the report`(seconds: Int) throws
    {
        let scratch = try Scratch()
        let head = Samples.head(groups: ["commuters"])
        let directory = try RunDirectory.create(
            .exactly(scratch.at("run")), log: ObservationLog(isTracing: false, faults: head.faults))
        directory.begin(head)
        let slos = try Self.objectives()
        var series = LiveSeries(
            folders: [(path: scratch.at("run"), head: head)], objectives: SLOParts(slos, faults: []))
        var whole = head.table
        var timeline = RunTimeline(faults: 1)
        for number in 0..<seconds {
            let from = Instant.zero + .seconds(Int64(number))
            directory.log(Self.second(number, head), from: from, length: .seconds(1))
            whole.add(Self.second(number, head))
            timeline.counted(events: 7, pings: 0, from: from)
            // Looked at in the middle, and not at every step.
            if number % 4 == 1 { series.read(before: from) }
        }
        let end = Instant.zero + .seconds(Int64(seconds))
        series.read(before: end)
        #expect(series.table == whole)
        #expect(series.results(whole).map(\.passed) == [true, false, false])

        var result = Samples.passed()
        result.metrics = whole
        let report = RunReport(
            result, timeline.shown(windowsMax: LiveSeries.windowsMax), folders: [scratch.at("run")])
        let tracks = series.tracks(until: .distantFuture)
        #expect(series.width == report.trackWidth)
        #expect(tracks == report.tracks)
        #expect(tracks.map(\.metric) == [.uploadTime, .sseReconnectTime])
        #expect(tracks.allSatisfy { $0.windows.count <= LiveSeries.windowsMax })
    }

    @Test func `a second that is not written whole waits`() throws {
        let scratch = try Scratch()
        let head = Samples.head(groups: ["commuters"])
        let directory = try RunDirectory.create(
            .exactly(scratch.at("run")), log: ObservationLog(isTracing: false, faults: head.faults))
        directory.begin(head)
        for number in 0..<2 {
            directory.log(
                Self.second(number, head), from: .zero + .seconds(Int64(number)), length: .seconds(1))
        }
        let path = scratch.at("run") + "/series.ndjson"
        let written = try Data(contentsOf: URL(filePath: path))
        try written.dropLast(20).write(to: URL(filePath: path))
        var series = LiveSeries(
            folders: [(path: scratch.at("run"), head: head)], objectives: SLOParts([], faults: []))
        series.read(before: .zero + .seconds(1))
        #expect(series.table == Self.second(0, head))
        let file = try FileHandle(forWritingTo: URL(filePath: path))
        try file.seekToEnd()
        try file.write(contentsOf: written.suffix(20))
        try file.close()
        series.read(before: .zero + .seconds(2))
        var both = Self.second(0, head)
        both.add(Self.second(1, head))
        #expect(series.table == both)
    }

    @Test func `histograms that are kept small add up like others`() throws {
        var (all, first, second) = (HDRHistogram(), HDRHistogram(), HDRHistogram())
        for number in 0..<500 {
            let value = Int64(number * number) * 7_919 + 1_000
            all.record(value)
            if number % 3 == 0 { first.record(value) } else { second.record(value) }
        }
        var sparse = try #require(SparseHistogram(first))
        sparse.add(try #require(SparseHistogram(second)))
        #expect(sparse.summary == LatencySummary(all))
        #expect(sparse == SparseHistogram(all))
        #expect(SparseHistogram(HDRHistogram()) == nil)
    }

    // MARK: The page

    private static func moment(_ result: RunResult, at: Interval) -> LiveMoment {
        LiveMoment(
            at: .zero + at, measured: .zero + at, result: result, timeline: RunTimeline(faults: 0),
            scansPlanned: 120,
            lastArrival: .zero + .seconds(20), phonesOffline: 3, latenessMost: .milliseconds(2))
    }

    private static func page(_ slos: [SLO]) throws -> LivePage {
        let scratch = try Scratch()
        return LivePage(
            folders: [
                (path: scratch.at("nowhere"), head: Samples.head(groups: ["commuters", "readers"]))
            ],
            objectives: SLOParts(slos, faults: []))
    }

    private static func going() -> RunResult {
        var result = Samples.passed()
        result.metrics = MetricTable(groups: ["commuters", "readers"])
        result.slos = []
        return result
    }

    @Test func `before anything is measured nothing is missed`() throws {
        let count = try Self.slo("scans.completed", "count >= 100")
        let lost = try Self.slo("scans.lost", "count == 0")
        var page = try Self.page(Self.objectives() + [count, lost])
        let frame = page.frame(Self.moment(Self.going(), at: .seconds(3)))
        #expect(frame.title == "▶ 0:03 flaky-network")
        #expect(
            frame.parts.map(\.id) == [
                "head", "time", "latencies", "objectives", "conservation", "invariants", "latency",
                "disconnections", "findings", "faults", "errors", "generator", "control",
            ])
        #expect(frame.parts[0].html.text.contains("<span class=\"word\">Running</span>"))
        #expect(frame.parts[0].html.text.contains("Scans arrive until 0:20. So far 1 of 1 SLO and 13 of 13"))
        let cards = frame.parts.first { $0.id == "objectives" }?.html.text ?? ""
        #expect(cards.components(separatedBy: "no data yet").count == 4)
        #expect(cards.components(separatedBy: "holds so far").count == 2)
        #expect(cards.contains("not reached yet, limit count\u{A0}&gt;=\u{A0}100"))
    }

    @Test func `what is broken is said while it goes on`() throws {
        var result = Self.going()
        result.verdicts = Samples.brokenInvariant().verdicts
        var page = try Self.page([])
        let head = page.frame(Self.moment(result, at: .seconds(30))).parts[0].html.text
        #expect(head.contains("<span class=\"word\">Running, invariant broken</span>"))
        #expect(head.contains("All scans have arrived"))
        #expect(head.contains("book.never-lost"))
    }

    @Test func `the end is told with its code and its index`() throws {
        var page = try Self.page([])
        let frame = page.lastFrame(Samples.failedSLO(), RunTimeline(faults: 0))
        #expect(frame.title == "✗ Failed: flaky-network")
        #expect(
            frame.parts[0].html.text.contains("<dt>exit code</dt><dd>99: an SLO on a latency failed</dd>"))
        #expect(frame.parts[0].html.text.contains("<code>Reports/2026-11-21T093000Z-flaky-network-42</code>"))
        #expect(
            LivePage.lastLine(Samples.failedSLO())
                == "FAILED, exit code 99; report in Reports/2026-11-21T093000Z-flaky-network-42")
    }

    @Test func `a scraper gets what the run knows so far, and no verdict`() throws {
        let scratch = try Scratch()
        let head = Samples.head(groups: ["commuters"])
        let directory = try RunDirectory.create(
            .exactly(scratch.at("run")), log: ObservationLog(isTracing: false, faults: head.faults))
        directory.begin(head)
        directory.log(Self.second(0, head), from: .zero, length: .seconds(1))
        var page = LivePage(
            folders: [(path: scratch.at("run"), head: head)],
            objectives: SLOParts(try Self.objectives(), faults: []))
        var result = Samples.passed()
        result.metrics = head.table
        result.slos = []
        let moment = Self.moment(result, at: .seconds(3))
        page.read(moment)
        let text = page.metrics(moment, as: .openMetrics)
        for line in [
            "swiftwing_run_active 1", "swiftwing_upload_time_seconds_count 5",
            "swiftwing_sse_events_total 7",
            "swiftwing_slo_value{metric=\"sse.connect.failed\",expression=\"rate < 5%\",severity=\"error\"} 1.000000",
            "swiftwing_slo_limit{metric=\"upload.time\",expression=\"p(95) < 1s\",severity=\"error\"} 1.0",
            "swiftwing_slo_passed{metric=\"upload.time\",expression=\"p(95) < 1s\",severity=\"error\"} 1",
            "swiftwing_phones_by_state{state=\"offline\"} 3", "swiftwing_scans_planned 120",
            "swiftwing_generator_healthy 1", "swiftwing_generator_lateness_most_seconds 0.002",
        ] { #expect(text.contains("\n\(line)\n"), "\(line) in\n\(text)") }
        #expect(!text.contains("run_exit_code") && !text.contains("run_passed"))
        #expect(!text.contains("slo_passed{metric=\"results.time\""), "it has no data yet")
        #expect(OpenMetrics.text(result).contains("\nswiftwing_run_active 0\n"))
    }

    @Test func `the target and the tags are on the page, while the run goes on and at its end`() throws {
        var result = Self.going()
        result.labels = RunLabels(
            target: "http://127.0.0.1:8080", tags: try RunTag.list(parsing: ["build=1432"]))
        let line = "<p class=\"about\">target http://127.0.0.1:8080 · build=1432</p>"
        var page = try Self.page([])
        let frame = page.frame(Self.moment(result, at: .seconds(3)))
        #expect(frame.parts[0].html.text.contains(line))
        #expect(LivePage.lastHead(result).parts[0].html.text.contains(line))
    }

    @Test func `text of others is text, in the page and in its events`() throws {
        let bad = "\"><script>alert(1)</script>\r\nevent: finished\r\n\r\n\u{1B}[31m\u{0}"
        var result = Self.going()
        result.remarks = [.quoted(.warning, bad)]
        result.failure = bad
        result.directory = bad
        result.scenario.name = bad
        var page = try Self.page([])
        var texts = [LivePage.document(scenario: bad, description: bad).text]
        for frame in [
            page.frame(Self.moment(result, at: .seconds(1))), page.lastFrame(result, RunTimeline(faults: 0)),
            LivePage.frame(failure: bad),
        ] {
            texts += frame.parts.map(\.html.text)
            #expect(
                !frame.title.utf8.contains(10) && !frame.title.utf8.contains(13)
                    && !frame.title.utf8.contains(0))
        }
        for text in texts {
            #expect(!text.contains("<script>alert") && !text.utf8.contains(0) && !text.utf8.contains(0x1B))
            #expect(!text.utf8.contains(13))
        }
        // The last word is shown as text; it must not end its event before its time.
        #expect(LivePage.lastLine(result).utf8.allSatisfy { $0 >= 0x20 })
    }

    @Test func `the page may load its own events and nothing else`() {
        let page = LivePage.document(scenario: "s", description: "").text
        #expect(page.components(separatedBy: "<script").count == 2)
        #expect(!page.contains(" style=\"") && !page.contains("onclick") && !page.contains("://"))
        #expect(LivePage.policy.contains("default-src 'none'; style-src 'sha256-"))
        #expect(LivePage.policy.contains("connect-src 'self'"))
    }

    @Test func `the axis has room to grow into`() {
        let ends = [0, 9, 10, 59, 60, 5_399, 5_400, 7_200, 86_399, 86_400].map {
            TimeAxis.holding(Int64($0) * 1_000_000_000).end / 1_000_000_000
        }
        #expect(ends == [10, 10, 15, 60, 90, 5_400, 7_200, 10_800, 86_400, 97_200])
    }
}
