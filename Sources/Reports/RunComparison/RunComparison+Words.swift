import Ledger
import Metrics
import Reports
import RunArchive
package import RunJudge
import SimBase
import Talaria

// The sentences that all formats share.
extension RunComparison {
    package var isRegression: Bool { !self.regressions.isEmpty }

    /// What the comparison adds to the exit of the runs themselves.
    package var exitReasons: ExitReasons {
        self.isRegression ? [.regression] : self.doubts.isEmpty ? [] : [.notProven]
    }

    /// How it looks in every format.
    var tone: Tone { self.exitReasons.exit.tone }

    /// Why a regression cannot be excluded though none was found.
    var doubts: [String] {
        let untrusted = [("BASE", self.base), ("NEW", self.new)].filter { !$0.1.isTrustworthy }
            .map { "\($0.0) ended with exit code \($0.1.result.exit.rawValue)" }
        let invariants = self.invariants
            .filter { $0.base?.standing == .held && $0.new?.standing == .notAvailable }
            .map { "\($0.invariant.rawValue) held in BASE and was not judged in NEW" }
        let objectives = self.objectives
            .filter { $0.base?.passed == true && $0.new?.passed == nil && $0.new != nil }
            .map { "\($0.name) held in BASE and was not judged in NEW" }
        let missed = self.objectives
            .filter { $0.decides && $0.change == .notProven && $0.new?.passed == false }
            .map { "\($0.name) held in BASE and is missed in NEW, which may be chance" }
        return self.isIdentical
            ? [] : untrusted + invariants + objectives + missed + self.unpaired + self.unproven
    }

    /// Scans that only one of the runs has.
    private var unpaired: [String] {
        guard let pairs = self.pairs else {
            return [("BASE", self.base), ("NEW", self.new)].filter { $0.1.scans == nil }
                .map { "\($0.0) has no \(RunDirectory.FileName.scans)" }
        }
        let (lacking, noun) = (pairs.lacking, self.noun.many)
        let limit = Double(lacking.of) * ScanPairs.lackingMax
        var doubts: [String] = []
        if Double(lacking.base + lacking.new) > limit {
            doubts.append(
                "of \(Figures.count(lacking.of)) \(noun), \(Figures.count(lacking.new)) are not in NEW and \(Figures.count(lacking.base)) not in BASE"
            )
        }
        let (base, new) = (self.base.result.totals.scans.captured, self.new.result.totals.scans.captured)
        if doubts.isEmpty, Double(base - new) > Double(base) * ScanPairs.lackingMax {
            doubts.append("NEW made \(Figures.count(new)) \(noun), BASE \(Figures.count(base))")
        }
        return doubts
    }

    /// What may have got worse.
    private var unproven: [String] {
        let latencies = self.latencies(.notProven).map(\.doubt)
        let silent = self.latencies.filter { $0.isJudged && $0.change == .onlyBase }
            .map { "\($0.name.name) has no values in NEW" }
        let shares = self.shares.filter { $0.mustBeProven && $0.change == .notProven }.map(\.sentence)
        return latencies + silent + shares
    }

    /// A word or two.
    package var headline: String {
        if self.isIdentical { return "IDENTICAL" }
        if self.isRegression { return "WORSE" }
        if !self.doubts.isEmpty { return "NOT PROVEN" }
        return self.count(of: .better) == nil ? "NO REGRESSION" : "BETTER"
    }

    package var sentence: String {
        if self.isIdentical { return "both runs are identical, bit for bit" }
        let better = self.count(of: .better).map { "\($0) better" }
        guard let worse = self.count(of: .worse) else {
            if let doubt = self.doubts.first {
                let more = self.doubts.count > 1 ? ", and \(self.doubts.count - 1) more" : ""
                return "a regression is not excluded: \(doubt)\(more)"
            }
            let version =
                self.base.head.tool == self.new.head.tool || self.hasChance
                ? "" : " with another version of the program"
            return "nothing got worse\(version)" + (better.map { ", " + $0 } ?? "")
        }
        return "\(worse) got worse" + (better.map { ", " + $0 } ?? "")
    }

