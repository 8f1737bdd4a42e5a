import Ledger
import Observations
import SimBase
import Talaria

/// How often what each invariant speaks of has happened in a run: times at which a phone that does it wrong
/// breaks it.
struct InvariantSubjects {
    private var counts: [Invariant: Int] = [:]
    private var phones: [DeviceNumber: Phone] = [:]

    private struct Phone {
        var slots = 0
        var isFull = false
        /// Scans that wait for their first upload.
        var fresh: Set<ScanNumber> = []
    }

    func count(of invariant: Invariant) -> Int { self.counts[invariant] ?? 0 }

    private mutating func count(_ invariants: Invariant...) {
        for invariant in invariants { self.counts[invariant, default: 0] += 1 }
    }

    mutating func record(_ observation: Observation) {
        switch observation.what {
        case .phone(let payload): self.phone(payload, observation)
        case .backend(let payload): self.backend(payload)
        case .fault, .network, .control: break
        }
    }

    /// The run came to its end, with so many phones; some of them may be broken for good.
    mutating func ended(settled phones: Int, broken: Int) {
        self.counts[.deviceNotStuck, default: 0] += phones
        self.counts[.scanSettles, default: 0] += phones - broken
        self.counts[.timersClean, default: 0] += phones
        if broken > 0 { self.counts[.othersUnharmed, default: 0] += phones - broken }
    }

    private mutating func phone(_ payload: PhoneObservation, _ seen: Observation) {
        var phone = self.phones[seen.device] ?? Phone()
        defer { self.phones[seen.device] = phone }
        switch payload {
        case .launched(let restored): if restored > 0 { self.count(.scanCustody) }
        case .killed, .reinstalled: phone = Phone()
        case .storageFilled: phone.isFull = true
        case .storageFreed: phone.isFull = false
        case .captured: if phone.isFull { self.count(.memoryBounded) }
        case .queued(.captured): phone.fresh.insert(seen.scan)
        case .slotTaken:
            phone.slots += 1
            if phone.slots == 5 { self.count(.slotsBounded) }
        case .slotGiven: phone.slots -= 1
        case .bookShown: self.count(.bookShown)
        case .bookAdded: self.count(.bookFaithful)
        case .enriched: self.count(.textKeptForCause)
        case .bookKept: self.count(.reviewBookAccounted)
        case .bookEdited: self.count(.reviewEditKept)
        case .bookMerged: self.count(.reviewNoDuplicate)
        case .bookRepeated: self.count(.bookNeverDoubleAdded)
        case .rowsRead: self.count(.rowsConserved)
        case .canceled: self.count(.cancelFinal)
        case .lookupAnswered(found: true, _, _, _): self.count(.bookAnswered)
        case .refused: self.count(.scanRefusedForCause)
        case .requestSent(let operation, let attempt, let job, let lastEventID):
            self.count(.requestOneFate, .requestWellFormed)
            if attempt > 1 { self.count(.retryBudget) }
            if operation == .refresh { self.count(.authOneExchange) }
            if attempt > 1, operation == .cleanup { self.count(.jobCleaned) }
            if operation == .cleanup { self.count(.jobNotCleanedEarly, .jobSilentAfterCleanup) }
            if job != nil { self.count(.authNoLeak) }
            if lastEventID != nil { self.count(.streamIDMonotone) }
            guard operation == .upload else { return }
            if attempt > 1 { self.count(.jobOrphansBounded) }
            // There was a choice.
            if phone.fresh.remove(seen.scan) != nil, !phone.fresh.isEmpty { self.count(.scanOrder) }
        case .replied(_, _, status: 401, _): self.count(.authNoStaleUse)
        case .rateLimited: self.count(.limitHonoured)
        case .uploadAccepted: self.count(.serverAgrees)
        case .streamOpened(_, _, after: .some, _): self.count(.streamNoGap)
        case .streamLost(_, _, .silence, _): self.count(.streamDeadDetected)
        case .eventApplied(_, _, _, let latency, _):
            self.count(.streamParseRobust)
            if latency != nil { self.count(.timeSane) }
        case .terminalApplied: self.count(.streamTerminalOnce)
        case .pathReturned, .pathChanged: self.count(.herdBounded)
        default: break
        }
    }

    private mutating func backend(_ payload: BackendObservation) {
        switch payload {
        case .connected: self.count(.linkConserves)
        case .bookLookedUp(let lookup): if !lookup.isBilled { self.count(.lookupBilledOnce) }
        case .finished(_, .completed, let books): if books > 0 { self.count(.bookNeverLost) }
        case .cleaned(_, effective: false): self.count(.jobCleanedOnce)
        case .expired: self.count(.jobEnded)
        default: break
        }
    }
}
