import Ledger
import Metrics
import Observations
import ReportSamples
import RunJudge
import RunMetrics
import SimBase
import Talaria
import Testing

@testable import Reports
@testable import RunArchive

/// What a reader of the page finds where.
@Suite struct PageTests {
    private func report(_ result: RunResult, faults: Int = 0) -> RunReport {
        RunReport(result, RunTimeline(faults: faults), folders: [])
    }

    private func section(_ id: String, of page: String) -> String {
        let from = page.range(of: "<section id=\"\(id)\"")?.lowerBound ?? page.endIndex
        return String(page[from...].split(separator: "</section>", maxSplits: 1).first ?? "")
    }

    private static func withLimit(_ result: RunResult) -> RunResult {
        var result = result
        result.slos += [Samples.slo("scan.time", "p(95) < 5s")].compactMap {
            $0?.evaluate(against: result.metrics)
        }
        return result
    }

    // MARK: The first screen

    @Test func `the first row says whether it was good for the users`() throws {
        var result = Self.withLimit(Samples.passed())
        result.labels = RunLabels(
            target: "https://staging.example", tags: try RunTag.list(parsing: ["build=1432"]))
        let page = HTMLPage(self.report(result)).text
        let head = try #require(page.range(of: "<dl class=\"headline\">"))
        let row = String(page[head.lowerBound...].split(separator: "</dl>", maxSplits: 1)[0])
        #expect(row.contains("<dt>target</dt><dd>https://staging.example"))
        #expect(row.contains("<dt>build</dt><dd>1432"))
        #expect(row.contains("118 of 126 <small>3 refused, 5 unfinished"))
        #expect(row.contains("<dt>scan.time p50</dt><dd>5.56\u{202F}s"))
        #expect(row.contains("<small>limit p(95)\u{A0}&lt;\u{A0}5\u{202F}s"))
        #expect(row.contains("<div class=\"bad\"><dt>scan.time p95</dt>"))
        #expect(row.contains("<dt>done within 5.00\u{202F}s</dt><dd>41.67%"))
        #expect(page.distance(from: page.startIndex, to: head.lowerBound) > 0)
        #expect(head.lowerBound < (page.range(of: "<section")?.lowerBound ?? page.startIndex))
    }

    @Test func `without a limit the slowest stands in its place`() {
        let page = HTMLPage(self.report(Samples.passed())).text
        #expect(page.contains("<dt>target</dt><dd>simulated backend"))
        #expect(page.contains("<small>no limit set</small>"))
        #expect(page.contains("<dt>slowest scan</dt><dd>9.22\u{202F}s"))
        #expect(!page.contains("<dt>build</dt>"))
    }

    // MARK: Latencies

