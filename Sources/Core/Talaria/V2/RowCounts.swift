/// What a library file contains.
package enum LibraryContent: Hashable, Sendable {
    /// The number of its rows, without the header.
    case rows(Int)
    /// It is none: an import of it fails.
    case unreadable

    /// - Parameter rows: Nil for a file that is none.
    package init(rows: Int?) { self = rows.map { .rows($0) } ?? .unreadable }

    package var rows: Int? {
        switch self {
        case .rows(let count): count
        case .unreadable: nil
        }
    }
}

/// The outcomes of the rows of a library file, each of which counts once (Docs/contract.md section 3.2).
package struct RowCounts: Hashable, Sendable {
    /// Rows with a book that the library did not have.
    package var created = 0
    /// Rows with a book that an earlier import had brought.
    package var updated = 0
    /// Rows with the book of an earlier row of the file.
    package var skipped = 0
    /// Rows with a flaw.
    package var failed = 0
    /// Rows that were not taken, because the import ended before.
    package var pending = 0

    package init() {}

    package init(created: Int, updated: Int, skipped: Int, failed: Int, pending: Int) {
        self.created = created
        self.updated = updated
        self.skipped = skipped
        self.failed = failed
        self.pending = pending
    }

    package var total: Int { self.created + self.updated + self.skipped + self.failed + self.pending }

    /// Rows whose book is in the library by this import.
    package var taken: Int { self.created + self.updated }

    package static func + (left: RowCounts, right: RowCounts) -> RowCounts {
        var sum = left
        sum.created += right.created
        sum.updated += right.updated
        sum.skipped += right.skipped
        sum.failed += right.failed
        sum.pending += right.pending
        return sum
    }
}
