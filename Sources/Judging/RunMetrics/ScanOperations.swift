import Metrics
import Observations
import SimBase
import Talaria

/// One operation that may be under way.
struct OperationAccount: Sendable {
    /// Nil when none is under way; otherwise whether its last attempt failed.
    private(set) var lastFailed: Bool?
    /// The moment of its first request; nil if none is open.
    private(set) var beganAt: Instant?

    var isOpen: Bool { self.lastFailed != nil }

    mutating func sent(at: Instant) {
        self.lastFailed = false
        self.beganAt = self.beganAt ?? at
    }

    mutating func attemptFailed(_ failed: Bool) {
        if self.isOpen { self.lastFailed = failed }
    }

    mutating func end(
        failed: Bool, _ metric: RateMetric, into measured: inout Measurements, _ group: MetricGroup
    ) {
        guard self.isOpen else { return }
        self.lastFailed = nil
        self.beganAt = nil
        measured.table.record(metric, failed: failed, in: group)
    }

    /// Whatever it was for is over.
    mutating func close(_ metric: RateMetric, into measured: inout Measurements, _ group: MetricGroup) {
        if self.lastFailed == true { measured.table.record(metric, failed: true, in: group) }
        self.lastFailed = nil
        self.beganAt = nil
    }
}

/// The stream of the job that is followed.
enum StreamStage: Sendable {
    /// It has not been open. Leaves to `open`.
    case unopened
    /// Leaves to any other.
    case open
    /// It ended, or was lost, or the app is suspended. Leaves to `open` or `unopened`.
    case closed
    /// The process was killed while it was open: the next process knows of no loss, so it is followed here. Leaves to `open`
    /// or `unopened`.
    case killed

    mutating func ended() {
        if self == .open { self = .closed }
    }
}

/// The operations of one scan.
struct ScanOperations: Sendable {
    /// A DELETE that was sent and that has not had its last answer.
    struct Delete: Sendable {
        var job: String
        var operation = OperationAccount()
    }

    let scan: ScanNumber
    var upload = OperationAccount()
    /// The first connect of the job.
    var connect = OperationAccount()
    var results = OperationAccount()
    var status = OperationAccount()
    var deletes: [Delete] = []
    var attempts = AttemptAccount()
    /// The job that is followed.
    var job: String?
    var stream = StreamStage.unopened
    /// The moment of a loss without a later 200 head, as the phone reported it. A first connect that failed is a loss, too.
    var lostAt: Instant?
    /// The cause of that loss.
    var lostBy: LossCause?
    /// The cause of a loss that a kill cut short: the next process knows nothing of it, so it is followed here until the stream is
    /// open again or the job is over.
    var cutLoss: LossCause?
    var isSettled = false
    /// The open operations that are not requests.
    var times = ScanTimes()

    var isLost: Bool { self.lostAt != nil }

    var isDone: Bool {
        self.deletes.isEmpty && self.times.cut.isEmpty && self.times.canceledAt == nil
            && (self.isSettled || self.isBlank)
    }

    /// Whether it is equal to a new one. The account of a DELETE after the scan's end is, once it has its
    /// response.
    private var isBlank: Bool {
        !self.upload.isOpen && !self.connect.isOpen && !self.results.isOpen && !self.status.isOpen
            && self.job == nil
            && self.stream == .unopened && !self.isLost && self.cutLoss == nil && self.times.isBlank
    }
}

extension ScanOperations {
    mutating func record(
        _ payload: PhoneObservation, at: Instant, launchedAt: Instant, into measured: inout Measurements,
        _ group: MetricGroup
    ) {
        if let end = self.attempts.record(payload) {
            measured.table.record(end.metric, failed: end.failed, in: group)
        }
        switch payload {
        case .requestSent(let operation, _, let job, _):
            self.sent(operation, job: job, at: at, into: &measured, group)
        case .replied(let operation, _, let status, _):
            self.attempt(operation, failed: Self.isFailure(status, of: operation))
        case .requestFailed(let operation, _, _, _), .badAnswer(let operation, _, _):
            self.attempt(operation, failed: true)
        case .uploadAccepted(let job, _, _):
            self.upload.end(failed: false, .uploadFailed, into: &measured, group)
            self.jobOver(into: &measured, group)
            self.job = job
        case .lookupAnswered:
            self.upload.end(failed: false, .uploadFailed, into: &measured, group)
        case .resultsDecoded:
            self.results.end(failed: false, .resultsFailed, into: &measured, group)
        case .resultsGivenUp:
            self.results.end(failed: true, .resultsFailed, into: &measured, group)
        case .statusDecoded(let job, let status, _):
            self.status.end(failed: false, .statusFailed, into: &measured, group)
            if status.isTerminal { self.jobEnded(job, at: at, into: &measured, group) }
        case .statusGivenUp:
            self.status.end(failed: true, .statusFailed, into: &measured, group)
        case .cleanupAnswered(let job, let status, _):
            let isSuccess = (200..<300).contains(status) || status == 404 || status == 410
            self.deleteOver(job, failed: !isSuccess, into: &measured, group)
        case .jobAbandoned(let job, _):
            self.deleteOver(job, failed: true, into: &measured, group)
            if job == self.job { self.jobOver(into: &measured, group) }
        case .bookShown, .bookAdded, .bookRepeated: self.bookSeen(at: at, into: &measured, group)
        case .canceled:
            self.upload.close(.uploadFailed, into: &measured, group)
            self.settled(into: &measured, group)
        case .completed, .refused:
            self.upload.end(failed: true, .uploadFailed, into: &measured, group)
            self.settled(into: &measured, group)
        default: self.recordStream(payload, at: at, launchedAt: launchedAt, into: &measured, group)
        }
    }

