import CSV
import Observations
import SimBase
import Talaria

// book.answered: the book that a phone has asked for is the one that arrives. For a backend that is not
// observed, this is all that its books can be compared with.

extension PhoneAccount {
    /// Books that one complaint names.
    private static let namesMax = 5

    /// The book of a look-up is the one whose barcode was asked for; those of a batch are judged together.
    mutating func judgeAnswer(_ book: Book, toScan index: Int, at: Instant, _ fleet: inout LedgerFleet) {
        if self.journey == .batchEnrichment { self.scans[index].answered.append(book) }
        guard let barcode = self.scans[index].lookupKey.flatMap(EnrichmentRequest.barcode(ofKey:)),
            let asked = ISBN(barcode), let number = book.isbn, ISBN(number) != asked
        else { return }
        self.violate(
            .bookAnswered, self.scans[index].number, at: at, &fleet,
            "the book \(barcode) was asked for, and \(number.bounded) came (\"\(book.title.bounded)\")")
    }

    /// The event at the end of a batch was applied. One that a fault of the run has made unreadable may have counted failures.
    mutating func batchEnded(_ scan: ScanNumber, job: String, kind: EventKind, inline: InlineBooksForm) {
        guard self.journey == .batchEnrichment, kind == .completed else { return }
        let isGarbled =
            inline == .undecodable
            && self.jobIndex(job, of: scan).map { self.jobs[$0].stream.isGarbled } == true
        self.updateScan(scan) { $0.batchEnd = isGarbled ? .garbled : .silent }
    }

    /// The books of a batch may come in any order. A scan of an earlier run may have asked for others than this run's shelf has.
    ///
    /// Books that never came are named in the totals, and are not a violation, as far as the backend counts
    /// them as failures.
    mutating func judgeBatch(at index: Int, _ moment: Instant, _ fleet: inout LedgerFleet) {
        let scan = self.scans[index]
        self.scans[index].answered = []
        guard self.journey == .batchEnrichment, !scan.isInherited else { return }
        let asked = fleet.shelf.books(device: self.device, scan: scan.number)
        let came = BookSet(scan.answered)
        let missing = asked.filter { !came.contains($0) }
        let admitted = scan.batchEnd.admitted(of: asked.count)
        fleet.count(in: self.group) { $0.books.asked += asked.count }
        if scan.batchEnd.excuses(missing.count, of: asked.count, answered: scan.answered) == false {
            self.violate(
                .bookAnswered, scan.number, at: moment, &fleet,
                "\(missing.count) of the \(asked.count) books that the batch asked for never came"
                    + (admitted > 0 ? ", and the backend counts \(admitted) as failures" : "")
                    + ": \(Self.names(missing))")
        } else if !missing.isEmpty {
            fleet.count(in: self.group) {
                if scan.batchEnd == .garbled {
                    $0.books.unjudged += missing.count
                } else {
                    $0.books.unknown += missing.count
                }
                for book in missing { $0.books.name(absent: Self.name(book)) }
            }
        }
        let wanted = BookSet(asked)
        let others = scan.answered.filter { !wanted.contains($0) }
        guard !others.isEmpty else {
            guard scan.answered.count > asked.count else { return }
            return self.violate(
                .bookAnswered, scan.number, at: moment, &fleet,
                "\(scan.answered.count) books came of a batch that asked for \(asked.count)")
        }
        self.violate(
            .bookAnswered, scan.number, at: moment, &fleet,
            "of the books that came, the batch had not asked for \(others.count): \(Self.names(others))")
    }

    private static func names(_ books: [Book]) -> String {
        let names = books.prefix(Self.namesMax).map(Self.name)
        let more = books.count - names.count
        return names.joined(separator: ", ") + (more > 0 ? " and \(more) more" : "")
    }

    private static func name(_ book: Book) -> String {
        "\"\(book.title.bounded)\"" + (book.isbn.map { " (\($0.bounded))" } ?? "")
    }
}

extension BatchEnd {
    /// How many of the books of a batch the backend counts as failures. What it counts as found has to come, whatever it counts
    /// as failures.
    fileprivate func admitted(of asked: Int) -> Int {
        switch self {
        case .silent, .garbled: 0
        case .counted(let failures):
            max(0, min(failures.failed, asked - min(asked, failures.total - failures.failed)))
        }
    }

    /// Whether books that never came are not a violation; nil if it cannot be known.
    ///
    /// - Parameter asked: The number of books that were asked for.
    /// - Parameter books: Those that came. Some backends count one that comes as not found among the failures, and others do not.
    fileprivate func excuses(_ missing: Int, of asked: Int, answered books: [Book]) -> Bool? {
        guard missing > 0 else { return true }
        guard self != .garbled else { return nil }
        let admitted = self.admitted(of: asked)
        let told = books.count { $0.enrichmentStatus == .notFound || $0.enrichmentStatus == .error }
        return missing <= admitted - told || missing == admitted
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
