internal import CSV
import JSON
internal import Talaria

/// What makes two rows the same book: the ISBN or, without one, title and author without regard to case. Of a text only two
/// hashes are kept, so that a library has a bound in bytes.
struct LibraryKey: Hashable, Sendable {
    private let first: UInt64
    private let second: UInt64

    init(_ entry: LibraryEntry) {
        if let number = entry.isbn.flatMap({ UInt64($0.digits) }) {
            (self.first, self.second) = (0, number)
            return
        }
        // FNV-1a, forwards and with another start.
        var (first, second): (UInt64, UInt64) = (0xCBF2_9CE4_8422_2325, 0x8422_2325_CBF2_9CE4)
        for text in [entry.title, "\n", entry.author] {
            for byte in text.lowercased().utf8 {
                first = (first ^ UInt64(byte)) &* 0x100_0000_01B3
                second = (second &* 0x100_0000_01B3) ^ UInt64(byte)
            }
        }
        (self.first, self.second) = (first, second)
    }
}

/// The rows of one import: each is created, updated, skipped or failed once, or still pending (Docs/contract.md section 3.2).
struct ImportAccount: Hashable, Sendable {
    enum RowOutcome: Hashable, Sendable {
        /// The library did not have the book.
        case created
        /// An earlier import had brought it.
        case updated
        /// An earlier row of this file is the same book.
        case skipped
        case failed
    }

    struct RowError: Hashable, Sendable {
        /// What one takes at most in memory, roughly.
        static let bytesMax = 256
        static let isbnCharactersMax = 40
        /// From 1, without the header.
        let row: Int
        /// The beginning of the field.
        let isbn: String
        let text: String
    }

    /// Empty once the import is over.
    private(set) var entries: [LibraryEntry]
    let total: Int
    /// Rows that have an outcome.
    private(set) var processed = 0
    private(set) var created = 0
    private(set) var updated = 0
    private(set) var skipped = 0
    private(set) var errors: [RowError] = []
    private var seen: Set<LibraryKey> = []
    /// The rows that were created or updated.
    private var taken: [LibraryEntry] { self.takenPlaces.map { self.entries[$0] } }
    private var takenPlaces: [Int] = []
    /// Their books, once the import is over; nil for an import without results, or whose list has no room.
    private(set) var listed: [LibraryEntry]?

    /// The memory that rows take while their import runs, at most: the rows themselves, their texts, and what makes two of them
    /// the same book, which a set holds up to twice.
    static func bytes(of entries: [LibraryEntry]) -> Int {
        let row = MemoryLayout<LibraryEntry>.stride + 4 * MemoryLayout<LibraryKey>.stride
        return entries.reduce(0) { sum, entry in
            let texts = [entry.title, entry.author, entry.isbnText, entry.isbn?.digits ?? ""]
            return sum + row + texts.reduce(0) { $0 + Self.bytes(of: $1) }
        }
    }

    /// Short texts are part of their row; others have a buffer of their own, which is up to half as long again.
    private static func bytes(of text: String) -> Int {
        let count = text.utf8.count
        return count <= 15 ? 0 : count + count / 2 + 32
    }

    init(_ entries: [LibraryEntry]) {
        self.entries = entries
        self.total = entries.count
    }

    var failed: Int { self.errors.count }
    var pending: Int { self.total - self.processed }
    /// Created and updated.
    var succeeded: Int { self.created + self.updated }

    var counts: RowCounts {
        var counts = RowCounts()
        counts.created = self.created
        counts.updated = self.updated
        counts.skipped = self.skipped
        counts.failed = self.failed
        counts.pending = self.pending
        return counts
    }

    /// The memory that the list of books takes.
    var listBytes: Int { Self.bytes(of: self.taken) }

    /// Forgets the rows, of which only the outcomes are still asked for, and the books.
    mutating func end(listsBooks: Bool) {
        self.listed = listsBooks ? self.taken : nil
        self.entries = []
        self.takenPlaces = []
        self.seen = []
    }

    /// The data of the results (Docs/contract.md section 3.2).
    func write(members writer: inout JSONWriter) {
        if let listed = self.listed {
            writer.array("books", listed) { BookForm.contract.write(Book($1), to: &$0) }
        }
        writer.member("booksCreated", self.created)
        writer.member("booksUpdated", self.updated)
        writer.member("duplicatesSkipped", self.skipped)
        writer.member("enrichmentFailed", self.failed)
        writer.member("enrichmentSucceeded", self.succeeded)
        writer.array("errors", self.errors) { writer, error in
            writer.object { writer in
                writer.member("error", error.text)
                writer.member("isbn", error.isbn)
                writer.member("row", error.row)
            }
        }
        writer.member("totalCount", self.total)
    }

    /// Gives the next rows their outcomes, up to so many in all.
    ///
    /// - Parameter library: The books of the device, which grow with each created one.
    /// - Parameter room: The number of books that it may still grow by. A book beyond it is created, and not remembered.
    mutating func process(upTo count: Int, library: inout Set<LibraryKey>, room: Int) {
        let most = library.count + max(0, room)
        while self.processed < min(count, self.entries.count) {
            let entry = self.entries[self.processed]
            switch self.outcome(of: entry, library) {
            case .created:
                if library.count < most { library.insert(LibraryKey(entry)) }
                self.created += 1
                self.takenPlaces.append(self.processed)
            case .updated:
                self.updated += 1
                self.takenPlaces.append(self.processed)
            case .skipped: self.skipped += 1
            case .failed:
                self.errors.append(
                    RowError(
                        row: entry.row, isbn: String(entry.isbnText.prefix(RowError.isbnCharactersMax)),
                        text: entry.flaw?.text ?? "The row is unfit."))
            }
            if entry.flaw == nil { self.seen.insert(LibraryKey(entry)) }
            self.processed += 1
        }
    }

    private func outcome(of entry: LibraryEntry, _ library: Set<LibraryKey>) -> RowOutcome {
        guard entry.flaw == nil else { return .failed }
        let key = LibraryKey(entry)
        if self.seen.contains(key) { return .skipped }
        return library.contains(key) ? .updated : .created
    }
}

extension Book {
    /// The book of a row, as its file has it.
    fileprivate init(_ entry: LibraryEntry) {
        self.init(
            title: entry.title, author: entry.author, isbn: entry.isbn?.digits, confidence: nil,
            enrichmentStatus: nil, coverUrl: nil)
    }
}
