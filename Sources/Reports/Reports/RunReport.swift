import Foundation
package import Ledger
package import Metrics
package import SimBase
import Talaria

/// A run as its reports show it: what was found, and what happened when. Made from a result and from the files that were
/// written as the run went, so that `report` shows what `run` showed.
package struct RunReport: Sendable {
    /// Phones whose story is told.
    static let storiesMax = 6
    /// Windows of a chart.
    static let trackWindowsMax = 240

    package var result: RunResult
    package var chronicle: Chronicle
    /// How long a window of the tracks is.
    package var trackWidth = Interval.seconds(1)
    /// In the order of the metrics; without those that have no samples.
    package var tracks: [LatencyTrack] = []
    /// By the place of the objective; nil where no window says anything.
    package var worstWindows: [SLOWindow?] = []
    package var stories: [PhoneStory] = []
    /// `scenario.resolved`.
    package var scenarioText = ""
    /// Lines of `events.ndjson`.
    package var logLines = 0
    /// Lines of the logs that were not whole.
    package var skippedLines = 0
    /// Of a run that goes on: how late any timer ran; its percentiles are known at the end.
    package var latenessMost: Interval?

    /// `folders`: one, or those of the shards.
    package init(_ result: RunResult, _ chronicle: Chronicle, folders: [String]) {
        self.result = result
        self.chronicle = chronicle
        self.worstWindows = [SLOWindow?](repeating: nil, count: result.slos.count)
        let heads = folders.map { ($0, Self.head(of: $0)) }
        let readers = heads.compactMap { folder, head in
            head.map { IntervalReader(folder: folder, head: $0) }
        }
        self.readTracks(readers)
        self.stories = chronicle.worstPhones(Self.storiesMax).map { PhoneStory(mark: $0) }
        for (folder, head) in heads {
            guard let head else { continue }
            let size = PhoneStory.read(&self.stories, folder: folder, faults: head.faults)
            self.logLines += size.lines
            self.skippedLines += size.skipped
        }
        self.scenarioText =
            folders.first.flatMap {
                FileManager.default.contents(
                    atPath: RunDirectory.joined($0, RunDirectory.FileName.scenario))
            }.map { String(decoding: $0.prefix(Self.scenarioBytesMax), as: UTF8.self) } ?? ""
    }

    static let scenarioBytesMax = 64 * 1_024

    /// Of a run that goes on: `tracks` and objectives as far as they are known, and no stories.
    init(live result: RunResult, _ chronicle: Chronicle, tracks: [LatencyTrack], width: Interval) {
        self.result = result
        self.chronicle = chronicle
        self.tracks = tracks
        self.trackWidth = width
        self.worstWindows = [SLOWindow?](repeating: nil, count: result.slos.count)
    }

    static func head(of folder: String) -> RunHead? {
        let path = RunDirectory.joined(folder, RunDirectory.FileName.head)
        let file = try? InputFile.contents(of: path, bytesMax: InputFile.documentBytesMax)
        return file.flatMap { RunHead(reading: $0) }
    }

    /// Every report, by the name of its file.
    package var files: [(name: String, bytes: [UInt8])] {
        [
            (RunDirectory.FileName.summary, SummaryJSON.bytes(self.result)),
            (RunDirectory.FileName.page, Array(HTMLPage(self).text.utf8)),
            (RunDirectory.FileName.markdown, Array(MarkdownReport.text(self).utf8)),
            (RunDirectory.FileName.junit, Array(JUnitReport.text(self.result).utf8)),
            (RunDirectory.FileName.metrics, Array(OpenMetrics.text(self.result).utf8)),
        ]
    }

    /// Writes the reports into a folder, which is made where it is not there. Returns the names; throws when any of them
    /// could not be written, having written the others.
    package func write(to folder: String, withSummary: Bool) throws(OutputError) -> [String] {
        do {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        } catch {
            let reason = OutputFile.reason(error, makingFolder: folder)
            throw OutputError(failures: [.init(path: folder, reason: reason)], saved: [])
        }
        var saved: [String] = []
        var failures: [OutputError.Failure] = []
        for (name, bytes) in self.files where withSummary || name != RunDirectory.FileName.summary {
            do throws(OutputError.Failure) {
                try OutputFile.write(bytes, to: RunDirectory.joined(folder, name))
                saved.append(name)
            } catch {
                failures.append(error)
            }
        }
        saved = RunDirectory.FileName.all.filter { saved.contains($0) }
        guard failures.isEmpty else { throw OutputError(failures: failures, saved: saved) }
        return saved
    }

    // MARK: Tracks

    private mutating func readTracks(_ readers: [IntervalReader]) {
        let windows = max(1, self.chronicle.windows.count)
        let coarse = (windows + Self.trackWindowsMax - 1) / Self.trackWindowsMax
        self.trackWidth = self.chronicle.width * Int64(coarse)
        // Whole windows of the tracks.
        let width = self.trackWidth.nanoseconds
        let sloWidth = Interval(
            nanoseconds: (max(SLOWindow.lengthMin.nanoseconds, width) + width - 1) / width * width)
        guard let table = readers.first?.emptyTable else { return }
        var tracks = LatencyMetric.allCases.map { LatencyTrack(metric: $0) }
        var fine = WindowFold(width: self.trackWidth, table)
        var coarser = WindowFold(width: sloWidth, table)
        var rest = IntervalMerge(readers)
        while let moment = rest.next() {
            // What tells of the whole run belongs to no window.
            guard moment.length <= self.trackWidth else { continue }
            guard let full = fine.add(moment) else { continue }
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
        self.tracks = tracks.filter { !$0.windows.isEmpty }
    }

    private static func note(_ window: WindowFold.Window, in tracks: inout [LatencyTrack]) {
        for metric in LatencyMetric.allCases {
            guard case .measured(let histogram) = window.table.histogram(metric, of: .fleet),
                let summary = LatencySummary(histogram)
            else { continue }
            tracks[metric.ordinal].windows.append(.init(from: window.from, summary: summary))
        }
    }

    private mutating func note(_ window: WindowFold.Window) {
        for place in self.result.slos.indices {
            let found = self.result.slos[place].slo.evaluate(against: window.table)
            guard !found.noData, let value = found.value, SLOWindow.isJudged(found.slo) else { continue }
            let candidate = SLOWindow(from: window.from, length: window.length, value: value, result: found)
            if let worst = self.worstWindows[place], !candidate.isWorse(than: worst) { continue }
            self.worstWindows[place] = candidate
        }
    }
}

/// One latency over time.
package struct LatencyTrack: Equatable, Sendable {
    package struct Window: Equatable, Sendable {
        package var from: Instant
        package var summary: LatencySummary
    }

    package let metric: LatencyMetric
    /// Those with samples.
    package var windows: [Window] = []
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
        case (.number, .less), (.number, .lessOrEqual), (.number, .equal):
            slo.selector.metric.isKnownOverTime
        case (.number, .greater), (.number, .greaterOrEqual), (.number, .notEqual): false
        }
    }

    /// A window without a failure, or without any of what is counted, has nothing to tell.
    var isTelling: Bool {
        switch self.value {
        case .time: true
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
        case .share(let rate):
            rate.total > 0 ? Int64(UInt128(rate.failed) * 1_000_000 / UInt128(rate.total)) : 0
        }
    }
}

