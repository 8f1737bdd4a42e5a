import SimBase
import Talaria

/// The books that the backend found for one scan.
struct ScannedShelf {
    let shelf: Shelf
    let device: DeviceNumber
    let scan: ScanNumber
    /// Of a book that the phone has read by itself: what it may be in the library, the expected one first.
    var texts: [Book] = []

    /// A book that is looked at more than once.
    private var kept: (place: Int, book: Book)?

    init(shelf: Shelf, device: DeviceNumber, scan: ScanNumber, texts: [Book] = []) {
        self.shelf = shelf
        self.device = device
        self.scan = scan
        self.texts = texts
    }

    /// Keeps the book at a place, if there is one.
    mutating func keep(_ place: Int) {
        guard self.texts.isEmpty, (0..<self.count).contains(place) else { return }
        self.kept = (place, self.book(place))
    }

    var count: Int { self.shelf.count(device: self.device, scan: self.scan) }

    func book(_ place: Int) -> Book {
        if let kept = self.kept, kept.place == place { return kept.book }
        return self.texts.first ?? self.shelf.book(device: self.device, scan: self.scan, ordinal: place)
    }

    /// Whether a book is the one at a place, as it can be in the library.
    func has(_ book: Book, at place: Int) -> Bool {
        guard self.texts.isEmpty else { return self.texts.contains(book) }
        let real = self.book(place)
        return book == real || book == real.degraded
    }
}

/// The books of one scan in its phone's library, distinguished by their content, and not by their indexes in
/// an answer.
///
/// The phone decides by its record what it adds, and this type by what was observed of each book: a second witness.
struct ScanLibrary: Sendable {
    enum Entry: Hashable {
        case new(place: Int)
        /// The library has it already.
        case double
        /// The shelf has no such book.
        case offShelf
    }

    /// Keys by index. Indexes are those of the shelf if it is known (the keys are made once they are needed);
    /// otherwise those of the books that came, each once.
    private var keys: [BookKey] = []
    /// Indexes of the books that were seen entering the library.
    private(set) var added = NumberRanges<Int>()
    /// Indexes of these, and of those that were recognized.
    private(set) var places = NumberRanges<Int>()
    /// Indexes that the present answer has named.
    private var named = NumberRanges<Int>()
    /// Entries of the answer at hand.
    private var entries = NumberRanges<Int>()

    /// The number of different books that came of a foreign backend, in all answers.
    var different: Int { BookKey.different(self.keys) }
    /// The entries of its last answer that are books which the answer has already.
    var duplicates: Int {
        self.entries.count
            - BookKey.different(
                self.keys.indices.filter { self.named.contains($0) }.map { self.keys[$0] })
    }

    /// What comes from here on is of another answer: it may have the same books, in any order.
    mutating func answerBegan() {
        self.named = NumberRanges()
        self.entries = NumberRanges()
    }

    // MARK: Books

    /// Records that a book entered the library. `shelf`: nil for that of a foreign backend.
    mutating func add(_ book: Book, ordinal: Int, from shelf: ScannedShelf?) -> Entry {
        guard self.entries.insert(ordinal) else { return .double }
        let (named, places) = (self.named, self.places)
        let place: Int
        if let shelf {
            let free = self.place(of: book, near: ordinal, on: shelf) {
                !named.contains($0) && !places.contains($0)
            }
            guard let free else {
                return self.place(of: book, near: ordinal, on: shelf) { _ in true } == nil
                    ? .offShelf : .double
            }
            place = free
        } else {
            let key = BookKey(book)
            // A copy that the answer has named before is another one.
            if let known = self.place(of: key, where: { !named.contains($0) }) {
                _ = self.named.insert(known)
                return .double
            }
            place = self.keys.count
            self.keys.append(key)
        }
        _ = self.added.insert(place)
        self.have(place)
        return .new(place: place)
    }

    /// Records that a book came again, and was recognized. `book`: nil in the log of an older version.
    ///
    /// - Returns: Whether it had not been seen in the library: a kill came before it was observed.
    mutating func recognize(_ book: Book?, ordinal: Int, from shelf: ScannedShelf?) -> Bool {
        _ = self.entries.insert(ordinal)
        let (named, places) = (self.named, self.places)
        let place: Int
        switch (book, shelf) {
        case (nil, _): place = ordinal
        case (let book?, let shelf?):
            let found =
                self.place(of: book, near: ordinal, on: shelf) { !named.contains($0) && places.contains($0) }
                ?? self.place(of: book, near: ordinal, on: shelf) { !named.contains($0) }
            guard let found else { return false }
            place = found
        case (let book?, nil):
            let key = BookKey(book)
            if let known = self.place(of: key, where: { !named.contains($0) }) {
                place = known
            } else {
                place = self.keys.count
                self.keys.append(key)
            }
        }
        self.have(place)
        return !places.contains(place)
    }

    /// The first of these books that is not in the library, however often either has it.
    func firstMissing(of books: [Book], from shelf: ScannedShelf?) -> Book? {
        var library: [BookKey]?
        return books.enumerated().first { ordinal, book in
            if let shelf, ordinal < shelf.count, self.places.contains(ordinal), shelf.book(ordinal) == book {
                return false
            }
            let keys = library ?? self.libraryKeys(shelf)
            library = keys
            let key = BookKey(book)
            return !keys.contains { known in
                BookKey.Likeness.allCases.contains { known.isSame(as: key, by: $0) }
            }
        }?.element
    }

    private func libraryKeys(_ shelf: ScannedShelf?) -> [BookKey] {
        let all = shelf.map { shelf in (0..<shelf.count).map { BookKey(shelf.book($0)) } } ?? self.keys
        return all.indices.filter { self.places.contains($0) }.map { all[$0] }
    }

    private mutating func have(_ place: Int) {
        _ = self.places.insert(place)
        _ = self.named.insert(place)
    }

    // MARK: Places

    /// Almost always a book is as on the shelf, and at the same index.
    private mutating func place(
        of book: Book, near ordinal: Int, on shelf: ScannedShelf, where fits: (Int) -> Bool
    ) -> Int? {
        let count = shelf.count
        if (0..<count).contains(ordinal), fits(ordinal) {
            if shelf.has(book, at: ordinal) { return ordinal }
        }
        if self.keys.isEmpty { self.keys = (0..<count).map { BookKey(shelf.book($0)) } }
        return self.place(of: BookKey(book), where: fits)
    }

    /// The index of the book that is most like this one.
    private func place(of key: BookKey, where fits: (Int) -> Bool) -> Int? {
        // The first answer of a foreign backend has only books that are new.
        guard self.named.count < self.keys.count else { return nil }
        for likeness in BookKey.Likeness.allCases {
            let place = self.keys.indices.first { fits($0) && self.keys[$0].isSame(as: key, by: likeness) }
            if let place { return place }
        }
        return nil
    }
}
