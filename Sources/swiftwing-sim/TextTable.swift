/// Columns of text, each as wide as its widest cell.
enum TextTable {
    /// Columns two blanks apart, the last as it is; an empty cell at the end of a row leaves no blanks.
    static func lines(_ rows: [[String]], indent: Int) -> [String] {
        let columns = rows.map(\.count).max() ?? 0
        let widths = (0..<columns).map { column in
            rows.map { $0.indices.contains(column) ? $0[column].count : 0 }.max() ?? 0
        }
        return rows.map { row in
            var line = String(repeating: " ", count: indent)
            for (column, cell) in row.enumerated() {
                line += cell
                guard column + 1 < row.count else { continue }
                line += String(repeating: " ", count: widths[column] - cell.count + 2)
            }
            while line.hasSuffix(" ") { line.removeLast() }
            return line
        }
    }
}
