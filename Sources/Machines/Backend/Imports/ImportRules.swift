package import SimBase

/// The numbers of imports (Docs/contract.md section 3.2).
package struct ImportRules: Hashable, Sendable {
    package var rowsPerSecond = 250
    /// The least time of an import.
    package var timeMin = Interval.seconds(1)
    /// Books of all libraries. A row beyond them is created, and not known to a later import.
    package var booksMax = 2_000_000

    /// What the list of books in the results may take in memory. Longer ones are left out: a client has to read all of an answer.
    package var listBytesMax = 4 << 20

    package init() {}

    /// The time that a file with so many rows takes.
    func time(_ rows: Int) -> Interval {
        max(self.timeMin, .milliseconds(Int64(rows) * 1_000 / Int64(max(1, self.rowsPerSecond))))
    }
}
