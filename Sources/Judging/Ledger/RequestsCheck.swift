import Metrics
import Observations
import SimBase
import Talaria

/// The requests of one phone: each is sent once, ends once and in its time, and asks for what its token and its job allow;
/// what comes back can be parsed. And the phone answers a capture for which it has no room.
struct RequestsCheck: Sendable {
    private struct Job: Sendable {
        let id: String
        let scan: ScanNumber
        /// The time at which a 401 reported that its token has expired.
        var refusedAt: Instant?
        var isDeleted: Bool
    }

    /// The time for which a phone is watched after its release.
    private static let releaseTime = Interval.seconds(1)
    /// The time that a small request needs on a slow link.
    private static let timeoutSlack = Interval.seconds(2)
    private static let scansMax = 16
    private static let jobsMax = 16
    private static let answersMax = 64

    private var requests = OpenRequests()
    /// Jobs that were deleted with effect, the last few.
    private var cleaned: [UInt64] = []
    /// Jobs that the phone has requested, as long as their scans may be.
    private var jobs: [Job] = []
    /// The last scans that were settled.
    private var settled: [ScanNumber] = []
    /// Scans on whose stream a fault wrote what cannot be read.
    private var troubled: [ScanNumber] = []
    private var uploads: [(scan: ScanNumber, count: Int)] = []
    /// Requests on whose answers faults have acted, the latest few.
    private var faulted: [RequestKey] = []
    /// Scans whose last request for a stream was answered with a status that the contract does not name.
    private var unnamed: [ScanNumber] = []
    /// The time of its last release: its limit ended, its path returned, its app was opened.
    private var releasedAt: Instant?
    /// The time at which its path returned, if it has sent no request since.
    private var cameBackAt: Instant?
    /// A capture without room for its record, that was not refused so far.
    private var unanswered: (scan: ScanNumber, at: Instant)?

    var remembered: Int {
        self.requests.remembered + self.jobs.count + self.settled.count + self.troubled.count
            + self.unnamed.count + self.uploads.count + self.cleaned.count
    }

    // MARK: What is seen

    mutating func record(
        _ payload: PhoneObservation, _ seen: Observation, _ life: PhoneLife, _ fleet: inout FleetChecks
    ) {
        switch payload {
        case .requestSent(let operation, let attempt, let job, _):
            self.sent(RequestKey(operation, seen.scan, attempt), job, seen, &fleet)
        case .replied(let operation, let attempt, let status, let took):
            self.replied(RequestKey(operation, seen.scan, attempt), status, took, seen, &fleet)
        case .requestFailed(let operation, let attempt, let failure, let took):
            self.ended(RequestKey(operation, seen.scan, attempt), isAnswer: false, seen, &fleet)
            if took < .zero { fleet.violate(.timeSane, seen, "a failure before its request") }
            if failure == .timedOut { self.judgeTimeout(operation, attempt, took, seen, &fleet) }
        case .tokenExchanged(let job, _): self.exchanged(job)
        case .eventIgnored(_, _, let name, malformed: true):
            self.unreadable("an event \(name.bounded)", seen, &fleet)
        case .badAnswer(let operation, let attempt, let problem):
            self.badAnswer(RequestKey(operation, seen.scan, attempt), problem, seen, &fleet)
        case .eventApplied(_, _, _, let latency?, _):
            if latency < .zero { fleet.violate(.timeSane, seen, "an event applied before it was written") }
        case .rateLimited(let operation, let retryAfter):
            self.requests.invite(operation, of: seen.scan)
            if operation == .upload { self.released(at: seen.at + retryAfter) }
        default: self.recordLife(payload, seen, life, &fleet)
        }
    }

