import SimBase
import Talaria

/// One job that is still followed.
struct JobAccount: Sendable {
    let id: String
    let scan: ScanNumber
    /// Whether it is from before this run: its log is unknown.
    let isInherited: Bool

    // What the backend said.
    var isAcceptedByBackend = false
    /// The photos that its upload brought.
    var photos = 1
    /// The time at which the token was issued; nil for a job from before this run.
    var acceptedAt: Instant?
    var isTokenRevoked = false
    var isDeleted = false
    var isExpired = false
    /// A named fault removed it.
    var hasVanished = false
    /// Its terminal event was written.
    var hasEnded = false

    // What the phone said.
    /// Whether the phone decoded the 202.
    var isKnownToPhone = false
    /// The time at which it did.
    var knownAt: Instant?
    var terminal: EventKind?
    var sawError = false
    var hadInlineBooks = false
    var hadResults = false
    /// The scan was completed with this job's books.
    var carriedBooks = false
    var deleteSent: Bool { self.deletesSent > 0 }
    var deletesSent = 0
    var deleteAnswered = false
    /// The scan was completed, and its job is kept until it expires: the DELETE of v2 cancels (Docs/contract.md section 3.2).
    var isKept = false
    /// The DELETE was answered with 401, and rightly: its token had expired or was revoked.
    var isDeleteRefusedRightly = false
    /// The attempts at its stream, from the first to the last.
    var streamAttempts: ClosedRange<UInt32>?
    var isAbandoned = false
    /// Whether no phone knows the job any more: the app was reinstalled, or killed before its record was
    /// durable.
    var isForgotten = false
    /// Its scan waits, and the job is kept for later.
    var isParked = false
    /// The process was killed, and its record has not been seen since.
    var isAtRisk = false
    /// The server said that the job is gone, or that its token does not open it any more, and may have been believed.
    var isEndedByServer = false
    /// Whether the backend allows a retry, once the job ended in an error.
    var isErrorRetryable: Bool?
    /// The DELETE that is owed for it.
    var pendingCleanup: PendingCleanup?

    var stream = StreamAccount()
    var socket = SocketState()
    var token = TokenState()

    /// The record of its scan names it, as far as can be seen: the phone follows it, or keeps it for later.
    var isInRecord: Bool {
        self.isKnownToPhone && !self.isAbandoned && !self.isForgotten
            && self.pendingCleanup?.reason != .discard
    }

    /// Whether its DELETE needs no other attempt: by an answer, or by what the backend itself saw.
    var isCleanupFinished: Bool { self.deleteAnswered || self.isDeleteRefusedRightly || self.isDeleted }

    /// The token was not valid any more, or may not have been.
    func isTokenOver(at moment: Instant, lifetime: Interval) -> Bool {
        guard let accepted = self.acceptedAt, !self.isTokenRevoked else { return true }
        // A request may have shown the token before it.
        return self.token.mayBeOver(
            at: moment, count: max(0, self.token.count - 1), accepted: accepted, lifetime: lifetime)
    }

    mutating func streamAsked(attempt: UInt32) {
        let known = self.streamAttempts ?? attempt...attempt
        self.followed()
        self.streamAttempts = min(known.lowerBound, attempt)...max(known.upperBound, attempt)
    }

    /// The phone follows it, again or for the first time.
    mutating func followed() {
        self.isParked = false
        self.isAtRisk = false
        self.isForgotten = false
        self.isEndedByServer = false
    }

    /// What a refusal for its error is compared with.
    var ended: ScanAccount.EndedJob {
        ScanAccount.EndedJob(
            id: self.id, isInherited: self.isInherited, isErrorSeen: self.terminal == .error,
            isErrorRetryable: self.isErrorRetryable)
    }

    /// The backend does not have it any more.
    var isGone: Bool { self.isDeleted || self.isExpired || self.hasVanished }

    /// Returns whether no further observation is possible, so that it can be forgotten.
    func isClosed(hasBackendView: Bool) -> Bool {
        let isPhoneDone = self.deleteAnswered || self.isAbandoned || self.isKept
        guard hasBackendView, !self.isInherited else { return isPhoneDone }
        return self.isGone && (isPhoneDone || !self.isKnownToPhone)
    }
}
