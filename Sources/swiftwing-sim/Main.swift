import BuiltIn
import EventLoop
import Foundation
import Manual
import RunArchive
import RunDriver
import RunJudge
import ScenarioFile
import SimBase

/// `swiftwing-sim`: reads the command line, does one command, and ends with one of `ExitCode`.
@main
enum Main {
    static func main() {
        // Before anything is opened, the pipe of the interruption included.
        ProcessSettings.occupyStandardDescriptors()
        let arguments = Array(CommandLine.arguments.dropFirst())
        if let first = arguments.first, Self.interruptibleCommands.contains(first) {
            RunInterruption.watch(arguments)
        } else {
            ProcessSettings.unblockSignals()
        }
        ProcessSettings.ignoreBrokenPipes()
        ProcessSettings.ignoreFileSizeLimit()
        let console = Console(environment: ProcessInfo.processInfo.environment)
        let code = Self.run(arguments, console: console)
        exit(console.codeAtEnd(code).rawValue)
    }

    /// Commands that end with a report when they are interrupted. `serve` and `proxy` run until they are, and every other
    /// command ends as the system lets it.
    private static let interruptibleCommands: Set = [
        RunCommand.command.name, WorkerCommand.command.name, SimulateCommand.command.name,
        ReplayCommand.command.name,
    ]

    private static func run(_ arguments: [String], console: Console) -> ExitCode {
        do {
            guard let first = arguments.first else {
                console.error(HelpText.program(columns: nil))
                return .usage
            }
            switch first {
            case "--help", "-h", "help": return try Self.help(Array(arguments.dropFirst()), console: console)
            case "--version", "version":
                let commit = BuiltInFiles.commit.map { " (commit \($0))" } ?? ""
                console.out("swiftwing-sim \(ThisProgram.version)\(commit)")
                return .success
            case CompletionCommand.question:
                return CompletionCommand.answer(Array(arguments.dropFirst()), console)
            case Command.tool where arguments.count < 2 || ["--help", "-h"].contains(arguments[1]):
                console.out(HelpText.tools(columns: console.tableColumns))
                return arguments.count < 2 ? .usage : .success
            default:
                let (command, rest) = try Self.command(named: first, rest: Array(arguments.dropFirst()))
                guard !rest.contains("--help"), !rest.contains("-h") else {
                    console.out(HelpText.of(command, columns: console.tableColumns))
                    return .success
                }
                let arguments = try Arguments(rest, of: command)
                if arguments.has(Option.noColor.name) { console.withoutColors() }
                return try command.run(arguments, console)
            }
        } catch let failure as CommandFailure {
            console.error("swiftwing-sim: \(failure.message)")
            if let hint = failure.hint { console.error("help: \(hint)") }
            return failure.code
        } catch let errors as ScenarioErrors {
            console.errorRendered(errors.render(color: console.colors, columns: console.errorColumns))
            return .badData
        } catch let error as OutputError {
            console.error("swiftwing-sim: \(error)")
            return .cannotWrite
        } catch {
            console.error("swiftwing-sim: \(error)")
            return .internalError
        }
    }

    private static func help(_ arguments: [String], console: Console) throws -> ExitCode {
        guard let name = arguments.first else {
            console.out(HelpText.program(columns: console.tableColumns))
            return .success
        }
        guard arguments != [Command.tool] else {
            console.out(HelpText.tools(columns: console.tableColumns))
            return .success
        }
        if let page = ManualPage.named(name) {
            console.out(HelpPage.text(page, columns: console.tableColumns, isColored: console.colors))
            return .success
        }
        let rest = Array(arguments.dropFirst())
        guard
            name == Command.tool
                || Command.all.contains(where: {
                    $0.name.split(separator: " ").first.map(String.init) == name
                })
        else {
            throw CommandFailure.unknown(
                "command or topic", name, among: Command.all.map(\.name) + ManualPage.all.map(\.topic),
                help: "help")
        }
        console.out(
            HelpText.of(
                try Self.command(named: name, rest: rest).command, columns: console.tableColumns))
        return .success
    }

    /// `sse decode` is one command of two words.
    private static func command(named name: String, rest: [String]) throws -> (
        command: Command, rest: [String]
    ) {
        if name == Command.tool, let tool = rest.first {
            guard Command.tools.contains(where: { $0.name.split(separator: " ")[0] == tool }) else {
                throw CommandFailure.unknown(
                    "tool", tool, among: Command.tools.map { String($0.name.split(separator: " ")[0]) },
                    help: Command.tool)
            }
            return try Self.command(named: tool, rest: Array(rest.dropFirst()))
        }
        if let second = rest.first, let command = Command.all.first(where: { $0.name == "\(name) \(second)" })
        {
            return (command, Array(rest.dropFirst()))
        }
        // `images --help` can only mean one command.
        let halves = Command.all.filter { $0.name.hasPrefix("\(name) ") }
        if halves.count == 1, let next = rest.first, ["--help", "-h"].contains(next) {
            return (halves[0], rest)
        }
        guard let command = Command.all.first(where: { $0.name == name }) else {
            // Half of a command's name, or a wrong second half.
            if let command = Command.all.first(where: { $0.name.hasPrefix("\(name) ") }) {
                throw CommandFailure(
                    .usage, "unknown command '\(([name] + rest.prefix(1)).joined(separator: " "))'",
                    hint: "did you mean '\(command.name)'?")
            }
            throw CommandFailure.unknown("command", name, among: Command.all.map(\.name))
        }
        return (command, rest)
    }
}
