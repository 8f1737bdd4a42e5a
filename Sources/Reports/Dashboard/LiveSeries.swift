import Ledger
import Metrics
import Reports
import RunArchive
import RunJudge
import RunMetrics
import SimBase

/// The measurements of a run in progress, read from the files that it writes anyway. The memory is bounded for runs of any
/// length.
struct LiveSeries {
    /// Windows of a chart; when there are more, each two become one.
    static let windowsMax = RunReport.trackWindowsMax

    /// The histograms by the ordinal of the metric.
    private typealias Window = [SparseHistogram?]

    private var reader: IntervalMerge
    private var objectives: SLOParts
    private var windows: [Window] = []
    private(set) var width = RunTimeline.widthFirst
    /// The sum of all intervals that were read.
    private(set) var table: MetricTable

    /// `folders`: of the run, or of its shards, with their heads; at least one. `objectives`: of a run that has not begun.
    init(folders: [(path: String, head: RunHead)], objectives: SLOParts) {
        self.reader = IntervalMerge(
            growing: folders.map { IntervalReader(folder: $0.path, head: $0.head, isGrowing: true) })
        self.objectives = objectives
        self.table = folders[0].head.table
    }

    /// Reads what was written since: all intervals that begin before this time.
    mutating func read(before moment: Instant) {
        while let interval = self.reader.next(before: moment) {
            // What concerns the whole run comes at its end, and belongs to no window.
            guard interval.length <= RunTimeline.widthFirst else { continue }
            self.table.add(interval.table)
            self.objectives.add(interval.table, from: interval.from)
            self.note(interval)
        }
    }

    /// Returns the results of the objectives so far. `table`: the table of the whole run.
    func results(_ table: MetricTable) -> [SLOResult] { self.objectives.results(whole: table) }

    /// The latencies over time, up to the last window that is over, in windows as wide as in the report.
    func tracks(until moment: Instant) -> [LatencyTrack] {
        let over = min(Int(max(0, moment.nanoseconds) / self.width.nanoseconds), self.windows.count)
        return LatencyMetric.allCases.compactMap { metric in
            var fold = TrackFold<SparseHistogram>(metric: metric)
            for index in 0..<over {
                guard let samples = self.windows[index][metric.ordinal] else { continue }
                fold.add(samples, from: Instant(nanoseconds: Int64(index) * self.width.nanoseconds))
            }
            return fold.track(width: self.width)
        }
    }

    private mutating func note(_ interval: IntervalReader.Moment) {
        var index = Int(max(0, interval.from.nanoseconds) / self.width.nanoseconds)
        while index >= Self.windowsMax {
            self.halve()
            index = Int(max(0, interval.from.nanoseconds) / self.width.nanoseconds)
        }
        let window = LatencyMetric.allCases.map { metric in
            interval.table.histogram(metric, of: .fleet).known.flatMap { SparseHistogram($0) }
        }
        while self.windows.count <= index { self.windows.append(Window(repeating: nil, count: window.count)) }
        Self.add(window, to: &self.windows[index])
    }

    private static func add(_ other: Window, to window: inout Window) {
        for (index, more) in other.enumerated() {
            guard let more else { continue }
            if window[index]?.add(more) == nil { window[index] = more }
        }
    }

    private mutating func halve() {
        self.width = self.width * 2
        self.windows = stride(from: 0, to: self.windows.count, by: 2).map { index in
            var window = self.windows[index]
            if index + 1 < self.windows.count { Self.add(self.windows[index + 1], to: &window) }
            return window
        }
    }
}
