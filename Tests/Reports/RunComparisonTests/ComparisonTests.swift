import Ledger
import Metrics
import ReportSamples
import Reports
import RunJudge
import RunMetrics
import SimBase
import Testing

@testable import RunArchive
@testable import RunComparison

/// Two runs side by side: what counts as worse in addition to the latencies, and how it is reported.
@Suite struct ComparisonTests {
    private func side(
        _ result: RunResult, folder: String = "a", seed: UInt64 = 42, isKilled: Bool = false,
        scenario: String = "name: flaky-network\n", scans: PairedRun = PairedRun()
    ) -> ComparedRun {
        var head = Samples.head(groups: result.groups.map(\.name))
        head.seed = seed
        return ComparedRun(
            folder: folder, head: head, result: result, wasCutOff: isKilled, scans: scans.table,
            tracks: [], scenarioText: scenario + PairedRun.fleet)
    }

    private func compare(_ base: ComparedRun, _ new: ComparedRun, sameLog: Bool = false) -> RunComparison {
        var new = new
        if new.folder == base.folder { new.folder = "b" }
        return RunComparison(
            base: base, new: new, tolerance: 100_000, width: .seconds(1), sameLog: sameLog)
    }

    private func compare(_ base: RunResult, _ new: RunResult) -> RunComparison {
        self.compare(self.side(base), self.side(new))
    }

    /// The run of `Samples.failedSLO`, and what its scans took.
    private var slow: ComparedRun {
        self.side(
            Samples.failedSLO(),
            scans: PairedRun {
                if $0.device.raw < 3 { $0.multiply(.sseFirstEventTime, by: 6) }
                return true
            })
    }

    private func formats(_ comparison: RunComparison) -> [String] {
        [
            ComparisonText.text(comparison, style: .plain, isWhole: true),
            ComparisonMarkdown.text(comparison),
            ComparisonPage.text(comparison),
        ]
    }

    // MARK: Identical

