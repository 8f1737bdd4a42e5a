import Metrics
import Observations
import SimBase
import Talaria

// Operations that are open: what an upper limit must not pass over (Docs/design.md section 11.3).

/// The start of those operations of a scan that consist of several requests.
struct ScanTimes: Sendable {
    /// The scheduled time of the capture, until the scan is completed, refused or canceled. Nil for a scan that an
    /// earlier run captured.
    var capturedAt: Instant?
    /// The same, until the user sees a first book.
    var awaitsBookSince: Instant?
    /// The scheduled time of the upload, until its 202.
    var uploadDueAt: Instant?
    /// The moment at which the stream was opened, until its first event.
    var streamOpenedAt: Instant?
    /// The moment of the 202, until its job has ended.
    var acceptedAt: Instant?
    /// Whether an event of that job has come.
    var hasEvent = false
    /// Whether the client reads streams: it has requested one.
    var hasStream = false
    /// The moment at which the user canceled the scan, until its job is deleted or given up.
    var canceledAt: Instant?
    var canceledJob: String?
    /// The operations that were given up while the app was in the background. If the app does not return
    /// before the end of the run, they count as open.
    var cut: [(metric: LatencyMetric, since: Instant)] = []
    /// Whether it would survive a kill.
    var isDurable = false

    var isBlank: Bool {
        self.capturedAt == nil && self.uploadDueAt == nil && self.streamOpenedAt == nil
            && self.acceptedAt == nil
            && self.canceledAt == nil && self.cut.isEmpty
    }

    /// The moment of the 202, until the first event of its job.
    var awaitsEventSince: Instant? { self.hasEvent ? nil : self.acceptedAt }

    /// The app is back, or another process is: what was given up is over.
    mutating func goesOn() {
        self.cut = []
        self.streamOpenedAt = nil
    }

    /// A scan without a durable record went with the process.
    mutating func killed() {
        self.goesOn()
        guard !self.isDurable else { return }
        self.capturedAt = nil
        self.awaitsBookSince = nil
        self.uploadDueAt = nil
        self.acceptedAt = nil
    }
}

extension ScanOperations {
    /// Records the times. Called before the observation ends an operation.
    mutating func noteTimes(_ payload: PhoneObservation, at: Instant, isSuspended: Bool) {
        switch payload {
        case .captured(let scheduled):
            self.times.capturedAt = scheduled
            self.times.awaitsBookSince = scheduled
            self.times.uploadDueAt = scheduled
        case .queued: self.times.isDurable = true
        case .requestSent(.upload, _, _, _): self.times.uploadDueAt = self.times.uploadDueAt ?? at
        case .requestSent(.stream, _, _, _): self.times.hasStream = true
        case .uploadAccepted:
            self.times.uploadDueAt = nil
            self.times.acceptedAt = at
            self.times.hasEvent = false
        case .lookupAnswered: self.times.uploadDueAt = nil
        case .recordKept(let job, _, _) where job != self.job: self.times.acceptedAt = nil
        case .streamOpened(let job, _, _, _) where job == self.job: self.times.streamOpenedAt = at
        case .firstEvent, .streamLost, .terminalApplied: self.times.streamOpenedAt = nil
        case .cancelRequested: self.times.canceledAt = at
        case .cancelAnswered: self.times.canceledAt = nil
        case .canceled(let job):
            self.noteOver()
            self.times.canceledJob = job
            // Without a job, there is nothing left to do.
            if job == nil { self.times.canceledAt = nil }
        case .completed, .refused:
            self.noteOver()
            self.times.canceledAt = nil
        case .resultsGivenUp where isSuspended: self.cut(.resultsTime, self.results.beganAt)
        case .statusGivenUp where isSuspended: self.cut(.statusTime, self.status.beganAt)
        case .reconnectGivenUp where isSuspended: self.cut(.sseReconnectTime, self.lostAt)
        case .jobAbandoned(let job, _): self.noteAbandoned(job, isSuspended: isSuspended)
        default: break
        }
    }

    private mutating func noteAbandoned(_ job: String, isSuspended: Bool) {
        if job == self.times.canceledJob { self.times.canceledAt = nil }
        let (acceptedAt, awaitsEventSince) = (self.times.acceptedAt, self.times.awaitsEventSince)
        if job == self.job { self.times.acceptedAt = nil }
        guard isSuspended else { return }
        for delete in self.deletes where delete.job == job {
            self.cut(.cleanupTime, delete.operation.beganAt)
        }
        guard job == self.job else { return }
        if self.times.hasStream { self.cut(.jobFirstEventTime, awaitsEventSince) }
        self.cut(.jobTime, acceptedAt)
        self.cut(.sseConnectTime, self.connect.beganAt)
        self.cut(.resultsTime, self.results.beganAt)
        self.cut(.statusTime, self.status.beganAt)
    }

    private mutating func noteOver() {
        self.times.capturedAt = nil
        self.times.awaitsBookSince = nil
        self.times.uploadDueAt = nil
        self.times.streamOpenedAt = nil
        self.times.acceptedAt = nil
    }

    private mutating func cut(_ metric: LatencyMetric, _ since: Instant?) {
        if let since { self.times.cut.append((metric, since)) }
    }

    /// `launchedAt`: of the process that runs.
    func open(launchedAt: Instant?, _ found: (LatencyMetric, Instant) -> Void) {
        // A stream that a kill took is looked for by the next process, from its launch on.
        let reconnecting = self.lostAt ?? (self.lossBeforeKill == nil ? nil : launchedAt)
        let times: [(LatencyMetric, Instant?)] = [
            (.scanTime, self.times.capturedAt), (.uploadTime, self.times.uploadDueAt),
            (.uploadServiceTime, self.upload.beganAt), (.sseConnectTime, self.connect.beganAt),
            (.sseFirstEventTime, self.times.streamOpenedAt), (.sseReconnectTime, reconnecting),
            (.resultsTime, self.results.beganAt), (.statusTime, self.status.beganAt),
            (.cancelTime, self.times.canceledAt), (.jobTime, self.times.acceptedAt),
            (.jobFirstEventTime, self.times.hasStream ? self.times.awaitsEventSince : nil),
            (.firstBookTime, self.times.awaitsBookSince),
        ]
        for case (let metric, let since?) in times { found(metric, since) }
        for delete in self.deletes {
            if let since = delete.operation.beganAt { found(.cleanupTime, since) }
        }
        for operation in self.times.cut { found(operation.metric, operation.since) }
    }
}

extension PhoneOperations {
    func open(_ found: (LatencyMetric, Instant) -> Void) {
        for scan in self.scans { scan.open(launchedAt: self.isRunning ? self.launchedAt : nil, found) }
    }
}
