import Ledger
import Metrics
package import Reports
import RunArchive
import RunJudge
import SimBase
import Talaria

/// A comparison as one page: the regressions, and the curves of both runs in the same charts.
package struct ComparisonPage {
    private let comparison: RunComparison
    private let axis: TimeAxis

    package static func text(_ comparison: RunComparison) -> String {
        ComparisonPage(comparison).html.text
    }

    private init(_ comparison: RunComparison) {
        self.comparison = comparison
        let ends = [comparison.base, comparison.new].map { run in
            max(
                run.result.length.nanoseconds,
                run.tracks.compactMap { $0.windows.last?.from.nanoseconds }.max() ?? 0)
        }
        self.axis = TimeAxis(end: ends.max() ?? 0)
    }

    private var html: HTML {
        let comparison = self.comparison
        let sections =
            comparison.isIdentical ? [self.scenarios] : self.news + [self.scenarios, self.unchanged]
        let name = comparison.new.head.scenario.name
        return HTMLDocument(
            title: "\(comparison.tone.sign) \(self.headline): \(name, bytesMax: 80)",
            header: self.header, sections: sections.filter { !$0.body.isEmpty }
        ).html
    }

    // MARK: What changed, and what did not

    /// The sections with what changed, alone.
    private var news: [Section] { self.sections(prefix: "", hasCharts: true) { $0.isNews } }

    /// Everything else, folded.
    private var unchanged: Section {
        let body = self.sections(prefix: "same-", hasCharts: true) { !$0.isNews }.map(Self.folded).joined()
        return Section(
            id: "unchanged", title: "Unchanged",
            lead: self.comparison.unchanged.map { "\($0) did not change, or by no more than chance." } ?? "",
            body: body)
    }

    /// The tables that are not empty. `prefix`: before their ids.
    private func sections(prefix: String, hasCharts: Bool, _ isIn: @escaping (Change) -> Bool) -> [Section] {
        ComparisonTables(self.comparison, isIn).all.map { table in
            var section = table.section(prefix: prefix)
            if hasCharts, table.id == "latency" { section.body += self.figures(isIn) }
            return section
        }.filter { !$0.body.isEmpty }
    }

    private static func folded(_ section: Section) -> HTML {
        let lead: HTML = section.lead.isEmpty ? "" : "<p class=\"lead\">\(section.lead)</p>\n"
        return "<details><summary>\(section.title)</summary>\n\(lead)\(section.body)</details>\n"
    }

    /// The section of a run's own report, by which it is compared with its baseline.
    package static func section(_ comparison: RunComparison) -> HTMLDocument.Section {
        let page = ComparisonPage(comparison)
        let reasons = HTML.items(comparison.reasons.prefix(Self.reasonsMax), bytesMax: 400)
        let news = page.sections(prefix: "baseline-", hasCharts: false) { $0.isNews }
        let rest = page.sections(prefix: "baseline-same-", hasCharts: false) { !$0.isNews }
        let folded = rest.map(Self.folded).joined()
        let facts = [RunComparison.end(comparison.base)] + RunComparison.facts(comparison.base)
        let sign = HTML.sign(comparison.tone)
        var body: HTML = "<p>\(sign) <b>\(page.headline)</b>: \(comparison.sentence).</p>\n"
        if !reasons.isEmpty { body += "<ul class=\"reasons\">\(reasons)</ul>\n" }
        body += HTML.callouts(comparison.warnings, bytesMax: 400)
        for section in news { body += "<h3>\(section.title)</h3>\n\(section.body)" }
        if !folded.isEmpty { body += "<h3>Unchanged</h3>\n\(folded)" }
        return Section(
            id: "baseline", title: "Compared with the baseline",
            lead: """
                BASE: \(comparison.base.folder, bytesMax: 400), \
                \(facts.joined(separator: " · "), bytesMax: 600). NEW: this run.
                """,
            body: body)
    }

    private typealias Section = HTMLDocument.Section

    private var headline: String { Figures.capitalized(self.comparison.headline.lowercased()) }

    // MARK: The verdict

    private static let reasonsMax = 60

    private var header: HTML {
        let comparison = self.comparison
        let tone = comparison.tone
        let all = comparison.reasons
        let more = all.count - Self.reasonsMax
        let reasons = HTML.items(
            all.prefix(Self.reasonsMax) + (more > 0 ? ["and \(more) more"] : []), bytesMax: 400)
        let warnings = HTML.callouts(comparison.warnings, bytesMax: 400)
        let tags: [HTML] = comparison.tagChanges.map { "<p class=\"about\">\($0, bytesMax: 600)</p>\n" }
        return """
            <header>
            <h1>\(comparison.new.head.scenario.name, bytesMax: 80): NEW against BASE</h1>
            <div class="verdict \(tone.rawValue)">\(HTMLDocument.badge(tone))<span class="word">\(self.headline)</span></div>
            <p>\(Figures.capitalized(comparison.sentence), bytesMax: 201).</p>
            \(reasons.isEmpty ? "" : "<ul class=\"reasons\">\(reasons)</ul>")
            \(tags.joined())\(warnings)\(ComparisonTables.runs(comparison).htmlBody(prefix: ""))</header>
            """
    }

    // MARK: Charts

    /// The charts of the latencies with these changes, the worst first.
    private func figures(_ isIn: (Change) -> Bool) -> HTML {
        let order: [Change] = [
            .worse, .notProven, .better, .onlyNew, .onlyBase, .same, .shown,
        ]
        let whole = self.comparison.latenciesShown.filter {
            $0.name.scope == .fleet && $0.base != nil && $0.new != nil
        }
        // A group that is judged by itself may have changed more than the fleet.
        func change(_ row: RunComparison.Latency) -> Change {
            let changes = self.comparison.latencies
                .filter { $0.name.metric == row.name.metric && $0.isJudged }.map(\.change)
            return order.first { changes.contains($0) } ?? row.change
        }
        return order.filter(isIn).flatMap { wanted in whole.filter { change($0) == wanted } }
            .map { self.figure($0) }.joined()
    }

    private func figure(_ row: RunComparison.Latency) -> HTML {
        let metric = row.name.metric
        let id = metric.rawValue.map { $0 == "." ? "-" : String($0) }.joined()
        let told = row.findings.map { finding in
            let interval = finding.intervalText.map { ", between \($0) with 99% confidence" } ?? ""
            guard let sides = finding.sides else { return "pairs \(finding.growthText)\(interval)" }
            return "\(finding.name) \(sides.base) to \(sides.new) (\(finding.growthText)\(interval))"
        }.joined(separator: ", ")
        var charts = self.overTime(metric, id: id)
        let sides = [self.comparison.base, self.comparison.new].map {
            $0.histogram(row.name) ?? HDRHistogram()
        }
        charts +=
            NinesChart(
                id: "nines-\(id)",
                curves: [
                    (name: "BASE", ink: 7, isDashed: true, histogram: sides[0]),
                    (name: "NEW", ink: 1, isDashed: false, histogram: sides[1]),
                ]
            ).html
        return """
            <article class="metric" id="\(id)"><h3>\(metric.rawValue)</h3>
            <p>\(row.change.mark.html)\(told.isEmpty ? "" : ": \(told)")</p>
            <div class="two">\(charts)</div></article>

            """
    }

    /// The edge of both runs on one clock.
    private func overTime(_ metric: LatencyMetric, id: String) -> HTML {
        let width = self.comparison.width.nanoseconds
        let tracks = [self.comparison.base, self.comparison.new].map { run in
            run.tracks.first { $0.metric == metric }?.windows ?? []
        }
        let last = tracks.compactMap { $0.last?.from.nanoseconds }.max() ?? 0
        let count = Int(min(last / width, Int64(2 * RunReport.trackWindowsMax))) + 1
        // A percentile of few samples says nothing.
        let samplesMin = LatencyTrack.samplesMin(for: .p95)
        guard tracks.joined().contains(where: { $0.summary.count >= samplesMin }) else { return "" }
        func series(_ name: String, _ ink: Int, _ isDashed: Bool, _ windows: [LatencyTrack.Window])
            -> TimeChart.Series
        {
            var values = [Double?](repeating: nil, count: count)
            for window in windows where window.summary.count >= samplesMin {
                let index = Int(clamping: max(0, window.from.nanoseconds / width))
                if index < count { values[index] = Double(window.summary.p95) }
            }
            return TimeChart.Series(name: name, ink: ink, shape: .line(dashed: isDashed), values: values)
        }
        return TimeChart(
            id: "over-\(id)", title: "p95 over time",
            description: "p95 of \(metric.rawValue) over time, of both runs",
            series: [series("BASE", 7, true, tracks[0]), series("NEW", 1, false, tracks[1])],
            width: width, axis: self.axis
        ).html
    }

    // MARK: Scenarios

    private static let changesMax = 200

    private var scenarios: Section {
        let changes = self.comparison.scenarioChanges
        guard !changes.isEmpty else { return Section(id: "scenarios", title: "Scenarios", body: "") }
        return Section(
            id: "scenarios", title: "Scenario differences",
            lead: "Resolved scenarios with all defaults, without the seed.",
            body: """
                <pre tabindex="0">\(HTML.block(changes.joined(separator: "\n"), linesMax: Self.changesMax))</pre>

                """)
    }
}
