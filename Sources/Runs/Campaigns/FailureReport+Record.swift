import Faults
import Ledger
import Observations
import Phone
import Plan
import Reports
import RunDriver
import RunJudge
import ScenarioFile
import Search
import SimBase
import VirtualWorld

extension FailureReport {
    /// The report as a value that is written as JSON.
    ///
    /// - Parameter recipe: How the plan was drawn from the seed; nil if it was not.
    func record(recipe: SwarmRecipe?) -> FailureRecord {
        let outcome = self.result.outcome
        var record = FailureRecord(
            title: self.title, name: self.failure.kind.name, client: self.failure.kind.client,
            seed: self.failure.seed, command: "", recipe: recipe?.rawValue,
            original: Self.figures(self.failure.original, file: nil),
            smallest: Self.figures(self.result.plan, file: self.plan, self.story.differences),
            digest: Hexadecimal.text(outcome.digest, digits: 16), chain: Self.chain(of: self.result.plan),
            events: outcome.events, story: self.events, situations: outcome.reached.map(\.rawValue),
            likelihood: self.story.likelihood.points.map {
                FailureRecord.Point(at: $0.at, events: $0.events, failures: $0.failures)
            },
            trials: self.result.trials, isConfirmed: self.result.isConfirmed, shrinking: self.failure.time,
            tool: ThisProgram.tool, machine: ThisMachine.text, toolchain: ThisProgram.toolchain)
        if case .invariant(let invariant, _) = self.failure.kind { record.statement = invariant.statement }
        record.violation = self.story.violation.map {
            FailureRecord.Event(
                at: $0.at, side: "violation", device: $0.device?.raw ?? 0, scan: $0.scan.raw, text: $0.text)
        }
        switch self.origin {
        case .search(let failing, let all, let again):
            record.command = again
            (record.seedsFailing, record.seedsSearched) = (failing, all)
        case .plan(let path, let live):
            record.command = ShellWords.line(["swiftwing-sim", "replay", path])
            record.live = live.map { Self.text($0) }
        }
        return record
    }

    private var events: [FailureRecord.Event] {
        let faults = self.result.plan.run.scenario.faults.map(\.id)
        let told = StoryOrder.causesFirst(self.story.observations).compactMap { observation in
            StoryText.text(observation, self.journey(of: observation.device), faults: faults).map { text in
                FailureRecord.Event(
                    at: observation.at, side: observation.side.rawValue, device: observation.device.raw,
                    scan: observation.scan.raw, text: text)
            }
        }
        return Array(told.prefix(FailureRecord.eventsMax))
    }

    private static func figures(
        _ plan: WorldPlan, file: String?, _ differences: [FailureStory.Difference] = []
    ) -> FailureRecord.PlanFigures {
        FailureRecord.PlanFigures(
            file: file, phones: plan.run.devices,
            captures: plan.captures?.count ?? plan.run.expectedArrivals.scans,
            faults: plan.run.scenario.faults.map { fault in
                FailureRecord.Fault(
                    id: fault.id, content: ScenarioWriter.content(fault),
                    isNeeded: differences.first { $0.fault == fault.id }?.isNeeded)
            },
            settle: plan.settle, staysOffline: Int(plan.staysOffline.perMillion),
            shufflesTies: plan.shufflesTies)
    }

    private static func chain(of plan: WorldPlan) -> [String] {
        var world = World(plan)
        while (try? world.steps(Chain.interval)) == true {}
        return world.chain.checkpoints.map { Hexadecimal.text($0, digits: 16) }
    }
}
