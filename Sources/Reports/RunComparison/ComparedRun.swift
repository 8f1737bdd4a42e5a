import Ledger
package import Metrics
import Reports
package import RunArchive
package import RunJudge
package import RunMetrics
package import SimBase

/// One side of a comparison: a run's results and its course.
package struct ComparedRun: Sendable {
    /// The folder as the user named it.
    package var folder: String
    package var head: RunHead
    package var result: RunResult
    /// Whether it was killed: it was not judged.
    package var wasCutOff: Bool
    /// What its scans took, one by one; nil if its folder does not say.
    package var scans: ScanTable?
    /// The latencies that are of no scan, over time.
    package var series: [LatencyScope: [(from: Instant, histogram: HDRHistogram)]]
    /// Its latencies over time, of the fleet.
    package var tracks: [LatencyTrack]
    /// `scenario.resolved`.
    package var scenarioText: String

    package init(
        folder: String, head: RunHead, result: RunResult, wasCutOff: Bool,
        scans: ScanTable?, series: [LatencyScope: [(from: Instant, histogram: HDRHistogram)]] = [:],
        tracks: [LatencyTrack], scenarioText: String
    ) {
        self.folder = folder
        self.head = head
        self.result = result
        self.wasCutOff = wasCutOff
        self.scans = scans
        self.series = series
        self.tracks = tracks
        self.scenarioText = scenarioText
    }

    /// Reads from the files what the windows of this width say.
    package init(_ run: PastRun, width: Interval) {
        self.init(
            folder: run.folder, head: run.head, result: run.result, wasCutOff: run.wasCutOff,
            scans: ScansFile.read(run.folder),
            tracks: LatencyMetric.allCases.map { LatencyTrack(metric: $0, width: width) },
            scenarioText: RunReport.scenarioText(of: run.folder))
        var reader = IntervalReader(folder: run.folder, head: run.head)
        var fold = WindowFold(width: width, reader.emptyTable)
        while let moment = reader.next() {
            // What concerns the whole run belongs to no window.
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

    /// Whether every scan came to an end of its own.
    var cameToItsEnd: Bool {
        !self.wasCutOff && !self.result.isInterrupted && self.result.failure == nil
            && self.result.endedEarly == nil
    }

    /// Whether its results can be relied on: it came to its end, and its load was the requested load.
    var isTrustworthy: Bool {
        self.cameToItsEnd && !self.result.exitReasons.all.contains { $0.exit == .untrusted }
    }

    /// Whether it was killed, or something of ours failed.
    var brokeOff: Bool { self.wasCutOff || self.result.failure != nil }

    /// The timer lag of its phones that hardly any exchange saw more of, in nanoseconds.
    var lateness: Int64 {
        guard case .measured(let histogram) = self.result.metrics.histogram(.generatorLateness, of: .fleet)
        else { return 0 }
        return histogram.value(at: .p95) ?? 0
    }

    /// Nil if it cannot be known, or nothing was measured.
    func summary(_ name: LatencyScope) -> Reading<LatencySummary?> {
        switch self.result.metrics.histogram(name.metric, of: name.scope) {
        case .measured(let histogram): .measured(LatencySummary(histogram))
        case .notAvailable: .notAvailable
        }
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

    /// The name in objectives.
    var name: String { MetricSelector(metric: .latency(self.metric), scope: self.scope).description }
}
