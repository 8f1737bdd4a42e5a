import SimBase
import Talaria

/// The distribution of the waits of a fleet between failed attempts, compared with full jitter: each wait is
/// drawn uniformly from zero to its ceiling, so that the share of the waits that are over after a part of the
/// ceiling is that part.
///
/// Every wait counts that began with nothing else holding its phone back. The full length of an interrupted
/// wait is unknown: if the waits are too short it counts as a long one, if they are too long as a short one.
/// To leave such waits out would favour the short ones, which are over before anything can interrupt them.
///
/// A count of `k` of `n` is compared with the binomial distribution by Chernoff's bound:
/// `P <= exp(-n D(k/n || p))`, with D the relative entropy. How many waits a run has depends on how long they
/// are, which makes the bound `e x ln(n)` times as large for an exponent of x. With x = 34 and a million
/// waits a count is wrong by chance once in 10^11 runs, and at most 250 are judged, each once, at the end of
/// a run: less than one false alarm in 1,000 million runs.
package struct BackoffSamples: Equatable, Sendable {
    /// Parts of the ceiling, in eighths.
    static let eighths: [Int64] = [1, 2, 4, 6, 7]
    /// Failures in a row: one, two, three, four to six, or more: from the seventh on the cap is the ceiling.
    static let depths = 5
    private static func depth(of failures: Int) -> Int {
        switch failures {
        case ...1: 0
        case 2, 3: failures - 1
        case 4...6: 3
        default: 4
        }
    }
    /// The minimum exponent in units of 2^-32.
    static let exponentMin = NaturalLogarithm.units(34)

    static let operations: [Operation] = [.upload, .stream, .results, .cleanup]

    struct Finding: Hashable, Sendable {
        /// Nil for all operations together.
        var operation: Operation?
        /// From 0; the last one represents all from there on.
        var depth: Int
        var eighths: Int64
        var waits: Int
        var over: Int
        /// Before they could be over.
        var interrupted: Int

        var text: String {
            let what = self.operation?.name ?? "all requests"
            let order = ["first", "second", "third", "fourth to sixth", "seventh or later"][self.depth]
            let rest = self.interrupted == 0 ? "" : ", \(self.interrupted) were interrupted earlier"
            return
                "\(what): of \(self.waits) waits after the \(order) consecutive failure, \(self.over) ended within \(self.eighths)/8 of the maximum\(rest); full jitter predicts about \(Int64(self.waits) * self.eighths / 8)"
        }
    }

    private struct Count: Equatable, Sendable {
        var waits = 0
        var over = 0
        var interrupted = 0
    }

    /// By operation (the last: all of them), depth and part.
    private var counts = [Count](repeating: Count(), count: 5 * Self.depths * Self.eighths.count)

    private static func index(_ operation: Int, _ depth: Int, _ part: Int) -> Int {
        (operation * Self.depths + depth) * Self.eighths.count + part
    }

    /// All counts, three for each: what a shard hands over.
    package var numbers: [Int] { self.counts.flatMap { [$0.waits, $0.over, $0.interrupted] } }

    package init() {}

    /// Nil for what are not such counts.
    package init?(numbers: [Int]) {
        guard numbers.count == self.counts.count * 3 else { return nil }
        for index in self.counts.indices {
            self.counts[index] = Count(
                waits: numbers[index * 3], over: numbers[index * 3 + 1], interrupted: numbers[index * 3 + 2])
        }
    }

    mutating func add(_ other: BackoffSamples) {
        for index in self.counts.indices {
            self.counts[index].waits += other.counts[index].waits
            self.counts[index].over += other.counts[index].over
            self.counts[index].interrupted += other.counts[index].interrupted
        }
    }

    /// `wait`: how long it was; nil if something else interrupted it after `watched`.
    mutating func add(
        _ operation: Operation, failures: Int, ceiling: Interval, wait: Interval?, watched: Interval
    ) {
        guard let row = Self.operations.firstIndex(of: operation), ceiling > .zero else { return }
        let depth = Self.depth(of: failures)
        for (part, eighths) in Self.eighths.enumerated() {
            let limit = Interval(nanoseconds: ceiling.nanoseconds / 8 * eighths)
            let isOver = wait.map { $0 <= limit } ?? false
            let isInterrupted = wait == nil && watched < limit
            for row in [row, Self.operations.count] {
                let index = Self.index(row, depth, part)
                self.counts[index].waits += 1
                if isOver { self.counts[index].over += 1 }
                if isInterrupted { self.counts[index].interrupted += 1 }
            }
        }
    }

    /// The worst count of each operation that full jitter does not explain; of all together only where none alone is.
    var findings: [Finding] {
        let single = Self.operations.indices.compactMap { self.worst(of: $0) }
        return single.isEmpty ? self.worst(of: Self.operations.count).map { [$0] } ?? [] : single
    }

    private func worst(of row: Int) -> Finding? {
        var worst: (exponent: Int128, finding: Finding)?
        for depth in 0..<Self.depths {
            for (part, eighths) in Self.eighths.enumerated() {
                let count = self.counts[Self.index(row, depth, part)]
                let exponent = max(
                    Self.exponent(tooMany: count.over, of: count.waits, eighths: eighths),
                    Self.exponent(
                        tooFew: count.over + count.interrupted, of: count.waits, eighths: eighths))
                guard exponent > max(Self.exponentMin, worst?.exponent ?? 0) else { continue }
                worst = (
                    exponent,
                    Finding(
                        operation: row < Self.operations.count ? Self.operations[row] : nil, depth: depth,
                        eighths: eighths, waits: count.waits, over: count.over,
                        interrupted: count.interrupted)
                )
            }
        }
        return worst?.finding
    }

    static func exponent(tooMany over: Int, of waits: Int, eighths: Int64) -> Int128 {
        Int64(over) * 8 > Int64(waits) * eighths ? Self.exponent(over, of: waits, eighths: eighths) : 0
    }

    static func exponent(tooFew over: Int, of waits: Int, eighths: Int64) -> Int128 {
        Int64(over) * 8 < Int64(waits) * eighths ? Self.exponent(over, of: waits, eighths: eighths) : 0
    }

    static func exponent(_ over: Int, of waits: Int, eighths: Int64) -> Int128 {
        ChernoffBound.exponent(over, of: waits, share: Int(eighths), of: 8)
    }
}