    @Test func `the same numbers and the same log are one and the same`() {
        let run = self.side(Samples.passed())
        let same = self.compare(run, run, sameLog: true)
        #expect(same.isIdentical && !same.isRegression)
        for text in self.formats(same) { #expect(text.lowercased().contains("identical")) }
        #expect(!self.compare(run, run, sameLog: false).isIdentical)
        var other = Samples.passed()
        other.metrics.record(.scanTime, .seconds(1), in: MetricGroup(index: 0))
        #expect(!self.compare(run, self.side(other), sameLog: true).isIdentical)
        let scans = PairedRun {
            $0.books += 1
            return true
        }
        #expect(!self.compare(run, self.side(Samples.passed(), scans: scans), sameLog: true).isIdentical)
        #expect(!self.compare(run, self.side(Samples.passed(), seed: 7), sameLog: true).isIdentical)
    }

    // MARK: Objectives

    @Test func `an objective that held and is missed is a regression, and the way back is better`() {
        let name = "sse.first_event.time{group:commuters} p(95) < 500ms"
        let worse = self.compare(self.side(Samples.passed()), self.slow)
        #expect(worse.regressions.contains { $0.hasPrefix("SLO \(name): held at 12") })
        for text in self.formats(worse) { #expect(text.contains("812")) }
        let better = self.compare(self.slow, self.side(Samples.passed()))
        #expect(better.objectives.first { $0.name == name }?.change == .better)
        #expect(!better.isRegression)
    }

    @Test func `an objective that only warns decides nothing`() throws {
        var calm = Samples.passed()
        calm.slos = calm.slos.map { slo in
            slo.slo.severity == .warn ? slo.recorded(actual: "0", passed: true) : slo
        }
        let comparison = self.compare(calm, Samples.passed())
        let row = try #require(comparison.objectives.first { $0.slo.severity == .warn })
        #expect(row.change == .worse && !row.decides)
        #expect(comparison.regressions == [])
    }

    /// One operation of eighty decides whether a rate is above or below 1 %.
    @Test func `an objective that chance put on the other side of its limit is told, and decides nothing`()
        throws
    {
        func result(failed: Int, of total: Int) -> RunResult {
            var result = Samples.passed()
            result.metrics = MetricTable(groups: ["commuters", "readers"])
            for index in 0..<total {
                result.metrics.record(.sseConnectFailed, failed: index < failed, in: MetricGroup(index: 0))
            }
            result.slos = Samples.slos(result.metrics).filter {
                $0.slo.selector.metric == .rate(.sseConnectFailed)
            }
            return result
        }
        let chance = self.compare(result(failed: 0, of: 80), result(failed: 1, of: 80))
        #expect(chance.objectives.map(\.change) == [.notProven])
        #expect(chance.regressions == [])
        #expect(chance.exitReasons == [.notProven])
        #expect(chance.warnings.contains { $0.contains("the difference may be chance") })
        let changed = self.compare(result(failed: 0, of: 80), result(failed: 20, of: 80))
        #expect(changed.objectives.map(\.change) == [.worse])
        #expect(changed.isRegression)
    }

    @Test func `what only one run has is said in every format`() {
        var base = Samples.passed()
        base.slos.removeFirst()
        base.metrics.answered(status: 503, in: MetricGroup(index: 0))
        var new = Samples.passed()
        for _ in 0..<30 { new.metrics.record(.sseDetectTime, .seconds(1), in: MetricGroup(index: 0)) }
        new.metrics.fired(fault: "delay-1", in: .none)
        let comparison = self.compare(base, new)
        #expect(comparison.objectives.last?.change == .onlyNew)
        #expect(
            comparison.latencies.first { $0.name == LatencyScope(.sseDetectTime, .fleet) }?.change == .onlyNew
        )
        #expect(comparison.counts.first { $0.name == "http.503" }?.change == .onlyBase)
        #expect(comparison.counts.first { $0.name == "faults.delay-1" }?.change == .onlyNew)
        #expect(!comparison.isRegression)
        for text in self.formats(comparison) {
            for name in ["sse.connect.time", "sse.detect.time", "http.503", "faults.delay-1"] {
                #expect(text.contains(name))
            }
            #expect(text.contains("only in NEW") && text.contains("only in BASE"))
        }
    }

    // MARK: What changed, and what did not

    @Test func `what changed stands alone, and the rest is folded`() throws {
        let comparison = self.compare(self.side(Samples.passed()), self.slow)
        let short = ComparisonText.text(comparison, style: .plain, isWhole: false)
        let whole = ComparisonText.text(comparison, style: .plain, isWhole: true)
        #expect(short.contains("sse.first_event.time") && !short.contains("cleanup.failed"))
        #expect(!short.contains("upload.time") && whole.contains("upload.time"))
        let words = short.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        #expect(words.contains("unchanged 5 SLOs, 13 invariants and"), "\(short)")
        #expect(words.contains("metrics; --all shows them"))
        #expect(!whole.contains("--all"))
        let page = ComparisonPage.text(comparison)
        let folded = try #require(page.range(of: "<section id=\"unchanged\""))
        for name in [">upload.time<", "id=\"nines-upload-time\""] {
            let place = try #require(page.range(of: name))
            #expect(place.lowerBound > folded.lowerBound, "\(name)")
        }
        let news = try #require(page.range(of: "id=\"nines-sse-first_event-time\""))
        #expect(news.lowerBound < folded.lowerBound)
        let markdown = ComparisonMarkdown.text(comparison)
        let rest = try #require(markdown.range(of: "<details><summary>Unchanged: 5 SLOs"))
        #expect(try #require(markdown.range(of: "`upload.time`")).lowerBound > rest.lowerBound)
    }

    @Test func `without a change there is one line`() {
        let run = self.side(Samples.passed())
        let text = ComparisonText.text(self.compare(run, run), style: .plain, isWhole: false)
        #expect(text.contains("NO REGRESSION") && text.contains("unchanged"))
        #expect(!text.contains("scan.time") && !text.contains("worse: higher by"))
    }

    @Test func `the section of a run's own page has ids of its own`() {
        let section = ComparisonPage.section(self.compare(Samples.passed(), Samples.brokenInvariant()))
        #expect(section.body.text.contains("<b>Worse</b>"))
        #expect(section.body.text.contains("scans.lost: 0 to 1"))
        let page = HTMLPage(
            RunReport(Samples.brokenInvariant(), RunTimeline(faults: 0), folders: []), comparison: section
        ).text
        let ids = page.components(separatedBy: " id=\"").dropFirst().map { $0.prefix { $0 != "\"" } }
        #expect(
            Set(ids).count == ids.count, "\(Dictionary(grouping: ids) { $0 }.filter { $1.count > 1 }.keys)")
        #expect(page.contains("Compared with the baseline"))
    }

    // MARK: Losses and invariants

