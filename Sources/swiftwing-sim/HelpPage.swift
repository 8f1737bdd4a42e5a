import Manual
import RunDriver

/// A page of the manual as text for a terminal.
enum HelpPage {
    private static let bodyIndent = 2
    private static let codeIndent = 6

    /// `columns`: how wide a line may be; nil: a paragraph is one line.
    static func text(_ page: ManualPage, columns: Int?, isColored: Bool) -> String {
        var lines: [String] = []
        var last: MarkdownDocument.Block?
        for block in page.document.blocks {
            if let last, !Self.standsClose(block, to: last) { lines.append("") }
            lines += Self.lines(block, columns: columns, isColored: isColored)
            last = block
        }
        return lines.joined(separator: "\n")
    }

    /// Items of one list have no gap between them.
    private static func standsClose(
        _ block: MarkdownDocument.Block, to last: MarkdownDocument.Block
    ) -> Bool {
        switch (last, block) {
        case (.item, .item): true
        case (.heading, _), (.paragraph, _), (.item, _), (.code, _), (.table, _): false
        }
    }

    private static func lines(
        _ block: MarkdownDocument.Block, columns: Int?, isColored: Bool
    ) -> [String] {
        switch block {
        case .heading(_, let text):
            let plain = MarkdownDocument.plain(text)
            return [isColored ? "\u{1B}[1m\(plain)\u{1B}[0m" : plain]
        case .paragraph(let text):
            return Self.folded(text, margin: Self.bodyIndent, indent: Self.bodyIndent, columns)
        case .item(let marker, let depth, let text):
            let margin = Self.bodyIndent * (depth + 1)
            return Self.folded(
                "\(marker) \(text)", margin: margin, indent: margin + marker.count + 1, columns)
        // A command that is broken is another one.
        case .code(let depth, let lines):
            let margin = String(repeating: " ", count: Self.codeIndent + Self.bodyIndent * depth)
            return lines.map { $0.isEmpty ? "" : margin + $0 }
        case .table(let rows):
            return TextTable.lines(
                rows.map { $0.map(MarkdownDocument.plain) }, indent: Self.bodyIndent, columns: columns)
        }
    }

    private static func folded(_ text: String, margin: Int, indent: Int, _ columns: Int?) -> [String] {
        let line = String(repeating: " ", count: margin) + MarkdownDocument.plain(text)
        guard let columns else { return [line] }
        return TextFold.lines(line, columns: columns, indent: indent)
    }
}
