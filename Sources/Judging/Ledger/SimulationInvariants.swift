import Metrics
package import Observations
package import SimBase
import Talaria

/// Judges what can be judged only where both sides' times are exact and their order is known: in the virtual world. Like the
/// ledger, it sees observations and nothing else, and cannot influence the run.
package struct SimulationInvariants: Sendable {
    struct SentJob: Sendable {
        var id: String
        var scan: ScanNumber
        /// The time at which a 401 reported that its token has expired.
        var refusedAt: Instant?
        var isDeleted = false
    }

    struct Owner: Sendable {
        let device: DeviceNumber
        let scan: ScanNumber
    }

    struct Phone: Sendable {
        var requests = OpenRequests()
        /// Jobs that were deleted with effect, the last few.
        var cleaned: [UInt64] = []
        /// Jobs that the phone has requested, as long as their scans may be.
        var jobs: [SentJob] = []
        var isOver: [ScanNumber] = []
        /// Scans on whose stream a fault wrote what cannot be read.
        var troubled: [ScanNumber] = []
        var uploads: [(scan: ScanNumber, count: Int)] = []
        /// Its answers that a fault has acted on.
        var answers = FaultedAnswers()
        /// Scans whose last request for a stream was answered with a status that the contract does not name.
        var unnamed: [ScanNumber] = []
        /// Its storage has no room, and when it had room again.
        var isFull = false
        var freedAt = Instant.zero
        /// The time of its last release: its limit ended, its path returned, its app was opened.
        var releasedAt: Instant?
        /// Whether it has sent no request since its path returned.
        var isComingBack = false
        var cameBackAt = Instant.zero
        /// A capture without room for its record, that was not refused so far.
        var unanswered: (device: DeviceNumber, scan: ScanNumber, at: Instant)?
    }

    /// Requests of one phone in one second that are never too many: it has at most five streams, and backs off between their
    /// attempts.
    package static let requestsPerSecondMax = 60
    /// A phone may have more to do, as fast as it is given more scans: so many of them are never too many for one.
    private static let requestsPerScanMax = 12

    static func requestsPerSecondMax(ofScans count: Int) -> Int {
        max(Self.requestsPerSecondMax, count * Self.requestsPerScanMax)
    }

    /// The time for which a phone is watched after its release.
    static let releaseTime = Interval.seconds(1)

    /// The time that a small request needs on a slow link.
    static let timeoutSlack = Interval.seconds(2)
    /// The time in which a phone records a response.
    static let recordTime = LedgerSettings.recordTime

    let settings: SimulationInvariantSettings
    var findings: Findings
    let fleet: FleetMap
    var phones = DeviceIndex()
    var states: [Phone] = []
    /// The devices by index.
    private var devices: [DeviceNumber] = []
    private var now = Instant.zero
    let slotsMax: Int
    private let journeys: [Journey]
    private let faultsThatCut: [Int]
    private let faultsThatGarble: [Int]
    var herds: ThunderingHerdDetector
    var silences: IdleTimeoutCheck
    var forms = RequestFormCheck()
    /// Requests that were given up at this time.
    var givenUp: [RequestGivenUp] = []
    var order: UploadOrderCheck
    /// Nil in a run without a settled end, which does not judge it.
    var unsettled: UnsettledScansCheck?
    var deletes = CleanupCheck()
    var gates: RateLimitCheck
    var backoffs: BackoffCheck
    /// The phone that was the last to come back to something.
    var lastBack: DeviceNumber?
    /// Jobs that were accepted and have not ended, by their ids.
    var alive = SlotMap<String, Owner>()
    /// A storage was full: what a phone does next answers a capture.
    var awaitsAnswers = false
    private var isFinished = false

    package init(_ settings: SimulationInvariantSettings, ledger: LedgerSettings) {
        self.settings = settings
        self.fleet = ledger.fleet
        self.slotsMax = ledger.slotsMax
        self.herds = ThunderingHerdDetector(time: settings.herdTime, slots: ledger.slotsMax)
        if settings.isShard { self.herds.keepRecord() }
        self.silences = IdleTimeoutCheck()
        self.backoffs = BackoffCheck(settings)
        self.order = UploadOrderCheck(base: settings.backoffBase, cap: settings.backoffCap)
        self.unsettled = settings.isSettled ? UnsettledScansCheck(settings.retryLimits) : nil
        self.gates = RateLimitCheck()
        self.journeys = ledger.journeys
        self.faultsThatCut = ledger.faultsThatCut
        self.faultsThatGarble = ledger.faultsThatGarble
        self.findings = Findings(settings: ledger)
    }

    /// The verdicts in their order. A run without a regular end is not judged by invariants about the end.
    package var verdicts: [Verdict] { self.findings.verdicts(of: self.judged).map(self.asFarAsKnown) }

    /// The verdicts on the phones of one group, by its index.
    package func verdicts(ofGroup group: Int) -> [Verdict] {
        self.findings.verdicts(of: self.judged, group: group).map(self.asFarAsKnown)
    }

    /// A shard does not say of an invariant that it is held if the whole fleet may break it.
    private func asFarAsKnown(_ verdict: Verdict) -> Verdict {
        guard self.settings.isShard, FleetEvidence.invariants.contains(verdict.invariant),
            verdict.standing == .held
        else { return verdict }
        var verdict = verdict
        verdict.standing = .notAvailable
        return verdict
    }

    /// What a shard hands over for the checks of the whole fleet; nil where all phones are.
    package var evidence: FleetEvidence? {
        guard let returns = self.herds.record, var evidence = self.backoffs.evidence else { return nil }
        evidence.returns = returns
        evidence.held = self.findings.verdicts(of: FleetEvidence.invariants)
            .filter { $0.standing == .held }.map(\.invariant)
        return evidence.bounded
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
            self.states[phoneIndex].answers.faultFired(operation, scan: observation.scan, attempt: attempt)
            guard operation == .stream, self.faultsThatGarble.contains(fault) else { return }
            self.states[phoneIndex].troubled.append(observation.scan)
        case .fault, .network, .control: break
        }
    }

    /// The run was interrupted: what is found from this time on does not count.
    package mutating func interrupted(at moment: Instant) { self.findings.bounds.interruption = moment }

    /// Records the link's view of an open stream.
    package mutating func record(_ silence: SilentStream) { self.silences.record(silence) }

    /// A request as it left its phone.
    package mutating func record(_ form: RequestForm) { self.forms.record(form) }

    /// Records the link's view of a request that the phone gave up, before the phone reports the reason.
    package mutating func record(_ request: RequestGivenUp) { self.givenUp.append(request) }

    private mutating func judgeForms(before moment: Instant) {
        let (phones, settings, fleet) = (self.phones, self.settings, self.fleet)
        let journeys = self.journeys
        let complaints = self.forms.complaints(before: moment) { device in
            phones[device].map { phoneIndex in
                (
                    phoneIndex, fleet.value(of: device, in: settings.resultsFormats) ?? "lite",
                    fleet.value(of: device, in: journeys) ?? .scan
                )
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
        self.judgeUnsettled(remains)
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

    /// A scan of a phone that is stuck, or that stays without a path, is not a separate case.
    private mutating func judgeUnsettled(_ remains: FinalWorldState) {
        for record in remains.waiting
        where !remains.stuck.contains(record.device) && !remains.broken.contains(record.device) {
            let isExcused = self.phones[record.device].map { phoneIndex in
                self.unsettled?.isExcused(record.scan, phoneIndex: phoneIndex) ?? false
            }
            guard isExcused != true else { continue }
            self.findings.violate(
                .scanSettles, device: record.device, scan: record.scan, at: self.now,
                "waits until its app is opened again (\(record.cause.rawValue)), although it has retries left"
            )
        }
    }

    mutating func phoneIndex(of device: DeviceNumber) -> Int {
        if let phoneIndex = self.phones[device] { return phoneIndex }
        self.states.append(Phone())
        self.devices.append(device)
        let streamsMax = self.fleet.value(of: device, in: self.settings.streamsMax)
        self.backoffs.add(
            device, slotsMax: min(self.slotsMax, streamsMax ?? self.slotsMax),
            drawsWaits: !self.findings.isKnown(.herdBounded, of: device),
            retry: self.fleet.value(of: device, in: self.settings.retryFields) ?? self.settings.retryField)
        self.gates.add(slotsMax: min(self.slotsMax, streamsMax ?? self.slotsMax))
        self.phones[device] = self.states.count - 1
        return self.states.count - 1
    }

    mutating func violate(_ invariant: Invariant, _ seen: Observation, _ text: String) {
        self.findings.violate(invariant, device: seen.device, scan: seen.scan, at: seen.at, text)
    }

    mutating func report(_ overtaking: UploadOrderCheck.OutOfOrderUpload, of device: DeviceNumber) {
        self.findings.violate(
            .scanOrder, device: device, scan: overtaking.newer, at: overtaking.at,
            "uploaded before scan \(overtaking.older.raw), which is older and waited")
    }

    /// Requests, jobs and scans of all phones that it still remembers: it must not grow with a run.
    package var remembered: Int {
        self.states.reduce(
            self.order.remembered + self.backoffs.remembered + self.deletes.remembered
                + (self.unsettled?.remembered ?? 0)
        ) {
            $0 + $1.requests.remembered + $1.jobs.count + $1.isOver.count
                + $1.troubled.count + $1.unnamed.count + $1.uploads.count + $1.cleaned.count
        }
    }
}
