import RunDriver
import RunJudge
import ScenarioFile

/// One option of a command.
struct Option: Sendable {
    /// The name with its dashes.
    var name: String
    /// What earlier versions called it, which goes on to work.
    var formerName: String?
    /// The placeholder of its value in the help; nil for a switch.
    var value: String?
    var isRepeatable = false
    /// The value may be left out; it is then only taken from behind a `=`.
    var isValueOptional = false
    /// Empty for an option that serves the program itself: no help and no completion has it.
    var help: String

    var isHidden: Bool { self.help.isEmpty }

    static let seed = Self(
        name: "--seed", value: "N", help: "seed of every random decision (default: the scenario's)")
    static let set = Self(
        name: "--set", value: "PATH=VALUE", isRepeatable: true, help: "override one value of the scenario")
    /// Another spelling of `--set 'faults+=FAULT'`.
    static let fault = Self(
        name: "--fault", value: "FAULT", isRepeatable: true,
        help: "add a fault as a scenario has it, such as '{do: reset, on: stream, chance: 20%}'")
    static let trace = Self(
        name: "--trace", value: nil, help: "also write pings and progress events to events.ndjson")
    static let quiet = Self(name: "--quiet", value: nil, help: "do not print the progress line")
    static let summaryLine = Self(
        name: "--summary-line", value: nil, help: "print the result in one line in place of the summary")
    static let noColor = Self(name: "--no-color", value: nil, help: "print without colors")
}

/// A command as the command line names it.
struct Command: Sendable {
    var name: String
    /// The positional arguments as the help shows them.
    var usage: String
    var summary: String
    var options: [Option]
    var positionalsMin: Int
    var positionalsMax: Int
    /// A small tool beside runs: `tool` comes before its name, and may be left out.
    var isTool = false
    /// An example that works when pasted.
    var example: String
    var run: @Sendable (Arguments, Console) throws -> ExitCode

    static let all: [Command] = [
        RunCommand.command, WorkerCommand.command, SimulateCommand.command, ReplayCommand.command,
        CheckCommand.command, PlanCommand.command, ListCommand.command, NewCommand.command,
        ServeCommand.command, ProxyCommand.command, ReportCommand.command, CompareCommand.command,
        TrendCommand.command, InspectCommand.command,
        SchemaCommand.command, ProfilesCommand.command, PreprocessCommand.command,
        ImagesMakeCommand.command, SSEDecodeCommand.command, DoctorCommand.command,
        CompletionCommand.command,
    ]

    static let tool = "tool"

    static var tools: [Command] { self.all.filter(\.isTool) }

    /// The words behind the name of the program.
    var fullName: String { self.isTool ? "\(Self.tool) \(self.name)" : self.name }

    /// Whether it ends with the verdict of a run.
    var hasVerdict: Bool { ["run", "simulate", "replay", "report"].contains(self.name) }
}

/// The words after a command, read by its table of options.
struct Arguments {
    /// The name of the command.
    let command: String
    private(set) var positionals: [String] = []
    private var values: [String: [String]] = [:]

    /// `--name value`, `--name=value`, and after `--` positional arguments only.
    init(_ words: [String], of command: Command) throws {
        self.command = command.name
        var rest = words[...]
        var isPlain = false
        while let word = rest.popFirst() {
            guard !isPlain, word.hasPrefix("-"), word != "-" else {
                self.positionals.append(word)
                continue
            }
            guard word != "--" else {
                isPlain = true
                continue
            }
            let halves = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(
                String.init)
            guard let option = command.options.first(where: { [$0.name, $0.formerName].contains(halves[0]) })
            else {
                throw ForeignOption.failure(halves[0], of: command)
            }
            try self.take(option, inline: halves.count == 2 ? halves[1] : nil, &rest)
        }
        guard self.positionals.count >= command.positionalsMin else {
            throw CommandFailure(
                .usage, "'\(command.name)' requires \(command.usage)", hint: "for example: \(command.example)"
            )
        }
        guard self.positionals.count <= command.positionalsMax else {
            let word = self.positionals[command.positionalsMax]
            if let setting = Self.setting(before: word, words) {
                throw CommandFailure(
                    .usage, "unexpected argument '\(word)'",
                    hint: "write \(Option.set.name) \(setting)=\(word)")
            }
            let optional = command.options.first {
                $0.isValueOptional && words.contains($0.name)
                    && words.firstIndex(of: $0.name).map { words.dropFirst($0 + 1).first } == word
            }
            throw CommandFailure(
                .usage, "unexpected argument '\(word)'",
                hint: optional.map { "to give \($0.name) a value, write \($0.name)=\(word)" }
                    ?? "for example: \(command.example)")
        }
    }

    /// The path of a `--set` that lacks its `=`, right before the word.
    private static func setting(before word: String, _ words: [String]) -> String? {
        guard let index = words.firstIndex(of: word), index >= 2, words[index - 2] == Option.set.name,
            !words[index - 1].contains("=")
        else { return nil }
        return words[index - 1]
    }

    private mutating func take(_ option: Option, inline: String?, _ rest: inout ArraySlice<String>) throws {
        if !option.isRepeatable, self.values[option.name] != nil {
            throw CommandFailure(.usage, "\(option.name) is given twice")
        }
        guard let placeholder = option.value else {
            guard inline == nil else { throw CommandFailure(.usage, "\(option.name) takes no value") }
            self.values[option.name] = [""]
            return
        }
        if option.isValueOptional, inline == nil {
            self.values[option.name] = [""]
            return
        }
        // What begins as an option does is one whose turn it is, and no value that was forgotten.
        guard let value = inline ?? (rest.first?.hasPrefix("--") == true ? nil : rest.popFirst()) else {
            throw CommandFailure(
                .usage, "\(option.name) needs a value: \(option.name) \(placeholder)",
                hint: rest.first.map { "to pass the value '\($0)', write \(option.name)=\($0)" })
        }
        guard option.name != Option.fault.name else {
            self.values[Option.set.name, default: []].append("faults+=\(value)")
            return
        }
        self.values[option.name, default: []].append(value)
    }

    /// Returns the arguments with more values of a repeatable option.
    func adding(_ values: [String], to name: String) -> Arguments {
        var arguments = self
        arguments.values[name, default: []] += values
        return arguments
    }

    /// Returns the arguments with another value of an option.
    func setting(_ name: String, to value: String) -> Arguments {
        var arguments = self
        arguments.values[name] = [value]
        return arguments
    }

    func has(_ name: String) -> Bool { self.values[name] != nil }

    func all(_ name: String) -> [String] { self.values[name] ?? [] }

    /// The words that give these options again.
    func words(_ names: [String]) -> [String] {
        names.flatMap { name in self.all(name).flatMap { [name, $0] } }
    }

    subscript(name: String) -> String? { self.values[name]?.last }

    /// A value that is written as in a scenario.
    func parsed<Value>(
        _ name: String, _ parse: (String) throws(OptionValues.Failure) -> Value
    ) throws -> Value? {
        guard let text = self[name] else { return nil }
        do throws(OptionValues.Failure) {
            return try parse(text)
        } catch {
            throw CommandFailure(.usage, "\(name) '\(text)': \(error.message)", hint: error.help)
        }
    }

    /// A whole number of a range.
    func number<Number: FixedWidthInteger>(_ name: String, in range: ClosedRange<Number>) throws -> Number? {
        guard let text = self[name] else { return nil }
        guard let number = Number(text), range.contains(number) else {
            throw CommandFailure(
                .usage,
                "\(name) expects a whole number from \(range.lowerBound) to \(range.upperBound), not '\(text)'"
            )
        }
        return number
    }
}
