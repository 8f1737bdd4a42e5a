import Metrics
import RunArchive

/// The share of an objective's allowance that was used.
enum SLOBudget {
    /// 1 when all of it was; nil if an objective allows no share of anything.
    static func used(_ result: SLOResult, in table: MetricTable) -> Double? {
        let slo = result.slo
        guard [.less, .lessOrEqual].contains(slo.condition.comparison), result.value != nil else {
            return nil
        }
        switch (slo.condition.threshold, slo.selector.metric) {
        case (.share(let allowed), _):
            guard case .share(let rate) = result.value, rate.total > 0, allowed > 0 else { return nil }
            return Double(rate.failed) / Double(rate.total) / (Double(allowed) / 1_000_000)
        case (.time(let limit), .latency(let metric)):
            guard case .percentile(let percentile) = slo.condition.aggregation,
                percentile.perMillion < 1_000_000,
                case .measured(let histogram) = table.histogram(metric, of: slo.selector.scope),
                histogram.total > 0
            else { return nil }
            let allowed = 1 - Double(percentile.perMillion) / 1_000_000
            let open = table.unfinished(metric, of: slo.selector.scope).count
            let above = Double(histogram.total - histogram.count(atOrBelow: limit)) + Double(open)
            return above / (Double(histogram.total) + Double(open)) / allowed
        case (.number, _), (.time, .rate), (.time, .count), (.time, .http), (.time, .fault): return nil
        }
    }
}
