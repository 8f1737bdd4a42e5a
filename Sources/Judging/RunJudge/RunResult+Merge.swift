import Ledger
package import Metrics
package import RunMetrics
import SimBase

extension RunResult {
    /// Returns the combined result of shards of one run, which share no phone: the result of one judge of all
    /// their phones. Each has the timeline of its shard. Nil without shards.
    ///
    /// Operations that were open at the end have the age at the last observation of their own shard.
    ///
    /// - Parameter spans: The results of all objectives by the sums of the shards' series, from the table of the whole; nil where
    ///   there is no such sum. What a shard alone found in its windows says nothing of the windows of the whole then.
    package static func merged(
        _ shards: [(result: RunResult, timeline: RunTimeline)], objectives: [SLO],
        spans: ((MetricTable) -> [SLOResult])?
    ) -> (result: RunResult, timeline: RunTimeline)? {
        guard var merged = shards.first else { return nil }
        for shard in shards.dropFirst() {
            merged.result.add(shard.result)
            merged.timeline.add(shard.timeline)
        }
        merged.result.sortFindings()
        merged.result.slos = Self.judged(
            objectives, by: shards.map(\.result),
            sums: shards.count == 1 ? shards[0].result.slos : spans?(merged.result.metrics),
            whole: merged.result.metrics)
        if spans == nil {
            merged.result.add([Self.remarkOnParts(objectives, of: shards.count)].compactMap { $0 })
        }
        merged.result.leaveOpenWhatWasCutShort()
        merged.result.take(merged.timeline.errors)
        merged.result.judge(
            failures: shards.reduce(into: []) { $0.add($1.result.exitReasons.failures) })
        if shards.contains(where: \.result.hidesViolation) {
            merged.result.exitReasons.insert(.invariantBroken)
        }
        return merged
    }

    /// What a run that was cut short has left open is not judged; an objective that ended it has failed.
    private mutating func leaveOpenWhatWasCutShort() {
        guard self.isInterrupted || self.endedEarly != nil else { return }
        self.slos = self.slos.map {
            !self.isInterrupted && $0.slo.abort && $0.passed == false ? $0 : $0.unjudged
        }
    }

    /// Whether it ended with 97 and nothing that was read of it says why. What is lost in the reading is not made good by another
    /// shard: no merge is greener than this.
    var hidesViolation: Bool {
        self.exit == .invariantBroken && self.judgement(failures: []).reasons.exit != .invariantBroken
    }

    /// `sums`: the results of objectives for parts of the run; nil where these parts have no sum.
    private static func judged(
        _ objectives: [SLO], by shards: [RunResult], sums: [SLOResult]?, whole table: MetricTable
    ) -> [SLOResult] {
        objectives.enumerated().map { index, slo in
            let told = shards.map { $0.slos.indices.contains(index) ? $0.slos[index] : slo.notKnown }
            // One that has ended a run stays failed, even if all of the run would satisfy it.
            if slo.abort,
                let failed = zip(shards, told).first(where: { $0.endedEarly != nil && $1.passed == false })
            {
                return failed.1
            }
            guard slo.condition.span != .wholeRun else { return slo.evaluate(against: table) }
            if let sums, sums.indices.contains(index) { return sums[index] }
            return told.first(where: \.isCertainlyFailed) ?? slo.notKnown
        }
    }

    /// Which objectives for parts of a run could not be judged; nil if there are none.
    private static func remarkOnParts(_ objectives: [SLO], of shards: Int) -> Remark? {
        let names = objectives.filter { $0.condition.span != .wholeRun }.map(\.selector.description)
        return shards > 1 && !names.isEmpty ? .merge(.windowsNotJudged(objectives: names)) : nil
    }

    /// Adds remarks that are not there yet.
    package mutating func add(_ remarks: [Remark]) {
        for remark in remarks where !self.remarks.contains(remark) { self.remarks.append(remark) }
    }

    /// What the operator of several processes did, each of them has, unless it ended before: it is listed once. Those of shards
    /// that were controlled one by one have their own.
    private static func merged(_ mine: [ControlRecord], _ others: [ControlRecord]) -> [ControlRecord] {
        let (longer, shorter) = mine.count < others.count ? (others, mine) : (mine, others)
        guard zip(longer, shorter).allSatisfy({ $0.action == $1.action }) else {
            return (mine + others).sorted { $0.at < $1.at }
        }
        var merged = longer
        for (index, record) in shorter.enumerated() {
            merged[index].at = min(merged[index].at, record.at)
        }
        return merged
    }

