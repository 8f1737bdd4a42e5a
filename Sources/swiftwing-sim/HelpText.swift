/// What `--help` prints, made from the tables.
enum HelpText {
    static var program: String {
        var lines = [
            "swiftwing-sim \(Main.version): thousands of SwiftWing phones against Talaria, over bad networks",
            "",
            "usage: swiftwing-sim COMMAND [ARGUMENTS]",
            "",
        ]
        lines += Self.table(Command.all.map { ("\($0.name) \($0.usage)", $0.summary) })
        lines += [
            "",
            "'swiftwing-sim COMMAND --help' tells more of one. 'swiftwing-sim --version' tells the version.",
        ]
        lines += ["", "exit codes:"]
        lines += Self.table(ExitCode.allCases.map { (String($0.rawValue), $0.meaning) })
        return lines.joined(separator: "\n")
    }

    static func of(_ command: Command) -> String {
        let options = command.options.filter { !$0.help.isEmpty }
        var lines = ["swiftwing-sim \(command.name) \(command.usage)", "", command.summary + "."]
        if !options.isEmpty {
            lines += ["", "options:"]
            lines += Self.table(
                options.map { option in
                    (
                        option.name + Self.value(of: option)
                            + (option.isRepeatable ? " ..." : ""), option.help
                    )
                })
        }
        lines += ["", "example:", "  \(command.example)"]
        return lines.joined(separator: "\n")
    }

    private static func value(of option: Option) -> String {
        guard let value = option.value else { return "" }
        return option.isValueOptional ? "[=\(value)]" : " " + value
    }

    private static func table(_ rows: [(String, String)]) -> [String] {
        let width = rows.map(\.0.count).max() ?? 0
        return rows.map { "  " + $0.0 + String(repeating: " ", count: width - $0.0.count + 2) + $0.1 }
    }
}
