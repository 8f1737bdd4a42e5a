import Ledger
import Metrics
import RunArchive
import RunJudge
import RunMetrics
import SimBase
import Talaria

extension HTMLPage {
    package var objectives: Section {
        let held = self.result.slos.filter(self.isHeldAtZero)
        let zeros: HTML? =
            held.isEmpty
            ? nil
            : """
            <p>\(HTML.sign(.good, isHidden: true)) \(self.isLive ? "0 so far" : "held at 0"), as in every run: \
            \(held.map { HTML.mono($0.slo.selector.description, bytesMax: 120) }.joined(separator: ", "))</p>

            """
        let shown = self.result.slos.enumerated().filter { !self.isHeldAtZero($0.element) }
        let cards = (shown.filter(\.element.isBreach) + shown.filter { !$0.element.isBreach })
            .map { index, slo in
                let windows = self.report.worstWindows
                return self.card(slo, worst: windows.indices.contains(index) ? windows[index] : nil)
            }.joined()
        let hasBudget = self.result.slos.contains { self.budget($0) != nil }
        return Section(
            id: "objectives", title: "Objectives",
            lead: hasBudget
                ? """
                Error budget: the share of operations that may miss the limit, 5% for p(95). \
                The bar shows how much of it was used.
                """
                : "",
            body: (cards.isEmpty ? "" : "<div class=\"cards\">\(cards)</div>\n") + (zeros ?? ""))
    }

    /// Whether it is an objective of every run, which held: it needs no card.
    private func isHeldAtZero(_ slo: SLOResult) -> Bool {
        slo.slo.origin == .implicit && slo.passed == true && slo.value == .number(0)
    }

    /// Nil for a load in steps, whose objectives are not judged by the whole run.
    private func budget(_ slo: SLOResult) -> SLOBudget? {
        self.result.capacity == nil ? SLOBudget(slo, in: self.result.metrics) : nil
    }

    private func card(_ slo: SLOResult, worst: SLOWindow?) -> HTML {
        let tone = self.result.tone(of: slo)
        var more: HTML = ""
        if let budget = self.budget(slo) {
            more += """
                <div class="budget"><svg class="meter" width="100%" height="5" aria-hidden="true">\
                <rect class="track" width="100%" height="5" rx="2.5"/>\
                <rect class="fill" width="\(HTML.share(budget.used, of: 1))" height="5" rx="2.5"/></svg></div>\
                <small>\(budget.text)</small>
                """
        }
        if let worst, worst.isMeaningful {
            more += """
                <small>worst window of \(Figures.length(worst.length, short: true)): \
                \(sentence: Self.observed(worst.result)) from \(Figures.clock(worst.from.nanoseconds))</small>
                """
        }
        return """
            <article class="card \(tone.rawValue)"><h3><span class="sign" aria-hidden="true">\(tone.sign)</span>\
            <span>\(Self.breakableAtDots(slo.slo.selector.description))</span></h3>
            <p class="big">\(sentence: Self.observed(slo))</p>
            <p class="of">\(self.standingWord(slo)), limit \(Self.limitText(slo.slo))</p>\(more)</article>

            """
    }

    /// Whether an objective held, in a word or two.
    func standingWord(_ slo: SLOResult) -> String {
        switch (slo.passed, slo.slo.severity) {
        case (true, _): self.isLive ? "holds so far" : "held"
        case (false, _) where self.result.expectations.covers(slo): "failed as expected"
        case (false, .error): self.isLive ? "missed so far" : "failed"
        case (false, .warn): "warning"
        case (nil, _): self.standing(of: slo)
        }
    }

    /// The name of a metric may continue in another line behind a dot, and nowhere else.
    private static func breakableAtDots(_ name: String) -> HTML {
        name.split(separator: ".").map { HTML(String($0)) }.joined(separator: ".<wbr>")
    }

    /// The reason why an objective is neither held nor missed.
    private func standing(of slo: SLOResult) -> String {
        guard self.isLive else { return self.result.whyOpen(slo).remark }
        return slo.noData ? "no data yet" : slo.value != nil ? "not reached yet" : "not available"
    }

    /// `0.83% (5 of 600)` has its number first; `4.7s, 5 unfinished` has its time as the tables show it.
    private static func observed(_ slo: SLOResult) -> String {
        guard case .time(let nanoseconds) = slo.value else {
            return slo.actual.split(separator: " (").first.map { String($0) } ?? ""
        }
        let rest = slo.actual.split(separator: ", ", maxSplits: 1).dropFirst()
        return ([Figures.time(nanoseconds)] + rest.map { String($0) }).joined(separator: ", ")
    }

