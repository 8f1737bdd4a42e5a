import Campaigns
import Plan
import RunDriver
import ScenarioFile
import VirtualWorld

/// Saved plans on the command line: `simulate PLAN` explains why a plan fails, `replay PLAN` runs it.
enum PlanOptions {
    private static let suffix = ".json"
    private static let taken = [
        "--output", "--force", "--quiet", "--no-color", "--trace", Option.summaryLine.name, RunTags.name,
    ]

    /// Whether a positional argument names a plan and no scenario.
    static func isPlan(_ word: String) -> Bool { word.hasSuffix(Self.suffix) }

    static func explain(_ arguments: Arguments, _ console: Console) throws -> ExitCode {
        let path = arguments.positionals[0]
        for option in SimulateCommand.command.options.map(\.name)
        where arguments.has(option) && !Self.taken.contains(option) {
            throw CommandFailure(
                .usage, "\(option) belongs to a scenario, and \(path) is a plan",
                hint: "change the plan itself: it is JSON with one value on a line")
        }
        let output = try OutputFolder.path(arguments)
        let (saved, bytes) = try PlanFiles.load(path)
        let explanation = PlanExplanation(
            saved, path: path, folder: output ?? OutputFolder.forSearch(saved.scenario),
            isQuiet: arguments.has(Option.quiet.name), console: console)
        try RunInterruption.check()
        if let code = try explanation.run() { return code }
        return try Self.replay(saved, WorldPlan(saved), bytes, arguments, console)
    }

    /// Runs a plan, with a report as of any other run.
    static func replay(
        _ saved: SavedPlan, _ plan: WorldPlan, _ bytes: [UInt8], _ arguments: Arguments, _ console: Console
    ) throws -> ExitCode {
        let loaded = LoadedScenario(saved.scenario, path: arguments.positionals[0], bytes: bytes)
        let options = try RunOptions(loaded, again: arguments.words([RunTags.name]), arguments)
        var request = VirtualRequest(options, plan: plan)
        request.expected = saved.outcome.map { ($0, saved.tool) }
        request.live = saved.live
        return try VirtualRun(request, console: console).run()
    }
}
