import Observations
import SimBase
import Talaria
import Wire

// The stages of a scan: what follows on what, and what they say.

extension ActiveScan.Stage {
    /// The upload was answered with a job.
    func accepted(_ writeID: WriteID) -> Self {
        guard case .uploading = self else { self.isIllegal("accepted") }
        return .recording(writeID)
    }

    /// The stream is requested, for the first time or again.
    func requested() -> Self {
        switch self {
        case .recording: return .opening(ActiveScan.JobStream(), nil)
        case .disconnected(let stream, var episode, _):
            episode.attempts += 1
            return .opening(stream, episode)
        case .uploading, .opening, .streaming, .polling, .unpolled, .fetching, .unfetched, .filing, .cleaning:
            self.isIllegal("requested")
        }
    }

    /// The 200 head of an event stream came.
    func opened(resumed: Bool, isSocket: Bool, _ policy: StreamPolicy, at now: Instant) -> Self {
        guard case .opening(var stream, _) = self else { self.isIllegal("opened") }
        if policy.forgivesLosses { (stream.losses, stream.backoff) = (0, Backoff()) }
        stream.remembered.reconnected()
        stream.books = []
        return .streaming(
            stream,
            StreamConnection(openedAt: now, resumed: resumed, rules: isSocket ? nil : policy.reader))
    }

    /// The stream is over without a terminal event, or could not be opened. `asked`: how long the server asks to wait.
    func lost(
        _ cause: LossCause, asked: Interval?, _ policy: BackoffPolicy, draw: UInt64, at now: Instant
    ) -> Self {
        var (stream, episode) = (ActiveScan.JobStream(), LossEpisode(cause: cause, noticedAt: now))
        switch self {
        case .recording: break
        case .opening(let kept, let going): (stream, episode) = (kept, going ?? episode)
        case .streaming(let kept, _): stream = kept
        case .uploading, .disconnected, .polling, .unpolled, .fetching, .unfetched, .filing, .cleaning:
            self.isIllegal("lost")
        }
        stream.losses += 1
        let wait = stream.backoff.failed(policy, draw: draw)
        return .disconnected(
            stream, episode, ActiveScan.Pause(until: now + wait, floor: now + (asked ?? .zero)))
    }

    /// The stream was refused with a status that the contract does not name.
    func refused() -> Self {
        guard case .disconnected(var stream, let episode, let pause) = self else { self.isIllegal("refused") }
        stream.refusals += 1
        return .disconnected(stream, episode, pause)
    }

    /// The app has shown that the scan has failed, while its client opens the stream again.
    func reportedFailure() -> Self {
        guard case .disconnected(var stream, let episode, let pause) = self else {
            self.isIllegal("reported as failed")
        }
        stream.hasFailed = true
        return .disconnected(stream, episode, pause)
    }

    /// The job has completed, and its books are still to be requested.
    func completed(_ fetch: ActiveScan.ResultsFetch, at now: Instant) -> Self {
        switch self {
        case .streaming, .polling: break
        case .uploading, .recording, .opening, .disconnected, .unpolled, .fetching, .unfetched, .filing,
            .cleaning:
            self.isIllegal("completed")
        }
        return .unfetched(fetch, ActiveScan.Pause(until: now, floor: now))
    }

    /// The status of the job will be requested: at a time, or after the wait for a lost stream.
    func followedByStatus(at moment: Instant) -> Self {
        switch self {
        case .recording:
            return .unpolled(ActiveScan.StatusPoll(), ActiveScan.Pause(until: moment, floor: moment))
        case .disconnected(_, _, let pause): return .unpolled(ActiveScan.StatusPoll(), pause)
        case .uploading, .opening, .streaming, .polling, .unpolled, .fetching, .unfetched, .filing, .cleaning:
            self.isIllegal("followed by its status")
        }
    }

    /// The status is requested.
    func polled() -> Self {
        guard case .unpolled(var poll, _) = self else { self.isIllegal("polled") }
        poll.requests += 1
        return .polling(poll)
    }

