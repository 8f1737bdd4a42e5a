import Phone
import Plan
import RunArchive
import RunComparison
import RunDriver
import RunJudge
import ScenarioFile

/// `--profile A,B`: the same run once for each profile, and the differences next to each other.
enum ProfileRuns {
    static let option = Option(
        name: "--profile", value: "NAMES",
        help:
            "use this profile for all groups; several, separated by commas, are run one after the other and compared"
    )

    /// Calls `run` with the arguments of each profile. Ends with the worst exit code; a run that is interrupted is the last.
    static func run(
        _ arguments: Arguments, _ console: Console, _ run: (Arguments) throws -> ExitCode
    ) throws -> ExitCode {
        guard let text = arguments[Self.option.name] else { return try run(arguments) }
        let names = try Self.names(text)
        let loaded = try ScenarioSource.load(arguments.positionals[0], arguments)
        let groups = loaded.scenario.groups.map(\.name)
        func words(_ name: String) -> [String] { groups.map { "fleet.\($0).profile=\(name)" } }
        guard names.count > 1 else { return try run(arguments.adding(words(names[0]), to: Option.set.name)) }
        for single in [
            "--state", "--save-plan", "--seeds", RunCommand.dashboardStays, ShardOptions.processes.name,
            Baseline.name, Baseline.previous.name,
        ] where arguments.has(single) {
            throw CommandFailure(.usage, "\(single) belongs to one run, and \(Self.option.name) has several")
        }
        let folder = try OutputFolder.path(arguments) ?? OutputFolder.forSeveral(loaded.scenario)
        var codes: [ExitCode] = []
        for name in names {
            codes.append(
                try run(
                    arguments.adding(words(name), to: Option.set.name)
                        .setting("--output", to: "\(folder)/\(name)")))
            if codes.last == .interrupted { break }
        }
        let runs = try names.prefix(codes.count).map { name in
            (name: name, result: try ReportCommand.read("\(folder)/\(name)").run.result)
        }
        console.out("Profiles")
        for line in TextTable.lines(
            RunDifferences.rows(runs), indent: 2, columns: console.tableColumns, isNumeric: true)
        {
            console.out(line)
        }
        // Of a run that was interrupted after its verdict, or whose summary could not be printed, the code knows more.
        let reasons = zip(codes, runs).reduce(into: ExitReasons()) { all, run in
            let isSame = run.0 == run.1.result.exit
            all.add(isSame ? run.1.result.exitReasons : ExitReasons(of: run.0))
        }
        return reasons.exit
    }

    /// The profiles of a list.
    static func names(_ text: String) throws -> [String] {
        let names = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        for (index, name) in names.enumerated() {
            guard ProfileTable.named(name) != nil else {
                throw CommandFailure.unknown(
                    "profile", name, among: ProfileTable.all.map(\.name), help: "profiles")
            }
            guard !names[..<index].contains(name) else {
                throw CommandFailure(.usage, "\(Self.option.name) names '\(name)' twice")
            }
        }
        return names
    }
}
