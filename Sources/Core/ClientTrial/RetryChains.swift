import SimBase
import Talaria

/// Identifies the requests that repeat each other.
struct RetryKey: Hashable, Sendable {
    let operation: Talaria.Operation
    /// The digest of the job, or the identity of the photo.
    let subject: UInt64
}

/// The consecutive repetitions of a request.
struct RetryCount: Hashable, Sendable {
    static let none = RetryCount(repeats: 0, waited: .zero)

    var repeats: Int
    /// The sum of the waits before them.
    var waited: Interval

    /// The smallest allowed sum of the waits. A client that draws each wait between zero and a limit, which begins at 0.5 s and
    /// doubles, is below it once in 10,000 times.
    var waitedMin: Interval {
        switch self.repeats {
        case ...1: .zero
        case 2: .milliseconds(5)
        case 3: .milliseconds(60)
        case 4: .milliseconds(250)
        case 5: .milliseconds(500)
        case 6: .seconds(1)
        case 7: .milliseconds(1_500)
        default: .seconds(3)
        }
    }
}

/// The failed requests of a client that were not repeated yet.
struct RetryChains: Sendable {
    private struct Failure: Sendable {
        let key: RetryKey
        let at: Instant
        let count: RetryCount
    }

    private static let waitsMax = Self.shortWaits.map(\.count).max() ?? 0
    /// `count` consecutive waits below `limit` prove that there is no backoff: waits drawn between zero and 0.5 s do that once in
    /// 10,000 times.
    private static let shortWaits: [(count: Int, limit: Interval)] = [
        (3, .milliseconds(10)), (4, .milliseconds(25)), (5, .milliseconds(50)), (6, .milliseconds(75)),
    ]

    /// The last waits of all requests.
    private var lastWaits: [Interval] = []
    private var failures: [Failure] = []

    /// Whether the client repeats failed requests without a backoff.
    var isWithoutWaits: Bool {
        Self.shortWaits.contains { count, limit in
            self.lastWaits.count >= count && self.lastWaits.suffix(count).allSatisfy { $0 < limit }
        }
    }

    mutating func failed(_ key: RetryKey, _ count: RetryCount, at now: Instant) {
        if self.failures.count >= ClientTrialLimits.chainsMax { self.failures.removeFirst() }
        self.failures.append(Failure(key: key, at: now, count: count))
    }

    /// Removes the oldest failure that a request may repeat. Returns the repetitions, including this one.
    mutating func repeated(_ key: RetryKey, at now: Instant) -> RetryCount {
        guard let index = self.failures.firstIndex(where: { $0.key == key && $0.at <= now }) else {
            return .none
        }
        let failure = self.failures.remove(at: index)
        if self.lastWaits.count >= Self.waitsMax { self.lastWaits.removeFirst() }
        self.lastWaits.append(now - failure.at)
        return RetryCount(
            repeats: failure.count.repeats + 1, waited: failure.count.waited + (now - failure.at))
    }
}
