package import Metrics
import SimBase

/// The search for the capacity of a backend, with what its steps have shown.
struct CapacityAccount: Sendable {
    /// What was observed before a decision has been reported by then.
    static let reportingTime = Interval.milliseconds(500)

    private var search: CapacitySearch
    private var samples: StepSamples
    /// At the beginning of the present step.
    private var counts = GeneratorCounts()

    init(_ steps: RateSteps, objectives: [SLO], groups: [String]) {
        self.search = CapacitySearch(steps)
        self.samples = StepSamples(objectives, groups: groups)
    }

    /// The time whose decision is due now; nil if none is.
    func due(at now: Instant) -> Instant? {
        self.search.decidesAt.flatMap { $0 + Self.reportingTime <= now ? $0 : nil }
    }

    /// The time at which the next decision is due; nil if there is none.
    var nextDue: Instant? { self.search.decidesAt.map { $0 + Self.reportingTime } }

    /// Adds the measurements of a second.
    mutating func add(_ table: MetricTable, from moment: Instant) {
        if self.search.ending == nil { self.samples.add(table, from: moment) }
    }

    /// Decides what follows the present stage, and from when on. `open`: the operations that are open now.
    mutating func decide(open: [OpenOperation], _ counts: GeneratorCounts) -> CapacityOrder {
        let evidence = self.samples.evidence(
            of: self.search.window, begun: self.search.begun, open: open, lag: counts.lag(since: self.counts))
        let rate = self.search.rateNow
        let decision = self.search.decide(evidence)
        switch decision {
        case .hold: break
        case .next, .recover, .bisect, .stop:
            self.counts = counts
            self.samples.forget(before: self.search.judgesFrom)
        }
        return CapacityOrder(
            decision: decision, rate: rate, steps: self.search.steps, done: self.search.done.last)
    }

    var result: CapacityResult {
        CapacityResult(steps: self.search.steps, done: self.search.done, ending: self.search.ending)
    }
}

/// A decision on the load, to be carried out by whoever makes it.
package struct CapacityOrder: Hashable, Sendable {
    package let decision: CapacityDecision
    /// The rate before it; nil while a backend recovers.
    package let rate: StepRate?
    package let steps: RateSteps
    /// The step that is over with it.
    package let done: CapacityStep?

    /// What the operator reads of it; nil if it is not worth a line.
    package var text: String? {
        let step = self.done.map { step in
            let verdict = step.held.map { $0 ? "held" : "failed" } ?? "not judged"
            let time = step.evidence.p95.map {
                ", scan.time p(95) \(DecimalText.time($0.nanoseconds, digits: 1))"
            }
            return "\(step.rate) \(verdict)\(time ?? "")"
        }
        switch self.decision {
        case .hold(let time):
            return self.rate.map { "\($0) needs \(time.wholeMilliseconds / 1_000) s more to be judged" }
        case .next(let rate): return "\(step ?? ""); now \(rate)"
        case .recover:
            return self.rate == nil ? nil : "\(step ?? ""); now a pause until the backend has recovered"
        case .bisect(let rate): return self.rate == nil ? "now \(rate)" : "\(step ?? ""); now \(rate)"
        case .stop: return self.rate == nil ? nil : "\(step ?? ""); the search is over"
        }
    }
}

extension CapacityResult {
    /// Why the steps leave the capacity open; nil if they do not.
    var complaint: Remark? {
        guard let last = self.done.last else { return nil }
        switch self.ending {
        case .machineLimit: return last.evidence.lag.map { .load(.capacityIsOfMachine(last.rate, $0)) }
        case .unsettled: return .load(.stepTooShort(last.rate, last.to - last.from))
        case .found, .notReached, .firstStepFailed, nil: return nil
        }
    }
}