    /// The status was read, and the job has not ended.
    func running(next moment: Instant) -> Self {
        guard case .polling(var poll) = self else { self.isIllegal("running") }
        poll.failures = 0
        poll.backoff.succeeded()
        return .unpolled(poll, ActiveScan.Pause(until: moment, floor: moment))
    }

    /// The status could not be had this time. `atLeast`: the wait that the server or the contract requires. `isFailure`:
    /// whether that counts towards the failures in a row.
    func missed(
        atLeast: Interval, isFailure: Bool, _ policy: BackoffPolicy, draw: UInt64, at now: Instant
    ) -> Self {
        guard case .polling(var poll) = self else { self.isIllegal("missed") }
        if isFailure { poll.failures += 1 }
        let wait = poll.backoff.failed(policy, draw: draw)
        return .unpolled(poll, ActiveScan.Pause(until: now + wait, floor: now + atLeast))
    }

    /// The results are requested.
    func fetched() -> Self {
        guard case .unfetched(let fetch, _) = self else { self.isIllegal("fetched") }
        return .fetching(fetch)
    }

    /// An answer came that is not the results.
    func answeredBadly() -> Self {
        guard case .fetching(var fetch) = self else { self.isIllegal("answered badly") }
        fetch.badAnswers += 1
        return .fetching(fetch)
    }

    /// The results could not be had this time.
    func failed(asked: Interval?, _ policy: BackoffPolicy, draw: UInt64, at now: Instant) -> Self {
        guard case .fetching(var fetch) = self else { self.isIllegal("failed") }
        fetch.failures += 1
        let wait = fetch.backoff.failed(policy, draw: draw)
        return .unfetched(fetch, ActiveScan.Pause(until: now + wait, floor: now + (asked ?? .zero)))
    }

    /// The outcome is known and written.
    func decided(_ filing: ActiveScan.Filing) -> Self {
        switch self {
        case .uploading, .recording, .opening, .streaming, .disconnected, .polling, .unpolled, .fetching,
            .unfetched:
            return .filing(filing)
        case .filing, .cleaning: self.isIllegal("decided")
        }
    }

    /// The outcome is durable.
    func filed(holdingThroughCleanup: Bool) -> Self {
        guard case .filing(let filing) = self else { self.isIllegal("filed") }
        guard filing.holdsSlot else { return .cleaning(.given) }
        switch filing.outcome {
        case .completed, .refused: return .cleaning(holdingThroughCleanup ? .untilSettled : .untilStreamEnds)
        case .removed, .canceled: return .cleaning(.untilStreamEnds)
        }
    }

    /// The slot was released: the stream has ended, or the app went to the background.
    func slotGiven() -> Self {
        switch self {
        case .filing(var filing):
            filing.holdsSlot = false
            return .filing(filing)
        case .cleaning: return .cleaning(.given)
        case .uploading, .recording, .opening, .streaming, .disconnected, .polling, .unpolled, .fetching,
            .unfetched:
            self.isIllegal("without its slot")
        }
    }

    /// The path is back: a wait ends at this time.
    func pathReturned(tryAt moment: Instant) -> Self {
        switch self {
        case .disconnected(let stream, let episode, let pause):
            .disconnected(stream, episode, ActiveScan.Pause(until: moment, floor: pause.floor))
        case .unfetched(let fetch, let pause):
            .unfetched(fetch, ActiveScan.Pause(until: moment, floor: pause.floor))
        case .unpolled(let poll, let pause):
            .unpolled(poll, ActiveScan.Pause(until: moment, floor: pause.floor))
        case .uploading, .recording, .opening, .streaming, .polling, .fetching, .filing, .cleaning: self
        }
    }

    /// Changes the open stream where it is: its buffers are moved, not copied.
    mutating func update<Result>(
        _ change: (inout ActiveScan.JobStream, inout StreamConnection) -> Result
    ) -> Result {
        guard self.isStreaming else { self.isIllegal("read") }
        guard case .streaming(var stream, var connection) = consume self else { preconditionFailure() }
        defer { self = .streaming(stream, connection) }
        return change(&stream, &connection)
    }

