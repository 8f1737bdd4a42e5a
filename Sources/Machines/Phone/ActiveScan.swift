import SimBase
import Talaria

/// A scan that is being worked on: its way from the upload to the DELETE.
struct ActiveScan: Sendable {
    var scan: Scan
    var stage: Stage
    /// From the upload until the outcome is durable and the stream over; given back early when the phone is suspended.
    var holdsSlot: Bool
    /// The open stream, in stage `streaming`.
    var connection: StreamConnection?
    var remembered = RememberedEvents()
    /// A loss of the stream that no 200 head has ended yet.
    var episode: LossEpisode?
    var streamBackoff = Backoff()
    /// Times that the stream was refused with a status that the contract does not name.
    var streamRefusals = 0
    var resultsBackoff = Backoff()
    /// Where the results are, once the job has completed.
    var resultsTarget = ""
    /// How many books the `completed` event says there are.
    var booksDetected: Int?
    var resultsFailures = 0
    var resultsBadAnswers = 0
    /// The number of the job's DELETE, reserved in the write of the outcome.
    var reservedCleanup: UInt32?
    /// Why the scan is refused, until that is observed.
    var refusalCause: RefusalCause?
    /// Books that are written but perhaps not durable yet.
    var unobservedBooks: [UnobservedBook] = []

    init(scan: Scan, stage: Stage, holdsSlot: Bool = true) {
        self.scan = scan
        self.stage = stage
        self.holdsSlot = holdsSlot
    }

    var number: ScanNumber { self.scan.number }

    enum Stage: Hashable, Sendable {
        /// The photo is on its way. Leaves to `recording`, or back to the queue.
        case uploading
        /// The job is known and its record not durable yet. Leaves to `opening`.
        case recording(StoreTicket)
        /// The stream is asked for. Leaves to `streaming` or `disconnected`, or back to the queue.
        case opening
        /// Events come. Leaves to `filing` or `fetching` by a terminal event, to `disconnected`, or back to the queue.
        case streaming
        /// Waiting out a backoff, or for a path. `floor` is what the server asked for. Leaves to `opening`.
        case disconnected(until: Instant, floor: Instant)
        /// The results are asked for. Leaves to `filing` or `unfetched`, or back to the queue.
        case fetching
        /// Like `disconnected`, for the results. Leaves to `fetching`.
        case unfetched(until: Instant, floor: Instant)
        /// The outcome is decided and its writes not durable yet. Leaves to `cleaning`.
        case filing(StoreTicket)
        /// Completed or refused; settled as soon as no DELETE is left to do.
        case cleaning
    }

    struct UnobservedBook: Sendable {
        var ticket: StoreTicket
        var ordinal: Int
        var book: Book
    }

    /// The running job, in the stages that have one.
    var job: DurableJob {
        guard let job = self.scan.record.job else { self.lacksJob() }
        return job
    }

    /// Its id alone, without a copy of the rest.
    var jobID: String {
        guard let id = self.scan.record.job?.jobId else { self.lacksJob() }
        return id
    }

    private func lacksJob() -> Never {
        preconditionFailure("scan \(self.scan.record.scan) is in \(self.stage) without a job")
    }
}

extension ActiveScan {
    /// Until when a server has asked to wait with the next request.
    var floor: Instant? {
        switch self.stage {
        case .disconnected(_, let floor), .unfetched(_, let floor): floor
        case .uploading, .recording, .opening, .streaming, .fetching, .filing, .cleaning: nil
        }
    }

    /// What keeps it from going on, while it waits out a backoff; nil for what is nobody's failure.
    var trouble: WaitingCause? {
        switch self.stage {
        case .unfetched: self.resultsFailures > 0 ? .resultsUnavailable : nil
        case .disconnected: self.episode.flatMap { Self.waitingCause(of: $0.cause) }
        case .uploading, .recording, .opening, .streaming, .fetching, .filing, .cleaning: nil
        }
    }

    private static func waitingCause(of loss: LossCause) -> WaitingCause? {
        switch loss {
        case .refusedByStatus: .serverError
        case .badAnswer: .unreadableAnswer
        case .noAnswer: .noAnswer
        case .foreignURL: .foreignURL
        case .connectFailed: .transport
        case .reset, .endWithoutTerminal, .silence, .offline, .killed, .handover: nil
        }
    }
}

/// From the first loss of a stream that was noticed to the next 200 head, however many attempts that takes.
struct LossEpisode: Hashable, Sendable {
    let cause: LossCause
    let noticedAt: Instant
    var attempts = 0

    init(cause: LossCause, noticedAt: Instant) {
        self.cause = cause
        self.noticedAt = noticedAt
    }
}
