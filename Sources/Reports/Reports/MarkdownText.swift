import SimBase

/// Text made fit for GitHub's Markdown.
package enum MarkdownText {
    /// Text of the scenario: every sign that Markdown or HTML gives a meaning is escaped, and no more, so that the source
    /// can be read, too.
    package static func escaped(_ text: String) -> String {
        var escaped = String.UnicodeScalarView()
        for scalar in Printable.line(text).unicodeScalars {
            switch scalar {
            case "&": escaped.append(contentsOf: "&amp;".unicodeScalars)
            case "<": escaped.append(contentsOf: "&lt;".unicodeScalars)
            case ">": escaped.append(contentsOf: "&gt;".unicodeScalars)
            case "\\", "`", "*", "_", "[", "]", "|", "~":
                escaped.append("\\")
                escaped.append(scalar)
            // A mention, a link or a number of an issue is found in the rendered text, where no escape helps: a sign
            // without width parts it.
            case "@", "#":
                escaped.append(scalar)
                escaped.append(contentsOf: Self.joiner)
            case "/":
                if escaped.last == ":" { escaped.append(contentsOf: Self.joiner) }
                escaped.append(scalar)
            // Lists and headings begin a line so; `1.` does, too, and `www.` is a link.
            case "-", "+", "=":
                if escaped.isEmpty { escaped.append("\\") }
                escaped.append(scalar)
            case ".", ")":
                if escaped.allSatisfy({ $0.properties.numericType != nil })
                    || escaped.suffix(3).elementsEqual("www".unicodeScalars)
                {
                    escaped.append("\\")
                }
                escaped.append(scalar)
            default: escaped.append(scalar)
            }
        }
        return String(escaped)
    }

    private static let joiner = "&#8205;".unicodeScalars

    /// Text that a server may have written: in a code span nothing has a meaning, and a name does not become
    /// a mention.
    package static func code(_ text: String, bytesMax: Int = Printable.bytesMax) -> String {
        let line = Printable.line(text, bytesMax: bytesMax)
        guard line.contains(where: { $0 != " " }) else { return "" }
        // The span's own sign has no escape. A table's has, even within a span.
        let inner = String(line.map { $0 == "`" ? "'" : $0 })
        return "`" + inner.split(separator: "|", omittingEmptySubsequences: false).joined(separator: "\\|")
            + "`"
    }

    /// A list, with the same words before each of these texts.
    package static func items(_ texts: [String], bytesMax: Int, as lead: String = "") -> String {
        texts.map { "- \(lead)\(Self.code($0, bytesMax: bytesMax))\n" }.joined()
    }

    /// A text of which only the title is shown until a reader opens it; empty without a text.
    package static func folded(_ title: String, _ text: String) -> String {
        text.isEmpty ? "" : "<details><summary>\(title)</summary>\n\n\(text)\n</details>\n"
    }

    /// A block of text as it is, between fences that nothing in it can close.
    package static func block(_ language: String, _ text: String) -> String {
        let run = text.split(whereSeparator: { $0 != "`" }).map(\.count).max() ?? 0
        let fence = String(repeating: "`", count: max(3, run + 1))
        return "\(fence)\(language)\n\(text)\n\(fence)\n"
    }

    /// A table; cells must be escaped already. The first column is text, the others are numbers.
    package static func table(_ header: [String], _ rows: [[String]], textColumns: Int = 1) -> String {
        Self.table(header, rows, numbers: Set(header.indices.dropFirst(textColumns)))
    }

    /// A table with columns of text and of numbers; cells must be escaped already.
    static func table(_ header: [String], _ rows: [[String]], numbers: Set<Int>) -> String {
        let rule = header.indices.map { numbers.contains($0) ? "---:" : "---" }
        return ([header, rule] + rows).map { "| " + $0.joined(separator: " | ") + " |\n" }.joined()
    }
}
