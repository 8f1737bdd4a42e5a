internal import OriginServer
internal import SimBase

/// One open stream of a job.
struct Stream: Sendable {
    /// The job lives as long as its streams.
    let facts: Job.Facts
    let attempt: UInt32
    var nextPing: Instant
    /// The ping at `nextPing` was delayed already.
    var isPingLate = false
    /// The time at which it ends with a `timeout` event; nil for one of v3.
    var endsAt: Instant?
    /// When it looks for changes of its job; nil for one that receives each change at once.
    var polling: StreamPolling?
    /// Events of the job's log that it has brought, or passed over.
    var eventsKnown = 0

    var job: JobKey { self.facts.key }
}

/// A stream that has brought its terminal event, and whose connection stays open for a while. Its job may be gone before it.
struct LingeringStream: Sendable {
    let job: String
    let owner: Caller
    let attempt: UInt32
    let endsAt: Instant
}
