import Metrics
import Observations
import SimBase
import Talaria

/// Checks the harness: the reports of the backend, the gateway, the faults and the link are compared with the
/// observations of the other sides.
///
/// A fault that fired must have had its effect, and an effect that only a fault explains must have its fault.
/// Quotas are counted again. The content of a job must not change. An error here is an error of the harness,
/// not of a phone, and no measurement of the run is reliable.
///
/// It receives observations in the order of the ledger: those of one instant are ordered by side (backend, faults,
/// phones). It stores only the open state of each phone, so its memory is bounded. Events do not allocate after
/// the lists have reached their size.
struct HarnessChecks: Sendable {
    private var fleet: HarnessFleet
    private var phones: [HarnessPhone] = []
    private var indexes = DeviceIndex()
    private let hasPingFaults: Bool
    /// The end of the backend's observations; nil if the backend did not die.
    private var accountEnd: Instant?

    init(_ settings: HarnessSettings, shelf: Shelf) {
        self.fleet = HarnessFleet(settings, shelf: shelf)
        self.hasPingFaults = settings.faults.contains {
            if case .latePings = $0 { true } else { $0 == .noPings }
        }
    }

    var errors: HarnessErrors { self.fleet.errors }

    /// The number of stored entries, for tests that memory is bounded.
    var remembered: Int { self.phones.reduce(self.fleet.doubts.count) { $0 + $1.remembered } }

    // MARK: Events

    mutating func record(_ observation: borrowing Observation) {
        let (device, scan, at) = (observation.device, observation.scan, observation.at)
        if let end = self.accountEnd, at > end { return }
        if at > self.fleet.now { self.pass(to: at) }
        // Half of all observations are routine.
        if observation.isRoutine {
            guard self.fleet.watches(device) || observation.side == .backend && self.hasPingFaults
            else { return }
        }
        self.followCircuit(observation)
        switch observation.side {
        case .control: return self.allow(observation)
        case .network: return
        case .phone, .backend, .fault: break
        }
        guard self.fleet.settings.fleet.group(of: device) != nil else { return }
        self.record(observation.what, of: self.index(of: device), scan)
    }

    /// A function of the payload: a `switch` over a member of an observation copies the observation.
    private mutating func record(_ what: ObservationPayload, of phone: Int, _ scan: ScanNumber) {
        switch what {
        case .backend(let payload): self.phones[phone].backend(payload, scan, &self.fleet)
        case .fault(let payload): self.phones[phone].record(payload, scan, &self.fleet)
        case .phone(let payload): self.phones[phone].phone(payload, scan, &self.fleet)
        case .network, .control: break
        }
    }

    /// The operator started a fault. It may act from now on, also outside its window in the scenario.
    private mutating func allow(_ observation: borrowing Observation) {
        guard case .control(let action) = observation.what else { return }
        switch action {
        case .fault(let fault):
            guard self.fleet.settings.rules.indices.contains(fault) else { return }
            self.fleet.settings.rules[fault].from = min(self.fleet.settings.rules[fault].from, observation.at)
        // The phones lose their paths without a fault, as in a tunnel.
        case .offline: self.fleet.settings.hasTunnels = true
        case .rolloutStage, .rolledBack: self.fleet.rollout.record(action, at: observation.at)
        case .stopped, .paused, .resumed, .phones: break
        }
    }

    /// The process of the backend died. Its reports are complete up to `moment`.
    mutating func lostBackend(after moment: Instant) { self.accountEnd = moment }

    /// Ends the run, or the part of it that is known.
    mutating func finish() {
        self.settleInstant()
        for doubt in self.fleet.doubts { self.report(doubt) }
        self.fleet.doubts = []
        self.fleet.judgeShares()
        // The latest cuts are excluded, because a phone may still notice them.
        for index in self.phones.indices { self.phones[index].lookForUnnoticed(&self.fleet) }
    }

    private mutating func index(of device: DeviceNumber) -> Int {
        if let index = self.indexes[device] { return index }
        self.phones.append(HarnessPhone(device, index: self.phones.count, self.fleet))
        self.indexes[device] = self.phones.count - 1
        return self.phones.count - 1
    }

    // MARK: Time

    private mutating func pass(to moment: Instant) {
        let isQuiet =
            self.fleet.effects.isEmpty && self.fleet.uploads.isEmpty && self.fleet.refusals.isEmpty
            && self.fleet.acts.isEmpty
        if !isQuiet { self.settleInstant() }
        self.fleet.now = moment
        let isOver = { (doubt: HarnessFleet.Doubt) in doubt.at + HarnessFleet.graceTime < moment }
        guard let first = self.fleet.doubts.first, isOver(first) else { return }
        for doubt in self.fleet.doubts where isOver(doubt) { self.report(doubt) }
        self.fleet.doubts.removeAll(where: isOver)
    }

    /// All observations of the current instant have been received.
    private mutating func settleInstant() {
        for effect in self.fleet.effects where effect.needsFault && !self.phones[effect.phone].deviates {
            self.phones[effect.phone].error(
                "\(effect.kind.text), but neither a fault nor anything else explains it", effect.scan,
                &self.fleet)
        }
        self.fleet.effects.removeAll(keepingCapacity: true)
        self.fleet.refusals.removeAll(keepingCapacity: true)
        for act in self.fleet.acts { self.phones[act.phone].judge(act, &self.fleet) }
        self.fleet.acts.removeAll(keepingCapacity: true)
        for asked in self.fleet.uploads { self.phones[asked.phone].judge(asked.upload, &self.fleet) }
        self.fleet.uploads.removeAll(keepingCapacity: true)
    }

    private mutating func report(_ doubt: HarnessFleet.Doubt) {
        // The death of the backend explains what the phone saw.
        if let end = self.accountEnd, doubt.at > end - HarnessFleet.graceTime { return }
        self.fleet.errors.add(
            doubt.text, device: self.phones[doubt.phone].device, scan: doubt.request.scan, at: doubt.at)
    }

    /// The breaker counts the jobs of all callers, including those that are not phones of the fleet.
    private mutating func followCircuit(_ observation: borrowing Observation) {
        guard self.fleet.circuit != nil, case .backend = observation.side,
            case .backend(let payload) = observation.what
        else { return }
        let (device, scan, at) = (observation.device, observation.scan, observation.at)
        guard let wrong = self.fleet.circuit?.record(payload, device: device, scan: scan, at: at) else {
            return
        }
        self.fleet.errors.add(wrong, device: device, scan: scan, at: at)
    }
}
