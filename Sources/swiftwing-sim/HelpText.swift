import RunDriver

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
            Command.all.map { ["\($0.name) \($0.usage)", $0.summary] }, indent: 2, columns: columns)
        lines += [
            "",
            "Run 'swiftwing-sim COMMAND --help' for the details of a command, 'swiftwing-sim --version' for the version.",
        ]
        lines += ["", "exit codes:"]
        lines += TextTable.lines(
            ExitCode.allCases.map { [String($0.rawValue), $0.meaning] }, indent: 2, columns: columns)
        return TextFold.text(lines.joined(separator: "\n"), columns: columns)
    }

    static func of(_ command: Command, columns: Int?) -> String {
        let options = command.options.filter { !$0.help.isEmpty }
        let words = ["usage: swiftwing-sim", command.name, options.isEmpty ? "" : "[options]", command.usage]
        var lines = [words.filter { !$0.isEmpty }.joined(separator: " "), "", command.summary + "."]
        if !options.isEmpty {
            lines += ["", "options:"]
            lines += TextTable.lines(
                options.map { option in
                    [
                        option.name + Self.value(of: option) + (option.isRepeatable ? " ..." : ""),
                        option.help,
                    ]
                }, indent: 2, columns: columns)
        }
        // The example is a command: broken, it would be another.
        return TextFold.text(lines.joined(separator: "\n"), columns: columns)
            + "\n\nexample:\n  \(command.example)"
    }

    private static func value(of option: Option) -> String {
        guard let value = option.value else { return "" }
        return option.isValueOptional ? "[=\(value)]" : " " + value
    }
}
