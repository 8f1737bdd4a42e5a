package import Metrics
package import RunJudge
package import SimBase

/// The intervals of a run as `series.ndjson` and `latency.hlog` hold them, one after the other, in constant memory.
package struct IntervalReader {
    package struct Moment {
        package var from: Instant
        package var length: Interval
        package var table: MetricTable
        /// The operations that were open at a time after it; nil if there were none, or if no objective
        /// requests them.
        package var open: (table: MetricTable, at: Instant)?
    }

    private let head: RunHead
    private var series: LineReader?
    private var histograms: LineReader?
    private var nextSeries: SeriesLog.Entry?
    private var nextHistogram: HistogramLog.Entry?
    /// Lines that were not whole.
    package private(set) var skipped = 0

    /// `isGrowing`: the run continues, and `next(before:)` is asked again and again.
    package init(folder: String, head: RunHead, isGrowing: Bool = false) {
        self.head = head
        self.series = LineReader(
            path: RunDirectory.joined(folder, RunDirectory.FileName.series), isGrowing: isGrowing)
        self.histograms = LineReader(
            path: RunDirectory.joined(folder, RunDirectory.FileName.latency), isGrowing: isGrowing)
        self.readSeries()
        self.readHistogram()
    }

    package var emptyTable: MetricTable { self.head.table }

    /// Nil at the end.
    package mutating func next() -> Moment? {
        guard let from = [self.nextSeries?.from, self.nextHistogram?.from].compactMap({ $0 }).min(),
            let length = self.nextSeries.flatMap({ $0.from == from ? $0.length : nil })
                ?? self.nextHistogram?.length
        else { return nil }
        var series: [SeriesLog.Entry] = []
        while let entry = self.nextSeries, entry.from == from, entry.length == length {
            series.append(entry)
            self.readSeries()
        }
        var histograms: [HistogramLog.Entry] = []
        // The format of that log has no more digits.
        while let entry = self.nextHistogram, entry.from == from,
            (entry.length - length).nanoseconds.magnitude <= 1_000_000
        {
            histograms.append(entry)
            self.readHistogram()
        }
        return Moment(
            from: from, length: length, table: self.table(series, histograms), open: self.open(series))
    }

    private func open(_ series: [SeriesLog.Entry]) -> (table: MetricTable, at: Instant)? {
        guard let at = series.compactMap({ $0.open?.at }).max() else { return nil }
        var table = MetricTable(groups: self.head.groups.map(\.name))
        for entry in series {
            guard let open = entry.open else { continue }
            let index = entry.group.flatMap { name in self.head.groups.firstIndex { $0.name == name } }
            table.add(open.set, in: index.map { MetricGroup(index: $0) } ?? .none)
        }
        return (table, at)
    }

    /// The next interval of growing files. Intervals that begin before this time are known to be complete.
    package mutating func next(before moment: Instant) -> Moment? {
        if self.nextSeries == nil { self.readSeries() }
        if self.nextHistogram == nil { self.readHistogram() }
        guard let from = [self.nextSeries?.from, self.nextHistogram?.from].compactMap({ $0 }).min(),
            from < moment
        else { return nil }
        return self.next()
    }

    private mutating func readSeries() {
        self.nextSeries = nil
        while let line = self.series?.next() {
            if let entry = SeriesLog.entry(line) {
                self.nextSeries = entry
                return
            }
            self.skipped += 1
        }
    }

    private mutating func readHistogram() {
        self.nextHistogram = nil
        while let line = self.histograms?.next() {
            if HistogramLog.isComment(line) { continue }
            if let entry = HistogramLog.entry(line) {
                self.nextHistogram = entry
                return
            }
            self.skipped += 1
        }
    }

    private func table(_ series: [SeriesLog.Entry], _ histograms: [HistogramLog.Entry]) -> MetricTable {
        var table = self.head.table
        let names = self.head.groups.map(\.name)
        for entry in series {
            var set = entry.set
            let index = entry.group.flatMap { names.firstIndex(of: $0) }
            for (metric, edges) in entry.edges {
                // Of one group, and of what has none, the fleet's histogram is its own.
                let group = names.count > 1 && index != nil ? entry.group : nil
                let tag = HistogramLog.tag(metric, group: group)
                guard
                    let found = histograms.first(where: {
                        HistogramLog.tag($0.metric, group: $0.group) == tag
                    })
                else { continue }
                let exact = found.histogram.exact(
                    minimum: edges.minimum, maximum: edges.maximum, sum: edges.sum)
                set.add(exact ?? found.histogram, to: metric)
            }
            table.add(set, in: index.map { MetricGroup(index: $0) } ?? .none)
        }
        return table
    }
}