    /// The app, its phone and its scans.
    private mutating func recordLife(
        _ payload: PhoneObservation, _ seen: Observation, _ life: PhoneLife, _ fleet: inout FleetChecks
    ) {
        switch payload {
        case .storageFilled: fleet.awaitsAnswers = true
        case .captured: if life.storage.isFull { self.unanswered = (seen.scan, seen.at) }
        case .pathReturned: self.comesBack(at: seen.at, &fleet)
        case .resumed, .launched:
            // By its user, and not because of a path.
            self.cameBackAt = nil
            self.released(at: seen.at)
        case .suspended, .pathLost:
            self.cameBackAt = nil
            self.requests.interrupted()
        case .pathChanged:
            self.comesBack(at: seen.at, &fleet)
            self.requests.interrupted()
        case .killed: self.requests.killed()
        case .cancelRequested: self.cancelRequested(seen.scan)
        case .recordKept(let job?, _, decided: false): self.recordKept(job, at: seen.at, life)
        case .reinstalled: self = RequestsCheck()
        case .completed, .refused, .canceled: self.settled(seen.scan)
        default: break
        }
    }

    mutating func faultFired(_ request: RequestKey, garblesStream: Bool) {
        if garblesStream { self.troubled.append(request.scan) }
        // What the events of a stream mean is judged by its scan.
        guard request.operation != .stream else { return }
        self.faulted.append(request, max: Self.answersMax)
    }

    mutating func accepted(_ seen: Observation, _ fleet: inout FleetChecks) {
        guard let index = self.uploads.firstIndex(where: { $0.scan == seen.scan }) else { return }
        self.uploads[index].count -= 1
        guard self.uploads[index].count < 0 else { return }
        fleet.violate(.jobOrphansBounded, seen, "more jobs than uploads")
    }

    mutating func cleaned(_ job: String, _ seen: Observation, _ fleet: inout FleetChecks) {
        let known = Digest.inWords(of: job)
        if self.cleaned.contains(known) {
            fleet.violate(.jobCleanedOnce, seen, "job \(job.bounded) deleted twice with effect")
        }
        self.cleaned.append(known, max: Self.jobsMax)
    }

    // MARK: Requests

    private mutating func sent(
        _ request: RequestKey, _ job: String?, _ seen: Observation, _ fleet: inout FleetChecks
    ) {
        if self.requests.sent(request, at: seen.at) {
            fleet.violate(
                .requestOneFate, seen,
                "\(request.operation.name) sent while the previous one is still open")
        }
        let most = SimulationInvariants.requestsPerSecondMax(ofScans: self.requests.scansOfThisSecond)
        if self.requests.sentThisSecond == most + 1 {
            fleet.violate(.retryBudget, seen, "more than \(most) requests in one second")
        }
        if request.operation.holdsSlot { self.judgeRelease(seen, &fleet) }
        if request.operation == .upload {
            if let index = self.uploads.firstIndex(where: { $0.scan == seen.scan }) {
                self.uploads[index].count += 1
            } else {
                self.uploads.append((seen.scan, 1))
            }
        }
        guard let job else { return }
        self.asked(request.operation, job, seen, &fleet)
    }

    private mutating func asked(
        _ operation: Operation, _ job: String, _ seen: Observation, _ fleet: inout FleetChecks
    ) {
        guard let index = self.jobs.lastIndex(where: { $0.id == job }) else {
            self.jobs.append(Job(id: job, scan: seen.scan, isDeleted: operation.isDelete))
            return
        }
        if self.jobs[index].refusedAt != nil {
            fleet.violate(
                .authNoStaleUse, seen, "\(operation.name) with a token that had been answered with 401")
        }
        if self.jobs[index].isDeleted, operation == .stream || operation == .results || operation == .status {
            fleet.violate(.jobSilentAfterCleanup, seen, "\(operation.name) after the job's DELETE")
        }
        if operation.isDelete { self.jobs[index].isDeleted = true }
    }

