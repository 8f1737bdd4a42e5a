package import Metrics
package import Observations
import Talaria

/// A set of invariants.
package struct InvariantSet: Hashable, Sendable, ExpressibleByArrayLiteral {
    private var bits: UInt64 = 0

    package init() {}

    package init(arrayLiteral invariants: Invariant...) {
        for invariant in invariants { self.bits |= 1 << UInt64(invariant.ordinal) }
    }

    package func contains(_ invariant: Invariant) -> Bool {
        self.bits & 1 << UInt64(invariant.ordinal) != 0
    }

    package mutating func formUnion(_ others: InvariantSet) { self.bits |= others.bits }
}

/// The invariants that a run gave an occasion to break: a limit can be kept only where there was one. An invariant without an
/// occasion is met, and counted apart (Docs/design.md section 11).
package struct Occasions: Sendable {
    private let fleet: PhoneGroups
    private var met = InvariantSet()
    private var metByGroup: [InvariantSet]

    package init(fleet: PhoneGroups) {
        self.fleet = fleet
        self.metByGroup = fleet.groups.map { _ in InvariantSet() }
    }

    package mutating func record(_ observation: borrowing Observation) {
        // What is routine is followed by what is not: an end, an answer.
        guard !observation.isRoutine else { return }
        let occasions = Self.occasions(of: observation.what)
        guard occasions != [] else { return }
        self.met.formUnion(occasions)
        if let group = self.fleet.group(of: observation.device) {
            self.metByGroup[group].formUnion(occasions)
        }
    }

    /// Returns the verdicts on the fleet, or on one group, each saying whether it had an occasion.
    package func applied(to verdicts: [Verdict], ofGroup group: Int? = nil) -> [Verdict] {
        let met = group.map { self.metByGroup[$0] } ?? self.met
        return verdicts.map { verdict in
            var verdict = verdict
            verdict.hadOccasion = verdict.violations > 0 || met.contains(verdict.invariant)
            return verdict
        }
    }

    private static func occasions(of payload: ObservationPayload) -> InvariantSet {
        switch payload {
        case .phone(let payload): Self.occasions(of: payload)
        case .backend(.finished(_, _, let books)): books > 0 ? [.bookNeverLost] : []
        case .backend(.targetTried(let rule)): [Invariant(rule)]
        case .backend, .fault, .network, .control: []
        }
    }

    private static let captures: InvariantSet = [
        .scanCustody, .scanSettles, .deviceNotStuck, .memoryBounded, .othersUnharmed, .timersClean,
    ]
    private static let requests: InvariantSet = [
        .requestWellFormed, .requestOneFate, .linkConserves, .timeSane, .authNoLeak,
    ]
    private static let deletes: InvariantSet = [.jobNotCleanedEarly, .jobCleanedOnce, .jobSilentAfterCleanup]

    private static func occasions(of payload: borrowing PhoneObservation) -> InvariantSet {
        switch payload {
        case .captured: Self.captures
        case .launched(let restored): restored > 0 ? Self.captures : []
        case .refused: [.scanRefusedForCause]
        case .bookShown: [.bookShown]
        case .bookRead, .enriched, .readingKept, .photoInstead: [.textKeptForCause]
        case .bookAdded: [.bookNeverLost, .bookNeverDoubleAdded, .bookFaithful]
        case .bookRepeated: [.bookNeverDoubleAdded]
        case .bookPending:
            [.bookNeverLost, .bookNeverDoubleAdded, .bookFaithful, .reviewBookAccounted]
        case .bookEdited: [.reviewEditKept]
        case .bookApproved, .bookMerged: [.reviewNoDuplicate]
        case .requestSent(let operation, _, _, _):
            operation.isDelete
                ? Self.requests.union(Self.deletes)
                : operation == .upload
                    ? Self.requests.union([.scanOrder])
                    : operation == .refresh ? Self.requests.union([.authOneExchange]) : Self.requests
        case .uploadAccepted:
            [.jobCleaned, .jobEnded, .jobOrphansBounded, .serverAgrees, .targetJobUnique]
        case .replied(_, _, let status, _): Self.occasions(ofStatus: status)
        case .requestFailed: [.retryBudget, .herdBounded]
        case .rateLimited: [.limitHonoured, .retryBudget, .herdBounded]
        case .slotTaken: [.slotsBounded]
        case .eventApplied, .eventIgnored: [.streamIDMonotone, .streamParseRobust]
        case .streamOpened(_, _, let after, _): after == nil ? [] : [.streamNoGap]
        case .streamLost(_, _, let cause, _):
            cause == .silence ? [.streamDeadDetected, .retryBudget] : [.retryBudget]
        case .terminalApplied: [.streamTerminalOnce, .bookAnswered]
        case .lookupAnswered: [.bookAnswered]
        case .keySent: [.lookupBilledOnce]
        case .rowsRead: [.rowsConserved]
        case .cancelRequested: [.cancelFinal]
        default: []
        }
    }

    private static func occasions(ofStatus status: Int) -> InvariantSet {
        switch status {
        case 401: [.authNoStaleUse]
        case 429: [.limitHonoured, .retryBudget, .herdBounded]
        case 500...: [.retryBudget, .herdBounded]
        default: []
        }
    }
}

extension InvariantSet {
    fileprivate func union(_ others: InvariantSet) -> InvariantSet {
        var both = self
        both.formUnion(others)
        return both
    }
}
