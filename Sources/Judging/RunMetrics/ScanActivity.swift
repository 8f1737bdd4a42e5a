package import Observations
package import SimBase
import Talaria

/// What the time of a scan goes to. Each moment from its capture to its end belongs to one.
package enum ScanActivity: String, CaseIterable, Sendable {
    /// In the queue of the phone.
    case queue
    /// Its photo is made ready for the upload.
    case preparing
    case upload
    /// A 429 asked the phone to wait.
    case limited
    /// Before a retry: a backoff, or a Retry-After of another answer.
    case backoff
    /// Its stream is requested.
    case connecting
    /// The server is at work.
    case server
    /// Its results are requested.
    case results
    /// The phone has no link.
    case offline
    /// The app is closed or in the background.
    case closed

    /// Whether the phone waits; if a 429 has asked for it, that is the reason.
    fileprivate var isWait: Bool { self == .queue || self == .backoff }
}

/// What all scans of a phone have in common: its app, its link, and the wait that a limit of uploads asks of the device.
package struct PhoneCondition: Sendable {
    fileprivate var isOffline = false
    fileprivate var isClosed = false
    fileprivate var limitedUntil = Instant.zero

    package init() {}

    /// Returns whether an observation changes it.
    package static func isChanged(by payload: PhoneObservation) -> Bool {
        switch payload {
        case .launched, .resumed, .suspended, .killed, .reinstalled, .pathLost, .pathReturned,
            .rateLimited(.upload, _):
            true
        default: false
        }
    }

    package mutating func record(_ payload: PhoneObservation, at moment: Instant) {
        switch payload {
        case .launched, .resumed: self.isClosed = false
        case .suspended, .killed, .reinstalled: self.isClosed = true
        case .pathLost: self.isOffline = true
        case .pathReturned: self.isOffline = false
        case .rateLimited(.upload, let wait): self.limitedUntil = max(self.limitedUntil, moment + wait)
        default: break
        }
    }
}

/// Divides the time of one scan between its activities.
package struct ActivityClock: Sendable {
    private var activity = ScanActivity.queue
    /// The time until which a 429 asked this scan to wait.
    private var limitedUntil = Instant.zero
    /// The end of the time that is divided.
    private var last: Instant

    package init(from moment: Instant) { self.last = moment }

    /// Divides the time up to a moment, at which nothing changed before it. `spend`: takes an activity with its start and its end.
    package mutating func advance(
        to moment: Instant, _ phone: PhoneCondition, _ spend: (ScanActivity, Instant, Instant) -> Void
    ) {
        guard moment > self.last else { return }
        let activity = phone.isClosed ? ScanActivity.closed : phone.isOffline ? .offline : self.activity
        let limit = min(moment, max(self.limitedUntil, phone.limitedUntil))
        if activity.isWait, limit > self.last {
            spend(.limited, self.last, limit)
            self.last = limit
        }
        guard moment > self.last else { return }
        spend(activity, self.last, moment)
        self.last = moment
    }

    /// Takes an observation of the scan.
    package mutating func record(
        _ payload: PhoneObservation, at moment: Instant, _ phone: PhoneCondition,
        _ spend: (ScanActivity, Instant, Instant) -> Void
    ) {
        if case .photoPrepared(let took?, _) = payload {
            self.advance(to: moment - took, phone, spend)
            self.activity = .preparing
        }
        self.advance(to: moment, phone, spend)
        switch payload {
        // One that failed waits in the queue for its retry.
        case .queued(let cause): self.activity = cause.isFailure ? .backoff : .queue
        case .captured, .photoPrepared, .uploadAccepted: self.activity = .queue
        case .rateLimited(_, let wait): self.limitedUntil = max(self.limitedUntil, moment + wait)
        case .requestSent(let operation, _, _, _): self.activity = operation.activity ?? self.activity
        case .streamOpened, .statusDecoded: self.activity = .server
        case .replied(let operation, _, let status, _):
            if operation.activity != nil, status >= 400 { self.activity = .backoff }
        case .requestFailed(let operation, _, _, _), .badAnswer(let operation, _, _):
            if operation.activity != nil { self.activity = .backoff }
        case .streamLost: self.activity = .backoff
        case .terminalApplied: self.activity = .results
        default: break
        }
    }
}

extension Operation {
    /// Nil for what a scan does not wait for.
    fileprivate var activity: ScanActivity? {
        switch self {
        case .upload: .upload
        case .stream: .connecting
        case .status: .server
        case .results: .results
        case .cleanup, .cancel, .refresh: nil
        }
    }
}

extension WaitingCause {
    /// Whether a scan waits because an attempt has failed, and for its next one.
    package var isFailure: Bool {
        switch self {
        case .serverError, .transport, .retryableError, .resultsUnavailable, .unreadableAnswer,
            .answerTooLarge, .noAnswer, .unexpectedStatus, .unauthorized:
            true
        case .captured, .offline, .rateLimited, .tokenExpired, .tokenRefused, .jobGone, .resultsExpired,
            .suspended, .interrupted, .foreignURL, .statusBudget:
            false
        }
    }
}
