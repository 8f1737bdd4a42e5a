import Metrics
import Reports
import RunArchive
import SimBase

// What the tables and sentences of all formats say of a latency.
extension RunComparison.Latency {
    /// BASE, NEW and the growth, as a table shows them: of the values that were judged, else of all.
    func cells(_ percentile: Percentile, _ value: (LatencySummary) -> Int64) -> [String] {
        let growth = self.growth(percentile, value)
        if let sides = self.findings.first(where: { $0.percentile == percentile })?.sides {
            return [sides.base, sides.new, growth]
        }
        return [self.base, self.new].map { $0.map { Figures.time(value($0)) } ?? "–" } + [growth]
    }

    /// `+43%`; `<2ms` for a percentile that is the same by the rule although it grew by much, because so little counts for nothing.
    func growth(_ percentile: Percentile, _ value: (LatencySummary) -> Int64) -> String {
        guard let base = self.base.map(value), let new = self.new.map(value) else { return "" }
        guard let finding = self.findings.first(where: { $0.percentile == percentile }) else {
            return RunComparison.growth(from: base, to: new)
        }
        return finding.isTiny ? "<\(LatencyJudge.differenceMin / 1_000_000)ms" : finding.growthText
    }

    /// The growth within the pairs; nil where they were not judged.
    var pairs: LatencyFinding? { self.findings.first { $0.percentile == nil } }

    /// `+31% (+28% to +33%)`; empty where pairs were not judged.
    var pairsText: String {
        guard let pairs = self.pairs else { return "" }
        return pairs.growthText + (pairs.interval.map { " (\(LatencyFinding.text($0, " to ")))" } ?? "")
    }

    var sentence: String {
        let parts = self.findings.filter { $0.change == self.change }.map { finding in
            guard let sides = finding.sides else { return "\(finding.name) \(self.pairsText)" }
            return "\(finding.name) \(sides.base) to \(sides.new) (\(finding.growthText))"
        }
        return "\(self.name.name): \(parts.joined(separator: ", "))"
    }

    /// Why it is not proven that it did not get worse.
    var doubt: String {
        let open = self.findings.filter { $0.change == .notProven }
        guard !open.isEmpty else { return "\(self.name.name) has too few values to compare" }
        let parts = open.map { finding in
            let between = finding.intervalText.map { ", between \($0)" } ?? ""
            return "\(finding.name) \(finding.growthText)\(between)"
        }
        let needed = open.map(\.scansNeeded)
        let most = needed.compactMap { $0 }.max()
        let advice = needed.contains(nil) ? "" : most.map { "; about \(Figures.count($0)) would tell" } ?? ""
        return "\(self.name.name) \(parts.joined(separator: " and "))\(advice)"
    }
}

extension LatencyFinding {
    /// `p95`, or `pairs`.
    var name: String {
        switch self.measure {
        case .percentile(let percentile, _, _):
            "p" + DecimalText.text(Int64(percentile.perMillion), decimals: 4, shown: 0...4)
        case .pairs: "pairs"
        }
    }

    /// The percentile in both runs; nil for the pairs.
    var sides: (base: String, new: String)? {
        func text(_ value: Double) -> String {
            value.isFinite ? Figures.time(Int64(nearest: value)) : "unfinished"
        }
        switch self.measure {
        case .percentile(_, let base, let new): return (text(base), text(new))
        case .pairs: return nil
        }
    }

    /// Whether a percentile is the same because so little counts for nothing.
    var isTiny: Bool {
        guard case .percentile(_, let base, let new) = self.measure else { return false }
        return self.change == .same && self.ratio != 1
            && abs(new - base) <= Double(LatencyJudge.differenceMin)
    }

    var growthText: String {
        self.ratio.isFinite ? RunComparison.growth(ratio: self.ratio) : "unfinished"
    }

    /// `-3% and +210%`; nil if there is none.
    var intervalText: String? { self.interval.map { Self.text($0, " and ") } }

    fileprivate static func text(_ interval: ClosedRange<Double>, _ between: String) -> String {
        [interval.lowerBound, interval.upperBound].map { RunComparison.growth(ratio: $0) }
            .joined(separator: between)
    }
}
