import SimBase

/// The result of an objective.
package struct SLOResult: Hashable, Sendable {
    package let slo: SLO
    /// The observed value; nil if there was none or it cannot be known.
    package let value: SLOValue?
    /// The value as text: `312.4ms`, `0.83% (5 of 600)`, `0`, `no data` or `n/a`. It has as many digits as
    /// are needed to see on which side of the threshold it is.
    package let actual: String
    /// Nil when the run cannot know: neither a success nor a failure.
    package let passed: Bool?
    /// Whether there was no data. Unless the objective says otherwise, a latency without a sample fails, and
    /// a failure rate without operations passes; a count of 0 is data.
    package let noData: Bool
    /// The worst part, if the objective judges parts of the run.
    package internal(set) var part: SLOPart?

    /// Returns the result as a report stored it: the verdict at the end of the run, whatever is known now.
    package func recorded(actual: String, passed: Bool?) -> SLOResult {
        SLOResult(slo: self.slo, value: self.value, actual: actual, passed: passed, noData: self.noData)
    }

    /// This result without a verdict, for a run that did not come to its end.
    package var unjudged: SLOResult { self.recorded(actual: self.actual, passed: nil) }

    /// Whether the value cannot be known. A value that is known and not judged has a value, or no data.
    package var isNotKnown: Bool { self.passed == nil && self.value == nil && !self.noData }

    /// What the objective judges, what was observed and the limit: `scan.time p(95) was 46.1s, limit < 20s`. `observed`: the
    /// value as text.
    package func sentence(observed: String) -> String {
        let (selector, condition) = (self.slo.selector, self.slo.condition)
        let verb = self.value == nil ? "had" : "was"
        let limit = "limit \(condition.comparison.rawValue) \(condition.threshold)\(condition.span)"
        return "\(selector) \(condition.aggregation) \(verb) \(observed), \(limit)"
    }

    /// The text for a value that the run cannot know.
    package static let unknown = "n/a"

    /// Whether it fails the run.
    package var isBreach: Bool { self.passed == false && self.slo.severity == .error }

    /// Whether it was left open and had to be judged.
    package var isOwed: Bool { self.passed == nil && self.slo.mustBeJudged }

    /// The smallest number of operations for which a failure rate can end a run.
    package static let operationsToEndRun: Int64 = 20

    /// Whether the run should end now, having been judged on the way. What has no data yet may still get some, and a
    /// count or a cost that is too low may still grow: those wait for the end.
    package var endsRun: Bool {
        guard self.slo.abort, self.passed == false, !self.noData else { return false }
        // The first failure of the first few operations is not yet a rate, unless none is allowed.
        if case .share(let rate) = self.value, case .share(let limit) = self.slo.condition.threshold,
            limit > 0, rate.total < Self.operationsToEndRun
        {
            return false
        }
        if case .money = self.value { return self.slo.condition.isUpperLimit }
        guard case .number(let value) = self.value, case .number(let limit) = self.slo.condition.threshold
        else {
            return true
        }
        switch self.slo.condition.comparison {
        case .less, .lessOrEqual: return true
        case .equal: return value > limit
        case .greater, .greaterOrEqual, .notEqual: return false
        }
    }
}

package enum SLOValue: Hashable, Sendable {
    case time(nanoseconds: Int64)
    case share(FailureRate)
    case number(Int64)
    /// Rounded down.
    case money(microdollars: Int64)
}

extension SLOCondition {
    /// Whether only what is too large fails it.
    package var isUpperLimit: Bool { self.comparison == .less || self.comparison == .lessOrEqual }
}

extension SLO {
    /// Judges all that the table holds, whatever part of a run that is.
    package func evaluate(against table: MetricTable) -> SLOResult {
        self.evaluate(SLOSample(of: self.selector, in: table))
    }

    /// The result if the objective cannot be judged: neither a success nor a failure.
    package var notKnown: SLOResult {
        SLOResult(slo: self, value: nil, actual: SLOResult.unknown, passed: nil, noData: false)
    }

    func evaluate(_ sample: SLOSample) -> SLOResult {
        switch sample {
        case .latency(let histogram, let unfinished): self.judge(latency: histogram, unfinished)
        case .rate(let rate): self.judge(rate: rate)
        case .number(let number): self.judge(number: number)
        case .cost(let cost): self.judge(cost: cost)
        case .notAvailable: self.notKnown
        }
    }

    /// The policy for no data; `passed` where the objective has none of its own.
    func noData(passed: Bool) -> SLOResult {
        SLOResult(
            slo: self, value: nil, actual: "no data", passed: self.passesWithoutData ?? passed, noData: true)
    }

    private func judge(latency histogram: HDRHistogram, _ unfinished: Unfinished) -> SLOResult {
        guard case .time(let threshold) = self.condition.threshold else {
            return self.judge(number: histogram.total)
        }
        if !unfinished.isEmpty, self.condition.isUpperLimit {
            return self.judge(latency: histogram, unfinished, upTo: threshold)
        }
        guard let value = self.time(of: histogram) else { return self.noData(passed: false) }
        let comparison = self.condition.comparison
        let passed: Bool
        if self.condition.aggregation == .average {
            // Cross-multiplied: the mean itself is rounded.
            let limit = UInt128(threshold) * UInt128(histogram.total)
            passed = comparison.holds(histogram.sum, limit)
        } else {
            passed = comparison.holds(value, threshold)
        }
        return SLOResult(
            slo: self, value: .time(nanoseconds: value), actual: Self.text(value, beside: threshold),
            passed: passed, noData: false)
    }