/// Adds moments up to windows.
struct WindowFold {
    struct Window {
        var from: Instant
        var length: Interval
        var table: MetricTable
    }

    private let width: Interval
    private let empty: MetricTable
    private var present: Window?

    init(width: Interval, _ empty: MetricTable) {
        self.width = width
        self.empty = empty
    }

    /// The window that this moment ends, being behind it.
    mutating func add(_ moment: IntervalReader.Moment) -> Window? {
        let from = Instant(
            nanoseconds: moment.from.nanoseconds / self.width.nanoseconds * self.width.nanoseconds)
        var full: Window?
        if let present, present.from < from { full = self.end() }
        if self.present == nil {
            self.present = Window(from: from, length: self.width, table: self.empty)
        }
        self.present?.table.add(moment.table)
        return full
    }

    mutating func end() -> Window? {
        defer { self.present = nil }
        return self.present
    }
}

/// The moments of several runs that ran side by side, in the order of time.
struct IntervalMerge {
    private var readers: [IntervalReader]
    private var heads: [IntervalReader.Moment?] = []

    init(_ readers: [IntervalReader]) {
        self.readers = readers
        for place in self.readers.indices { self.heads.append(self.readers[place].next()) }
    }

    mutating func next() -> IntervalReader.Moment? {
        var first: Int?
        for place in self.heads.indices {
            guard let moment = self.heads[place] else { continue }
            if let least = first.flatMap({ self.heads[$0] }), least.from <= moment.from { continue }
            first = place
        }
        guard let first else { return nil }
        let moment = self.heads[first]
        self.heads[first] = self.readers[first].next()
        return moment
    }

    var skipped: Int { self.readers.reduce(0) { $0 + $1.skipped } }
}
