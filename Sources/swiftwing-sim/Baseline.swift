import Foundation
import Metrics
import Reports
import RunArchive
import RunComparison
import RunDriver
import RunJudge
import ScenarioFile
import SimBase

/// `--baseline DIR`: the run is compared with an earlier one, on its own page and in its exit code.
struct Baseline {
    static let name = "--baseline"

    static let previous = Option(
        name: "--previous", value: nil,
        help: "compare the run with the newest finished run of the scenario in the same folder")
    static let maxRegression = Option(
        name: "--max-regression", value: "SHARE", help: "allowed increase of a latency (default: 10%)")
    static let judge = Option(
        name: "--judge", value: "METRIC", isRepeatable: true,
        help: "also judge this latency, beside scan.time and those with an objective")
    static let differentScenarios = Option(
        name: "--different-scenarios", value: nil, help: "compare runs of different scenarios")

    static let options =
        [
            Option(
                name: Self.name, value: "DIR",
                help:
                    "compare the run with the one in DIR, on its page and with exit code 99 on a regression, 98 if none is excluded"
            ),
            Self.previous,
        ]
        + [Self.maxRegression, Self.judge, Self.differentScenarios].map { option in
            var option = option
            option.help = "with --baseline or --previous: \(option.help)"
            return option
        }

    /// The default in parts per million.
    private static let toleranceUsual: Int64 = 100_000

    static func tolerance(_ arguments: Arguments) throws -> Int64 {
        try arguments.parsed(Self.maxRegression.name, OptionValues.growth) ?? Self.toleranceUsual
    }

    /// The latencies of `--judge`.
    static func judged(_ arguments: Arguments) throws -> [LatencyMetric] {
        try arguments.all(Self.judge.name).map { name in
            guard let metric = LatencyMetric(rawValue: name) else {
                throw CommandFailure.unknown("latency", name, among: LatencyMetric.allCases.map(\.rawValue))
            }
            return metric
        }
    }

    /// Throws unless a run of this kind and scenario can be compared with BASE.
    static func requireComparable(
        base: (world: WorldKind, scenario: String), world: WorldKind, scenario: String, _ arguments: Arguments
    ) throws {
        guard base.world == world else {
            throw CommandFailure(
                .badData,
                "a \(base.world.rawValue) run and a \(world.rawValue) run cannot be compared: their times are not comparable",
                hint: "use 'swiftwing-sim run' for both runs, or 'swiftwing-sim simulate' for both")
        }
        guard base.scenario == scenario || arguments.has(Self.differentScenarios.name) else {
            throw CommandFailure(
                .badData,
                "a run of '\(base.scenario)' and a run of '\(scenario)' cannot be compared: a difference between scenarios is not a regression",
                hint: "to compare them nevertheless, add \(Self.differentScenarios.name)")
        }
    }

    private let folder: String
    private let tolerance: Int64
    private let judged: [LatencyMetric]
    private let isOneLine: Bool

    /// Nil without the option. Throws before the run begins if it could not be compared afterwards.
    init?(_ arguments: Arguments, world: WorldKind, scenario: String) throws {
        guard let folder = try Self.folder(arguments, world: world, scenario: scenario) else {
            let useless = [Self.maxRegression, Self.judge, Self.differentScenarios]
            if let option = useless.first(where: { arguments.has($0.name) }) {
                throw CommandFailure(.usage, "\(option.name) requires \(Self.name) or \(Self.previous.name)")
            }
            return nil
        }
        self.judged = try Self.judged(arguments)
        self.tolerance = try Self.tolerance(arguments)
        self.isOneLine = arguments.has(Option.summaryLine.name)
        // `latest` is another run afterwards.
        self.folder = URL(filePath: folder).resolvingSymlinksInPath().path
        if let output = arguments["--output"],
            URL(filePath: output).resolvingSymlinksInPath().path == self.folder
        {
            throw CommandFailure(.usage, "\(Self.name) and --output name the same folder")
        }
        let base = try ReportCommand.figures(self.folder)
        try Self.requireComparable(
            base: (base.head.world, base.head.scenario.name), world: world, scenario: scenario, arguments)
    }