    private func isIllegal(_ transition: String) -> Never {
        preconditionFailure("a scan in \(self) cannot be \(transition)")
    }
}

extension ActiveScan.Stage {
    var isStreaming: Bool {
        if case .streaming = self { true } else { false }
    }

    /// Whether its outcome is known.
    var isDecided: Bool {
        switch self {
        case .filing, .cleaning: true
        case .uploading, .recording, .opening, .streaming, .disconnected, .polling, .unpolled, .fetching,
            .unfetched:
            false
        }
    }

    /// Whether its job is durable and has requests still to come.
    var needsToken: Bool {
        switch self {
        case .opening, .streaming, .disconnected, .polling, .unpolled, .fetching, .unfetched: true
        case .uploading, .recording, .filing, .cleaning: false
        }
    }

    var isCleaning: Bool {
        if case .cleaning = self { true } else { false }
    }

    /// Whether it holds a slot: from the upload until the outcome is durable and the stream has ended;
    /// released early when the phone is suspended.
    var holdsSlot: Bool {
        switch self {
        case .uploading, .recording, .opening, .streaming, .disconnected, .polling, .unpolled, .fetching,
            .unfetched:
            true
        case .filing(let filing): filing.holdsSlot
        case .cleaning(let slot): slot != .given
        }
    }

    /// The slot of a scan with only the DELETE left; nil for the others.
    var slot: ActiveScan.Slot? {
        if case .cleaning(let slot) = self { slot } else { nil }
    }

    /// The time until which its client reads no event of the open stream; nil while it does.
    var blockedUntil: Instant? {
        if case .streaming(_, let connection) = self { connection.blockedUntil } else { nil }
    }

    /// Whether its open stream followed on failures and has not ended them yet.
    var hasFailures: Bool {
        if case .streaming(let stream, _) = self { stream.backoff.failures > 0 } else { false }
    }

    /// The loss that no 200 head has ended yet.
    var episode: LossEpisode? {
        switch self {
        case .opening(_, let episode): episode
        case .disconnected(_, let episode, _): episode
        case .uploading, .recording, .streaming, .polling, .unpolled, .fetching, .unfetched, .filing,
            .cleaning:
            nil
        }
    }

    /// The wait that it serves.
    var pause: ActiveScan.Pause? {
        switch self {
        case .disconnected(_, _, let pause), .unpolled(_, let pause), .unfetched(_, let pause): pause
        case .uploading, .recording, .opening, .streaming, .polling, .fetching, .filing, .cleaning: nil
        }
    }

    /// The time of the last bytes of the open stream; nil if nothing more can come.
    var lastByteAt: Instant? {
        if case .streaming(_, let connection) = self, !connection.isOver {
            connection.lastByteAt
        } else {
            nil
        }
    }

    /// The number of events of the stream that are remembered.
    var rememberedCount: Int {
        switch self {
        case .opening(let stream, _), .streaming(let stream, _), .disconnected(let stream, _, _):
            stream.remembered.count
        case .uploading, .recording, .polling, .unpolled, .fetching, .unfetched, .filing, .cleaning: 0
        }
    }

    /// Failures to get the results.
    var resultsFailures: Int {
        switch self {
        case .fetching(let fetch), .unfetched(let fetch, _): fetch.failures
        case .uploading, .recording, .opening, .streaming, .disconnected, .polling, .unpolled, .filing,
            .cleaning:
            0
        }
    }

    /// Failures in a row to get the status.
    var statusFailures: Int {
        switch self {
        case .polling(let poll), .unpolled(let poll, _): poll.failures
        case .uploading, .recording, .opening, .streaming, .disconnected, .fetching, .unfetched, .filing,
            .cleaning:
            0
        }
    }

    /// The cause that blocks it while it waits for a backoff; nil if it is not a failure.
    var trouble: WaitingCause? {
        switch self {
        case .unfetched(let fetch, _): fetch.failures > 0 ? .resultsUnavailable : nil
        case .disconnected(_, let episode, _): episode.waitingCause
        case .uploading, .recording, .opening, .streaming, .polling, .unpolled, .fetching, .filing, .cleaning:
            nil
        }
    }
}
