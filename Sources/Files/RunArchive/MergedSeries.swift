import Metrics
import RunJudge
import RunMetrics

/// The series of several runs as that of one: intervals that begin and end together are summed.
struct MergedSeries {
    private(set) var counts: [UInt8] = []
    private(set) var histograms: [UInt8]
    /// Those that begin at the time that is under way.
    private var pending: [IntervalReader.Moment] = []
    /// What a run says of all of its time comes behind its intervals, and begins before them.
    private var late: [IntervalReader.Moment] = []

    init(_ parts: [(folder: String, head: RunHead)], head: RunHead) {
        self.histograms = Array(HistogramLog.head(started: head.started, tool: head.tool).utf8)
        var rest = IntervalMerge(parts.map { IntervalReader(folder: $0.folder, head: $0.head) })
        while let moment = rest.next() {
            guard let from = self.pending.first?.from, moment.from != from else {
                self.add(moment)
                continue
            }
            guard moment.from > from else {
                self.late.append(moment)
                continue
            }
            self.flush()
            self.add(moment)
        }
        self.flush()
        self.late.sort { $0.from < $1.from }
        for moment in self.late {
            if let from = self.pending.first?.from, moment.from != from { self.flush() }
            self.add(moment)
        }
        self.flush()
    }

    private mutating func add(_ moment: IntervalReader.Moment) {
        if let index = self.pending.firstIndex(where: { $0.length == moment.length }) {
            self.pending[index].table.add(moment.table)
        } else {
            self.pending.append(moment)
        }
    }

    private mutating func flush() {
        for moment in self.pending {
            self.counts += SeriesLog.lines(moment.table, from: moment.from, length: moment.length).utf8
            self.histograms +=
                HistogramLog.lines(
                    moment.table, from: moment.from, length: moment.length
                ).utf8
        }
        self.pending = []
    }
}
