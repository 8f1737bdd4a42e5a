import SimBase
import Talaria

/// The books of a phone that wait for their person, and those of the library that were approved, by what was observed: a second
/// witness to the phone's own review.
struct ReviewAccount: Sendable {
    struct Waiting: Sendable {
        let key: ResultKey
        let cameAt: Instant
        /// As it came. A later answer may have said something else.
        var versions: [Book]
        /// What the person wrote.
        var title: String?
        var author: String?
        /// The process was killed, and no storage is known to have it.
        var isInDoubt = false

        var book: Book { self.versions[self.versions.count - 1] }
        /// With what the person wrote.
        var edited: Book {
            var book = self.book
            book.title = self.title ?? book.title
            book.author = self.author ?? book.author
            return book
        }
        var isEdited: Bool { self.title != nil || self.author != nil }

        /// Whether a book has these values, apart from those that were edited.
        func isMet(by book: Book) -> Bool {
            (self.title.map { $0 == book.title } ?? self.versions.contains { $0.title == book.title })
                && (self.author.map { $0 == book.author }
                    ?? self.versions.contains { $0.author == book.author })
        }
    }

    /// The answers whose books are told apart.
    private static let versionsMax = 8

    /// In the order in which they came.
    private(set) var waiting: [Waiting] = []
    /// The books of the library, by ISBN.
    private var library: [String: ResultKey] = [:]
    private var shelved: [ResultKey: BookKey] = [:]
    /// When the process was killed whose loss is not known yet.
    private(set) var killedAt: Instant?

    func waits(_ key: ResultKey) -> Bool { self.index(of: key) != nil }

    func contains(_ key: ResultKey) -> Bool { self.index(of: key) != nil || self.shelved[key] != nil }

    private func index(of key: ResultKey) -> Int? { self.waiting.lastIndex { $0.key == key } }

    // MARK: What comes

    mutating func came(_ key: ResultKey, _ book: Book, at moment: Instant) {
        self.waiting.append(Waiting(key: key, cameAt: moment, versions: [book]))
    }

    /// `isOnly`: the scan has one book, whatever is known of it.
    mutating func cameAgain(_ book: Book, of scan: ScanNumber, isOnly: Bool) {
        let key = BookKey(book)
        for index in self.waiting.indices where self.waiting[index].key.scan == scan {
            guard isOnly || BookKey(self.waiting[index].book).isSame(as: key) else { continue }
            self.waiting[index].versions.append(book, max: Self.versionsMax)
        }
    }

    // MARK: What becomes of it

    mutating func take(_ key: ResultKey) -> Waiting? {
        self.index(of: key).map { self.waiting.remove(at: $0) }
    }

    mutating func update(_ key: ResultKey, _ change: (inout Waiting) -> Void) -> Bool {
        guard let index = self.index(of: key) else { return false }
        change(&self.waiting[index])
        return true
    }

    /// The book of the library that has its ISBN.
    func duplicate(of book: Book) -> ResultKey? { BookKey(book).isbn.flatMap { self.library[$0] } }

    mutating func shelve(_ key: ResultKey, _ book: Book) {
        let names = BookKey(book)
        self.shelved[key] = names
        if let isbn = names.isbn, self.library[isbn] == nil { self.library[isbn] = key }
    }

    /// Whether a book is another one: in the library by its ISBN, or one that came shortly before.
    func isSame(_ book: Waiting, as original: ResultKey, within window: Interval?) -> Bool {
        let names = BookKey(book.book)
        if let isbn = names.isbn, self.shelved[original]?.isbn == isbn { return true }
        guard let window, let index = self.index(of: original) else { return false }
        let other = BookKey(self.waiting[index].edited)
        return book.cameAt <= self.waiting[index].cameAt + window
            && (names.isbn != nil && names.isbn == other.isbn || names.words == other.words)
    }

    // MARK: Processes

    mutating func killed(at moment: Instant) {
        self.killedAt = moment
        for index in self.waiting.indices { self.waiting[index].isInDoubt = true }
    }

    /// What no storage has of what waited when the process was killed.
    mutating func takeLost() -> [Waiting] {
        self.killedAt = nil
        let lost = self.waiting.filter(\.isInDoubt)
        self.waiting.removeAll(where: \.isInDoubt)
        return lost
    }

    /// The app is gone with its library.
    mutating func discard() -> Int {
        let count = self.waiting.count
        self = ReviewAccount()
        return count
    }
}
