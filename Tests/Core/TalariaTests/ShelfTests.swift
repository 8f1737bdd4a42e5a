import SimBase
import Talaria
import Testing

@Suite struct ShelfTests {
    private let shelf = Shelf(seed: 42, booksMin: 3, booksMax: 8)

    @Test func `a scan always shows the same books`() {
        #expect(
            self.shelf.books(device: DeviceNumber(1), scan: ScanNumber(2))
                == self.shelf.books(device: DeviceNumber(1), scan: ScanNumber(2)))
    }

    @Test func `every count of the range occurs and none outside it`() {
        let counts = Set((0..<500).map { self.shelf.count(device: DeviceNumber($0), scan: ScanNumber(1)) })
        #expect(counts == Set(3...8))
    }

    @Test func `no two books of the fleet have the same title`() {
        var titles = Set<String>()
        var books = 0
        for device in 0..<50 as Range<UInt32> {
            for scan in 1...3 as ClosedRange<UInt32> {
                for book in self.shelf.books(device: DeviceNumber(device), scan: ScanNumber(scan)) {
                    titles.insert(book.title)
                    books += 1
                }
            }
        }
        #expect(titles.count == books)
    }

    @Test func `an ISBN has thirteen digits and its check digit holds`() {
        var seen = 0
        for device in 0..<40 as Range<UInt32> {
            for book in self.shelf.books(device: DeviceNumber(device), scan: ScanNumber(1)) {
                guard let isbn = book.isbn else { continue }
                let digits = isbn.utf8.map { Int($0) - 48 }
                let sum = digits.enumerated().reduce(0) {
                    $0 + $1.element * ($1.offset.isMultiple(of: 2) ? 1 : 3)
                }
                #expect(digits.count == 13 && isbn.hasPrefix("978") && sum.isMultiple(of: 10))
                seen += 1
            }
        }
        #expect(seen > 100)
    }

    @Test func `some titles are beyond ASCII, so that cuts inside a character have somewhere to land`() {
        let titles = (0..<40 as Range<UInt32>).flatMap {
            self.shelf.books(device: DeviceNumber($0), scan: ScanNumber(1)).map(\.title)
        }
        #expect(titles.contains { $0.utf8.count > $0.unicodeScalars.count })
    }

    @Test func `what is asked for by barcode has one`() {
        var shelf = self.shelf
        shelf.exceptions = [
            Shelf.Exception(devices: 0...9, stock: .barcodes),
            Shelf.Exception(devices: 10...29, stock: .oneBarcode),
            Shelf.Exception(devices: 30...30, stock: .none),
        ]
        for lookup in [Shelf.Lookup.contract, .spines, .openAPI] {
            shelf.lookup = lookup
            for device in (0...9).map({ DeviceNumber($0) }) {
                let books = shelf.books(device: device, scan: ScanNumber(1))
                #expect(books.count == self.shelf.count(device: device, scan: ScanNumber(1)))
                #expect(books.allSatisfy { $0.isbn?.utf8.count == 13 })
                #expect(shelf.barcode(device: device, scan: ScanNumber(1)) == nil)
            }
        }
        shelf.lookup = .contract
        let counts = (10...29).flatMap { device in
            (1...20).map { shelf.count(device: DeviceNumber(device), scan: ScanNumber($0)) }
        }
        #expect(Set(counts) == [0, 1] && (5...40).contains(counts.count { $0 == 0 }))
        let barcodes = (1...20).compactMap { shelf.barcode(device: DeviceNumber(10), scan: ScanNumber($0)) }
        #expect(Set(barcodes).count == 20, "one that no provider knows is scanned as well")
        shelf.exceptions = [Shelf.Exception(devices: 10...10, stock: .oneBarcode, repeats: .percent(50))]
        let again = (1...100).compactMap { shelf.barcode(device: DeviceNumber(10), scan: ScanNumber($0)) }
        #expect(again.first == barcodes.first && (30...70).contains(Set(again).count))
        shelf.exceptions = [Shelf.Exception(devices: 30...30, stock: .none)]
        #expect(shelf.count(device: DeviceNumber(30), scan: ScanNumber(1)) == 0)
        #expect(
            shelf.books(device: DeviceNumber(31), scan: ScanNumber(1))
                == Shelf(seed: 42, booksMin: 3, booksMax: 8).books(
                    device: DeviceNumber(31), scan: ScanNumber(1)))
    }

    // MARK: Statuses, confidence and details

    private func manyBooks(_ change: (inout Shelf) -> Void) -> [Book] {
        var shelf = Shelf(seed: 42, booksMin: 10, booksMax: 10)
        change(&shelf)
        return (0..<200 as Range<UInt32>).flatMap {
            shelf.books(device: DeviceNumber($0), scan: ScanNumber(1))
        }
    }

    @Test func `statuses have their shares, and the rest has its own`() {
        let books = self.manyBooks {
            $0.statuses.reviewNeeded = .percent(30)
            $0.statuses.circuitOpen = .percent(10)
        }
        let plain = self.manyBooks { _ in }
        #expect((540...660).contains(books.count { $0.enrichmentStatus == .reviewNeeded }))
        #expect((150...250).contains(books.count { $0.enrichmentStatus == .circuitOpen }))
        for (book, plain) in zip(books, plain) {
            switch book.enrichmentStatus {
            case .reviewNeeded:
                #expect(
                    book.title == plain.title && book.isbn == plain.isbn && book.coverUrl == plain.coverUrl)
            case .circuitOpen: #expect(book == plain.degraded)
            default: #expect(book == plain)
            }
        }
    }

    @Test func `each status can be that of all books, in every dialect`() {
        let paths: [(WritableKeyPath<StatusShares, Odds>, EnrichmentStatus)] = [
            (\.success, .success), (\.pending, .pending), (\.notFound, .notFound), (\.error, .error),
            (\.reviewNeeded, .reviewNeeded), (\.circuitOpen, .circuitOpen),
        ]
        for lookup in [Shelf.Lookup.contract, .spines, .openAPI] {
            for (path, status) in paths {
                let books = self.manyBooks {
                    $0.lookup = lookup
                    $0.statuses[keyPath: path] = .always
                }
                #expect(books.allSatisfy { $0.enrichmentStatus == status })
            }
        }
    }

    @Test func `confidence is drawn from its whole range, and changes nothing else`() {
        for lookup in [Shelf.Lookup.contract, .spines] {
            let books = self.manyBooks { ($0.lookup, $0.confidence) = (lookup, 0...4) }
            #expect(Set(books.map(\.confidence)) == [0, 0.001, 0.002, 0.003, 0.004])
            let plain = self.manyBooks { $0.lookup = lookup }
            #expect(
                plain.map(\.title) == books.map(\.title) && plain.map(\.isbn) == books.map(\.isbn)
                    && plain.map(\.enrichmentStatus) == books.map(\.enrichmentStatus))
        }
    }

    @Test func `details are those of a book that was found, and fit the contract`() throws {
        let books = self.manyBooks { _ in }
        #expect(books.allSatisfy { ($0.coverUrl == nil) == (BookDetails(of: $0) == nil) })
        let details = books.compactMap(BookDetails.init)
        #expect(Set(details.map(\.format)) == Set(BookDetails.formats))
        #expect(Set(details.map(\.publisher)).count > 4)
        #expect(details.allSatisfy { (80..<1_280).contains($0.pageCount) })
        for detail in details {
            let date = detail.publishedDate.split(separator: "-").compactMap { Int($0) }
            #expect(date.count == 3 && detail.publishedDate.utf8.count == 10)
            #expect(
                (1_900...2_024).contains(date[0]) && (1...12).contains(date[1]) && (1...28).contains(date[2]))
        }
    }
}