    private mutating func replied(
        _ request: RequestKey, _ status: Int, _ took: Interval, _ seen: Observation,
        _ fleet: inout FleetChecks
    ) {
        self.ended(request, isAnswer: true, seen, &fleet)
        if took < .zero { fleet.violate(.timeSane, seen, "a response before its request") }
        if request.operation == .stream {
            self.unnamed.removeAll { $0 == seen.scan }
            if !Self.isNamed(streamStatus: status) { self.unnamed.append(seen.scan) }
        }
        // A refused exchange says nothing of what the token is good for until its end.
        guard status == 401, !request.operation.isDelete, request.operation != .refresh else { return }
        // A scan has one job at a time: an earlier one has a token of its own, and may still be owed its DELETE.
        guard let latest = self.jobs.lastIndex(where: { $0.scan == seen.scan }) else { return }
        self.jobs[latest].refusedAt = seen.at
    }

    private mutating func ended(
        _ request: RequestKey, isAnswer: Bool, _ seen: Observation, _ fleet: inout FleetChecks
    ) {
        guard !self.requests.ended(request, isAnswer: isAnswer) else { return }
        fleet.violate(
            .requestOneFate, seen, "\(request.operation.name) \(request.attempt) ended, but was not open")
    }

    /// The clock of a request begins again with each byte that moves. What its connection took to come about is not counted
    /// twice, and a byte that the phone saw a little before its link did is the same.
    private func judgeTimeout(
        _ operation: Operation, _ attempt: UInt32, _ took: Interval, _ seen: Observation,
        _ fleet: inout FleetChecks
    ) {
        let settings = fleet.settings
        let general = fleet.value(
            of: seen.device, in: settings.requestTimeouts, otherwise: settings.requestTimeout)
        let limit = operation == .stream ? settings.connectTimeout : general
        if took < limit - IdleTimeoutCheck.tick {
            fleet.violate(
                .requestOneFate, seen,
                "\(operation.name) \(attempt) timed out after \(took.wholeMilliseconds) ms; its timeout is \(limit.wholeMilliseconds) ms"
            )
            return
        }
        guard let link = fleet.givenUp(operation, attempt, seen) else { return }
        let transfer = Interval.milliseconds(
            Int64(link.photoBytes) * 1_000 / settings.uploadBytesPerSecondMin)
        guard link.photoBytes == 0 || took < limit + transfer - IdleTimeoutCheck.tick else { return }
        let idle = took - (max(link.movedAt, link.readyAt) - link.readyAt)
        guard idle < limit - Self.timeoutSlack else { return }
        fleet.violate(
            .requestOneFate, seen,
            "\(operation.name) \(attempt) timed out \((seen.at - link.movedAt).wholeMilliseconds) ms after a byte of it moved; its timeout is \(limit.wholeMilliseconds) ms"
        )
    }

    /// The time of the last 401 of a job that the next process cannot know of: there was no time or no room to write it down.
    private mutating func recordKept(_ job: String, at moment: Instant, _ life: PhoneLife) {
        guard let index = self.jobs.lastIndex(where: { $0.id == job }),
            let refusedAt = self.jobs[index].refusedAt,
            !life.storage.hasKept(refusedAt, at: moment, within: LedgerSettings.recordTime)
        else { return }
        self.jobs[index].refusedAt = nil
    }

    private mutating func exchanged(_ job: String) {
        for index in self.jobs.indices where self.jobs[index].id == job { self.jobs[index].refusedAt = nil }
    }

    private mutating func cancelRequested(_ scan: ScanNumber) {
        self.requests.canceled(scan)
        // The body of a 401 may still be on its way: its DELETE is one request more.
        for index in self.jobs.indices where self.jobs[index].scan == scan {
            self.jobs[index].refusedAt = nil
        }
    }

    private mutating func settled(_ scan: ScanNumber) {
        self.troubled.removeAll { $0 == scan }
        self.unnamed.removeAll { $0 == scan }
        self.uploads.removeAll { $0.scan == scan }
        self.requests.settled(scan)
        // Of its jobs a DELETE may still be under way; of the scans before nothing is.
        self.settled.append(scan)
        guard self.settled.count > Self.scansMax else { return }
        let gone = self.settled.removeFirst()
        self.jobs.removeAll { $0.scan == gone }
        self.requests.forget(gone)
        self.troubled.removeAll { $0 == gone }
        self.unnamed.removeAll { $0 == gone }
    }

