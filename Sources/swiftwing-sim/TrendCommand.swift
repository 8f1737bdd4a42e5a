import Foundation
import JSON
import RunArchive
import RunComparison
import RunDriver
import RunJudge
import SimBase
import SystemIO

/// `trend`: several runs of one scenario over time.
enum TrendCommand {
    private static let append = Option(
        name: "--append", value: "FILE",
        help: "add the runs to a history, a file with one line of JSON for each run, and show all of it")

    static let command = Command(
        name: "trend", usage: "RUN...",
        summary:
            "Shows how the figures of several runs change over time; RUN is a folder of a run or of several, a summary.json or a history",
        options: [
            Self.append,
            Option(
                name: "--html", value: "FILE",
                help: "write an HTML page with a chart for everything that is judged, and each latency"),
            Baseline.maxRegression, Baseline.judge, Baseline.differentScenarios, JSONOutput.option, .noColor,
        ],
        positionalsMin: 1, positionalsMax: 200, example: "swiftwing-sim trend Reports/2026-11-*",
        run: { try Self.run($0, $1) })

    private static func run(_ arguments: Arguments, _ console: Console) throws -> ExitCode {
        let page = try NamedFile.path("--html", .page, arguments)
        let given = Self.once(try arguments.positionals.flatMap { try Self.runs(at: $0) })
        // The file itself is replaced, and not a link to it.
        let history = try arguments[Self.append.name].map {
            try Self.history(at: URL(filePath: $0).resolvingSymlinksInPath().path)
        }
        if let page, URL(filePath: page).resolvingSymlinksInPath().path == history?.path {
            throw CommandFailure(.usage, "--html and \(Self.append.name) name the same file")
        }
        let new = given.filter { run in !(history?.runs ?? []).contains(where: run.isSame) }
        // Of a run that is in both, its folder knows more.
        let known = (history?.runs ?? []).map { run in given.first(where: run.isSame) ?? run }
        let runs = known + (history == nil ? given : new)
        guard let first = runs.first, runs.count > 1 || history != nil else {
            throw CommandFailure(
                .usage, "a trend needs at least two runs",
                hint: "name more runs, or a folder of runs; --append FILE begins a history with one")
        }
        for run in runs.dropFirst() {
            try Baseline.requireComparable(
                base: (first.world, first.scenario), world: run.world, scenario: run.scenario, arguments)
        }
        var trend = RunTrend(runs)
        if let (base, new) = trend.lastTwo {
            trend.comparison = RunComparison(
                base: try ReportCommand.figures(base), new: try ReportCommand.figures(new),
                tolerance: try Baseline.tolerance(arguments), judged: try Baseline.judged(arguments))
        }
        if arguments.has(JSONOutput.name) {
            JSONOutput.print(TrendJSON.members(trend), console)
        } else {
            console.out(TrendText.text(trend, style: console.style))
        }
        var files: [(path: String, text: String)] = []
        if let history, !new.isEmpty {
            files.append((history.path, history.text + new.map { TrendHistory.line($0) }.joined()))
        }
        if let path = page { files.append((path, TrendPage.text(trend))) }
        try OutputError.write(files)
        return .success
    }

    // MARK: Runs

    /// Each run once: `Reports/*` has the last one twice. Of a run that is there more often, its folder knows most.
    private static func once(_ given: [RunTrend.Run]) -> [RunTrend.Run] {
        given.reduce(into: []) { runs, run in
            if let index = runs.firstIndex(where: run.isSame) {
                if run.isFolder, !runs[index].isFolder { runs[index] = run }
            } else {
                runs.append(run)
            }
        }
    }

    private static func runs(at path: String) throws -> [RunTrend.Run] {
        if case .file = FileTree.kind(of: path) { return try Self.runs(inFile: path) }
        let isRun = FileTree.exists(RunDirectory.joined(path, RunDirectory.FileName.head))
        if let run = isRun ? try Self.run(inFolder: path) : try Self.summary(inFolder: path) { return [run] }
        let names = (try? FileTree.names(inFolder: path)) ?? []
        let runs = try names.sorted().filter { $0 != RunDirectory.latest }.flatMap { name in
            let inner = RunDirectory.joined(path, name)
            if case .file = FileTree.kind(of: inner) {
                return name.hasSuffix(".json") || name.hasSuffix(".ndjson")
                    ? try Self.runs(inFile: inner) : []
            }
            guard FileTree.exists(RunDirectory.joined(inner, RunDirectory.FileName.head)) else {
                return try [Self.summary(inFolder: inner)].compactMap { $0 }
            }
            return [try Self.run(inFolder: inner)]
        }
        // It is none: the message says what it is.
        if runs.isEmpty { _ = try ReportCommand.head(of: path) }
        return runs
    }

    private static func run(inFolder path: String) throws -> RunTrend.Run {
        let head = try ReportCommand.head(of: path)
        guard let summary = try ReportCommand.summary(of: path) else {
            return RunTrend.Run(try ReportCommand.figures(path))
        }
        return try Self.run(summary, at: path, isFolder: true, machine: head.machine)
    }

    /// A folder in which only the summary is left; nil without one.
    private static func summary(inFolder path: String) throws -> RunTrend.Run? {
        try ReportCommand.summary(of: path).map { try Self.run($0, at: path) }
    }

    private static func run(
        _ summary: JSONNode, at path: String, isFolder: Bool = false, machine: String? = nil
    ) throws -> RunTrend.Run {
        do throws(RunTrend.Run.Problem) {
            return try RunTrend.Run(reading: summary, at: path, isFolder: isFolder, machine: machine)
        } catch {
            throw CommandFailure(.badData, "\(path): \(error)")
        }
    }

    /// A summary, or a history.
    private static func runs(inFile path: String) throws -> [RunTrend.Run] {
        let bytes = try Self.bytes(path)
        if let summary = JSONNode(bytes) { return [try Self.run(summary, at: path)] }
        return try Self.lines(bytes, path)
    }

    private static func history(
        at path: String
    ) throws -> (path: String, text: String, runs: [RunTrend.Run]) {
        guard FileTree.exists(path) else { return (path, "", []) }
        let bytes = try Self.bytes(path)
        let runs = try Self.lines(bytes, path)
        let text = String(decoding: bytes, as: UTF8.self)
        return (path, text + (text.isEmpty || text.hasSuffix("\n") ? "" : "\n"), runs)
    }

    private static func lines(_ bytes: [UInt8], _ path: String) throws -> [RunTrend.Run] {
        do throws(TrendHistory.BadLine) {
            return try TrendHistory.read(bytes, file: path)
        } catch {
            throw CommandFailure(
                .badData, "\(error)",
                hint: "a history has one line of JSON for each run, as --append writes it")
        }
    }

    private static func bytes(_ path: String) throws -> [UInt8] {
        do throws(File.Unreadable) {
            return try File.contents(of: path, bytesMax: TrendHistory.bytesMax)
        } catch {
            throw CommandFailure(.noInput, "\(error)")
        }
    }
}
