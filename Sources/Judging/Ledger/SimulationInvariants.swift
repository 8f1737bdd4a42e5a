import Metrics
package import Observations
package import SimBase
import Talaria

/// Judges what can be judged only where both sides' times are exact and their order is known: in the virtual world. Like the
/// ledger, it sees observations and nothing else, and cannot influence the run.
package struct SimulationInvariants: Sendable {
    /// Requests of one phone in one second that are never too many: it has at most five streams, and backs off between their
    /// attempts.
    package static let requestsPerSecondMax = 60
    /// A phone may have more to do, as fast as it is given more scans: so many of them are never too many for one.
    private static let requestsPerScanMax = 12

    static func requestsPerSecondMax(ofScans count: Int) -> Int {
        max(Self.requestsPerSecondMax, count * Self.requestsPerScanMax)
    }

    private var fleet: FleetChecks
    private var phones: [PhoneChecks] = []
    private var indexes = DeviceIndex()
    private var silences = PendingQueue<SilentStream>()
    private var forms = PendingQueue<RequestForm>()
    private var now = Instant.zero
    private var isFinished = false

    private var settings: SimulationInvariantSettings { self.fleet.settings }

    package init(_ settings: SimulationInvariantSettings, ledger: LedgerSettings) {
        self.fleet = FleetChecks(settings, ledger: ledger)
    }

    /// The verdicts in their order. A run without a regular end is not judged by invariants about the end.
    package var verdicts: [Verdict] { self.fleet.findings.verdicts(of: self.judged).map(self.asFarAsKnown) }

    /// The verdicts on the phones of one group, by its index.
    package func verdicts(ofGroup group: Int) -> [Verdict] {
        self.fleet.findings.verdicts(of: self.judged, group: group).map(self.asFarAsKnown)
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
        guard let returns = self.fleet.herds.record, var evidence = self.fleet.waits.evidence else {
            return nil
        }
        evidence.returns = returns
        evidence.held = self.fleet.findings.verdicts(of: FleetEvidence.invariants)
            .filter { $0.standing == .held }.map(\.invariant)
        return evidence.bounded
    }

    private var judged: [Invariant] {
        Invariant.simulated.filter { self.settings.isSettled || !Invariant.atRest.contains($0) }
    }

    /// Requests, jobs and scans of all phones that it still remembers: it must not grow with a run.
    package var remembered: Int { self.phones.reduce(0) { $0 + $1.remembered } }

    // MARK: Events

    package mutating func record(_ observation: Observation) {
        precondition(!self.isFinished, "the invariants are closed")
        if observation.at < self.now {
            self.fleet.violate(
                .timeSane, observation,
                "observed \((self.now - observation.at).nanoseconds) ns before the previous observation")
        }
        self.now = max(self.now, observation.at)
        self.fleet.forgetRequests(before: observation.at)
        self.judgePending(before: observation.at)
        if observation.isRoutine, !self.fleet.awaitsAnswers {
            self.recordRoutine(observation)
            return
        }
        self.record(observation.what, observation)
    }

    /// A function of the payload: a `switch` over a member of an observation copies the observation.
    private mutating func record(_ what: ObservationPayload, _ seen: Observation) {
        switch what {
        case .phone(let payload):
            let index = self.index(of: seen.device)
            self.phones[index].record(payload, seen, &self.fleet)
        case .backend(let payload): self.record(payload, seen)
        case .fault(.fired(let fault, let operation, let attempt)):
            let index = self.index(of: seen.device)
            self.phones[index].faultFired(fault, operation, attempt, seen, self.fleet)
        case .fault, .network, .control: break
        }
    }

    private mutating func recordRoutine(_ observation: Observation) {
        guard self.fleet.waits.streams > 0, case .phone = observation.side else { return }
        self.recordRoutine(observation.what, observation)
    }

    private mutating func recordRoutine(_ what: ObservationPayload, _ seen: Observation) {
        guard case .phone(let payload) = what else { return }
        let index = self.index(of: seen.device)
        self.phones[index].recordRoutine(payload, seen, &self.fleet)
    }

    private mutating func record(_ payload: BackendObservation, _ seen: Observation) {
        switch payload {
        case .accepted(let job, _):
            if self.settings.isSettled { self.fleet.alive[job] = (seen.device, seen.scan) }
        case .cleaned(let job, effective: true), .canceled(let job), .expired(let job), .vanished(let job):
            self.fleet.alive[job] = nil
        case .problem, .tokenExchanged: break
        default: return
        }
        let index = self.index(of: seen.device)
        self.phones[index].record(payload, seen, &self.fleet)
    }

    /// The run was interrupted: what is found from this time on does not count.
    package mutating func interrupted(at moment: Instant) { self.fleet.findings.bounds.interruption = moment }

    /// Records the link's view of an open stream.
    package mutating func record(_ silence: SilentStream) { self.silences.append(silence) }

    /// A request as it left its phone.
    package mutating func record(_ form: RequestForm) { self.forms.append(form) }

    /// Records the link's view of a request that the phone gave up, before the phone reports the reason.
    package mutating func record(_ request: RequestGivenUp) { self.fleet.gaveUp(request) }

    /// Records a finding of the world about itself.
    package mutating func record(_ finding: AuditFinding) {
        self.fleet.findings.violate(
            finding.invariant, device: finding.device, scan: finding.scan, at: finding.at, finding.text)
    }

    /// Judges what had to wait for the end of its instant. What is seen of a phone before it does anything is not judged.
    private mutating func judgePending(before moment: Instant) {
        while let silence = self.silences.next(before: moment) {
            guard let index = self.indexes[silence.device] else { continue }
            self.phones[index].judge(silence, &self.fleet)
        }
        while let form = self.forms.next(before: moment) {
            guard let index = self.indexes[form.device] else { continue }
            self.phones[index].judge(form, &self.fleet)
        }
    }

    private mutating func index(of device: DeviceNumber) -> Int {
        if let index = self.indexes[device] { return index }
        self.phones.append(PhoneChecks(device, &self.fleet))
        self.indexes[device] = self.phones.count - 1
        return self.phones.count - 1
    }

    // MARK: The end

    package mutating func finish(_ remains: FinalWorldState) {
        precondition(!self.isFinished, "the invariants are closed")
        self.isFinished = true
        self.judgePending(before: .distantFuture)
        for index in self.phones.indices { self.phones[index].end(at: self.now, &self.fleet) }
        self.fleet.end(at: self.now)
        guard self.settings.isSettled else { return }
        for device in remains.stuck {
            self.violate(.deviceNotStuck, device, "did not settle in time")
            guard !remains.broken.isEmpty else { continue }
            self.violate(
                .othersUnharmed, device,
                "did not settle in time, while \(remains.broken.count) phones stayed broken")
        }
        self.judgeUnsettled(remains)
        for device in remains.restless {
            self.violate(.timersClean, device, "has a pending timer, but nothing to do")
        }
        for (id, job) in self.fleet.alive.entries {
            self.violate(
                .jobEnded, job.device, scan: job.scan, "job \(id.bounded) neither deleted nor expired")
        }
    }

    /// A scan of a phone that is stuck, or that stays without a path, is not a separate case.
    private mutating func judgeUnsettled(_ remains: FinalWorldState) {
        for record in remains.waiting
        where !remains.stuck.contains(record.device) && !remains.broken.contains(record.device) {
            let isExcused = self.indexes[record.device].map { self.phones[$0].isExcused(record.scan) }
            guard isExcused != true else { continue }
            self.violate(
                .scanSettles, record.device, scan: record.scan,
                "waits until its app is opened again (\(record.cause.rawValue)), although it has retries left"
            )
        }
    }

    /// The phones of the violations since the last call.
    package mutating func takeViolators() -> [DeviceNumber] { self.fleet.findings.takeViolators() }

    private mutating func violate(
        _ invariant: Invariant, _ device: DeviceNumber, scan: ScanNumber = .none, _ text: String
    ) {
        self.fleet.findings.violate(invariant, device: device, scan: scan, at: self.now, text)
    }
}
