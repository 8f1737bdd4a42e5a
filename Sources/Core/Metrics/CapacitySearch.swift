package import SimBase

/// Why a search for the capacity of a backend ended.
package enum CapacityEnding: String, CaseIterable, Hashable, Sendable {
    /// A rate held, and a faster one did not.
    case found
    /// Every step held, up to the fastest.
    case notReached = "not-reached"
    /// The first step failed already.
    case firstStepFailed = "first-step-failed"
    /// The load generator was late: what it can make is the limit.
    case machineLimit = "machine-limit"
    /// A step never lasted long enough for what took longest in it.
    case unsettled
}

/// How the load generator fell behind during a step.
package enum GeneratorLag: Hashable, Sendable {
    case capturesLate(Int, of: Int)
    case capturesHeldBack(Int)
    case timersLate(perMille: Int)
}

/// What a step showed in the part of it that is judged.
package struct StepEvidence: Hashable, Sendable {
    /// The objectives that had data, each judged by what ended in the part.
    package var objectives: [SLOResult]
    /// `scan.time` of what ended in it; nil if nothing did.
    package var p50: Interval?
    package var p95: Interval?
    /// The scans that were completed in it.
    package var completed: Int64
    /// The scans that are open at its end.
    package var unfinished: Int64
    /// Nil if the generator kept up.
    package var lag: GeneratorLag?

    package init(
        objectives: [SLOResult], p50: Interval?, p95: Interval?, completed: Int64, unfinished: Int64,
        lag: GeneratorLag?
    ) {
        self.objectives = objectives
        self.p50 = p50
        self.p95 = p95
        self.completed = completed
        self.unfinished = unfinished
        self.lag = lag
    }

    /// The objectives that failed. What only warns decides nothing.
    package var failed: [SLOResult] { self.objectives.filter(\.isBreach) }
}

/// A step that is over.
package struct CapacityStep: Hashable, Sendable {
    package var rate: StepRate
    package var from: Instant
    package var to: Instant
    /// The part that was judged.
    package var judged: Range<Instant>
    package var evidence: StepEvidence
    /// Nil if the step says nothing: the generator was late, or it never lasted long enough.
    package var held: Bool?
    /// Whether it narrows the answer of earlier steps.
    package var isRefinement: Bool

    package init(
        rate: StepRate, from: Instant, to: Instant, judged: Range<Instant>, evidence: StepEvidence,
        held: Bool?, isRefinement: Bool
    ) {
        self.rate = rate
        self.from = from
        self.to = to
        self.judged = judged
        self.evidence = evidence
        self.held = held
        self.isRefinement = isRefinement
    }
}

/// What the load is from the end of the present stage on.
package enum CapacityDecision: Hashable, Sendable {
    /// The same rate for some more time.
    case hold(Interval)
    /// The next step up.
    case next(StepRate)
    /// Nothing, until the backend has recovered.
    case recover(Interval)
    /// A rate between the last that held and the first that did not.
    case bisect(StepRate)
    case stop(CapacityEnding)
}

