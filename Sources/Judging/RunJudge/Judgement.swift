package import Ledger
package import Metrics

/// The exit of a run (Docs/design.md section 4). Usage and input errors have codes of the command line.
package enum RunExit: Int32, CaseIterable, Hashable, Sendable {
    case success = 0
    /// An error of our own, or the backend process died.
    case internalError = 70
    case cannotWrite = 74
    /// Something was lost, duplicated or reordered.
    case invariantBroken = 97
    /// The measurement cannot be trusted.
    case untrusted = 98
    case sloFailed = 99
    case interrupted = 105

    /// The failure of the program itself; nil for every other exit.
    var failure: RunFailure.Kind? {
        switch self {
        case .internalError: .internalError
        case .cannotWrite: .cannotWrite
        case .success, .invariantBroken, .untrusted, .sloFailed, .interrupted: nil
        }
    }

    /// The exit if the results cannot be written.
    package var withoutOutput: RunExit {
        switch self {
        case .internalError, .invariantBroken: self
        case .success, .cannotWrite, .untrusted, .sloFailed, .interrupted: .cannotWrite
        }
    }
}

/// Everything that decides how a run ended.
package struct Judgement: Sendable {
    package var verdicts: [Verdict]
    package var groups: [GroupVerdicts] = []
    package var totals: LedgerTotals
    package var slos: [SLOResult]
    /// Whether the program itself failed: a crash of the backend process, a failed observation pipe.
    package var hasInternalError: Bool
    package var hasOutputError: Bool
    /// The generator was saturated, arrivals came late, or a search reached nothing.
    package var isUntrusted: Bool
    package var isInterrupted: Bool
    /// The failures that the scenario expects.
    package var expectations: Expectations
    /// Whether an objective ended the run before its time.
    package var isEndedEarly = false
    /// Whether phones of the fleet are missing: nobody knows what they completed, or broke as expected.
    package var isPartial = false

    package init(
        verdicts: [Verdict], totals: LedgerTotals, slos: [SLOResult], hasInternalError: Bool,
        hasOutputError: Bool, isUntrusted: Bool, isInterrupted: Bool,
        expectations: Expectations = .none
    ) {
        self.verdicts = verdicts
        self.totals = totals
        self.slos = slos
        self.hasInternalError = hasInternalError
        self.hasOutputError = hasOutputError
        self.isUntrusted = isUntrusted
        self.isInterrupted = isInterrupted
        self.expectations = expectations
    }

    /// The first that applies, in the order of Docs/design.md section 11.10: 97, 70, 74, 105, 98, 99. A
    /// failed objective on a count or a rate goes before 98: a late generator spoils latencies, not counts.
    package var exit: RunExit {
        let isBroken = self.expectations.applied(to: self.verdicts, self.groups).fleet.contains {
            $0.standing == .broken
        }
        if isBroken || self.isOtherThanExpected { return .invariantBroken }
        // A ledger whose sum does not hold is wrong itself: nothing that it says counts.
        if self.hasInternalError || !self.totals.scans.isConserved { return .internalError }
        if self.hasOutputError { return .cannotWrite }
        if self.isInterrupted { return .interrupted }
        let breaches = self.breaches
        let hasCountBreach = breaches.contains { $0.slo.condition.threshold.measure != .time }
        if hasCountBreach || self.hasCompletedNothing { return .sloFailed }
        if self.isUntrusted || self.isPartial || self.totals.scans.begun == 0 { return .untrusted }
        return breaches.isEmpty && !self.isEndedEarly ? .success : .sloFailed
    }

    /// Objectives that failed, and that the scenario does not expect to fail.
    private var breaches: [SLOResult] {
        self.slos.filter { $0.isBreach && !self.expectations.covers($0) }
    }

    /// A run without a single result is no pass (Docs/design.md section 11.2), and neither is one whose backend has found none
    /// of the books that it was asked for.
    private var hasCompletedNothing: Bool {
        !self.isPartial && (self.totals.scans.isNothingCompleted || self.totals.books.isNothingAnswered)
            && !self.expectations.includesNothingCompleted
    }

    /// Whether the failures differ from those that the scenario expects. An interrupted run is not judged.
    private var isOtherThanExpected: Bool {
        guard !self.expectations.isEmpty, !self.hasInternalError, !self.isInterrupted else { return false }
        let outcomes =
            self.isPartial
            ? []
            : self.expectations.outcomes(
                verdicts: self.verdicts, groups: self.groups, slos: self.slos, totals: self.totals)
        return outcomes.contains { !$0.isBroken } || !self.breaches.isEmpty || self.hasCompletedNothing
    }
}
