import Campaigns
import Foundation
import Plan
import RunArchive
import RunDriver
import RunJudge
import ScenarioFile
import Search
import SimBase

/// `simulate --seeds`: a search through many seeds instead of one run.
enum SearchOptions {
    static let options = [
        Option(
            name: "--seeds", value: "A..B",
            help: "search these seeds for failures, or N seeds of a commit: @REV+N, for example @HEAD+1000"),
        Option(
            name: "--faults", value: "SOURCE",
            help:
                "with --seeds: file (default) uses the scenario's faults, swarm draws faults from each seed, pairs tries all pairs of faults of one scan"
        ),
        Option(
            name: "--known-breaks", value: nil,
            help: "with --seeds: also report what the profiles are known to break"),
        Option(
            name: "--jobs", value: "N", help: "with --seeds: number of processes (default: one per core)"),
        Option(name: "--stop-after", value: "N", help: "with --seeds: stop after N failing seeds"),
        Option(name: "--budget", value: "D", help: "with --seeds: stop after this time, for example 10m"),
        Option(
            name: "--worker", value: "I/N",
            help: ""),
        Option(
            name: "--canary", value: "SEED",
            help: ""),
    ]

    private static let jobsMax = 256

    /// Options of one run, which a search has no use for.
    private static let ofOneRun = [
        "--seed", "--save-plan", "--trace", ShardOptions.shard.name, Option.summaryLine.name, RunTags.name,
        Baseline.name, Baseline.previous.name, CollectorOption.option.name,
    ]

    /// Throws if options of a search are given to one run.
    static func requireSearch(_ arguments: Arguments) throws {
        for option in Self.options where option.name != "--seeds" && arguments.has(option.name) {
            throw CommandFailure(
                .usage, "\(option.name) requires --seeds", hint: "for example --seeds 1..1000")
        }
    }

    static func run(seeds: SeedRange, _ arguments: Arguments, _ console: Console) throws -> ExitCode {
        // A worker traces the events of a seed that crashed.
        for name in Self.ofOneRun
        where arguments.has(name) && !(arguments.has("--worker") && name == Option.trace.name) {
            throw CommandFailure(.usage, "\(name) belongs to one run, and --seeds has several")
        }
        let loaded = try ScenarioSource.load(arguments.positionals[0], arguments)
        let source = try Self.source(arguments)
        try ShardOptions.requireKnownLoad(loaded, "--seeds")
        var plans = SeedPlans(loaded.scenario, source: source)
        let seeds = try Self.limited(seeds, to: plans.count)
        plans.settle = try arguments.parsed("--settle", OptionValues.duration)
        plans.staysOffline = try arguments.parsed("--stays-broken", OptionValues.share)
        plans.shufflesTies = try arguments.parsed("--ties", OptionValues.ties)
        plans.countsKnownBreaks = arguments.has("--known-breaks")
        if source == .file, plans.staysOffline ?? .never > .never, plans.settle == nil {
            throw CommandFailure(.usage, "--stays-broken requires --settle", hint: "for example --settle 10m")
        }
        if let text = arguments["--worker"] {
            return try Self.work(text, plans, seeds, arguments, console)
        }
        let words =
            arguments.words([
                "--phones", "--duration", "--settle", "--stays-broken", "--ties", "--set", "--faults",
                "--canary",
            ]) + (plans.countsKnownBreaks ? ["--known-breaks"] : [])
        let folder = try OutputFolder.path(arguments) ?? OutputFolder.forSearch(loaded.scenario)
        var request = CampaignRequest(
            plans, seeds: seeds, words: ["simulate", loaded.path] + words, scenario: loaded.scenario.name,
            output: folder)
        request.goals = loaded.scenario.coverageGoals
        request.jobs =
            try arguments.number("--jobs", in: 1...Self.jobsMax)
            ?? ProcessInfo.processInfo.activeProcessorCount
        request.stopAfter = try arguments.number("--stop-after", in: 1...Int(SeedRange.seedsMax))
        request.budget = try arguments.parsed("--budget", OptionValues.duration)
        request.isQuiet = arguments.has("--quiet")
        try RunInterruption.check()
        return try Campaign(request, console: console).run()
    }

    /// Runs the seeds of one worker. `text`: which one it is.
    private static func work(
        _ text: String, _ plans: SeedPlans, _ seeds: SeedRange, _ arguments: Arguments,
        _ console: Console
    ) throws -> ExitCode {
        guard let part = CampaignWorker.Part(text) else {
            throw CommandFailure(.usage, "--worker expects I/N such as 0/2, not '\(text)'")
        }
        var worker = CampaignWorker(plans, seeds: seeds, part: part)
        worker.isTracing = arguments.has(Option.trace.name)
        worker.canary = try arguments.number("--canary", in: 0...(.max))
        return worker.run(console)
    }

    /// Leaves out what is beyond the last plan.
    private static func limited(_ seeds: SeedRange, to count: Int?) throws -> SeedRange {
        guard let count else { return seeds }
        let last = min(seeds.last, UInt64(count))
        guard seeds.first >= 1, seeds.first <= last else {
            throw CommandFailure(.usage, "the pairs of this scenario have the numbers 1..\(count)")
        }
        return try SeedRange("\(seeds.first)..\(last)")
    }

    private static func source(_ arguments: Arguments) throws -> FaultSource {
        guard let text = arguments["--faults"] else { return .file }
        guard let source = FaultSource(rawValue: text) else {
            throw CommandFailure(.usage, "--faults expects file, swarm or pairs, not '\(text)'")
        }
        return source
    }
}
