package import Faults
package import Ledger
package import Metrics
package import RunMetrics
package import SimBase
package import Talaria

/// The properties of a run that its judge needs before the start.
package struct JudgeSettings: Sendable {
    package var shelf: Shelf
    package var ledger: LedgerSettings
    /// The settings of the harness checks; nil if the harness is not checked.
    package var harness: HarnessSettings?
    /// The settings of the simulation's invariants; nil in a live run.
    package var invariants: SimulationInvariantSettings?
    /// The ids of the faults in the order of the scenario.
    package var faults: [String] = []
    /// Their kinds, in the same order.
    package var faultKinds: [FaultKind] = []
    /// The time by which a phone may observe what a fault does to it before the fault is observed to have fired.
    package var firingDelay = Interval.zero
    package var objectives: [SLO] = []
    /// Faults that have an end.
    package var faultEnds: [FaultEnd] = []
    package var expectations = Expectations.none
    /// The goals that the run must reach; nil if none are required.
    package var coverage: CoverageTable?
    /// Phones that the objectives, and nothing else, leave out.
    package var leftOut: Set<DeviceNumber> = []
    /// The number of intervals after which their length doubles; nil for never.
    package var intervalsOfALength: Int?
    /// The schedule of the captures; nil if it is not known.
    package var schedule: CaptureSchedule?
    /// The steps of a load that looks for the capacity of the backend; nil for every other load.
    package var steps: RateSteps?
    /// The rollout of the scenario; nil without one.
    package var rollout: RolloutSettings?

    package init(shelf: Shelf, ledger: LedgerSettings) {
        self.shelf = shelf
        self.ledger = ledger
    }
}
