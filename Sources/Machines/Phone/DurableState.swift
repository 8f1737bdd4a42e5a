package import SimBase
package import Talaria

/// The content of a phone's durable store after a sequence of writes: the meaning of `StoreChange`, which
/// every driver's store must follow.
package struct DurableState: Sendable {
    /// Unsettled scans, by their number.
    private var records = SlotMap<ScanNumber, DurableScan>()
    /// The library.
    package private(set) var books = SlotMap<ResultKey, Book>()
    /// Writes of a book to an index that was taken already. A correct phone makes none.
    package private(set) var booksDoubled = 0
    /// Books that wait for their person, and those of the library that were approved.
    private var waiting = SlotMap<ResultKey, ReviewEntry>()
    private var approved: [ShelvedBook] = []
    /// Settled scans in the order in which they were settled.
    package private(set) var settled: [(scan: ScanNumber, outcome: SettledOutcome)] = []

    /// Whether the library and the settled scans are kept, or only what a fresh phone starts from.
    private let keepsHistory: Bool

    package init(keepsHistory: Bool = true) { self.keepsHistory = keepsHistory }

    /// The records that `.launched` gives to a fresh phone, in no particular order.
    package var scans: [DurableScan] { self.records.values }

    /// What `.launched` gives to a fresh phone of a review.
    package var review: DurableReview {
        var review = DurableReview()
        review.entries = self.waiting.values
        review.library = self.approved
        return review
    }

    package func isPending(_ book: ResultKey) -> Bool { self.waiting[book] != nil }

    package mutating func restore(_ review: DurableReview) {
        for entry in review.entries { self.waiting[entry.key] = entry }
        self.approved += review.library
    }

    /// Whether a scan is unsettled, and its outcome is known: only its DELETE is left to do.
    package func isDecided(_ scan: ScanNumber) -> Bool {
        self.records[scan].map { $0.completed || $0.refusal != nil } ?? false
    }

    /// The job of an unsettled scan.
    package func job(of scan: ScanNumber) -> String? { self.records[scan]?.job?.jobId }

    package mutating func apply(_ change: StoreChange) {
        switch change {
        case .put(let record):
            let number = ScanNumber(record.scan)
            // Whoever writes a record knows all its books: those that `.book` added are in it.
            self.records[number] = record
        case .lastEventID(let scan, let id):
            self.records.update(scan) { $0.job?.lastEventID = id }
        case .book(let key, let book):
            self.shelve(book, key)
            self.records.update(key.scan) { $0.booksApplied.append(book) }
        case .pending(let entry):
            if self.waiting.update(entry.key, { $0 = entry }) == nil {
                self.waiting[entry.key] = entry
                self.records.update(entry.key.scan) { $0.booksApplied.append(entry.book) }
            }
        case .reviewed(let key, let outcome):
            self.waiting[key] = nil
            guard case .approved(let book) = outcome else { return }
            self.approved.append(ShelvedBook(key: key, book: book))
            self.shelve(book, key)
        case .settled(let scan, let outcome):
            self.records[scan] = nil
            if self.keepsHistory { self.settled.append((scan, outcome)) }
        }
    }

    private mutating func shelve(_ book: Book, _ key: ResultKey) {
        guard self.keepsHistory else { return }
        if self.books[key] != nil { self.booksDoubled += 1 }
        self.books[key] = book
    }
}
