import Plan
import Reports
import RunArchive
import ScenarioFile
import SimBase
import VirtualWorld

/// `simulate`: the same run on a simulated clock.
enum SimulateCommand {
    static let command = Command(
        name: "simulate", usage: "SCENARIO",
        summary:
            "Runs a scenario on a simulated clock: the same phones, backend, faults and report, in no time",
        options: ScenarioSource.options + [
            Option(
                name: "--settle", value: "D",
                help: "then end all trouble, and give the phones so long to settle what they have"),
            Option(
                name: "--stays-broken", value: "SHARE",
                help: "then leave so many phones without a path, such as 25%"),
            Option(
                name: "--ties", value: "ORDER",
                help: "of what is due at one moment: fixed (the usual), or shuffled by the seed"),
            Option(
                name: "--save-plan", value: "FILE", help: "write the run as a plan for 'swiftwing-sim replay'"
            ),
        ] + RunTags.options + OutputFolder.options + [
            Option(
                name: "--trace", value: nil, help: "also write pings and progress events to events.ndjson"),
            Option(name: "--quiet", value: nil, help: "no progress line"),
            Option(name: "--no-color", value: nil, help: "plain text"),
        ],
        positionalsMin: 1, positionalsMax: 1, example: "swiftwing-sim simulate flaky-network.scenario",
        run: { try Self.run($0, $1) })

    private static func run(_ arguments: Arguments, _ console: Console) throws -> ExitCode {
        if arguments.has("--no-color") { console.withoutColors() }
        let loaded = try ScenarioSource.load(arguments.positionals[0], arguments)
        ScenarioSource.warn(loaded, console)
        var plan = WorldPlan(RunPlan(loaded.scenario, target: .embedded))
        plan.settle = try arguments.parsed("--settle", OptionValues.duration)
        plan.staysBroken = try arguments.parsed("--stays-broken", OptionValues.share) ?? .never
        plan.shufflesTies = try arguments.parsed("--ties", OptionValues.ties) ?? false
        if plan.staysBroken > .never, plan.settle == nil {
            throw CommandFailure(
                .usage, "--stays-broken is about what is left when all trouble is over",
                hint: "add --settle, such as --settle 10m")
        }
        let request = VirtualRequest(
            loaded: loaded, plan: plan, output: try OutputFolder.path(arguments),
            isTraced: arguments.has("--trace"),
            isQuiet: arguments.has("--quiet"),
            command: Self.command(arguments) + ["--seed", String(loaded.scenario.seed)],
            labels: RunLabels(tags: try RunTags.read(arguments)),
            savesPlanTo: arguments["--save-plan"], expected: nil)
        try RunInterruption.check()
        return try VirtualRun(request, console: console).run()
    }

    /// The words that run it again: the same scenario and changes, with the seed spelled out.
    private static func command(_ arguments: Arguments) -> [String] {
        var words = ["swiftwing-sim", "simulate", arguments.positionals[0]]
        for name in ["--devices", "--duration", "--settle", "--stays-broken", "--ties"] {
            if let value = arguments[name] { words += [name, value] }
        }
        for change in arguments.all("--set") { words += ["--set", change] }
        return words + RunTags.words(arguments)
    }
}
