import Dashboard
import Foundation
import Plan
import RunDriver
import RunJudge
import ScenarioFile
import SimBase

/// `run`: the live run.
enum RunCommand {
    static let command = Command(
        name: "run", usage: "SCENARIO",
        summary: "Runs a scenario in real time, prints the verdict and writes the report",
        options: ScenarioSource.options + [
            ProfileRuns.option,
            Option(
                name: "--target", value: "URL",
                help: "run against this backend instead of the simulated one"),
        ] + TargetOptions.options + [
            SameDevices.option, SameDevices.new,
            Option(
                name: "--max-rate", value: "RATE",
                help: "limit the total arrival rate, for example to 20/s"),
            Option(
                name: "--ramp", value: "D",
                help:
                    "time in which constant arrival rates ramp up (default: 10s for a target on another machine, else 0s)"
            ),
            Option(
                name: "--state", value: "DIR",
                help:
                    "keep the phones' storage (device ids, queues, library) in this folder; a later run continues from it"
            ),
            Option(
                name: "--save-plan", value: "FILE",
                help:
                    "save the faults of the run and its phones with problems as a plan for 'simulate' and 'replay'"
            ),
            ShardOptions.shard, ShardOptions.processes, ShardOptions.startAt, ShardOptions.timeout,
            ShardOptions.linked, ShardOptions.agreedHTTP,
            Option(
                name: "--threads", value: "N",
                help: "number of threads for the phones (default: depends on the number of cores)"),
            CollectorOption.option,
        ] + RunTags.options + Baseline.options + OutputFolder.options + [
            .trace,
            Option(
                name: "--dashboard", value: "ADDR", isValueOptional: true,
                help:
                    "serve live charts and controls to a browser on this machine; ADDR is PORT or HOST:PORT (default: port 5665, or a free port if it is in use)"
            ),
            Option(
                name: Self.dashboardStays, value: nil,
                help: "serve the dashboard after the run until it is closed; implies --dashboard"),
            .quiet, .summaryLine, .noColor,
        ],
        positionalsMin: 1, positionalsMax: 1, example: "swiftwing-sim run flaky-network.scenario",
        run: { arguments, console in
            try TransportRuns.run(
                arguments, console, once: { try ProfileRuns.run($0, console) { try Self.run($0, console) } },
                arm: { settings, folder, loaded in
                    // In a process of its own, so that its time and memory are its own.
                    try OwnProcess.run(
                        ["run", arguments.positionals[0]] + Self.words(arguments, loaded)
                            + settings.flatMap { [Option.set.name, $0] } + ["--output", folder]
                            + arguments.words(["--threads"])
                            + ["--force", "--quiet", "--trace", "--no-color"].filter { arguments.has($0) })
                })
        })

    private static func run(_ given: Arguments, _ console: Console) throws -> ExitCode {
        let target = try Self.target(given)
        // Before processes are started that would say it.
        _ = try CollectorOption.read(given)
        let salt = try SameDevices.salt(given, hasTarget: target != nil)
        let arguments = salt.map { given.setting(SameDevices.option.name, to: $0.text) } ?? given
        let dashboard = try Self.dashboard(arguments)
        let loaded = try Self.load(arguments, target: target)
        let plan = try NamedFile.path("--save-plan", .plan, arguments)
        let baseline = try Baseline(arguments, world: .live, scenario: loaded.scenario.name)
        if let ran = try ShardOptions.run(
            arguments, loaded, target: target, hasNewDevices: !given.has(SameDevices.option.name),
            savesPlanTo: plan, dashboard: dashboard, console)
        {
            return baseline?.compare(ran.folder, ran.code, console) ?? ran.code
        }
        let options = try RunOptions(
            loaded, again: Self.words(arguments, loaded), target: target, arguments)
        var request = try Self.request(options, loaded, target: target, arguments)
        request.deviceSalt = salt
        request.hasNewDevices = !given.has(SameDevices.option.name) || given.has(SameDevices.new.name)
        request.dashboard = dashboard
        request.savesPlanTo = plan
        ScenarioSource.warn(loaded, console)
        let preparation = try RunPreparation(request) { shelves in
            if !options.isQuiet {
                console.progress("generating \(shelves.count) \(shelves.count == 1 ? "photo" : "photos")")
            }
            defer { console.clearProgress() }
            return try ParallelPainter.paint(shelves)
        }
        defer { preparation.state.removeIfTemporary() }
        func play() throws -> (code: ExitCode, folder: String) {
            let run = try LiveRun(preparation, console: console)
            return (try run.run(), run.folder)
        }
        let played = try play()
        if let baseline { return baseline.compare(played.folder, played.code, console) }
        Baseline.tellPrevious(
            of: played.folder, played.code, world: .live, scenario: loaded.scenario.name, arguments, console)
        return played.code
    }

