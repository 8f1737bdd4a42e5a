package import Metrics

/// What the process exits with (DESIGN.md section 4). The codes of usage and input errors are the command line's.
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
}

/// Everything that decides how a run ended.
package struct Judgement: Sendable {
    package var verdicts: [Verdict]
    package var totals: LedgerTotals
    package var slos: [SLOResult]
    /// What broke on our side: a crash of the backend process, an observation pipe that failed.
    package var hasInternalError: Bool
    package var hasOutputError: Bool
    /// The generator was saturated, arrivals came late, or a search reached nothing.
    package var isUntrusted: Bool
    package var isInterrupted: Bool

    package init(
        verdicts: [Verdict], totals: LedgerTotals, slos: [SLOResult], hasInternalError: Bool,
        hasOutputError: Bool, isUntrusted: Bool, isInterrupted: Bool
    ) {
        self.verdicts = verdicts
        self.totals = totals
        self.slos = slos
        self.hasInternalError = hasInternalError
        self.hasOutputError = hasOutputError
        self.isUntrusted = isUntrusted
        self.isInterrupted = isInterrupted
    }

    /// The first that applies, in the order of DESIGN.md 11.10: 97, 70, 74, 105, 98, 99. A failed objective on a count or
    /// a rate goes before 98: a late generator spoils latencies, not counts.
    package var exit: RunExit {
        if self.verdicts.contains(where: { $0.standing == .broken }) { return .invariantBroken }
        // A ledger whose sum does not hold is wrong itself: nothing that it says counts.
        if self.hasInternalError || !self.totals.scans.isConserved { return .internalError }
        if self.hasOutputError { return .cannotWrite }
        if self.isInterrupted { return .interrupted }
        let breaches = self.slos.filter(\.isBreach)
        if breaches.contains(where: { $0.slo.condition.threshold.measure != .time }) { return .sloFailed }
        if self.isUntrusted { return .untrusted }
        return breaches.isEmpty ? .success : .sloFailed
    }

    package var isPassed: Bool { self.exit == .success }
}
