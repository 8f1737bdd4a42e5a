/// A table of a generated page.
enum MarkdownTable {
    /// Ends in a newline.
    static func text(_ head: [String], _ rows: [[String]]) -> String {
        ([head, head.map { _ in "---" }] + rows).map { cells in
            // A bar would begin the next cell, also within code.
            "| \(cells.map { $0.replacing("|", with: "\\|") }.joined(separator: " | ")) |\n"
        }.joined()
    }
}
