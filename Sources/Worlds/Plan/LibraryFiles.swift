package import CSV
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

/// What a phone without photos uploads.
package struct UploadDocument: Sendable {
    package let bytes: [UInt8]
    /// What a library file contains; nil for a batch.
    package let file: LibraryContent?

    /// - Parameter shelf: The books of a batch.
    /// - Parameter files: Nil for a batch.
    package init(shelf: Shelf, files: LibraryFiles?, device: DeviceNumber, scan: ScanNumber) {
        guard let files else {
            self.bytes = shelf.batchBody(device: device, scan: scan)
            self.file = nil
            return
        }
        (self.bytes, self.file) = files.file(seed: shelf.seed, device: device, scan: scan)
    }
}
