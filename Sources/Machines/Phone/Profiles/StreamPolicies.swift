package import SimBase
package import Talaria
package import Wire

// How a client follows a job: its stream, the events on it, and the results.

/// The event streams (Docs/contract.md sections 1.1 and 2).
package struct StreamPolicy: Hashable, Sendable {
    /// By what a job of v2 is followed. A job keeps the transport that it was begun with.
    package var transport = StreamTransport.sse
    /// Streams, and uploads, of one phone at once.
    package var slots = 5
    /// Whether a lost stream is resumed with Last-Event-ID. Off: it is opened again, from wherever the server is.
    package var resumes = true
    /// Whether a client that has lost its WebSocket says so. Off: it opens another one with the token that it has used, which is
    /// refused.
    package var returns = true
    /// After a failure below HTTP, before the head or behind it.
    package var afterLoss = LostStreamPolicy.reconnects
    /// After the end of the body without a terminal event.
    package var afterEnd = EndOfStreamPolicy.reconnects
    package var statuses = StreamStatusPolicy.byStatus
    package var reader = SSEReader.Rules.standard
    /// Requests and streams of one job that may fail; then the scan has failed. Nil for no limit.
    package var attemptsMax: Int?
    /// Whether a stream that was opened makes up for the losses before it.
    package var forgivesLosses = false
    /// Whether an event resets the backoff.
    package var resetsBackoff = true
    /// The doublings of the backoff of a stream, however many losses come in a row. Nil for no limit but the cap.
    package var doublingsMax: Int?
    /// Whether `retry:` of a stream raises the base of its backoff.
    package var obeysRetryField = true
    /// Whether a relative `sseUrl` is resolved against the base. Off: its request fails at once.
    package var resolvesRelativeAddress = true
    package var connectTimeout = Interval.seconds(10)
    /// The maximum silence. The default is for a foreign target; with the embedded backend, the plan sets it to 2.5 pings.
    package var idleTimeout = Interval.seconds(75)
    /// The time for which a completed scan keeps its slot after its DELETE is over. Nil: a slot is given as soon as the
    /// stream has ended, and no DELETE needs one.
    package var slotHold: Interval?
}

/// What a client does when a stream fails below HTTP (Docs/apps.md section 4.4).
package enum LostStreamPolicy: String, CaseIterable, Hashable, Sendable {
    case reconnects
    /// The scan has failed.
    case fails
    /// The scan has failed for its user, and the stream is opened again all the same, until a terminal event closes it. What
    /// that says comes too late.
    case reportsFailure = "reports-failure"
}

/// What a client does when a stream ends without a terminal event (Docs/apps.md section 4.11, Q2).
package enum EndOfStreamPolicy: String, CaseIterable, Hashable, Sendable {
    case reconnects
    /// Nothing: the scan is neither finished nor tried again, and its job not deleted.
    case finishes
}

/// What the status of a stream's answer means to a client (Docs/apps.md section 4.4).
package enum StreamStatusPolicy: String, CaseIterable, Hashable, Sendable {
    /// A 401, 404 or 410 ends the job, and the scan is uploaded again; a `Retry-After` is obeyed.
    case byStatus = "by-status"
    /// Every status other than 200 is tried again alike, three times in all; then the scan has failed.
    case retried
    /// The head of an answer is not looked at: its body is read as a stream, and its end is the end of one.
    case unchecked
}

/// The events of a stream (Docs/contract.md section 2.1).
package struct EventPolicy: Hashable, Sendable {
    package var ping = EventHandling.understood
    package var enrichmentDegraded = EventHandling.understood
    package var unknown = UnknownEventPolicy.ignored
    package var result = ResultEventPolicy.flat
    package var progressWithoutMessage = EventHandling.understood
    package var failure = EventFailurePolicy.final
    /// The time for which a degraded book, an event that cannot be read, or a final error is shown
    /// (Docs/apps.md section 4.5). During this time no event is read, the slot is held, and the job of
    /// the event is not deleted yet.
    package var overlay = Interval.zero
    package var error = ErrorEventReading.complete
    /// The automatic retries of a scan after a retryable `error` event (Docs/apps.md section 5, "ONE automatic retry");
    /// then it waits. Nil for no limit.
    package var errorRetriesMax: Int? = 1
    /// The delay before an automatic retry.
    package var errorRetryDelay = Interval.seconds(2)
    package var statuses = StatusReading.separate
    package var order = EventOrder.byID
    /// The version of the OpenAPI document that the client was written from.
    package var document = DocumentVersion.v310
    package var data = EventDataForm.plain
    package var names = EventNames.plain
}

