package import Ledger
package import Metrics
package import SimBase
package import Talaria

/// What the judge of a run must know before the run starts.
package struct JudgeSettings: Sendable {
    package var shelf: Shelf
    package var ledger: LedgerSettings
    /// What the harness itself is judged by; nil where it is not.
    package var harness: HarnessSettings?
    /// For a world that tells more than observations; nil elsewhere.
    package var invariants: SimulationInvariantSettings?
    /// The ids of the faults in the order of the scenario.
    package var faults: [String] = []
    package var objectives: [SLO] = []
    /// Faults that have an end.
    package var faultEnds: [FaultEnd] = []
    package var expectations = Expectations.none
    /// What the run must reach; nil where that is not asked.
    package var coverage: CoverageTable?
    /// Phones that the objectives, and nothing else, leave out.
    package var leftOut: Set<DeviceNumber> = []
    /// After so many intervals they become twice as long; nil: never.
    package var intervalsOfALength: Int?

    package init(shelf: Shelf, ledger: LedgerSettings) {
        self.shelf = shelf
        self.ledger = ledger
    }
}