    /// An upper limit holds only if it would hold with every operation that was still open above it
    /// (Docs/design.md section 11.3).
    private func judge(latency histogram: HDRHistogram, _ unfinished: Unfinished, upTo limit: Int64)
        -> SLOResult
    {
        let comparison = self.condition.comparison
        var value = self.time(of: histogram)
        let passed: Bool
        switch self.condition.aggregation {
        case .average:
            // The oldest with its age, which is the least that it will have taken; the others hardly above the limit.
            let above = UInt128(max(unfinished.oldest.nanoseconds, limit.addingSaturating(1)))
            let others = UInt128(unfinished.count - 1)
            let sum = histogram.sum.addingSaturating(above).addingSaturating(
                others * (UInt128(limit) + 1))
            let total = UInt128(histogram.total) + UInt128(unfinished.count)
            passed = comparison.holds(sum, UInt128(limit) * total)
        case .median: passed = self.holds(&value, at: .p50, of: histogram, unfinished, limit)
        case .percentile(let percentile):
            passed = self.holds(&value, at: percentile, of: histogram, unfinished, limit)
        case .minimum: passed = value.map { comparison.holds($0, limit) } ?? false
        case .maximum: passed = false
        case .count, .rate, .value: preconditionFailure("an SLO is built only of what fits together")
        }
        let shown = value.map { Self.text($0, beside: limit) } ?? "no data"
        return SLOResult(
            slo: self, value: value.map { .time(nanoseconds: $0) },
            actual: "\(shown), \(unfinished.count) unfinished", passed: passed, noData: false)
    }

    /// `value`: becomes the percentile of all operations, unless that is among those that have not ended.
    private func holds(
        _ value: inout Int64?, at percentile: Percentile, of histogram: HDRHistogram,
        _ unfinished: Unfinished, _ limit: Int64
    ) -> Bool {
        guard let all = histogram.value(at: percentile, below: unfinished.count) else { return false }
        value = all
        return self.condition.comparison.holds(all, limit)
    }

    /// Returns the result for a part of a run in which operations were open and none ended, so that nothing
    /// was measured. It fails if the oldest exceeds the limit; nil if that is not a failure.
    func missed(_ unfinished: Unfinished) -> SLOResult? {
        guard !unfinished.isEmpty, self.condition.isUpperLimit,
            case .time(let limit) = self.condition.threshold,
            !self.condition.comparison.holds(unfinished.oldest.nanoseconds, limit)
        else { return nil }
        let oldest = unfinished.oldest.nanoseconds
        return SLOResult(
            slo: self, value: .time(nanoseconds: oldest),
            actual: "\(unfinished.count) unfinished, the oldest after \(Self.text(oldest, beside: limit)),",
            passed: false, noData: false)
    }

    private func time(of histogram: HDRHistogram) -> Int64? {
        switch self.condition.aggregation {
        case .average: histogram.mean
        case .minimum: histogram.minimum
        case .maximum: histogram.maximum
        case .median: histogram.value(at: .p50)
        case .percentile(let percentile): histogram.value(at: percentile)
        case .count, .rate, .value: preconditionFailure("an SLO is built only of what fits together")
        }
    }

    private func judge(rate: FailureRate) -> SLOResult {
        guard case .share(let perMillion) = self.condition.threshold else {
            return self.judge(number: rate.failed)
        }
        guard rate.total > 0 else { return self.noData(passed: true) }
        let passed = self.condition.comparison.holds(
            UInt128(rate.failed) * 1_000_000, UInt128(perMillion) * UInt128(rate.total))
        return SLOResult(
            slo: self, value: .share(rate), actual: Self.text(rate, beside: perMillion), passed: passed,
            noData: false)
    }

    private func judge(number: Int64) -> SLOResult {
        guard case .number(let threshold) = self.condition.threshold else {
            preconditionFailure("an SLO is built only of what fits together")
        }
        return SLOResult(
            slo: self, value: .number(number), actual: String(number),
            passed: self.condition.comparison.holds(number, threshold), noData: false)
    }

    private func judge(cost: Cost?) -> SLOResult {
        guard case .money(let limit) = self.condition.threshold else {
            preconditionFailure("an SLO is built only of what fits together")
        }
        guard let cost else { return self.noData(passed: false) }
        return SLOResult(
            slo: self, value: .money(microdollars: cost.microdollars), actual: cost.text(beside: limit),
            passed: cost.compares(self.condition.comparison, to: limit), noData: false)
    }

    /// Returns the fewest digits that show on which side of the threshold the value is.
    private static func text(_ value: Int64, beside threshold: Int64) -> String {
        let digits = (1...9).first { digits in
            let shown = DecimalText.shownTime(value, digits: digits)
            return (shown < threshold) == (value < threshold) && (shown == threshold) == (value == threshold)
        }
        return DecimalText.time(value, digits: digits ?? 9)
    }

    /// The operations themselves are printed too, and settle what four digits cannot.
    private static func text(_ rate: FailureRate, beside threshold: Int64) -> String {
        let value = Int64(UInt128(rate.failed) * 1_000_000 / UInt128(rate.total))
        let digits = (2...4).first { digits in
            let shown = Int64(DecimalText.rounded(value.magnitude, decimals: 4, to: digits))
            return (shown < threshold) == (value < threshold) && (shown == threshold) == (value == threshold)
        }
        let percent = DecimalText.text(value, decimals: 4, shown: 0...(digits ?? 4))
        return "\(percent)% (\(rate.failed) of \(rate.total))"
    }
}
