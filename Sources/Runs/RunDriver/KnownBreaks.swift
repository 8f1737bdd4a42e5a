import Ledger
import Phone
import Plan

extension ProfileExpectation {
    /// Creates the expectation for a group. A shipping client is known to break what its own toggles break, as far as they are
    /// on. A toggle that the scenario adds excuses nothing, and neither does one over a client that is not shipping.
    init(_ group: FleetGroup) {
        let name = group.profile.name
        guard let profile = ProfileTable.named(name), profile.isShipping else {
            self.init(name: name, breaks: [])
            return
        }
        let own = profile.toggles(with: group.toggles).filter(profile.toggles.contains)
        let breaks = Set(own.flatMap(\.breaks))
        self.init(name: name, breaks: Invariant.allCases.filter(breaks.contains))
    }
}

extension ProfileToggle {
    /// The invariants that a client with this toggle breaks. Those of the scenarios in Scenarios/gaps.
    fileprivate var breaks: [Invariant] {
        switch self {
        case .gap(let gap): gap.breaks
        case .quirk(let quirk): quirk.breaks
        case .inconsistency: []  // No shipping client has one.
        }
    }
}

extension Quirk {
    fileprivate var breaks: [Invariant] {
        switch self {
        case .endOfStream: [.scanCustody, .jobCleaned]
        case .lostStream, .relativeURL: [.scanCustody, .jobNotCleanedEarly]
        case .streamStatuses: [.scanCustody, .jobNotCleanedEarly, .authNoStaleUse]
        case .results: [.scanCustody]
        case .unknownEvents, .progressWithoutMessage, .otherVersions:
            [.jobNotCleanedEarly, .jobCleanedOnce, .streamParseRobust]
        case .lastEventID: [.streamIDMonotone, .streamNoGap]
        case .deviceIDs: [.requestWellFormed, .jobCleaned]
        case .retryableErrors: [.retryBudget]
        case .jitter: [.herdBounded]
        case .retryAfter: [.limitHonoured]
        }
    }
}

extension Gap {
    fileprivate var breaks: [Invariant] {
        switch self {
        case .problemDetails: [.scanRefusedForCause, .limitHonoured]
        case .errorFields: [.scanRefusedForCause]
        case .lastEventID: [.streamIDMonotone, .streamNoGap]
        case .enrichmentDegraded, .ping: [.scanRefusedForCause, .streamParseRobust]
        case .resultsFormat, .resultsDeviceID: [.requestWellFormed]
        case .deviceID: [.requestWellFormed, .jobCleaned]
        case .tokenLifetime: [.streamParseRobust, .authNoStaleUse]
        case .enrichmentStatus: [.bookFaithful]
        case .resultsEnvelope, .inlineBooks, .statuses, .document: []
        }
    }
}
