import JSON
import SimBase
import Talaria

/// The books of one answer.
struct TrialBooks: Sendable {
    private struct Entry: Sendable {
        var book: Book
        var key: BookKey
        /// Whether its title and author are those of a book, and not missing.
        var isNamed: Bool
    }

    private var entries: [Entry]

    var count: Int { self.entries.count }

    /// Nil for anything but an array of objects.
    init?(_ array: JSONNode?) {
        guard let array, array.kind == .array else { return nil }
        let nodes = array.elements
        guard nodes.allSatisfy({ $0.kind == .object }) else { return nil }
        self.entries = nodes.map(Self.entry)
    }

    /// The book of a `result` event, in either form.
    init?(ofResult node: JSONNode?) {
        guard let node, node.kind == .object else { return nil }
        self.entries = [Self.entry(node["book"] ?? node)]
        guard self.entries[0].isNamed else { return nil }
    }

    /// Adds the books of another answer, up to so many.
    mutating func add(_ others: TrialBooks, max: Int) {
        self.entries += others.entries.prefix(Swift.max(0, max - self.count))
    }

    /// A digest of the titles and the authors, in their order.
    var digest: UInt64 {
        var digest = Digest()
        for entry in self.entries {
            digest.absorbInWords(entry.book.title)
            digest.absorbInWords(entry.book.author)
        }
        return digest.value
    }

    /// The ISBNs, as they were sent.
    var isbns: [String] { self.entries.compactMap(\.book.isbn) }

    /// The title of the first book that is there twice, with all its data; nil if none is.
    var repeatedTitle: String? {
        self.entries.enumerated().first { index, entry in
            self.entries[..<index].contains { $0.book == entry.book }
        }?.element.book.title
    }

    /// The first of these books that is not among the books of an answer, however often either has it.
    func firstMissing(in answer: TrialBooks) -> String? {
        self.entries.first { shown in
            !answer.entries.contains { entry in
                BookKey.Likeness.allCases.contains { shown.key.isSame(as: entry.key, by: $0) }
            }
        }?.book.title
    }

    private static func entry(_ node: JSONNode) -> Entry {
        let author =
            node["author"]?.text
            ?? node["authors"].map { $0.elements.compactMap(\.text).joined(separator: ", ") }
        let book = Book(
            title: node["title"]?.text ?? "", author: author ?? "", isbn: node["isbn"]?.text, confidence: nil,
            enrichmentStatus: node["enrichmentStatus"]?.text.map { EnrichmentStatus(text: $0) },
            coverUrl: node["coverUrl"]?.text)
        return Entry(book: book, key: BookKey(book), isNamed: node["title"]?.text != nil)
    }

    /// What programs write for a value that is not there.
    private static let words = ["null", "undefined", "None", "nil", "NaN"]

    /// Says what is wrong with the first text that was written in a wrong way; nil if none was.
    var signOfWrongText: String? {
        for entry in self.entries {
            for text in [entry.book.title, entry.book.author] {
                if let sign = TextSigns.sign(in: text) { return "“\(text.bounded)” has \(sign)" }
            }
            for (name, text) in [("ISBN", entry.book.isbn), ("cover", entry.book.coverUrl)] {
                guard let text, Self.words.contains(text) else { continue }
                return "the \(name) of “\(entry.book.title.bounded)” is the word “\(text)”"
            }
        }
        return nil
    }

    /// Says what an answer has that differs from an earlier one of the same job; nil if nothing does.
    func difference(from earlier: TrialBooks) -> String? {
        guard self.count == earlier.count else {
            return "\(self.count == 1 ? "1 book" : "\(self.count) books") in place of \(earlier.count)"
        }
        let known = BookPairs.known(self.entries.map(\.book), in: earlier.entries.map(\.book))
        if let odd = known.firstIndex(of: false) {
            return "no book “\(self.entries[odd].book.title.bounded)”"
        }
        if let change = self.change(from: earlier) { return change }
        for entry in self.entries {
            guard let number = entry.key.isbn,
                let before = earlier.entries.first(where: { $0.key.isbn == number })
            else { continue }
            let isOnly = earlier.entries.count { $0.key.isbn == number } == 1
            if isOnly, entry.isNamed, before.isNamed, entry.key.words != before.key.words {
                return
                    "“\(before.book.title.bounded)” with the ISBN \(number), and “\(entry.book.title.bounded)” now"
            }
            if isOnly, entry.book.enrichmentStatus == .pending, let status = before.book.enrichmentStatus,
                status != .pending
            {
                return "“\(before.book.title.bounded)” \(status.text.bounded), and pending now"
            }
        }
        return nil
    }
    /// A book with the same title and author has the same letters in them, and keeps its ISBN.
    private func change(from earlier: TrialBooks) -> String? {
        for entry in self.entries where entry.isNamed {
            let words = entry.key.words
            let same = earlier.entries.filter { $0.isNamed && $0.key.words == words }
            guard same.count == 1, let before = same.first,
                self.entries.count(where: { $0.key.words == words }) == 1
            else { continue }
            if Array(entry.book.title.utf8) != Array(before.book.title.utf8) {
                return
                    "the title “\(before.book.title.bounded)” is written in another way: “\(entry.book.title.bounded)”"
            }
            if before.book.isbn != nil, entry.book.isbn == nil {
                return "“\(before.book.title.bounded)” has lost its ISBN"
            }
        }
        return nil
    }
}