/// The names by which a client knows the events of a job (Docs/contract.md section 3.3).
package enum EventNames: String, CaseIterable, Hashable, Sendable {
    /// Those of the contract.
    case plain
    /// `photoscan.progress`, `enrichment.completed` and similar names. No other event is known.
    case dotted
}

/// Where the name of an event and its members are (Docs/apps.md section 6.1).
package enum EventDataForm: String, CaseIterable, Hashable, Sendable {
    /// The name in `event`, the members in `data`.
    case plain
    /// Both in the data: `{type, data}`. The `event` line is ignored.
    case enveloped
}

/// What a client does with an event of a certain name.
package enum EventHandling: String, CaseIterable, Hashable, Sendable {
    case understood
    /// The parser fails, and the failure is delivered as an `error` event that allows no retry.
    case fails
}

/// What a client does with an event whose name or data it does not know (Docs/apps.md section 4.5).
package enum UnknownEventPolicy: String, CaseIterable, Hashable, Sendable {
    case ignored
    /// Like `fails`, for the names of other versions of the backend only: `failed`, `timeout`, `initialized`, `processing`.
    case otherVersionsFail = "other-versions-fail"
    /// Like `EventHandling.fails`.
    case fails
}

/// What a client takes a `result` event for, which is no event of S0 (Docs/contract.md section 2.1, Docs/apps.md
/// section 4.5).
package enum ResultEventPolicy: String, CaseIterable, Hashable, Sendable {
    /// An unknown event.
    case unknown = "ignored"
    /// A book at the top level, which is shown until the job completes. In any other form it is an unknown event.
    case flat = "shown-top-level"
    /// A book, at the top level of the data or nested under `book`: it is shown until the job completes.
    case understood = "shown"
    /// A book at the top level. The parser fails at one that is nested.
    case topLevel = "top-level"
    /// A book of the scan: when the job completes, those that came on its last stream are all there are. Without any, the
    /// scan has failed.
    case collected
}

/// What the failure of a parser at an event means to a client.
package enum EventFailurePolicy: String, CaseIterable, Hashable, Sendable {
    /// The job has ended: the scan is refused and the job deleted.
    case final = "ends-scan"
    /// The job is deleted and its token forgotten, and the client goes on reading the stream.
    case continues = "reads-on"
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
    /// As texts, none of which is known.
    case opaque
    /// All three as a job status: whatever has another value cannot be read.
    case jobStatus = "job-status"
}

/// The order of events (Docs/contract.md section 2.2).
package enum EventOrder: String, CaseIterable, Hashable, Sendable {
    /// By their ids.
    case byID = "id"
    /// By `timestamp` of their data: an event that is older than the connection it came on counts as a
    /// repetition.
    case byTimestamp = "timestamp"
}

/// A version of the OpenAPI document (Docs/apps.md section 5, GAP-13).
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
    /// Whether a failed request for results is made again. Off: the scan has failed, and its job is deleted.
    package var isRepeated = true
    /// The failures of these requests for one job that are tolerated; after the next one the scan has failed. Nil for no
    /// limit.
    package var failuresMax: Int?
    /// Whether results that have expired by the phone's clock and `expiresAt` of the event are not requested: the scan has
    /// failed.
    package var checksExpiry = false
    /// Whether the results are requested only where the event names their address and the job has a token. Off: the address
    /// of the contract is known.
    package var needsAddress = false
    /// Whether one book with an unknown `enrichmentStatus` spoils the whole list.
    package var rejectsUnknownStatus = false
    /// The value of `format=` in the request; nil to use the address as it comes.
    package var format: String? = "lite"
    package var envelope = ResultsEnvelope.data
    /// Whether `enrichmentStatus` of a book is kept.
    package var keepsEnrichmentStatus = true
}
