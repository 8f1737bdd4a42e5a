import SimBase
import Testing

@testable import Talaria

/// The rules of seed 002, US-B1, each row by hand.
@Suite struct ReconciliationTests {
    /// A text of the phone, one of the backend, its confidence, and whose is taken.
    private static let rows: [(read: String, verified: String, confidence: Double, taken: Source)] = [
        // The example of the seed: an author who matches, and a title that does not match its own verified form.
        ("George Orwell", "George Orwell", 0.95, .talaria),
        ("1984", "Nineteen Eighty-Four", 0.95, .foundationModels),
        // Confusable letters, a dropped word, another case, another normal form.
        ("Nineteen Eighty-F0ur", "Nineteen Eighty-Four", 0.95, .talaria),
        ("Nineteen", "Nineteen Eighty-Four", 0.99, .foundationModels),
        ("The Hobbit", "The Hobbit, or There and Back Again", 1, .foundationModels),
        ("EMMA", "Emma", 0.95, .foundationModels),
        ("Les Mise\u{301}rables", "Les Misérables", 0.95, .talaria),
        // Exactly 0.8, just above, just below.
        ("Emmas", "Emmaz", 0.95, .foundationModels), ("Emma S", "Emma Z", 0.95, .talaria),
        ("Emma", "Emmy", 0.95, .foundationModels), ("0123456789", "012345678xy", 0.95, .talaria),
        ("0123456789", "01234567xyz", 0.95, .foundationModels),
        ("Nineteen Eighty-F0ur1", "Nineteen Eighty_four.", 0.95, .talaria),
        // Exactly 0.9, just above, just below.
        ("Dracu1a by Stoker", "Dracula by Stoker", 0.9, .foundationModels),
        ("Dracu1a by Stoker", "Dracula by Stoker", 0.900_001, .talaria),
        ("Dracu1a by Stoker", "Dracula by Stoker", 0.899_999, .foundationModels),
        // Nothing was read, nothing was found, neither.
        ("", "Emma", 1, .foundationModels), ("Emma", "", 1, .foundationModels), ("", "", 1, .talaria),
        ("", "", 0.5, .foundationModels),
        // Too long to be compared.
        (longest, longest + "z", 1, .foundationModels), (longest + "z", longest, 1, .foundationModels),
        (longest, String(longest.dropLast()) + "z", 1, .talaria),
    ]
    private typealias Source = Reconciliation.Source
    private static let longest = String(repeating: "a", count: 500)

    private func found(_ title: String, _ author: String, _ confidence: Double) -> Enrichment {
        Enrichment(verifiedTitle: title, verifiedAuthor: author, confidence: confidence)
    }

    private func reading(_ title: String, _ author: String) -> BookReading {
        BookReading(title: title, author: author, isbn: nil, text: title + author, confidence: 0.7)
    }

    @Test(arguments: rows.indices) func `each field has the text of one side`(index: Int) {
        let (read, verified, confidence, taken) = Self.rows[index]
        let text = taken == .talaria ? verified : read
        let similarity = Levenshtein.similarity(read, verified)
        // The other field differs, and is not taken.
        for field in Reconciliation.Field.allCases {
            func placed(_ text: String, _ other: String) -> (String, String) {
                field == .title ? (text, other) : (other, text)
            }
            let (readTitle, readAuthor) = placed(read, "phone")
            let (title, author) = placed(verified, "backend")
            let book = Reconciliation(
                reading: self.reading(readTitle, readAuthor),
                enrichment: self.found(title, author, confidence))
            #expect((book.title, book.author) == placed(text, "phone"))
            #expect(Array(book.title.utf8) == Array(placed(text, "phone").0.utf8))
            #expect(book.source == (confidence > 0.9 ? .talaria : .foundationModels))
            let expected =
                read == verified
                ? nil
                : Reconciliation.Discrepancy(
                    field: field, read: read, verified: verified, similarity: similarity, taken: taken)
            #expect(book.discrepancies.first { $0.field == field } == expected)
            #expect(
                book.discrepancies.map(\.field)
                    == Reconciliation.Field.allCases.filter {
                        $0 != field || expected != nil
                    })
        }
    }

    @Test func `both fields are decided on their own`() {
        let reading = self.reading("Nineteen Eighty-F0ur", "G. Orwell")
        let book = Reconciliation(
            reading: reading, enrichment: self.found("Nineteen Eighty-Four", "George Orwell", 0.95))
        #expect(book.title == "Nineteen Eighty-Four" && book.author == "G. Orwell")
        #expect(book.discrepancies.map(\.taken) == [.talaria, .foundationModels])
        #expect(book.discrepancies.map(\.similarity?.distance) == [1, 5])
        #expect(book.discrepancies.map(\.similarity?.length) == [20, 13])
    }

    @Test(arguments: [(0.95, 0.6, 0.95), (0.6, 0.95, 0.95), (0.92, 0.94, 0.94), (0, 0, 0)])
    func `the larger confidence is kept, and that of the backend names the source`(
        read: Double, found: Double, larger: Double
    ) {
        var reading = self.reading("Emma", "Jane Austen")
        reading.confidence = read
        let book = Reconciliation(reading: reading, enrichment: self.found("Emma", "Jane Austen", found))
        #expect(book.confidence == larger)
        #expect(book.source == (found == 0.95 || found == 0.94 ? .talaria : .foundationModels))
        #expect(book.discrepancies.isEmpty)
    }

    @Test(arguments: [0.5, 0.95]) func `the ISBN is that of the phone, and the rest is new`(
        confidence: Double
    ) {
        var reading = self.reading("Emma", "Jane Austen")
        var found = self.found("Emma", "Jane Austen", confidence)
        #expect(Reconciliation(reading: reading, enrichment: found).isbn == "")
        reading.isbn = "978-0-451-52493-5"
        found.coverUrl = "https://covers.openlibrary.org/1.jpg"
        found.publisher = "Penguin Books"
        found.publicationYear = 1949
        let book = Reconciliation(reading: reading, enrichment: found)
        #expect(book.isbn == "978-0-451-52493-5" && book.coverUrl == "https://covers.openlibrary.org/1.jpg")
        #expect(book.publisher == "Penguin Books" && book.publicationYear == 1949)
    }
}
