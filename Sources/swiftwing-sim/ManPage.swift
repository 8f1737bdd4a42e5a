import Manual
import RunDriver
import RunJudge

/// The manual page of section 1, made from the tables of commands, codes and variables.
enum ManPage {
    /// Roff with the macros of man(7), which ends in a newline.
    static var text: String {
        var page = [
            #".TH SWIFTWING\-SIM 1 "" "swiftwing\-sim \#(Self.escaped(ThisProgram.version))" "User Commands""#,
            ".SH NAME",
            #"swiftwing\-sim \- load and fault tests of Talaria with virtual phones"#,
            ".SH SYNOPSIS", #".B swiftwing\-sim"#, Self.line("COMMAND [options] [arguments]"),
            ".SH DESCRIPTION",
            Self.line(
                "Runs many virtual phones of the SwiftWing app against a simulated or a real Talaria, its backend, and reports latencies, objectives, and whether any data was lost."
            ),
            Self.line(
                "A scenario file sets the phones, the load, the networks, the faults and the objectives."),
            Self.line("Results go to standard output, and everything else to standard error."),
            ".SH COMMANDS",
        ]
        for command in Command.all { page += Self.section(command) }
        page += [
            ".SH TOPICS", Self.line("The pages of the manual are in the program: swiftwing-sim help TOPIC."),
        ]
        page += ManualPage.all.flatMap { Self.item($0.topic, $0.summary) }
        page += [".SH EXIT STATUS"] + ExitCode.allCases.flatMap { Self.item(String($0.rawValue), $0.meaning) }
        page += [".SH ENVIRONMENT"] + EnvironmentVariable.all.flatMap { Self.item($0.name, $0.effect) }
        page +=
            [
                ".SH FILES"
            ]
            + Self.item(
                "Reports/", "the folders of runs, in the current folder; Reports/latest is the newest")
            + Self.item(
                "Scenarios/",
                "scenarios in the current folder that are found by their name, before those that are built in"
            )
            + [".SH EXAMPLES"]
        page += Command.all.prefix(3).flatMap { [".EX", Self.line($0.example), ".EE"] }
        return page.joined(separator: "\n") + "\n"
    }

    private static func section(_ command: Command) -> [String] {
        let words = [command.fullName, command.options.isEmpty ? "" : "[options]", command.usage]
        var lines = [".SS " + Self.escaped(words.filter { !$0.isEmpty }.joined(separator: " "))]
        lines.append(Self.line(command.summary + "."))
        for option in command.options where !option.isHidden {
            lines += Self.item(HelpText.form(of: option), option.help)
        }
        return lines + [".PP", "Example:", ".PP", ".EX", Self.line(command.example), ".EE"]
    }

    private static func item(_ term: String, _ text: String) -> [String] {
        [".TP", ".B " + Self.escaped(term), Self.line(text)]
    }

    /// A line of text: at its beginning, a point or a quote would be a request.
    private static func line(_ text: String) -> String {
        let escaped = Self.escaped(text)
        return escaped.hasPrefix(".") || escaped.hasPrefix("'") ? "\\&" + escaped : escaped
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("\\", with: "\\e").replacing("-", with: "\\-").replacing("'", with: "\\(aq")
            .replacing("\"", with: "\\(dq")
    }
}
