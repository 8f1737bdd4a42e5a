import Dashboard
import Foundation
import Plan
import RunDriver
import RunJudge
import ScenarioFile
import SimBase

/// `--shard I/N` and `--start-at TIME`: a part of the fleet, on the schedule of the whole.
enum ShardOptions {
    static let shard = Option(
        name: "--shard", value: "I/N",
        help:
            "run only the phones whose number modulo N is I, from 0, on the schedule of the whole fleet; 'report' merges the shards"
    )
    static let startAt = Option(
        name: "--start-at", value: "TIME",
        help:
            "start at this time, the same for all shards: RFC 3339 such as 2026-11-26T12:00:00Z, or seconds since 1970"
    )

    static let processes = Option(
        name: "--processes", value: "N",
        help: "divide the phones among N processes of this machine, and merge what they find into one report")
    static let timeout = Option(
        name: "--shard-timeout", value: "D",
        help:
            "with --processes: end a process that has said nothing for this time, and go on without it (default: \(Self.timeoutDefault.wholeMilliseconds / 1_000)s)"
    )
    private static let timeoutDefault = Interval.seconds(30)
    private static let timeoutMin = Interval.seconds(1)
    /// How such a process learns that it is one.
    static let linked = Option(
        name: ShardedRun.linkOption, value: nil,
        help: "used by --processes: start and end with the other shards")

    /// Says to such a process which version of HTTP the target has agreed to.
    static let agreedHTTP = Option(name: ShardedRun.agreedHTTPOption, value: "VERSION", help: "")

    private static let processesMax = 256

    /// Runs in several processes, and returns the folder of what they have found together; nil if one process is enough.
    static func run(
        _ arguments: Arguments, _ loaded: LoadedScenario, target: TargetURL?, hasNewDevices: Bool,
        savesPlanTo: String?, dashboard: DashboardAddress?, _ console: Console
    ) throws -> (code: ExitCode, folder: String)? {
        guard let processes = try arguments.number(Self.processes.name, in: 1...Self.processesMax) else {
            guard !arguments.has(Self.timeout.name) else {
                throw CommandFailure(.usage, "\(Self.timeout.name) requires \(Self.processes.name)")
            }
            return nil
        }
        guard processes > 1 else { return nil }
        try Self.refuseOptionsOfOne(arguments)
        try Self.check(
            loaded, shards: processes, option: Self.processes.name, isEmbedded: target == nil)
        let words =
            arguments.words(RunCommand.valueOptions + ["--threads"])
            // For the command in its report: the values go by a pipe.
            + RerunCommand.words(arguments.words(["--header"]))
            + RunCommand.flags.filter(arguments.has)
            + (target != nil && hasNewDevices ? [SameDevices.new.name] : []) + [
                "--seed", String(loaded.scenario.seed),
            ]
        var request = ShardedRun.Request(
            loaded, scenario: arguments.positionals[0], words: words, processes: processes,
            output: try OutputFolder.path(arguments),
            isQuiet: arguments.has("--quiet"), target: target == nil ? .embedded : .foreign,
            startAt: try Self.startAt(arguments),
            silenceMax: try Self.silenceMax(arguments),
            stateFolder: arguments["--state"], savesPlanTo: savesPlanTo)
        request.headers = target?.headers ?? []
        request.undecided = target?.http == nil ? target : nil
        request.dashboard = dashboard
        request.dashboardStays = arguments.has(RunCommand.dashboardStays)
        return try ShardedRun(request, console: console).run()
    }

    private static func silenceMax(_ arguments: Arguments) throws -> Interval {
        guard let time = try arguments.parsed(Self.timeout.name, OptionValues.duration) else {
            return Self.timeoutDefault
        }
        guard time >= Self.timeoutMin else {
            throw CommandFailure(
                .usage, "\(Self.timeout.name) is at least \(Self.timeoutMin.wholeMilliseconds / 1_000)s",
                hint: "a process says how it stands four times a second")
        }
        return time
    }

