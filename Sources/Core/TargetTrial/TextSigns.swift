/// Signs that a text was encoded or escaped once too often, or decoded in a wrong way. None of them is in a title by intention.
enum TextSigns {
    private static let escapes = ["&amp;", "&quot;", "&#39;", "&lt;", "&gt;", "&apos;"]

    /// Says what is wrong with a text; nil if nothing is.
    static func sign(in text: String) -> String? {
        if let escape = Self.escapes.first(where: { text.contains($0) }) {
            return "an HTML escape, \(escape)"
        }
        let scalars = Array(text.unicodeScalars)
        if scalars.contains("\u{FFFD}") { return "U+FFFD, in place of what could not be decoded" }
        if Self.hasEscapedUnicode(scalars) { return "an escape of JSON as text" }
        if Self.hasMojibake(scalars) { return "UTF-8 that was decoded as Latin-1" }
        return Self.hasQuestionMark(scalars) ? "a question mark within a word" : nil
    }

    /// A backslash, `u` and four hexadecimal digits.
    private static func hasEscapedUnicode(_ scalars: [Unicode.Scalar]) -> Bool {
        scalars.indices.dropLast(5).contains { place in
            scalars[place] == "\\" && scalars[place + 1] == "u"
                && scalars[(place + 2)...(place + 5)].allSatisfy { $0.properties.isASCIIHexDigit }
        }
    }

    /// The first byte of a character of UTF-8 and a continuation byte, each as a character of its own.
    private static func hasMojibake(_ scalars: [Unicode.Scalar]) -> Bool {
        zip(scalars, scalars.dropFirst()).contains { first, second in
            (0xC2...0xF4).contains(first.value) && (0x80...0xBF).contains(second.value)
        }
    }

    private static func hasQuestionMark(_ scalars: [Unicode.Scalar]) -> Bool {
        scalars.indices.dropFirst().dropLast().contains { place in
            scalars[place] == "?" && scalars[place - 1].properties.isAlphabetic
                && scalars[place + 1].properties.isAlphabetic
        }
    }
}
