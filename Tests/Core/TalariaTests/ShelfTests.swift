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
}
