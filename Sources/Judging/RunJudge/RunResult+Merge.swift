import Ledger
package import Metrics
package import RunMetrics
import SimBase

extension RunResult {
    /// Returns the combined result of shards of one run, which share no phone: the result of one judge of all
    /// their phones. Each has the timeline of its shard. Nil without shards.
    ///
    /// For an objective for parts of a run, only the verdict of each shard is known; the merged one is the
    /// worst. Operations that were open at the end have the age at the last observation of their own shard.
    package static func merged(
        _ shards: [(result: RunResult, timeline: RunTimeline)], objectives: [SLO]
    ) -> (result: RunResult, timeline: RunTimeline)? {
        guard var merged = shards.first else { return nil }
        for shard in shards.dropFirst() {
            merged.result.add(shard.result)
            merged.timeline.add(shard.timeline)
        }
        merged.result.slos = objectives.enumerated().map { index, slo in
            guard slo.condition.span != .wholeRun else { return slo.evaluate(against: merged.result.metrics) }
            let told = shards.map {
                $0.result.slos.indices.contains(index) ? $0.result.slos[index] : slo.notKnown
            }
            return told.first { $0.passed == false } ?? told.first { $0.passed != nil } ?? slo.notKnown
        }
        if merged.result.isInterrupted { merged.result.slos = merged.result.slos.map(\.unjudged) }
        merged.result.take(merged.timeline.errors)
        let failures = Set(shards.compactMap(\.result.exit.failure))
        merged.result.exit = merged.result.judgement(failures: failures).exit
        return merged
    }

    private mutating func add(_ other: RunResult) {
        self.started = min(self.started, other.started)
        self.length = max(self.length, other.length)
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
        // What one of them came to, the run came to.
        self.unreached = self.unreached.filter { other.unreached.contains($0) }
        self.hasBackendView = self.hasBackendView && other.hasBackendView
        self.totals.add(other.totals)
        Verdict.add(other.verdicts, to: &self.verdicts)
        self.disconnections.add(other.disconnections)
        self.metrics.add(other.metrics)
        self.findings.add(other.findings)
        self.resources.add(other.resources)
        self.generator.complaints += other.generator.complaints
        self.streamsOpen = nil
        if other.drained == nil { self.drained = nil }
        self.notes += other.notes
        self.warnings += other.warnings
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
    }

    private static func sum(_ mine: Usage?, _ others: Usage?) -> Usage? {
        guard let mine, let others else { return nil }
        return Usage(
            processor: mine.processor + others.processor,
            residentBytes: mine.residentBytes + others.residentBytes)
    }
}

extension Verdict {
    /// Adds the verdicts of another shard, which are in the same order.
    fileprivate static func add(_ others: [Verdict], to verdicts: inout [Verdict]) {
        for index in verdicts.indices where index < others.count { verdicts[index].add(others[index]) }
    }

    fileprivate mutating func add(_ other: Verdict) {
        self.violations += other.violations
        self.expected += other.expected
        self.examples += other.examples
        if self.standing == .notAvailable || other.standing == .notAvailable {
            // What one shard cannot know is not known of all, unless another has found it broken.
            self.standing = [self.standing, other.standing].contains(.broken) ? .broken : .notAvailable
        } else {
            self.standing =
                self.violations == 0 ? .held : self.violations == self.expected ? .brokenAsExpected : .broken
        }
    }
}
