import Manual
import RunDriver
import RunJudge

/// The output of `--help`, generated from the tables.
enum HelpText {
    /// `columns`: how wide a line may be; nil: as wide as it is.
    static func program(columns: Int?) -> String {
        var lines = [
            "swiftwing-sim \(ThisProgram.version): load and fault tests of Talaria with thousands of virtual phones",
            "",
            "usage: swiftwing-sim COMMAND [ARGUMENTS]",
            "",
        ]
        lines += TextTable.lines(
            Command.all.filter { !$0.isTool }.map { ["\($0.name) \($0.usage)", $0.summary] }
                + [["\(Command.tool) NAME", Self.toolSummary]], indent: 2, columns: columns)
        lines += [
            "",
            "Run 'swiftwing-sim COMMAND --help' for the details of a command, 'swiftwing-sim --version' for the version.",
        ]
        lines += ["", "topics of 'swiftwing-sim help TOPIC':"]
        lines += TextTable.lines(
            ManualPage.all.map { [$0.topic, $0.summary] }, indent: 2, columns: columns)
        lines += ["", "exit codes:"] + Self.codes(ExitCode.allCases, columns: columns)
        lines += ["", "environment variables:"]
        lines += TextTable.lines(
            EnvironmentVariable.all.map { [$0.name, $0.effect] }, indent: 2, columns: columns)
        return TextFold.text(lines.joined(separator: "\n"), columns: columns)
    }

    private static let toolSummary =
        "Tools beside runs: preprocesses a photo, makes photos of bookshelves, decodes an event stream"

    /// The list of the tools.
    static func tools(columns: Int?) -> String {
        let rows = Command.tools.map { ["\($0.name) \($0.usage)", $0.summary] }
        let lines =
            ["usage: swiftwing-sim \(Command.tool) NAME", "", Self.toolSummary + ".", "", "tools:"]
            + TextTable.lines(rows, indent: 2, columns: columns)
        return TextFold.text(lines.joined(separator: "\n"), columns: columns)
    }

    static func of(_ command: Command, columns: Int?) -> String {
        let options = command.options.filter { !$0.isHidden }
        let words = [
            "usage: swiftwing-sim", command.fullName, options.isEmpty ? "" : "[options]", command.usage,
        ]
        var lines = [words.filter { !$0.isEmpty }.joined(separator: " "), "", command.summary + "."]
        for section in OptionGroup.sections(options) where !section.options.isEmpty {
            lines += ["", section.title + ":"]
            lines += TextTable.lines(
                section.options.map { [Self.form(of: $0), $0.help] }, indent: 2, columns: columns)
        }
        if command.hasVerdict {
            lines += ["", "exit codes ('swiftwing-sim help exit-codes' has every reason):"]
            lines += Self.codes(ExitCode.allCases, columns: columns)
        }
        // The example is a command: broken, it would be another.
        return TextFold.text(lines.joined(separator: "\n"), columns: columns)
            + "\n\nexample:\n  \(command.example)"
    }

    private static func codes(_ codes: [ExitCode], columns: Int?) -> [String] {
        TextTable.lines(codes.map { [String($0.rawValue), $0.meaning] }, indent: 2, columns: columns)
    }

    /// The option with its placeholder, as in `--set PATH=VALUE ...`.
    static func form(of option: Option) -> String {
        option.name + Self.value(of: option) + (option.isRepeatable ? " ..." : "")
    }

    private static func value(of option: Option) -> String {
        guard let value = option.value else { return "" }
        return option.isValueOptional ? "[=\(value)]" : " " + value
    }
}
