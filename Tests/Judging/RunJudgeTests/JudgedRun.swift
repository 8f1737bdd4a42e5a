import Ledger
import Metrics
import Observations
import RunJudge
import SimBase
import Talaria

/// Counts what a judge logs.
final class LogCounts: RunLog {
    private(set) var observations = 0
    private(set) var intervals: [Interval] = []
    var remarks: [Remark] = []

    private(set) var followed: [DeviceNumber] = []

    func log(_ observation: Observation, cause: Cause?) { self.observations += 1 }

    func follow(_ phone: DeviceNumber) { self.followed.append(phone) }

    func log(
        _ table: MetricTable, from: Instant, length: Interval, open: (table: MetricTable, at: Instant)?
    ) { self.intervals.append(length) }
}

extension JudgeSettings {
    static func small(fleet: PhoneGroups = .ungrouped, objectives: [SLO] = []) -> JudgeSettings {
        var ledger = LedgerSettings.embedded
        ledger.fleet = fleet
        var settings = JudgeSettings(shelf: Shelf(seed: 42, booksMin: 3, booksMax: 8), ledger: ledger)
        settings.objectives = objectives
        return settings
    }
}

extension RunHead {
    static func small(groups: [Group] = []) -> RunHead {
        RunHead(
            tool: "swiftwing-sim", machine: nil,
            scenario: ScenarioIdentity(name: "small", description: "", sha256: ""), seed: 42, world: .live,
            started: 0, hasBackendView: true, groups: groups, faults: [], command: [])
    }
}

extension RunFacts {
    init(at end: Instant, made: Int, waiting: [WaitingRecord] = []) {
        self.init(
            endedAt: end, length: end - .zero, waiting: waiting, observationsMade: made, drain: .zero,
            resources: Resources(client: nil, backend: nil))
    }
}
