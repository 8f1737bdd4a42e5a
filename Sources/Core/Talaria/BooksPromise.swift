/// What the summary at the end of a job promises of its books (Docs/contract.md section 2.1).
package struct BooksPromise: Hashable, Sendable {
    /// The number of different books: `totalUnique`, in v2 `booksUnique`.
    package var unique: Int?
    /// The number of books on the photos, each as often as it was seen: `totalDetected`.
    package var detected: Int?
    /// The number of books by the preview of the photo: `totalBooks` of a `segmented` event.
    package private(set) var segmented: Int?

    /// Nil if the summary has neither.
    package init?(unique: Int?, detected: Int?) {
        guard unique != nil || detected != nil else { return nil }
        self.unique = unique
        self.detected = detected
    }

    package init(unique: Int) { self.unique = unique }

    /// What a summary promises, if it does, and what the preview has said.
    package init(_ promise: BooksPromise?, segmented: Int) {
        (self.unique, self.detected, self.segmented) = (promise?.unique, promise?.detected, segmented)
    }

    /// The number of different books that have to come.
    ///
    /// - Parameter duplicates: The entries of the job's list that are books which the list has already.
    package func different(duplicates: Int) -> Int {
        self.unique ?? max(0, (self.detected ?? 0) - duplicates)
    }
}

extension BooksPromise {
    /// Both cases of the names occur (Docs/contract.md section 7, C38).
    private static let uniqueKeys = ["totalUnique", "total_unique", "booksUnique", "books_unique"]
    private static let detectedKeys = ["totalDetected", "total_detected"]
    /// More are no more than that: no shelf has as many.
    private static let countMax = 1_000_000

    init?(_ summary: LeanObject?, into notes: inout ContractNotes) {
        func count(_ keys: [String]) -> Int? {
            for key in keys {
                if let count = summary?.integer(key, .optional, into: &notes), count >= 0 {
                    return min(count, Self.countMax)
                }
            }
            return nil
        }
        self.init(unique: count(Self.uniqueKeys), detected: count(Self.detectedKeys))
    }
}
