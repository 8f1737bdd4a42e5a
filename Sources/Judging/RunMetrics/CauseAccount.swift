package import Faults
package import Observations
package import SimBase
import Talaria

/// Derives from the observations of a run who is to blame for each error and each finding (Docs/design.md section 11.11).
///
/// Only what a fault itself changes is injected, and of a chain the first cause counts. Its size is bounded, whatever a server
/// sends.
package struct CauseAccount: Sendable {
    private let rules: CauseRules
    private var indexes = DeviceIndex()
    private var phones: [PhoneCauses] = []

    /// `faults`: in the order of the scenario. `tokenLifetime`: the time after which an answer may say that a job is over.
    package init(faults: [(id: String, kind: FaultKind)], tokenLifetime: Interval) {
        self.rules = CauseRules(
            faults: faults.map {
                CauseRules.Fault(cause: .injected(fault: $0.id), kind: $0.kind, effects: $0.kind.effects)
            }, tokenLifetime: tokenLifetime)
    }

    /// Whether an observation is an error (`RunError`) or a finding.
    package static func isBlamed(_ observation: Observation) -> Bool {
        guard observation.side == .phone, case .phone(let payload) = observation.what else { return false }
        return switch payload {
        case .requestFailed, .streamLost, .eventIgnored(_, _, _, true), .photoRejected, .refused,
            .resultsGivenUp, .found:
            true
        case .badAnswer(_, _, let problem): problem != .notSuccess
        case .replied(_, _, let status, _): PhoneObservation.isError(status: status)
        default: false
        }
    }

    /// Takes an observation. Returns the cause if it is an error or a finding. Of one instant, the faults come first.
    package mutating func record(_ observation: Observation) -> Cause? {
        guard !observation.isRoutine else { return nil }
        switch observation.what {
        case .phone(let payload):
            let index = self.index(of: observation.device)
            return self.phones[index].record(
                payload, scan: observation.scan, at: observation.at, self.rules)
        case .backend(.found(let finding)):
            return finding.side == .client ? .phone : .target
        case .backend(let payload):
            let index = self.index(of: observation.device)
            self.phones[index].record(payload, scan: observation.scan)
            return nil
        case .fault(let payload):
            let index = self.index(of: observation.device)
            self.phones[index].record(payload, scan: observation.scan, self.rules)
            return nil
        case .network, .control: return nil
        }
    }

    private mutating func index(of device: DeviceNumber) -> Int {
        if let index = self.indexes[device] { return index }
        self.phones.append(PhoneCauses())
        self.indexes[device] = self.phones.count - 1
        return self.phones.count - 1
    }
}

/// What is known of a run before it starts.
struct CauseRules: Sendable {
    struct Fault: Sendable {
        let cause: Cause
        let kind: FaultKind
        let effects: FaultEffects
    }

    let faults: [Fault]
    let tokenLifetime: Interval

    subscript(index: Int) -> Fault? { self.faults.indices.contains(index) ? self.faults[index] : nil }
}

extension TransportFailure {
    /// The cause where no fault and no loss of the path explains it.
    var cause: Cause {
        switch self {
        case .nameNotResolved, .connectFailed, .connectTimedOut, .noPath: .path
        case .connectRefused, .tls, .reset, .closedBeforeReply, .closedEarly, .timedOut, .malformed,
            .foreignURL:
            .target
        case .descriptorsExhausted, .other: .harness
        }
    }
}

/// The causes that act on one phone.
struct PhoneCauses: Sendable {
    private static let scansMax = 64

    private var scans: [ScanCauses] = []
    /// The faults of the phone that have begun and not ended.
    private var active: [Int] = []
    /// What took the path last, and whether it is still gone.
    private var trouble: (cause: Cause, isPresent: Bool)?
    /// What ended the process last.
    private var death = Cause.phone

    // MARK: Faults

