import Campaigns
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
            "Runs a scenario on a simulated clock: faster than real time, with the same report; explains a PLAN that fails",
        options: ScenarioSource.options + [
            ProfileRuns.option,
            Option(
                name: "--settle", value: "D",
                help: "after the run, lift all faults and wait up to D for unfinished scans"),
            Option(
                name: "--stays-broken", value: "SHARE",
                help: "with --settle: keep this share of the phones offline, for example 25%"),
            Option(
                name: "--ties", value: "ORDER",
                help: ""),
            Option(
                name: "--save-plan", value: "FILE", help: "save the run as a plan for 'swiftwing-sim replay'"
            ),
            ShardOptions.shard,
        ] + CollectorOption.withoutTarget + SearchOptions.options + RunTags.options + Baseline.options
            + OutputFolder.options + [
                .trace, .quiet, .summaryLine, .noColor,
            ],
        positionalsMin: 1, positionalsMax: 1, example: "swiftwing-sim simulate flaky-network.scenario",
        run: { arguments, console in
            guard !PlanOptions.isPlan(arguments.positionals[0]), !arguments.has("--seeds") else {
                return try ProfileRuns.run(arguments, console) { try Self.run($0, console) }
            }
            return try TransportRuns.run(
                arguments, console, once: { try ProfileRuns.run($0, console) { try Self.run($0, console) } },
                arm: { settings, folder, _ in
                    try Self.run(
                        arguments.adding(settings, to: Option.set.name).setting("--output", to: folder),
                        console)
                })
        })

    private static func run(_ arguments: Arguments, _ console: Console) throws -> ExitCode {
        if PlanOptions.isPlan(arguments.positionals[0]) { return try PlanOptions.explain(arguments, console) }
        try CollectorOption.requireUse(arguments)
        if let seeds = arguments["--seeds"] {
            return try SearchOptions.run(seeds: SeedRange(seeds), arguments, console)
        }
        try SearchOptions.requireSearch(arguments)
        let loaded = try ScenarioSource.load(arguments.positionals[0], arguments)
        ScenarioSource.warn(loaded, console)
        let baseline = try Baseline(arguments, world: .virtual, scenario: loaded.scenario.name)
        let shard = try ShardOptions.read(arguments, loaded, isEmbedded: true)
        let plan = try Self.plan(loaded, shard, arguments)
        // The same scenario and changes, with the seed spelled out.
        let words = arguments.words([
            "--phones", "--duration", "--settle", "--stays-broken", "--ties", "--set",
            ShardOptions.shard.name, RunTags.name, CollectorOption.option.name, "--cacert", "--allow-target",
        ])
        let options = try RunOptions(
            loaded, again: words + ["--seed", String(loaded.scenario.seed)], arguments)
        var request = VirtualRequest(options, plan: plan)
        request.savesPlanTo = try NamedFile.path("--save-plan", .plan, arguments)
        try RunInterruption.check()
        func play() throws -> (code: ExitCode, folder: String) {
            let run = try VirtualRun(request, console: console)
            return (try run.run(), run.folder)
        }
        let played = try play()
        if let baseline { return baseline.compare(played.folder, played.code, console) }
        Baseline.tellPrevious(
            of: played.folder, played.code, world: .virtual, scenario: loaded.scenario.name, arguments,
            console)
        return played.code
    }

    private static func plan(
        _ loaded: LoadedScenario, _ shard: FleetShard, _ arguments: Arguments
    ) throws -> WorldPlan {
        var plan = WorldPlan(RunPlan(loaded.scenario, target: .embedded, shard: shard))
        plan.settle = try arguments.parsed("--settle", OptionValues.duration)
        plan.staysOffline = try arguments.parsed("--stays-broken", OptionValues.share) ?? .never
        plan.shufflesTies = try arguments.parsed("--ties", OptionValues.ties) ?? false
        if plan.staysOffline > .never, plan.settle == nil {
            throw CommandFailure(
                .usage, "--stays-broken requires --settle",
                hint: "for example --settle 10m")
        }
        if plan.staysOffline > .never, !shard.isWhole {
            throw CommandFailure(
                .usage, "--stays-broken cannot be used with \(ShardOptions.shard.name)",
                hint: "shards are merged with the objectives of all phones")
        }
        for fixed in ["--save-plan", "--settle"] where arguments.has(fixed) {
            try ShardOptions.requireKnownLoad(loaded, fixed)
        }
        for single in ["--save-plan"] where arguments.has(single) && !shard.isWhole {
            throw CommandFailure(.usage, "\(single) cannot be used with \(ShardOptions.shard.name)")
        }
        return plan
    }
}
