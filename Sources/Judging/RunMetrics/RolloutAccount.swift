import Metrics
package import Observations
package import SimBase
package import Talaria

/// What a judge must know of a rollout.
package struct RolloutSettings: Hashable, Sendable {
    package var arms: RolloutArms
    /// The time from a capture after which a person complains.
    package var patience: Interval

    package init(arms: RolloutArms, patience: Interval) {
        self.arms = arms
        self.patience = patience
    }
}

/// Counts what happens on the arms of a rollout, and in its stages. It does not know what the rollout decides, only what was
/// observed.
package struct RolloutAccount: Sendable {
    private static let minute = Interval.minutes(1)

    private struct Period {
        var stage: Int?
        var share: Odds
        var from: Instant
        var arms: [ArmAccount]
    }

    /// Follows a minute after another until one of them is free of what led to the rollback.
    private struct Recovery {
        var rollback: RolloutSummary.Rollback
        /// The minute that is counted, from the rollback.
        var minute: Int64 = 0
        var counts = FailureRate()

        /// The minutes that have ended, and the first of them that was good.
        mutating func pass(to now: Instant) {
            while self.rollback.recovery == nil {
                let end = RolloutAccount.minute * (self.minute + 1)
                guard self.rollback.at + end <= now else { return }
                if self.isGood { self.rollback.recovery = end }
                self.minute += 1
                self.counts = FailureRate()
            }
        }

        private var isGood: Bool {
            guard self.counts.total > 0 else { return false }
            let share = self.counts.failed * 1_000_000
            let limit = Int64(self.rollback.limit.perMillion) * self.counts.total
            return self.rollback.measure == .connects ? share >= limit : share <= limit
        }
    }

    private struct Look {
        var arm: StreamTransport
        var share: Odds
    }

    private let arms: [StreamTransport]
    private var journal: ArmJournal
    private var whole: [ArmAccount]
    private var periods: [Period] = []
    private var recovery: Recovery?
    private var looks: [DeviceNumber: Look] = [:]
    private var changes = 0
    private var changed: Set<DeviceNumber> = []
    /// Reused.
    private var events: [ArmEvent] = []

    package init(_ settings: RolloutSettings) {
        self.arms = settings.arms.both
        self.journal = ArmJournal(patience: settings.patience)
        self.whole = self.arms.map { ArmAccount($0) }
    }

    package mutating func record(_ observation: Observation) {
        if case .control(let control) = observation.what { self.record(control, at: observation.at) }
        self.journal.record(observation, into: &self.events)
        for event in self.events { self.record(event) }
        self.events.removeAll(keepingCapacity: true)
    }

    private mutating func record(_ control: ControlObservation, at now: Instant) {
        switch control {
        case .rolloutStage(let number, let share): self.begin(number, share, at: now)
        case .rolledBack(let measure, let value, let limit):
            self.begin(nil, .never, at: now)
            self.recovery = Recovery(
                rollback: .init(at: now, measure: measure, value: value, limit: limit, recovery: nil))
        case .stopped, .paused, .resumed, .phones, .fault, .offline: break
        }
    }

    private mutating func begin(_ stage: Int?, _ share: Odds, at now: Instant) {
        self.periods.append(
            Period(stage: stage, share: share, from: now, arms: self.arms.map { ArmAccount($0) }))
    }

    private mutating func record(_ event: ArmEvent) {
        guard let arm = self.arms.firstIndex(of: event.arm) else { return }
        self.whole[arm].record(event)
        if !self.periods.isEmpty { self.periods[self.periods.count - 1].arms[arm].record(event) }
        if case .taken(let share) = event.what { self.look(event, share) }
        guard var recovery = self.recovery.take() else { return }
        recovery.pass(to: event.at)
        if let isCounted = event.isCounted(in: recovery.rollback.measure) {
            recovery.counts.record(failed: isCounted)
        }
        self.recovery = recovery
    }

    private mutating func look(_ event: ArmEvent, _ share: Odds) {
        let before = self.looks.updateValue(Look(arm: event.arm, share: share), forKey: event.device)
        guard let before, before.share == share, before.arm != event.arm else { return }
        self.changes += 1
        self.changed.insert(event.device)
    }

    package var summary: RolloutSummary {
        RolloutSummary(
            arms: self.whole.map(\.summary),
            periods: self.periods.map {
                .init(stage: $0.stage, share: $0.share, from: $0.from, arms: $0.arms.map(\.summary))
            }, rollback: self.recovery?.rollback, changes: self.changes, changedPhones: self.changed.count,
            harmedWithoutRollback: nil)
    }
}

/// Counts what happens on one arm.
private struct ArmAccount: Sendable {
    private var counts: RolloutSummary.Arm
    private var phones: Set<DeviceNumber> = []
    private var complainers: Set<DeviceNumber> = []
    private var scans: Set<UInt64> = []
    private var times = HDRHistogram()

    init(_ transport: StreamTransport) { self.counts = RolloutSummary.Arm(transport) }

    mutating func record(_ event: ArmEvent) {
        switch event.what {
        case .taken:
            self.phones.insert(event.device)
            self.scans.insert(UInt64(event.device.raw) << 32 | UInt64(event.scan.raw))
        case .connected(let succeeded): self.counts.connects.record(failed: !succeeded)
        case .jobEnded(let failure):
            self.counts.jobs.record(failed: failure != nil)
            if let failure { self.count(failure) }
        case .completed(let took):
            self.counts.completed += 1
            self.times.record(took.nanoseconds)
        case .decided(let complains):
            self.counts.complaints.record(failed: complains)
            if complains { self.complainers.insert(event.device) }
        }
    }

    private mutating func count(_ cause: String) {
        if let index = self.counts.failures.firstIndex(where: { $0.cause == cause }) {
            self.counts.failures[index].count += 1
        } else {
            self.counts.failures.append(.init(cause: cause, count: 1))
        }
    }

    var summary: RolloutSummary.Arm {
        var arm = self.counts
        arm.phones = self.phones.count
        arm.scans = self.scans.count
        arm.people = self.complainers.count
        arm.failures.sort { ($1.count, $0.cause) < ($0.count, $1.cause) }
        arm.p50 = self.times.value(at: .p50).map { Interval(nanoseconds: $0) }
        arm.p95 = self.times.value(at: .p95).map { Interval(nanoseconds: $0) }
        return arm
    }
}
