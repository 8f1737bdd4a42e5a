import Plan
import RunArchive
import RunComparison
import RunDriver
import RunJudge
import ScenarioFile
import Talaria

/// `transports:` of a scenario: the same run once for each of two transports, and what the migration asks of the second.
enum TransportRuns {
    /// Calls `run` with the folder and the settings of each transport, or once if the scenario has no two. Ends with the worst exit
    /// code of the runs and of the comparison; a run that is interrupted is the last.
    static func run(
        _ arguments: Arguments, _ console: Console, once: (Arguments) throws -> ExitCode,
        arm: (_ settings: [String], _ folder: String, LoadedScenario) throws -> ExitCode
    ) throws -> ExitCode {
        guard let loaded = try? ScenarioSource.load(arguments.positionals[0], arguments),
            !loaded.scenario.transports.isEmpty
        else { return try once(arguments) }
        try Self.refuseSingle(arguments)
        let folder =
            try OutputFolder.path(arguments) ?? OutputFolder.forSeveral(loaded.scenario, of: "transports")
        var runs: [(StreamTransport, RunResult)] = []
        var reasons = ExitReasons()
        for transport in loaded.scenario.transports {
            let settings =
                loaded.scenario.groups.map { "fleet.\($0.name).transport=\(transport.rawValue)" }
                + ["transports=off"]
            console.out("\(transport.name)")
            let own = "\(folder)/\(transport.rawValue)"
            let code = try arm(settings, own, loaded)
            guard let result = try? ReportCommand.read(own).run.result else {
                // A run that left nothing to compare has not passed, whatever it says.
                return code == .success ? .internalError : code
            }
            // Of a run that was interrupted after its verdict the code knows more.
            reasons.add(code == result.exit ? result.exitReasons : ExitReasons(of: code))
            runs.append((transport, result))
            if code == .interrupted { return reasons.exit }
        }
        let comparison = TransportComparison(runs[0], runs[1])
        try Self.write(comparison, to: folder, console)
        reasons.add(comparison.reasons)
        return reasons.exit
    }

    private static func refuseSingle(_ arguments: Arguments) throws {
        for single in [
            "--state", "--save-plan", "--profile", RunCommand.dashboardStays, "--dashboard",
            ShardOptions.processes.name, ShardOptions.shard.name, Baseline.name, Baseline.previous.name,
        ] where arguments.has(single) {
            throw CommandFailure(
                .usage, "\(single) belongs to one run, and a scenario with `transports` has two",
                hint: "choose one with --set transports=off --set fleet.GROUP.transport=sse")
        }
    }

    private static func write(
        _ comparison: TransportComparison, to folder: String, _ console: Console
    ) throws {
        console.out(comparison.text(console.style))
        try OutputError.write([
            ("\(folder)/transports.md", comparison.markdown), ("\(folder)/transports.html", comparison.page),
            ("\(folder)/transports.json", comparison.json),
        ])
        console.out("Comparison      \(folder)/transports.html")
    }
}
