import Ledger
import Metrics
import RunArchive
import RunJudge
import RunMetrics
import SimBase
import Talaria

extension HTMLPage {
    package var objectives: Section {
        let cards = self.result.slos.enumerated().sorted { left, right in
            (left.element.isBreach ? 0 : 1, left.offset) < (right.element.isBreach ? 0 : 1, right.offset)
        }.map { self.card($0.element, worst: self.worst($0.offset)) }.joined()
        let hasBudget = self.result.slos.contains { self.budget($0) != nil }
        return Section(
            id: "objectives", title: "Objectives",
            lead: hasBudget
                ? "Error budget: the share of operations that may miss the limit, 5% for p(95). "
                    + "The bar shows how much of it was used."
                : "",
            body: cards.isEmpty ? "" : "<div class=\"cards\">\(cards)</div>\n")
    }

    private func worst(_ index: Int) -> SLOWindow? {
        self.report.worstWindows.indices.contains(index) ? self.report.worstWindows[index] : nil
    }

    /// Nil for a load in steps, whose objectives are not judged by the whole run.
    private func budget(_ slo: SLOResult) -> SLOBudget? {
        self.result.capacity == nil ? SLOBudget(slo, in: self.result.metrics) : nil
    }

    private func card(_ slo: SLOResult, worst: SLOWindow?) -> String {
        let tone = self.result.tone(of: slo)
        var more = ""
        if let budget = self.budget(slo) {
            let fill = HTMLText.share(min(budget.used, 1), of: 1)
            more +=
                "<div class=\"budget\"><svg class=\"meter\" width=\"100%\" height=\"5\" aria-hidden=\"true\">"
            more += "<rect class=\"track\" width=\"100%\" height=\"5\" rx=\"2.5\"/>"
            more += "<rect class=\"fill\" width=\"\(fill)\" height=\"5\" rx=\"2.5\"/></svg></div>"
            more += "<small>\(budget.text)</small>"
        }
        if let worst, worst.isMeaningful {
            more += "<small>worst window of \(Figures.length(worst.length, short: true)): "
            more +=
                "\(HTMLText.sentence(Self.observed(worst.result))) from \(HTMLText.clock(worst.from.nanoseconds))</small>"
        }
        return """
            <article class="card \(tone.rawValue)"><h3><span class="sign" aria-hidden="true">\(tone.sign)</span>\
            <span>\(Self.breakableAtDots(slo.slo.selector.description))</span></h3>
            <p class="big">\(HTMLText.sentence(Self.observed(slo)))</p>
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
    private static func breakableAtDots(_ name: String) -> String {
        HTMLText.escaped(name).replacing(".", with: ".<wbr>")
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
        let broken = result.verdicts.filter { $0.standing == .broken || $0.standing == .brokenAsExpected }
        let held = result.verdicts.filter { $0.standing == .held && ($0.hadOccasion || self.isLive) }
        let idle = result.verdicts.filter { $0.standing == .held && !$0.hadOccasion && !self.isLive }
        let unknown = result.verdicts.filter { $0.standing == .notAvailable }
        var body = ""
        if !broken.isEmpty { body += self.brokenTable(broken) }
        if !held.isEmpty {
            body += "<h3>\(held.count) \(self.isLive ? "invariants hold so far" : "invariants held")</h3>\n"
            body += Self.rules(held, .good)
        }
        let folded =
            [(idle, "had no occasion", Tone.good)]
            + OpenReason.allCases.map { reason in
                (unknown.filter { result.whyOpen($0) == reason }, reason.remark, Tone.unknown)
            }
        for (verdicts, words, tone) in folded where !verdicts.isEmpty {
            body += "<details><summary>\(Figures.count(verdicts.count, "invariant", "invariants")) "
            body += "\(words)</summary>\n\(Self.rules(verdicts, tone))</details>\n"
        }
        return Section(
            id: "invariants", title: "Invariants",
            lead: "Rules that must hold in every run, whatever the scenario does to it.", body: body)
    }

    private func brokenTable(_ broken: [Verdict]) -> String {
        let rows = broken.map { verdict -> [String] in
            let first = verdict.examples.first
            return [
                verdict.standing == .broken
                    ? HTMLText.sign(.bad) + " broken"
                    : HTMLText.sign(.warn) + " broken as expected",
                HTMLText.mono(verdict.invariant.rawValue) + "<br>"
                    + HTMLText.escaped(verdict.invariant.statement, bytesMax: 400),
                Figures.count(verdict.violations),
                first.map { self.place(of: $0) } ?? "",
                first.map { HTMLText.escaped($0.text) } ?? "",
            ]
        }
        return "<h3>Broken invariants</h3>\n"
            + HTMLText.table(
                ["", "invariant and its rule", "violations", "first", "description"], rows, numbers: [2],
                id: "broken")
    }

    /// Each with the sentence that it promises.
    private static func rules(_ verdicts: [Verdict], _ tone: Tone) -> String {
        let items = verdicts.map {
            "<div><dt>\(HTMLText.sign(tone, isHidden: true)) \($0.invariant.rawValue)</dt>"
                + "<dd>\(HTMLText.escaped($0.invariant.statement, bytesMax: 400))</dd></div>"
        }.joined()
        return "<dl class=\"rules\">\(items)</dl>\n"
    }

    // MARK: Links to phones

    /// The phone and scan of a violation, with a link if the phone has a timeline on the page.
    func place(of violation: Violation) -> String {
        self.linked(violation.device, HTMLText.escaped(self.result.place(of: violation)))
    }

    /// `text`: escaped.
    func linked(_ device: DeviceNumber?, _ text: String) -> String {
        guard let device, self.report.timelines.contains(where: { $0.mark.device == device }) else {
            return text
        }
        return "<a href=\"#phone-\(device.raw)\">\(text)</a>"
    }
}