/// Finds the fastest rate at which the objectives hold, step by step. No clock and no randomness: it is called at `decidesAt` with
/// what the step showed.
package struct CapacitySearch: Sendable {
    /// The time between a decision and the end of the stage that it ends, so that the next begins in time.
    package static let lead = Interval.seconds(1)
    /// A step that is judged lasts at least so many times p95 of `scan.time`.
    package static let settledTimes: Int64 = 3
    /// The maximum length of a step that fails, in lengths of a step: above its capacity a backend gets slower with the step.
    package static let failingLengthsMax: Int64 = 3
    /// The maximum length of any step, and of a recovery, in lengths of a step.
    package static let lengthsMax: Int64 = 10
    /// A backend has recovered when it completes less than this share of what the next step brings.
    package static let recoveredPerMille: Int64 = 10

    private enum Phase: Hashable, Sendable {
        /// Steps go up.
        case climbing
        /// The load has been off since a time, and remains off until nothing is open; the rate is the next to
        /// be tried.
        case recovering(since: Instant, next: StepRate)
        /// Steps are between the last rate that held and the first that did not.
        case refining
        case over(CapacityEnding)
    }

    package let steps: RateSteps
    private var phase = Phase.climbing
    private var rate: StepRate
    private var from = Instant.zero
    private var until: Instant
    private var refinementsLeft: Int
    package private(set) var done: [CapacityStep] = []

    /// The first step begins at the start of the run.
    package init(_ steps: RateSteps) {
        self.steps = steps
        self.rate = steps.from
        self.until = .zero + steps.every
        self.refinementsLeft = steps.refine
    }

    // MARK: Events

    /// The time for a decision has come.
    package mutating func decide(_ evidence: StepEvidence) -> CapacityDecision {
        let decision: CapacityDecision
        switch self.phase {
        case .over(let ending): return .stop(ending)
        case .recovering(let since, let next): decision = self.recovered(since: since, next, evidence)
        case .climbing, .refining: decision = self.judged(evidence)
        }
        self.carryOut(decision)
        return decision
    }

    private func recovered(since: Instant, _ next: StepRate, _ evidence: StepEvidence) -> CapacityDecision {
        if evidence.lag != nil { return .stop(.machineLimit) }
        if evidence.unfinished == 0 || self.isQuiet(evidence.completed, beside: next) { return .bisect(next) }
        let isLong = self.until - since >= self.steps.every * Self.lengthsMax
        return isLong ? .stop(.found) : .recover(self.recoveryLook)
    }

    /// Whether so little was completed since the last look that it does not count in a step of this rate. Phones that wait for
    /// something else than the backend, such as their next launch, do not keep a search going.
    private func isQuiet(_ completed: Int64, beside rate: StepRate) -> Bool {
        let window = Int128((self.window.upperBound - self.window.lowerBound).nanoseconds)
        let limit = Int128(rate.perHour) * window * Int128(Self.recoveredPerMille)
        return Int128(completed) * 1_000 * Int128(Interval.hours(1).nanoseconds) < limit
    }

    /// The time between two looks at a backend that recovers.
    private var recoveryLook: Interval { max(.seconds(5), (self.steps.every / 3).wholeSecondsUp) }

    private mutating func judged(_ evidence: StepEvidence) -> CapacityDecision {
        if evidence.lag != nil {
            self.note(evidence, held: nil)
            return .stop(.machineLimit)
        }
        let isFailing = !evidence.failed.isEmpty
        if let missing = self.missing(evidence, isFailing: isFailing) { return .hold(missing) }
        guard isFailing || self.isSettled(evidence) else {
            self.note(evidence, held: nil)
            return self.done.contains { $0.held == false } ? .stop(.found) : .stop(.unsettled)
        }
        self.note(evidence, held: !isFailing)
        return isFailing ? self.failed() : self.held()
    }

    /// The time by which the step is too short; nil if it is long enough, or as long as it may become.
    private func missing(_ evidence: StepEvidence, isFailing: Bool) -> Interval? {
        guard !self.isSettled(evidence) else { return nil }
        let length = self.until - self.from
        let most = self.steps.every * (isFailing ? Self.failingLengthsMax : Self.lengthsMax)
        let wanted = evidence.p95.map { ($0 * Self.settledTimes).wholeSecondsUp } ?? length + self.steps.every
        let missing = min(max(wanted, length + .seconds(1)), most) - length
        return missing > .zero ? missing : nil
    }

    private func isSettled(_ evidence: StepEvidence) -> Bool {
        evidence.p95.map { $0 * Self.settledTimes <= self.until - self.from } ?? false
    }

    private func held() -> CapacityDecision {
        switch self.phase {
        case .climbing: self.steps.next(after: self.rate).map { .next($0) } ?? .stop(.notReached)
        case .refining: self.middle.map { .bisect($0) } ?? .stop(.found)
        case .recovering, .over: preconditionFailure("a step is judged only where there is one")
        }
    }

    private func failed() -> CapacityDecision {
        guard self.lastHeld != nil else { return .stop(.firstStepFailed) }
        return self.middle == nil ? .stop(.found) : .recover(self.recoveryLook)
    }

    private mutating func note(_ evidence: StepEvidence, held: Bool?) {
        self.done.append(
            CapacityStep(
                rate: self.rate, from: self.from, to: self.until, judged: self.window, evidence: evidence,
                held: held, isRefinement: self.phase == .refining))
    }

    private mutating func carryOut(_ decision: CapacityDecision) {
        switch decision {
        case .hold(let time): self.until = self.until + time
        case .next(let rate): self.begin(rate)
        case .bisect(let rate):
            self.refinementsLeft -= 1
            self.phase = .refining
            self.begin(rate)
        case .recover(let time):
            if case .recovering = self.phase {
            } else if let next = self.middle {
                self.phase = .recovering(since: self.until, next: next)
            }
            self.from = self.until
            self.until = self.until + time
        case .stop(let ending): self.phase = .over(ending)
        }
    }

    private mutating func begin(_ rate: StepRate) {
        self.rate = rate
        self.from = self.until
        self.until = self.from + self.steps.every
    }

    // MARK: Queries

    /// The time at which `decide` is called, with everything that happened before; nil when the search is
    /// over.
    package var decidesAt: Instant? {
        if case .over = self.phase { nil } else { self.until - Self.lead }
    }

    /// The part of the present step that is judged: its first third is not. While a backend recovers, the time since the last look.
    package var window: Range<Instant> {
        let end = self.until - Self.lead
        if case .recovering = self.phase { return self.from..<end }
        return self.from + ((self.until - self.from) / 3).wholeSecondsUp..<end
    }

    /// The beginning of the present step.
    package var begun: Instant { self.from }

    /// The earliest time that may be judged.
    package var judgesFrom: Instant { self.window.lowerBound }

    package var ending: CapacityEnding? {
        if case .over(let ending) = self.phase { ending } else { nil }
    }

    /// The rate now; nil while the backend recovers, or when the search is over.
    package var rateNow: StepRate? {
        switch self.phase {
        case .climbing, .refining: self.rate
        case .recovering, .over: nil
        }
    }

    private var lastHeld: StepRate? { self.done.lastHeld?.rate }

    private var middle: StepRate? {
        guard self.refinementsLeft > 0, let low = self.lastHeld, let high = self.done.firstFailed?.rate else {
            return nil
        }
        return StepRate.middle(low, high)
    }
}

extension [CapacityStep] {
    /// The fastest step that held, of those that are slower than every one that failed.
    package var lastHeld: CapacityStep? {
        let limit = self.firstFailed?.rate
        return self.filter { step in step.held == true && limit.map { step.rate < $0 } ?? true }
            .max { $0.rate < $1.rate }
    }

    /// The slowest step that failed.
    package var firstFailed: CapacityStep? {
        self.filter { $0.held == false }.min { $0.rate < $1.rate }
    }
}
