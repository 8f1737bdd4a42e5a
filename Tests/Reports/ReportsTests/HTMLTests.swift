import Foundation
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

@Suite struct HTMLTests {
    private static func page(_ result: RunResult, _ timeline: RunTimeline) -> String {
        HTMLPage(RunReport(result, timeline, folders: [])).text
    }

    private static func phone(_ what: PhoneObservation, at: Interval, device: UInt32, scan: UInt32)
        -> Observation
    {
        Observation(
            at: .zero + at, device: DeviceNumber(device), scan: ScanNumber(scan), what: .phone(what))
    }

    @Test func `the verdict is words, and needs no script`() {
        let passed = Self.page(Samples.passed(), RunTimeline(faults: 0))
        #expect(passed.contains("<span class=\"word\">Passed</span>"))
        #expect(
            passed.contains(
                "5 SLOs and 13 invariants held; 1 SLO failed as the scenario allows; no scan was lost"))
        let failed = Self.page(Samples.brokenInvariant(), RunTimeline(faults: 0))
        #expect(failed.contains("<span class=\"word\">Failed</span>"))
        #expect(failed.contains("book.never-lost"))
        #expect(failed.contains("1 scan was lost"))
    }

    @Test func `nothing on the page comes from elsewhere, and only its own script may run`() throws {
        let page = Self.page(Samples.failedSLO(), RunTimeline(faults: 0))
        #expect(page.contains("default-src 'none'; style-src 'sha256-"))
        #expect(!page.contains("http://") && !page.contains("https://"))
        #expect(!page.contains(" style=\"") && !page.contains("onclick"))
        #expect(page.components(separatedBy: "<script").count == 2)
    }

    @Test func `a string within markup is text, and markup within markup is markup`() {
        let bad = "<script>\"'&\n" + String(repeating: "x", count: 300)
        let text = "&lt;script&gt;&quot;&#39;&amp; " + String(repeating: "x", count: 188) + "…"
        let page: HTML = "<p title=\"\(bad)\">\(HTML(bad))\(HTML.mono("<"))</p>"
        #expect(page.text == "<p title=\"\(text)\">\(text)<span class=\"mono\">&lt;</span></p>")
        let list: [HTML] = ["<b>", "\(bad, bytesMax: 8)"]
        #expect(list.joined(separator: "<br>") == "<b><br>&lt;script&gt;…")
        let marks: HTML = "\(true ? "<hr>" : "")\(7) \(0.5)\(sentence: " <2ms")"
        #expect(marks.text == "<hr>7 0.5 &lt;2\u{202F}ms")
    }

    @Test func `text of others is text`() {
        let bad = "\"><script>alert(1)</script>\u{1B}[31m\u{0}" + String(repeating: "x", count: 1 << 20)
        var timeline = RunTimeline(faults: 1)
        for device in 0..<200 {
            timeline.record(
                Self.phone(.refused(code: bad, cause: nil), at: .seconds(1), device: UInt32(device), scan: 1))
        }
        var result = Samples.hostile()
        result.remarks = [.quoted(.warning, bad), .quoted(.note, bad)]
        var report = RunReport(result, timeline, folders: [])
        report.scenarioText = String(repeating: bad + "\n", count: 3)
        for file in report.files {
            let text = String(decoding: file.bytes, as: UTF8.self)
            #expect(file.bytes.count < 400_000, "\(file.name) has \(file.bytes.count) bytes")
            #expect(!file.bytes.contains(0) && !file.bytes.contains(0x1B), "\(file.name)")
            if file.name.hasSuffix("html") || file.name.hasSuffix("xml") {
                #expect(!text.contains("<script>alert"), "\(file.name)")
                #expect(!text.contains("<img src"), "\(file.name)")
            }
        }
    }

    /// From 600 seconds on windows grow instead of becoming more: no run has a larger page for being longer.
    @Test func `the page of a run that outgrew its windows is small`() throws {
        let scratch = try Scratch()
        let head = Samples.head(groups: ["commuters"])
        let directory = try RunDirectory.create(
            .exactly(scratch.at("run")), log: ObservationLog(isTracing: false, faults: head.faults))
        directory.begin(head)
        var timeline = RunTimeline(faults: 1)
        let commuters = MetricGroup(index: 0)
        var whole = head.table
        for second in 0..<660 {
            let from = Instant.zero + .seconds(Int64(second))
            var table = head.table
            for (index, metric) in LatencyMetric.allCases.enumerated() {
                for step in 1...4 {
                    table.record(
                        metric, .microseconds(Int64(40_000 + (second % 97) * 11 + index * 79 + step * 13)),
                        in: commuters)
                }
            }
            table.add(5_000, to: .sseEvents, in: commuters)
            directory.log(table, from: from, length: .seconds(1))
            whole.add(table)
            for device in 0..<UInt32(7) {
                for what in [
                    .captured(scheduled: from), .requestSent(.stream, attempt: 1, job: "j", lastEventID: "9"),
                    .streamOpened(job: "j", attempt: 1, after: nil, took: .zero),
                    .streamLost(job: "j", attempt: 1, .reset, silence: nil),
                ] as [PhoneObservation] {
                    let observation = Self.phone(
                        what, at: .seconds(Int64(second)), device: device, scan: UInt32(second + 1))
                    timeline.record(observation)
                    directory.log(observation)
                }
            }
            timeline.counted(events: 5_000, pings: 100, from: from)
        }
        var result = Samples.passed()
        result.metrics = whole
        result.groups.removeLast()
        result.length = .seconds(660)
        let files = try directory.finish(result, timeline)
        #expect(files.contains("report.html"))
        let size = try Data(contentsOf: URL(fileURLWithPath: scratch.at("run/report.html"))).count
        #expect(size < 2_000_000, "\(size) bytes")
        #expect(size > 200_000, "the page shows little of the run: \(size) bytes")
    }
}
