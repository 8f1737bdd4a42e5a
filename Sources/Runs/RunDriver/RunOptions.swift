import EventLoop
import Faults
import Phone
import Plan
import RunArchive
package import RunJudge
import ScenarioFile

/// The options common to live and virtual runs: the scenario, and how and where the run is reported.
package struct RunOptions {
    let loaded: LoadedScenario
    /// The words that run it again.
    let command: [String]
    let labels: RunLabels
    /// The folder of the report; nil: a new one in `Reports`.
    let output: String?
    let isTraced: Bool
    package let isQuiet: Bool
    /// Whether one line is printed instead of the summary.
    package var isOneLine = false
    /// The collector that gets spans and metrics; nil for none.
    package var collector: TargetURL?

    package init(
        _ loaded: LoadedScenario, command: [String], labels: RunLabels, output: String?, isTraced: Bool,
        isQuiet: Bool
    ) {
        self.loaded = loaded
        self.command = command
        self.labels = labels
        self.output = output
        self.isTraced = isTraced
        self.isQuiet = isQuiet
    }

    /// `started`: milliseconds since 1970.
    func head(_ plan: RunPlan, world: WorldKind, started: Int64, hasBackendView: Bool) -> RunHead {
        var head = RunHead(
            tool: ThisProgram.tool, machine: world == .live ? ThisMachine.text : nil,
            scenario: ScenarioIdentity(
                name: plan.scenario.name, description: plan.scenario.description, file: self.loaded.bytes),
            seed: plan.scenario.seed, world: world, started: started, hasBackendView: hasBackendView,
            groups: plan.groups.map {
                .init(
                    name: $0.spec.name, devices: $0.spec.devices, journey: $0.profile.journey,
                    deviations: $0.spec.deviations)
            },
            shard: plan.shard, faults: plan.scenario.faults.map(\.id), command: self.command,
            labels: self.labels)
        head.conditions = RunConditions(plan)
        head.isOnTrial = !hasBackendView && plan.scenario.trial.isOn
        return head
    }

    /// Makes the folder of the run, with its scenario in it.
    func makeFolder(_ scenario: Scenario, started: Int64) throws(OutputError) -> RunDirectory {
        let location =
            self.output.map { RunLocation.exactly($0) }
            ?? .dated(reports: "Reports", started: started, scenario: scenario.name, seed: scenario.seed)
        let directory = try RunDirectory.create(
            location, log: ObservationLog(isTracing: self.isTraced, faults: scenario.faults.map(\.id)))
        directory.write(scenarioResolved: ScenarioWriter.resolved(scenario))
        return directory
    }
}

extension RunDirectory {
    /// A run continues without what it cannot write: its numbers are printed at the end.
    func reportTrouble(on console: Console) {
        guard let trouble = self.takeTrouble() else { return }
        console.error("swiftwing-sim: \(trouble); the run continues")
    }
}

extension Resources.Usage {
    init(_ usage: ResourceUsage) {
        self.init(processor: usage.processor, residentBytes: usage.residentMax)
    }
}
