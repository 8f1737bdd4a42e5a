import SimBase

/// How many of what happened within a window were counted, such as failures.
struct SlidingShare: Hashable, Sendable {
    private struct Sample: Hashable, Sendable {
        let at: Instant
        let isCounted: Bool
    }

    /// Beyond it the oldest sample leaves the window early.
    static let samplesMax = 100_000

    let window: Interval
    private var samples: [Sample] = []
    /// The index of the oldest sample.
    private var first = 0
    private(set) var counts = ShareCounts()

    init(window: Interval) { self.window = window }

    mutating func record(_ isCounted: Bool, at now: Instant) {
        self.samples.append(Sample(at: now, isCounted: isCounted))
        self.counts.add(isCounted)
        if self.samples.count - self.first > Self.samplesMax { self.removeFirst() }
    }

    /// Removes what happened before the window that ends now.
    mutating func pass(to now: Instant) {
        while self.first < self.samples.count, self.samples[self.first].at + self.window < now {
            self.removeFirst()
        }
        // Half of a list is moved when the other half is gone: a sample is moved once.
        guard self.first > 1_024, self.first > self.samples.count / 2 else { return }
        self.samples.removeFirst(self.first)
        self.first = 0
    }

    private mutating func removeFirst() {
        self.counts.remove(self.samples[self.first].isCounted)
        self.first += 1
    }
}

/// Some of all.
struct ShareCounts: Hashable, Sendable {
    private(set) var counted: Int64 = 0
    private(set) var all: Int64 = 0

    mutating func add(_ isCounted: Bool) {
        self.all += 1
        self.counted += isCounted ? 1 : 0
    }

    mutating func remove(_ isCounted: Bool) {
        self.all -= 1
        self.counted -= isCounted ? 1 : 0
    }

    /// Parts per million, rounded down; for reports.
    var odds: Odds {
        guard self.all > 0 else { return .never }
        return Odds(perMillion: UInt32(self.counted * 1_000_000 / self.all))
    }
}