    mutating func record(_ payload: FaultObservation, scan: ScanNumber, _ rules: CauseRules) {
        switch payload {
        case .decided(let fault, .stream, let attempt, fires: true):
            guard rules[fault]?.effects.connection == .broken else { return }
            let index = self.index(of: scan)
            self.scans[index].armed(fault, attempt)
        case .decided, .passed: break
        case .fired(let fault, let operation, let attempt):
            guard let rule = rules[fault] else { return }
            let index = self.index(of: scan)
            self.scans[index].fired(fault, rule, operation, attempt)
        case .began(let fault): self.active.append(fault)
        case .ended(let fault): self.active.removeAll { $0 == fault }
        }
    }

    /// The fault of the phone that began last, of those that `acts` accepts.
    private func activeCause(_ rules: CauseRules, _ acts: (PhoneFault) -> Bool) -> Cause? {
        for index in self.active.reversed() {
            if let fault = rules[index], case .phone(let kind) = fault.kind, acts(kind) { return fault.cause }
        }
        return nil
    }

    // MARK: The server

    mutating func record(_ payload: BackendObservation, scan: ScanNumber) {
        switch payload {
        case .expired(let job):
            for index in self.scans.indices { self.scans[index].jobExpired(job) }
        case .streamEnded(_, let attempt, byPeer: true):
            let index = self.index(of: scan)
            self.scans[index].streamCut(attempt)
        case .upstreamFailed(let operation, let attempt, let failure):
            let index = self.index(of: scan)
            self.scans[index].upstreamFailed(operation, attempt, failure.cause)
        default: break
        }
    }

    // MARK: The phone

    mutating func record(
        _ payload: PhoneObservation, scan: ScanNumber, at: Instant, _ rules: CauseRules
    ) -> Cause? {
        switch payload {
        case .pathLost, .pathChanged:
            self.pathFailed(self.activeCause(rules) { !$0.has(.sparesPath) } ?? .path, payload == .pathLost)
        case .pathReturned: self.trouble?.isPresent = false
        case .killed:
            self.death = self.activeCause(rules) { $0 == .kill || $0 == .reinstall } ?? .phone
            self.interrupted(by: self.death)
        case .suspended:
            if let cause = self.activeCause(rules, { $0 == .background }) { self.interrupted(by: cause) }
        case .reinstalled: self.scans = []
        case .photoRejected: return .phone
        case .refused(_, cause: .photo), .refused(_, cause: .queue): return .phone
        case .refused(_, cause: .storage): return self.activeCause(rules) { $0 == .storageFull } ?? .phone
        default: return self.recordScan(payload, scan: scan, at: at, rules)
        }
        return nil
    }

    private mutating func recordScan(
        _ payload: PhoneObservation, scan: ScanNumber, at: Instant, _ rules: CauseRules
    ) -> Cause? {
        guard ScanCauses.concerns(payload) else { return nil }
        let index = self.index(of: scan)
        let cause = self.scans[index].record(
            payload, at: at, PhoneMoment(trouble: self.trouble, death: self.death), rules)
        if self.scans[index].isOver { self.scans.remove(at: index) }
        return cause
    }

    private mutating func pathFailed(_ cause: Cause, _ isLost: Bool) {
        // Of two losses of the path at once the first counts.
        if self.trouble?.isPresent != true { self.trouble = (cause, isLost) }
        for index in self.scans.indices { self.scans[index].pathFailed(self.trouble?.cause ?? cause) }
    }

    private mutating func interrupted(by cause: Cause) {
        for index in self.scans.indices { self.scans[index].interrupted(by: cause) }
    }

    private mutating func index(of scan: ScanNumber) -> Int {
        if let index = self.scans.lastIndex(where: { $0.scan == scan }) { return index }
        if self.scans.count == Self.scansMax { self.scans.removeFirst() }
        self.scans.append(ScanCauses(scan: scan))
        return self.scans.count - 1
    }
}

/// What a scan must know of its phone.
struct PhoneMoment: Sendable {
    /// What took the path last, and whether it is still gone.
    let trouble: (cause: Cause, isPresent: Bool)?
    /// What ended the process last.
    let death: Cause
}
