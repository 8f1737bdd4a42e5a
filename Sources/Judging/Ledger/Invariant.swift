package import Observations
package import SimBase
package import Talaria

/// The time at which an invariant is judged.
package enum InvariantKind: String, CaseIterable, Hashable, Sendable {
    /// Judged after each observation.
    case always
    /// Within a bounded time.
    case eventually
    /// Judged at the end of the run.
    case finally
}

/// A property that must always hold (Docs/simulation.md section 6). The raw values are the ids in reports.
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
    case rowsConserved = "rows.conserved"
    case lookupBilledOnce = "lookup.billed-once"
    case cancelFinal = "cancel.final"
    case bookAnswered = "book.answered"
    // Where somebody reviews the books, by `ReviewAccount`.
    case reviewBookAccounted = "review.book-accounted"
    case reviewEditKept = "review.edit-kept"
    case reviewNoDuplicate = "review.no-duplicate"
    case bookShown = "book.shown"
    case textKeptForCause = "text.kept-for-cause"
    // About a foreign backend, by its trial; `TargetRule` has what they say.
    case targetJobUnique = "target.job-unique"
    case targetJobAddressed = "target.job-addressed"
    case targetResume = "target.resume"
    case targetIDs = "target.ids"
    case targetTerminal = "target.terminal"
    case targetResultsAgree = "target.results-agree"
    case targetAuth = "target.auth"
    case targetWait = "target.wait"
    case targetLimit = "target.limit"
    case targetErrorForm = "target.error-form"
    case targetCleanup = "target.cleanup"
    case targetStatusAgrees = "target.status-agrees"
    case targetStreamsAgree = "target.streams-agree"
    case targetJobKept = "target.job-kept"
    case targetTimes = "target.times"
    case targetText = "target.text"
    case targetSocket = "target.socket"
    // Judged in the virtual world, by `SimulationInvariants`.
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
    case scanSettles = "scan.settles"
    case timersClean = "timers.clean"
    case timeSane = "time.sane"
    case requestOneFate = "request.one-fate"
    case linkConserves = "link.conserves"
    case memoryBounded = "memory.bounded"
    case authNoLeak = "auth.no-leak"
    case herdBounded = "herd.bounded"
    case othersUnharmed = "others-unharmed"
    case requestWellFormed = "request.well-formed"
    case authOneExchange = "auth.one-exchange"

    /// The index, from 0, in the order of `allCases`.
    package var ordinal: Int { self.traits.ordinal }

    package var kind: InvariantKind { self.traits.kind }

    /// The invariants that are judged in every run; with a `--target`, those of them that do not need the backend.
    package static let everywhere = Array(Self.allCases.prefix { $0 != .targetJobUnique })
    /// The invariants that a trial of a target judges.
    package static let ofTarget = Self.allCases.filter { $0.targetRule != nil }
    /// The invariants that only the virtual world can judge.
    static let simulated = Array(Self.allCases.drop { $0 != .scanOrder })

    /// Those that no group of phones breaks: they are about the links of the virtual world.
    package static let ofWholeFleet: [Invariant] = [.linkConserves]

    /// Those that are judged only in a world at rest: faults over, scans settled, jobs expired.
    static let atRest: [Invariant] = [
        .jobEnded, .deviceNotStuck, .scanSettles, .timersClean, .othersUnharmed,
    ]

    /// Whether it is judged only after a settled end.
    package var isAtRest: Bool { Self.atRest.contains(self) }

    package var statement: String {
        switch self {
        case .scanCustody:
            "every captured scan is in exactly one state: completed, refused, waiting in a durable record, or discarded for a recorded cause; its record is at most one write behind; a photo has the regions of the plan"
        case .scanRefusedForCause:
            "a scan is refused only after a response or an error event that does not allow a retry, and is not uploaded again after such an event"
        case .bookNeverLost:
            "every book that the backend found for a scan is in the phone's library, or waits for its review"
        case .bookNeverDoubleAdded:
            "no book enters a library twice"
        case .bookFaithful:
            "a book in a library has the data of the book on the shelf"
        case .streamIDMonotone:
            "events are applied in the order of the server's log, each once, and a reconnect resumes after the last applied event"
        case .streamNoGap:
            "a resumed stream skips no event, or the results are fetched instead"
        case .streamTerminalOnce:
            "a job has one terminal event; no event is applied after it, and no results are requested before it"
        case .jobCleaned:
            "a job is deleted when its scan is completed, is refused or no longer needs it, as soon as no fault prevents it"
        case .jobNotCleanedEarly:
            "no job is deleted before its terminal event is applied and its books are durable"
        case .limitHonoured:
            "after a 429, no request is sent to that resource before the requested time; a status is requested no more often than the profile says"
        case .slotsBounded:
            "a phone never has more open streams than its limit, and none at the end"
        case .serverAgrees:
            "the observations of the phones and of the backend agree"
        case .rowsConserved:
            "each row of an imported file is created, updated, skipped or failed once, or still pending; phone and backend count the same"
        case .lookupBilledOnce:
            "every request of a look-up has the same idempotency key, and a provider is asked once for a key; a repeated request gets the same answer"
        case .cancelFinal:
            "once its user has canceled a scan, no book of it enters the library and nothing is requested for it but DELETEs, and once the backend has canceled its job, it serves no results of it and writes no event but the terminal one; a backend that is not observed has not lost the job before; scans are canceled when the profile says, and not during their uploads"
        case .bookAnswered:
            "what a batch or a look-up asks for is what comes: every book that the backend does not count as not found, and no other"
        case .reviewBookAccounted:
            "every book that came to be reviewed waits, is in the library once, was rejected by its person, or is merged into a named duplicate; a process that ends loses none"
        case .reviewEditKept:
            "a book enters the library with the title and the author that its person wrote, whatever comes later, and otherwise with those that came; a process that ends loses no edit"
        case .reviewNoDuplicate:
            "no book enters a library that has its ISBN, approved alone or with all others"
        case .bookShown:
            "a book that was shown before its job had ended is in the library when the scan is completed"
        case .textKeptForCause:
            "a book that the phone has read is merged with the answer to its look-up; it keeps what was read only when no response can be read or had within the retries, and its photo is uploaded only for a low confidence or where there is no look-up"
        case .targetJobUnique, .targetJobAddressed, .targetResume, .targetIDs, .targetTerminal,
            .targetResultsAgree, .targetAuth, .targetWait, .targetLimit, .targetErrorForm, .targetCleanup,
            .targetStatusAgrees, .targetStreamsAgree, .targetJobKept, .targetTimes, .targetText,
            .targetSocket:
            self.targetRule?.statement ?? ""
        case .scanOrder:
            "waiting scans are uploaded oldest first"
        case .jobCleanedOnce:
            "a job is deleted once: no DELETE is sent while another one for the same job is open, or after a final response to one"
        case .jobEnded:
            "every accepted job is deleted or expires"
        case .jobOrphansBounded:
            "a scan has no more jobs than uploads, and requests a stream only after its record names the job"
        case .jobSilentAfterCleanup:
            "no request for a job is sent after its DELETE"
        case .streamDeadDetected:
            "a stream is given up for silence when its idle timeout has expired, and only then"
        case .streamParseRobust:
            "data that no fault has changed can be parsed, wherever its bytes are split"
        case .authNoStaleUse:
            "a token that was answered with 401 is not used again"
        case .authOneExchange:
            "a token is exchanged for a new one only where a job is followed by WebSocket, and only in the last 30 minutes of its life"
        case .retryBudget:
            "every retry waits for its backoff, drawn below a ceiling that doubles, and for the delay that the server requested"
        case .deviceNotStuck:
            "after all faults have ended, every phone finishes what it has under way"
        case .scanSettles:
            "after all faults have ended, no scan of a phone that is online waits until its app is opened again, unless answers of the server have used up its retries"
        case .timersClean:
            "a phone that has finished has no pending timer"
        case .timeSane:
            "no effect is observed before its cause, or earlier than its link allows"
        case .requestOneFate:
            "each request is answered, fails, or ends with its app or its path, exactly once; it times out only when no byte of it has moved"
        case .linkConserves:
            "every byte that is sent is delivered, in flight, or discarded for a recorded cause"
        case .memoryBounded:
            "no queue exceeds its limit, and a capture without room is refused at once"
        case .authNoLeak:
            "a token appears only in the requests of its job"
        case .herdBounded:
            "after a limit or an outage, no phone sends more requests at once than it has slots, and the fleet sends them no faster than jitter allows"
        case .othersUnharmed:
            "phones that stay offline do not keep other phones from settling"
        case .requestWellFormed:
            "each request has the form that the contract defines, and the identity of its own phone"
        }
    }

    /// Whether it is not available without the simulated backend, that is with a `--target`. Of those of every
    /// run, `bookNeverLost`, `bookFaithful`, `streamNoGap` and `serverAgrees` need the backend's shelf and log
    /// (`PhoneAccount+*.swift`). Those of the virtual world are never judged without it. The others are judged against any
    /// target, with the observations of the phones.
    package var needsBackend: Bool { self.traits.needsBackend }

    /// Whether it is judged with a `--target` after all, by what the summary of a job promises.
    package var isPromised: Bool { self == .bookNeverLost }

    /// Whether it is judged to the end of a run whose backend died: the observations of the phones and their storage are
    /// enough. The others are judged up to the last observation of the backend. `needsBackend` is about runs with a
    /// `--target`, whose gateway still reports the faults that excuse phones; after a death, those are missing, too.
    var survivesBackendDeath: Bool { self.traits.survivesBackendDeath }

    private static let targetPrefix = "target."

    /// The rule that a foreign backend is held to; nil for what is about others.
    package var targetRule: TargetRule? {
        self.rawValue.hasPrefix(Self.targetPrefix)
            ? TargetRule(rawValue: String(self.rawValue.dropFirst(Self.targetPrefix.count))) : nil
    }

    package init(_ rule: TargetRule) {
        guard let invariant = Self(rawValue: Self.targetPrefix + rule.rawValue) else {
            preconditionFailure("a rule without an invariant")
        }
        self = invariant
    }

    private var traits: (ordinal: Int, kind: InvariantKind, needsBackend: Bool, survivesBackendDeath: Bool) {
        switch self {
        case .scanCustody: (0, .always, needsBackend: false, survivesBackendDeath: true)
        case .scanRefusedForCause: (1, .always, needsBackend: false, survivesBackendDeath: false)
        case .bookNeverLost: (2, .finally, needsBackend: true, survivesBackendDeath: false)
        case .bookNeverDoubleAdded: (3, .always, needsBackend: false, survivesBackendDeath: true)
        case .bookFaithful: (4, .always, needsBackend: true, survivesBackendDeath: false)
        case .streamIDMonotone: (5, .always, needsBackend: false, survivesBackendDeath: false)
        case .streamNoGap: (6, .always, needsBackend: true, survivesBackendDeath: false)
        case .streamTerminalOnce: (7, .always, needsBackend: false, survivesBackendDeath: true)
        case .jobCleaned: (8, .finally, needsBackend: false, survivesBackendDeath: false)
        case .jobNotCleanedEarly: (9, .always, needsBackend: false, survivesBackendDeath: true)
        case .limitHonoured: (10, .always, needsBackend: false, survivesBackendDeath: false)
        case .slotsBounded: (11, .always, needsBackend: false, survivesBackendDeath: false)
        case .serverAgrees: (12, .finally, needsBackend: true, survivesBackendDeath: false)
        case .rowsConserved: (13, .always, needsBackend: false, survivesBackendDeath: false)
        case .lookupBilledOnce: (14, .always, needsBackend: false, survivesBackendDeath: false)
        case .cancelFinal: (15, .always, needsBackend: false, survivesBackendDeath: false)
        case .bookAnswered: (16, .always, needsBackend: false, survivesBackendDeath: true)
        case .reviewBookAccounted: (17, .always, needsBackend: false, survivesBackendDeath: true)
        case .reviewEditKept: (18, .always, needsBackend: false, survivesBackendDeath: true)
        case .reviewNoDuplicate: (19, .always, needsBackend: false, survivesBackendDeath: true)
        case .bookShown: (20, .always, needsBackend: false, survivesBackendDeath: true)
        case .textKeptForCause: (21, .always, needsBackend: false, survivesBackendDeath: false)
        case .targetJobUnique: (22, .always, needsBackend: false, survivesBackendDeath: true)
        case .targetJobAddressed: (23, .always, needsBackend: false, survivesBackendDeath: true)
        case .targetResume: (24, .always, needsBackend: false, survivesBackendDeath: true)
        case .targetIDs: (25, .always, needsBackend: false, survivesBackendDeath: true)
        case .targetTerminal: (26, .always, needsBackend: false, survivesBackendDeath: true)
        case .targetResultsAgree: (27, .always, needsBackend: false, survivesBackendDeath: true)
        case .targetAuth: (28, .always, needsBackend: false, survivesBackendDeath: true)
        case .targetWait: (29, .always, needsBackend: false, survivesBackendDeath: true)
        case .targetLimit: (30, .always, needsBackend: false, survivesBackendDeath: true)
        case .targetErrorForm: (31, .always, needsBackend: false, survivesBackendDeath: true)
        case .targetCleanup: (32, .always, needsBackend: false, survivesBackendDeath: true)
        case .targetStatusAgrees: (33, .always, needsBackend: false, survivesBackendDeath: true)
        case .targetStreamsAgree: (34, .always, needsBackend: false, survivesBackendDeath: true)
        case .targetJobKept: (35, .always, needsBackend: false, survivesBackendDeath: true)
        case .targetTimes: (36, .always, needsBackend: false, survivesBackendDeath: true)
        case .targetText: (37, .always, needsBackend: false, survivesBackendDeath: true)
        case .targetSocket: (38, .always, needsBackend: false, survivesBackendDeath: true)
        case .scanOrder: (39, .always, needsBackend: true, survivesBackendDeath: false)
        case .jobCleanedOnce: (40, .always, needsBackend: true, survivesBackendDeath: false)
        case .jobEnded: (41, .finally, needsBackend: true, survivesBackendDeath: false)
        case .jobOrphansBounded: (42, .always, needsBackend: true, survivesBackendDeath: false)
        case .jobSilentAfterCleanup: (43, .always, needsBackend: true, survivesBackendDeath: false)
        case .streamDeadDetected: (44, .eventually, needsBackend: true, survivesBackendDeath: false)
        case .streamParseRobust: (45, .always, needsBackend: true, survivesBackendDeath: false)
        case .authNoStaleUse: (46, .always, needsBackend: true, survivesBackendDeath: false)
        case .retryBudget: (47, .always, needsBackend: true, survivesBackendDeath: false)
        case .deviceNotStuck: (48, .eventually, needsBackend: true, survivesBackendDeath: false)
        case .scanSettles: (49, .eventually, needsBackend: true, survivesBackendDeath: false)
        case .timersClean: (50, .finally, needsBackend: true, survivesBackendDeath: false)
        case .timeSane: (51, .always, needsBackend: true, survivesBackendDeath: false)
        case .requestOneFate: (52, .always, needsBackend: true, survivesBackendDeath: false)
        case .linkConserves: (53, .always, needsBackend: true, survivesBackendDeath: false)
        case .memoryBounded: (54, .always, needsBackend: true, survivesBackendDeath: false)
        case .authNoLeak: (55, .always, needsBackend: true, survivesBackendDeath: false)
        case .herdBounded: (56, .always, needsBackend: true, survivesBackendDeath: false)
        case .othersUnharmed: (57, .eventually, needsBackend: true, survivesBackendDeath: false)
        case .requestWellFormed: (58, .always, needsBackend: true, survivesBackendDeath: false)
        case .authOneExchange: (59, .always, needsBackend: true, survivesBackendDeath: false)
        }
    }
}

