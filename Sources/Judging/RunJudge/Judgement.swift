package import Ledger
package import Metrics

/// Everything that decides how a run ended.
package struct Judgement: Sendable {
    package var verdicts: [Verdict]
    package var groups: [GroupVerdicts] = []
    package var totals: LedgerTotals
    package var slos: [SLOResult]
    /// The failures of the program itself: a crash of the backend process, an output that could not be written.
    package var failures: ExitReasons
    /// Whether the load was the requested one. Not if the generator was saturated, arrivals came late, or load was held back.
    package var isLoadComplete: Bool
    package var isInterrupted: Bool
    /// The failures that the scenario expects.
    package var expectations: Expectations
    /// Whether phones of the fleet are missing: what they completed, or broke as expected, is not known.
    package var isPartial = false
    /// Whether an objective ended the run before its time.
    package var isEndedByObjective = false
    /// Whether a situation was not reached that the scenario requires.
    package var lacksSituations = false

    package init(
        verdicts: [Verdict], totals: LedgerTotals, slos: [SLOResult], failures: ExitReasons = [],
        isLoadComplete: Bool = true, isInterrupted: Bool = false, expectations: Expectations = .none
    ) {
        self.verdicts = verdicts
        self.totals = totals
        self.slos = slos
        self.failures = failures
        self.isLoadComplete = isLoadComplete
        self.isInterrupted = isInterrupted
        self.expectations = expectations
    }

    /// All that speaks against the run. The exit code is that of the gravest (Docs/design.md section 11.10).
    package var reasons: ExitReasons {
        var reasons = self.failures
        // A ledger whose sum does not hold is wrong itself: nothing that it says counts.
        if !self.totals.scans.isConserved { reasons.insert(.internalError) }
        let isBroken = self.expectations.applied(to: self.verdicts, self.groups).fleet.contains {
            $0.standing == .broken
        }
        let conditions: [(ExitReason, Bool)] = [
            (.invariantBroken, isBroken), (.heldUnexpectedly, self.isOtherThanExpected),
            (.interrupted, self.isInterrupted),
        ]
        reasons.add(ExitReasons(conditions.filter(\.1).map(\.0)))
        // What was cut short owes nothing else: an abort is one reason, not a row of consequences.
        if self.isEndedByObjective, !self.isInterrupted { reasons.insert(.endedByObjective) }
        if !self.isCutShort { reasons.add(self.reasonsOfWholeRun) }
        return reasons
    }

    private var isCutShort: Bool { self.isInterrupted || self.isEndedByObjective }

    /// What is held only against a run that came to its end.
    private var reasonsOfWholeRun: ExitReasons {
        let breaches = self.breaches
        let isOpen = self.slos.contains { $0.isOwed && !self.expectations.covers($0) }
        let conditions: [(ExitReason, Bool)] = [
            (.objectiveFailed, breaches.contains { $0.slo.condition.threshold.measure != .time }),
            (.latencyObjectiveFailed, breaches.contains { $0.slo.condition.threshold.measure == .time }),
            (.nothingCompleted, self.hasCompletedNothing),
            (.noBook, self.hasNoBook),
            (.nothingCaptured, self.totals.scans.begun == 0),
            (.loadNotMade, !self.isLoadComplete),
            (.phonesMissing, self.isPartial),
            (.objectiveNotJudged, isOpen),
            (.situationNotReached, self.lacksSituations),
        ]
        return ExitReasons(conditions.filter(\.1).map(\.0))
    }

    /// Objectives that failed, and that the scenario does not expect to fail.
    private var breaches: [SLOResult] {
        self.slos.filter { $0.isBreach && !self.expectations.covers($0) }
    }

    /// A run without a single result is not a pass (Docs/design.md section 11.2).
    private var hasCompletedNothing: Bool {
        !self.isPartial && self.totals.scans.isNothingCompleted && !self.expectations.includesNothingCompleted
    }

    /// Whether a run in which scans were completed brought not one book, or not one row, and no objective says how many are enough;
    /// or whether its backend has found none of the books that batches asked for.
    private var hasNoBook: Bool {
        func isStated(_ metrics: CountMetric...) -> Bool {
            self.slos.contains { result in metrics.contains { result.slo.selector.metric == .count($0) } }
        }
        let isBookless =
            self.totals.books.isNothingAnswered
            || self.totals.books.isNoneReceived && !isStated(.booksReceived)
            || self.totals.rows.isNothingTaken && !isStated(.rowsCreated, .rowsUpdated, .rowsFailed)
        return isBookless && !self.isPartial && !self.expectations.includesNothingCompleted
    }

    /// Whether the failures differ from those that the scenario expects. A run that was cut short is not judged.
    private var isOtherThanExpected: Bool {
        guard !self.expectations.isEmpty, !self.failures.contains(.internalError), !self.isCutShort else {
            return false
        }
        let outcomes =
            self.isPartial
            ? []
            : self.expectations.outcomes(
                verdicts: self.verdicts, groups: self.groups, slos: self.slos, totals: self.totals)
        return outcomes.contains { !$0.isBroken } || !self.breaches.isEmpty || self.hasCompletedNothing
            || self.hasNoBook
    }
}
