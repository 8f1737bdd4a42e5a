import Observations
import SimBase
import Talaria

/// A scan that is being worked on, from the upload to the DELETE.
struct ActiveScan: Sendable {
    var scan: Scan
    var stage: Stage
    /// When the token of its job is to be exchanged; nil if it is not.
    var refreshDue: Instant?
    var refreshBackoff = Backoff()
    /// When its job got a new token; nil if it has the one of the upload.
    var tokenSince: Instant?

    var number: ScanNumber { self.scan.number }

    /// The stage of a scan, with the data that is valid in it. The functions in
    /// `ActiveScan+Transitions.swift` lead from one stage to the next; the table of them is in
    /// Docs/machines/scan.md.
    enum Stage: Sendable {
        /// The photo is on its way. Leaves to `recording` or `filing`, or back to the queue.
        case uploading
        /// The job is known and its record not durable yet. Leaves to `opening`, `disconnected` or `unpolled`, or back to the
        /// queue.
        case recording(WriteID)
        /// The stream is requested. Leaves to `streaming` or `disconnected`, or back to the queue.
        case opening(JobStream, LossEpisode?)
        /// Events come. Leaves to `filing` or `unfetched` by a terminal event, to `disconnected`, or back to the queue.
        case streaming(JobStream, StreamConnection)
        /// Waiting out a backoff, or for a path. Leaves to `opening` or `unpolled`, or back to the queue.
        case disconnected(JobStream, LossEpisode, Pause)
        /// The status of the job is requested. Leaves to `unpolled`, to `unfetched` when the job has completed, or back to the
        /// queue.
        case polling(StatusPoll)
        /// Waiting for the next request for the status, or for a path. Leaves to `polling`, or back to the queue.
        case unpolled(StatusPoll, Pause)
        /// The results are requested. Leaves to `filing` or `unfetched`, or back to the queue.
        case fetching(ResultsFetch)
        /// Like `disconnected`, for the results. Leaves to `fetching`, or back to the queue.
        case unfetched(ResultsFetch, Pause)
        /// The outcome is decided and its writes not durable yet. Leaves to `cleaning`.
        case filing(Filing)
        /// Completed, refused or canceled; settled as soon as no DELETE is left to do.
        case cleaning(Slot)
    }

    /// The slot of a scan whose outcome is durable.
    enum Slot: Hashable, Sendable {
        /// It has none any more.
        case given
        case untilStreamEnds
        /// The profile holds it through the DELETE.
        case untilSettled
    }

    /// The state that a phone keeps over all connections to the stream of one job.
    struct JobStream: Sendable {
        var remembered = SeenEvents()
        var backoff = Backoff()
        /// Refusals with a status that the contract does not name.
        var refusals = 0
        /// Failed requests and streams.
        var losses = 0
        /// Whether the app has shown that the scan has failed.
        var hasFailed = false
        /// The books that came in events of their own on the open stream.
        var books: [Book] = []
        /// The number of books by the last preview.
        var booksSegmented: Int?
    }

    /// The requests for the status of a job that has not ended.
    struct StatusPoll: Sendable {
        var requests = 0
        /// Failures in a row.
        var failures = 0
        var backoff = Backoff()
    }

    /// The results of a completed job, as long as they have not come.
    struct ResultsFetch: Sendable {
        let target: String
        /// The number of books by the `completed` event and by the preview.
        let booksPromised: BooksPromise?
        /// When they are gone, milliseconds since 1970, by the `completed` event.
        var expiresAt: Int64?
        var failures = 0
        var badAnswers = 0
        var backoff = Backoff()
    }

    /// An outcome on its way to the disk.
    struct Filing: Sendable {
        let writeID: WriteID
        var outcome: Outcome
        /// The attempt number of the job's DELETE, reserved in the write of the outcome.
        let cleanupAttempt: UInt32?
        /// False when the app went to the background in the meantime.
        var holdsSlot = true
    }

    enum Outcome: Sendable {
        /// The scan is completed, with the books whose writes may not be durable yet.
        case completed([UnobservedBook])
        case refused(code: String, RefusalCause)
        /// The scan was given up, and nothing of it is kept. Its job is deleted once that was shown.
        case removed(overlay: Interval)
        /// The user has canceled the scan. Its job is deleted.
        case canceled
    }

    struct UnobservedBook: Sendable {
        var writeID: WriteID
        var ordinal: Int
        var book: Book
    }

    /// A backoff. `floor` is what the server requested; a path that returns ends the wait, but not before that.
    struct Pause: Hashable, Sendable {
        var until: Instant
        let floor: Instant

        var end: Instant { max(self.until, self.floor) }
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

extension ActiveScan.Stage {
    /// Nil while it waits for nothing that comes by time.
    func earliestWake(idleTimeout: Interval, hasPath: Bool) -> Instant? {
        switch self {
        case .streaming(_, let connection) where connection.isOver: connection.blockedUntil
        case .streaming(_, let connection):
            min(connection.lastByteAt + idleTimeout, connection.blockedUntil ?? .distantFuture)
        case .disconnected(_, _, let pause), .unpolled(_, let pause), .unfetched(_, let pause):
            hasPath ? pause.end : nil
        case .uploading, .recording, .opening, .polling, .fetching, .filing, .cleaning: nil
        }
    }
}

/// The time from the first noticed loss of a stream to the next 200 head, however many attempts it takes.
struct LossEpisode: Hashable, Sendable {
    let cause: LossCause
    let noticedAt: Instant
    var attempts = 0

    /// Why the scan waits; nil for a loss that does not count as a failure.
    var waitingCause: WaitingCause? {
        switch self.cause {
        case .refusedByStatus: .serverError
        case .badAnswer: .unreadableAnswer
        case .noAnswer: .noAnswer
        case .foreignURL: .foreignURL
        case .connectFailed: .transport
        case .closedGoingAway, .closedProtocolError, .closedPolicyViolation, .closedMessageTooBig,
            .closedInternalError, .closedServiceRestart, .closedTryAgainLater, .closedOtherwise:
            .serverError
        case .reset, .endWithoutTerminal, .silence, .offline, .killed, .handover: nil
        }
    }
}
