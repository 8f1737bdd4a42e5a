package import SimBase
package import Talaria

/// A book that waits for its person.
package struct ReviewEntry: Hashable, Sendable {
    package let key: ResultKey
    /// As it came, with what came later.
    package var book: Book
    /// By the run's wall clock, nanoseconds since 1970.
    package let receivedUnixNs: Int64
    /// What the person wrote; nil where the book has what came.
    package var title: String?
    package var author: String?

    package init(key: ResultKey, book: Book, receivedUnixNs: Int64) {
        self.key = key
        self.book = book
        self.receivedUnixNs = receivedUnixNs
    }

    /// In thousandths. A book that the server says nothing about is not in doubt.
    package var confidence: Int { self.book.confidence.map { Int(($0 * 1_000).rounded(.down)) } ?? 1_000 }

    package var tier: ReviewTier {
        switch self.confidence {
        case ..<500: .low
        case ..<800: .medium
        default: .high
        }
    }

    /// The book that enters the library.
    package var resolved: Book {
        var book = self.book
        book.title = self.title ?? book.title
        book.author = self.author ?? book.author
        return book
    }
}

/// How an app shows what waits (Docs/apps.md section 4.10).
package enum ReviewTier: String, CaseIterable, Hashable, Sendable {
    /// Below 0.5: it needs a review.
    case low
    case medium
    /// From 0.8.
    case high
}

/// What became of a book that waited.
package enum ReviewOutcome: Hashable, Sendable {
    /// It is in the library, with these values.
    indirect case approved(Book)
    case rejected
    /// It is this one, which the library or the queue has.
    case merged(into: ResultKey)
}

package struct ReviewDecision: Hashable, Sendable {
    package let key: ResultKey
    package let outcome: ReviewOutcome
}

/// What a phone has stored of a review.
package struct DurableReview: Hashable, Sendable {
    package var entries: [ReviewEntry] = []
    /// The books that were approved.
    package var library: [ShelvedBook] = []

    package init() {}
}

package struct ShelvedBook: Hashable, Sendable {
    package let key: ResultKey
    package let isbn: String?

    package init(key: ResultKey, book: Book) {
        self.key = key
        self.isbn = BookKey(book).isbn
    }
}