    private static func request(
        _ options: RunOptions, _ loaded: LoadedScenario, target: TargetURL?, _ arguments: Arguments
    ) throws -> RunRequest {
        var request = RunRequest(options, target: target)
        request.shard = try ShardOptions.read(arguments, loaded, isEmbedded: target == nil)
        request.startAt = try ShardOptions.startAt(arguments)
        request.isLinked = arguments.has(ShardOptions.linked.name)
        request.stateFolder = arguments["--state"]
        request.threads = try arguments.number("--threads", in: 1...256)
        request.dashboardStays = arguments.has(Self.dashboardStays)
        return request
    }

    private static func target(_ arguments: Arguments) throws -> TargetURL? {
        guard let text = arguments["--target"] else {
            let options = (TargetOptions.options + [SameDevices.option]).map(\.name)
            let shared = arguments.has(CollectorOption.option.name) ? CollectorOption.shared : []
            if let useless = options.first(where: { arguments.has($0) && !shared.contains($0) }) {
                throw CommandFailure(.usage, "\(useless) requires --target")
            }
            return nil
        }
        return try TargetURL(text, option: "--target", arguments)
    }

    static let dashboardStays = "--dashboard-stay"

    private static func dashboard(_ arguments: Arguments) throws -> DashboardAddress? {
        guard let text = arguments["--dashboard"] else {
            return arguments.has(Self.dashboardStays) ? .standard : nil
        }
        guard !text.isEmpty else { return .standard }
        do throws(DashboardAddress.Problem) {
            return try DashboardAddress(text)
        } catch {
            switch error {
            case .unreadable:
                throw CommandFailure(
                    .usage, "--dashboard expects PORT or HOST:PORT, not '\(text)'",
                    hint: "for example --dashboard=8080; without a value, it is on port 5665")
            case .notLoopback:
                throw CommandFailure(
                    .usage, "--dashboard accepts only a loopback address, not '\(text)'",
                    hint:
                        "to open it on another machine, use --dashboard=5665 here and ssh -L 5665:127.0.0.1:5665 there"
                )
            }
        }
    }

    /// The default ramp for targets on other machines.
    private static let rampRemote = Interval.seconds(10)

    private static func load(_ arguments: Arguments, target: TargetURL?) throws -> LoadedScenario {
        var loaded = try ScenarioSource.load(arguments.positionals[0], arguments)
        if let rate = try arguments.parsed("--max-rate", OptionValues.arrivalRate) {
            guard loaded.scenario.closedGroups.isEmpty else {
                throw CommandFailure(
                    .usage,
                    "--max-rate cannot limit the group '\(loaded.scenario.closedGroups[0])': in a closed model the backend sets the rate",
                    hint: "limit the group with --phones, or use `arrivals` instead of `think`")
            }
            loaded.scenario = loaded.scenario.limited(to: rate)
        }
        let isRemote = target.map { !$0.isLoopback } ?? false
        let ramp =
            try arguments.parsed("--ramp", OptionValues.duration) ?? (isRemote ? Self.rampRemote : .zero)
        loaded.scenario = loaded.scenario.ramped(over: ramp)
        return loaded
    }

    /// The options with a value that change what runs, but for the seed and secrets.
    static let valueOptions = [
        "--phones", "--duration", "--target", "--cacert", "--http", "--source", "--allow-target",
        "--max-rate",
        "--ramp", "--resolve", "--set", SameDevices.option.name, RunTags.name, CollectorOption.option.name,
    ]
    /// The options without a value that a shard is started with.
    static let flags = ["--allow-production", Option.trace.name]

    /// The changes to the scenario, with the seed spelled out.
    private static func words(_ arguments: Arguments, _ loaded: LoadedScenario) -> [String] {
        arguments.words([
            "--phones", "--duration", "--target", "--cacert", "--http", "--source", "--allow-target",
            "--max-rate", "--ramp", CollectorOption.option.name,
        ])
            + (arguments.has("--allow-production") ? ["--allow-production"] : [])
            + arguments.words(["--resolve", "--header", "--set", RunTags.name, ShardOptions.shard.name])
            + (arguments[SameDevices.option.name].map { ["\(SameDevices.option.name)=\($0)"] } ?? [])
            + ["--seed", String(loaded.scenario.seed)]
    }
}
