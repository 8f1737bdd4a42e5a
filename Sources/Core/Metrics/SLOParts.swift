package import SimBase

/// The worst part of a run that an objective with a span judged.
package struct SLOPart: Hashable, Sendable {
    package var from: Instant
    package var to: Instant
    /// The number of judged parts; `missed` of them failed the objective.
    package var judged: Int
    package var missed: Int
}

/// The end of a fault: one time for all, or one for each phone.
package struct FaultEnd: Hashable, Sendable {
    package var id: String
    package var first: Instant
    package var last: Instant

    package init(id: String, first: Instant, last: Instant) {
        self.id = id
        self.first = first
        self.last = last
    }
}

/// Judges the objectives for parts of a run, during the run.
///
/// It receives the measurements of intervals. No interval may cross one of its boundaries. Its memory is one
/// sample per objective, however long the run is.
package struct SLOParts: Sendable {
    private var tracks: [Track]

    /// `faults`: those that have an end, by their ids.
    package init(_ slos: [SLO], faults: [FaultEnd]) {
        self.tracks = slos.map { slo in
            switch slo.condition.span {
            case .wholeRun: Track(slo, .whole)
            case .everyWindow(let length): Track(slo, .windows(length))
            case .afterFault(let id, let within):
                Track(
                    slo,
                    .one(faults.first { $0.id == id }.map { $0.first...$0.last + within }))
            }
        }
    }

    // MARK: Intervals

    /// The first boundary after a time; nil when there is none.
    package func boundary(after moment: Instant) -> Instant? {
        self.tracks.compactMap { $0.boundary(after: moment) }.min()
    }

    /// The last boundary at or before a time.
    package func boundary(notAfter moment: Instant) -> Instant? {
        self.tracks.compactMap { $0.boundary(notAfter: moment) }.max()
    }

    /// Whether it must know which operations are open.
    package var countsOpen: Bool { self.tracks.contains { $0.countsOpen } }

    /// Adds the measurements since a time, up to the next boundary at most. `open`: the open operations at a
    /// time after these measurements and before all later ones.
    package mutating func add(
        _ table: MetricTable, from moment: Instant, open: (table: MetricTable, at: Instant)? = nil
    ) {
        for index in self.tracks.indices { self.tracks[index].add(table, from: moment, open: open) }
    }

    /// Ends the run: unfinished operations are judged as far as that is fair.
    package mutating func finish(at end: Instant) {
        for index in self.tracks.indices { self.tracks[index].finish(at: end) }
    }

    // MARK: Results

    /// Returns the results of the objectives, in their order. `table`: the table of the whole run so far.
    package func results(whole table: MetricTable) -> [SLOResult] {
        self.tracks.map { $0.result(whole: table) }
    }
}

/// The state of one objective during a run.
private struct Track: Sendable {
    enum Span: Sendable {
        case whole
        case windows(Interval)
        /// Nil: the fault has no end.
        case one(ClosedRange<Instant>?)
    }

    private let slo: SLO
    private let span: Span
    /// The part that is under way.
    private var sample: SLOSample?
    private var from = Instant.zero
    /// The operations that were open after what was added last, and the time at which they had that age.
    private var open: (unfinished: Unfinished, at: Instant)?
    /// The end of the run for the phones: from then on, no operation gets older.
    private var endedAt: Instant?
    private var worst: SLOResult?
    private var judged = 0
    private var missed = 0

    init(_ slo: SLO, _ span: Span) {
        self.slo = slo
        self.span = span
    }

    var countsOpen: Bool {
        guard case .windows = self.span, case .latency = self.slo.selector.metric else { return false }
        return self.slo.condition.isUpperLimit
    }

    func boundary(after moment: Instant) -> Instant? {
        switch self.span {
        case .whole, .one(nil): nil
        case .windows(let length): Self.start(of: moment, length) + length
        case .one(let range?): [range.lowerBound, range.upperBound].first { $0 > moment }
        }
    }

    func boundary(notAfter moment: Instant) -> Instant? {
        switch self.span {
        case .whole, .one(nil): nil
        case .windows(let length): Self.start(of: moment, length)
        case .one(let range?): [range.upperBound, range.lowerBound].first { $0 <= moment }
        }
    }

    private static func start(of moment: Instant, _ length: Interval) -> Instant {
        Instant(nanoseconds: max(0, moment.nanoseconds) / length.nanoseconds * length.nanoseconds)
    }

    mutating func add(
        _ table: MetricTable, from moment: Instant, open: (table: MetricTable, at: Instant)?
    ) {
        switch self.span {
        case .whole, .one(nil): return
        case .windows(let length):
            let start = Self.start(of: moment, length)
            if self.sample != nil, start > self.from {
                self.close(at: self.from + length, isWhole: true)
                self.pass(length, upTo: start)
            }
            if self.sample == nil { self.from = start }
        case .one(let range?):
            if moment >= range.upperBound { return self.close(at: range.upperBound, isWhole: true) }
            guard moment >= range.lowerBound else { return }
            self.from = range.lowerBound
        }
        var sample = SLOSample(of: self.slo.selector, in: table)
        // What the run leaves open belongs to it as a whole; a window is judged by what ended in it, or by `open`.
        if case .windows = self.span { sample = sample.finished }
        if self.countsOpen, let open, case .latency(let metric) = self.slo.selector.metric {
            self.open = (open.table.unfinished(metric, of: self.slo.selector.scope), open.at)
        }
        if self.sample == nil { self.sample = sample } else { self.sample?.add(sample) }
    }

