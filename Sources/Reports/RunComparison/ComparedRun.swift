import Ledger
package import Metrics
import Reports
package import RunArchive
package import RunJudge
package import RunMetrics
package import SimBase

/// A run in a comparison: its results and its latencies over time.
package struct ComparedRun: Sendable {
    /// The folder as the user named it.
    package var folder: String
    package var head: RunHead
    package var result: RunResult
    /// Whether the run was killed before it was judged.
    package var wasCutOff: Bool
    /// The times of its scans; nil if the file is missing.
    package var scans: ScanTable?
    /// The latencies over time of metrics that `scans` does not contain.
    package var series: [LatencyScope: [(from: Instant, histogram: HDRHistogram)]] = [:]
    /// The latencies of the fleet over time.
    package var tracks: [LatencyTrack]
    /// The text of `scenario.resolved`.
    package var scenarioText: String
}

extension ComparedRun {
    /// Reads the files of a run. `width`: the length of the windows of `series` and `tracks`.
    package init(_ run: PastRun, width: Interval) {
        self.init(
            folder: run.folder, head: run.head, result: run.result, wasCutOff: run.wasCutOff,
            scans: ScansFile.read(run.folder),
            tracks: LatencyMetric.allCases.map { LatencyTrack(metric: $0, width: width) },
            scenarioText: RunReport.scenarioText(of: run.folder))
        var reader = IntervalReader(folder: run.folder, head: run.head)
        var fold = WindowFold(width: width, reader.emptyTable)
        while let moment = reader.next() {
            // A longer moment is about the whole run.
            guard moment.length <= width, let full = fold.add(moment) else { continue }
            self.add(full)
        }
        if let last = fold.end() { self.add(last) }
        self.tracks = self.tracks.filter { !$0.windows.isEmpty }
    }

    private mutating func add(_ window: WindowFold.Window) {
        let groups = window.table.groups.count > 1 ? window.table.groups : []
        for metric in LatencyMetric.allCases {
            for scope in [MetricScope.fleet] + groups.map({ .group($0) }) {
                guard case .measured(let histogram) = window.table.histogram(metric, of: scope),
                    !histogram.isEmpty
                else { continue }
                if !ScanTable.isOfScans(metric) {
                    self.series[LatencyScope(metric, scope), default: []].append((window.from, histogram))
                }
                guard scope == .fleet, let summary = LatencySummary(histogram) else { continue }
                self.tracks[metric.ordinal].windows.append(.init(from: window.from, summary: summary))
            }
        }
    }

    /// Whether the run ended by itself and not early, so that every scan could end.
    var cameToItsEnd: Bool {
        !self.wasCutOff && !self.result.isInterrupted && self.result.failure == nil
            && self.result.endedEarly == nil
    }

    /// Whether its results are reliable: it came to its end, and its load was the requested load.
    var isTrustworthy: Bool {
        self.cameToItsEnd && !self.result.exitReasons.all.contains { $0.exit == .untrusted }
    }

    /// Whether the run was killed, or the harness failed.
    var brokeOff: Bool { self.wasCutOff || self.result.failure != nil }

    /// The p95 of the timer lag of its phones, in nanoseconds; 0 if it was not measured.
    var lateness: Int64 {
        self.histogram(LatencyScope(.generatorLateness, .fleet))?.value(at: .p95) ?? 0
    }

    /// The values of a latency; nil if the run cannot know them.
    func histogram(_ name: LatencyScope) -> HDRHistogram? {
        self.result.metrics.histogram(name.metric, of: name.scope).known
    }
}

/// A latency of the fleet or of one group.
package struct LatencyScope: Hashable, Sendable {
    package var metric: LatencyMetric
    package var scope: MetricScope

    package init(_ metric: LatencyMetric, _ scope: MetricScope) {
        self.metric = metric
        self.scope = scope
    }

    /// The name as objectives write it.
    var name: String { MetricSelector(metric: .latency(self.metric), scope: self.scope).description }
}
