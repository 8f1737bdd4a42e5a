package import SimBase
package import Talaria
package import Wire

/// The event streams (Docs/contract.md sections 1.1 and 2). Which deviations a quirk is, `ProfileToggle+Quirks` says; `App+Stream`
/// does what they say, and `App+Answers` ends a stream that is silent.
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
