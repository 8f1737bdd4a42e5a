import CSV
import Metrics
import Observations
import SimBase
import Talaria

// Imports and look-ups: the counts of the backend are compared with the file that was sent, and what a phone
// reads of an answer with what the backend said of it.

/// The imports of one phone, recounted from its files.
struct HarnessImports: Sendable {
    /// An import from its 202 until its end.
    private struct Running: Sendable {
        let job: String
        /// What each row of its file is known by: 0 for one with a flaw.
        let rows: [UInt64]
        /// The number of imports that had ended before it began.
        let endsBefore: Int
    }

    private static let filesMax = 64
    private static let runningMax = 24
    /// More books of one phone are not followed.
    private static let booksMax = 1 << 17

    /// The rows of the latest files that were prepared.
    private var files: [(scan: ScanNumber, rows: Int)] = []
    private var running: [Running] = []
    private var ends = 0
    /// Books that ended imports have brought, with the number of the import that brought each first.
    private var brought: [UInt64: Int] = [:]
    /// Books of all imports that began, with the number of these.
    private var offered: [UInt64: Int] = [:]

    var remembered: Int { self.files.count + self.running.count }

    mutating func prepared(_ scan: ScanNumber, _ file: LibraryContent) {
        self.files.removeAll { $0.scan == scan }
        guard let rows = file.rows else { return }
        self.files.append((scan, rows), max: Self.filesMax)
    }

    /// An import of the file of a scan begins.
    mutating func began(
        _ job: String, _ scan: ScanNumber, by device: DeviceNumber, _ spec: LibrarySpec, seed: UInt64
    ) {
        guard let count = self.files.last(where: { $0.scan == scan })?.rows else { return }
        var spec = spec
        spec.rows = count
        guard spec.objection == nil else { return }
        let file = LibraryFile(spec, KeyedRandom(seed: seed), device: device, number: scan.raw)
        let rows = file.rows.enumerated().map { Self.key(of: $1, scan, row: $0) }
        self.running.append(Running(job: job, rows: rows, endsBefore: self.ends), max: Self.runningMax)
        guard self.offered.count < Self.booksMax else { return }
        var books: Set<UInt64> = [0]
        for key in rows where books.insert(key).inserted { self.offered[key, default: 0] += 1 }
    }

    /// A book is known by its ISBN. One without has a title that no other row of any file has.
    private static func key(of row: LibraryFile.Row, _ scan: ScanNumber, row index: Int) -> UInt64 {
        if row.kind == .withoutISBN { return 1 << 63 | UInt64(scan.raw) << 31 | UInt64(index) }
        return ISBN(row.isbn).flatMap { UInt64($0.digits) } ?? 0
    }

    /// An import ended.
    ///
    /// - Returns: What is wrong with the counts of its backend; nil if nothing is, or if the file or the import is not followed.
    mutating func ended(_ job: String, _ counts: RowCounts, hasRoom: Bool) -> String? {
        guard let index = self.running.lastIndex(where: { $0.job == job }) else { return nil }
        let running = self.running.remove(at: index)
        defer { self.ends += 1 }
        guard running.rows.count == counts.total else { return nil }  // Judged by rows.conserved.
        var books: Set<UInt64> = []
        var (failed, skipped, known, possible) = (0, 0, 0, 0)
        for key in running.rows.prefix(counts.total - counts.pending) {
            if key == 0 {
                failed += 1
            } else if !books.insert(key).inserted {
                skipped += 1
            } else {
                if let end = self.brought[key], end < running.endsBefore { known += 1 }
                if self.offered[key, default: 0] > 1 { possible += 1 }
                if self.brought[key] == nil { self.brought[key] = self.ends }
            }
        }
        if counts.failed != failed || counts.skipped != skipped {
            return
                "an import counts \(counts.failed) rows as failed and \(counts.skipped) as skipped, but of its file \(failed) have a flaw and \(skipped) repeat an earlier one"
        }
        guard self.offered.count < Self.booksMax else { return nil }
        let isShort = hasRoom && counts.updated < known
        guard isShort || counts.updated > possible else { return nil }
        return
            "an import counts \(counts.updated) books as updated, but earlier imports have brought \(isShort ? "\(known)" : "at most \(possible)") of them"
    }
}

extension HarnessPhone {
    mutating func importBegan(_ job: String, _ scan: ScanNumber, _ fleet: inout HarnessFleet) {
        guard let spec = self.library, self.isWatched else { return }
        let device = self.device
        self.imports.began(job, scan, by: device, spec, seed: fleet.shelf.seed)
    }

    mutating func filePrepared(_ scan: ScanNumber, _ file: LibraryContent, _ fleet: inout HarnessFleet) {
        fleet.rowsPrepared += file.rows ?? 0
        guard fleet.server != nil, self.isWatched else { return }
        self.imports.prepared(scan, file)
    }

    /// Each row of a file has one outcome, which follows from the file and from the imports before.
    mutating func rowsTaken(
        _ job: String, _ counts: RowCounts, _ scan: ScanNumber, _ fleet: inout HarnessFleet
    ) {
        guard let server = fleet.server else { return }
        // What the libraries of all devices have no room for is not remembered.
        let hasRoom = fleet.rowsPrepared < server.libraryBooksMax
        guard let wrong = self.imports.ended(job, counts, hasRoom: hasRoom) else { return }
        self.error(wrong, scan, &fleet)
    }

    // MARK: Look-ups

    /// The answer to a look-up says whether it is that to an earlier request.
    mutating func lookupAnswered(isRepeated: Bool, _ scan: ScanNumber, _ fleet: inout HarnessFleet) {
        let exchange = self.exchanges.last { $0.scan == scan && $0.operation == .upload }
        guard let isBilled = exchange?.isBilled, isBilled == isRepeated else { return }
        self.error(
            isBilled
                ? "a look-up for which a provider was asked was marked as repeated"
                : "a look-up that was answered as before was not marked as repeated", scan, &fleet)
    }
}
