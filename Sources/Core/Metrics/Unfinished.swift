package import SimBase

/// Operations that were open when a run, or a part of it, ended. They are in no histogram.
package struct Unfinished: Hashable, Sendable {
    package private(set) var count: Int64 = 0
    /// The time for which the oldest has been open; zero if there is none.
    package private(set) var oldest = Interval.zero

    package init() {}

    /// Read back from a report.
    package init(count: Int64, oldest: Interval) {
        self.count = count
        self.oldest = oldest
    }

    package var isEmpty: Bool { self.count == 0 }

    package mutating func record(age: Interval) {
        self.count += 1
        self.oldest = max(self.oldest, age)
    }

    package mutating func add(_ other: Unfinished) {
        self.count = self.count.addingSaturating(other.count)
        self.oldest = max(self.oldest, other.oldest)
    }
}

extension LatencyMetric {
    /// Whether it times an operation whose beginning is observed, so that one that has not ended can be counted.
    package var countsUnfinished: Bool {
        switch self {
        case .uploadTime, .uploadServiceTime, .sseConnectTime, .sseFirstEventTime, .sseReconnectTime,
            .resultsTime, .cleanupTime, .scanTime, .statusTime, .cancelTime, .jobFirstEventTime, .jobTime,
            .firstBookTime:
            true
        // How long something took that is not observed before it is over.
        case .preprocessTime, .sseEventLatency, .sseEventDelay, .ssePingGap, .sseDetectTime,
            .feedbackTime, .enrichTime, .enrichedTime, .generatorLateness, .reconcileTime, .netDNSTime,
            .netConnectTime,
            .netTLSTime, .netFirstByteTime:
            false
        }
    }
}
