package import CSV
import Phone
package import SimBase
package import Talaria

/// The library files of a group that imports them: a pure function of (seed, device, number of the scan).
package struct LibraryFiles: Hashable, Sendable {
    /// What a file contains, but for its number of rows.
    package var spec = LibrarySpec()
    /// Drawn for each file, uniformly.
    package var rows: ClosedRange<Int> = 20...200
    /// Files that are none, of any kind.
    package var unreadable = Odds.never

    package init() {}

    /// The most bytes of a row without its note, with all fields in quotes.
    private static let rowBytesMax = 160

    /// The most bytes of a row: each byte of a note may be a quote, which is written twice.
    package var rowBytesMax: Int { Self.rowBytesMax + 2 * (self.spec.noteBytes?.upperBound ?? 0) }

    /// The most bytes that the backend holds of a file, at first of the form that it comes in, then of its rows.
    var heldBytesMax: Int {
        max(
            (self.rows.upperBound + 1) * self.rowBytesMax + Self.formBytesMax,
            self.rows.upperBound * (Self.rowBytesMax * 3 / 2 + Self.readRowBytesMax))
    }

    /// What multipart adds to a file.
    private static let formBytesMax = 1_024
    /// The size of a row without its texts while it is imported.
    private static let readRowBytesMax = 512

    /// The file of one scan.
    package func file(
        seed: UInt64, device: DeviceNumber, scan: ScanNumber
    ) -> (bytes: [UInt8], content: LibraryContent) {
        let random = KeyedRandom(seed: seed)
        func draw(_ part: UInt64) -> UInt64 {
            random.draw(.library, UInt64(device.raw), UInt64(scan.raw), .max - part)
        }
        if self.unreadable.happens(draw(0)) {
            let kinds = Self.unreadableKinds
            return (kinds[Int(draw(1) % UInt64(kinds.count))].bytes, .unreadable)
        }
        var spec = self.spec
        spec.rows = self.rows.lowerBound + Int(draw(2) % UInt64(self.rows.count))
        let file = LibraryFile(spec, random, device: device, number: scan.raw)
        return (file.bytes, .rows(file.rows.count))
    }

    /// Those that are small. The others are refused for their size alone.
    private static let unreadableKinds = BadLibrary.allCases.filter { $0 != .tooLarge && $0 != .tooManyRows }
}

extension RunPlan {
    /// The most bytes of documents that the fleet can have under way at once: one for each slot of each phone.
    package var documentBytesMax: Int {
        self.groups.reduce(0) { sum, group in
            let bytes =
                switch group.profile.journey.payload {
                case .photos: 0
                case .json: BatchRequest.booksMax * Self.bookBytesMax
                case .file: (group.spec.library ?? LibraryFiles()).heldBytesMax
                }
            return sum + group.spec.devices * group.profile.stream.slots * bytes
        }
    }

    /// Title, author and ISBN of a book on a shelf, as JSON.
    private static let bookBytesMax = 512
}

/// What a phone without photos uploads.
package struct UploadDocument: Sendable {
    package let bytes: [UInt8]
    /// What a library file contains; nil for a batch.
    package let file: LibraryContent?
    /// What is scanned for the look-up of a single book; the phone writes the document itself.
    package let barcode: String?
    /// What the phone reads on a spine, likewise, and how long that takes.
    package let reading: BookReading?
    package let took: Interval?

    /// - Parameter shelf: The books of a batch.
    /// - Parameter files: Nil for a batch.
    package init(shelf: Shelf, files: LibraryFiles?, device: DeviceNumber, scan: ScanNumber) {
        self.barcode = shelf.barcode(device: device, scan: scan)
        self.reading = shelf.reading(device: device, scan: scan)
        self.took = self.reading.map { _ in shelf.readingTime(device: device, scan: scan) }
        if let files {
            (self.bytes, self.file) = files.file(seed: shelf.seed, device: device, scan: scan)
        } else {
            self.bytes =
                self.reading.map { TextRequest($0).body } ?? self.barcode.map { Array($0.utf8) }
                ?? shelf.batchBody(device: device, scan: scan)
            self.file = nil
        }
    }
}
