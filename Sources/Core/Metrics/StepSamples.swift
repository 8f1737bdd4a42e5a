package import SimBase

/// An operation that has not ended.
package struct OpenOperation: Hashable, Sendable {
    package let metric: LatencyMetric
    package let group: MetricGroup
    package let age: Interval

    package init(metric: LatencyMetric, group: MetricGroup, age: Interval) {
        self.metric = metric
        self.group = group
        self.age = age
    }
}

/// What the present step of a load showed so far, by intervals of a second: which of them are judged is known at its end.
///
/// An operation belongs to the step in which it began, so that the effects of an overload do not count
/// against the next step. One that is open counts as soon as it is older than the limit.
package struct StepSamples: Sendable {
    private struct Second: Sendable {
        let from: Instant
        var objectives: [SLOSample]
        var scanTime: HDRHistogram
    }

    /// The objectives that decide a step.
    package let objectives: [SLO]
    private let groups: [String]
    private var seconds: [Second] = []

    /// `objectives`: those of the run, some of which decide. `groups`: those of the tables.
    package init(_ objectives: [SLO], groups: [String]) {
        self.objectives = objectives.filter(\.decidesStep)
        self.groups = groups
    }

    /// Adds the measurements since a time, of at most one second.
    package mutating func add(_ table: MetricTable, from moment: Instant) {
        let samples = self.objectives.map { SLOSample(of: $0.selector, in: table).finished }
        let scanTime = Self.scanTime(in: table)
        self.seconds.append(Second(from: moment, objectives: samples, scanTime: scanTime))
    }

    /// Forgets what was before a time.
    package mutating func forget(before moment: Instant) { self.seconds.removeAll { $0.from < moment } }

    /// Returns the measurements of the part of a step that began at a time. `open`: the operations that are
    /// open at the end of the part.
    package func evidence(
        of part: Range<Instant>, begun: Instant, open: [OpenOperation], lag: GeneratorLag?
    ) -> StepEvidence {
        let seconds = self.seconds.filter { part.contains($0.from) }
        let age = part.upperBound - begun
        let own = open.filter { $0.age <= age }
        var scanTime = HDRHistogram()
        for second in seconds {
            scanTime.add(second.scanTime.values(atOrBelow: Self.timeSince(begun, second).nanoseconds))
        }
        let completed = seconds.reduce(Int64(0)) { $0 + $1.scanTime.total }
        // What is open and already older than the slowest has taken that long at least.
        let slow = scanTime.value(at: .p95) ?? 0
        for operation in own where operation.metric == .scanTime && operation.age.nanoseconds > slow {
            scanTime.record(operation.age.nanoseconds)
        }
        let results = self.objectives.indices.compactMap { index in
            self.result(
                of: index, in: seconds, during: part.upperBound - part.lowerBound, begun: begun, open: own)
        }
        return StepEvidence(
            objectives: results, p50: scanTime.value(at: .p50).map { Interval(nanoseconds: $0) },
            p95: scanTime.value(at: .p95).map { Interval(nanoseconds: $0) }, completed: completed,
            unfinished: Int64(open.count { $0.metric == .scanTime }), lag: lag)
    }

    /// Nil without data.
    private func result(
        of index: Int, in seconds: [Second], during length: Interval, begun: Instant, open: [OpenOperation]
    ) -> SLOResult? {
        let slo = self.objectives[index]
        var sample: SLOSample?
        for second in seconds {
            let more = second.objectives[index].operations(notLongerThan: Self.timeSince(begun, second))
            if sample == nil { sample = more } else { sample?.add(more) }
        }
        guard let sample else { return nil }
        var missing = self.missing(slo, open)
        missing.add(
            self.queued(slo, open, completed: seconds.reduce(0) { $0 + $1.objectives[index].count }, length))
        let result = slo.evaluate(sample.with(missing))
        return result.noData || result.passed == nil ? nil : result
    }

    /// The open operations that are beyond the limit of an objective.
    private func missing(_ slo: SLO, _ open: [OpenOperation]) -> Unfinished {
        guard slo.condition.isUpperLimit, case .latency(let metric) = slo.selector.metric,
            case .time(let limit) = slo.condition.threshold
        else { return Unfinished() }
        var table = MetricTable(groups: self.groups)
        for operation in open where operation.metric == metric {
            guard !slo.condition.comparison.holds(operation.age.nanoseconds, limit) else { continue }
            table.record(unfinished: metric, age: operation.age, in: operation.group)
        }
        return table.unfinished(metric, of: slo.selector.scope)
    }

    /// The open operations that will miss the limit of an objective, although none is that old yet: at the rate at which
    /// operations ended, only so many end within the limit (Little's law). Without it, a queue that grows would show only after
    /// the step.
    private func queued(_ slo: SLO, _ open: [OpenOperation], completed: Int64, _ length: Interval)
        -> Unfinished
    {
        guard completed > 0, length > .zero, slo.condition.isUpperLimit,
            case .latency(let metric) = slo.selector.metric, case .time(let limit) = slo.condition.threshold
        else { return Unfinished() }
        let inTime = open.filter { operation in
            operation.metric == metric
                && slo.condition.comparison.holds(operation.age.nanoseconds, limit)
        }
        let (high, low) = completed.multipliedFullWidth(by: limit)
        let room = high == 0 ? Int64(clamping: low) / length.nanoseconds : .max
        let excess = Int64(inTime.count) - room
        // So much may be chance.
        let chance = 2 * Double(inTime.count).squareRoot()
        return Double(excess) > chance
            ? Unfinished(count: excess, oldest: Interval(nanoseconds: limit.addingSaturating(1)))
            : Unfinished()
    }

    /// The longest time of an operation that began after a time and ended in a second.
    private static func timeSince(_ moment: Instant, _ second: Second) -> Interval {
        second.from + .seconds(1) - moment
    }

    private static func scanTime(in table: MetricTable) -> HDRHistogram {
        guard case .measured(let histogram) = table.histogram(.scanTime, of: .fleet) else {
            return HDRHistogram()
        }
        return histogram
    }
}

extension SLO {
    /// Whether a step of a load can be judged by it, and fails with it: it is the scenario's, and is not about the time after a
    /// fault, the whole run, or something that must have become large by the end.
    package var decidesStep: Bool {
        guard self.origin == .stated, self.severity == .error, self.selector.metric.isKnownOverTime else {
            return false
        }
        switch self.condition.span {
        case .wholeRun, .everyWindow: return self.condition.isFairOfPart
        case .afterFault: return false
        }
    }
}