    /// How latencies are judged, with this run's limits.
    var rule: String {
        let limit = "\(self.toleranceText) and 2 ms"
        guard self.hasChance else {
            return "worse: higher by more than \(limit); there is no chance in two simulated runs of one seed"
        }
        return
            "worse: the whole interval of 99% is above +\(limit); no regression: it is below; else not proven"
    }

    /// The first words of every table of latencies.
    var latencyLead: String {
        let names = self.latencies.filter(\.isJudged).map(\.name.name)
        let arePairs = self.latencies.contains { $0.pairs != nil }
        let what = arePairs ? "p50, p95 and the growth within pairs" : "p50 and p95"
        let judged =
            names.isEmpty ? "No latency is judged" : "\(what) of \(names.joined(separator: ", ")) are judged"
        let method = self.method.map { " (\($0))" } ?? ""
        return "\(judged)\(method); \(self.rule)."
    }

    /// What the latencies were judged by: pairs of scans, or the time of the run.
    var method: String? {
        guard let pairs = self.pairs else { return nil }
        let count = Figures.count(pairs.count, "pair", "pairs")
        guard !pairs.isPaired else { return "\(count) of \(self.noun.many)" }
        let why = Printable.line(pairs.differences.joined(separator: "; "), bytesMax: 200)
        return "no pairs (\(why)): compared by the time of the run"
    }

    var toleranceText: String {
        DecimalText.text(self.tolerance, decimals: 4, shown: 0...4) + "%"
    }

    /// `+43%`, `-8%`, `×12`; nothing where both are the same.
    static func growth(from base: Int64, to new: Int64) -> String {
        guard base != new else { return "0%" }
        guard base > 0 else { return "–" }
        return Self.growth(ratio: Double(new) / Double(base))
    }

    /// The growth that a ratio means; 1 is no change.
    static func growth(ratio: Double) -> String {
        guard ratio != 1 else { return "0%" }
        guard ratio < 10 else { return ratio < 1_000_000 ? "×\(Int(nearest: ratio))" : "–" }
        let percent = Int(nearest: (ratio - 1) * 100)
        return percent > 0 ? "+\(percent)%" : percent < 0 ? "\(percent)%" : ratio > 1 ? "+0%" : "-0%"
    }

    /// What the phones of both runs did.
    var noun: WorkNoun { WorkNoun((self.base.result.groups + self.new.result.groups).map(\.journey)) }

    /// `phone 17, scan 2, at 12.480 s: book 4 of 6 never came`.
    func told(_ violation: Violation) -> String {
        "\(self.new.result.place(of: violation)): \(violation.text)"
    }

    /// Each run in a few words.
    static func facts(_ run: ComparedRun) -> [String] {
        let result = run.result
        return [
            "seed \(result.seed)", result.world.mode, Figures.length(result.length),
            Figures.count(result.devices, "phone", "phones"),
            Figures.count(result.totals.scans.captured, result.noun),
            Figures.date(iso8601: result.startedText),
        ] + result.labels.words
    }

    /// The tags in which the runs differ, one phrase each. A warning reports different backends.
    var tagChanges: [String] {
        RunLabels.differences(base: self.base.head.labels, new: self.new.head.labels)
    }

    /// Returns the end of a run.
    static func end(_ run: ComparedRun) -> String {
        run.wasCutOff
            ? "killed, not judged"
            : "\(run.result.headline.lowercased()) (exit code \(run.result.exit.rawValue))"
    }

    /// Why it is not a success, in one sentence each; what is proven leaves no room for what is not.
    package var reasons: [String] { self.isRegression ? self.regressions : self.doubts }

    /// The state in which each run ended.
    var endSentence: String { "the run itself: \(Self.end(self.base)) to \(Self.end(self.new))" }

    // MARK: What changed, and what did not

    /// What did not change, in numbers: `7 SLOs, 27 invariants and 12 metrics`; nil if everything did.
    var unchanged: String? {
        let invariants = self.invariants.count { !$0.change.isNews }
        let objectives = self.objectives.count { !$0.change.isNews }
        let metrics =
            self.latencies.count { !$0.change.isNews } + self.shares.count { !$0.change.isNews }
            + self.losses.count { !$0.change.isNews } + self.counts.count { !$0.change.isNews }
        return Figures.listed(
            Figures.counts([
                (objectives, "SLO", "SLOs"), (invariants, "invariant", "invariants"),
                (metrics, "metric", "metrics"),
            ]))
    }

