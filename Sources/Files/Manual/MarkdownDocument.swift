/// The part of Markdown that the pages of the manual use.
package struct MarkdownDocument: Hashable, Sendable {
    package enum Block: Hashable, Sendable {
        /// `level`: 1 for the title.
        case heading(level: Int, text: String)
        case paragraph(String)
        /// An item of a list: `marker` is `-` or a number; `depth` counts from 0.
        case item(marker: String, depth: Int, text: String)
        /// Lines that stay as they are, without the blanks that make them code. `depth`: that of the item they belong to.
        case code(depth: Int, lines: [String])
        /// The first row is the head.
        case table([[String]])
    }

    package let blocks: [Block]

    package var title: String? {
        for case .heading(level: 1, let text) in self.blocks { return text }
        return nil
    }

    package init(_ text: String) {
        var reader = MarkdownReader(text)
        self.blocks = reader.blocks()
    }
}

/// Reads blocks line by line.
private struct MarkdownReader {
    private var lines: ArraySlice<String>
    /// The blanks before the text of the item that was read last; nil outside of a list.
    private var itemIndent: Int?

    init(_ text: String) {
        self.lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)[...]
    }

    mutating func blocks() -> [MarkdownDocument.Block] {
        var blocks: [MarkdownDocument.Block] = []
        while let line = self.lines.first {
            if Self.isBlank(line) {
                self.lines.removeFirst()
            } else if line.hasPrefix("<!--") {
                self.skipComment()
            } else if line.hasPrefix("```") {
                blocks.append(self.fenced())
            } else if let item = Self.item(line) {
                blocks.append(self.listItem(item))
            } else if Self.indent(line) >= 4 + (self.itemIndent ?? 0) {
                blocks.append(self.indented())
            } else if line.hasPrefix("#") {
                self.itemIndent = nil
                blocks.append(self.heading())
            } else if line.hasPrefix("|") {
                self.itemIndent = nil
                blocks.append(self.table())
            } else {
                if Self.indent(line) == 0 { self.itemIndent = nil }
                blocks.append(.paragraph(self.paragraph()))
            }
        }
        return blocks
    }

    // MARK: Lines

    private static func isBlank(_ line: String) -> Bool { line.allSatisfy { $0 == " " } }

    private static func indent(_ line: String) -> Int { line.prefix { $0 == " " }.count }

    /// The marker of an item, the blanks before it, and what follows it.
    private static func item(_ line: String) -> (marker: String, indent: Int, text: String)? {
        let indent = self.indent(line)
        let rest = line.dropFirst(indent)
        guard indent < 4 else { return nil }
        if rest.hasPrefix("- ") { return ("-", indent, String(rest.dropFirst(2))) }
        let digits = rest.prefix { $0.isASCII && $0.isNumber }
        guard !digits.isEmpty, rest.dropFirst(digits.count).hasPrefix(". ") else { return nil }
        return ("\(digits).", indent, String(rest.dropFirst(digits.count + 2)))
    }

    /// Whether the line goes on with the text before it.
    private static func continues(_ line: String) -> Bool {
        !self.isBlank(line) && !["#", "|", "```", "<!--"].contains { line.hasPrefix($0) }
            && self.item(line) == nil
    }

    private mutating func takeText(_ first: String) -> String {
        var words = [first]
        while let line = self.lines.first, Self.continues(line) {
            words.append(String(line.drop { $0 == " " }))
            self.lines.removeFirst()
        }
        return words.joined(separator: " ")
    }

    // MARK: Blocks

    private mutating func skipComment() {
        while let line = self.lines.popFirst(), !line.contains("-->") {}
    }

    private mutating func heading() -> MarkdownDocument.Block {
        let line = self.lines.removeFirst()
        let level = line.prefix { $0 == "#" }.count
        return .heading(level: level, text: String(line.dropFirst(level).drop { $0 == " " }))
    }

    private mutating func paragraph() -> String {
        let line = self.lines.removeFirst()
        return self.takeText(String(line.drop { $0 == " " }))
    }

    private mutating func listItem(_ item: (marker: String, indent: Int, text: String))
        -> MarkdownDocument.Block
    {
        self.lines.removeFirst()
        self.itemIndent = item.indent + item.marker.count + 1
        return .item(marker: item.marker, depth: item.indent / 2, text: self.takeText(item.text))
    }

    private mutating func fenced() -> MarkdownDocument.Block {
        self.lines.removeFirst()
        var code: [String] = []
        while let line = self.lines.popFirst(), !line.hasPrefix("```") { code.append(line) }
        return .code(depth: 0, lines: code)
    }

    /// Code in a list is indented by what the item is indented by, and four more.
    private mutating func indented() -> MarkdownDocument.Block {
        let margin = 4 + (self.itemIndent ?? 0)
        var code: [String] = []
        while let line = self.lines.first, Self.isBlank(line) || Self.indent(line) >= margin {
            code.append(String(line.dropFirst(margin)))
            self.lines.removeFirst()
        }
        while code.last?.isEmpty == true { code.removeLast() }
        return .code(depth: self.itemIndent == nil ? 0 : 1, lines: code)
    }

    private mutating func table() -> MarkdownDocument.Block {
        var rows: [[String]] = []
        while let line = self.lines.first, line.hasPrefix("|") {
            self.lines.removeFirst()
            let cells = Self.cells(line)
            let isRule = cells.allSatisfy { !$0.isEmpty && $0.allSatisfy { "-:".contains($0) } }
            if !isRule { rows.append(cells) }
        }
        return .table(rows)
    }

    private static func cells(_ line: String) -> [String] {
        var cells: [String] = []
        var cell = ""
        var isEscaped = false
        for character in line.dropFirst() {
            if character == "|", !isEscaped {
                cells.append(Self.trimmed(cell))
                cell = ""
            } else {
                if character == "|" { cell.removeLast() }
                cell.append(character)
            }
            isEscaped = character == "\\"
        }
        return cells
    }

    private static func trimmed(_ text: String) -> String {
        var text = text.drop { $0 == " " }
        while text.last == " " { text.removeLast() }
        return String(text)
    }
}
