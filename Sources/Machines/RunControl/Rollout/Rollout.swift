package import Observations
package import SimBase
package import Talaria

/// An event for a rollout. An observation may come late; its own time counts.
package enum RolloutEvent: Sendable {
    /// The phones have started.
    case began
    case observed(Observation)
    case woke
}

/// What a rollout wants. The driver carries it out.
package enum RolloutEffect: Hashable, Sendable {
    /// All phones have this flag from now on.
    case set(RolloutFlag)
    /// What the log of the run says.
    case observe(ControlObservation)
}

/// A rollout: stages with a growing share of phones on the new arm, until a trigger holds. After a rollback there is no further
/// stage.
package struct Rollout: Sendable {
    private enum Phase {
        /// Leaves to `staged`.
        case waiting
        /// The stage with this index lasts until then; of the last one there is no end. Leaves to `breached`, or stays.
        case staged(Int, until: Instant)
        /// A trigger holds, and the phones do not know it yet. Leaves to `over`.
        case breached(RolloutMeasure, value: Odds, limit: Odds)
        /// Rolled back.
        case over
    }

    private let plan: RolloutPlan
    private var phase = Phase.waiting
    private var journal: ArmJournal
    private var watches: [TriggerWatch]
    /// Reused.
    private var events: [ArmEvent] = []

    package init(_ plan: RolloutPlan) {
        precondition(!plan.stages.isEmpty, "a rollout has a stage")
        self.plan = plan
        self.journal = ArmJournal(patience: plan.patience)
        self.watches = plan.triggers.map { TriggerWatch($0, plan) }
    }

    /// The time of the next `woke`; nil if it has nothing to do by itself.
    package private(set) var nextWake: Instant?

    package mutating func handle(
        _ event: RolloutEvent, at now: Instant, into effects: inout [RolloutEffect]
    ) {
        switch (event, self.phase) {
        case (.began, .waiting): self.enter(0, at: now, into: &effects)
        case (.observed(let observation), .staged): self.record(observation, at: now)
        case (.woke, .staged(let index, let until)):
            if until <= now { self.enter(index + 1, at: now, into: &effects) }
        case (.woke, .breached(let measure, let value, let limit)):
            self.phase = .over
            self.nextWake = nil
            effects.append(.set(self.plan.flag(share: .never)))
            effects.append(.observe(.rolledBack(measure, value: value, limit: limit)))
        case (.began, .staged), (.began, .breached), (.began, .over), (.observed, .waiting),
            (.observed, .breached), (.observed, .over), (.woke, .waiting), (.woke, .over):
            break
        }
    }

    private mutating func enter(_ index: Int, at now: Instant, into effects: inout [RolloutEffect]) {
        let stage = self.plan.stages[index]
        let isLast = index == self.plan.stages.count - 1
        let until = isLast ? .distantFuture : now + self.plan.length(stage)
        self.phase = .staged(index, until: until)
        self.nextWake = isLast ? nil : until
        effects.append(.set(self.plan.flag(share: stage.share)))
        effects.append(.observe(.rolloutStage(index + 1, share: stage.share)))
    }

    private mutating func record(_ observation: Observation, at now: Instant) {
        guard !self.watches.isEmpty else { return }
        self.journal.record(observation, into: &self.events)
        for event in self.events {
            for index in self.watches.indices { self.watches[index].record(event) }
        }
        guard !self.events.isEmpty else { return }
        self.events.removeAll(keepingCapacity: true)
        for index in self.watches.indices {
            guard let breach = self.watches[index].breach(at: observation.at) else { continue }
            let measure = self.watches[index].trigger.measure
            self.phase = .breached(measure, value: breach.value, limit: breach.limit)
            self.nextWake = now
            return
        }
    }
}
