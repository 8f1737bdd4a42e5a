import RunArchive

/// The capabilities of a terminal.
package struct TerminalStyle: Hashable, Sendable {
    /// The maximum width of a line.
    package var columns: Int
    /// ANSI colors.
    package var isColored: Bool
    /// ASCII only: `ok`, `FAIL` and `warn` instead of signs.
    package var isASCII: Bool

    /// The least width. A narrower terminal is treated as this wide.
    package static let columnsMin = 40

    package init(columns: Int, isColored: Bool, isASCII: Bool) {
        self.columns = max(columns, Self.columnsMin)
        self.isColored = isColored
        self.isASCII = isASCII
    }

    /// The style for a file and for an unknown terminal.
    package static let plain = TerminalStyle(columns: 80, isColored: false, isASCII: false)
}