    mutating func finish(at end: Instant) {
        switch self.span {
        case .whole, .one(nil): return
        case .windows(let length):
            self.endedAt = self.open?.at
            self.close(at: min(self.from + length, end), isWhole: self.from + length <= end)
            self.pass(length, upTo: min(end, self.endedAt ?? end))
        case .one(let range?): self.close(at: min(range.upperBound, end), isWhole: range.upperBound <= end)
        }
    }

    private mutating func close(at end: Instant, isWhole: Bool) {
        guard let sample = self.sample else { return }
        self.sample = nil
        guard isWhole || self.slo.condition.isFairOfPart else { return }
        let result = self.slo.evaluate(sample)
        guard !result.noData else { return self.judgeOpen(at: end) }
        if result.passed != nil { self.note(result, at: end) }
    }

    /// The windows in which nothing was observed at all, behind the present one. A part of one is as good as a whole: the
    /// oldest operation only gets older.
    private mutating func pass(_ length: Interval, upTo limit: Instant) {
        guard let open = self.open, !open.unfinished.isEmpty else { return }
        while self.from + length < limit {
            self.from = self.from + length
            self.judgeOpen(at: min(self.from + length, limit))
        }
    }

    /// Judges the open operations of a window in which no operation ended.
    private mutating func judgeOpen(at end: Instant) {
        let end = min(end, self.endedAt ?? end)
        guard let open = self.open, !open.unfinished.isEmpty,
            let result = self.slo.missed(
                Unfinished(
                    count: open.unfinished.count, oldest: open.unfinished.oldest + (end - open.at)))
        else { return }
        self.note(result, at: end)
    }

    private mutating func note(_ result: SLOResult, at end: Instant) {
        self.judged += 1
        if result.passed == false { self.missed += 1 }
        guard self.worst.map({ result.isWorse(than: $0) }) ?? true else { return }
        self.worst = result
        self.worst?.part = SLOPart(from: self.from, to: end, judged: 0, missed: 0)
    }

    func result(whole table: MetricTable) -> SLOResult {
        if case .whole = self.span { return self.slo.evaluate(against: table) }
        guard var worst = self.worst, let part = worst.part else {
            guard table.isAvailable(self.slo.selector.metric) else { return self.slo.notKnown }
            return self.slo.noData(passed: self.slo.selector.metric.kind != .latency)
        }
        worst.part?.judged = self.judged
        worst.part?.missed = self.missed
        let times = "\(Self.seconds(part.from)) to \(Self.seconds(part.to))"
        let windows = self.judged == 1 ? "" : ", \(self.missed) of \(self.judged) windows missed"
        return SLOResult(
            slo: self.slo, value: worst.value, actual: "\(worst.actual) from \(times)\(windows)",
            passed: worst.passed, noData: false, part: worst.part)
    }

    private static func seconds(_ moment: Instant) -> String {
        DecimalText.text((moment - Instant.zero).wholeMilliseconds, decimals: 3, shown: 0...3) + "s"
    }
}

extension SLOCondition {
    /// Whether a part of a window can be judged like a whole one: what must stay small can, what must grow cannot.
    var isFairOfPart: Bool {
        guard case .number(let limit) = self.threshold else { return true }
        return switch self.comparison {
        case .less, .lessOrEqual: true
        case .equal: limit == 0
        case .greater, .greaterOrEqual, .notEqual: false
        }
    }
}

extension SLOResult {
    /// Returns whether this part of a run is worse than another, judged by the same objective.
    fileprivate func isWorse(than other: SLOResult) -> Bool {
        if self.passed != other.passed { return self.passed == false }
        let isSmallBetter =
            switch self.slo.condition.comparison {
            case .less, .lessOrEqual, .equal: true
            case .greater, .greaterOrEqual, .notEqual: false
            }
        switch (self.value, other.value) {
        case (.time(let mine)?, .time(let theirs)?): return isSmallBetter ? mine > theirs : mine < theirs
        case (.number(let mine)?, .number(let theirs)?): return isSmallBetter ? mine > theirs : mine < theirs
        case (.share(let mine)?, .share(let theirs)?):
            // Cross-multiplied, so that no rate is rounded.
            let (left, right) = (
                UInt128(mine.failed) * UInt128(theirs.total), UInt128(theirs.failed) * UInt128(mine.total)
            )
            return isSmallBetter ? left > right : left < right
        case (.time?, _), (.number?, _), (.share?, _), (.money?, _), (nil, _): return false
        }
    }
}
