import Foundation
import JSON
import Metrics
import Plan
import Reports
import RunArchive
import RunComparison
import RunDriver
import RunJudge
import RunSetup

/// `report`: renders runs again from the files that they left.
enum ReportCommand {
    static let command = Command(
        name: "report", usage: "RUNDIR...",
        summary:
            "Rebuilds the reports of a run from its files, also of a killed run; merges shards",
        options: [
            Option(name: "--output", value: "DIR", help: "write to this folder instead of the run's folder"),
            Option(
                name: "--group", value: "NAME",
                help: "show only the phones of this group; needs --output to write files"),
            Option(
                name: "--missing", value: "TEXT", isRepeatable: true,
                help:
                    "a part of the fleet that left no files, for example 'worker 2: phones 4-7': its phones are n/a, and the exit code is \(ExitCode.untrusted.rawValue) or a graver one"
            ),
            Option(
                name: "--force", value: nil,
                help: "write to the --output folder even if it contains another run"),
        ] + Baseline.options + [.noColor],
        positionalsMin: 1, positionalsMax: 1_000, example: "swiftwing-sim report Reports/latest",
        run: { try Self.run($0, $1) })

    private static func run(_ arguments: Arguments, _ console: Console) throws -> ExitCode {
        let folders = arguments.positionals
        let head = MergedShards.folders(folders + RunFolder.shards(of: folders[0])).readable.first?.head
        let baseline = try head.flatMap {
            try Baseline(arguments, world: $0.world, scenario: $0.scenario.name)
        }
        let code = try Self.report(folders, isCompared: baseline != nil, arguments, console)
        return baseline?.compare(arguments["--output"] ?? folders[0], code, console) ?? code
    }

    /// `isCompared`: whether the run gets another baseline than that which it has.
    private static func report(
        _ folders: [String], isCompared: Bool, _ arguments: Arguments, _ console: Console
    ) throws -> ExitCode {
        // A run in several processes has its shards in its own folder.
        let shards = folders.count == 1 ? RunFolder.shards(of: folders[0]) : []
        if !shards.isEmpty, arguments["--group"] == nil {
            return try Self.report(shards: shards, in: folders[0], arguments, console)
        }
        try Self.requireDistinct(folders, arguments)
        try Self.keepOther(arguments, from: folders)
        let found = MergedShards.folders(folders)
        // One shard as well: the others are missing then, and the report of the run says so.
        if let output = arguments["--output"], ShardSet.isMeant(found.readable.map(\.head)) {
            return try Self.report(merged: found, to: output, arguments, console)
        }
        let group = arguments["--group"]
        let runs = try folders.map { try Self.read($0, group: group) }
        var report = try Self.merged(runs)
        let missing = arguments.all("--missing")
        if !missing.isEmpty {
            guard arguments["--output"] != nil else {
                throw CommandFailure(.usage, "--missing requires --output DIR")
            }
            report.result.lack(missing)
        }
        if group != nil, arguments["--output"] == nil {
            // The reports in the run's folder are those of the whole fleet.
            console.out(TerminalSummary.text(report.result, style: console.style))
            return report.result.exit
        }
        // What the run itself wrote stays as it is.
        let isWhole = runs.count == 1 && !runs[0].run.wasCutOff && group == nil && missing.isEmpty
        let path = arguments["--output"] ?? folders[0]
        var output = ReportOutput(folder: path, console: console)
        if runs.count > 1 { output.parts = folders }
        if isWhole { output.kept = [RunDirectory.FileName.summary] }
        guard isWhole, !isCompared, let baseline = RecordedBaseline(of: folders[0]) else {
            return output.write(report)
        }
        report.result.directory = path
        return Self.write(report, of: runs[0].run, baseline, &output, console)
    }

    /// The report of a run whose folder has the shards.
    private static func report(
        shards: [String], in folder: String, _ arguments: Arguments, _ console: Console
    ) throws -> ExitCode {
        try Self.refuseMissing(arguments)
        try Self.keepOther(arguments, from: [folder])
        let found = MergedShards.folders(shards)
        guard !found.readable.isEmpty else {
            throw CommandFailure(.badData, "no shard in \(folder) has left a result")
        }
        var output = ReportOutput(folder: arguments["--output"] ?? folder, console: console)
        output.parts = found.readable.map(\.path)
        return output.write(try MergedShards.report(of: found))
    }

    /// The report of a run whose shards were named.
    private static func report(
        merged found: MergedShards.Folders, to folder: String, _ arguments: Arguments, _ console: Console
    ) throws -> ExitCode {
        for path in found.unreadable { try Self.requireShard(path) }
        try Self.refuseMissing(arguments)
        if arguments.has("--group") {
            throw CommandFailure(
                .usage, "--group cannot be used with shards",
                hint: "the merged report has a table for each group")
        }
        var output = ReportOutput(folder: folder, console: console)
        output.parts = found.readable.map(\.path)
        return output.write(try MergedShards.report(of: found))
    }

    /// Several runs as one.
    private static func merged(_ runs: [(run: PastRun, settings: JudgeSettings)]) throws -> RunReport {
        let first = runs[0].run.report
        guard runs.count > 1 else { return first }
        try Self.requireOneSalt(runs.map(\.run))
        do throws(MergeProblem) {
            return try PastRun.merged(runs.map(\.run), runs[0].settings) ?? first
        } catch {
            throw CommandFailure(.badData, "\(error)")
        }
    }

