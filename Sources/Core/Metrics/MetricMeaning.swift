// What a count or a rate counts, in words, for the manual. A latency has its words in its table.

extension CountMetric {
    /// What is counted, as text.
    package var meaning: String {
        switch self {
        case .scansCaptured: "photos that were taken, each the beginning of a scan"
        case .scansCompleted: "scans whose books are all in the library, once"
        case .scansRefused: "scans with a final answer of the server, which was shown to the user"
        case .scansWaiting: "scans in the durable queue when the run was over"
        case .scansLost: "scans that are in no other class: the app forgot them"
        case .scansDiscarded: "scans that a reinstallation took, or a kill before they were durable"
        case .scansCanceled: "scans that their users canceled"
        case .scansRefusedUnexplained:
            "refused scans whose refusal neither a fired fault delivered nor a full storage explains"
        case .booksExpected: "books that the backend found, of scans neither refused, canceled nor discarded"
        case .booksReceived: "books in the libraries of the phones"
        case .booksMissing: "expected books of scans that do not wait, which are not in the library"
        case .booksPending: "expected books of scans that still wait"
        case .booksDuplicated: "books that are in a library twice"
        case .booksUnknown:
            "books that batches asked for by name, that never came and that the backend counts as failures"
        case .jobsAccepted: "uploads that the backend accepted (202), each with a job"
        case .jobsCleaned: "jobs that a phone deleted"
        case .jobsAbandoned: "jobs that a phone gave up without deleting them"
        case .jobsOrphaned: "jobs that no phone knows, because the 202 was lost"
        case .cleanupUnfinished: "completed scans whose job was not deleted, and is not gone either"
        case .photosTaken: "photos of captured scans"
        case .sseEvents: "events that phones read, without pings"
        case .ssePings: "pings that phones read"
        case .sseResumes: "streams that went on after the last event (`Last-Event-ID`)"
        case .sseRestarts: "streams that began again after a loss"
        case .sseUnknown: "events of a name that the client does not know; ignored"
        case .sseUndecodable:
            "events whose data the client could not decode; ignored, but that a terminal one still ends its job"
        case .uploadAttempts: "uploads that were sent, retries included"
        case .sseConnectAttempts: "first requests for the stream of a job"
        case .sseReconnectAttempts: "requests for a stream after a loss"
        case .resultsAttempts: "requests for results, retries included"
        case .cleanupAttempts: "DELETEs, retries included"
        case .statusAttempts: "requests for the status of a job, retries included"
        case .arrivalsPlanned: "captures that were due"
        case .arrivalsAchieved: "captures that were made"
        case .arrivalsLate: "captures that were made more than a second late"
        case .descriptorsRefused: "sockets that could not be opened for lack of descriptors"
        case .contractFindings: "deviations from the API contract in answers and events"
        case .contractBreaking:
            "deviations from the API contract that no fault has made, and by which a client may break: a member that is missing or of another type"
        case .rowsCreated: "rows of imported files that became a book"
        case .rowsUpdated: "rows of imported files that changed a book"
        case .rowsSkipped: "rows of imported files that were there already"
        case .rowsFailed: "rows of imported files that could not be imported"
        case .rowsMissing: "rows of imported files of which nobody knows what became of them"
        case .lookupsBilled: "times that a provider was asked for a single book"
        case .lookupsRepeated: "look-ups that were answered as an earlier one with the same idempotency key"
        }
    }
}

extension RateMetric {
    /// What is one operation, and when it has failed, as text.
    package var meaning: (operation: String, failure: String) {
        switch self {
        case .preprocessFailed: ("the photo of a scan", "it could not be read or prepared")
        case .uploadFailed:
            (
                "an upload with all its retries, up to the 202",
                "the scan was refused, or the run ended after a failed attempt"
            )
        case .sseConnectFailed:
            (
                "the first stream of a job with all its retries",
                "no 200 came before the job was given up or the run ended"
            )
        case .sseReconnectFailed:
            (
                "a lost stream, until the next 200 or the end of the job",
                "the phone gave up, or the run ended without a 200"
            )
        case .resultsFailed: ("a request for results with its retries", "the phone gave up")
        case .cleanupFailed:
            (
                "the deletion of a job with its retries",
                "the last answer was not 2xx, 404 or 410, or the phone gave up"
            )
        case .statusFailed: ("a request for the status with its retries", "the phone gave up")
        case .uploadAttemptsFailed: ("one POST of a scan", Self.attemptFailure)
        case .sseConnectAttemptsFailed: ("one request for a stream, first or again", Self.attemptFailure)
        case .resultsAttemptsFailed: ("one request for results", Self.attemptFailure)
        case .cleanupAttemptsFailed: ("one DELETE", "\(Self.attemptFailure), 404 and 410")
        case .statusAttemptsFailed: ("one request for the status", Self.attemptFailure)
        }
    }

    private static let attemptFailure =
        "no answer, an unreadable one, a redirect, a 5xx, or a 4xx other than 429"
}