/// The books that wait for their person, the least sure first.
///
/// It has no clock, and no storage: each method says what has become of which book.
package struct ReviewQueue: Sendable {
    package private(set) var entries: [ReviewEntry] = []
    /// The books of the library that have an ISBN.
    private var library: [String: ResultKey] = [:]

    package init() {}

    package init(_ stored: DurableReview) {
        for book in stored.library { self.shelve(book.key, isbn: book.isbn) }
        for entry in stored.entries { self.insert(entry) }
    }

    package subscript(key: ResultKey) -> ReviewEntry? { self.index(of: key).map { self.entries[$0] } }

    // MARK: What comes

    /// Adds a book. `window`: how much older a waiting book may be that is the same one; nil to look for none.
    package mutating func add(_ entry: ReviewEntry, window: Interval?) -> ReviewDecision? {
        let original = window.flatMap { window in self.entries.first { $0.isSame(as: entry, within: window) }
        }
        self.insert(entry)
        return original.flatMap { self.merge(entry.key, into: $0.key) }
    }

    /// Later data for a book. What its person wrote stays.
    ///
    /// - Returns: The entry, if anything of it is new.
    package mutating func enrich(_ key: ResultKey, with later: Book) -> ReviewEntry? {
        guard var entry = self[key] else { return nil }
        entry.book.complete(with: later)
        guard entry != self[key] else { return nil }
        self.remove(key)
        self.insert(entry)
        return entry
    }

    // MARK: What the person does

    /// Writes a title, an author, or both.
    package mutating func edit(_ key: ResultKey, title: String?, author: String?) -> ReviewEntry? {
        guard let index = self.index(of: key) else { return nil }
        self.entries[index].title = title ?? self.entries[index].title
        self.entries[index].author = author ?? self.entries[index].author
        return self.entries[index]
    }

    /// Approves a book, unless the library has its ISBN. Others that wait with the same one are then the same book, but for
    /// those that their person has edited. `unchecked`, they wait on.
    package mutating func approve(_ key: ResultKey, _ check: ApprovalOfAll) -> [ReviewDecision] {
        guard let entry = self[key] else { return [] }
        guard let isbn = BookKey(entry.book).isbn else { return [self.shelve(entry, isbn: nil)] }
        if let shelved = self.library[isbn] { return [self.merge(key, into: shelved)].compactMap { $0 } }
        let approved = self.shelve(entry, isbn: isbn)
        guard check == .checked else { return [approved] }
        let same = self.entries.filter { !$0.isEdited && BookKey($0.book).isbn == isbn }
        return [approved] + same.compactMap { self.merge($0.key, into: key) }
    }

    /// Approves every book, each as if alone or, `unchecked`, whatever the library has.
    package mutating func approveAll(_ check: ApprovalOfAll) -> [ReviewDecision] {
        var decisions: [ReviewDecision] = []
        while let entry = self.entries.first {
            switch check {
            case .checked: decisions += self.approve(entry.key, check)
            case .unchecked: decisions.append(self.shelve(entry, isbn: BookKey(entry.book).isbn))
            }
        }
        return decisions
    }

    package mutating func reject(_ key: ResultKey) -> ReviewDecision? {
        self.remove(key).map { ReviewDecision(key: $0.key, outcome: .rejected) }
    }

    /// The books of a scan that its user has canceled.
    package mutating func reject(booksOf scan: ScanNumber) -> [ReviewDecision] {
        self.entries.filter { $0.key.scan == scan }.compactMap { self.reject($0.key) }
    }

    // MARK: The list

    private mutating func shelve(_ entry: ReviewEntry, isbn: String?) -> ReviewDecision {
        self.remove(entry.key)
        self.shelve(entry.key, isbn: isbn)
        return ReviewDecision(key: entry.key, outcome: .approved(entry.resolved))
    }

    private mutating func shelve(_ key: ResultKey, isbn: String?) {
        if let isbn, self.library[isbn] == nil { self.library[isbn] = key }
    }

    private mutating func merge(_ key: ResultKey, into original: ResultKey) -> ReviewDecision? {
        self.remove(key).map { ReviewDecision(key: $0.key, outcome: .merged(into: original)) }
    }

    private mutating func insert(_ entry: ReviewEntry) {
        let index = self.entries.firstIndex { entry.precedes($0) } ?? self.entries.count
        self.entries.insert(entry, at: index)
    }

    @discardableResult private mutating func remove(_ key: ResultKey) -> ReviewEntry? {
        self.index(of: key).map { self.entries.remove(at: $0) }
    }

    private func index(of key: ResultKey) -> Int? { self.entries.firstIndex { $0.key == key } }
}

extension ReviewEntry {
    fileprivate var isEdited: Bool { self.title != nil || self.author != nil }

    /// Books of one confidence have the order in which they came.
    fileprivate func precedes(_ other: Self) -> Bool { self.confidence < other.confidence }

    fileprivate func isSame(as later: Self, within window: Interval) -> Bool {
        let age = later.receivedUnixNs.subtractingReportingOverflow(self.receivedUnixNs)
        guard !age.overflow, (0...window.nanoseconds).contains(age.partialValue) else { return false }
        let (key, other) = (BookKey(self.resolved), BookKey(later.book))
        return key.isbn != nil && key.isbn == other.isbn || key.words == other.words
    }
}

extension Book {
    /// Takes over what a later answer has. A field that it lacks stays.
    fileprivate mutating func complete(with later: Book) {
        if !later.title.isEmpty { self.title = later.title }
        if !later.author.isEmpty { self.author = later.author }
        self.isbn = later.isbn ?? self.isbn
        self.confidence = later.confidence ?? self.confidence
        self.enrichmentStatus = later.enrichmentStatus ?? self.enrichmentStatus
        self.coverUrl = later.coverUrl ?? self.coverUrl
    }
}
