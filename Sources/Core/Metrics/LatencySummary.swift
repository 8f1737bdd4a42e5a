/// The numbers of a latency that every report shows, in nanoseconds.
package struct LatencySummary: Hashable, Sendable {
    package let count: Int64
    package let minimum: Int64
    package let mean: Int64
    package let p50: Int64
    package let p90: Int64
    package let p95: Int64
    package let p99: Int64
    package let p999: Int64
    package let maximum: Int64

    /// Creates a summary; nil if nothing was recorded.
    package init?(_ histogram: HDRHistogram) {
        guard
            let minimum = histogram.minimum, let mean = histogram.mean, let maximum = histogram.maximum,
            let p50 = histogram.value(at: .p50), let p90 = histogram.value(at: .p90),
            let p95 = histogram.value(at: .p95), let p99 = histogram.value(at: .p99),
            let p999 = histogram.value(at: .p999)
        else { return nil }
        self.count = histogram.total
        self.minimum = minimum
        self.mean = mean
        self.p50 = p50
        self.p90 = p90
        self.p95 = p95
        self.p99 = p99
        self.p999 = p999
        self.maximum = maximum
    }
}
