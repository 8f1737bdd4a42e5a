import CSV
import Observations
import SimBase
import Talaria

// book.answered: what a phone has asked for is what comes. Of a backend that nobody observes, this is all there is to hold its books
// against.

extension PhoneAccount {
    /// Books that one complaint names.
    private static let namesMax = 5

    /// The book of a look-up is the one whose barcode was asked for; those of a batch are judged together.
    mutating func judgeAnswer(
        _ book: Book, toScan index: Int, at: Instant, into findings: inout Findings
    ) {
        if self.journey == .batchEnrichment { self.scans[index].answered.append(book) }
        guard let barcode = self.scans[index].lookupKey.flatMap(EnrichmentRequest.barcode(ofKey:)),
            let asked = ISBN(barcode), let number = book.isbn, ISBN(number) != asked
        else { return }
        findings.violate(
            .bookAnswered, device: self.device, scan: self.scans[index].number, at: at,
            "the book \(barcode) was asked for, and \(number.bounded) came (\"\(book.title.bounded)\")")
    }

    /// The books of a batch may come in any order. A scan of an earlier run may have asked for others than this run's shelf has.
    mutating func judgeBatch(
        at index: Int, _ moment: Instant, rules: Rules, into findings: inout Findings
    ) {
        let scan = self.scans[index]
        self.scans[index].answered = []
        guard self.journey == .batchEnrichment, !scan.isInherited else { return }
        let asked = rules.shelf.books(device: self.device, scan: scan.number)
        let came = BookSet(scan.answered)
        // One that was durable before a kill, and that nobody has told of, comes again and is not shown.
        let missing = asked.indices.filter { ordinal in
            let isRepeated = scan.repeated.contains(ordinal) && !scan.added.contains(ordinal)
            return !came.contains(asked[ordinal]) && !isRepeated
        }
        if !missing.isEmpty {
            findings.violate(
                .bookAnswered, device: self.device, scan: scan.number, at: moment,
                "\(missing.count) of the \(asked.count) books that the batch asked for never came: \(Self.names(missing.map { asked[$0] }))"
            )
        }
        let wanted = BookSet(asked)
        let others = scan.answered.filter { !wanted.contains($0) }
        guard !others.isEmpty else { return }
        findings.violate(
            .bookAnswered, device: self.device, scan: scan.number, at: moment,
            "of the books that came, the batch had not asked for \(others.count): \(Self.names(others))")
    }

    private static func names(_ books: [Book]) -> String {
        let names = books.prefix(Self.namesMax).map { book in
            "\"\(book.title.bounded)\"" + (book.isbn.map { " (\($0.bounded))" } ?? "")
        }
        let more = books.count - names.count
        return names.joined(separator: ", ") + (more > 0 ? " and \(more) more" : "")
    }
}

/// Books by what identifies one: its ISBN, in either form, or its title, since an edition may have another number.
private struct BookSet {
    private var numbers: Set<ISBN> = []
    private var titles: Set<String> = []

    init(_ books: [Book]) {
        for book in books {
            if let number = book.isbn.flatMap(ISBN.init) { self.numbers.insert(number) }
            self.titles.insert(book.title.lowercased())
        }
    }

    func contains(_ book: Book) -> Bool {
        if let number = book.isbn.flatMap(ISBN.init), self.numbers.contains(number) { return true }
        return self.titles.contains(book.title.lowercased())
    }
}
