import RunDriver
import RunJudge

/// The tags of `--tag`, which are next to the target in every report.
enum RunTags {
    static let name = "--tag"
    static let options = [
        Option(
            name: Self.name, value: "KEY=VALUE", isRepeatable: true,
            help: "label the run in every report, for example build=1432")
    ]

    static func read(_ arguments: Arguments) throws -> [RunTag] {
        do throws(RunTag.Problem) {
            return try RunTag.list(parsing: arguments.all(Self.name))
        } catch {
            throw CommandFailure(
                .usage, "\(Self.name) \(error)", hint: "for example \(Self.name) build=1432")
        }
    }
}

extension RunOptions {
    /// `again`: the words that run it again, behind the command and what it is given.
    init(
        _ loaded: LoadedScenario, again: [String], target: TargetURL? = nil, _ arguments: Arguments
    ) throws {
        self.init(
            loaded, command: ["swiftwing-sim", arguments.command, arguments.positionals[0]] + again,
            labels: RunLabels(target: target?.base, tags: try RunTags.read(arguments)),
            output: try OutputFolder.path(arguments), isTraced: arguments.has("--trace"),
            isQuiet: arguments.has("--quiet"))
        self.isOneLine = arguments.has(Option.summaryLine.name)
        self.collector = try CollectorOption.read(arguments)
    }
}