    // MARK: Invariants

    package var invariants: Section {
        let result = self.result
        let broken = result.violated
        var body: HTML = ""
        if !broken.isEmpty { body += self.brokenTable(broken) + self.excerpts }
        for (tone, words, verdicts) in result.unbroken(isOver: !self.isLive) {
            // Beside one that is broken, those that held can wait.
            guard tone != .good || !broken.isEmpty else {
                body += "<h3>\(verdicts.count) invariants \(self.isLive ? "hold so far" : "held")</h3>\n"
                body += Self.rules(verdicts, tone)
                continue
            }
            body += """
                <details><summary>\(Figures.count(verdicts.count, "invariant", "invariants")) \(words)</summary>
                \(Self.rules(verdicts, tone))</details>

                """
        }
        return Section(
            id: "invariants", title: "Invariants",
            lead: "Rules that must hold in every run, whatever the scenario does to it.", body: body)
    }

    private func brokenTable(_ broken: [Verdict]) -> HTML {
        let rows = broken.map { verdict -> [HTML] in
            let first = verdict.examples.first
            let invariant = verdict.invariant
            return [
                verdict.standing == .broken
                    ? "\(HTML.sign(.bad)) broken" : "\(HTML.sign(.warn)) broken as expected",
                "\(HTML.mono(invariant.rawValue))<br>\(invariant.statement, bytesMax: 400)",
                "\(Figures.count(verdict.violations))",
                first.map { self.place(of: $0) } ?? "",
                HTML(first?.text ?? ""),
            ]
        }
        let header = ["", "invariant and its rule", "violations", "first", "description"]
        return "<h3>Broken invariants</h3>\n\(HTML.table(header, rows, numbers: [2], id: "broken"))"
    }

    /// Each with the sentence that it promises.
    private static func rules(_ verdicts: [Verdict], _ tone: Tone) -> HTML {
        let items: [HTML] = verdicts.map {
            """
            <div><dt>\(HTML.sign(tone, isHidden: true)) \($0.invariant.rawValue)</dt>\
            <dd>\($0.invariant.statement, bytesMax: 400)</dd></div>
            """
        }
        return "<dl class=\"rules\">\(items.joined())</dl>\n"
    }

    /// Lines of a story on each side of a violation.
    private static let linesAround = 5
    /// Violations whose stories are shown.
    private static let excerptsMax = 3

    /// What happened around the first violations, from the logs of their phones; empty without such logs.
    var excerpts: HTML {
        let first = self.result.verdicts.filter { $0.standing == .broken }.compactMap(\.examples.first)
            .sorted { $0.at < $1.at }
        return first.compactMap(self.excerpt).prefix(Self.excerptsMax).joined()
    }

    private func excerpt(_ violation: Violation) -> HTML? {
        guard let device = violation.device, violation.scan != .none,
            let timeline = self.report.timelines.first(where: { $0.mark.device == device })
        else { return nil }
        let story = ScanStory(
            timeline.observations, self.result.journey(of: device), device: device, scan: violation.scan,
            faults: self.faultIDs, violations: [violation], end: .zero + self.result.length)
        guard let place = story.lines.firstIndex(where: { $0.mark == .violation }) else { return nil }
        let shown = story.lines[max(0, place - Self.linesAround)...].prefix(2 * Self.linesAround)
        let lines: [HTML] = shown.map { line in
            let side = line.side + String(repeating: " ", count: max(0, 7 - line.side.count))
            let text =
                "\(Figures.seconds(line.at.nanoseconds)) s  \(side) \(Printable.line(line.text, bytesMax: 300))"
            // Of several lines of one moment it is not known which is meant.
            let isMeant = line.side.isEmpty || shown.count { $0.at == line.at && !$0.side.isEmpty } == 1
            return line.mark == .violation && isMeant ? "<mark>\(text)</mark>" : "\(text)"
        }
        return """
            <h4>\(HTML.mono(violation.invariant.rawValue)): \(self.place(of: violation))</h4>
            <pre class="story">\(lines.joined(separator: "\n"))</pre>

            """
    }

    // MARK: Links to phones

    /// The phone and scan of a violation, with a link if the phone has a timeline on the page.
    func place(of violation: Violation) -> HTML {
        let place = self.result.place(of: violation)
        guard let device = violation.device,
            self.report.timelines.contains(where: { $0.mark.device == device })
        else { return HTML(place) }
        return "<a href=\"#phone-\(device.raw)\">\(place)</a>"
    }
}
