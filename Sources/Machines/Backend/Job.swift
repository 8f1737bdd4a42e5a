internal import Faults
internal import OriginServer
internal import SimBase
internal import Talaria

/// One accepted upload and all that came of it (Docs/machines/job.md).
struct Job: Sendable {
    /// The constant facts: a class, so that passing them on counts one reference.
    final class Facts: Sendable {
        let key: JobKey
        /// `jobId` on the wire.
        let id: String
        /// The caller of the upload: whose scan it is.
        let owner: Caller
        let device: DeviceKey
        let accepted: Instant
        let script: JobScript

        init(
            key: JobKey, id: String, owner: Caller, device: DeviceKey, accepted: Instant, script: JobScript
        ) {
            self.key = key
            self.id = id
            self.owner = owner
            self.device = device
            self.accepted = accepted
            self.script = script
        }
    }

    enum Phase: Hashable, Sendable {
        /// Events are still to come. Leaves to `finished`.
        case running
        /// The terminal event is in the log. Leaves to `settled` when the buffer is over.
        case finished(JobStatus, at: Instant)
        /// Only the terminal event of the log is left, without books. Leaves by expiry.
        case settled(JobStatus, at: Instant)
    }

    /// A stage that takes longer than its script says.
    struct Delay: Hashable, Sendable {
        /// The first step that is late, as is everything after it.
        let from: Int
        let by: Interval
    }

    let facts: Facts
    var token: Token
    var phase = Phase.running
    /// The next step of the script. Its index in the log may be another: faults bring events of their own.
    var step = 0
    var delays: [Delay] = []
    var degradation: Degradation?
    /// Places on the shelf of the books that could not be looked up, in order.
    var degradedBooks: [Int] = []
    var log: EventLog
    /// Open streams, in the order of their heads.
    var streams: [ExchangeID] = []
    /// The job's one live deadline.
    var due: Instant

    /// The status in the response of the status endpoint.
    var status: JobStatus {
        switch self.phase {
        case .running: self.step <= 1 ? .initialized : .processing
        case .finished(let status, at: _), .settled(let status, at: _): status
        }
    }

    /// The moment at which the next step is due.
    var nextStepDue: Instant {
        self.delays.reduce(self.facts.accepted + self.facts.script.offset(at: self.step)) {
            self.step < $1.from ? $0 : $0 + $1.by
        }
    }
}

/// The way in which a job ends.
enum JobEnding: Hashable, Sendable {
    case completed, canceled
    case failed(code: String, retryable: Bool)

    var status: JobStatus {
        switch self {
        case .completed: .completed
        case .canceled: .canceled
        case .failed: .failed
        }
    }
}