    /// Says after a run without a baseline how it compares with the one before it, where both are in `Reports`. Whatever keeps
    /// them from being compared costs the run nothing, and no word.
    static func tellPrevious(
        of run: String, _ code: ExitCode, world: WorldKind, scenario: String, _ arguments: Arguments,
        _ console: Console
    ) {
        guard code.isVerdict, !arguments.has("--output"), !arguments.has(Option.summaryLine.name),
            let found = PastRun.newest(in: Self.reports, except: run, of: scenario, world: world),
            let base = try? ReportCommand.figures(found), let new = try? ReportCommand.figures(run),
            // Nobody asked for a comparison of machines.
            base.head.machine == new.head.machine
        else { return }
        let comparison = RunComparison(base: base, new: new, tolerance: Self.toleranceUsual, judged: [])
        let command = ShellWords.line(["swiftwing-sim", "compare", found, run])
        console.outFolded(
            "Previous run: \(comparison.headline): \(comparison.reasons.first ?? comparison.sentence). '\(command)' shows all of it."
        )
    }

    private static let reports = "Reports"

    /// The folder of BASE; nil without one.
    private static func folder(_ arguments: Arguments, world: WorldKind, scenario: String) throws -> String? {
        guard arguments.has(Self.previous.name) else { return arguments[Self.name] }
        guard !arguments.has(Self.name) else {
            throw CommandFailure(.usage, "\(Self.name) and \(Self.previous.name) cannot be used together")
        }
        let output = arguments["--output"].map { URL(filePath: $0).standardizedFileURL }
        let parent = output?.deletingLastPathComponent().path ?? Self.reports
        guard
            let found = PastRun.newest(in: parent, except: output?.path, of: scenario, world: world)
        else {
            throw CommandFailure(
                .noInput, "there is no finished run of '\(scenario)' in \(parent) to compare with",
                hint: "run it once without \(Self.previous.name)")
        }
        return found
    }

    /// Compares a run that has ended with `code`, adds the comparison to its page, and answers what the process ends with. A
    /// comparison that fails costs the run nothing of its verdict.
    func compare(_ run: String, _ code: ExitCode, _ console: Console) -> ExitCode {
        guard code.isVerdict else { return code }
        do {
            let exit = try self.compare(run, console)
            return code == .success ? exit : code
        } catch {
            let (problem, text): (ExitCode, String) =
                switch error {
                case let failure as CommandFailure: (failure.code, failure.message)
                case let failure as OutputError: (.cannotWrite, "\(failure)")
                default: (.internalError, "\(error)")
                }
            console.error(
                "swiftwing-sim: the run was not compared with \(Printable.line(self.folder)): \(Printable.lines(text))"
            )
            return code == .success ? problem : code
        }
    }

    /// Returns what the comparison alone ends with. A run that an objective ended is not compared: everything in it is shorter.
    private func compare(_ run: String, _ console: Console) throws -> ExitCode {
        let (base, new) = (try ReportCommand.figures(self.folder), try ReportCommand.read(run).run)
        guard new.report.result.endedEarly == nil else {
            console.out("\nnot compared with \(Printable.line(self.folder)): an SLO ended the run")
            return .success
        }
        let comparison = RunComparison(base: base, new: new, tolerance: self.tolerance, judged: self.judged)
        console.out(
            self.isOneLine
                ? "\(comparison.headline): \(comparison.sentence)"
                : "\n" + ComparisonText.text(comparison, style: console.style, isWhole: false))
        var report = new.report
        report.result.directory = run
        let record = RecordedBaseline(
            folder: self.folder, tolerance: self.tolerance, judged: self.judged,
            reason: comparison.exitReasons.all.first)
        _ = try ReportFile.write(
            [
                Self.page(report, comparison),
                ReportFile(name: RunDirectory.FileName.baseline, bytes: record.bytes),
            ], to: run)
        return comparison.exitReasons.exit
    }

    /// The page of a run with its comparison.
    static func page(_ report: RunReport, _ comparison: RunComparison) -> ReportFile {
        let page = HTMLPage(report, comparison: ComparisonPage.section(comparison)).text
        return ReportFile(name: RunDirectory.FileName.page, bytes: Array(page.utf8))
    }
}
