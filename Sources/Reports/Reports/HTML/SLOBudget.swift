import Metrics
import RunArchive
import SimBase

/// The error budget of an objective: the share of operations that may miss its limit, and the share that did.
struct SLOBudget {
    let missed: Double
    let allowed: Double

    /// 1 when all of it was used.
    var used: Double { self.missed / self.allowed }

    /// Nil if an objective allows no share of anything.
    init?(_ result: SLOResult, in table: MetricTable) {
        let slo = result.slo
        guard [.less, .lessOrEqual].contains(slo.condition.comparison), result.value != nil else {
            return nil
        }
        switch (slo.condition.threshold, slo.selector.metric) {
        case (.share(let allowed), _):
            guard case .share(let rate) = result.value, rate.total > 0, allowed > 0 else { return nil }
            self.missed = Double(rate.failed) / Double(rate.total)
            self.allowed = Double(allowed) / 1_000_000
        case (.time(let limit), .latency(let metric)):
            guard case .percentile(let percentile) = slo.condition.aggregation,
                percentile.perMillion < 1_000_000,
                let histogram = table.histogram(metric, of: slo.selector.scope).known, histogram.total > 0
            else { return nil }
            let open = table.unfinished(metric, of: slo.selector.scope).count
            let above = Double(histogram.total - histogram.count(atOrBelow: limit)) + Double(open)
            self.missed = above / (Double(histogram.total) + Double(open))
            self.allowed = 1 - Double(percentile.perMillion) / 1_000_000
        case (.number, _), (.money, _), (.time, .rate), (.time, .count), (.time, .http), (.time, .cost),
            (.time, .fault):
            return nil
        }
    }

    /// `10.1% missed the limit (5% allowed): 202% of the error budget used`.
    var text: String {
        let used =
            self.used > 10
            ? "more than 10 times the error budget"
            : "\(Int(nearest: self.used * 100))% of the error budget used"
        let shares = [self.missed, self.allowed].map { Figures.percent(Int64(nearest: $0 * 1_000_000)) }
        return "\(shares[0]) missed the limit (\(shares[1]) allowed): \(used)"
    }
}
