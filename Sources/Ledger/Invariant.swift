package import SimBase

/// When an invariant is judged.
package enum InvariantKind: String, CaseIterable, Hashable, Sendable {
    /// After each observation.
    case always
    /// Within a bounded time.
    case eventually
    /// At the end of the run.
    case finally
}

/// What must hold whatever breaks (SIMULATION.md section 6). The raw values are the ids in reports.
package enum Invariant: String, CaseIterable, Hashable, Sendable {
    case scanCustody = "scan.custody"
    case scanRefusedForCause = "scan.refused-for-cause"
    case bookNeverLost = "book.never-lost"
    case bookNeverDoubleAdded = "book.never-double-added"
    case bookFaithful = "book.faithful"
    case streamIDMonotone = "stream.id-monotone"
    case streamNoGap = "stream.no-gap"
    case streamTerminalOnce = "stream.terminal-once"
    case jobCleaned = "job.cleaned"
    case jobNotCleanedEarly = "job.not-cleaned-early"
    case limitHonoured = "limit.honoured"
    case slotsBounded = "slots.bounded"
    case serverAgrees = "server.agrees"

    /// From 0, in the order of `allCases`.
    var ordinal: Int {
        switch self {
        case .scanCustody: 0
        case .scanRefusedForCause: 1
        case .bookNeverLost: 2
        case .bookNeverDoubleAdded: 3
        case .bookFaithful: 4
        case .streamIDMonotone: 5
        case .streamNoGap: 6
        case .streamTerminalOnce: 7
        case .jobCleaned: 8
        case .jobNotCleanedEarly: 9
        case .limitHonoured: 10
        case .slotsBounded: 11
        case .serverAgrees: 12
        }
    }

    package var kind: InvariantKind {
        switch self {
        case .scanCustody, .scanRefusedForCause, .bookNeverDoubleAdded, .bookFaithful, .streamIDMonotone,
            .streamNoGap, .streamTerminalOnce, .jobNotCleanedEarly, .limitHonoured, .slotsBounded:
            .always
        case .bookNeverLost, .jobCleaned, .serverAgrees:
            .finally
        }
    }

    package var statement: String {
        switch self {
        case .scanCustody:
            "every captured scan is completed, refused, waiting in a durable record or gone by a named cause, and only one of them"
        case .scanRefusedForCause:
            "a scan is refused only after an answer or a terminal error, never for a transport failure alone"
        case .bookNeverLost:
            "every book that the backend found for a scan is in the phone's library"
        case .bookNeverDoubleAdded:
            "no book enters a library twice"
        case .bookFaithful:
            "what enters a library is what stands on the shelf"
        case .streamIDMonotone:
            "applied events move forward in the server's log, and a reconnect asks for what follows the last applied"
        case .streamNoGap:
            "a resumed stream skips nothing, or the results are fetched instead"
        case .streamTerminalOnce:
            "a job has one terminal event, and nothing is applied after it"
        case .jobCleaned:
            "a completed job is deleted, unless a fault, a 401, a kill or a suspension prevents it"
        case .jobNotCleanedEarly:
            "no job is deleted before its terminal event was applied and its books are durable"
        case .limitHonoured:
            "after a 429 nothing is sent to that resource before the time that it named"
        case .slotsBounded:
            "a phone has at most its number of streams, and none at the end"
        case .serverAgrees:
            "phones and backend tell the same story"
        }
    }

    /// Whether it can be judged only with the simulated backend's own view. The others are judged against any target,
    /// with what the phones see.
    package var needsBackend: Bool {
        switch self {
        case .bookNeverLost, .bookFaithful, .streamNoGap, .serverAgrees: true
        case .scanCustody, .scanRefusedForCause, .bookNeverDoubleAdded, .streamIDMonotone,
            .streamTerminalOnce, .jobCleaned, .jobNotCleanedEarly, .limitHonoured, .slotsBounded:
            false
        }
    }
}

/// One case of an invariant that did not hold.
package struct Violation: Hashable, Sendable {
    package var invariant: Invariant
    package var device: DeviceNumber
    /// `ScanNumber.none` where it is about no one scan.
    package var scan: ScanNumber
    package var at: Instant
    package var text: String
    /// The phone's profile is known to break this one.
    package var isExpected: Bool

    package init(
        invariant: Invariant, device: DeviceNumber, scan: ScanNumber, at: Instant, text: String,
        isExpected: Bool
    ) {
        self.invariant = invariant
        self.device = device
        self.scan = scan
        self.at = at
        self.text = text
        self.isExpected = isExpected
    }
}

/// What the run says about one invariant.
package struct Verdict: Hashable, Sendable {
    package enum Standing: String, Hashable, Sendable {
        case held, broken
        /// Every violation is one that the phone's profile is known for.
        case brokenAsExpected = "broken-as-expected"
        case notAvailable = "not-available"
    }

    package var invariant: Invariant
    package var standing: Standing
    /// All of them, the expected ones included.
    package var violations: Int
    package var expected: Int
    /// The first few, those that count before those that were expected.
    package var examples: [Violation]

    package init(
        invariant: Invariant, standing: Standing, violations: Int, expected: Int, examples: [Violation]
    ) {
        self.invariant = invariant
        self.standing = standing
        self.violations = violations
        self.expected = expected
        self.examples = examples
    }
}
