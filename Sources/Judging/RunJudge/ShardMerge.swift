import Ledger
package import Metrics
package import RunMetrics
package import SimBase

/// Puts the shards of one run together: the result is that of one process that ran all their phones, as far as the backend
/// answered them alike.
package struct ShardMerge {
    package struct Part: Sendable {
        package let shard: FleetShard
        package var result: RunResult
        package var timeline: RunTimeline
        /// Nil for a shard that left none.
        package let evidence: ShardEvidence?
        /// Why not everything is known of it.
        package let defect: Defect?

        package init(
            _ shard: FleetShard, _ result: RunResult, _ timeline: RunTimeline, _ evidence: ShardEvidence
        ) {
            self.shard = shard
            self.result = result
            self.timeline = timeline
            self.evidence = evidence
            self.defect = nil
        }

        /// Creates the part of a damaged shard. `result` is what its files still show.
        package init(
            _ shard: FleetShard, _ result: RunResult, _ timeline: RunTimeline, lacking defect: Defect
        ) {
            self.shard = shard
            self.result = result
            self.timeline = timeline
            self.evidence = nil
            self.defect = defect
        }
    }

    /// In the order of their indexes.
    let parts: [Part]
    /// What the processes of shards ended with, where somebody has seen it.
    package var exits: [FleetShard: ExitCode] = [:]
    /// What else is wrong with the files of the shards.
    package var damage: [Remark] = []
    /// The settings that the scenario results in.
    let settings: JudgeSettings
    /// The number of shards that the run has.
    let count: Int

    /// `parts`: at least one.
    package init(_ parts: [Part], settings: JudgeSettings) {
        precondition(!parts.isEmpty, "a merge of nothing")
        self.parts = parts.sorted { $0.shard.index < $1.shard.index }
        self.settings = settings
        self.count = parts[0].shard.count
    }

    /// Returns the combined state of the shards of a run in progress, without objectives; nil without any.
    package static func soFar(
        _ shards: [(result: RunResult, timeline: RunTimeline)]
    ) -> (result: RunResult, timeline: RunTimeline)? {
        guard var merged = RunResult.merged(shards, objectives: [], spans: nil) else { return nil }
        merged.result.isShard = false
        return merged
    }

    /// Returns the result. `spans`: the results of all objectives by the series of the shards, from the table of the whole run;
    /// nil where there is no such series.
    package func merged(
        spans: ((MetricTable) -> [SLOResult])?
    ) -> (result: RunResult, timeline: RunTimeline)? {
        let endedAt = self.parts.compactMap(\.evidence?.endedAt).max() ?? .zero
        let parts = self.parts.map { part in
            var part = part
            if let evidence = part.evidence {
                part.result.move(violationsAt: evidence.endedAt, to: endedAt)
                part.result.hold(evidence.fleet?.held ?? [])
                return part
            }
            switch part.defect {
            case .folder, .verdict, .summary, .foreign:
                // What is not known of it is said below.
                part.result.isInterrupted = false
                part.result.failure = nil
            case .evidence, .scenario, nil: break
            }
            return part
        }
        let shards = parts.map { (result: $0.result, timeline: $0.timeline) }
        guard
            let merged = RunResult.merged(shards, objectives: self.settings.objectives, spans: spans)
        else { return nil }
        var result = merged.result
        result.isShard = false
        result.command = RerunCommand.merged(result.command, shards: self.count, world: result.world)
        self.addFleetChecks(to: &result)
        self.addSharedJobs(to: &result)
        self.addCoverage(to: &result)
        result.remarks = self.remarks(result)
        if !self.gaps.isEmpty { result.leaveRestOpen() }
        let unseen = self.unseenExits
        let reasons = parts.map(\.result.exitReasons) + unseen.map { ExitReasons(of: $0.exit) }
        result.judge(failures: reasons.reduce(into: []) { $0.add($1.failures) })
        let isHidden = self.parts.contains(where: \.result.hidesViolation)
        if isHidden || unseen.contains(where: { $0.exit == .invariantBroken }) {
            result.exitReasons.insert(.invariantBroken)
        }
        return (result, merged.timeline)
    }

    private func addFleetChecks(to result: inout RunResult) {
        guard let invariants = self.settings.invariants,
            self.parts.contains(where: { $0.evidence?.fleet != nil })
        else { return }
        let found = self.fleet.verdicts(
            invariants, ledger: self.settings.ledger, endedAt: .zero + result.length)
        Verdict.add(found.fleet, to: &result.verdicts)
        for index in result.groups.indices where index < found.groups.count {
            Verdict.add(found.groups[index], to: &result.groups[index].verdicts)
        }
        result.expect(result.expectations)
    }

    /// A target may give a job to phones of two shards.
    private func addSharedJobs(to result: inout RunResult) {
        let end = Instant.zero + result.length
        let found = TargetJobOwner.shared(self.parts.compactMap(\.evidence?.targetJobs), at: end)
        guard !found.isEmpty else { return }
        func verdict(_ found: [Violation]) -> [Verdict] {
            found.isEmpty
                ? []
                : [
                    Verdict(
                        invariant: .targetJobUnique, standing: .broken, violations: found.count, expected: 0,
                        examples: found)
                ]
        }
        Verdict.add(verdict(found), to: &result.verdicts)
        for index in result.groups.indices {
            let own = found.filter { violation in
                violation.device.flatMap { self.settings.ledger.fleet.group(of: $0) } == index
            }
            Verdict.add(verdict(own), to: &result.groups[index].verdicts)
        }
        result.expect(result.expectations)
    }

    // MARK: Remarks

    /// The remarks of the shards in addition to their figures, and those of the whole. A shard has no remark
    /// about the sums of all shards.
    private func remarks(_ result: RunResult) -> [Remark] {
        let ofShards = self.parts.flatMap { part in
            part.result.remarks.filter { $0.merging == .kept }.map {
                $0.kind == .complaint ? .ofShard(part.shard, $0) : $0
            }
        }
        let exits = self.unseenExits.map { Remark.merge(.shardExit($0.shard, code: $0.exit.rawValue)) }
        let arrivals =
            ArrivalAccount(result.metrics)?.remarks(self.skipped, HoldReason(result.controls)) ?? []
        let ofAll = (self.parts.first?.result.remarks ?? []).filter { remark in
            remark.merging == .keptOfAll && self.parts.allSatisfy { $0.result.remarks.contains(remark) }
        }
        let all =
            self.gaps + exits + self.damage + (result.controls.isEmpty ? [] : [.load(.controlled)]) + ofShards
            + [self.retriesLeftOut].compactMap { $0 } + arrivals
            + [.merge(.merged(parts: self.parts.count, of: self.count))] + ofAll
            + [self.coverage?.remark, self.regions.remark, self.export.map { .end(.exported($0)) }]
            .compactMap { $0 }
        return all.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }

    /// What cannot be judged because the shards have more than they hand over.
    private var retriesLeftOut: Remark? {
        guard let invariants = self.settings.invariants,
            let until = self.fleet.judgedUntil(invariants, ledger: self.settings.ledger)
        else { return nil }
        return .merge(.retriesLeftOut(judgedMilliseconds: (until - .zero).wholeMilliseconds))
    }

    /// The sum of what the shards hand over for the checks of the whole fleet.
    private var fleet: FleetEvidence {
        self.parts.compactMap(\.evidence?.fleet).reduce(into: FleetEvidence()) { $0.add($1) }
    }

    private var skipped: SkippedWork {
        self.parts.compactMap(\.evidence?.skipped).reduce(into: SkippedWork()) { $0.add($1) }
    }

    private var coverage: CoverageTable? {
        self.parts.compactMap(\.evidence).reduce(into: self.settings.coverage) {
            $0?.add(numbers: $1.coverage)
        }
    }

    private var export: ExportSummary? {
        self.parts.compactMap(\.result.export).reduce(nil) { all, part in
            var all = all
            all?.add(part)
            return all ?? part
        }
    }

    private var regions: RegionSummary {
        self.parts.compactMap(\.evidence).reduce(into: RegionSummary(captures: 0, regions: 0, complete: 0)) {
            $0.add($1.regions)
        }
    }

    /// A run that was cut short is not asked what it came to, and the phones that are missing may have come to it.
    private func addCoverage(to result: inout RunResult) {
        let isWhole =
            result.endedEarly == nil && result.failure == nil && !result.isInterrupted && self.gaps.isEmpty
        result.unreached = isWhole ? self.coverage?.unreached ?? [] : []
    }
}