/// One case of an invariant that did not hold.
package struct Violation: Hashable, Sendable {
    package var invariant: Invariant
    /// Nil if it is about no one phone.
    package var device: DeviceNumber?
    /// `ScanNumber.none` where it is about no one scan.
    package var scan: ScanNumber
    package var at: Instant
    package var text: String
    /// The phone's profile is known to break this one.
    package var isExpected: Bool
    /// Who is to blame for it: of lost books the fault that took them, if one did.
    package var cause: Cause

    package init(
        invariant: Invariant, device: DeviceNumber?, scan: ScanNumber, at: Instant, text: String,
        isExpected: Bool, cause: Cause = .phone
    ) {
        self.invariant = invariant
        self.device = device
        self.scan = scan
        self.at = at
        self.text = text
        self.isExpected = isExpected
        self.cause = cause
    }
}

/// The result of one invariant.
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
    /// Whether the run reached a time at which it could have been broken.
    package var hadOccasion: Bool

    package init(
        invariant: Invariant, standing: Standing, violations: Int, expected: Int, examples: [Violation],
        hadOccasion: Bool = true
    ) {
        self.invariant = invariant
        self.standing = standing
        self.violations = violations
        self.expected = expected
        self.examples = examples
        self.hadOccasion = hadOccasion
    }
}