    /// Writes the report of a run that was compared with a baseline, and compares it again.
    private static func write(
        _ report: RunReport, of run: PastRun, _ baseline: RecordedBaseline, _ output: inout ReportOutput,
        _ console: Console
    ) -> ExitCode {
        let comparison = baseline.comparison(with: run, console)
        if let comparison {
            let page = Baseline.page(report, comparison)
            output.kept.append(page.name)
            output.others.append(page)
        }
        let code = output.write(report)
        if let comparison {
            console.out("\n" + ComparisonText.text(comparison, style: console.style, isWhole: false))
        }
        let reasons = comparison?.exitReasons ?? ExitReasons([baseline.reason].compactMap { $0 })
        return code == .success ? reasons.exit : code
    }

    /// Throws if several folders are merged into none, or one of them is given twice.
    private static func requireDistinct(_ folders: [String], _ arguments: Arguments) throws {
        if folders.count > 1, arguments["--output"] == nil {
            throw CommandFailure(
                .usage, "merging several folders requires --output DIR",
                hint: "for example: swiftwing-sim report \(folders.joined(separator: " ")) --output merged")
        }
        let paths = folders.map(Self.path)
        if let twice = folders.indices.first(where: { paths[..<$0].contains(paths[$0]) }) {
            throw CommandFailure(
                .usage, "\(folders[twice]) is given twice", hint: "give each shard only once")
        }
    }

    /// Throws if a folder beside those of shards is none of them. One that is only damaged is left out, and the merged report
    /// says so.
    private static func requireShard(_ folder: String) throws {
        do throws(PastRun.Problem) {
            _ = try PastRun.head(of: folder)
        } catch {
            guard case .unreadable = error else {
                _ = try Self.head(of: folder)
                return
            }
        }
    }

    /// Throws if parts of one test, which share their start, had phones with device ids of two runs.
    private static func requireOneSalt(_ runs: [PastRun]) throws {
        for (index, run) in runs.enumerated() {
            guard
                let other = runs[..<index].first(where: {
                    $0.head.started == run.head.started && $0.head.deviceSalt != run.head.deviceSalt
                })
            else { continue }
            throw CommandFailure(
                .badData,
                "\(other.folder) and \(run.folder) are not parts of one run: they differ in the salt of the device ids"
            )
        }
    }

    private static func refuseMissing(_ arguments: Arguments) throws {
        guard arguments.has("--missing") else { return }
        throw CommandFailure(
            .usage, "--missing cannot be used with shards",
            hint: "a shard that is missing is found without it")
    }

    /// Throws if the output folder has another run than the one that is reported.
    private static func keepOther(_ arguments: Arguments, from folders: [String]) throws {
        guard let output = arguments["--output"], !arguments.has("--force"), RunDirectory.holdsLogs(output),
            !(folders.count == 1 && Self.path(folders[0]) == Self.path(output))
        else { return }
        throw CommandFailure(
            .usage, "\(output) already contains a run",
            hint: "choose another folder, or replace the reports of that run with --force")
    }

    /// A path that is equal for every way to name a folder.
    private static func path(_ folder: String) -> String {
        URL(filePath: folder).resolvingSymlinksInPath().standardizedFileURL.path
    }

    /// Reads the head of a run's folder.
    static func head(of folder: String) throws -> RunHead {
        try Self.found { () throws(PastRun.Problem) in try PastRun.head(of: folder) }
    }

    /// Reads the summary of a run; nil if it was killed.
    static func summary(of folder: String) throws -> JSONNode? {
        try Self.found { () throws(PastRun.Problem) in try PastRun.summary(of: folder) }
    }

    private static func found<Found>(_ read: () throws(PastRun.Problem) -> Found) throws -> Found {
        do throws(PastRun.Problem) {
            return try read()
        } catch {
            switch error {
            case .missing: throw CommandFailure(.noInput, "\(error)")
            case .damagedSummary:
                throw CommandFailure(
                    .badData, "\(error)", hint: "move the file away to report the run as killed")
            case .notARun, .otherFormat, .unreadable, .stillRunning, .notAFile:
                throw CommandFailure(.badData, "\(error)")
            }
        }
    }

    /// A run, and what its judge needs to know of its scenario; the objectives of one group only, if it is named.
    /// `needsTimeline`: false to read its figures only.
    static func read(
        _ folder: String, group: String? = nil, needsTimeline: Bool = true
    ) throws -> (run: PastRun, settings: JudgeSettings) {
        let head = try Self.head(of: folder)
        if let group, !head.groups.contains(where: { $0.name == group }) {
            throw CommandFailure.unknown("group", group, among: head.groups.map(\.name))
        }
        let plan = try MergedShards.plan(of: folder, head)
        var settings = JudgeSettings(plan, world: head.world, hasBackendView: head.hasBackendView)
        let run = try Self.found { () throws(PastRun.Problem) in
            try PastRun(
                folder: folder, head: head, settings: settings, group: group, needsTimeline: needsTimeline)
        }
        settings.objectives = plan.objectives.filter { slo in group.map(slo.concerns) ?? true }
        return (run, settings)
    }

    /// The figures of a run, for a comparison.
    static func figures(_ folder: String) throws -> PastRun {
        try Self.read(folder, needsTimeline: false).run
    }
}
