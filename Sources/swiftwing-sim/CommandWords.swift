import Manual

/// The words of the commands, as completions need them.
enum CommandWords {
    /// The first words of all commands, each once, and `help`.
    static var first: [String] {
        var words: [String] = []
        for command in Command.all {
            guard let word = Self.words(command).first, !words.contains(word) else { continue }
            words.append(word)
        }
        return words + ["help", "version"]
    }

    /// The first words of commands of two, with their second ones.
    static var twoWords: [(first: String, seconds: [String])] {
        self.first.compactMap { first in
            let seconds = Command.all.map(Self.words).filter { $0.count == 2 && $0[0] == first }.map { $0[1] }
            return seconds.isEmpty ? nil : (first, seconds)
        }
    }

    static var helpTopics: [String] { self.first.filter { $0 != "help" } + ManualPage.all.map(\.topic) }

    /// The commands whose name begins with the word.
    static func summary(ofFirst word: String) -> String {
        switch word {
        case "help": "Shows the help of a command, or a page of the manual"
        case "version": "Prints the version"
        default: Command.all.first { Self.words($0).first == word }?.summary ?? ""
        }
    }

    private static func words(_ command: Command) -> [String] {
        command.name.split(separator: " ").map(String.init)
    }
}