extension RunResult {
    /// What the end of a shard has shown, the end of the run would have shown.
    fileprivate mutating func move(violationsAt end: Instant, to later: Instant) {
        // A file has whole microseconds.
        let least = Instant(nanoseconds: end.nanoseconds / 1_000 * 1_000)
        func moved(_ verdicts: [Verdict]) -> [Verdict] {
            verdicts.map { verdict in
                var verdict = verdict
                for index in verdict.examples.indices where verdict.examples[index].at >= least {
                    verdict.examples[index].at = later
                }
                return verdict
            }
        }
        self.verdicts = moved(self.verdicts)
        for index in self.groups.indices { self.groups[index].verdicts = moved(self.groups[index].verdicts) }
    }

    /// What the phones of a shard hold by themselves, the shard could not say.
    fileprivate mutating func hold(_ invariants: [Invariant]) {
        func held(_ verdict: Verdict) -> Verdict {
            guard verdict.standing == .notAvailable, invariants.contains(verdict.invariant) else {
                return verdict
            }
            var verdict = verdict
            verdict.standing = .held
            return verdict
        }
        self.verdicts = self.verdicts.map(held)
        for index in self.groups.indices {
            self.groups[index].verdicts = self.groups[index].verdicts.map(held)
        }
    }
}

extension ArrivalAccount {
    /// The account as the metrics of a run have it; nil if they have none.
    fileprivate init?(_ table: MetricTable) {
        guard case .measured(let planned) = table.count(.arrivalsPlanned, of: .fleet),
            case .measured(let achieved) = table.count(.arrivalsAchieved, of: .fleet),
            case .measured(let late) = table.count(.arrivalsLate, of: .fleet)
        else { return nil }
        self.init(planned: Int(planned), achieved: Int(achieved), late: Int(late))
    }
}
