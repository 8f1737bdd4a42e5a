package import SimBase
package import Talaria

/// The reason why a phone refused a scan. `retryable`: whether the response or the event allows a retry, nil
/// if it does not say.
package enum RefusalCause: Hashable, Sendable {
    case answer(Operation, attempt: UInt32, status: Int, retryable: Bool?)
    /// An `error` event of the job's stream.
    case event(job: String, retryable: Bool?)
    /// The photo could not be read.
    case photo
    /// The storage had no room for the scan's record.
    case storage
    /// The phone had reached its limit of unsettled scans.
    case queue

    /// The name in text.
    package var name: String {
        switch self {
        case .answer: "answer"
        case .event: "event"
        case .photo: "photo"
        case .storage: "storage"
        case .queue: "queue"
        }
    }
}

/// Why a scan waits in the durable queue.
package enum WaitingCause: String, CaseIterable, Hashable, Sendable {
    case captured
    case offline
    case rateLimited = "rate-limited"
    case serverError = "server-error"
    case transport
    case retryableError = "retryable-error"
    /// A 401 that says so, or that says nothing.
    case tokenExpired = "token-expired"
    /// A 401 that gives another reason than the age of the token.
    case tokenRefused = "token-refused"
    case jobGone = "job-gone"
    case resultsUnavailable = "results-unavailable"
    /// The time at which the results are gone was over by the phone's clock: they were not requested.
    case resultsExpired = "results-expired"
    case suspended
    case interrupted
    /// A whole answer came and could not be used; a `ContractFinding` says why.
    case unreadableAnswer = "unreadable-answer"
    case answerTooLarge = "answer-too-large"
    /// No response within the phone's timeout.
    case noAnswer = "no-answer"
    /// A status that the contract does not name for the operation.
    case unexpectedStatus = "unexpected-status"
    /// An upload was answered with 401 or 403.
    case unauthorized
    /// The server sent the phone to another server, which it does not follow.
    case foreignURL = "foreign-url"
    /// The job had not ended when its client had requested its status as often as it does.
    case statusBudget = "status-budget"
}

/// Why a phone does not delete a job.
package enum AbandonCause: Hashable, Sendable {
    /// What its scan waits for, or what keeps the phone from the server.
    case waiting(WaitingCause)
    /// The status of the answer to its DELETE.
    case status(Int)
    /// Another job has the same id: a DELETE would hit that one.
    case jobIDReused
    /// The scan was refused.
    case scanRefused

    /// The name in text.
    package var name: String {
        switch self {
        case .waiting(let cause): cause.rawValue
        case .status(let status): "status-\(status)"
        case .jobIDReused: "job-id-reused"
        case .scanRefused: "scan-refused"
        }
    }

    /// Reads a name; nil if there is no such cause.
    package init?(name: String) {
        if name == Self.jobIDReused.name {
            self = .jobIDReused
        } else if name == Self.scanRefused.name {
            self = .scanRefused
        } else if let cause = WaitingCause(rawValue: name) {
            self = .waiting(cause)
        } else if name.hasPrefix("status-"), let status = Int(name.dropFirst(7)), (100...999).contains(status)
        {
            self = .status(status)
        } else {
            return nil
        }
    }
}

/// Why a stream, or an attempt to open one, was lost.
package enum LossCause: String, CaseIterable, Hashable, Sendable {
    case connectFailed = "connect-failed"
    case refusedByStatus = "refused-by-status"
    case reset
    /// A clean end of the body without a terminal event.
    case endWithoutTerminal = "end-without-terminal"
    /// No data for longer than the idle timeout: a half-open connection.
    case silence
    case offline
    case badAnswer = "bad-answer"
    case killed
    /// The network was changed under the phone.
    case handover
    /// No head within the phone's timeout.
    case noAnswer = "no-answer"
    /// The stream's address is on another server and was not asked.
    case foreignURL = "foreign-url"
    // A WebSocket that its server has closed with this code (RFC 6455 section 7.4).
    case closedGoingAway = "closed-1001"
    case closedProtocolError = "closed-1002"
    case closedPolicyViolation = "closed-1008"
    case closedMessageTooBig = "closed-1009"
    case closedInternalError = "closed-1011"
    case closedServiceRestart = "closed-1012"
    case closedTryAgainLater = "closed-1013"
    case closedOtherwise = "closed-otherwise"

    /// The loss of a WebSocket by a close frame. With 1000, or without a code, it has just ended.
    package init(closedBy code: UInt16) {
        let isPlain = code == 1_000 || code == 1_005
        self = isPlain ? .endWithoutTerminal : LossCause(rawValue: "closed-\(code)") ?? .closedOtherwise
    }

    /// The time before the next connection, where the code asks for one (Docs/contract.md section 3.4).
    package var wait: Interval? {
        switch self {
        case .closedGoingAway, .closedServiceRestart: .seconds(5)
        case .closedTryAgainLater: .seconds(30)
        case .connectFailed, .refusedByStatus, .reset, .endWithoutTerminal, .silence, .offline, .badAnswer,
            .killed, .handover, .noAnswer, .foreignURL, .closedProtocolError, .closedPolicyViolation,
            .closedMessageTooBig, .closedInternalError, .closedOtherwise:
            nil
        }
    }

    /// Whether its server has closed a WebSocket with a code.
    package var isClose: Bool { self.rawValue.hasPrefix("closed-") }
}

/// The form of the books in a terminal event.
package enum InlineBooksForm: String, CaseIterable, Hashable, Sendable {
    /// No `books` field; every `error` event.
    case absent
    case null, empty, undecodable
    /// Books that can be used.
    case books
}

/// The failure of a response above HTTP.
package enum BadAnswer: String, CaseIterable, Hashable, Sendable {
    case undecodable
    /// Another type, or a content coding that was not requested.
    case wrongContentType = "wrong-content-type"
    case tooLarge = "too-large"
    case notSuccess = "not-success"
    case unexpectedStatus = "unexpected-status"
    /// A line or an event of a stream beyond its limit.
    case overlongStream = "overlong-stream"
    /// A 101 that does not answer the opening handshake.
    case badHandshake = "bad-handshake"
    /// Frames of a WebSocket that cannot be read.
    case badFrame = "bad-frame"
}

/// Why a phone uploads the photo of a book that it has read.
package enum PhotoReason: String, CaseIterable, Hashable, Sendable {
    /// It is not sure enough of what it has read.
    case lowConfidence = "low-confidence"
    /// The backend has no look-up by text.
    case noEndpoint = "no-endpoint"
}
