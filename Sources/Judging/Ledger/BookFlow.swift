/// What became of the books of a run on their way from the photographs into the libraries. It adds up:
///
///     photographed + besides + duplicated
///         = library + review.pending + review.rejected + review.merged + pending
///         + refused + canceled + discarded + missing + review.lost
///
/// A group reviews its books or does not, so the flow of a fleet is the sum of those of its groups, and is not made from the
/// fleet's totals.
package struct BookFlow: Equatable, Sendable {
    private var totals = LedgerTotals()
    /// Those in the libraries.
    package private(set) var library = 0
    /// Those in the review that are of no settled scan: an earlier run left them, or their scans had not settled when the run ended.
    package private(set) var besides = 0

    package init() {}

    /// The flow of one group.
    package init(_ totals: LedgerTotals) {
        let books = totals.books
        let came = books.received + books.withdrawn + books.duplicated
        self.totals = totals
        self.library = books.review.came > 0 ? books.review.approved : came
        self.besides = books.review.came > 0 ? books.review.came - came : 0
    }

    package mutating func add(_ other: Self) {
        self.totals.add(other.totals)
        self.library += other.library
        self.besides += other.besides
    }

    private var books: BookTotals { self.totals.books }

    package var texts: TextTotals { self.totals.texts }
    package var review: ReviewTotals { self.books.review }

    /// The books on the photographs of settled scans. Not known where the backend is not observed.
    package var photographed: Int {
        self.books.expected + self.books.withdrawn + self.refused + self.canceled + self.books.discarded
    }
    /// Times that a book came again and was added again.
    package var duplicated: Int { self.books.duplicated }
    /// Read by the phones themselves.
    package var read: Int { self.texts.enriched + self.texts.kept + self.texts.photos }
    /// Those of waiting scans.
    package var pending: Int { self.books.pending }
    /// Those that never came, since their scan was refused or canceled.
    package var refused: Int { self.books.refused }
    package var canceled: Int { self.books.canceled }
    /// Gone with an app that its user reinstalled, or with a capture that was not stored.
    package var discarded: Int { self.books.discarded + self.review.discarded }
    /// Those of completed and lost scans that never came.
    package var missing: Int { self.books.missing }
}