    // MARK: What the reader must know first

    /// Why the two may not be comparable, the weightiest first.
    package var warnings: [String] {
        var warnings: [String] = []
        let (base, new) = (self.base, self.new)
        for (side, run) in [("BASE", base), ("NEW", new)] {
            if run.wasCutOff {
                warnings.append(
                    "\(side) was killed: only the data in its files is compared, and outcomes of \(self.noun.listed) and jobs are not judged"
                )
            } else if let failure = run.result.failure {
                warnings.append("\(side) was cut short: \(failure)")
            } else if run.result.isInterrupted {
                warnings.append(
                    "\(side) was interrupted: outcomes of \(self.noun.listed) and jobs are not judged")
            }
            if !run.result.isTrustworthy {
                warnings.append("\(side) cannot be trusted: \(run.result.complaints.joined(separator: "; "))")
            }
        }
        if base.folder == new.folder { warnings.append("BASE and NEW are the same folder") }
        func differ(_ what: String, _ before: String, _ after: String) {
            guard before != after else { return }
            warnings.append("\(what): \(Printable.line(before)) in BASE, \(Printable.line(after)) in NEW")
        }
        differ(
            "the scenarios differ, so no difference means anything by itself", base.head.scenario.name,
            new.head.scenario.name)
        if base.head.scenario.name == new.head.scenario.name, !self.scenarioChanges.isEmpty {
            warnings.append(
                "the resolved scenarios differ in \(Figures.count(self.scenarioChanges.count, "line", "lines"))"
            )
        }
        differ("the seeds differ", "\(base.head.seed)", "\(new.head.seed)")
        differ("the programs differ", base.head.tool, new.head.tool)
        if let before = base.head.machine, let after = new.head.machine {
            differ("the machines differ, so times may not be comparable", before, after)
        }
        differ("the backends differ", Self.backend(base.head), Self.backend(new.head))
        if base.head.world == .virtual, new.head.world == .virtual, base.head.seed == new.head.seed,
            self.scenarioChanges.isEmpty, base.head.tool == new.head.tool, self.isDifferent,
            base.cameToItsEnd, new.cameToItsEnd
        {
            warnings.append(
                "two simulated runs with the same seed differ: simulated runs are reproducible, so something else changed"
            )
        }
        for row in self.objectives where row.change == .notProven {
            warnings.append(
                "SLO \(row.name): \(Objective.word(row.base)) in BASE, \(Objective.word(row.new)) in NEW; the difference may be chance"
            )
        }
        if let lateness = self.lateness { warnings.append(lateness) }
        return warnings
    }

    private static func backend(_ head: RunHead) -> String {
        head.labels.target ?? (head.hasBackendView ? "simulated backend" : "a target")
    }

    /// A machine that was busier while NEW ran.
    private var lateness: String? {
        guard let before = self.base.result.latency(.generatorLateness)?.p99,
            let after = self.new.result.latency(.generatorLateness)?.p99,
            after > before * 2, after - before > 5_000_000
        else { return nil }
        return
            "the machine was busier during NEW: timer lag p99 \(Figures.time(after)), in BASE \(Figures.time(before))"
    }

    // MARK: Scenarios

    private static let scenarioLinesMax = 4_000

    /// Lines of the scenario as it ran that only one of the runs has, `-` or `+` before them. Without the
    /// seed, which is shown separately.
    var scenarioChanges: [String] {
        let (base, new) = (Self.lines(self.base.scenarioText), Self.lines(self.new.scenarioText))
        guard base != new else { return [] }
        return new.difference(from: base).map { change in
            switch change {
            case .remove(let index, let line, _): (index: index, text: "- " + line)
            case .insert(let index, let line, _): (index: index, text: "+ " + line)
            }
        }.enumerated().sorted {
            ($0.element.index, $0.offset) < ($1.element.index, $1.offset)
        }.map(\.element.text)
    }

