import Metrics

/// A histogram of one short window, kept small: only the places that hold something. 240 windows of every latency are a
/// few megabytes this way, and hundreds as they are recorded.
struct SparseHistogram: Equatable, Sendable {
    /// Ascending; no count is 0.
    private var places: [UInt16]
    private var counts: [Int64]
    private var minimum: Int64
    private var maximum: Int64
    private var sum: UInt128

    /// Nil when nothing was recorded.
    init?(_ histogram: HDRHistogram) {
        guard let minimum = histogram.minimum, let maximum = histogram.maximum,
            let occupied = histogram.occupied
        else { return nil }
        (self.minimum, self.maximum, self.sum) = (minimum, maximum, histogram.sum)
        self.places = []
        self.counts = []
        for place in occupied {
            let count = histogram.count(at: place)
            guard count > 0 else { continue }
            self.places.append(UInt16(place))
            self.counts.append(count)
        }
    }

    /// As if all had been recorded in one.
    mutating func add(_ other: SparseHistogram) {
        var places: [UInt16] = []
        var counts: [Int64] = []
        var (mine, others) = (0, 0)
        while mine < self.places.count || others < other.places.count {
            let left = mine < self.places.count ? self.places[mine] : .max
            let right = others < other.places.count ? other.places[others] : .max
            let place = min(left, right)
            var count: Int64 = 0
            if left == place {
                count += self.counts[mine]
                mine += 1
            }
            if right == place {
                count += other.counts[others]
                others += 1
            }
            places.append(place)
            counts.append(count)
        }
        (self.places, self.counts) = (places, counts)
        self.minimum = min(self.minimum, other.minimum)
        self.maximum = max(self.maximum, other.maximum)
        self.sum += other.sum
    }

    var summary: LatencySummary? {
        guard let last = self.places.last else { return nil }
        var all = [Int64](repeating: 0, count: Int(last) + 1)
        for (place, count) in zip(self.places, self.counts) { all[Int(place)] = count }
        let exact = HDRHistogram(counts: all, minimum: self.minimum, maximum: self.maximum, sum: self.sum)
        return (exact ?? HDRHistogram(counts: all)).flatMap { LatencySummary($0) }
    }
}
