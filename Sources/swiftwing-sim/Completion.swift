import Manual

/// What a shell offers for the last word of a command line, decided by the table of commands.
enum Completion {
    /// Returns what the last of these words can become. They are the words behind the name of the program. The text behind a
    /// tab describes a word.
    static func form(of words: [String]) -> CompletionForm {
        guard let current = words.last, words.count > 1 else { return .words(Self.first) }
        if words[0] == "help" { return .words(Self.topics(Array(words.dropFirst()))) }
        if let names = Self.names(behind: words) { return .words(names) }
        if words[0] == Command.tool { return Self.form(of: Array(words.dropFirst())) }
        let hasTwoWords = Command.all.contains { $0.name.hasPrefix("\(words[0]) ") }
        let name = hasTwoWords ? "\(words[0]) \(words[1])" : words[0]
        guard let command = Command.all.first(where: { $0.name == name }) else { return .unknown }
        let before = words.dropFirst(hasTwoWords ? 2 : 1).dropLast()
        if let form = Self.value(before.last, current, of: command) { return form }
        return current.hasPrefix("-") ? Self.options(of: command, given: before) : .init(operandsOf: command)
    }

    /// What `help` can show: the names of commands, and the pages of the manual.
    private static func topics(_ words: [String]) -> [String] {
        guard words.count > 1 else {
            let commands = Self.first.map { String($0.prefix { $0 != "\t" }) }
            return commands.filter { !["help", "version"].contains($0) } + ManualPage.all.map(\.topic)
        }
        let isTool = words[0] == Command.tool && words.count > 2
        return Self.names(behind: isTool ? Array(words.dropFirst()) : words) ?? []
    }

    /// The rest of the names of commands that begin with the first of two words; nil where the name is complete.
    private static func names(behind words: [String]) -> [String]? {
        guard words.count == 2 else { return nil }
        if words[0] == Command.tool { return Self.first(of: Command.tools) }
        let start = "\(words[0]) "
        let names = Command.all.filter { $0.name.hasPrefix(start) }
            .map { "\($0.name.dropFirst(start.count))\t\($0.summary)" }
        return names.isEmpty ? nil : names
    }

    /// The first words of all commands, each once.
    private static func first(of commands: [Command]) -> [String] {
        var words: [String] = []
        let names = commands.map { (word: $0.name.prefix { $0 != " " }, $0.summary) }
        for (word, summary) in names where !words.contains(where: { $0.hasPrefix("\(word)\t") }) {
            words.append("\(word)\t\(summary)")
        }
        return words
    }

    private static var first: [String] {
        Self.first(of: Command.all.filter { !$0.isTool }) + [
            "\(Command.tool)\tRuns a tool beside runs",
            "help\tShows the help of a command, or a page of the manual", "version\tPrints the version",
        ]
    }

    /// The value of an option, behind it or behind its `=`; nil where there is none. An optional value follows a `=` only.
    private static func value(_ previous: String?, _ current: String, of command: Command) -> CompletionForm?
    {
        let inline = current.hasPrefix("-") ? current.firstIndex(of: "=").map { current[..<$0] } : nil
        let option = command.options.first {
            inline.map($0.name.elementsEqual) ?? ($0.name == previous && !$0.isValueOptional)
        }
        return option.flatMap(CompletionForm.init)
    }

    /// Without those that are given, and may be given once only.
    private static func options(of command: Command, given: ArraySlice<String>) -> CompletionForm {
        let options = command.options.filter { option in
            !option.isHidden
                && (option.isRepeatable
                    || !given.contains { $0 == option.name || $0.hasPrefix(option.name + "=") })
        }
        return .words(options.map { "\($0.name)\t\($0.help)" } + ["--help\tshow this help"])
    }
}