    @Test func `one table has all latencies before any chart, the time of a scan first`() throws {
        let page = HTMLPage(self.report(Self.withLimit(Samples.failedSLO()))).text
        let table = self.section("latencies", of: page)
        let order = table.split(separator: "<tr>").dropFirst(2).compactMap { row in
            row.split(separator: "<a href=\"#").dropFirst().first?.split(separator: "\"").first.map(
                String.init)
        }
        #expect(order.first == "scan-time")
        // Failed, then with an objective, then the others.
        #expect(
            Array(order.dropFirst().prefix(3)) == [
                "sse-first_event-time", "sse-connect-time", "sse-event-latency",
            ], "\(order)")
        #expect(table.contains("class=\"sortable\""))
        #expect(table.contains("data-key=\""))
        #expect(table.contains("p(95)\u{A0}&lt;\u{A0}500\u{202F}ms (commuters)"))
        let first = try #require(page.range(of: "class=\"plot\""))
        let place = try #require(page.range(of: "id=\"latency-table\""))
        #expect(place.lowerBound < first.lowerBound)
    }

    @Test func `a latency to which nothing happened has a small chart`() {
        var result = Samples.passed()
        for _ in 0..<50 { result.metrics.record(.cleanupTime, .milliseconds(20), in: .none) }
        let page = HTMLPage(self.report(result)).text
        let quiet = page.split(separator: "<div class=\"quiet\">")
        #expect(quiet.count == 2 && quiet[1].contains("id=\"cleanup-time\""))
        #expect(quiet[0].contains("<article class=\"metric\" id=\"scan-time\">"))
    }

    private func chart(samples: Int) throws -> String {
        var histogram = HDRHistogram()
        for index in 0..<samples { histogram.record(Int64(index + 1) * 50_000_000) }
        var report = self.report(Samples.passed())
        report.tracks = [
            LatencyTrack(
                metric: .scanTime, width: .seconds(1),
                windows: [.init(from: .zero, summary: try #require(LatencySummary(histogram)))])
        ]
        let page = HTMLPage(report).text
        let from = page.range(of: "id=\"over-scan-time\"")?.lowerBound ?? page.endIndex
        return String(page[from...].split(separator: "</figcaption>", maxSplits: 1)[0])
    }

    @Test(arguments: [(1, "p50"), (19, "p50"), (20, "p95"), (99, "p95"), (100, "p99")])
    func `a percentile is drawn of as many samples as it needs`(samples: Int, most: String) throws {
        let legend = try self.chart(samples: samples)
        #expect(legend.contains("</svg>p95") == (samples >= 20))
        #expect(legend.contains("</svg>p99") == (samples >= 100))
        #expect(legend.contains("</svg>slowest") == (samples < 20))
        #expect(legend.contains("</svg>\(most)"))
    }

    // MARK: What the scenario does

    private static func conditions() -> RunConditions {
        RunConditions(
            faults: [
                .init(
                    id: "rate-limit-1", text: "answers 429 to uploads beyond a quota (quota 1 per 4s)",
                    expected: 48, window: nil),
                .init(
                    id: "offline-1", text: "takes the network away", expected: 20,
                    window: .init(from: .zero + .seconds(8), to: .zero + .seconds(12))),
            ],
            itineraries: [
                .init(
                    groups: ["commuters"],
                    phases: [
                        .init(link: "lte", window: .init(from: .zero, to: .zero + .seconds(9))),
                        .init(
                            link: nil, window: .init(from: .zero + .seconds(9), to: .zero + .seconds(13))),
                        .init(link: "lte", window: .init(from: .zero + .seconds(13), to: nil)),
                    ])
            ])
    }

    @Test func `links and timed faults are shaded, with their names and times`() {
        var report = self.report(Samples.passed(), faults: 5)
        var timeline = RunTimeline(faults: 5)
        timeline.record(
            Observation(
                at: .zero + .seconds(20), device: DeviceNumber(1), scan: ScanNumber(1),
                what: .phone(.captured(scheduled: .zero))))
        report.timeline = timeline
        report.conditions = Self.conditions()
        let page = HTMLPage(report).text
        let time = self.section("time", of: page)
        #expect(time.contains("timed faults: <b>offline-1</b> 0:08 to 0:12"))
        #expect(time.contains("no link: <b>no link (commuters)</b> 0:09 to 0:13"))
        #expect(time.contains("link of commuters"))
        // Overlapping bands of a kind are one shade.
        #expect(time.contains("<g class=\"bands-fault\"><rect"))
        #expect(time.contains("class=\"band gap\"") && time.contains("class=\"band fault\""))
        #expect(self.section("latency", of: page).contains("class=\"band gap\"") || report.tracks.isEmpty)
        // What lasts for the whole run is not a band.
        #expect(!time.contains("rate-limit-1</b> 0:00"))
    }

    @Test func `each fault has its sentence and its expected number beside it`() {
        var report = self.report(Samples.passed(), faults: 5)
        report.conditions = Self.conditions()
        let faults = self.section("faults", of: HTMLPage(report).text)
        #expect(faults.contains("answers 429 to uploads beyond a quota (quota 1 per 4\u{202F}s)"))
        #expect(faults.contains("<td class=\"n\">28</td><td class=\"n\">48</td>"))
    }

    @Test func `what is broken and the command that shows it come first`() throws {
        let page = HTMLPage(self.report(Samples.brokenInvariant())).text
        let places = try ["class=\"next\"", "<section id=\"invariants\"", "<section id=\"objectives\""].map {
            try #require(page.range(of: $0)?.lowerBound, "\($0)")
        }
        #expect(places == places.sorted())
        let green = HTMLPage(self.report(Samples.passed())).text
        #expect(!green.contains("class=\"next\""))
    }

    @Test func `each invariant has its sentence beside it`() {
        let page = HTMLPage(self.report(Samples.brokenInvariant())).text
        let invariants = self.section("invariants", of: page)
        for invariant in Samples.invariants {
            #expect(invariants.contains(HTML(invariant.statement, bytesMax: 400).text), "\(invariant)")
        }
    }

    @Test func `violations that no user notices are not told as a loss`() {
        var result = Samples.passed()
        let violation = Violation(
            invariant: .streamNoGap, device: DeviceNumber(3), scan: .none, at: .zero, text: "a gap",
            isExpected: false)
        result.verdicts[Samples.invariants.firstIndex(of: .streamNoGap) ?? 0] = Verdict(
            invariant: .streamNoGap, standing: .broken, violations: 92, expected: 0, examples: [violation])
        result.exitReasons = [.invariantBroken]
        let words = "no user lost anything; the rules of the protocol were broken 92 times"
        #expect(result.outcome == words)
        #expect(result.meaning == "an invariant is broken, though no data was lost or duplicated")
        #expect(Samples.brokenInvariant().outcome?.contains("no user") == false)
    }

    @Test func `an objective defines its error budget`() {
        let page = HTMLPage(self.report(Self.withLimit(Samples.passed()))).text
        #expect(page.contains("58.33% missed the limit (5% allowed): more than 10 times the error budget"))
        #expect(page.contains("Error budget: the share of operations that may miss the limit, 5% for p(95)"))
    }

    // MARK: Phones

    @Test func `a violation leads to its phone, and the phone says why it was slow`() throws {
        let scratch = try Scratch()
        let head = Samples.head(groups: ["commuters"])
        let directory = try RunDirectory.create(
            .exactly(scratch.at("run")), log: ObservationLog(isTracing: false, faults: head.faults))
        directory.begin(head)
        var timeline = RunTimeline(faults: 1)
        for (at, what) in [
            (0, .captured(scheduled: .zero)),
            (100, .requestSent(.upload, attempt: 1, job: nil, lastEventID: nil)),
            (300, .replied(.upload, attempt: 1, status: 429, took: .milliseconds(200))),
            (300, .rateLimited(.upload, retryAfter: .seconds(2))),
            (2_300, .requestSent(.upload, attempt: 2, job: nil, lastEventID: nil)),
            (4_000, .completed(took: .seconds(4))),
        ] as [(Int64, PhoneObservation)] {
            let observation = Observation(
                at: .zero + .milliseconds(at), device: DeviceNumber(17), scan: ScanNumber(2),
                what: .phone(what))
            timeline.record(observation)
            directory.log(observation)
        }
        _ = try directory.finish(Samples.brokenInvariant(), timeline)
        let report = RunReport(Samples.brokenInvariant(), timeline, folders: [scratch.at("run")])
        let page = HTMLPage(report).text
        #expect(page.contains("<a href=\"#phone-17\">phone 17, scan 2, at 12.480 s</a>"))
        let phone = try #require(page.split(separator: "id=\"phone-17\"").dropFirst().first)
        #expect(phone.contains("scan 2 took 4.00\u{202F}s: 2.00\u{202F}s waiting as a 429 requested"))
        #expect(phone.contains("Errors: upload: HTTP 429 ×1"))
        #expect(phone.contains("book.never-lost"))
        for lane in ["uploads", "waits", "queue"] {
            #expect(phone.contains("<span>\(lane)</span>"), "\(lane)")
        }
        #expect(page.contains("Retry-After</li>"))
    }

    @Test func `a single class of scans needs no tall chart`() {
        func flow(_ waiting: Int) -> Flow {
            Flow(
                title: "Scans", origin: "captured", total: 120 + waiting,
                branches: [
                    .init(name: "completed", count: 120, tone: .good, note: ""),
                    .init(name: "waiting", count: waiting, tone: .warn, note: "12 offline"),
                ])
        }
        func height(_ flow: Flow) -> Int {
            let after = flow.html.text.split(separator: "height=\"", maxSplits: 1).dropFirst().first ?? ""
            return Int(after.prefix { $0.isNumber }) ?? 0
        }
        #expect(height(flow(0)) < 80 && height(flow(60)) > 150)
        #expect(flow(60).html.text.contains("<ul class=\"flow-notes\"><li>waiting: 12 offline</li>"))
    }
}