    // MARK: Answers

    private func badAnswer(
        _ request: RequestKey, _ problem: BadAnswer, _ seen: Observation, _ fleet: inout FleetChecks
    ) {
        if request.operation == .stream {
            guard problem == .unexpectedStatus else { return self.unreadable(problem.rawValue, seen, &fleet) }
            // A status that no contract names for a stream has been read, and means nothing.
            guard !self.unnamed.contains(seen.scan) else { return }
            return self.unreadable("the status of a stream that the contract names", seen, &fleet)
        }
        // The answer to any other request has nothing to do with what was written on the stream.
        guard problem != .unexpectedStatus, !self.faulted.contains(request) else { return }
        fleet.violate(
            .streamParseRobust, seen,
            "the answer to \(request.operation.name) \(request.attempt) is \(problem.rawValue), although no fault had made it unreadable"
        )
    }

    private func unreadable(_ what: String, _ seen: Observation, _ fleet: inout FleetChecks) {
        guard !self.troubled.contains(seen.scan) else { return }
        fleet.violate(
            .streamParseRobust, seen, "\(what) could not be parsed, although no fault had made it unreadable")
    }

    /// Whether the contract says what a status means that is answered to the request for a stream (Docs/contract.md section 1.7).
    private static func isNamed(streamStatus status: Int) -> Bool {
        switch status {
        case 200, 401, 404, 408, 410, 429, 500...599: true
        default: false
        }
    }

    // MARK: Captures without room

    /// Checks whether what is seen of a phone is the refusal of a capture that has no room for its record.
    mutating func answersCapture(
        _ payload: PhoneObservation, _ seen: Observation, _ fleet: inout FleetChecks
    ) {
        guard let capture = self.unanswered else { return }
        if case .refused = payload, seen.scan == capture.scan {
            self.unanswered = nil
        } else if capture.at < seen.at {
            self.end(seen.device, at: seen.at, &fleet)
            self.unanswered = nil
        }
    }

    /// The end of the run.
    func end(_ device: DeviceNumber, at moment: Instant, _ fleet: inout FleetChecks) {
        guard let capture = self.unanswered else { return }
        fleet.findings.violate(
            .memoryBounded, device: device, scan: capture.scan, at: moment,
            "captured without room for its record, but not refused at once")
    }

    // MARK: herd.bounded

    /// The latest counts: a limit that ends later is the one that holds.
    private mutating func released(at moment: Instant) {
        self.releasedAt = max(self.releasedAt ?? moment, moment)
    }

    private mutating func comesBack(at moment: Instant, _ fleet: inout FleetChecks) {
        self.released(at: moment)
        self.cameBackAt = moment
        fleet.pathReturned(at: moment)
    }

    /// A request that is none for the server's sake alone. Those that are answered make room for others; a phone that lets
    /// go all that waited has more open than it has slots.
    private mutating func judgeRelease(_ seen: Observation, _ fleet: inout FleetChecks) {
        if let cameBackAt = self.cameBackAt {
            self.cameBackAt = nil
            if seen.at - cameBackAt <= fleet.settings.herdTime { fleet.cameBack(seen) }
        }
        guard let releasedAt = self.releasedAt, releasedAt <= seen.at else { return }
        guard seen.at - releasedAt <= Self.releaseTime else {
            self.releasedAt = nil
            return
        }
        let open = self.requests.inSlots
        guard open == fleet.ledger.slotsMax + 1 else { return }
        fleet.violate(
            .herdBounded, seen,
            "\(open) requests at once, \((seen.at - releasedAt).wholeMilliseconds) ms after its wait ended; it has \(fleet.ledger.slotsMax) slots"
        )
    }
}
