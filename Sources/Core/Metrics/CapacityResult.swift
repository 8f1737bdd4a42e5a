package import SimBase

/// What a search for the capacity of a backend found, with all that was judged.
package struct CapacityResult: Hashable, Sendable {
    package var steps: RateSteps
    /// The steps that are over, in their order.
    package var done: [CapacityStep]
    /// Nil if the run was cut short before the search was over.
    package var ending: CapacityEnding?

    package init(steps: RateSteps, done: [CapacityStep], ending: CapacityEnding?) {
        self.steps = steps
        self.done = done
        self.ending = ending
    }

    /// The result of an objective of the run: one that decides steps is judged by the last step that held, or
    /// by the first if none did. An intended overload is not a failure of the run.
    package func result(instead found: SLOResult) -> SLOResult {
        guard found.slo.decidesStep, let step = self.done.lastHeld ?? self.done.firstFailed else {
            return found
        }
        guard let result = step.evidence.objectives.first(where: { $0.slo == found.slo }) else {
            return found.recorded(
                actual: "no data at \(step.rate)", passed: found.slo.passesWithoutData ?? true)
        }
        return found.recorded(actual: "\(result.actual) at \(step.rate)", passed: result.passed)
    }

    package var summary: CapacitySummary {
        CapacitySummary(
            steps: self.steps, rows: self.done.map { CapacitySummary.Row($0) }, ending: self.ending)
    }
}

/// What reports say of a search for the capacity of a backend: all of it is in `summary.json`.
package struct CapacitySummary: Hashable, Sendable {
    /// A step.
    package struct Row: Hashable, Sendable {
        package var rate: StepRate
        package var from: Instant
        package var to: Instant
        /// The beginning and the end of the part that was judged.
        package var judgedFrom: Instant
        package var judgedTo: Instant
        /// `scan.time`, in whole microseconds; nil if nothing was completed.
        package var p50: Interval?
        package var p95: Interval?
        package var completed: Int64
        package var unfinished: Int64
        /// Nil if the step was not judged.
        package var held: Bool?
        package var isRefinement: Bool
        /// The objectives that failed, each as a sentence, or why the step was not judged.
        package var reasons: [String]

        package init(
            rate: StepRate, from: Instant, to: Instant, judgedFrom: Instant, judgedTo: Instant,
            p50: Interval?,
            p95: Interval?, completed: Int64, unfinished: Int64, held: Bool?, isRefinement: Bool,
            reasons: [String]
        ) {
            self.rate = rate
            self.from = from
            self.to = to
            self.judgedFrom = judgedFrom
            self.judgedTo = judgedTo
            self.p50 = p50
            self.p95 = p95
            self.completed = completed
            self.unfinished = unfinished
            self.held = held
            self.isRefinement = isRefinement
            self.reasons = reasons
        }

        init(_ step: CapacityStep) {
            let evidence = step.evidence
            self.init(
                rate: step.rate, from: step.from, to: step.to, judgedFrom: step.judged.lowerBound,
                judgedTo: step.judged.upperBound, p50: evidence.p50?.wholeMicroseconds,
                p95: evidence.p95?.wholeMicroseconds, completed: evidence.completed,
                unfinished: evidence.unfinished, held: step.held, isRefinement: step.isRefinement,
                reasons: evidence.lag.map { [$0.text] }
                    ?? evidence.failed.map { $0.sentence(observed: $0.actual) })
        }

        /// Scans that were completed in a second, as text.
        package var throughput: String {
            let time = max(1, (self.judgedTo - self.judgedFrom).wholeMilliseconds)
            return DecimalText.text(self.completed * 10_000 / time, decimals: 1, shown: 0...1) + "/s"
        }
    }

    package var steps: RateSteps
    /// In their order.
    package var rows: [Row]
    package var ending: CapacityEnding?

    package init(steps: RateSteps, rows: [Row], ending: CapacityEnding?) {
        self.steps = steps
        self.rows = rows
        self.ending = ending
    }

    /// The slowest step that did not hold; nil if every step held.
    package var failed: Row? { self.rows.filter { $0.held == false }.min { $0.rate < $1.rate } }

    /// The fastest step that held, of those that are slower than every one that did not; nil if there is none.
    package var held: Row? {
        let limit = self.failed?.rate
        return self.rows.filter { row in row.held == true && limit.map { row.rate < $0 } ?? true }
            .max { $0.rate < $1.rate }
    }

    /// `40/s held, 50/s did not: scan.time p(95) was 7.2s, limit < 5s`.
    package var text: String {
        switch self.ending {
        case .found:
            return [self.held.map { "\($0.rate) held" }, self.failure].compactMap(\.self).joined(
                separator: ", ")
        case .notReached: return "not reached: held at \(self.steps.to), the fastest step"
        case .firstStepFailed: return "below the first step: \(self.failure ?? "no step held")"
        case .machineLimit:
            return "limit of this machine, not of the backend\(self.lastReason); \(self.atLeast)"
        case .unsettled:
            let rate = self.rows.last.map { " at \($0.rate)" } ?? ""
            return "not known: the step\(rate) was too short for its scans; \(self.atLeast)"
        case nil: return "not known: the run ended before it was found; \(self.atLeast)"
        }
    }

    private var failure: String? {
        self.failed.map { row in
            let more = row.reasons.count > 1 ? ", and \(row.reasons.count - 1) more" : ""
            return "\(row.rate) did not: \(row.reasons.first ?? "an objective failed")\(more)"
        }
    }

    private var lastReason: String {
        guard let last = self.rows.last, last.held == nil, let reason = last.reasons.first else { return "" }
        return ": \(reason) at \(last.rate)"
    }

    private var atLeast: String { self.held.map { "\($0.rate) held" } ?? "no step held" }
}

extension Interval {
    /// Rounded down to whole microseconds, as reports keep it.
    fileprivate var wholeMicroseconds: Interval { .microseconds(self.nanoseconds / 1_000) }
}

extension GeneratorLag {
    /// Why the load was not the requested one.
    package var text: String {
        switch self {
        case .capturesLate(let late, let planned): "\(late) of \(planned) captures were late"
        case .capturesHeldBack(let held): "\(held) captures were held back"
        case .timersLate(let share):
            "\(DecimalText.text(Int64(share), decimals: 1, shown: 0...1)) % of the timers were late"
        }
    }
}
