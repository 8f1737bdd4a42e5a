internal import SimBase

/// A histogram of nanoseconds with three significant digits, from 1 µs to 1 h, in constant memory.
///
/// Recording is O(1) and allocates only when a value is further from the earlier ones than any was by a power
/// of two: 1,024 counts of 8 bytes for each doubling between the least and the greatest. An empty histogram
/// owns no heap memory; one with values between 4 and 6 minutes takes 16 KiB, a full one 192 KiB
/// (`HDRLayout.countsLength` counts). `minimum`, `maximum` and the sum are exact.
package struct HDRHistogram: Sendable {
    /// The counts from index `first` on, as far as they were ever needed: indexes beyond either end are 0.
    private var counts: [Int64] = []
    /// A multiple of `HDRLayout.subBucketHalfCount`.
    private var first = 0
    /// The number of recorded values: the sum of all counts.
    package private(set) var total: Int64 = 0
    /// The number of values above `HDRLayout.highestTrackable`, which are counted at its index.
    package private(set) var saturated: Int64 = 0
    /// The number of negative values (from two clocks that disagree). They are in no other number.
    package private(set) var negative: Int64 = 0
    /// The sum of all values in nanoseconds, saturated ones at their true size. 2^63 values of 2^63 ns fit.
    package private(set) var sum: UInt128 = 0
    private var least = Int64.max
    private var greatest: Int64 = 0

    package init() {}

    /// Reads back a counts array, for example from an HdrHistogram log. The values inside a bucket are lost:
    /// the extremes become the edges of their buckets, as in every reader of that format. Buckets beyond
    /// `highestTrackable`, which other writers may fill, are taken as saturated.
    ///
    /// Nil if the array is longer than the layout, holds a negative count, or sums to more than 64 bits hold.
    package init?(counts restored: [Int64]) {
        self.init(
            indexes: restored.enumerated().filter { $0.element != 0 }.map {
                (index: $0.offset, count: $0.element)
            })
        guard restored.count <= HDRLayout.countsLength else { return nil }
    }

    /// Creates the histogram from the counts that are not 0, by ascending index.
    package init?(indexes: [(index: Int, count: Int64)]) {
        for (index, count) in indexes {
            let (total, overflow) = self.total.addingReportingOverflow(count)
            guard count > 0, !overflow, index >= 0, index < HDRLayout.countsLength else { return nil }
            self.total = total
            self.least = Swift.min(self.least, HDRLayout.lowestValue(at: index))
            self.greatest = HDRLayout.highestValue(at: index)
            self.sum += UInt128(HDRLayout.middleValue(at: index)) * UInt128(count)
            if index > Self.lastIndex { self.saturated += count }
            self.count(count, at: Swift.min(index, Self.lastIndex))
        }
    }

    /// Reads a counts array together with the values that it cannot hold, which were stored separately. Nil
    /// if the two do not belong to the same histogram.
    package init?(counts: [Int64], minimum: Int64, maximum: Int64, sum: UInt128) {
        guard let exact = HDRHistogram(counts: counts)?.exact(minimum: minimum, maximum: maximum, sum: sum)
        else { return nil }
        self = exact
    }

    /// Returns the histogram with exact values that its counts cannot hold.
    package func exact(minimum: Int64, maximum: Int64, sum: UInt128) -> HDRHistogram? {
        guard minimum >= 0, minimum <= maximum, let indexes = self.occupied,
            indexes == Self.index(of: minimum)...Self.index(of: maximum),
            sum >= UInt128(minimum) * UInt128(self.total), sum <= UInt128(maximum) * UInt128(self.total)
        else { return nil }
        var exact = self
        exact.least = minimum
        exact.greatest = maximum
        exact.sum = sum
        if maximum > HDRLayout.highestTrackable { exact.saturated = self.count(at: Self.lastIndex) }
        return exact
    }

    /// The index of saturated values; `HDRLayout.countsLength` is a little larger.
    private static let lastIndex = HDRLayout.index(of: HDRLayout.highestTrackable)

    private static func index(of nanoseconds: Int64) -> Int {
        HDRLayout.index(of: Swift.min(nanoseconds, HDRLayout.highestTrackable))
    }

    // MARK: Recording

    /// Counts one value.
    package mutating func record(_ nanoseconds: Int64) {
        self.record(nanoseconds, times: 1)
    }

    /// Counts a value `times` times.
    package mutating func record(_ nanoseconds: Int64, times: Int64) {
        precondition(times >= 0, "a value cannot be recorded less than never")
        guard times > 0 else { return }
        guard nanoseconds >= 0 else {
            self.negative += times
            return
        }
        if nanoseconds > HDRLayout.highestTrackable { self.saturated += times }
        self.count(times, at: Self.index(of: nanoseconds))
        self.total += times
        self.sum += UInt128(nanoseconds) * UInt128(times)
        self.least = Swift.min(self.least, nanoseconds)
        self.greatest = Swift.max(self.greatest, nanoseconds)
    }

    /// Takes in all that another histogram holds, as if its values had been recorded here.
    package mutating func add(_ other: HDRHistogram) {
        self.saturated = self.saturated.addingSaturating(other.saturated)
        self.negative = self.negative.addingSaturating(other.negative)
        guard let indexes = other.occupied else { return }
        if self.counts.isEmpty {
            (self.counts, self.first) = (other.counts, other.first)
        } else {
            self.hold(indexes.lowerBound)
            self.hold(indexes.upperBound)
            self.addCounts(of: other, at: indexes)
        }
        self.total = self.total.addingSaturating(other.total)
        self.sum = self.sum.addingSaturating(other.sum)
        self.least = Swift.min(self.least, other.least)
        self.greatest = Swift.max(self.greatest, other.greatest)
    }

    /// In one loop over plain memory: a report adds some hundred histograms of some thousand counts.
    private mutating func addCounts(of other: HDRHistogram, at indexes: ClosedRange<Int>) {
        let (mine, others) = (indexes.lowerBound - self.first, indexes.lowerBound - other.first)
        // No count is greater than the total.
        let overflows = self.total.addingReportingOverflow(other.total).overflow
        var sums = self.counts.mutableSpan
        let terms = other.counts.span
        for offset in 0..<indexes.count {
            let (sum, term) = (sums[mine + offset], terms[others + offset])
            sums[mine + offset] = overflows ? sum.addingSaturating(term) : sum &+ term
        }
    }

    /// Forgets every value and keeps the memory, for the next interval.
    package mutating func reset() {
        if let indexes = self.occupied {
            let first = self.first
            var counts = self.counts.mutableSpan
            for index in indexes { counts[index - first] = 0 }
        }
        self.total = 0
        self.saturated = 0
        self.negative = 0
        self.sum = 0
        self.least = .max
        self.greatest = 0
    }

    private mutating func count(_ times: Int64, at index: Int) {
        if !self.isHeld(index) { self.hold(index) }
        self.counts[index - self.first] += times
    }

    private func isHeld(_ index: Int) -> Bool {
        index >= self.first && index - self.first < self.counts.count
    }

    /// Makes room for an index, in blocks: the indexes between are filled up.
    private mutating func hold(_ index: Int) {
        guard !self.isHeld(index) else { return }
        let half = HDRLayout.subBucketHalfCount
        let start = index / half * half
        if self.counts.isEmpty {
            self.first = start
            self.counts = Self.zeros
        } else if start < self.first {
            var counts: [Int64] = []
            counts.reserveCapacity(self.first - start + self.counts.count)
            while counts.count < self.first - start { counts += Self.zeros }
            counts += self.counts
            self.counts = counts
            self.first = start
        } else {
            let blocks = (start - self.first - self.counts.count) / half + 1
            self.counts.reserveCapacity(self.counts.count + blocks * half)
            for _ in 0..<blocks { self.counts += Self.zeros }
        }
    }

    /// A block. Copied as one, also where nothing is optimized.
    private static let zeros = [Int64](repeating: 0, count: HDRLayout.subBucketHalfCount)

    // MARK: Reading

    package var isEmpty: Bool { self.total == 0 }

    /// The number of allocated indexes.
    package var indexesInUse: Int { self.counts.count }

    /// The counts at each index of `HDRLayout` up to that of the greatest value, as for `init(counts:)`.
    package var countsByIndex: [Int64] {
        guard let indexes = self.occupied else { return [] }
        return (0...indexes.upperBound).map { self.count(at: $0) }
    }

    /// Returns the count at an index of `HDRLayout`.
    package func count(at index: Int) -> Int64 {
        self.isHeld(index) ? self.counts[index - self.first] : 0
    }

    /// The smallest value recorded, exactly; nil when there is none.
    package var minimum: Int64? { self.isEmpty ? nil : self.least }

    /// The largest value recorded, exactly and also when it was saturated; nil when there is none.
    package var maximum: Int64? { self.isEmpty ? nil : self.greatest }

    /// The mean of the values, exact but for rounding to a whole nanosecond (halves up); nil when there is none.
    package var mean: Int64? {
        guard !self.isEmpty else { return nil }
        let total = UInt128(self.total)
        return Int64(clamping: self.sum.addingSaturating(total / 2) / total)
    }

    /// The indexes between the extremes, both included: all counts outside are 0. Nil when nothing was recorded.
    package var occupied: ClosedRange<Int>? {
        guard !self.isEmpty else { return nil }
        return Self.index(of: self.least)...Self.index(of: self.greatest)
    }

    /// The smallest value such that at least this share of all values is less than or equal to it, as the
    /// highest value of its index (HdrHistogram's convention: never less than the truth, and at most 0.1 % or
    /// 511 ns more) but never above `maximum`. A percentile among the saturated values is `maximum`. Nil when
    /// nothing was recorded.
    ///
    /// `others`: so many more values that are greater than all. Nil if the percentile is among them.
    package func value(at percentile: Percentile, below others: Int64 = 0) -> Int64? {
        guard let indexes = self.occupied else { return nil }
        // The rank is exact: no rounding can move a percentile over the edge of an index.
        let product = (UInt128(self.total) + UInt128(others)) * UInt128(percentile.perMillion)
        let rank = Swift.max(1, Int64(clamping: (product + 999_999) / 1_000_000))
        guard rank <= self.total else { return nil }
        if rank > self.total - self.saturated { return self.greatest }
        let index = self.index(ofRank: rank, in: indexes)
        return Swift.min(HDRLayout.highestValue(at: index), self.greatest)
    }

    /// The index at which so many values are reached, which all of them reach. Blocks that do not reach it are only summed:
    /// a histogram has up to 24,000 counts, most of them 0.
    private func index(ofRank rank: Int64, in indexes: ClosedRange<Int>) -> Int {
        let counts = self.counts.span
        var (index, seen) = (indexes.lowerBound, Int64(0))
        // A total that is less than the greatest number is the sum of its counts.
        while self.total < .max, index + 64 <= indexes.upperBound {
            let start = index - self.first
            let block = counts.extracting(start..<(start + 64))
            var sum: Int64 = 0
            for offset in block.indices { sum &+= block[offset] }
            guard seen + sum < rank else { break }
            seen += sum
            index += 64
        }
        while index < indexes.upperBound {
            seen = seen.addingSaturating(counts[index - self.first])
            guard seen < rank else { break }
            index += 1
        }
        return index
    }

    /// The values with their counts in ascending order, each as the highest of its index.
    package func eachValue(_ look: (_ nanoseconds: Int64, _ count: Int64) -> Void) {
        for index in self.occupied ?? 0...0 where self.count(at: index) > 0 {
            look(Swift.min(HDRLayout.highestValue(at: index), self.greatest), self.count(at: index))
        }
    }

    /// Returns the number of values at or below this one, or with the same index.
    package func count(atOrBelow nanoseconds: Int64) -> Int64 {
        guard let indexes = self.occupied, nanoseconds >= self.least else { return 0 }
        guard nanoseconds < self.greatest else { return self.total }
        let last = Self.index(of: nanoseconds)
        let seen = self.counts[(indexes.lowerBound - self.first)...(last - self.first)].reduce(Int64(0)) {
            $0.addingSaturating($1)
        }
        // Saturated values share the last index and cannot be ordered: only `maximum` is known to cover them.
        return last == Self.lastIndex ? seen - self.saturated : seen
    }

    /// The values at or below this one, or with the same index. All values of an index count as its middle,
    /// unless every value is kept.
    package func values(atOrBelow nanoseconds: Int64) -> HDRHistogram {
        guard nanoseconds < self.greatest, let indexes = self.occupied else { return self }
        let last = Self.index(of: max(0, nanoseconds))
        let kept = indexes.prefix { $0 <= last }.map { (index: $0, count: self.count(at: $0)) }
        return HDRHistogram(indexes: kept.filter { $0.count > 0 }) ?? HDRHistogram()
    }
}

/// Equal when they hold the same values, whatever memory each has kept.
extension HDRHistogram: Equatable {
    package static func == (left: HDRHistogram, right: HDRHistogram) -> Bool {
        guard
            left.total == right.total, left.saturated == right.saturated, left.negative == right.negative,
            left.sum == right.sum, left.least == right.least, left.greatest == right.greatest,
            left.occupied == right.occupied
        else { return false }
        guard let indexes = left.occupied else { return true }
        return indexes.allSatisfy { left.count(at: $0) == right.count(at: $0) }
    }
}
