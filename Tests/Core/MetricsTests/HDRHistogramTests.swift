import Metrics
import SimBase
import Testing

private let hour: Int64 = 3_600_000_000_000

private func histogram(_ values: [Int64]) -> HDRHistogram {
    var histogram = HDRHistogram()
    for value in values { histogram.record(value) }
    return histogram
}

/// Latencies over seven orders of magnitude, most of them small.
private func seededValues(_ count: UInt64, seed: UInt64) -> [Int64] {
    let random = KeyedRandom(seed: seed)
    return (0..<count).map { number in
        let magnitude = random.below(28, .test, number, 1) + 10
        return Int64(random.below(1 << magnitude, .test, number, 2))
    }
}

struct HDRHistogramTests {
    @Test func `an empty histogram knows no value`() {
        let empty = HDRHistogram()
        #expect(empty.isEmpty && empty.indexesInUse == 0 && empty.total == 0)
        #expect(empty.minimum == nil && empty.maximum == nil && empty.mean == nil && empty.occupied == nil)
        #expect(empty.value(at: .p50) == nil)
        #expect(empty.count(atOrBelow: .max) == 0)
        #expect(LatencySummary(empty) == nil)
    }

    @Test(arguments: [0, 1, 511, 512, 999, 1_000, 123_456_789, hour] as [Int64])
    func `one value is its own minimum, maximum, mean and every percentile`(value: Int64) {
        let one = histogram([value])
        #expect(one.minimum == value && one.maximum == value && one.mean == value)
        #expect(one.value(at: Percentile(perMillion: 0)) == value)
        #expect(one.value(at: .p50) == value && one.value(at: .p999) == value)
        #expect(one.total == 1 && one.saturated == 0 && one.negative == 0)
    }

    @Test func `minimum and maximum are exact and not edges of a bucket`() {
        let values: [Int64] = [1_234_567_891, 777_777_777, 987_654_321_012]
        #expect(histogram(values).minimum == 777_777_777)
        #expect(histogram(values).maximum == 987_654_321_012)
    }

    @Test func `1 to 10,000 microseconds have the published percentiles`() {
        let values = histogram((1...10_000).map { $0 * 1_000 })
        #expect(values.total == 10_000)
        #expect(values.mean == 5_000_500)
        // The highest equivalent values of 5, 9, 9.5, 9.9 and 9.99 ms: buckets there are 4,096 and 8,192 ns wide.
        #expect(values.value(at: .p50) == 5_001_215)
        #expect(values.value(at: .p90) == 9_003_007)
        #expect(values.value(at: .p95) == 9_502_719)
        #expect(values.value(at: .p99) == 9_904_127)
        #expect(values.value(at: .p999) == 9_994_239)
        #expect(values.value(at: Percentile(perMillion: 1_000_000)) == 10_000_000)
        #expect(values.count(atOrBelow: 5_001_215) == 5_001)
    }

    /// HdrHistogram's own basic case: 10,000 values of 1 ms and one of 100 s.
    @Test func `one outlier among ten thousand moves only the last percentile`() {
        var values = HDRHistogram()
        values.record(1_000_000, times: 10_000)
        values.record(100_000_000_000)
        #expect(values.value(at: Percentile(perMillion: 300_000)) == 1_000_447)
        #expect(values.value(at: .p99) == 1_000_447)
        #expect(values.value(at: Percentile(perMillion: 999_900)) == 1_000_447)
        #expect(values.value(at: Percentile(perMillion: 999_999)) == 100_000_000_000)
        #expect(values.mean == 10_998_900)
    }

