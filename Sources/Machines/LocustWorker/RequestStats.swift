package import Metrics
import SimBase

/// What Locust keeps of one kind of request (`StatsEntry` of `locust/stats.py`), as it was measured in one or more intervals.
package struct RequestStats: Hashable, Sendable {
    package private(set) var type: String
    package private(set) var name: String
    private(set) var requests: Int64 = 0
    private(set) var failures: Int64 = 0
    /// Those without a response time.
    private var timeless: Int64 = 0
    /// In nanoseconds.
    private var sum: Int64 = 0
    private var least: Int64?
    private var greatest: Int64 = 0
    private var times = KeyedCounts()
    private var requestsBySecond = KeyedCounts()
    private var failuresBySecond = KeyedCounts()

    package init(type: String, name: String) {
        self.type = type
        self.name = name
    }

    var isEmpty: Bool { self.requests == 0 }

    /// Adds what was measured in the second since 1970 that is given.
    package mutating func add(_ histogram: HDRHistogram, failed: Int64, second: Int64) {
        if let indexes = histogram.occupied, let minimum = histogram.minimum, let maximum = histogram.maximum,
            let mean = histogram.mean
        {
            for index in indexes {
                let count = histogram.count(at: index)
                guard count > 0 else { continue }
                // The extremes are known exactly; of the others only the index is.
                let value = min(max(HDRLayout.middleValue(at: index), minimum), maximum)
                self.times.add(count, at: ResponseTimeRounding.milliseconds(value))
            }
            self.requests += histogram.total
            self.requestsBySecond.add(histogram.total, at: second)
            self.sum = self.sum.addingSaturating(mean.multipliedSaturating(by: histogram.total))
            self.least = min(self.least ?? minimum, minimum)
            self.greatest = max(self.greatest, maximum)
        }
        // What failed has no response time.
        if failed > 0 { self.add(timeless: failed, failed: failed, second: second) }
    }

    /// Adds requests that were counted and not measured.
    package mutating func add(timeless requests: Int64, failed: Int64, second: Int64) {
        self.requests += requests
        self.timeless += requests
        self.failures += failed
        self.requestsBySecond.add(requests, at: second)
        if failed > 0 { self.failuresBySecond.add(failed, at: second) }
    }

    mutating func add(_ other: RequestStats) {
        self.requests += other.requests
        self.failures += other.failures
        self.timeless += other.timeless
        self.sum = self.sum.addingSaturating(other.sum)
        if let least = other.least { self.least = min(self.least ?? least, least) }
        self.greatest = max(self.greatest, other.greatest)
        self.times.add(other.times)
        self.requestsBySecond.add(other.requestsBySecond)
        self.failuresBySecond.add(other.failuresBySecond)
    }

    /// As Locust's master reads it.
    var value: MessageValue {
        let seconds = self.requestsBySecond.counts
        return .members(
            ("name", .text(self.name)), ("method", .text(self.type)),
            // The master takes the earliest that it hears.
            ("start_time", Self.seconds(seconds.first?.key ?? Self.endOfTime)),
            ("last_request_timestamp", seconds.last.map { Self.seconds($0.key) } ?? .null),
            ("num_requests", .integer(self.requests)), ("num_none_requests", .integer(self.timeless)),
            ("num_failures", .integer(self.failures)),
            ("total_response_time", Self.milliseconds(self.sum)),
            ("max_response_time", Self.milliseconds(self.greatest)),
            ("min_response_time", self.least.map(Self.milliseconds) ?? .null),
            ("total_content_length", .integer(0)),
            ("response_times", .counts(self.times.counts)),
            ("num_reqs_per_sec", .counts(seconds)),
            ("num_fail_per_sec", .counts(self.failuresBySecond.counts)))
    }

    /// The end of the year 9999.
    private static let endOfTime: Int64 = 253_402_300_799

    private static func seconds(_ count: Int64) -> MessageValue {
        .decimal(billionths: count.multipliedSaturating(by: 1_000_000_000))
    }

    /// In billionths of a millisecond.
    private static func milliseconds(_ nanoseconds: Int64) -> MessageValue {
        .decimal(billionths: nanoseconds.multipliedSaturating(by: 1_000))
    }
}

/// Counts by a number, in ascending order of the numbers.
struct KeyedCounts: Hashable, Sendable {
    private var keys: [Int64] = []
    private var values: [Int64] = []

    var counts: [(key: Int64, count: Int64)] { zip(self.keys, self.values).map { ($0, $1) } }

    mutating func add(_ count: Int64, at key: Int64) {
        // Most are added in ascending order.
        var index = self.keys.endIndex
        while index > 0, self.keys[index - 1] > key { index -= 1 }
        if index > 0, self.keys[index - 1] == key {
            self.values[index - 1] += count
        } else {
            self.keys.insert(key, at: index)
            self.values.insert(count, at: index)
        }
    }

    mutating func add(_ other: KeyedCounts) {
        for (key, count) in other.counts { self.add(count, at: key) }
    }
}

/// Locust keeps about two significant digits of a response time (`bucket_response_time` of `locust/stats.py`).
enum ResponseTimeRounding {
    /// Nanoseconds to rounded milliseconds. Halves are rounded to the even neighbor, as Python does.
    static func milliseconds(_ nanoseconds: Int64) -> Int64 {
        let unit: Int64 =
            switch nanoseconds {
            case ..<100_000_000: 1
            case ..<1_000_000_000: 10
            case ..<10_000_000_000: 100
            default: 1_000
            }
        let divisor = unit * 1_000_000
        let (quotient, remainder) = nanoseconds.quotientAndRemainder(dividingBy: divisor)
        let isUp = remainder * 2 > divisor || remainder * 2 == divisor && quotient % 2 == 1
        return (quotient + (isUp ? 1 : 0)) * unit
    }
}
