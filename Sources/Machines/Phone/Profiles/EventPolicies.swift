package import SimBase

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
