package import Ledger
package import Metrics
package import SimBase

/// The reason why a run ended early, independent of what it tests.
package struct RunFailure: Hashable, Sendable {
    /// `.internalError` or `.cannotWrite`.
    package var kind: ExitReason
    /// The text in one sentence.
    package var text: String

    package init(_ kind: ExitReason, _ text: String) {
        self.kind = kind
        self.text = text
    }
}

/// The facts that only the driver of a run knows at its end.
package struct RunFacts: Sendable {
    package var endedAt: Instant
    /// The time from the start to the end of the last phone.
    package var length: Interval
    /// Scans that fresh phones find in the storages.
    package var waiting: [WaitingRecord]
    /// All of them must have been judged.
    package var observationsMade: Int
    /// Nil if the fleet gave no account of its end.
    package var arrivals: ArrivalAccount?
    /// What of the arrivals and of the end was left out.
    package var skipped = SkippedWork()
    /// The timer lag of the phones; nil if it is not measured.
    package var lateness: HDRHistogram?
    /// How long each phone computed to merge what it has read with what was found; nil if it is not measured.
    package var reconcileTimes: HDRHistogram?
    package var failure: RunFailure?
    /// The state of a simulated world at rest; nil if it is not judged.
    package var remains: FinalWorldState?
    package var streamsOpen: GaugeSeries?
    /// The most time that unfinished scans have after the last arrival.
    package var drain: Interval
    package var resources: Resources
    package var remarks: [Remark] = []

    package init(
        endedAt: Instant, length: Interval, waiting: [WaitingRecord], observationsMade: Int, drain: Interval,
        resources: Resources
    ) {
        self.endedAt = endedAt
        self.length = length
        self.waiting = waiting
        self.observationsMade = observationsMade
        self.drain = drain
        self.resources = resources
    }
}
