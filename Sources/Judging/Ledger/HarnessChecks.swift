import Metrics
import Observations
import SimBase
import Talaria

/// Checks the harness: the reports of the backend, the gateway, the faults and the link are compared with the
/// observations of the other sides.
///
/// A fault that fired must have had its effect, and an effect that only a fault explains must have its fault.
/// Quotas are recounted. A job must be served as it was made. An error found here is not the phone's: no
/// measurement of the run is reliable then.
///
/// It receives observations in the ledger's order: those of one instant by side, backend, faults, phones. It
/// remembers only the open state of a phone, so its memory is bounded, and no event allocates once the lists
/// have their size.
struct HarnessChecks: Sendable {
    private var fleet: HarnessFleet
    private var phones: [HarnessPhone] = []
    private var indexes = DeviceIndex()
    private let hasPingFaults: Bool
    /// The end of the backend's observations.
    private var accountEnd: Instant?

    init(_ settings: HarnessSettings, shelf: Shelf) {
        self.fleet = HarnessFleet(settings, shelf: shelf)
        self.hasPingFaults = settings.faults.contains {
            if case .latePings = $0 { true } else { $0 == .noPings }
        }
    }

    var errors: HarnessErrors { self.fleet.errors }

    /// The number of remembered entries, for tests of its growth.
    var remembered: Int { self.phones.reduce(self.fleet.doubts.count) { $0 + $1.remembered } }

    // MARK: Events

    mutating func record(_ observation: borrowing Observation) {
        let (device, scan, at) = (observation.device, observation.scan, observation.at)
        if let end = self.accountEnd, at > end { return }
        if at > self.fleet.now { self.pass(to: at) }
        // To look into an observation copies it, and half of them are routine.
        if observation.isRoutine {
            guard self.fleet.watches(device) || observation.side == .backend && self.hasPingFaults
            else { return }
        }
        self.followCircuit(observation)
        if observation.side == .control { return self.allow(observation) }
        guard observation.side != .network, self.fleet.settings.fleet.group(of: device) != nil else { return }
        let index = self.index(of: device)
        switch observation.what {
        case .backend(let payload): self.phones[index].backend(payload, scan, &self.fleet)
        case .fault(let payload): self.phones[index].record(payload, scan, &self.fleet)
        case .phone(let payload): self.phones[index].phone(payload, scan, &self.fleet)
        case .network, .control: break
        }
    }

    /// The operator starts a fault: it may act from now on, whatever the scenario says.
    private mutating func allow(_ observation: borrowing Observation) {
        guard case .control(let action) = observation.what else { return }
        switch action {
        case .fault(let fault):
            guard self.fleet.settings.rules.indices.contains(fault) else { return }
            self.fleet.settings.rules[fault].from = min(self.fleet.settings.rules[fault].from, observation.at)
        // A phone loses its path without a fault then, as in a tunnel.
        case .offline: self.fleet.settings.hasTunnels = true
        case .stopped, .paused, .resumed, .phones: break
        }
    }

    /// The backend's process died, and had reported everything up to this time.
    mutating func lostBackend(after moment: Instant) { self.accountEnd = moment }

    /// The end of the run, or of what is known of it.
    mutating func finish() {
        self.settleInstant()
        for doubt in self.fleet.doubts { self.report(doubt) }
        self.fleet.doubts = []
        self.fleet.judgeShares()
        // What was cut just now may be on its way.
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

    /// Everything of the present instant was seen.
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
        // The phone saw the backend die.
        if let end = self.accountEnd, doubt.at > end - HarnessFleet.graceTime { return }
        self.fleet.errors.add(
            doubt.text, device: self.phones[doubt.phone].device, scan: doubt.scan, at: doubt.at)
    }

    /// Whoever the jobs are of, foreign callers included, the breaker counts them.
    private mutating func followCircuit(_ observation: borrowing Observation) {
        guard self.fleet.circuit != nil, observation.side == .backend,
            case .backend(let payload) = observation.what
        else { return }
        let (device, scan, at) = (observation.device, observation.scan, observation.at)
        guard let wrong = self.fleet.circuit?.record(payload, device: device, scan: scan, at: at) else {
            return
        }
        self.fleet.errors.add(wrong, device: device, scan: scan, at: at)
    }
}