    @Test func `one lost scan, one missing book or a newly broken invariant is a regression`() {
        let worse = self.compare(Samples.passed(), Samples.brokenInvariant())
        #expect(
            worse.regressions.filter { !$0.contains("SLO") } == [
                "invariant book.never-lost: held, now 4 violations; first phone 17, scan 2, at 12.480 s: book 4 of 6 never came",
                "scans.lost: 0 to 1", "books.missing: 0 to 4",
            ])
        #expect(
            worse.invariants.first { $0.invariant == .streamNoGap }?.decides == false,
            "what the profile is known for is no regression")
        #expect(!self.compare(Samples.brokenInvariant(), Samples.passed()).isRegression)
        #expect(!self.compare(Samples.brokenInvariant(), Samples.brokenInvariant()).isRegression)
    }

    @Test func `rows that fail, or of which nobody knows, are a regression`() {
        func run(created: Int, failed: Int, missing: Int) -> RunResult {
            var run = Samples.passed()
            run.groups[1].journey = .csvImport
            run.totals.rows.sent = 1_000
            run.totals.rows.counts.created = created
            run.totals.rows.counts.failed = failed
            run.totals.rows.missing = missing
            return run
        }
        let base = run(created: 990, failed: 10, missing: 0)
        #expect(
            self.compare(base, run(created: 500, failed: 500, missing: 0)).regressions == [
                "rows.created: 99% (990 of 1,000) to 50% (500 of 1,000) of rows",
                "rows.failed: 1% (10 of 1,000) to 50% (500 of 1,000) of rows",
            ])
        #expect(
            self.compare(base, run(created: 989, failed: 10, missing: 1)).regressions == [
                "rows.missing: 0 to 1"
            ])
        #expect(!self.compare(base, base).isRegression)
        #expect(
            self.compare(Samples.passed(), Samples.passed()).losses.allSatisfy { $0.name != "rows.missing" })
    }

    @Test func `a failure rate is judged by what chance allows`() throws {
        var new = Samples.passed()
        for _ in 0..<30 { new.metrics.record(.uploadFailed, failed: true, in: MetricGroup(index: 0)) }
        let comparison = self.compare(Samples.passed(), new)
        #expect(
            comparison.regressions == ["upload.failed: 4.17% (5 of 120) to 23.33% (35 of 150) of operations"])
    }

    // MARK: Runs that cannot be compared in everything

    @Test func `what became of scans is not judged of a run that was killed, and that is said`() {
        var new = Samples.passed()
        new.totals.scans.open = 60
        new.totals.scans.completed -= 60
        let cut = PairedRun {
            if PairedRun.number($0) % 4 == 0 { $0.end = .unfinished }
            return true
        }
        let whole = self.compare(self.side(Samples.passed()), self.side(new, scans: cut))
        #expect(whole.regressions.contains { $0.hasPrefix("scans.completed: ") })
        let killed = self.compare(self.side(Samples.passed()), self.side(new, isKilled: true))
        #expect(killed.regressions == ["the run itself: passed (exit code 0) to killed, not judged"])
        #expect(self.compare(self.side(new, isKilled: true), self.side(Samples.passed())).regressions == [])
        var failed = Samples.passed()
        failed.failure = "the backend process was killed"
        #expect(self.compare(Samples.passed(), failed).regressions.count == 1)
        for text in self.formats(killed) { #expect(text.contains("NEW was killed")) }
    }

    @Test func `nothing is proven by a run that cannot be trusted, or that left open what the other one met`()
    {
        var untrusted = Samples.passed()
        untrusted.remarks = [.quoted(.complaint, "80 of 200 captures were held back")]
        untrusted.exitReasons = [.loadNotMade]
        for (base, new) in [(Samples.passed(), untrusted), (untrusted, Samples.passed())] {
            #expect(self.compare(base, new).exitReasons == [.notProven])
        }
        var open = Samples.passed()
        open.verdicts[0].standing = .notAvailable
        #expect(
            self.compare(Samples.passed(), open).doubts == [
                "\(open.verdicts[0].invariant.rawValue) held in BASE and was not judged in NEW"
            ])
        #expect(self.compare(open, Samples.passed()).exitReasons == [])
        #expect(self.compare(Samples.passed(), Samples.brokenInvariant()).exitReasons == [.regression])
        for text in self.formats(self.compare(Samples.passed(), untrusted)) {
            #expect(text.lowercased().contains("a regression is not excluded"))
            #expect(!text.contains("✅") && !text.contains("✓ NOT PROVEN"))
        }
    }

    @Test func `what a target cannot tell is neither better nor worse`() {
        let comparison = self.compare(Samples.passed(), Samples.foreign())
        #expect(!comparison.isRegression)
        #expect(comparison.losses.first { $0.name == "books.missing" }?.change == .shown)
        #expect(
            comparison.latencies.first { $0.name == LatencyScope(.sseEventLatency, .fleet) }?.change == .shown
        )
        #expect(
            comparison.objectives.first { $0.slo.selector.metric == .latency(.sseEventLatency) }?.change
                == .shown)
    }

    @Test func `what may make two runs incomparable stands on top`() {
        let run = self.side(Samples.passed())
        #expect(self.compare(run, run).warnings == [])
        var other = self.side(
            Samples.passed(), seed: 7, scenario: "name: flaky-network\nseed: 7\n# a word\ndrain: 5s\n")
        other.head.tool = "swiftwing-sim 2.0.0"
        other.head.machine = "8 × another processor"
        other.head.labels = RunLabels(target: "https://staging.example")
        var late = HDRHistogram()
        for _ in 0..<9_000 { late.record(80_000_000) }
        var set = MetricSet()
        set.add(late, to: .generatorLateness)
        other.result.metrics.add(set, in: MetricGroup(index: 0))
        other.result.remarks = [.quoted(.complaint, "timers late")]
        let comparison = self.compare(run, other)
        #expect(
            comparison.warnings == [
                "NEW cannot be trusted: timers late",
                "the resolved scenarios differ in 1 line",
                "the seeds differ: 42 in BASE, 7 in NEW",
                "the programs differ: swiftwing-sim 1.0.0 in BASE, swiftwing-sim 2.0.0 in NEW",
                "the machines differ, so times may not be comparable: 2 × a processor, 4096 MiB, a system in BASE, 8 × another processor in NEW",
                "the backends differ: simulated backend in BASE, https://staging.example in NEW",
                "the machine was busier during NEW: timer lag p99 80.0ms, in BASE 556µs",
            ])
        #expect(comparison.scenarioChanges == ["+ drain: 5s"])
        let same = RunComparison(
            base: run, new: run, tolerance: 0, width: .seconds(1), sameLog: false)
        #expect(same.warnings == ["BASE and NEW are the same folder"])
    }

    // MARK: Text of others

    @Test(arguments: [40, 80, 132]) func `text of others is text, and no line is too wide`(columns: Int) {
        var hostile = self.side(Samples.hostile(), folder: "\u{1B}[2J<script>alert(1)</script>|`b`")
        hostile.head.scenario = hostile.result.scenario
        hostile.scenarioText = String(repeating: "<script>alert(1)</script>\u{1B}[2J```|\n", count: 300)
        hostile.head.tool = "\u{1B}]0;x\u{7}<script>alert(1)</script>"
        for comparison in [
            self.compare(self.side(Samples.passed()), hostile), self.compare(hostile, hostile),
        ] {
            for isASCII in [false, true] {
                let style = TerminalStyle(columns: columns, isColored: false, isASCII: isASCII)
                let text = ComparisonText.text(comparison, style: style, isWhole: true)
                for line in text.split(separator: "\n") {
                    #expect(Printable.width(String(line)) <= columns, "\(line)")
                }
                #expect(!isASCII || text.utf8.allSatisfy { $0 < 0x80 })
            }
            for text in self.formats(comparison) {
                #expect(!text.utf8.contains(0x1B) && !text.utf8.contains(0x7))
                #expect(text.utf8.count < 400_000)
            }
            let page = ComparisonPage.text(comparison)
            #expect(!page.contains("<script>alert") && !page.contains("<img"))
            #expect(page.components(separatedBy: "<script").count == 2)
            // Behind a fence that the text cannot close.
            let markdown = ComparisonMarkdown.text(comparison)
            for line in markdown.split(separator: "\n") where line.contains("<script>") {
                #expect(line.contains("`") || line.hasPrefix("+") || line.hasPrefix("-"), "\(line)")
            }
        }
    }

    // MARK: Labels

    @Test func `a comparison shows in which labels the runs differ`() throws {
        let target = "http://127.0.0.1:8080"
        func run(_ labels: RunLabels) -> ComparedRun {
            var result = Samples.foreign()
            result.labels = labels
            var run = self.side(result)
            run.head.labels = labels
            return run
        }
        let base = run(
            RunLabels(target: target, tags: try RunTag.list(parsing: ["build=1432", "branch=main"])))
        let tags = try RunTag.list(parsing: ["build=1433", "branch=main", "note=x"])
        let new = run(RunLabels(target: "http://127.0.0.1:9090", tags: tags))
        let comparison = RunComparison(
            base: base, new: new, tolerance: 100_000, width: .seconds(1), sameLog: false)
        for text in self.formats(comparison) {
            let words = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
            #expect(words.contains("tag build: 1432 in BASE, 1433 in NEW"))
            #expect(words.contains("tag note: none in BASE, x in NEW"))
            #expect(!words.contains("tag branch:") && words.contains("branch=main"))
            #expect(
                words.contains("the backends differ: \(target) in BASE, http://127.0.0.1:9090 in NEW"))
        }
    }
}