    private mutating func recordStream(
        _ payload: PhoneObservation, at: Instant, launchedAt: Instant, into measured: inout Measurements,
        _ group: MetricGroup
    ) {
        switch payload {
        case .streamOpened(let job, _, let after, _):
            guard job == self.job else { return }
            self.opened(resumed: after != nil, at: at, launchedAt: launchedAt, into: &measured, group)
        case .firstEvent(let job, _):
            guard job == self.job, let since = self.times.awaitsEventSince else { return }
            self.times.hasEvent = true
            measured.record(.jobFirstEventTime, at - since, in: group)
        case .terminalApplied(let job, _, _):
            self.stream.ended()
            self.jobEnded(job, at: at, into: &measured, group)
        case .streamLost(_, _, let cause, _):
            self.streamLost(cause, at: at, into: &measured, group)
        case .reconnected(_, let cause, _, let resumed, let took):
            self.lostAt = nil
            self.reconnected(cause, resumed: resumed, took: took, into: &measured, group)
        case .reconnectGivenUp(_, let cause, _):
            self.lostAt = nil
            measured[group].disconnections.gaveUp(cause)
        case .reconnectSuperseded(_, let cause, _):
            self.reconnectSuperseded(cause, into: &measured, group)
        default: break
        }
    }

    private mutating func sent(
        _ operation: Operation, job: String?, at: Instant, into measured: inout Measurements,
        _ group: MetricGroup
    ) {
        switch operation {
        case .upload:
            self.upload.sent(at: at)
        case .stream:
            if job != self.job {  // Restored from an earlier run.
                self.jobOver(into: &measured, group)
                self.job = job
            }
            let isFirst = self.stream == .unopened
            measured.table.add(1, to: isFirst ? .sseConnectAttempts : .sseReconnectAttempts, in: group)
            if isFirst { self.connect.sent(at: at) }
        case .results:
            self.results.sent(at: at)
        case .cleanup, .cancel:
            guard let job else { return }
            if !self.deletes.contains(where: { $0.job == job }) { self.deletes.append(Delete(job: job)) }
            for index in self.deletes.indices where self.deletes[index].job == job {
                self.deletes[index].operation.sent(at: at)
            }
        case .status:
            self.job = self.job ?? job  // Restored from an earlier run.
            self.status.sent(at: at)
        case .refresh: break  // Counted by its attempts.
        }
    }

    private static func isFailure(_ status: Int, of operation: Operation) -> Bool {
        // Told to wait is not failed; a DELETE of what is gone has done its work.
        // So has the cancel of a job that had ended before.
        let isFine =
            operation.isDelete && (status == 404 || status == 410)
            || operation == .cancel && status == 409
        return status >= 400 && status != 429 && !isFine
    }

    private mutating func attempt(_ operation: Operation, failed: Bool) {
        switch operation {
        case .upload: self.upload.attemptFailed(failed)
        case .stream: self.connect.attemptFailed(failed)
        case .results: self.results.attemptFailed(failed)
        case .cleanup, .cancel:
            for index in self.deletes.indices { self.deletes[index].operation.attemptFailed(failed) }
        case .status: self.status.attemptFailed(failed)
        case .refresh: break
        }
    }

    private mutating func deleteOver(
        _ job: String, failed: Bool, into measured: inout Measurements, _ group: MetricGroup
    ) {
        guard let index = self.deletes.firstIndex(where: { $0.job == job }) else { return }
        self.deletes[index].operation.end(failed: failed, .cleanupFailed, into: &measured, group)
        self.deletes.remove(at: index)
    }

    /// The phone has learned that a job has ended.
    private mutating func jobEnded(
        _ job: String, at: Instant, into measured: inout Measurements, _ group: MetricGroup
    ) {
        guard job == self.job, let since = self.times.acceptedAt else { return }
        self.times.acceptedAt = nil
        measured.record(.jobTime, at - since, in: group)
    }

    /// The stream of the present job is of no more interest.
    private mutating func jobOver(into measured: inout Measurements, _ group: MetricGroup) {
        self.connect.close(.sseConnectFailed, into: &measured, group)
        self.results.close(.resultsFailed, into: &measured, group)
        self.status.close(.statusFailed, into: &measured, group)
        self.job = nil
        // After a kill, the next process was told that the job is over, and the scan goes up again.
        if let cause = self.lossBeforeKill { self.superseded(cause, into: &measured, group) }
        self.cutLoss = nil
        self.stream = .unopened
    }

    private mutating func settled(into measured: inout Measurements, _ group: MetricGroup) {
        self.jobOver(into: &measured, group)
        self.isSettled = true
    }

    /// The run is over.
    mutating func close(into measured: inout Measurements, _ group: MetricGroup) {
        self.upload.close(.uploadFailed, into: &measured, group)
        self.connect.close(.sseConnectFailed, into: &measured, group)
        self.results.close(.resultsFailed, into: &measured, group)
        self.status.close(.statusFailed, into: &measured, group)
        for index in self.deletes.indices {
            self.deletes[index].operation.close(.cleanupFailed, into: &measured, group)
        }
        if self.isLost {
            measured.table.record(.sseReconnectFailed, failed: true, in: group)
        }
    }
}
