import Foundation
import Ledger
package import Metrics
package import RunJudge
package import RunMetrics
package import SimBase
import SystemIO
import Talaria

/// The input of all renderers: the result of a run and what its files hold. `run` and `report` make it from the same files, so
/// that both show the same.
package struct RunReport: Sendable {
    /// The number of phones with a timeline for their problems.
    package static let timelinesMax = 6
    /// The number of other phones with a timeline, because an invariant is broken there.
    package static let violationTimelinesMax = 4
    /// Windows of a chart.
    package static let trackWindowsMax = 240

    package var result: RunResult
    package var timeline: RunTimeline
    /// The width of the narrowest windows of the tracks.
    package var trackWidth = Interval.seconds(1)
    /// The latencies over time in the order of the metrics, without empty ones.
    package var tracks: [LatencyTrack] = []
    /// The worst window of each objective; nil if no window can be judged.
    package var worstWindows: [SLOWindow?] = []
    package var timelines: [PhoneTimeline] = []
    /// `scenario.resolved`.
    package var scenarioText = ""
    /// What the scenario does to the run.
    package var conditions = RunConditions()
    /// Lines of `events.ndjson`.
    package var logLines = 0
    /// Lines of the logs that were not whole.
    package var skippedLines = 0
    /// The maximum timer lag of a run in progress; percentiles are known at its end.
    package var latenessMost: Interval?

    /// `folders`: one, or those of the shards. `group`: the group that `result` is about; nil for the whole fleet. `lanes`: the
    /// phones with the most problems, as shards without a log have handed them over.
    package init(
        _ result: RunResult, _ timeline: RunTimeline, folders: [String], group: String? = nil,
        lanes: [PhoneTimeline] = []
    ) {
        self.result = result
        self.timeline = timeline
        self.worstWindows = [SLOWindow?](repeating: nil, count: result.slos.count)
        let heads = folders.map { ($0, Self.head(of: $0)) }
        let readers = heads.compactMap { folder, head in
            head.map { IntervalReader(folder: folder, head: $0) }
        }
        self.readTracks(readers, group)
        let conditions = heads.compactMap(\.1).first?.conditions ?? RunConditions()
        self.conditions = group.map { conditions.part($0) } ?? conditions
        self.timelines = Self.phones(of: result, timeline).map { PhoneTimeline(mark: $0) }
        for (folder, head) in heads {
            guard let head else { continue }
            let size = PhoneTimeline.read(&self.timelines, folder: folder, faults: head.faults)
            self.logLines += size.lines
            self.skippedLines += size.skipped
        }
        for index in self.timelines.indices where self.timelines[index].observations.isEmpty {
            let device = self.timelines[index].mark.device
            if let lane = lanes.first(where: { $0.mark.device == device }) { self.timelines[index] = lane }
        }
        self.scenarioText = folders.first.map(Self.scenarioText) ?? ""
        if self.result.files.isEmpty, let directory = result.directory {
            self.result.files = Self.files(in: folders, of: directory)
        }
    }

    /// The files that commands need which a report names, in the folder of the report or in shards within it. A merged run has no
    /// plan.
    private static func files(in folders: [String], of directory: String) -> [String] {
        let own = folders.filter { $0 == directory || $0.hasPrefix(RunDirectory.joined(directory, "")) }
        return [RunDirectory.FileName.events, RunDirectory.FileName.plan].filter { name in
            (name == RunDirectory.FileName.events || folders == [directory])
                && own.contains { FileTree.exists(RunDirectory.joined($0, name)) }
        }
    }

    private static func phones(of result: RunResult, _ timeline: RunTimeline) -> [PhoneSummary] {
        timeline.phones(
            named: result.violators.prefix(Self.violationTimelinesMax).map(\.device), worst: Self.timelinesMax
        )
    }

    private static let scenarioBytesMax = 64 * 1_024

    /// The beginning of `scenario.resolved`; empty if the folder has none.
    package static func scenarioText(of folder: String) -> String {
        let path = RunDirectory.joined(folder, RunDirectory.FileName.scenario)
        var bytes: [UInt8] = []
        _ = try? InputFile.open(path)?.read(appendingTo: &bytes, limit: Self.scenarioBytesMax)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// A report of a run in progress: without timelines, with `tracks` and objectives as far as they are known.
    package init(
        live result: RunResult, _ timeline: RunTimeline, tracks: [LatencyTrack], width: Interval,
        conditions: RunConditions = RunConditions()
    ) {
        self.conditions = conditions
        self.result = result
        self.timeline = timeline
        self.tracks = tracks
        self.trackWidth = width
        self.worstWindows = [SLOWindow?](repeating: nil, count: result.slos.count)
    }

    package static func head(of folder: String) -> RunHead? {
        let path = RunDirectory.joined(folder, RunDirectory.FileName.head)
        let file = try? File.contents(of: path, bytesMax: InputFile.documentBytesMax)
        return file.flatMap { RunHead(reading: $0) }
    }

    // MARK: Tracks

    private mutating func readTracks(_ readers: [IntervalReader], _ group: String?) {
        let windows = max(1, self.timeline.windows.count)
        let coarse = (windows + Self.trackWindowsMax - 1) / Self.trackWindowsMax
        self.trackWidth = self.timeline.width * Int64(coarse)
        // Whole windows of the tracks.
        let width = self.trackWidth.nanoseconds
        let sloWidth = Interval(
            nanoseconds: (max(SLOWindow.lengthMin.nanoseconds, width) + width - 1) / width * width)
        func part(_ table: MetricTable) -> MetricTable { group.map { table.part($0) } ?? table }
        guard let table = readers.first.map({ part($0.emptyTable) }) else { return }
        var tracks = LatencyMetric.allCases.map { TrackFold<HDRHistogram>(metric: $0) }
        var fine = WindowFold(width: self.trackWidth, table)
        var coarser = WindowFold(width: sloWidth, table)
        var rest = IntervalMerge(readers)
        while let moment = rest.next() {
            // What concerns the whole run belongs to no window.
            guard moment.length <= self.trackWidth else { continue }
            let shown = IntervalReader.Moment(
                from: moment.from, length: moment.length, table: part(moment.table))
            guard let full = fine.add(shown) else { continue }
            Self.note(full, in: &tracks)
            if let full = coarser.add(.init(from: full.from, length: full.length, table: full.table)) {
                self.note(full)
            }
        }
        if let last = fine.end() {
            Self.note(last, in: &tracks)
            if let full = coarser.add(.init(from: last.from, length: last.length, table: last.table)) {
                self.note(full)
            }
        }
        if let last = coarser.end() { self.note(last) }
        self.skippedLines = rest.skipped
        self.tracks = tracks.compactMap { $0.track(width: self.trackWidth) }
    }

    private static func note(_ window: WindowFold.Window, in tracks: inout [TrackFold<HDRHistogram>]) {
        for metric in LatencyMetric.allCases {
            guard case .measured(let histogram) = window.table.histogram(metric, of: .fleet),
                !histogram.isEmpty
            else { continue }
            tracks[metric.ordinal].add(histogram, from: window.from)
        }
    }

    private mutating func note(_ window: WindowFold.Window) {
        for index in self.result.slos.indices {
            let found = self.result.slos[index].slo.evaluate(against: window.table)
            guard !found.noData, let value = found.value, SLOWindow.isJudged(found.slo) else { continue }
            let candidate = SLOWindow(from: window.from, length: window.length, value: value, result: found)
            if let worst = self.worstWindows[index], !candidate.isWorse(than: worst) { continue }
            self.worstWindows[index] = candidate
        }
    }
}

/// One latency over time.
package struct LatencyTrack: Equatable, Sendable {
    package struct Window: Equatable, Sendable {
        package var from: Instant
        package var summary: LatencySummary

        package init(from: Instant, summary: LatencySummary) {
            self.from = from
            self.summary = summary
        }
    }

    package let metric: LatencyMetric
    package let width: Interval
    /// The windows with samples.
    package var windows: [Window]

    package init(metric: LatencyMetric, width: Interval, windows: [Window] = []) {
        self.metric = metric
        self.width = width
        self.windows = windows
    }

    /// The number of samples that a percentile needs. With fewer it is the maximum: p95 needs 20 samples, p99 needs 100.
    package static func samplesMin(for percentile: Percentile) -> Int64 {
        let above = Int64(1_000_000 - percentile.perMillion)
        return above == 0 ? 1 : (1_000_000 + above - 1) / above
    }
}

/// The window in which an objective fared worst.
package struct SLOWindow: Equatable, Sendable {
    /// Shorter ones hold too few samples to say anything.
    package static let lengthMin = Interval.seconds(5)

    package var from: Instant
    package var length: Interval
    package var value: SLOValue
    package var result: SLOResult

    /// A count that is to reach something says so at its end; of one that must not grow, the window that added most.
    static func isJudged(_ slo: SLO) -> Bool {
        switch (slo.condition.threshold, slo.condition.comparison) {
        case (.time, _), (.share, _): true
        case (.money, _): false
        case (.number, .less), (.number, .lessOrEqual), (.number, .equal):
            slo.selector.metric.isKnownOverTime
        case (.number, .greater), (.number, .greaterOrEqual), (.number, .notEqual): false
        }
    }

    /// A window without a failure, or without any of what is counted, has nothing to report.
    package var isMeaningful: Bool {
        switch self.value {
        case .time, .money: true
        case .share(let rate): rate.failed > 0
        case .number(let count): count > 0
        }
    }

    func isWorse(than other: SLOWindow) -> Bool {
        let sign: Int64
        switch self.result.slo.condition.comparison {
        case .less, .lessOrEqual, .equal, .notEqual: sign = 1
        case .greater, .greaterOrEqual: sign = -1
        }
        return sign * self.weight > sign * other.weight
    }

    private var weight: Int64 {
        switch self.value {
        case .time(let nanoseconds): nanoseconds
        case .number(let number): number
        case .money(let microdollars): microdollars
        case .share(let rate):
            rate.total > 0 ? Int64(UInt128(rate.failed) * 1_000_000 / UInt128(rate.total)) : 0
        }
    }
}