    private static func lines(_ text: String) -> [String] {
        text.split(separator: "\n").prefix(Self.scenarioLinesMax).map { String($0) }.filter { line in
            !line.hasPrefix("seed:") && !line.drop { $0 == " " }.hasPrefix("#")
        }
    }
}

extension Change {
    /// Whether a reader looks for it first. What differs within chance, or is only shown, is not news.
    var isNews: Bool {
        switch self {
        case .worse, .better, .notProven, .onlyBase, .onlyNew: true
        case .same, .shown: false
        }
    }
}

// MARK: - Sentences

extension RunComparison.Share {
    /// `1.25% (3 of 240)`, or of a ratio `0.31 (37 in 120)`.
    func text(_ part: Part?) -> String {
        guard let part else { return "n/a" }
        guard part.whole > 0 else { return "none" }
        let of = self.kind == .share ? "of" : "in"
        let figure = self.figure(Int64(nearest: part.share * 1_000_000), "%")
        return "\(figure) (\(Figures.count(part.count)) \(of) \(Figures.count(part.whole)))"
    }

    /// A ratio has no unit.
    private func figure(_ perMillion: Int64, _ unit: String) -> String {
        switch self.kind {
        case .share: DecimalText.text(perMillion, decimals: 4, shown: 0...2) + unit
        case .ratio: DecimalText.text(perMillion, decimals: 6, shown: 0...3)
        }
    }

    /// The difference in percentage points, or of the ratios.
    var difference: String {
        guard let base = self.base, let new = self.new, base.whole > 0, new.whole > 0 else { return "" }
        let perMillion = Int64(nearest: (new.share - base.share) * 1_000_000)
        guard perMillion != 0 else { return "" }
        return (perMillion > 0 ? "+" : "") + self.figure(perMillion, " pp")
    }

    var sentence: String {
        "\(self.name): \(self.text(self.base)) to \(self.text(self.new)) of \(self.of)"
    }
}

extension RunComparison.Count {
    func text(_ count: Int64?) -> String {
        if let count { return Figures.count(count) }
        return self.change == .onlyBase || self.change == .onlyNew ? "–" : "n/a"
    }

    var difference: String {
        guard let base = self.base, let new = self.new, base != new else { return "" }
        return (new > base ? "+" : "") + Figures.count(new - base)
    }

    var sentence: String { "\(self.name): \(self.text(self.base)) to \(self.text(self.new))" }
}

extension RunComparison.Objective {
    var name: String { "\(self.slo.selector) \(self.slo.condition)" }

    static func text(_ result: SLOResult?) -> String {
        guard let result else { return "–" }
        return result.passed == nil ? "n/a" : result.shown
    }

    static func word(_ result: SLOResult?) -> String {
        switch result?.passed {
        case true?: "held"
        case false?: "missed"
        case nil: result == nil ? "absent" : "n/a"
        }
    }

    var sentence: String {
        "SLO \(self.name): \(Self.word(self.base)) at \(Self.text(self.base)), now \(Self.word(self.new)) at \(Self.text(self.new))"
    }
}

extension RunComparison.InvariantComparison {
    static func text(_ verdict: Verdict?) -> String {
        switch verdict?.standing {
        case .held?: "held"
        case .broken?: Figures.count(verdict?.violations ?? 0, "violation", "violations")
        case .brokenAsExpected?: "broken as expected"
        case .notAvailable?: "n/a"
        case nil: "absent"
        }
    }

    /// Whether a table shows it: invariants that held in both runs, or are n/a in both, are only counted.
    var isShown: Bool {
        !(self.base?.standing == .held && self.new?.standing == .held)
            && !(self.base?.standing == .notAvailable && self.new?.standing == .notAvailable)
    }

    /// `result`: of the new run.
    func sentence(of result: RunResult) -> String {
        var text =
            "invariant \(self.invariant.rawValue): \(Self.text(self.base)), now \(Self.text(self.new))"
        if let first = self.new?.examples.first {
            text += "; first \(result.place(of: first)): \(Printable.line(first.text))"
        }
        return text
    }
}
