package import SimBase
package import Talaria

// How a client follows a job: its stream, the events on it, and the results.

/// The event streams (Docs/contract.md sections 1.1 and 2).
package struct StreamPolicy: Hashable, Sendable {
    /// Streams, and uploads, of one phone at once.
    package var slots = 5
    /// Whether a lost stream is resumed with Last-Event-ID. Off: it is opened again, from wherever the server is.
    package var resumes = true
    package var connectTimeout = Interval.seconds(10)
    /// The maximum silence. The default is for a foreign target; with the embedded backend, the plan sets it to 2.5 pings.
    package var idleTimeout = Interval.seconds(75)
}

/// The events of a stream (Docs/contract.md section 2.1).
package struct EventPolicy: Hashable, Sendable {
    package var ping = EventHandling.understood
    package var enrichmentDegraded = EventHandling.understood
    package var error = ErrorEventReading.complete
    /// The automatic retries of a scan after a retryable `error` event (Docs/contract.md section 5, "ONE automatic retry");
    /// then it waits.
    package var errorRetriesMax = 1
    /// The delay before an automatic retry.
    package var errorRetryDelay = Interval.seconds(2)
    package var statuses = StatusReading.separate
    package var order = EventOrder.byID
    /// The version of the OpenAPI document that the client was written from.
    package var document = DocumentVersion.v310
}

/// What a client does with an event of a certain name.
package enum EventHandling: String, CaseIterable, Hashable, Sendable {
    case understood
    /// The parser fails, and the failure is delivered as an `error` event that allows no retry.
    case fails
}

/// What a client reads of an `error` event (Docs/contract.md section 2.1).
package enum ErrorEventReading: String, CaseIterable, Hashable, Sendable {
    case complete
    /// `message` alone: whether the error is retryable, and its code, are not known.
    case messageOnly = "message-only"
    /// A problem document, which an `error` event is not: it cannot be read.
    case problem
}

/// How a client reads the three notions of a status (Docs/contract.md section 1.6).
package enum StatusReading: String, CaseIterable, Hashable, Sendable {
    /// Job status, scan stage and enrichment status, each by its own values.
    case separate
    /// As texts, of which none is known.
    case opaque
    /// All three as a job status: whatever has another value cannot be read.
    case jobStatus = "job-status"
}

/// The order of events (Docs/contract.md section 2.2).
package enum EventOrder: String, CaseIterable, Hashable, Sendable {
    /// By their ids.
    case byID = "id"
    /// By `timestamp` of their data: an event that is older than the connection it came on is taken for a repetition.
    case byTimestamp = "timestamp"
}

/// A version of the OpenAPI document (Docs/contract.md section 5, GAP-13).
package enum DocumentVersion: String, CaseIterable, Hashable, Sendable {
    case v310 = "3.1.0"
    /// Without `ping`, `enrichment_degraded` and the books of a `completed` event.
    case v300 = "3.0.0"
}

/// The results of a job (Docs/contract.md section 1.3).
package struct ResultsPolicy: Hashable, Sendable {
    /// Whether the books in a `completed` event are used.
    package var usesInlineBooks = true
    /// Whether the results are requested where a `completed` event has no books that can be used. Off: there are no books.
    package var isFallback = true
    /// The value of `format=` in the request; nil to use the address as it comes.
    package var format: String? = "lite"
    package var envelope = ResultsEnvelope.data
    /// Whether `enrichmentStatus` of a book is kept.
    package var keepsEnrichmentStatus = true
}
