package import Ledger
package import Metrics
import SimBase

/// Why a run could not judge an objective or an invariant. The raw values are in `summary.json`.
package enum OpenReason: String, CaseIterable, Hashable, Sendable {
    /// Only the simulated backend can know it.
    case target
    /// A simulated timer is never late.
    case simulatedClock = "simulated-clock"
    /// The run was interrupted, or an objective ended it.
    case cutShort = "cut-short"
    case phonesMissing = "phones-missing"
    /// It is about the whole fleet, and this is a shard of it.
    case shard
    /// The backend process died, or the program failed.
    case failure
    /// It is about parts of the run, and the merged runs share no zero.
    case noCommonZero = "no-common-zero"
}

/// What a run had to judge, and the outcome (Docs/design.md section 11).
package struct Obligations: Hashable, Sendable {
    package struct Tally: Hashable, Sendable {
        /// Held, and had an occasion not to.
        package var held = 0
        /// Held, because the run came to no time at which they could have been broken.
        package var withoutOccasion = 0
        package var broken = 0
        /// Broken, or failed, as the scenario expects; objectives that only warn.
        package var excused = 0
        package var open: [OpenReason: Int] = [:]

        package var openCount: Int { self.open.values.reduce(0, +) }
    }

    package private(set) var objectives = Tally()
    package private(set) var invariants = Tally()
    /// Whether the run passed.
    package let isPassed: Bool

    package init(_ result: RunResult) {
        self.isPassed = result.exit == .success
        for slo in result.slos {
            switch slo.passed {
            case true?: self.objectives.held += 1
            case false? where result.expectations.covers(slo) || slo.slo.severity == .warn:
                self.objectives.excused += 1
            case false?: self.objectives.broken += 1
            case nil: self.objectives.open[result.whyOpen(slo), default: 0] += 1
            }
        }
        for verdict in result.verdicts {
            switch verdict.standing {
            case .held where verdict.hadOccasion: self.invariants.held += 1
            case .held: self.invariants.withoutOccasion += 1
            case .broken: self.invariants.broken += 1
            case .brokenAsExpected: self.invariants.excused += 1
            case .notAvailable: self.invariants.open[result.whyOpen(verdict), default: 0] += 1
            }
        }
    }
}

extension RunResult {
    /// Why the run could not judge an objective that has no verdict.
    package func whyOpen(_ result: SLOResult) -> OpenReason {
        if self.isPartial { return .phonesMissing }
        if self.isInterrupted || self.endedEarly != nil { return .cutShort }
        let metric = result.slo.selector.metric
        if self.world == .virtual, case .latency(let latency) = metric, latency.isOfDriver {
            return .simulatedClock
        }
        if metric.needsBackend, !self.hasBackendView { return self.failure == nil ? .target : .failure }
        return result.slo.condition.span == .wholeRun ? .failure : .noCommonZero
    }

    /// Why the run could not judge an invariant that is not available.
    package func whyOpen(_ verdict: Verdict) -> OpenReason {
        if self.isShard, FleetEvidence.invariants.contains(verdict.invariant) { return .shard }
        if self.isPartial { return .phonesMissing }
        if self.isInterrupted || self.endedEarly != nil { return .cutShort }
        return self.failure == nil ? .target : .failure
    }
}
