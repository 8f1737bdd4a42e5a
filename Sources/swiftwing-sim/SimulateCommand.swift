import Plan
import RunDriver
import RunJudge
import ScenarioFile
import SimBase
import VirtualWorld

/// `simulate`: the same run on a simulated clock.
enum SimulateCommand {
    static let command = Command(
        name: "simulate", usage: "SCENARIO",
        summary:
            "Runs a scenario on a simulated clock: faster than real time, with the same report",
        options: ScenarioSource.options + [
            Option(
                name: "--settle", value: "D",
                help: "after the run, lift all faults and wait up to D for unfinished scans"),
            Option(
                name: "--stays-broken", value: "SHARE",
                help: "with --settle: keep this share of the phones offline, for example 25%"),
            Option(
                name: "--ties", value: "ORDER",
                help: "order of simultaneous events: fixed (default) or shuffled by the seed"),
            Option(
                name: "--save-plan", value: "FILE", help: "save the run as a plan for 'swiftwing-sim replay'"
            ),
        ] + RunTags.options + OutputFolder.options + [
            Option(
                name: "--trace", value: nil, help: "also write pings and progress events to events.ndjson"),
            Option(name: "--quiet", value: nil, help: "do not print the progress line"),
            Option(name: "--no-color", value: nil, help: "print without colors"),
        ],
        positionalsMin: 1, positionalsMax: 1, example: "swiftwing-sim simulate flaky-network.scenario",
        run: { try Self.run($0, $1) })

    private static func run(_ arguments: Arguments, _ console: Console) throws -> ExitCode {
        if arguments.has("--no-color") { console.withoutColors() }
        let loaded = try ScenarioSource.load(arguments.positionals[0], arguments)
        ScenarioSource.warn(loaded, console)
        var plan = WorldPlan(RunPlan(loaded.scenario, target: .embedded))
        plan.settle = try arguments.parsed("--settle", OptionValues.duration)
        plan.staysOffline = try arguments.parsed("--stays-broken", OptionValues.share) ?? .never
        plan.shufflesTies = try arguments.parsed("--ties", OptionValues.ties) ?? false
        if plan.staysOffline > .never, plan.settle == nil {
            throw CommandFailure(
                .usage, "--stays-broken requires --settle",
                hint: "for example --settle 10m")
        }
        let output = try OutputFolder.path(arguments)
        var request = VirtualRequest(
            loaded, plan: plan, command: Self.command(arguments) + ["--seed", String(loaded.scenario.seed)],
            labels: RunLabels(tags: try RunTags.read(arguments)))
        request.output = output
        request.isTraced = arguments.has("--trace")
        request.isQuiet = arguments.has("--quiet")
        request.savesPlanTo = arguments["--save-plan"]
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
