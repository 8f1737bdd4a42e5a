extension MarkdownDocument {
    /// The text of a paragraph, an item or a cell as a terminal shows it: links by their text, without the stars of emphasis.
    /// Code keeps its marks, so that a command stands out where there is no color.
    package static func plain(_ text: String) -> String {
        var plain = ""
        var rest = text[...]
        while let character = rest.first {
            if character == "`" {
                let end = rest.dropFirst().firstIndex(of: "`").map { rest.index(after: $0) } ?? rest.endIndex
                plain += rest[..<end]
                rest = rest[end...]
            } else if let link = Self.link(rest) {
                plain += Self.plain(String(link.text))
                rest = link.rest
            } else if character == "*" {
                rest = rest.drop { $0 == "*" }
            } else {
                plain.append(character)
                rest.removeFirst()
            }
        }
        return plain
    }

    /// `[text](target)` or `![text](target)` at the beginning.
    private static func link(_ text: Substring) -> (text: Substring, rest: Substring)? {
        let start = text.hasPrefix("!") ? text.dropFirst() : text
        guard start.hasPrefix("["), let middle = start.firstRange(of: "]("),
            let end = start[middle.upperBound...].firstIndex(of: ")")
        else { return nil }
        return (start[..<middle.lowerBound].dropFirst(), start[start.index(after: end)...])
    }
}
