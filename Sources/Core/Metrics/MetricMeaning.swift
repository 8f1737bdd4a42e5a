// What a rate counts, in words, for the manual. A count and a latency have their words in their tables.

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
        case .refreshAttemptsFailed: ("one exchange of a token", Self.attemptFailure)
        case .reconcileWrong:
            ("the final title or author of a book that was read by a phone", "it is not that of the book")
        }
    }

    private static let attemptFailure =
        "no answer, an unreadable one, a redirect, a 5xx, or a 4xx other than 429"
}
