package import Ledger
package import Metrics
package import SimBase

/// Why a run came to no good end, through no fault of what it tests.
package struct RunFailure: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        case internalError
        case cannotWrite
    }

    package var kind: Kind
    /// One sentence.
    package var text: String

    package init(_ kind: Kind, _ text: String) {
        self.kind = kind
        self.text = text
    }
}

/// What only the driver of a run knows at its end.
package struct RunFacts: Sendable {
    package var endedAt: Instant
    /// The time from the start to the end of the last phone.
    package var length: Interval
    /// Scans that fresh phones find in the storages.
    package var waiting: [WaitingRecord]
    /// All of them must have been judged.
    package var observationsMade: Int
    /// Nil where the fleet gave no account of its end.
    package var arrivals: ArrivalAccount?
    /// How late the timers of the phones were; nil where that is not measured.
    package var lateness: HDRHistogram?
    package var failure: RunFailure?
    /// What is left in a simulated world that came to rest; nil where nothing follows from it.
    package var remains: FinalWorldState?
    package var streamsOpen: GaugeSeries?
    /// How long unfinished scans got once the arrivals were over.
    package var drain: Interval
    package var resources: Resources
    package var generator = GeneratorHealth(complaints: [])
    package var notes: [String] = []
    package var warnings: [String] = []

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
