package import Ledger
package import Metrics
package import Observations
package import RunMetrics
package import SimBase
import Talaria

/// Judges and measures a run by the observations of both sides, in one order, and by nothing else. A live
/// run, a simulated run and the report of a past run have the same judge.
///
/// Observations of a running run are also logged. Once per second of the run's own time, its measurements are
/// logged, so that a kill loses no more than that. In a simulated day that would be most of the work: there,
/// intervals get longer with the run.
package struct RunJudge: Sendable {
    private static let second: Int64 = 1_000_000_000

    /// The measurements that the objectives use if they exclude phones: those of all others.
    private struct Judged {
        let leftOut: Set<DeviceNumber>
        var ledger: Ledger
        var collector: MetricsCollector
        /// Covers all intervals that are over, and what the driver counted.
        var past: MetricTable
    }

    let slos: [SLO]
    let expectations: Expectations
    package internal(set) var ledger: Ledger
    /// Judges what the storage lost before the run began, and nothing else. A killed run is held to no other loss.
    var losses: Ledger
    var lost = LostRecords()
    /// The run over time.
    package internal(set) var timeline: RunTimeline
    /// That of one group, where a report is about it.
    package var timelineOfGroup: (group: Int, timeline: RunTimeline)?
    private var errors: GroupErrors
    /// The scans of the run, one by one.
    package internal(set) var scans = ScanTable()
    var collector: MetricsCollector
    private var causes: CauseAccount
    private var undecided: UndecidedObservations
    package private(set) var objectives: SLOParts
    /// Nil if that is everything.
    private var judged: Judged?
    var samples: LatencyCrossCheck
    var schedule: CaptureSchedule?
    var sums = TotalsCrossCheck()
    /// The goals that the run must reach; nil if none are required.
    package private(set) var coverage: CoverageTable?
    private var regions = RegionAccount()
    /// Nil without a rollout.
    private var rollout: RolloutAccount?
    private var occasions: Occasions
    /// The ids of the faults in the order of the scenario.
    private let faults: [String]
    package private(set) var controls: [ControlRecord] = []
    /// Judges what a simulated world tells beside observations; nil elsewhere. The driver hands that on.
    package var invariants: SimulationInvariants?
    /// Observations so far.
    package private(set) var observations = 0
    /// The last capture.
    private var capturedAt = Instant.zero
    private var watch: AbortWatch
    /// Nil if the load has no steps.
    private var capacity: CapacityAccount?
    /// All intervals that are over.
    var past: Measurements
    /// The present interval.
    private var from = Instant.zero
    private var to = Instant.zero
    private var length = Self.second
    private let intervalsOfALength: Int?
    private var intervals = 0

    // What cut the run short; several may.
    package private(set) var isInterrupted = false
    /// The backend's process died: what only it could tell is not known.
    package private(set) var hasLostBackend = false
    /// The objective that ended the run before its time.
    package private(set) var endedBy: RunEnding?
    /// Why nothing of the run can be relied on; nil when it can. Known when the run is finished.
    package private(set) var harnessError: String?
    /// Known when the run is finished.
    private var skipped = SkippedWork()
    private var endedAt = Instant.zero
    private var waiting: [WaitingRecord] = []

    package init(_ settings: JudgeSettings) {
        let fleet = settings.ledger.fleet
        self.slos = settings.objectives
        self.expectations = settings.expectations
        self.faults = settings.faults
        self.ledger = Ledger(
            shelf: settings.shelf, settings: settings.ledger, harness: settings.harness)
        self.losses = Ledger(shelf: settings.shelf, settings: settings.ledger)
        self.occasions = Occasions(fleet: fleet)
        self.timeline = RunTimeline(faults: settings.faults.count)
        self.errors = GroupErrors(fleet: fleet)
        self.collector = MetricsCollector(
            fleet: fleet, faultIDs: settings.faults, hasBackendView: settings.ledger.hasBackendView,
            hasTrial: settings.ledger.isOnTrial)
        self.collector.journeys = settings.ledger.journeys
        self.undecided = UndecidedObservations(delay: settings.firingDelay)
        self.causes = CauseAccount(
            faults: zip(settings.faults, settings.faultKinds).map { ($0, $1) },
            tokenLifetime: settings.ledger.tokenLifetime)
        self.objectives = SLOParts(settings.objectives, faults: settings.faultEnds)
        self.samples = LatencyCrossCheck(fleet: fleet)
        self.schedule = settings.schedule
        self.coverage = settings.coverage
        self.rollout = settings.rollout.map { RolloutAccount($0) }
        self.invariants = settings.invariants.map { SimulationInvariants($0, ledger: settings.ledger) }
        self.watch = AbortWatch(settings.objectives)
        self.capacity = settings.steps.map { [groups = self.collector.measured.table.groups] in
            CapacityAccount($0, objectives: settings.objectives, groups: groups)
        }
        self.past = Measurements(table: self.collector.measured.table)
        self.intervalsOfALength = settings.intervalsOfALength
        if !settings.leftOut.isEmpty {
            self.judged = Judged(
                leftOut: settings.leftOut, ledger: self.ledger, collector: self.collector,
                past: self.past.table)
        }
        self.begin(at: .zero)
    }

    /// Whether there are phones that the objectives leave out, and this is none of them.
    private func judges(_ phone: DeviceNumber) -> Bool { self.judged?.leftOut.contains(phone) == false }

    // MARK: Events

    /// An observation of a run that continues.
    package mutating func receive(_ observation: consuming Observation, into log: some RunLog) {
        self.take(observation, log)
    }

    /// Observations of a run that continues. Each is moved on, because a run makes millions. Leaves the batch empty.
    package mutating func receive(_ batch: inout [Observation], into log: some RunLog) {
        for index in batch.indices {
            self.receive(batch.take(index, leaving: .nothing), into: log)
        }
        batch.removeAll(keepingCapacity: true)
    }

    /// An observation of a past run. What was measured in its intervals comes from its files.
    package mutating func receive(_ observation: consuming Observation) { self.take(observation, nil) }

    private mutating func take(_ observation: consuming Observation, _ log: (any RunLog)?) {
        self.judgeUndecided(at: observation.at, log)
        guard self.undecided.isEmpty, !CauseAccount.isBlamed(observation) else {
            return self.undecided.append(observation)
        }
        let cause = self.causes.record(observation)
        self.judge(observation, cause, log)
    }

    /// Judges what can be decided. What fired comes before an error, and everything else in its order.
    mutating func judgeUndecided(at moment: Instant?, _ log: (any RunLog)?) {
        while self.undecided.isReady(at: moment) {
            for fired in self.undecided.takeFired() { _ = self.causes.record(fired) }
            let (observation, isKnown) = self.undecided.removeFirst()
            self.judge(observation, isKnown ? nil : self.causes.record(observation), log)
        }
    }

    private mutating func judge(
        _ observation: consuming Observation, _ cause: Cause?, _ log: (any RunLog)?
    ) {
        if let log {
            if observation.at >= self.to {
                self.cut(log, open: self.open(at: self.to))
                self.begin(at: observation.at)
            }
            log.log(observation, cause: cause)
        }
        self.observations += 1
        if observation.side == .control { self.note(observation) }
        self.invariants?.record(observation)
        self.coverage?.record(observation)
        self.regions.record(observation)
        self.rollout?.record(observation)
        self.occasions.record(observation)
        self.samples.record(observation)
        self.schedule?.record(observation, group: self.collector.fleet.group(of: observation.device))
        self.collector.record(observation, cause: cause)
        self.scans.record(observation, self.collector.measured.latest)
        if self.judges(observation.device) {
            self.judged?.collector.record(observation, cause: cause)
            self.judged?.ledger.record(copy observation)
        }
        self.timeline.record(observation, cause: cause)
        if let group = self.timelineOfGroup?.group,
            self.collector.fleet.group(of: observation.device) == group
        {
            self.timelineOfGroup?.timeline.record(observation, cause: cause)
        }
        self.errors.record(observation, cause: cause)
        if case .phone(.captured) = observation.what {
            self.capturedAt = max(self.capturedAt, observation.at)
        }
        if case .phone(.lostFromStorage) = observation.what {
            self.lost.add(observation.scan, of: observation.device)
            self.losses.record(copy observation)
        }
        self.ledger.record(consume observation)
        self.follow(log)
    }

    private mutating func follow(_ log: (any RunLog)?) {
        for phone in self.ledger.takeViolators() { log?.follow(phone) }
        for phone in self.invariants?.takeViolators() ?? [] { log?.follow(phone) }
    }

    private mutating func note(_ observation: borrowing Observation) {
        guard case .control(let action) = observation.what, action.isByOperator,
            self.controls.count < ControlRecord.recordsMax
        else { return }
        self.controls.append(ControlRecord(at: observation.at, action: action, faults: self.faults))
    }

    /// Receives the measurements of one interval of a past run.
    package mutating func receive(interval table: MetricTable, from moment: Instant) {
        self.timeline.receive(interval: table, from: moment)
    }

    /// The run was interrupted at this moment: what it leaves undone is held against nobody.
    package mutating func interrupted(at moment: Instant) {
        self.isInterrupted = true
        self.cutShort(at: moment)
    }

    private mutating func cutShort(at moment: Instant) {
        self.ledger.interrupted(at: moment)
        self.judged?.ledger.interrupted(at: moment)
        self.invariants?.interrupted(at: moment)
    }

    /// The backend's process died, and had told everything up to this moment.
    package mutating func lostBackend(after moment: Instant) {
        self.hasLostBackend = true
        self.ledger.lostBackend(after: moment)
        self.judged?.ledger.lostBackend(after: moment)
    }

    /// Returns why the run should end now, the first time that it should. It is asked again and again; most of the times
    /// it costs nothing.
    package mutating func ending(at moment: Instant) -> RunEnding? {
        guard self.endedBy == nil, self.watch.isDue(at: moment) else { return nil }
        let table = self.table
        self.endedBy = self.watch.look(at: moment, table: table, results: self.results(table))
        // What it leaves undone is its own doing.
        if self.endedBy != nil { self.cutShort(at: moment) }
        return self.endedBy
    }

    /// Adds captures to the schedule, in the order of their moments and behind all others: those of a stage of the load that was
    /// decided on.
    package mutating func plan(_ captures: [CaptureSchedule.Capture]) { self.schedule?.extend(captures) }

    /// Returns what the load is from the end of its present stage on, once for each stage: nil until it is time for that. It is asked
    /// again and again. `counts`: what the load generator has done so far.
    package mutating func capacityOrder(
        at now: Instant, _ counts: GeneratorCounts, into log: some RunLog
    ) -> CapacityOrder? {
        guard let moment = self.capacity?.due(at: now) else { return nil }
        if self.to <= moment {
            self.cut(log, open: self.open(at: self.to))
            self.begin(at: moment)
        }
        let open = (self.judged?.collector ?? self.collector).openOperations(at: moment)
        return self.capacity?.decide(open: open, counts)
    }

    /// The moment at which `capacityOrder` has the next decision; nil if there is none to come.
    package var capacityOrderDue: Instant? { self.capacity?.nextDue }

    // MARK: Queries

    /// The metrics of the run so far.
    package var table: MetricTable {
        var table = self.past.table
        table.add(self.collector.measured.table)
        self.ledger.record(into: &table)
        return table
    }

    /// The end of the measurements that are already in the files.
    package var measuredUntil: Instant { self.from }

    /// Returns the results of the objectives so far. `table`: the table of the whole run.
    package func results(_ table: MetricTable) -> [SLOResult] {
        guard let judged = self.judged else { return self.objectives.results(whole: table) }
        var whole = judged.past
        whole.add(judged.collector.measured.table)
        judged.ledger.record(into: &whole)
        whole.cannotKnow(whatIsUnknownTo: table)
        return self.objectives.results(whole: whole)
    }

    /// What the judge of a shard hands over beside its result. Complete when the run is finished.
    package var evidence: ShardEvidence {
        ShardEvidence(
            endedAt: self.endedAt, heardAt: self.collector.heardAt, fleet: self.invariants?.evidence,
            coverage: self.coverage?.numbers ?? [],
            regions: self.regions.summary, skipped: self.skipped, waiting: self.waiting,
            targetJobs: self.ledger.targetJobOwners)
    }

    // MARK: The end

    /// A simulated timer is never late. Nor does a computation take time there.
    private static func forgetTimes(of head: RunHead, _ metrics: inout MetricTable) {
        metrics.cannotKnow(.latency(.generatorLateness))
        if head.groups.contains(where: { $0.journey == .textEnrichment }) {
            metrics.cannotKnow(.latency(.reconcileTime))
        }
    }

    /// The end of the run. Call it once, after the last observation.
    package mutating func finish(
        _ facts: RunFacts, of head: RunHead, into log: some RunLog
    ) -> RunResult {
        self.judgeUndecided(at: nil, log)
        self.close(facts, log)
        var metrics = self.table
        self.harnessError = self.contradiction(in: metrics, made: facts.observationsMade)
        if head.world == .virtual { Self.forgetTimes(of: head, &metrics) }
        let failure = facts.failure ?? self.harnessError.map { RunFailure(.internalError, $0) }
        let isWhole = self.endedBy == nil && failure == nil
        var result = self.result(of: head, length: facts.length, metrics: metrics)
        result.slos = self.results(metrics).map {
            self.isInterrupted ? $0.unjudged : self.endedBy?.result(instead: $0) ?? $0
        }
        let capacity = self.capacity?.result
        result.capacity = capacity?.summary
        if let capacity, !self.isInterrupted {
            result.slos = result.slos.map { capacity.result(instead: $0) }
        }
        result.failure = failure?.text
        result.endedEarly = self.endedBy?.text
        if isWhole, !self.isInterrupted { result.unreached = self.coverage?.unreached ?? [] }
        result.resources = facts.resources
        result.streamsOpen = facts.streamsOpen
        result.slow = SlowTime(of: self.scans.rows, limit: result.scanTimeLimit)
        if isWhole { result.drained = min(facts.drain, max(.zero, facts.length - (self.capturedAt - .zero))) }
        result.heldBack = facts.skipped.heldBack
        result.heldTime = facts.skipped.heldTime
        result.remarks = self.remarks(facts, result.controls, capacity?.complaint, log)
        // A generator that was late has measured itself, whatever the steps say.
        if !result.isTrustworthy, result.capacity?.ending == .found {
            result.capacity?.ending = .machineLimit
        }
        self.skipped = facts.skipped
        self.endedAt = facts.endedAt
        self.waiting = Array(facts.waiting.prefix(ShardEvidence.waitingMax))
        result.take(self.timeline.errors)
        result.judge(failures: ExitReasons([failure?.kind].compactMap { $0 }))
        return result
    }

    private func remarks(
        _ facts: RunFacts, _ controls: [ControlRecord], _ capacity: Remark?, _ log: some RunLog
    ) -> [Remark] {
        var remarks: [Remark] = controls.isEmpty ? [] : [.load(.controlled)]
        remarks += facts.remarks
        remarks += facts.arrivals?.remarks(facts.skipped, HoldReason(controls)) ?? []
        remarks += log.remarks
        remarks += [self.regions.summary.remark, capacity].compactMap { $0 }
        return remarks
    }

    /// The result of the run so far, with the metrics that are given, without objectives.
    package func result(of head: RunHead, length: Interval, metrics: MetricTable) -> RunResult {
        let totals = self.ledger.totalsByGroup
        var result = RunResult(
            head, length: length, totals: self.ledger.totals,
            groups: head.groups.indices.map { $0 < totals.count ? totals[$0] : LedgerTotals() },
            verdicts: self.occasions.applied(to: self.ledger.verdicts + (self.invariants?.verdicts ?? [])),
            tables: self.past.whole, metrics: metrics)
        for index in result.groups.indices where index < totals.count {
            result.groups[index].verdicts = self.occasions.applied(
                to: self.ledger.verdicts(ofGroup: index) + (self.invariants?.verdicts(ofGroup: index) ?? []),
                ofGroup: index)
            result.groups[index].tables = self.past[MetricGroup(index: index)]
            result.groups[index].errors = self.errors[index]
        }
        result.hasBackendView = head.hasBackendView && !self.hasLostBackend
        result.controls = self.controls
        result.rollout = self.rollout?.summary
        result.isInterrupted = self.isInterrupted
        result.expect(self.expectations)
        return result
    }

    private mutating func close(_ facts: RunFacts, _ log: some RunLog) {
        self.ledger.finish(waitingOnDisk: facts.waiting, at: facts.endedAt)
        let open = self.open(at: min(facts.endedAt, self.collector.heardAt))
        self.collector.finish()
        if let leftOut = self.judged?.leftOut {
            self.judged?.ledger.finish(
                waitingOnDisk: facts.waiting.filter { !leftOut.contains($0.device) }, at: facts.endedAt)
            self.judged?.collector.finish()
        }
        self.cut(log, open: open)
        // What comes behind the end of the phones is no time of a scan.
        self.scans.finish(at: min(facts.endedAt, .zero + facts.length))
        self.objectives.finish(at: facts.endedAt)
        var driver = MetricSet()
        if let lateness = facts.lateness { driver.add(lateness, to: .generatorLateness) }
        if let times = facts.reconcileTimes { driver.add(times, to: .reconcileTime) }
        facts.arrivals?.record(into: &driver)
        var own = MetricTable(groups: self.past.table.groups)
        own.add(driver, in: .none)
        log.log(own, from: .zero, length: facts.endedAt - .zero)
        self.sums.add(own)
        self.past.table.add(own)
        self.judged?.past.add(own)
        if let remains = facts.remains { self.invariants?.finish(remains) }
        self.follow(log)
    }

    // MARK: Intervals

    /// The interval of a moment: a second of the run's time, unless an objective begins or ends to count within it.
    private mutating func begin(at moment: Instant) {
        let start = Instant(nanoseconds: max(0, moment.nanoseconds) / self.length * self.length)
        self.from = max(start, self.to, self.objectives.boundary(notAfter: moment) ?? .zero)
        let end = start + Interval(nanoseconds: self.length)
        self.to = min(end, self.objectives.boundary(after: self.from) ?? end)
    }

    /// The operations that are open, where an objective requests them.
    private func open(at moment: Instant) -> (table: MetricTable, at: Instant)? {
        guard self.objectives.countsOpen else { return nil }
        return ((self.judged?.collector ?? self.collector).unfinished(at: moment), moment)
    }

    private mutating func cut(_ log: some RunLog, open: (table: MetricTable, at: Instant)?) {
        let (from, length) = (self.from, self.to - self.from)
        var counted = (events: 0, pings: 0)
        var objectives = self.objectives
        var capacity = self.capacity.take()
        var sums = self.sums
        self.sums = TotalsCrossCheck()
        let judged = self.judged?.collector.drain().table
        if let judged { self.judged?.past.add(judged) }
        self.collector.settle(into: &self.past) { interval in
            objectives.add(judged ?? interval.table, from: from, open: open)
            capacity?.add(judged ?? interval.table, from: from)
            log.log(interval.table, from: from, length: length, open: open)
            sums.add(interval.table)
            counted = RunTimeline.counts(interval.table)
        }
        self.objectives = objectives
        self.capacity = capacity
        self.sums = sums
        self.timeline.counted(counted, from: from)
        self.intervals += 1
        guard let most = self.intervalsOfALength, self.intervals >= most else { return }
        self.intervals = 0
        self.length *= 2
    }
}

extension RunTimeline {
    /// Receives the measurements of one interval.
    package mutating func receive(interval table: MetricTable, from moment: Instant) {
        self.counted(Self.counts(table), from: moment)
    }

    fileprivate static func counts(_ table: MetricTable) -> (events: Int, pings: Int) {
        func count(_ metric: CountMetric) -> Int {
            guard case .measured(let count) = table.count(metric, of: .fleet) else { return 0 }
            return Int(count)
        }
        return (count(.sseEvents), count(.ssePings))
    }

    fileprivate mutating func counted(_ counts: (events: Int, pings: Int), from moment: Instant) {
        guard counts.events > 0 || counts.pings > 0 else { return }
        self.counted(events: counts.events, pings: counts.pings, from: moment)
    }
}
