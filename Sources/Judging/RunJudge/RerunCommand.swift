/// The command that runs a scenario again, fit to be handed around: what may be a secret is left out.
package enum RerunCommand {
    /// A placeholder for omitted text.
    package static let leftOut = "(left-out)"

    /// The words of the command line without the values of headers and without passwords in addresses.
    package static func words(_ arguments: [String]) -> [String] {
        var words: [String] = []
        for word in arguments {
            if words.last == Self.headerFlag {
                words.append(Self.header(word))
            } else if word.hasPrefix(Self.headerFlag + "=") {
                words.append(Self.headerFlag + "=" + Self.header(word.dropFirst(Self.headerFlag.count + 1)))
            } else {
                words.append(Self.withoutUser(word))
            }
        }
        return words
    }

    /// The words as one line for a POSIX shell.
    package static func line(_ words: [String]) -> String { ShellWords.line(Self.words(words)) }

    /// The words that run the whole fleet: live in as many processes, simulated in one, which is the same.
    package static func merged(_ words: [String], shards: Int, world: WorldKind) -> [String] {
        let whole = Self.withoutShard(words)
        guard world == .live, shards > 1, !whole.isEmpty else { return whole }
        return whole + ["--processes", String(shards)]
    }

    private static func withoutShard(_ words: [String]) -> [String] {
        var whole: [String] = []
        var isValue = false
        for word in words {
            if isValue {
                isValue = false
            } else if Self.shardFlags.contains(word) {
                isValue = true
            } else if !Self.shardFlags.contains(where: { word.hasPrefix($0 + "=") }) {
                whole.append(word)
            }
        }
        return whole
    }

    private static let shardFlags = ["--shard", "--start-at"]
    private static let headerFlag = "--header"

    /// `Name: (left-out)`. The names of a file and of a variable are not secret.
    private static func header(_ text: some StringProtocol) -> String {
        let name = text.prefix { $0 != ":" }
        let value = text.dropFirst(name.count + 1).drop(while: \.isWhitespace)
        let isVariable =
            value.hasPrefix("${") && value.hasSuffix("}")
            && value.dropFirst(2).dropLast().allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" }
        return text.hasPrefix("@") || isVariable ? String(text) : name + ": " + Self.leftOut
    }

    /// `https://user:password@host/` without what precedes the `@`.
    package static func withoutUser(_ word: String) -> String {
        guard let scheme = word.firstRange(of: "://") else { return word }
        let authority = word[scheme.upperBound...].prefix { !"/?#".contains($0) }
        guard let at = authority.lastIndex(of: "@") else { return word }
        return word[..<scheme.upperBound] + Self.leftOut + word[at...]
    }
}
