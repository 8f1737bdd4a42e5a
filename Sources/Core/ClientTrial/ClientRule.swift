/// A duty of a client (Docs/contract.md). The raw values are the second half of the ids in reports.
package enum ClientRule: String, CaseIterable, Hashable, Sendable {
    case endpoint
    case deviceID = "device-id"
    case deviceKept = "device-kept"
    case token
    case tokenURL = "token-url"
    case tokenStale = "token-stale"
    case accept
    case uploadForm = "upload-form"
    case uploadSize = "upload-size"
    case wait
    case backoff
    case uploadOnce = "upload-once"
    case retryOnce = "retry-once"
    case refusalFinal = "refusal-final"
    case lastEventID = "last-event-id"
    case streamResumed = "stream-resumed"
    case streamClosed = "stream-closed"
    case streamsBounded = "streams-bounded"
    case statusPolling = "status-polling"
    case resultsNeeded = "results-needed"
    case resultsFetched = "results-fetched"
    case resultsOnce = "results-once"
    case resultsLean = "results-lean"
    case jobDeleted = "job-deleted"
    case jobNotDeletedEarly = "job-not-deleted-early"
    case jobDeletedOnce = "job-deleted-once"
    case jobSilent = "job-silent"
    case deleteRepeated = "delete-repeated"

    private static let prefix = "client."

    /// The id in reports and options.
    package var id: String { Self.prefix + self.rawValue }

    /// Nil for a text that is not an id, with or without its first half.
    package init?(id: String) {
        self.init(rawValue: id.hasPrefix(Self.prefix) ? String(id.dropFirst(Self.prefix.count)) : id)
    }

    /// Whether the contract permits it all the same: to break it costs requests, and a verdict does not count it.
    package var isNote: Bool {
        switch self {
        case .resultsOnce, .jobDeletedOnce, .streamsBounded: true
        case .endpoint, .deviceID, .deviceKept, .token, .tokenURL, .tokenStale, .accept, .uploadForm,
            .uploadSize, .wait, .backoff, .uploadOnce, .retryOnce, .refusalFinal, .lastEventID,
            .streamResumed, .streamClosed, .statusPolling, .resultsNeeded, .resultsFetched, .resultsLean,
            .jobDeleted, .jobNotDeletedEarly, .jobSilent, .deleteRepeated:
            false
        }
    }

    /// The index, from 0, in the order of `allCases`.
    var ordinal: Int { Self.allCases.firstIndex(of: self) ?? 0 }

    package var statement: String { self.traits.statement }

    /// The sections of Docs/contract.md that it follows from.
    package var source: String { self.traits.source }

    private var traits: (statement: String, source: String) {
        switch self {
        case .endpoint: ("every request has a method and a path of the contract", "1.1")
        case .deviceID: ("every request has an X-Device-ID, a UUID of version 4", "1.1, 5 (GAP-12)")
        case .deviceKept: ("an installation has one device id, for all of its requests", "4.2, 5 (GAP-10)")
        case .token:
            ("a request for a job has the token of its upload as Authorization: Bearer, and no other", "1.1")
        case .tokenURL: ("no token is in a URL", "1.1, 7 (C13)")
        case .tokenStale: ("a token that was answered with 401 is not used again", "2.5, 5 (GAP-11)")
        case .accept: ("a request for a stream accepts text/event-stream", "1.1")
        case .uploadForm:
            ("an upload is a form of 1 to 5 parts with the name of the contract, JPEG or PNG", "1.1, 1.2")
        case .uploadSize: ("a photo has at most 10,000,000 bytes, and an upload 50,000,000", "1.2")
        case .wait: ("the wait that an answer asks for is kept", "1.7, 1.8")
        case .backoff: ("a failed request is not repeated at once again and again", "5")
        case .uploadOnce:
            (
                "a photo that was accepted is not uploaded again in the place of reading its job",
                "2.2, 5 (GAP-5)"
            )
        case .retryOnce: ("after a retryable error event the photo is uploaded once more, and no more", "5")
        case .refusalFinal: ("what was refused for good is not requested again", "1.7, 2.1, 4.11 (Q10)")
        case .lastEventID:
            (
                "a stream that is opened again after a loss has the id of the last event as Last-Event-ID",
                "2.2, 5 (GAP-5)"
            )
        case .streamResumed: ("a stream that was lost is opened again", "4.11 (Q2, Q9)")
        case .streamClosed: ("a stream is closed after the terminal event, and not opened again", "2.1, 6.2")
        case .streamsBounded: ("a client has at most 5 open streams", "8")
        case .statusPolling: ("the status of a job is requested at most once in 2 s", "1.4")
        case .resultsNeeded:
            ("results are requested of a completed job, and only if its event had no books", "1.3, 5 (GAP-3)")
        case .resultsFetched:
            ("results are requested if the event of a completed job had no books", "1.3, 2.3")
        case .resultsOnce: ("results that came whole are not requested again", "1.3")
        case .resultsLean: ("results are requested with format=lite", "1.3, 5 (GAP-8)")
        case .jobDeleted: ("a job that has ended is deleted", "4.2, 4.11 (Q2)")
        case .jobNotDeletedEarly: ("no job is deleted before its books were received", "4.11 (Q5, Q14)")
        case .jobDeletedOnce: ("a job that was deleted is not deleted again", "1.1")
        case .jobSilent: ("nothing is requested of a job after its DELETE", "1.1")
        case .deleteRepeated: ("a DELETE that failed is sent again", "4.11 (Q23)")
        }
    }
}
