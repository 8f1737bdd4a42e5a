import Ledger
import Metrics
import Reports
import RunArchive
import RunJudge
import SimBase
import Talaria

/// A comparison as one page: the regressions, and the curves of both runs in the same charts.
package struct ComparisonPage {
    private let comparison: RunComparison
    private let axis: TimeAxis

    package static func text(_ comparison: RunComparison) -> String { ComparisonPage(comparison).text }

    private init(_ comparison: RunComparison) {
        self.comparison = comparison
        let ends = [comparison.base, comparison.new].map { run in
            max(
                run.result.length.nanoseconds,
                run.tracks.compactMap { $0.windows.last?.from.nanoseconds }.max() ?? 0)
        }
        self.axis = TimeAxis(end: ends.max() ?? 0)
    }

    private var text: String {
        let comparison = self.comparison
        var sections = [self.scenarios]
        if !comparison.isIdentical {
            sections = [
                self.objectives, self.invariants, self.latencies, self.shares, self.counts, self.scenarios,
            ]
        }
        let name = HTMLText.escaped(comparison.new.head.scenario.name, bytesMax: 80)
        return HTMLDocument(
            title: "\(comparison.isRegression ? "✗" : "✓") \(self.headline): \(name)",
            header: self.header, sections: sections.filter { !$0.body.isEmpty }
        ).text
    }

    private typealias Section = HTMLDocument.Section

    private var headline: String {
        let words = self.comparison.headline.lowercased()
        return words.prefix(1).uppercased() + words.dropFirst()
    }

    // MARK: The verdict

    private static let reasonsMax = 60

    private var header: String {
        let comparison = self.comparison
        let tone: Tone = comparison.isRegression ? .bad : .good
        let all = comparison.regressions
        let more = all.count - Self.reasonsMax
        let reasons = HTMLText.items(
            all.prefix(Self.reasonsMax) + (more > 0 ? ["and \(more) more"] : []), bytesMax: 400)
        let warnings = HTMLText.callouts(comparison.warnings, bytesMax: 400)
        let tags = comparison.tagChanges.map {
            "<p class=\"about\">\(HTMLText.escaped($0, bytesMax: 600))</p>\n"
        }.joined()
        let sentence = comparison.sentence
        return """
            <header>
            <h1>\(HTMLText.escaped(comparison.new.head.scenario.name, bytesMax: 80)): NEW against BASE</h1>
            <div class="verdict \(tone.rawValue)">\(HTMLDocument.badge(tone))<span class="word">\(self.headline)</span></div>
            <p>\(sentence.prefix(1).uppercased())\(HTMLText.escaped(String(sentence.dropFirst()))).</p>
            \(reasons.isEmpty ? "" : "<ul class=\"reasons\">\(reasons)</ul>")
            \(tags)\(warnings)\(self.runs)</header>
            """
    }

    private var runs: String {
        let rows = [("BASE", self.comparison.base), ("NEW", self.comparison.new)].map { label, run in
            let result = run.result
            let sign = HTMLText.sign(result.exit.tone)
            return [
                "<b>\(label)</b>",
                ([run.folder] + result.labels.words).map {
                    HTMLText.mono($0, bytesMax: 400)
                }.joined(separator: "<br>"),
                "\(sign) \(RunComparison.end(run))", String(result.seed), result.world.mode,
                Figures.length(result.length), Figures.count(result.devices),
                Figures.count(result.totals.scans.captured),
                HTMLText.escaped(Figures.date(iso8601: result.startedText)),
            ]
        }
        return HTMLText.table(
            [
                "", "folder", "ended", "seed", "mode", "length", "phones", self.comparison.noun.many,
                "started",
            ], rows,
            numbers: [3, 5, 6, 7], id: "runs")
    }

    private static func sign(_ change: Change) -> String {
        let tone: Tone =
            switch change {
            case .worse: .bad
            case .better: .good
            case .onlyBase, .onlyNew: .warn
            case .same, .withinSpread, .tooFew, .shown: .unknown
            }
        return "\(HTMLText.sign(tone, RunComparison.sign(change), isHidden: true)) \(change.rawValue)"
    }

    // MARK: Objectives and invariants

    private var objectives: Section {
        let rows = self.comparison.objectives.map { row -> [String] in
            func cell(_ result: SLOResult?) -> String {
                guard let result else { return "–" }
                return HTMLText.escaped(
                    "\(RunComparison.Objective.word(result)): \(RunComparison.Objective.text(result))")
            }
            return [
                Self.sign(row.change) + (row.change == .worse && !row.decides ? " (warning only)" : ""),
                HTMLText.mono(row.slo.selector.description),
                HTMLText.mono(row.slo.condition.description),
                cell(row.base), cell(row.new),
            ]
        }
        return Section(
            id: "objectives", title: "Objectives",
            body: rows.isEmpty
                ? ""
                : HTMLText.table(
                    ["", "metric", "limit", "BASE", "NEW"], rows, numbers: [], id: "objective-table"))
    }

    private var invariants: Section {
        var rows = self.comparison.losses.map { row in
            [
                Self.sign(row.change), HTMLText.mono(row.name),
                row.text(row.base), row.text(row.new), "",
            ]
        }
        rows += self.comparison.invariants.filter(\.isShown).map { row in
            let first = row.new?.examples.first ?? row.base?.examples.first
            return [
                Self.sign(row.change) + (row.change == .worse && !row.decides ? " (as expected)" : ""),
                HTMLText.mono(row.invariant.rawValue),
                RunComparison.InvariantComparison.text(row.base),
                RunComparison.InvariantComparison.text(row.new),
                first.map { HTMLText.escaped(self.comparison.told($0)) } ?? "",
            ]
        }
        let held = self.comparison.invariants.count {
            $0.base?.standing == .held && $0.new?.standing == .held
        }
        return Section(
            id: "losses", title: "Losses and invariants",
            lead: "\(Figures.count(held, "invariant", "invariants")) held in both runs.",
            body: HTMLText.table(
                ["", "what", "BASE", "NEW", "first"], rows, numbers: [2, 3], id: "loss-table"))
    }

    // MARK: Latencies

    private var latencies: Section {
        let shown = self.comparison.latenciesShown
        let rows = shown.map { row -> [String] in
            func times(_ value: (LatencySummary) -> Int64) -> [String] {
                let (base, new) = (row.base.map(value), row.new.map(value))
                var growth = ""
                if let base, let new { growth = RunComparison.growth(from: base, to: new) }
                return [base, new].map { $0.map { HTMLText.time($0) } ?? "–" } + [growth]
            }
            return [
                Self.sign(row.change), HTMLText.mono(row.name.name),
            ] + times { $0.p50 } + times { $0.p95 } + times { $0.p99 }.prefix(2)
                + [row.base, row.new].map { Figures.count($0?.count ?? 0) }
        }
        guard !rows.isEmpty else { return Section(id: "latency", title: "Latency", body: "") }
        let order: [Change] = [
            .worse, .better, .onlyNew, .onlyBase, .withinSpread, .same, .tooFew, .shown,
        ]
        let whole = shown.filter { $0.name.scope == .fleet && $0.base != nil && $0.new != nil }
        var figures = ""
        for change in order {
            for row in whole where row.change == change { figures += self.figure(row) }
        }
        let more = self.comparison.latenciesLeftOut
        let rest =
            more > 0
            ? " \(Figures.count(more, "row", "rows")) of single groups, same as the fleet, omitted." : ""
        return Section(
            id: "latency", title: "Latency",
            lead: "p50 and p95 are judged; \(HTMLText.escaped(self.comparison.rule)).\(rest)",
            body: HTMLText.table(
                [
                    "", "metric", "p50 BASE", "NEW", "", "p95 BASE", "NEW", "", "p99 BASE", "NEW",
                    "samples", "NEW",
                ], rows, numbers: Set(2...11), id: "latency-table") + figures)
    }

    private func figure(_ row: RunComparison.Latency) -> String {
        let metric = row.name.metric
        let id = metric.rawValue.map { $0 == "." ? "-" : String($0) }.joined()
        let told = row.findings.map { finding in
            "\(RunComparison.Latency.name(finding.percentile)) \(HTMLText.time(finding.base)) to \(HTMLText.time(finding.new))"
        }.joined(separator: ", ")
        var charts = self.overTime(metric, id: id)
        let sides = [self.comparison.base, self.comparison.new].map {
            $0.side(metric, of: .fleet)?.whole ?? HDRHistogram()
        }
        charts +=
            NinesChart(
                id: "nines-\(id)",
                curves: [
                    .init(name: "BASE", ink: 7, isDashed: true, histogram: sides[0]),
                    .init(name: "NEW", ink: 1, isDashed: false, histogram: sides[1]),
                ]
            ).html
        return """
            <article class="metric" id="\(id)"><h3>\(metric.rawValue)</h3>
            <p>\(Self.sign(row.change))\(told.isEmpty ? "" : ": \(told)")</p>
            \(SpreadChart(id: "spread-\(id)", findings: row.findings).html)<div class="two">\(charts)</div></article>

            """
    }

    /// The edge of both runs on one clock.
    private func overTime(_ metric: LatencyMetric, id: String) -> String {
        let width = self.comparison.width.nanoseconds
        let tracks = [self.comparison.base, self.comparison.new].map { run in
            run.tracks.first { $0.metric == metric }?.windows ?? []
        }
        let last = tracks.compactMap { $0.last?.from.nanoseconds }.max() ?? 0
        let count = Int(min(last / width, Int64(2 * RunReport.trackWindowsMax))) + 1
        func series(_ name: String, _ ink: Int, _ isDashed: Bool, _ windows: [LatencyTrack.Window])
            -> TimeChart.Series
        {
            var values = [Double?](repeating: nil, count: count)
            for window in windows {
                let index = Int(clamping: max(0, window.from.nanoseconds / width))
                if index < count { values[index] = Double(window.summary.p95) }
            }
            return TimeChart.Series(
                name: name, ink: ink, shape: .line(dashed: isDashed), values: values, note: "")
        }
        return TimeChart(
            id: "over-\(id)", title: "p95 over time", unit: "",
            description: "p95 of \(metric.rawValue) over time, of both runs",
            series: [series("BASE", 7, true, tracks[0]), series("NEW", 1, false, tracks[1])],
            width: width, axis: self.axis, bands: "", isTime: true
        ).html
    }

    // MARK: Shares and counts

    private var shares: Section {
        let rows = self.comparison.shares.map { row in
            [
                Self.sign(row.change), HTMLText.mono(row.name),
                row.of, row.text(row.base), row.text(row.new), row.difference,
            ]
        }
        return Section(
            id: "shares", title: "Shares",
            lead:
                "Judged if the difference exceeds one percentage point and three standard errors. "
                + "Outcomes of \(self.comparison.noun.listed) and jobs are judged only if both runs completed.",
            body: rows.isEmpty
                ? ""
                : HTMLText.table(
                    ["", "what", "of", "BASE", "NEW", ""], rows, numbers: [3, 4, 5], id: "share-table"))
    }

    private var counts: Section {
        let rows = self.comparison.counts.map { row in
            [
                row.change == .shown ? "" : Self.sign(row.change),
                HTMLText.mono(row.name), row.text(row.base),
                row.text(row.new), row.difference,
            ]
        }
        return Section(
            id: "counts", title: "Counts",
            lead: "Not judged: neither a higher nor a lower count is better.",
            body: rows.isEmpty
                ? ""
                : HTMLText.table(
                    ["", "what", "BASE", "NEW", ""], rows, numbers: [2, 3, 4], id: "count-table"))
    }

    private static let changesMax = 200

    private var scenarios: Section {
        let changes = self.comparison.scenarioChanges
        guard !changes.isEmpty else { return Section(id: "scenarios", title: "Scenarios", body: "") }
        return Section(
            id: "scenarios", title: "Scenario differences",
            lead: "Resolved scenarios with all defaults, without the seed.",
            body:
                "<pre tabindex=\"0\">\(HTMLText.block(changes.joined(separator: "\n"), linesMax: Self.changesMax))</pre>\n"
        )
    }
}

