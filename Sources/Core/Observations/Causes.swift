package import Talaria

/// What made a phone refuse a scan. `retryable`: what the answer or the event said of another try, nil when it said
/// nothing that could be read.
package enum RefusalCause: Hashable, Sendable {
    case answer(Operation, attempt: UInt32, status: Int, retryable: Bool?)
    /// An `error` event of the job's stream.
    case event(job: String, retryable: Bool?)
    /// The photo could not be read.
    case photo
    /// There was no room for the scan's record.
    case storage
    /// As many scans were unsettled as a phone may have.
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
    case tokenExpired = "token-expired"
    case jobGone = "job-gone"
    case resultsUnavailable = "results-unavailable"
    case suspended
    case interrupted
    /// A whole answer came and could not be used; a `ContractFinding` says why.
    case unreadableAnswer = "unreadable-answer"
    case answerTooLarge = "answer-too-large"
    /// No answer came within the time that a phone waits for one.
    case noAnswer = "no-answer"
    /// A status that the contract does not name for the operation.
    case unexpectedStatus = "unexpected-status"
    /// An upload was answered with 401 or 403.
    case unauthorized
    /// The server sent the phone to another server, which it does not follow.
    case foreignURL = "foreign-url"
}

/// Why a stream, or an attempt to open one, was lost.
package enum LossCause: String, CaseIterable, Hashable, Sendable {
    case connectFailed = "connect-failed"
    case refusedByStatus = "refused-by-status"
    case reset
    /// A clean end of the body without a terminal event.
    case endWithoutTerminal = "end-without-terminal"
    /// Nothing came for longer than the idle timeout: a half-open connection.
    case silence
    case offline
    case badAnswer = "bad-answer"
    case killed
    /// The network was changed under the phone.
    case handover
    /// No head came within the time that a phone waits for one.
    case noAnswer = "no-answer"
    /// The stream's address is on another server and was not asked.
    case foreignURL = "foreign-url"
}

/// How an answer failed above HTTP.
package enum BadAnswer: String, CaseIterable, Hashable, Sendable {
    case undecodable
    /// Another type, or a content coding that was not asked for.
    case wrongContentType = "wrong-content-type"
    case tooLarge = "too-large"
    case notSuccess = "not-success"
    case unexpectedStatus = "unexpected-status"
    /// A line or an event of a stream beyond its limit.
    case overlongStream = "overlong-stream"
}
