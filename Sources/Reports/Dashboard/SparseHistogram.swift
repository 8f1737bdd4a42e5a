import Metrics
import RunArchive
import SimBase

/// A histogram of one short window, kept small: only the indices that hold something. 240 windows of every latency are a
/// few megabytes this way, and hundreds as they are recorded.
struct SparseHistogram: TrackSamples, Equatable, Sendable {
    /// Ascending; no count is 0.
    private var indices: [UInt16]
    private var counts: [Int64]
    private var minimum: Int64
    private var maximum: Int64
    private var sum: UInt128
    private(set) var total: Int64

    /// Nil when nothing was recorded.
    init?(_ histogram: HDRHistogram) {
        guard let minimum = histogram.minimum, let maximum = histogram.maximum,
            let occupied = histogram.occupied
        else { return nil }
        (self.minimum, self.maximum, self.sum) = (minimum, maximum, histogram.sum)
        self.total = histogram.total
        let held = occupied.filter { histogram.count(at: $0) > 0 }
        self.indices = held.map { UInt16($0) }
        self.counts = held.map { histogram.count(at: $0) }
    }

    /// Adds the counts of another histogram.
    mutating func add(_ other: SparseHistogram) {
        var indices: [UInt16] = []
        var counts: [Int64] = []
        var (mine, others) = (0, 0)
        while mine < self.indices.count || others < other.indices.count {
            let left = mine < self.indices.count ? self.indices[mine] : .max
            let right = others < other.indices.count ? other.indices[others] : .max
            let index = min(left, right)
            var count: Int64 = 0
            if left == index {
                count += self.counts[mine]
                mine += 1
            }
            if right == index {
                count += other.counts[others]
                others += 1
            }
            indices.append(index)
            counts.append(count)
        }
        (self.indices, self.counts) = (indices, counts)
        self.minimum = min(self.minimum, other.minimum)
        self.maximum = max(self.maximum, other.maximum)
        self.sum += other.sum
        self.total = self.total.addingSaturating(other.total)
    }

    var summary: LatencySummary? {
        guard let last = self.indices.last else { return nil }
        var all = [Int64](repeating: 0, count: Int(last) + 1)
        for (index, count) in zip(self.indices, self.counts) { all[Int(index)] = count }
        let exact = HDRHistogram(counts: all, minimum: self.minimum, maximum: self.maximum, sum: self.sum)
        return (exact ?? HDRHistogram(counts: all)).flatMap { LatencySummary($0) }
    }
}
