internal import Faults
internal import OriginServer
internal import SimBase

/// One open stream of a job.
struct Stream: Sendable {
    /// Of the job, which lives as long as its streams.
    let facts: Job.Facts
    let attempt: UInt32
    /// Who asked for it; the faults count it by this.
    let caller: Caller
    var faults: StreamFaults
    /// It had faults when it was opened.
    let isArmed: Bool
    var nextPing: Instant
    /// The ping at `nextPing` was put off already.
    var isPingLate = false
    /// The next moment at which a fault acts by itself.
    var alarm: Instant?

    init(
        _ facts: Job.Facts, attempt: UInt32, caller: Caller, opened: Instant, faults: [ArmedFault],
        nextPing: Instant
    ) {
        self.facts = facts
        self.attempt = attempt
        self.caller = caller
        self.faults = StreamFaults(faults, opened: opened)
        self.isArmed = !faults.isEmpty
        self.nextPing = nextPing
    }

    var job: JobKey { self.facts.key }
}

/// A stream that has brought its terminal event, and whose connection stays open for a while. Its job may be gone before it.
struct LingeringStream: Sendable {
    let job: String
    let owner: Caller
    let attempt: UInt32
    let endsAt: Instant
}
