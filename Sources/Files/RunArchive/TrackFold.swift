package import Metrics
package import SimBase

/// The samples of one latency in one window.
package protocol TrackSamples {
    var total: Int64 { get }
    /// Nil if there are none.
    var summary: LatencySummary? { get }
    mutating func add(_ other: Self)
}

extension HDRHistogram: TrackSamples {
    package var summary: LatencySummary? { LatencySummary(self) }
}

/// One latency over time: fine windows are added up, and become windows that are wide enough for their percentiles.
package struct TrackFold<Samples: TrackSamples> {
    /// Wider windows are these numbers of fine ones.
    private static var multiples: [Int64] { [1, 2, 5, 10, 15, 20, 30, 60] }
    /// Fewer windows show no course.
    private static var windowsMin: Int64 { 6 }

    private let metric: LatencyMetric
    private var windows: [(from: Instant, samples: Samples)] = []

    package init(metric: LatencyMetric) { self.metric = metric }

    /// Adds a window with samples, in the order of time.
    package mutating func add(_ samples: Samples, from: Instant) { self.windows.append((from, samples)) }

    /// Returns the track in the narrowest windows in which most samples are in windows that have a 95th
    /// percentile; nil without samples. `width`: that of the fine windows.
    package func track(width: Interval) -> LatencyTrack? {
        guard !self.windows.isEmpty else { return nil }
        let multiple = self.multiple(width)
        let wide = width * multiple
        var folded: [(from: Instant, samples: Samples)] = []
        for window in self.windows {
            let from = Self.start(of: window.from, wide)
            if folded.last?.from == from {
                folded[folded.count - 1].samples.add(window.samples)
            } else {
                folded.append((from, window.samples))
            }
        }
        return LatencyTrack(
            metric: self.metric, width: wide,
            windows: folded.compactMap { window in
                window.samples.summary.map { .init(from: window.from, summary: $0) }
            })
    }

    private func multiple(_ width: Interval) -> Int64 {
        let total = self.windows.reduce(Int64(0)) { $0.addingSaturating($1.samples.total) }
        let end = (self.windows.last?.from ?? .zero) + width
        let most = end.nanoseconds / (width.nanoseconds * Self.windowsMin)
        let found = Self.multiples.first { multiple in
            multiple == 1 || multiple <= most
                ? self.samplesInFullWindows(width * multiple) >= total / 2 + total % 2 : false
        }
        return found ?? 1
    }

    /// The number of samples in windows that have enough of them.
    private func samplesInFullWindows(_ width: Interval) -> Int64 {
        let least = LatencyTrack.samplesMin(for: .p95)
        var (full, count, start) = (Int64(0), Int64(0), Instant.zero)
        for window in self.windows {
            let from = Self.start(of: window.from, width)
            if from != start {
                if count >= least { full = full.addingSaturating(count) }
                (count, start) = (0, from)
            }
            count = count.addingSaturating(window.samples.total)
        }
        return count >= least ? full.addingSaturating(count) : full
    }

    private static func start(of moment: Instant, _ width: Interval) -> Instant {
        Instant(nanoseconds: moment.nanoseconds / width.nanoseconds * width.nanoseconds)
    }
}