    /// As one process has them: those of each group in the order of time, and those of the fleet group by group.
    private mutating func sortFindings() {
        for index in self.groups.indices { self.groups[index].tables.findings.sortByTime() }
        let ofGroups = self.groups.reduce(into: FindingsTable()) { $0.add($1.tables.findings) }
        if ofGroups.count == self.findings.count { self.findings = ofGroups }
    }

    /// The drain of the whole begins with its last capture, and ends with the last of them.
    private mutating func addLength(_ other: RunResult) {
        let length = max(self.length, other.length)
        self.drained = self.drained.flatMap { mine in
            other.drained.map { length - max(self.length - mine, other.length - $0) }
        }
        self.length = length
    }

    private mutating func add(_ other: RunResult) {
        self.started = min(self.started, other.started)
        self.addLength(other)
        for index in self.groups.indices where index < other.groups.count {
            self.groups[index].add(other.groups[index])
        }
        self.labels = self.labels.agreed(with: other.labels)
        self.isInterrupted = self.isInterrupted || other.isInterrupted
        if let others = other.machine, others != self.machine {
            self.machine = self.machine.map { "\($0); \(others)" } ?? others
        }
        self.failure = self.failure ?? other.failure
        self.endedEarly = self.endedEarly ?? other.endedEarly
        self.controls = Self.merged(self.controls, other.controls)
        self.heldBack += other.heldBack
        self.heldTime += other.heldTime
        self.hasBackendView = self.hasBackendView && other.hasBackendView
        self.totals.add(other.totals)
        Verdict.add(other.verdicts, to: &self.verdicts)
        self.disconnections.add(other.disconnections)
        self.metrics.add(other.metrics)
        self.findings.add(other.findings)
        self.resources.add(other.resources)
        if let others = other.streamsOpen { self.streamsOpen?.add(others) } else { self.streamsOpen = nil }
        self.add(other.remarks)
        // What is slow in the whole is not known of the parts.
        self.slow = nil
    }
}

extension GroupResult {
    fileprivate mutating func add(_ other: GroupResult) {
        self.devices += other.devices
        self.totals.add(other.totals)
        Verdict.add(other.verdicts, to: &self.verdicts)
        self.tables.add(other.tables)
        self.errors.add(other.errors)
    }
}

extension Resources {
    fileprivate mutating func add(_ other: Resources) {
        self.client = Self.sum(self.client, other.client)
        self.backend = Self.sum(self.backend, other.backend)
        self.streamBytes = Self.sum(self.streamBytes, other.streamBytes)
    }

    private static func sum(_ mine: StreamBytes?, _ others: StreamBytes?) -> StreamBytes? {
        guard let mine, let others else { return nil }
        return StreamBytes(sent: mine.sent + others.sent, received: mine.received + others.received)
    }

    private static func sum(_ mine: Usage?, _ others: Usage?) -> Usage? {
        guard let mine, let others else { return nil }
        return Usage(
            processor: mine.processor + others.processor,
            residentBytes: mine.residentBytes + others.residentBytes)
    }
}

extension Verdict {
    /// The examples of a merged verdict.
    private static let examplesMax = 5

    /// Adds the verdicts of another shard. Some invariants have a verdict only where they are broken.
    static func add(_ others: [Verdict], to verdicts: inout [Verdict]) {
        for other in others {
            if let index = verdicts.firstIndex(where: { $0.invariant == other.invariant }) {
                verdicts[index].add(other)
            } else {
                let next = verdicts.firstIndex { $0.invariant.ordinal > other.invariant.ordinal }
                verdicts.insert(other, at: next ?? verdicts.endIndex)
            }
        }
    }

    private mutating func add(_ other: Verdict) {
        self.hadOccasion = self.hadOccasion || other.hadOccasion
        self.violations += other.violations
        self.expected += other.expected
        // Those that count come first, and the earliest of them.
        let examples = (self.examples + other.examples).enumerated().sorted {
            $0.element.order(behind: $0.offset) < $1.element.order(behind: $1.offset)
        }
        self.examples = Array(examples.map(\.element).prefix(Self.examplesMax))
        if self.standing == .notAvailable || other.standing == .notAvailable {
            // What one shard cannot know is not known of all, unless another has found it broken.
            self.standing = [self.standing, other.standing].contains(.broken) ? .broken : .notAvailable
        } else {
            self.standing =
                self.violations == 0 ? .held : self.violations == self.expected ? .brokenAsExpected : .broken
        }
    }
}

extension Violation {
    /// Those that count first, then the earliest, then those of the phone with the lowest number.
    fileprivate func order(behind offset: Int) -> (Int, Instant, UInt32, Int) {
        (self.isExpected ? 1 : 0, self.at, self.device?.raw ?? .max, offset)
    }
}