/// Whether phones that failed together come back together, although each draws its wait for itself.
///
/// A wait that begins adds its share to the count expected in each window up to its ceiling. A window holds more than independent
/// draws explain when Chernoff's bound for that many, `exp(-(k ln(k/m) - k + m))`, is below exp(-41): of a million windows
/// one is called wrong with a chance below 1e-11.
struct RetryStormDetector: Sendable {
    struct Herd: Hashable, Sendable {
        let count: Int
        let expected: Int

        var text: String {
            "\(self.count) retries within \(RetryStormDetector.window.wholeMilliseconds) ms; full jitter produces about \(self.expected)"
        }
    }

    static let window = Interval.milliseconds(10)
    /// The minimum exponent in units of 2^-32.
    static let exponentMin = NaturalLogarithm.units(41)
    /// The maximum count that is never a surge.
    static let few = 10
    /// Windows in the longest backoff, and some.
    private static let windows = 4_096

    private var current: Int64 = 0
    /// The change of the expectation with each window, in a ring and in units of 2^-32. Empty before the first wait.
    private var changes: [Int64] = []
    private var expected: Int64 = 0
    private var lastChange: Int64 = 0
    private var returned = 0
    /// What a shard keeps instead of a judgement; nil if it has all phones.
    private(set) var record: SurgeRecord?

    /// Keeps windows from now on, and judges nothing.
    mutating func keepRecord() { self.record = SurgeRecord() }

    /// A wait has begun.
    mutating func began(ceiling: Interval, at now: Instant) -> Herd? {
        let count = max(1, min(ceiling.nanoseconds / Self.window.nanoseconds, Int64(Self.windows) - 3))
        let share = (Int64(1) << Int64(NaturalLogarithm.fractionBits)) / count
        guard self.record == nil else {
            let first = now.nanoseconds / Self.window.nanoseconds
            self.record?.change(first) { $0.begins += share }
            self.record?.change(first + count + 1) { $0.ends += share }
            return nil
        }
        let herd = self.advance(to: now)
        // The first and the last window are not whole, and counted as if they were.
        self.expected += share
        let last = self.current + count + 1
        if self.changes.isEmpty { self.changes = Array(repeating: 0, count: Self.windows) }
        self.changes[Int(last % Int64(Self.windows))] -= share
        self.lastChange = max(self.lastChange, last)
        return herd
    }

    /// A wait that nothing else has held up is over.
    mutating func ended(at now: Instant, by device: DeviceNumber? = nil) -> Herd? {
        guard self.record == nil else {
            self.record?.change(now.nanoseconds / Self.window.nanoseconds) {
                $0.came += 1
                $0.lastCame = device
            }
            return nil
        }
        let herd = self.advance(to: now)
        self.returned += 1
        return herd
    }

    /// The window that is the last.
    mutating func end() -> Herd? {
        defer { self.returned = 0 }
        return Self.herd(of: self.returned, expected: self.expected)
    }

    /// `expected`: in units of 2^-32.
    static func herd(of returned: Int, expected: Int64) -> Herd? {
        guard returned > Self.few else { return nil }
        let count = NaturalLogarithm.units(returned)
        let expected = max(1, expected)
        guard count > Int128(expected) else { return nil }
        let ratio =
            Int128(NaturalLogarithm.of(returned)) - Int128(NaturalLogarithm.of(Int(expected)))
            + Int128(NaturalLogarithm.of(1 << NaturalLogarithm.fractionBits))
        guard Int128(returned) * ratio - count + Int128(expected) > Self.exponentMin else { return nil }
        let rounded = (expected + (1 << 32) - 1) >> 32
        return Herd(count: returned, expected: Int(rounded))
    }

    private mutating func advance(to now: Instant) -> Herd? {
        let next = max(self.current, now.nanoseconds / Self.window.nanoseconds)
        guard next > self.current else { return nil }
        let herd = self.end()
        while self.current < next, self.current < self.lastChange {
            self.current += 1
            let window = Int(self.current % Int64(Self.windows))
            self.expected += self.changes[window]
            self.changes[window] = 0
        }
        if self.current >= self.lastChange { self.expected = 0 }
        self.current = next
        return herd
    }
}
