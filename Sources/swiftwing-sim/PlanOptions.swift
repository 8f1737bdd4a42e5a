import Campaigns
import Plan
import RunArchive
import RunDriver
import RunJudge
import ScenarioFile
import SystemIO
import VirtualWorld

/// Saved plans on the command line: `simulate PLAN` explains why a plan fails, `replay PLAN` runs it.
enum PlanOptions {
    private static let suffix = ".json"
    private static let taken = [
        "--output", "--force", "--quiet", "--no-color", "--trace", Option.summaryLine.name, RunTags.name,
    ]

    /// Whether a positional argument names a plan and no scenario.
    static func isPlan(_ word: String) -> Bool { word.hasSuffix(Self.suffix) }

    /// Throws if the argument of `replay` is a scenario, by its name or its path.
    static func requirePlan(_ word: String) throws {
        let isName = (try? ScenarioSource.find(word))?.hasSuffix(ScenarioFinder.suffix) == true
        guard word.hasSuffix(ScenarioFinder.suffix) || isName else { return }
        throw CommandFailure(
            .usage, "'\(word)' is a scenario, and 'replay' needs a plan",
            hint:
                "use 'swiftwing-sim run \(word)' or 'swiftwing-sim simulate \(word)'; with --save-plan FILE, both write a plan"
        )
    }

    /// Throws if a file that is to be a scenario is a plan.
    static func requireScenario(_ path: String, command: String) throws {
        guard self.isPlan(path), let bytes = try? File.contents(of: path, bytesMax: InputFile.planBytesMax),
            bytes.first == UInt8(ascii: "{"),
            String(decoding: bytes.prefix(Self.headBytes), as: UTF8.self).contains("\"plan\":")
        else { return }
        throw CommandFailure(
            .usage, "'\(path)' is a plan, and '\(command)' needs a scenario",
            hint: "use 'swiftwing-sim simulate \(path)' to explain it, or 'swiftwing-sim replay \(path)'")
    }

    /// A plan says so at its beginning.
    private static let headBytes = 200

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
