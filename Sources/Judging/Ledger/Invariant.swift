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

/// What must hold whatever breaks (Docs/simulation.md section 6). The raw values are the ids in reports.
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
    // Judged in the virtual world, by `Sentinel`.
    case scanOrder = "scan.order"
    case jobCleanedOnce = "job.cleaned-once"
    case jobEnded = "job.cleaned-or-expired"
    case jobOrphansBounded = "job.orphans-bounded"
    case jobSilentAfterCleanup = "job.silent-after-cleanup"
    case streamDeadDetected = "stream.dead-detected"
    case streamParseRobust = "stream.parse-robust"
    case authNoStaleUse = "auth.no-stale-use"
    case retryBudget = "retry.budget"
    case deviceNotStuck = "device.not-stuck"
    case timersClean = "timers.clean"
    case timeSane = "time.sane"
    case requestOneFate = "request.one-fate"
    case linkConserves = "link.conserves"
    case memoryBounded = "memory.bounded"
    case authNoLeak = "auth.no-leak"
    case herdBounded = "herd.bounded"
    case othersUnharmed = "others-unharmed"
    case requestWellFormed = "request.well-formed"

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
        case .scanOrder: 13
        case .jobCleanedOnce: 14
        case .jobEnded: 15
        case .jobOrphansBounded: 16
        case .jobSilentAfterCleanup: 17
        case .streamDeadDetected: 18
        case .streamParseRobust: 19
        case .authNoStaleUse: 20
        case .retryBudget: 21
        case .deviceNotStuck: 22
        case .timersClean: 23
        case .timeSane: 24
        case .requestOneFate: 25
        case .linkConserves: 26
        case .memoryBounded: 27
        case .authNoLeak: 28
        case .herdBounded: 29
        case .othersUnharmed: 30
        case .requestWellFormed: 31
        }
    }

    package var kind: InvariantKind {
        switch self {
        case .scanCustody, .scanRefusedForCause, .bookNeverDoubleAdded, .bookFaithful, .streamIDMonotone,
            .streamNoGap, .streamTerminalOnce, .jobNotCleanedEarly, .limitHonoured, .slotsBounded,
            .scanOrder, .jobCleanedOnce, .jobOrphansBounded, .jobSilentAfterCleanup, .streamParseRobust,
            .authNoStaleUse, .retryBudget, .timeSane, .requestOneFate, .linkConserves,
            .memoryBounded, .authNoLeak, .herdBounded, .requestWellFormed:
            .always
        case .streamDeadDetected, .deviceNotStuck, .othersUnharmed: .eventually
        case .bookNeverLost, .jobCleaned, .serverAgrees, .jobEnded, .timersClean:
            .finally
        }
    }

    /// Those that are judged wherever a run goes.
    package static let everywhere = Array(Self.allCases.prefix { $0 != .scanOrder })
    /// Those that only the virtual world can judge.
    static let simulated = Array(Self.allCases.drop { $0 != .scanOrder })

    /// Whether it speaks of an end in peace: trouble over, scans settled, jobs expired.
    var needsSettling: Bool {
        switch self {
        case .jobEnded, .deviceNotStuck, .timersClean, .othersUnharmed: true
        default: false
        }
    }

    package var statement: String {
        switch self {
        case .scanCustody:
            "every captured scan is completed, refused, waiting in a durable record or gone by a named cause, only one of them, and its record is at most one write behind"
        case .scanRefusedForCause:
            "a scan is refused only for an answer or an error event that was seen and is worth no other try"
        case .bookNeverLost:
            "every book that the backend found for a scan is in the phone's library"
        case .bookNeverDoubleAdded:
            "no book enters a library twice"
        case .bookFaithful:
            "what enters a library is what stands on the shelf"
        case .streamIDMonotone:
            "applied events move forward in the server's log, each once, and a reconnect asks for what follows the last applied"
        case .streamNoGap:
            "a resumed stream skips nothing, or the results are fetched instead"
        case .streamTerminalOnce:
            "a job has one terminal event, nothing is applied after it, and no results are asked for before it"
        case .jobCleaned:
            "a job is deleted once its scan is completed, refused or done with it, as soon as no accident prevents that"
        case .jobNotCleanedEarly:
            "no job is deleted before its terminal event was applied and its books are durable"
        case .limitHonoured:
            "after a 429 nothing is sent to that resource before the time that it named"
        case .slotsBounded:
            "a phone has at most its number of streams, and none at the end"
        case .serverAgrees:
            "phones and backend tell the same story"
        case .scanOrder:
            "scans that wait for an upload are uploaded oldest first"
        case .jobCleanedOnce:
            "a job is deleted once: no DELETE is sent beside another of its job, nor after a final answer to one"
        case .jobEnded:
            "every job that was accepted is deleted, or expires"
        case .jobOrphansBounded:
            "a scan has no more jobs than it has uploads, and asks for a stream once its record names the job"
        case .jobSilentAfterCleanup:
            "after its DELETE nothing is asked of a job"
        case .streamDeadDetected:
            "a silent stream is given up when its idle timeout is over, and no other"
        case .streamParseRobust:
            "what no fault has touched can be read, wherever its bytes are split"
        case .authNoStaleUse:
            "a token that was answered by 401 is not used again"
        case .retryBudget:
            "every attempt after a failure waits for its backoff, drawn below a ceiling that doubles, and for what the server asked"
        case .deviceNotStuck:
            "once all trouble is over every phone settles what it has"
        case .timersClean:
            "no phone that is done wants to be woken"
        case .timeSane:
            "nothing is seen before what brought it about, nor sooner than its link lets it pass"
        case .requestOneFate:
            "each request is answered, fails, or goes with its app or its path, and only once; it times out when no byte of it has moved"
        case .linkConserves:
            "bytes sent are delivered, in flight, or destroyed by a cause that has a name"
        case .memoryBounded:
            "no queue is longer than its limit, and a capture without room is refused at once"
        case .authNoLeak:
            "a token appears only on the requests of its job"
        case .herdBounded:
            "after a limit or an outage no phone asks for more at once than it has slots, and the fleet no faster than jitter lets it"
        case .othersUnharmed:
            "phones that stay broken keep no healthy one from settling"
        case .requestWellFormed:
            "each request has the form that the contract names for it, under the phone's own identity"
        }
    }

    /// Whether it can be judged only with the simulated backend's own view. The others are judged against any target,
    /// with what the phones see.
    package var needsBackend: Bool {
        switch self {
        case .bookNeverLost, .bookFaithful, .streamNoGap, .serverAgrees: true
        case .scanOrder, .jobCleanedOnce, .jobEnded, .jobOrphansBounded, .jobSilentAfterCleanup,
            .streamDeadDetected, .streamParseRobust, .authNoStaleUse, .retryBudget, .deviceNotStuck,
            .timersClean, .timeSane, .requestOneFate, .linkConserves,
            .memoryBounded, .authNoLeak, .herdBounded, .othersUnharmed, .requestWellFormed:
            true
        case .scanCustody, .scanRefusedForCause, .bookNeverDoubleAdded, .streamIDMonotone,
            .streamTerminalOnce, .jobCleaned, .jobNotCleanedEarly, .limitHonoured, .slotsBounded:
            false
        }
    }
}

/// One case of an invariant that did not hold.
package struct Violation: Hashable, Sendable {
    package var invariant: Invariant
    /// Nil where it is about no one phone.
    package var device: DeviceNumber?
    /// `ScanNumber.none` where it is about no one scan.
    package var scan: ScanNumber
    package var at: Instant
    package var text: String
    /// The phone's profile is known to break this one.
    package var isExpected: Bool

    package init(
        invariant: Invariant, device: DeviceNumber?, scan: ScanNumber, at: Instant, text: String,
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
