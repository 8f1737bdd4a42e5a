internal import CSV
internal import SimBase

/// What makes a book the same one in two answers: its ISBN, or else its title and author. Its index in an
/// answer does not.
package struct BookKey: Hashable, Sendable {
    /// Thirteen digits, whether the answer has ten or thirteen; nil without a valid number.
    package let isbn: String?
    /// Title and author, case folded and with single spaces. Swift compares text by canonical equivalence: in which normal form
    /// it came makes no difference.
    package let words: String

    package init(_ book: Book) {
        self.isbn = book.isbn.flatMap(ISBN.init)?.digits
        self.words = Self.folded(book.title) + "\n" + Self.folded(book.author)
    }

    /// Upper case comes first: it expands what has no other case of one letter (`ß`), and has one form for `σ` and `ς`.
    private static func folded(_ text: String) -> String {
        Self.foldedASCII(text)
            ?? text.uppercased().lowercased().split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    /// The same for a text in ASCII, as most are, without the tables of Unicode. Nil for any other text.
    private static func foldedASCII(_ text: String) -> String? {
        guard !text.contains(byte: \.beyondASCII) else { return nil }
        return ByteBuilder.text { folded in
            var spaceIsDue = false
            for byte in text.utf8 {
                switch byte {
                case 0x09...0x0D, 0x20:
                    spaceIsDue = folded.count > 0
                    continue
                default: break
                }
                if spaceIsDue { folded.append(UInt8(ascii: " ")) }
                spaceIsDue = false
                folded.append(byte >= 0x41 && byte <= 0x5A ? byte | 0x20 : byte)
            }
        }
    }

    /// How sure it is that two entries are one book, the surest first. Two copies on a shelf have equal keys, and two editions
    /// may share an ISBN: each entry is paired with the entry that is most like it.
    package enum Likeness: CaseIterable, Sendable {
        case equal
        /// The ISBNs are equal.
        case number
        /// One has no ISBN; titles and authors are equal.
        case words
    }

    package func isSame(as other: BookKey, by likeness: Likeness) -> Bool {
        switch likeness {
        case .equal: self == other
        case .number: self.isbn != nil && self.isbn == other.isbn
        case .words: (self.isbn == nil) != (other.isbn == nil) && self.words == other.words
        }
    }

    /// The number of different books among these.
    package static func different(_ keys: [BookKey]) -> Int {
        guard keys.count > Self.comparedMax else {
            return keys.indices.count { index in
                !keys[..<index].contains { $0.isSame(as: keys[index]) }
            }
        }
        var (numbers, words, bareWords): (Set<String>, Set<String>, Set<String>) = ([], [], [])
        var count = 0
        for key in keys {
            if let number = key.isbn {
                if !numbers.contains(number), !bareWords.contains(key.words) { count += 1 }
                numbers.insert(number)
                words.insert(key.words)
            } else if bareWords.insert(key.words).inserted, !words.contains(key.words) {
                count += 1
            }
        }
        return count
    }

    /// Up to this many keys, comparing each with each is faster than hashing.
    static let comparedMax = 12

    /// Whether it is the same book, by any likeness.
    package func isSame(as other: BookKey) -> Bool {
        if let number = self.isbn, let otherNumber = other.isbn { return number == otherNumber }
        return self.words == other.words
    }
}

/// Pairs the books of an answer with those that a library has, each with one at most: of two copies in an answer, a library that
/// has one lacks the other.
package struct BookPairs: Sendable {
    private enum Name: Hashable {
        case key(BookKey)
        case number(String)
        /// Of books with an ISBN, and of books without one.
        case words(String), bareWords(String)
    }

    private var places: [Name: [Int]] = [:]
    private var isTaken: [Bool] = []

    private init(_ library: [BookKey]) {
        self.isTaken = Array(repeating: false, count: library.count)
        for (place, key) in library.enumerated().reversed() {
            self.places[.key(key), default: []].append(place)
            if let number = key.isbn { self.places[.number(number), default: []].append(place) }
            self.places[key.isbn == nil ? .bareWords(key.words) : .words(key.words), default: []]
                .append(place)
        }
    }

    /// Returns, for each book of the answer, whether the library has it.
    package static func known(_ answer: [Book], in library: [Book]) -> [Bool] {
        var pairs = BookPairs(library.map(BookKey.init))
        let keys = answer.map(BookKey.init)
        var known = [Bool](repeating: false, count: keys.count)
        for likeness in BookKey.Likeness.allCases {
            for index in keys.indices where !known[index] {
                known[index] = pairs.take(keys[index], by: likeness)
            }
        }
        return known
    }

    private mutating func take(_ key: BookKey, by likeness: BookKey.Likeness) -> Bool {
        let name: Name
        switch likeness {
        case .equal: name = .key(key)
        case .number:
            guard let number = key.isbn else { return false }
            name = .number(number)
        case .words: name = key.isbn == nil ? .words(key.words) : .bareWords(key.words)
        }
        while let place = self.places[name]?.popLast() {
            guard !self.isTaken[place] else { continue }
            self.isTaken[place] = true
            return true
        }
        return false
    }
}