/// The values behind a verdict: each percentile, and its range over the windows of each run. Ranges that do not overlap are a
/// change.
struct SpreadChart {
    var id: String
    var findings: [LatencyFinding]

    private static let row = 14

    var html: String {
        guard let most = self.findings.flatMap({ [$0.baseSpread.upperBound, $0.newSpread.upperBound] }).max()
        else { return "" }
        let axis = ValueAxis(holdingTime: most)
        let ticks = ([0] + axis.ticks).map { tick in
            (x: HTMLText.share(tick, of: axis.top), value: tick)
        }
        let grid = ticks.map {
            "<line class=\"tick\" x1=\"\($0.x)\" x2=\"\($0.x)\" y1=\"0\" y2=\"\(Self.row)\"/>"
        }.joined()
        var lanes = ""
        for finding in self.findings {
            let name = RunComparison.Latency.name(finding.percentile)
            for (label, ink, value, spread) in [
                ("BASE", 7, finding.base, finding.baseSpread), ("NEW", 1, finding.new, finding.newSpread),
            ] {
                let told =
                    "\(name) \(label) \(Figures.time(value)), from \(Figures.time(spread.lowerBound)) to \(Figures.time(spread.upperBound))"
                lanes += "<div class=\"lane\"><span>\(name) \(label)</span>"
                lanes +=
                    "<svg width=\"100%\" height=\"\(Self.row)\" role=\"img\" aria-label=\"\(told)\">\(grid)"
                lanes += "<g class=\"i\(ink)\"><line class=\"range\" "
                lanes += "x1=\"\(HTMLText.share(Double(spread.lowerBound), of: axis.top))\" "
                lanes += "x2=\"\(HTMLText.share(Double(spread.upperBound), of: axis.top))\" "
                lanes += "y1=\"\(Self.row / 2)\" y2=\"\(Self.row / 2)\"/>"
                lanes += "<circle class=\"f\" cx=\"\(HTMLText.share(Double(value), of: axis.top))\" "
                lanes += "cy=\"\(Self.row / 2)\" r=\"4.5\"/></g></svg></div>\n"
            }
        }
        let labels = ticks.map { tick -> String in
            let anchor = tick.value == 0 ? "start" : tick.value == axis.top ? "end" : "middle"
            return "<text class=\"label\" x=\"\(tick.x)\" y=\"12\" text-anchor=\"\(anchor)\">"
                + "\(tick.value == 0 ? "0" : HTMLText.time(Int64(tick.value)))</text>"
        }.joined()
        return """
            <figure class="spread" id="\(self.id)">
            <figcaption><span class="t">value and spread</span> \
            <span class="u">ranges that do not overlap indicate a real change</span></figcaption>
            \(lanes)<div class="lane" aria-hidden="true"><span></span><svg width="100%" height="16">\(labels)</svg></div>
            </figure>

            """
    }
}
