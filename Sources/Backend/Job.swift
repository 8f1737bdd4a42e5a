internal import Faults
internal import SimBase
internal import Talaria

/// One accepted upload and all that came of it.
struct Job: Sendable {
    /// What never changes.
    struct Facts: Sendable {
        let key: JobKey
        /// `jobId` on the wire.
        let id: String
        /// The caller of the upload: whose scan it is.
        let owner: Caller
        let device: DeviceKey
        let accepted: Instant
        let script: JobScript
    }

    enum Phase: Hashable, Sendable {
        /// Events are still to come. Leaves to `finished`.
        case running
        /// The terminal event is in the log. Leaves to `settled` when the buffer is over.
        case finished(JobStatus, at: Instant)
        /// Of the log only the terminal event is left, without books. Leaves by expiry.
        case settled(JobStatus, at: Instant)
    }

    let facts: Facts
    var token: Token
    var phase = Phase.running
    var log: EventLog
    /// Open streams, in the order of their heads.
    var streams: [ExchangeID] = []
    /// The job's one live deadline.
    var due: Instant

    /// What the status endpoint says.
    var status: JobStatus {
        switch self.phase {
        case .running: self.log.count <= 1 ? .initialized : .processing
        case .finished(let status, at: _), .settled(let status, at: _): status
        }
    }
}

/// One open stream of a job.
struct Stream: Sendable {
    let job: JobKey
    let attempt: UInt32
    /// Who asked for it; the faults count it by this.
    let caller: Caller
    let opened: Instant
    /// Faults that may still act on it: `strip-books` and `expire-token`.
    var faults: [ArmedFault]
    var nextPing: Instant
    /// The moment of the first armed `expire-token` that waits for a time.
    var revocation: Instant?
    /// Events written that were not replayed.
    var newEvents = 0
    /// Bytes written, without what the driver adds.
    var bytes = 0

    /// The first armed `strip-books` whose trigger has been reached.
    func stripping(at now: Instant) -> (fault: Int, form: StrippedForm)? {
        for fault in self.faults {
            if case .stripBooks(let form) = fault.kind, self.hasReached(fault.trigger, at: now) {
                return (fault.fault, form)
            }
        }
        return nil
    }

    /// The first armed `expire-token` whose trigger has been reached.
    func expiring(at now: Instant) -> Int? {
        self.faults.first { $0.kind == .expireToken && self.hasReached($0.trigger, at: now) }?.fault
    }

    private func hasReached(_ trigger: ArmedTrigger, at now: Instant) -> Bool {
        switch trigger {
        case .atOnce: true
        case .afterTime(let time): now - self.opened >= time
        case .afterEvents(let count): self.newEvents >= count
        case .afterBytes(let count): self.bytes >= count
        }
    }
}
