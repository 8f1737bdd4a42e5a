package import Metrics
package import SimBase
package import Talaria

/// The properties of a run that the ledger needs before it starts.
package struct LedgerSettings: Hashable, Sendable {
    /// Whether the simulated backend's observations reach the ledger. Without them (`--target`) the shelf and
    /// the server's log are not known, and what needs them is not available.
    package var hasBackendView: Bool
    /// What a foreign backend is held to; empty where it is not on trial.
    package var trial: [Invariant] = []
    package var isOnTrial: Bool { !self.trial.isEmpty }
    /// Stream slots of a phone (Docs/contract.md section 8: at most 5 at once).
    package var slotsMax: Int
    /// Observations of the two sides that are no further apart than this may have happened in either order.
    package var clockTolerance: Interval
    /// Violations of one invariant that are kept as examples; all are counted.
    package var examplesMax: Int
    package var fleet: PhoneGroups
    /// The profiles of the groups of `fleet`, by the group's index. A group without one, and a phone without a group, are
    /// held to `contract`.
    package var profiles: [ProfileExpectation]
    /// The journeys of the groups of `fleet`, by the group's index; `scan` for a group without one.
    package var journeys: [Journey] = []
    /// What books cost; nil if nothing is charged for.
    package var prices: BookPrices?
    /// Whether users of the fleet cancel scans.
    package var cancels = false
    /// Whether somebody reviews the books of a group.
    package var reviews = false
    /// The time for which a book that comes is one that waits and has its ISBN, or its title and author, by the group's index; nil
    /// for a group whose app does not look for such.
    package var duplicateWindows: [Interval?] = []
    /// The look-ups by text, by the group's index; nil for a group of another journey.
    package var texts: [TextRule?] = []
    /// Whether the backend of the plan shows books before the ends of their jobs.
    package var isProgressive = false
    /// The regions of a photo, by the group's index; 1 for a group without them.
    package var regions: [ClosedRange<Int>] = []
    /// The times from the first 202 of a scan to its cancel, by the group's index; nil for a group whose users cancel none.
    package var cancelTimes: [ClosedRange<Interval>?] = []
    /// The time from an answer to the next request for the status of a job, by the group's index.
    package var statusIntervals: [Interval] = []
    /// Whether streams of v2 report only the last change, and skip those between.
    package var passesChangesOver = false
    /// Faults, by their indexes in the scenario's list, that do not keep requests from arriving while they
    /// last: the phone reports their effects itself. Any other fault excuses a DELETE that is made while it
    /// lasts.
    package var faultsOffPath: [Int]
    /// Faults, by their indexes in the scenario's list, that deliver a final answer or event: they explain a refusal.
    package var faultsThatRefuse: [Int]
    /// Faults, by their indexes in the scenario's list, that cut an exchange: of its answer not all was delivered, and its
    /// stream has no living link.
    package var faultsThatCut: [Int]
    /// Faults, by their indexes in the scenario's list, that write on a stream what cannot be read.
    package var faultsThatGarble: [Int]
    /// Faults, by their indexes in the scenario's list, under which events have other data than without them:
    /// a phone, for which ids alone are not unique, cannot recognize that it has met such an event before.
    package var faultsThatChange: [Int]
    /// Faults, by their indexes in the scenario's list, that take books out of an event or out of results, with their ids.
    package var faultsThatTakeBooks: [Int: String] = [:]
    /// The time for which a token is valid after the upload was accepted.
    package var tokenLifetime: Interval
    /// The time in which a phone records new data if its storage has room.
    package var recordTime = Self.recordTime

    /// A phone's storage is one write behind, and a write takes the virtual world at most 4 ms: a second is generous.
    package static let recordTime = Interval.seconds(1)
    /// Live, whoever writes for a whole fleet may have to wait for a disk that others keep busy.
    package static let recordTimeLive = Interval.seconds(10)

    package init(
        hasBackendView: Bool, slotsMax: Int, clockTolerance: Interval, examplesMax: Int, fleet: PhoneGroups,
        profiles: [ProfileExpectation], faultsOffPath: [Int] = [], faultsThatRefuse: [Int] = [],
        faultsThatCut: [Int] = [], faultsThatGarble: [Int] = [], faultsThatChange: [Int] = [],
        tokenLifetime: Interval = .hours(2)
    ) {
        precondition(slotsMax >= 0 && examplesMax >= 0 && clockTolerance >= .zero)
        self.hasBackendView = hasBackendView
        self.slotsMax = slotsMax
        self.clockTolerance = clockTolerance
        self.examplesMax = examplesMax
        self.fleet = fleet
        self.profiles = profiles
        self.faultsOffPath = faultsOffPath
        self.faultsThatRefuse = faultsThatRefuse
        self.faultsThatCut = faultsThatCut
        self.faultsThatGarble = faultsThatGarble
        self.faultsThatChange = faultsThatChange
        self.tokenLifetime = tokenLifetime
    }

    func profile(of device: DeviceNumber) -> ProfileExpectation {
        guard let group = self.fleet.group(of: device), group < self.profiles.count else { return .contract }
        return self.profiles[group]
    }

    func journey(of device: DeviceNumber) -> Journey {
        self.fleet.value(of: device, in: self.journeys) ?? .scan
    }

    /// The settings for the embedded backend: one clock, every phone held to the contract.
    package static let embedded = LedgerSettings(
        hasBackendView: true, slotsMax: 5, clockTolerance: .zero, examplesMax: 5, fleet: .ungrouped,
        profiles: [])
}

/// The invariants that a client profile is known to violate. A named shipping profile violates some;
/// `contract`, with or without toggles, must violate none.
package struct ProfileExpectation: Hashable, Sendable {
    package var name: String
    package var breaks: [Invariant]

    package init(name: String, breaks: [Invariant]) {
        self.name = name
        self.breaks = breaks
    }

    package static let contract = ProfileExpectation(name: "contract", breaks: [])
}
