/// Fish 3 and newer.
enum FishCompletion {
    static var text: String {
        let head = """
            # fish completion for swiftwing-sim, made by 'swiftwing-sim completion fish'
            function __swiftwing_sim_scenarios
                swiftwing-sim list --names 2>/dev/null
                __fish_complete_suffix .scenario
            end
            complete -c swiftwing-sim -f
            """
        let first = CommandWords.first.map {
            "complete -c swiftwing-sim -n __fish_use_subcommand -a \($0) -d \(Self.quoted(CommandWords.summary(ofFirst: $0)))"
        }
        let seconds = CommandWords.twoWords.map { first, seconds in
            "complete -c swiftwing-sim -n \(Self.quoted("__fish_seen_subcommand_from \(first)")) -a \(Self.quoted(seconds.joined(separator: " ")))"
        }
        let help =
            "complete -c swiftwing-sim -n '__fish_seen_subcommand_from help' -a \(Self.quoted(CommandWords.helpTopics.joined(separator: " ")))"
        return ([head] + first + seconds + [help] + Command.all.flatMap(Self.lines)).joined(separator: "\n")
    }

    private static func lines(_ command: Command) -> [String] {
        let words = command.name.split(separator: " ")
        let seen = words.map { "__fish_seen_subcommand_from \($0)" }.joined(separator: "; and ")
        let start = "complete -c swiftwing-sim -n \(Self.quoted(seen))"
        let operand = Self.arguments(ValueForm(operandsOf: command)).map { ["\(start) \($0)"] } ?? []
        return operand
            + command.options.map { option in
                let name = "-l \(option.name.drop { $0 == "-" })"
                let value = ValueForm(option).map { form in
                    option.isValueOptional ? "" : "-r " + (Self.arguments(form) ?? "")
                }
                let parts = [start, name, value ?? "", "-d \(Self.quoted(option.help))"]
                return parts.filter { !$0.isEmpty }.joined(separator: " ")
            }
    }

    /// Nil for what fish cannot know.
    private static func arguments(_ form: ValueForm) -> String? {
        switch form {
        case .unknown: nil
        case .file: "-F"
        case .folder: "-a '(__fish_complete_directories)'"
        case .scenario: "-a '(__swiftwing_sim_scenarios)'"
        case .words(let words): "-a \(Self.quoted(words.joined(separator: " ")))"
        }
    }

    private static func quoted(_ text: String) -> String {
        "'" + text.replacing("\\", with: "\\\\").replacing("'", with: "\\'") + "'"
    }
}
