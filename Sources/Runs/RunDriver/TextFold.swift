import SimBase

/// Breaks lines between words so that they fit a terminal. A word that is wider than a line, as a path may be, stays whole.
package enum TextFold {
    /// Every line of the text within so many columns; nil: as it is. What continues a line is indented by two
    /// columns.
    package static func text(_ text: String, columns: Int?) -> String {
        guard let columns else { return text }
        return text.split(separator: "\n", omittingEmptySubsequences: false).flatMap { line in
            let margin = line.prefix { $0 == " " }.count
            return Self.lines(String(line), columns: columns, indent: min(margin + 2, columns / 2))
        }.joined(separator: "\n")
    }

    /// Returns one line folded into several, all but the first indented.
    package static func lines(_ line: String, columns: Int, indent: Int) -> [String] {
        guard Self.width(line) > columns else { return [line] }
        let margin = line.prefix { $0 == " " }
        var lines: [String] = []
        var current = String(margin)
        var isEmpty = true
        for word in line.dropFirst(margin.count).split(separator: " ") {
            if !isEmpty, Self.width(current) + 1 + Self.width(String(word)) > columns {
                lines.append(current)
                current = String(repeating: " ", count: indent)
                isEmpty = true
            }
            current += (isEmpty ? "" : " ") + word
            isEmpty = false
        }
        return lines + [current]
    }

    /// Returns the width without color sequences.
    private static func width(_ text: String) -> Int {
        guard text.contains("\u{1B}") else { return Printable.width(text) }
        return Printable.width(text.replacing(/\u{1B}\[[0-9;]*m/, with: ""))
    }
}