    @Test(arguments: [1, 2, 3, 4, 5] as [UInt64])
    func `percentiles are those of the sorted values within a thousandth`(seed: UInt64) throws {
        let values = seededValues(5_000, seed: seed)
        let sorted = values.sorted()
        let recorded = histogram(values)
        for perMillion in stride(from: UInt32(0), through: 1_000_000, by: 2_500) {
            let rank = max(1, (UInt64(sorted.count) * UInt64(perMillion) + 999_999) / 1_000_000)
            let exact = sorted[Int(rank) - 1]
            let value = try #require(recorded.value(at: Percentile(perMillion: perMillion)))
            #expect(
                value >= exact && value - exact <= max(511, exact / 1_000), "at \(perMillion) of a million")
        }
        #expect(recorded.minimum == sorted.first && recorded.maximum == sorted.last)
        #expect(recorded.mean == (sorted.reduce(0, +) + 2_500) / 5_000)
    }

    @Test func `counting up to a value agrees with the sorted values`() {
        let values = seededValues(2_000, seed: 9)
        let recorded = histogram(values)
        for value in values {
            let edge = HDRLayout.highestValue(at: HDRLayout.index(of: value))
            #expect(recorded.count(atOrBelow: value) == Int64(values.count { $0 <= edge }))
        }
        #expect(recorded.count(atOrBelow: -1) == 0)
    }

    @Test func `values above an hour are saturated, counted and never understated`() {
        let values = histogram([1_000_000, hour, hour + 1, .max])
        #expect(values.saturated == 2 && values.total == 4)
        #expect(values.maximum == .max)
        #expect(values.indexesInUse <= HDRLayout.countsLength)
        #expect(values.value(at: .p50) == HDRLayout.highestValue(at: HDRLayout.index(of: hour)))
        #expect(values.value(at: .p90) == .max)
        #expect(values.count(atOrBelow: hour) == 2)
        #expect(values.count(atOrBelow: hour * 2) == 2)
        #expect(values.count(atOrBelow: .max) == 4)
        #expect(values.mean == Int64((UInt128(1_000_000 + hour + hour + 1) + UInt128(Int64.max) + 2) / 4))
    }

    @Test(arguments: [-1, .min] as [Int64])
    func `a negative value is counted apart`(value: Int64) {
        let values = histogram([value, 2_000_000])
        #expect(values.negative == 1 && values.total == 1)
        #expect(values.minimum == 2_000_000 && values.mean == 2_000_000)
    }

    @Test func `merging equals recording together`() {
        let left = seededValues(1_000, seed: 21) + [hour + 5, -7]
        let right = seededValues(700, seed: 22) + [-1, 3]
        var merged = histogram(left)
        merged.add(histogram(right))
        #expect(merged == histogram(left + right))
        merged.add(HDRHistogram())
        #expect(merged == histogram(left + right))
        var empty = HDRHistogram()
        empty.add(merged)
        #expect(empty == merged)
        #expect(merged != histogram(left))
    }

    @Test(
        arguments: [[1, 2], [1_000_000_000], [hour]], [[3], [5_000_000_000, 70_000_000_000], [hour - 1]])
    func `what lies apart is merged from either side`(left: [Int64], right: [Int64]) {
        var merged = histogram(left)
        merged.add(histogram(right))
        #expect(merged == histogram(left + right))
        #expect(merged == histogram(right + left))
        #expect(merged.countsByIndex.reduce(0, +) == Int64(left.count + right.count))
    }

    @Test func `merging an empty histogram keeps its negatives`() {
        var merged = histogram([1])
        merged.add(histogram([-1]))
        #expect(merged == histogram([1, -1]))
    }

    @Test func `a reset forgets every value and keeps the memory`() {
        var values = histogram([1, 5_000_000_000, hour + 1, -1])
        let indexes = values.indexesInUse
        values.reset()
        #expect(values == HDRHistogram())
        #expect(
            values.indexesInUse == indexes
                && (0..<HDRLayout.countsLength).allSatisfy { values.count(at: $0) == 0 })
        values.record(7_000)
        #expect(values == histogram([7_000]))
    }

    @Test func `recording many at once equals recording each`() {
        var values = HDRHistogram()
        values.record(12_345, times: 3)
        values.record(99, times: 0)
        values.record(-4, times: 2)
        #expect(values == histogram([12_345, 12_345, 12_345, -4, -4]))
    }

    @Test func `memory grows by what is recorded and not beyond the layout`() {
        #expect(histogram([1]).indexesInUse == 1_024)
        #expect(histogram([1_000_000_000]).indexesInUse == 1_024)
        #expect(histogram([.max]).indexesInUse == 1_024)
        #expect(histogram([240_000_000_000, 360_000_000_000]).indexesInUse == 2 * 1_024)
        #expect(histogram([1, 1_000_000_000]).indexesInUse == 12 * 1_024)
        #expect(histogram([1_000_000_000, 1]).indexesInUse == 12 * 1_024)
        #expect(histogram([1, .max]).indexesInUse == HDRLayout.countsLength)
    }
}

struct RestoredHistogramTests {
    @Test func `counts read back give the same percentiles`() throws {
        let values = histogram(seededValues(3_000, seed: 4))
        let restored = try #require(HDRHistogram(counts: values.countsByIndex))
        #expect(restored.total == values.total)
        #expect(restored.value(at: .p50) == values.value(at: .p50))
        #expect(restored.value(at: .p99) == values.value(at: .p99))
        #expect(restored.occupied == values.occupied)
    }

    @Test func `counts of two files that do not fit together saturate, and percentiles are found`() throws {
        var sum = try #require(HDRHistogram(indexes: [(index: 10, count: .max - 5)]))
        sum.add(try #require(HDRHistogram(indexes: [(index: 900, count: .max - 5)])))
        #expect(sum.total == .max)
        #expect(sum.value(at: .p50) == HDRLayout.highestValue(at: 10))
        #expect(sum.value(at: Percentile(perMillion: 1_000_000)) == HDRLayout.highestValue(at: 900))
    }

    @Test func `counts above an hour are taken as saturated`() throws {
        var counts = [Int64](repeating: 0, count: HDRLayout.countsLength)
        counts[0] = 1
        counts[HDRLayout.countsLength - 1] = 2
        let restored = try #require(HDRHistogram(counts: counts))
        #expect(restored.total == 3 && restored.saturated == 2)
        #expect(restored.maximum == 4_398_046_511_103)
        #expect(restored.value(at: .p99) == 4_398_046_511_103)
    }

    @Test func `an array that no histogram wrote is refused`() {
        #expect(HDRHistogram(counts: [1, -1]) == nil)
        #expect(HDRHistogram(counts: [.max, 1]) == nil)
        #expect(HDRHistogram(counts: [Int64](repeating: 0, count: HDRLayout.countsLength + 1)) == nil)
        #expect(HDRHistogram(counts: []) == HDRHistogram())
    }
}