    private static func refuseOptionsOfOne(_ arguments: Arguments) throws {
        let options: [(name: String, hint: String)] =
            [
                (Self.shard.name, "leave one of the two out"),
                (Self.linked.name, "leave one of the two out"),
                (SameDevices.new.name, "leave one of the two out"),
                (Option.summaryLine.name, "leave it out: the summary of all processes is printed"),
            ]
        guard let option = options.first(where: { arguments.has($0.name) }) else { return }
        throw CommandFailure(
            .usage, "\(option.name) belongs to one process, and \(Self.processes.name) starts several",
            hint: option.hint)
    }

    /// The part of the fleet that runs. Throws if the scenario has something that a part of the fleet cannot be held to.
    static func read(_ arguments: Arguments, _ loaded: LoadedScenario, isEmbedded: Bool) throws -> FleetShard
    {
        guard let text = arguments[Self.shard.name] else { return .whole }
        guard let shard = FleetShard(text) else {
            throw CommandFailure(
                .usage,
                "\(Self.shard.name) expects I/N such as 0/4, with I from 0 to N - 1 and N up to \(FleetShard.countMax), not '\(text)'"
            )
        }
        try Self.check(loaded, shards: shard.count, option: Self.shard.name, isEmbedded: isEmbedded)
        return shard
    }

    /// Throws if a scenario cannot be divided.
    static func check(_ loaded: LoadedScenario, shards: Int, option: String, isEmbedded: Bool) throws {
        guard shards > 1 else { return }
        let devices = loaded.scenario.devices
        guard shards <= devices else {
            throw CommandFailure(
                .usage, "\(option): \(devices) phones cannot be divided into \(shards) shards",
                hint: "use at most \(devices) shards")
        }
        try Self.requireKnownLoad(loaded, option)
        guard loaded.scenario.rollout == nil else {
            throw CommandFailure(
                .usage,
                "\(loaded.path): `rollout` cannot be used with \(option): \(Scenario.rolloutObjection)",
                hint: "leave out \(option), or the rollout")
        }
        guard isEmbedded, let first = loaded.scenario.fleetCounts.first else { return }
        throw CommandFailure(
            .usage,
            "\(loaded.path): \(first.key) cannot be used with \(option): \(first.reason), and each shard has a simulated backend of its own",
            hint: first.help)
    }

    /// Throws for a load in steps, whose rates nothing can know beforehand and no part of the fleet can decide.
    static func requireKnownLoad(_ loaded: LoadedScenario, _ option: String) throws {
        guard loaded.scenario.steps != nil else { return }
        throw CommandFailure(
            .usage, "\(loaded.path): `steps` cannot be used with \(option): \(Scenario.stepsObjection)",
            hint: "leave out \(option), or give the group a rate or stages")
    }

    /// Milliseconds since 1970; nil for as soon as possible.
    static func startAt(_ arguments: Arguments) throws -> Int64? {
        guard let text = arguments[Self.startAt.name] else { return nil }
        guard let moment = Self.milliseconds(text) else {
            throw CommandFailure(
                .usage, "\(Self.startAt.name) expects a time, not '\(text)'",
                hint: "for example 2026-11-26T12:00:00Z, or seconds since 1970")
        }
        let now = Date().timeIntervalSince1970
        guard Double(moment) / 1_000 > now else {
            throw CommandFailure(
                .usage, "\(Self.startAt.name) \(text) is over: \(Int(now - Double(moment) / 1_000)) s ago",
                hint: "choose a time at which all shards are ready")
        }
        guard Double(moment) / 1_000 - now < Self.waitMax else {
            throw CommandFailure(.usage, "\(Self.startAt.name) \(text) is more than a day away")
        }
        return moment
    }

    private static let waitMax = 86_400.0

    private static func milliseconds(_ text: String) -> Int64? {
        if let seconds = Double(text), seconds.isFinite, (0..<1e11).contains(seconds) {
            return Int64(seconds * 1_000)
        }
        for style in [
            Date.ISO8601FormatStyle(), Date.ISO8601FormatStyle(includingFractionalSeconds: true),
        ] {
            if let date = try? style.parse(text) { return Int64(date.timeIntervalSince1970 * 1_000) }
        }
        return nil
    }
}
