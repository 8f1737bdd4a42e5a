import Metrics
package import Observations
package import SimBase
import Talaria

/// Judges what can be judged only where both sides' times are exact and their order is known: in the virtual world. Like the
/// ledger, it sees observations and nothing else, and cannot influence the run.
package struct SimulationInvariants: Sendable {
    private struct SentJob: Sendable {
        var id: String
        var scan: ScanNumber
        /// The moment at which a 401 reported that its token has expired.
        var refusedAt: Instant?
        var isDeleted = false
    }

    private struct Owner: Sendable {
        let device: DeviceNumber
        let scan: ScanNumber
    }

    private struct Phone: Sendable {
        var requests = OpenRequests()
        /// Jobs that were deleted with effect, the last few.
        var cleaned: [UInt64] = []
        /// Jobs that the phone has requested, as long as their scans may be.
        var jobs: [SentJob] = []
        var isOver: [ScanNumber] = []
        /// Scans on whose stream a fault wrote what cannot be read.
        var troubled: [ScanNumber] = []
        var uploads: [(scan: ScanNumber, count: Int)] = []
        /// Its storage has no room, and when it had room again.
        var isFull = false
        var freedAt = Instant.zero
        /// The moment of its last release: its limit ended, its path returned, its app was opened.
        var releasedAt: Instant?
        /// Whether it has sent no request since its path returned.
        var isComingBack = false
        var cameBackAt = Instant.zero
        /// A capture without room for its record, that was not refused so far.
        var unanswered: (device: DeviceNumber, scan: ScanNumber, at: Instant)?
    }

    /// A phone whose requests never rest has at most five streams, and backs off between their attempts.
    package static let requestsPerSecondMax = 60
    /// The time for which a phone is watched after its release.
    static let releaseTime = Interval.seconds(1)

    /// The time that a small request needs on a slow link.
    static let timeoutSlack = Interval.seconds(2)
    /// The time in which a phone records a response.
    static let recordTime = LedgerSettings.recordTime

    private let settings: SimulationInvariantSettings
    private var findings: Findings
    private let fleet: FleetMap
    private var phones = DeviceIndex()
    private var states: [Phone] = []
    /// The devices by index.
    private var devices: [DeviceNumber] = []
    private var now = Instant.zero
    private let slotsMax: Int
    private let faultsThatCut: [Int]
    private let faultsThatGarble: [Int]
    private var herds: ThunderingHerdDetector
    private var silences: IdleTimeoutCheck
    private var forms = RequestFormCheck()
    /// Requests that were given up at this moment.
    private var givenUp: [RequestGivenUp] = []
    private var order: UploadOrderCheck
    private var deletes = CleanupCheck()
    private var gates: RateLimitCheck
    private var backoffs: BackoffCheck
    /// The phone that was the last to come back to something.
    private var lastBack: DeviceNumber?
    /// Jobs that were accepted and have not ended, by their ids.
    private var alive = SlotMap<String, Owner>()
    /// A storage was full: what a phone does next answers a capture.
    private var awaitsAnswers = false
    private var isFinished = false

    package init(_ settings: SimulationInvariantSettings, ledger: LedgerSettings) {
        self.settings = settings
        self.fleet = ledger.fleet
        self.slotsMax = ledger.slotsMax
        self.herds = ThunderingHerdDetector(time: settings.herdTime, slots: ledger.slotsMax)
        self.silences = IdleTimeoutCheck()
        self.backoffs = BackoffCheck(settings)
        self.order = UploadOrderCheck(base: settings.backoffBase, cap: settings.backoffCap)
        self.gates = RateLimitCheck()
        self.faultsThatCut = ledger.faultsThatCut
        self.faultsThatGarble = ledger.faultsThatGarble
        self.findings = Findings(settings: ledger)
    }

    /// The verdicts in their order. A run without a regular end is not judged by invariants about the end.
    package var verdicts: [Verdict] { self.findings.verdicts(of: self.judged) }

    /// The verdicts on the phones of one group, by its index.
    package func verdicts(ofGroup group: Int) -> [Verdict] {
        self.findings.verdicts(of: self.judged, group: group)
    }

    private var judged: [Invariant] {
        Invariant.simulated.filter { self.settings.isSettled || !Invariant.atRest.contains($0) }
    }

    // MARK: Events

    package mutating func record(_ observation: Observation) {
        precondition(!self.isFinished, "the invariants are closed")
        if observation.at < self.now {
            self.findings.violate(
                .timeSane, device: observation.device, scan: observation.scan, at: observation.at,
                "observed \((self.now - observation.at).nanoseconds) ns before the previous observation")
        }
        self.now = max(self.now, observation.at)
        if let first = self.givenUp.first, first.at < observation.at {
            self.givenUp.removeAll { $0.at < observation.at }
        }
        if self.silences.isPending { self.judgeSilences(before: observation.at) }
        if self.forms.isPending { self.judgeForms(before: observation.at) }
        guard self.awaitsAnswers || !observation.isRoutine else {
            // An event ends the failures of its stream.
            if self.backoffs.followsStreams, case .phone(let payload) = observation.what {
                let phoneIndex = self.phoneIndex(of: observation.device)
                self.backoffs.record(
                    payload, scan: observation.scan, at: observation.at, phoneIndex: phoneIndex)
            }
            return
        }
        switch observation.what {
        case .phone(let payload):
            self.phone(payload, observation, self.phoneIndex(of: observation.device))
        case .backend(let payload): self.backend(payload, observation)
        case .fault(.fired(let fault, let operation, let attempt)):
            let phoneIndex = self.phoneIndex(of: observation.device)
            if self.faultsThatCut.contains(fault) {
                self.backoffs.cut(operation, scan: observation.scan, attempt: attempt, phoneIndex: phoneIndex)
                self.gates.cut(operation, scan: observation.scan, attempt: attempt, phoneIndex: phoneIndex)
            }
            if self.settings.faultsThatRound.contains(fault) {
                self.gates.rounded(
                    operation, scan: observation.scan, attempt: attempt, phoneIndex: phoneIndex)
            }
            guard operation == .stream, self.faultsThatGarble.contains(fault) else { return }
            self.states[phoneIndex].troubled.append(observation.scan)
        case .fault, .network: break
        }
    }

    /// The run was interrupted: what is found from this moment on counts for nothing.
    package mutating func interrupted(at moment: Instant) { self.findings.bounds.interruption = moment }

    /// Records the link's view of an open stream.
    package mutating func record(_ silence: SilentStream) { self.silences.record(silence) }

    /// A request as it left its phone.
    package mutating func record(_ form: RequestForm) { self.forms.record(form) }

    /// Records the link's view of a request that the phone gave up, before the phone reports the reason.
    package mutating func record(_ request: RequestGivenUp) { self.givenUp.append(request) }

    private mutating func judgeForms(before moment: Instant) {
        let (phones, settings, fleet) = (self.phones, self.settings, self.fleet)
        let complaints = self.forms.complaints(before: moment) { device in
            phones[device].map { phoneIndex in
                (phoneIndex, fleet.value(of: device, in: settings.resultsFormats) ?? "lite")
            }
        }
        for complaint in complaints {
            self.findings.violate(
                .requestWellFormed, device: complaint.form.device, scan: complaint.form.scan,
                at: complaint.form.at, complaint.text)
        }
    }

    private mutating func judgeSilences(before moment: Instant) {
        let (phones, settings, fleet) = (self.phones, self.settings, self.fleet)
        let complaints = self.silences.complaints(before: moment) { device in
            phones[device].map { phoneIndex in
                (phoneIndex, fleet.value(of: device, in: settings.idleTimeouts) ?? settings.idleTimeout)
            }
        }
        for complaint in complaints {
            self.findings.violate(
                .streamDeadDetected, device: complaint.silence.device, scan: complaint.silence.scan,
                at: complaint.silence.to, complaint.text)
        }
    }

    /// Records a finding of the world about itself.
    package mutating func record(_ finding: AuditFinding) {
        self.findings.violate(
            finding.invariant, device: finding.device, scan: finding.scan, at: finding.at, finding.text)
    }

    package mutating func finish(_ remains: FinalWorldState) {
        precondition(!self.isFinished, "the invariants are closed")
        self.isFinished = true
        self.judgeSilences(before: .distantFuture)
        self.judgeForms(before: .distantFuture)
        for complaint in self.backoffs.end(at: self.now) {
            self.findings.violate(
                complaint.invariant, device: complaint.phoneIndex.map { self.devices[$0] }, scan: .none,
                at: self.now, complaint.text)
        }
        for (phoneIndex, overtaking) in self.order.overtakings() {
            self.report(overtaking, of: self.devices[phoneIndex])
        }
        self.report(self.herds.end(), at: self.now)
        for phoneIndex in self.states.indices {
            guard let unanswered = self.states[phoneIndex].unanswered else { continue }
            self.silent(unanswered.scan, of: unanswered.device, at: self.now)
        }
        guard self.settings.isSettled else { return }
        for device in remains.stuck {
            self.findings.violate(
                .deviceNotStuck, device: device, scan: .none, at: self.now,
                "did not settle in time")
            guard !remains.broken.isEmpty else { continue }
            self.findings.violate(
                .othersUnharmed, device: device, scan: .none, at: self.now,
                "did not settle in time, while \(remains.broken.count) phones stayed broken"
            )
        }
        for device in remains.restless {
            self.findings.violate(
                .timersClean, device: device, scan: .none, at: self.now,
                "has a pending timer, but nothing to do")
        }
        for (id, job) in self.alive.entries {
            self.findings.violate(
                .jobEnded, device: job.device, scan: job.scan, at: self.now,
                "job \(id.bounded) neither deleted nor expired")
        }
    }

    private mutating func phoneIndex(of device: DeviceNumber) -> Int {
        if let phoneIndex = self.phones[device] { return phoneIndex }
        self.states.append(Phone())
        self.devices.append(device)
        let streamsMax = self.fleet.value(of: device, in: self.settings.streamsMax)
        self.backoffs.add(
            slotsMax: min(self.slotsMax, streamsMax ?? self.slotsMax),
            drawsWaits: !self.findings.isKnown(.herdBounded, of: device))
        self.gates.add(slotsMax: min(self.slotsMax, streamsMax ?? self.slotsMax))
        self.phones[device] = self.states.count - 1
        return self.states.count - 1
    }

    private mutating func violate(_ invariant: Invariant, _ seen: Observation, _ text: String) {
        self.findings.violate(invariant, device: seen.device, scan: seen.scan, at: seen.at, text)
    }

    // MARK: The phone's side

    private mutating func phone(_ payload: PhoneObservation, _ seen: Observation, _ phoneIndex: Int) {
        if let unanswered = self.states[phoneIndex].unanswered {
            self.answered(unanswered, payload, seen, phoneIndex)
        }
        self.silences.record(payload, scan: seen.scan, at: seen.at, phoneIndex: phoneIndex)
        for overtaking in self.order.overtakings(of: phoneIndex, before: seen.at) {
            self.report(overtaking, of: seen.device)
        }
        self.order.record(payload, scan: seen.scan, at: seen.at, phoneIndex: phoneIndex)
        self.backoffs.record(payload, scan: seen.scan, at: seen.at, phoneIndex: phoneIndex)
        for complaint in self.backoffs.takeComplaints() {
            self.violate(complaint.invariant, seen, complaint.text)
        }
        if let wrong = self.gates.record(payload, scan: seen.scan, at: seen.at, phoneIndex: phoneIndex) {
            self.violate(.retryBudget, seen, wrong)
        }
        if let wrong = self.deletes.record(payload, scan: seen.scan, at: seen.at, phoneIndex: phoneIndex) {
            self.violate(.jobCleanedOnce, seen, wrong)
        }
        switch payload {
        case .storageFilled:
            self.states[phoneIndex].isFull = true
            self.awaitsAnswers = true
        case .storageFreed:
            self.states[phoneIndex].isFull = false
            self.states[phoneIndex].freedAt = seen.at
        case .captured:
            if self.states[phoneIndex].isFull {
                self.states[phoneIndex].unanswered = (seen.device, seen.scan, seen.at)
            }
        case .requestSent(let operation, let attempt, let job, let lastEventID):
            self.forms.sent(
                operation, attempt, job: job, lastEventID: lastEventID, scan: seen.scan, at: seen.at,
                phoneIndex: phoneIndex)
            self.sent(operation, attempt, job, seen, phoneIndex)
        case .replied(let operation, let attempt, let status, let took):
            self.ended(operation, attempt, isAnswer: true, seen, phoneIndex)
            if took < .zero { self.violate(.timeSane, seen, "a response before its request") }
            guard status == 401 else { return }
            for index in self.states[phoneIndex].jobs.indices
            where self.states[phoneIndex].jobs[index].scan == seen.scan && operation != .cleanup {
                self.states[phoneIndex].jobs[index].refusedAt = seen.at
            }
        case .requestFailed(let operation, let attempt, let failure, let took):
            self.ended(operation, attempt, isAnswer: false, seen, phoneIndex)
            if took < .zero { self.violate(.timeSane, seen, "a failure before its request") }
            if failure == .timedOut { self.judgeTimeout(operation, attempt, took, seen) }
        case .eventIgnored(_, _, let name, malformed: true):
            self.unreadable("an event \(name.bounded)", seen, phoneIndex)
        case .badAnswer(.stream, _, let problem): self.unreadable(problem.rawValue, seen, phoneIndex)
        case .eventApplied(_, _, _, let latency?, _):
            if latency < .zero { self.violate(.timeSane, seen, "an event applied before it was written") }
        case .rateLimited(.upload, let retryAfter):
            self.released(at: seen.at + retryAfter, phoneIndex)
        case .pathReturned: self.comesBack(seen, phoneIndex)
        case .resumed, .launched:
            // By its user, and not because of a path.
            self.states[phoneIndex].isComingBack = false
            self.released(at: seen.at, phoneIndex)
        case .suspended, .pathLost, .pathChanged:
            self.states[phoneIndex].isComingBack = false
            if payload == .pathChanged { self.comesBack(seen, phoneIndex) }
            self.states[phoneIndex].requests.interrupted()
        case .killed: self.states[phoneIndex].requests.killed()
        case .recordKept(let job?, _, decided: false):
            // The next process cannot know of a 401 that there was no time or no room to write down.
            guard let index = self.states[phoneIndex].jobs.lastIndex(where: { $0.id == job }),
                let refusedAt = self.states[phoneIndex].jobs[index].refusedAt,
                self.states[phoneIndex].isFull
                    || max(refusedAt, self.states[phoneIndex].freedAt) + Self.recordTime >= seen.at
            else { return }
            self.states[phoneIndex].jobs[index].refusedAt = nil
        case .reinstalled:
            self.forms.reinstalled(phoneIndex)
            let isFull = self.states[phoneIndex].isFull
            self.states[phoneIndex] = Phone()
            self.states[phoneIndex].isFull = isFull
        case .completed, .refused:
            self.settled(seen.scan, phoneIndex)
        default: break
        }
    }

    private mutating func sent(
        _ operation: Operation, _ attempt: UInt32, _ job: String?, _ seen: Observation, _ phoneIndex: Int
    ) {
        let request = OpenRequests.Request(operation: operation, scan: seen.scan, attempt: attempt)
        if self.states[phoneIndex].requests.sent(request, at: seen.at) {
            self.violate(.requestOneFate, seen, "\(operation.name) sent while the previous one is still open")
        }
        if self.states[phoneIndex].requests.sentThisSecond == Self.requestsPerSecondMax + 1 {
            self.violate(
                .retryBudget, seen, "more than \(Self.requestsPerSecondMax) requests in one second")
        }
        if operation != .cleanup, operation != .cancel { self.judgeRelease(seen, phoneIndex) }
        if operation == .upload { self.uploaded(seen, phoneIndex) }
        guard let job else { return }
        self.asked(operation, job, seen, phoneIndex)
    }

    /// The clock of a request begins again with each byte that moves. What its connection took to come about is not counted
    /// twice, and a byte that the phone saw a little before its link did is the same.
    private mutating func judgeTimeout(
        _ operation: Operation, _ attempt: UInt32, _ took: Interval, _ seen: Observation
    ) {
        let general =
            self.fleet.value(of: seen.device, in: self.settings.requestTimeouts)
            ?? self.settings.requestTimeout
        let limit = operation == .stream ? self.settings.connectTimeout : general
        if took < limit - IdleTimeoutCheck.tick {
            self.violate(
                .requestOneFate, seen,
                "\(operation.name) \(attempt) timed out after \(took.wholeMilliseconds) ms; its timeout is \(limit.wholeMilliseconds) ms"
            )
            return
        }
        let link = self.givenUp.last {
            $0.device == seen.device && $0.at == seen.at && $0.scan == seen.scan && $0.operation == operation
                && $0.attempt == attempt
        }
        guard let link else { return }
        let idle = took - (max(link.movedAt, link.readyAt) - link.readyAt)
        guard idle < limit - Self.timeoutSlack else { return }
        self.violate(
            .requestOneFate, seen,
            "\(operation.name) \(attempt) timed out \((seen.at - link.movedAt).wholeMilliseconds) ms after a byte of it moved; its timeout is \(limit.wholeMilliseconds) ms"
        )
    }

    // MARK: Herds

    /// The latest counts: a limit that ends later is the one that holds.
    private mutating func released(at moment: Instant, _ phoneIndex: Int) {
        self.states[phoneIndex].releasedAt =
            self.states[phoneIndex].releasedAt.map { max($0, moment) } ?? moment
    }

    private mutating func comesBack(_ seen: Observation, _ phoneIndex: Int) {
        self.released(at: seen.at, phoneIndex)
        self.states[phoneIndex].isComingBack = true
        self.states[phoneIndex].cameBackAt = seen.at
        self.report(self.herds.pathReturned(at: seen.at), at: seen.at)
    }

    /// A request that is none for the server's sake alone. Those that are answered make room for others; a phone that lets
    /// go all that waited has more open than it has slots.
    private mutating func judgeRelease(_ seen: Observation, _ phoneIndex: Int) {
        if self.states[phoneIndex].isComingBack {
            self.states[phoneIndex].isComingBack = false
            if seen.at - self.states[phoneIndex].cameBackAt <= self.settings.herdTime {
                self.report(self.herds.asked(at: seen.at), at: seen.at)
                self.lastBack = seen.device
            }
        }
        guard let releasedAt = self.states[phoneIndex].releasedAt, releasedAt <= seen.at else { return }
        guard seen.at - releasedAt <= Self.releaseTime else {
            self.states[phoneIndex].releasedAt = nil
            return
        }
        let open = self.states[phoneIndex].requests.inSlots
        guard open == self.slotsMax + 1 else { return }
        self.violate(
            .herdBounded, seen,
            "\(open) requests at once, \((seen.at - releasedAt).wholeMilliseconds) ms after its wait ended; it has \(self.slotsMax) slots"
        )
    }

    /// A herd is reported when its window is over, of the last phone in it.
    private mutating func report(_ herd: ThunderingHerdDetector.Herd?, at moment: Instant) {
        guard let herd else { return }
        self.findings.violate(
            .herdBounded, device: self.lastBack, scan: .none, at: moment,
            "\(herd.count) of \(herd.of) phones whose path had returned sent requests within \(self.settings.herdTime.wholeMilliseconds / Int64(ThunderingHerdDetector.windows)) ms"
        )
    }

    private mutating func uploaded(_ seen: Observation, _ phoneIndex: Int) {
        if let index = self.states[phoneIndex].uploads.firstIndex(where: { $0.scan == seen.scan }) {
            self.states[phoneIndex].uploads[index].count += 1
        } else {
            self.states[phoneIndex].uploads.append((seen.scan, 1))
        }
    }

    private mutating func report(_ overtaking: UploadOrderCheck.OutOfOrderUpload, of device: DeviceNumber) {
        self.findings.violate(
            .scanOrder, device: device, scan: overtaking.newer, at: overtaking.at,
            "uploaded before scan \(overtaking.older.raw), which is older and waited")
    }

    private mutating func asked(_ operation: Operation, _ job: String, _ seen: Observation, _ phoneIndex: Int)
    {
        guard let index = self.states[phoneIndex].jobs.lastIndex(where: { $0.id == job }) else {
            self.states[phoneIndex].jobs.append(
                SentJob(id: job, scan: seen.scan, isDeleted: operation == .cleanup || operation == .cancel))
            return
        }
        let known = self.states[phoneIndex].jobs[index]
        if known.refusedAt != nil {
            self.violate(
                .authNoStaleUse, seen, "\(operation.name) with a token that had been answered with 401")
        }
        if known.isDeleted, operation == .stream || operation == .results {
            self.violate(.jobSilentAfterCleanup, seen, "\(operation.name) after the job's DELETE")
        }
        if operation == .cleanup || operation == .cancel {
            self.states[phoneIndex].jobs[index].isDeleted = true
        }
    }

    private mutating func ended(
        _ operation: Operation, _ attempt: UInt32, isAnswer: Bool, _ seen: Observation, _ phoneIndex: Int
    ) {
        let request = OpenRequests.Request(operation: operation, scan: seen.scan, attempt: attempt)
        guard !self.states[phoneIndex].requests.ended(request, isAnswer: isAnswer) else { return }
        self.violate(.requestOneFate, seen, "\(operation.name) \(attempt) ended, but was not open")
    }

    private mutating func unreadable(_ what: String, _ seen: Observation, _ phoneIndex: Int) {
        guard !self.states[phoneIndex].troubled.contains(seen.scan) else { return }
        self.violate(
            .streamParseRobust, seen, "\(what) could not be parsed, although no fault had changed it")
    }

    /// Something is seen of a phone that has captured without room for the record.
    private mutating func answered(
        _ capture: (device: DeviceNumber, scan: ScanNumber, at: Instant), _ payload: PhoneObservation,
        _ seen: Observation, _ phoneIndex: Int
    ) {
        if case .refused = payload, seen.scan == capture.scan {
            self.states[phoneIndex].unanswered = nil
        } else if capture.at < seen.at {
            self.states[phoneIndex].unanswered = nil
            self.silent(capture.scan, of: capture.device, at: seen.at)
        }
    }

    private mutating func silent(_ scan: ScanNumber, of device: DeviceNumber, at moment: Instant) {
        self.findings.violate(
            .memoryBounded, device: device, scan: scan, at: moment,
            "captured without room for its record, but not refused at once")
    }

    private mutating func settled(_ scan: ScanNumber, _ phoneIndex: Int) {
        self.states[phoneIndex].troubled.removeAll { $0 == scan }
        self.states[phoneIndex].uploads.removeAll { $0.scan == scan }
        self.states[phoneIndex].requests.settled(scan)
        // Of its jobs a DELETE may still be under way; of the scans before nothing is.
        self.states[phoneIndex].isOver.append(scan)
        guard self.states[phoneIndex].isOver.count > 16 else { return }
        let gone = self.states[phoneIndex].isOver.removeFirst()
        self.states[phoneIndex].jobs.removeAll { $0.scan == gone }
        self.states[phoneIndex].requests.forget(gone)
        self.states[phoneIndex].troubled.removeAll { $0 == gone }
    }

    /// Requests, jobs and scans of all phones that it still remembers: it must not grow with a run.
    package var remembered: Int {
        self.states.reduce(
            self.order.remembered + self.backoffs.remembered + self.deletes.remembered
        ) {
            $0 + $1.requests.remembered + $1.jobs.count + $1.isOver.count
                + $1.troubled.count + $1.uploads.count + $1.cleaned.count
        }
    }

    // MARK: The backend's side

    private mutating func backend(_ payload: BackendObservation, _ seen: Observation) {
        switch payload {
        case .accepted(let job, _):
            if self.settings.isSettled {
                self.alive[job] = Owner(device: seen.device, scan: seen.scan)
            }
            let phoneIndex = self.phoneIndex(of: seen.device)
            self.forms.accepted(job, scan: seen.scan, phoneIndex: phoneIndex)
            guard
                let index = self.states[phoneIndex].uploads.firstIndex(where: { $0.scan == seen.scan })
            else { return }
            self.states[phoneIndex].uploads[index].count -= 1
            guard self.states[phoneIndex].uploads[index].count < 0 else { return }
            self.violate(.jobOrphansBounded, seen, "more jobs than uploads")
        case .cleaned(let job, effective: true):
            self.alive[job] = nil
            let phoneIndex = self.phoneIndex(of: seen.device)
            let known = Digest.of(job)
            if self.states[phoneIndex].cleaned.contains(known) {
                self.violate(.jobCleanedOnce, seen, "job \(job.bounded) deleted twice with effect")
            }
            self.states[phoneIndex].cleaned.append(known)
            if self.states[phoneIndex].cleaned.count > 16 { self.states[phoneIndex].cleaned.removeFirst() }
        case .canceled(let job), .expired(let job), .vanished(let job):
            self.alive[job] = nil
        case .problem(let operation, let attempt, let status, _, _, let wait?):
            let phoneIndex = self.phoneIndex(of: seen.device)
            self.backoffs.receivedRetryAfter(
                operation, scan: seen.scan, attempt: attempt, wait: wait, status: status,
                phoneIndex: phoneIndex)
            guard operation == .upload else { return }
            guard status != 429 else {
                self.gates.receivedRetryAfter(wait, scan: seen.scan, attempt: attempt, phoneIndex: phoneIndex)
                return
            }
            self.order.receivedRetryAfter(wait, scan: seen.scan, phoneIndex: phoneIndex)
        default: break
        }
    }
}
