import RunDriver
import SimBase

/// Columns of text, each as wide as its widest cell where there is room.
enum TextTable {
    /// Columns two blanks apart, the last as it is; an empty cell at the end of a row leaves no blanks.
    ///
    /// Where a row is wider than `columns`, the widest cells are folded. Prose that would get too narrow by
    /// that is placed below its row's first cell; of a table of numbers (`isNumeric`) the last columns are
    /// left out.
    static func lines(
        _ rows: [[String]], indent: Int, columns: Int? = nil, isNumeric: Bool = false
    ) -> [String] {
        let natural = Self.widths(rows, of: Printable.width)
        guard let columns, indent + Self.total(natural) > columns else {
            return rows.flatMap { Self.lines($0, natural, indent: indent) }
        }
        let least = Self.widths(rows) { cell in
            cell.split(separator: " ").map { Printable.width(String($0)) }.max() ?? 0
        }
        guard indent + Self.total(least) <= columns else {
            guard isNumeric, natural.count > 1 else {
                return Self.stacked(rows, indent: indent, columns: columns)
            }
            return Self.lines(
                rows.map { Array($0.prefix(natural.count - 1)) }, indent: indent, columns: columns,
                isNumeric: true)
        }
        var widths = natural
        while indent + Self.total(widths) > columns {
            guard
                let widest = widths.indices.filter({ widths[$0] > least[$0] }).max(by: {
                    widths[$0] < widths[$1]
                })
            else { break }
            widths[widest] -= 1
        }
        let isNarrow = zip(widths, natural).contains { $0 < min($1, Self.proseMin) }
        guard isNumeric || !isNarrow else { return Self.stacked(rows, indent: indent, columns: columns) }
        return rows.flatMap { Self.lines($0, widths, indent: indent) }
    }

    /// Columns between two cells.
    private static let gap = 2
    /// Sentences in less are hard to read.
    private static let proseMin = 24

    private static func total(_ widths: [Int]) -> Int {
        widths.reduce(0, +) + Self.gap * max(0, widths.count - 1)
    }

    private static func widths(_ rows: [[String]], of width: (String) -> Int) -> [Int] {
        (0..<(rows.map(\.count).max() ?? 0)).map { column in
            rows.map { $0.indices.contains(column) ? width($0[column]) : 0 }.max() ?? 0
        }
    }

    /// Returns one row with its cells folded to the widths.
    private static func lines(_ row: [String], _ widths: [Int], indent: Int) -> [String] {
        let cells = row.enumerated().map { TextFold.lines($1, columns: widths[$0], indent: 0) }
        return (0..<(cells.map(\.count).max() ?? 0)).map { index in
            var line = String(repeating: " ", count: indent)
            for (column, cell) in cells.enumerated() {
                let text = cell.indices.contains(index) ? cell[index] : ""
                line += text
                guard column + 1 < row.count else { continue }
                line += String(repeating: " ", count: widths[column] - Printable.width(text) + Self.gap)
            }
            while line.hasSuffix(" ") { line.removeLast() }
            return line
        }
    }

    /// Each cell but the first on lines of its own.
    private static func stacked(_ rows: [[String]], indent: Int, columns: Int) -> [String] {
        rows.flatMap { row in
            row.enumerated().filter { !$1.isEmpty }.flatMap { column, cell in
                let margin = String(repeating: " ", count: indent + (column == 0 ? 0 : 4))
                return TextFold.lines(margin + cell, columns: columns, indent: margin.count)
            }
        }
    }
}
