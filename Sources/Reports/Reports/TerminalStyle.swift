import RunArchive

/// What the terminal can show.
package struct TerminalStyle: Hashable, Sendable {
    /// No line is wider.
    package var columns: Int
    /// ANSI colors.
    package var isColored: Bool
    /// ASCII only: `ok`, `FAIL` and `warn` instead of signs.
    package var isASCII: Bool

    /// What is narrower is taken for this wide: nothing can be read in less.
    package static let columnsMin = 40

    package init(columns: Int, isColored: Bool, isASCII: Bool) {
        self.columns = max(columns, Self.columnsMin)
        self.isColored = isColored
        self.isASCII = isASCII
    }

    /// For a file, or where nothing is known.
    package static let plain = TerminalStyle(columns: 80, isColored: false, isASCII: false)
}
