import CSV
import Histories
import Observations
import SimBase
import Talaria
import Testing

@testable import Ledger

/// What the backend counts of imports, and says of look-ups, is counted once more.
@Suite struct HarnessImportTests {
    /// Files in which every third row or so repeats an earlier one, and every third has a flaw.
    private static let spec: LibrarySpec = {
        var spec = LibrarySpec()
        spec.rows = 40
        spec.duplicates = .percent(30)
        spec.badISBNs = .percent(30)
        return spec
    }()

    /// What an import of the first so many rows of a file has to count, as long as no other one has brought its books.
    private static func counts(_ scan: UInt32 = 1, rows: Int = 40) -> RowCounts {
        let file = LibraryFile(
            Self.spec, KeyedRandom(seed: History.shelf.seed), device: DeviceNumber(0), number: scan)
        var counts = RowCounts()
        for row in file.rows.prefix(rows) {
            switch row.kind {
            case .book, .withoutISBN: counts.created += 1
            case .badISBN: counts.failed += 1
            case .duplicate: counts.skipped += 1
            }
        }
        counts.pending = 40 - rows
        return counts
    }

    private func errors(
        libraryBooksMax: Int = .max, phones: Int = 2, server: HarnessSettings.Server? = nil,
        _ script: (inout HarnessStory) -> Void
    ) -> [String] {
        var simulated = HarnessStory.server
        simulated.libraryBooksMax = libraryBooksMax
        return HarnessStory(script).errors(
            server: server ?? .simulated(simulated), phones: phones, libraries: [Self.spec, nil])
    }

    private func begin(_ story: inout HarnessStory, scan: UInt32 = 1, job: String) {
        (story.scan, story.job, story.books) = (ScanNumber(scan), job, 0)
        story.phone(.filePrepared(.rows(40)))
        story.upload(attempt: 1)
        story.pass()
    }

    private func take(_ story: inout HarnessStory, job: String, _ counts: RowCounts) {
        story.pass()
        story.backend(.rowsTaken(job: job, counts))
    }

    /// As an import counts that finds the books of its file in the library.
    private static func updated(_ counts: RowCounts, _ books: Int? = nil) -> RowCounts {
        var counts = counts
        let books = books ?? counts.created
        counts.updated += books
        counts.created -= books
        return counts
    }

    @Test func `an import counts the flaws and the repeated rows of its file`() {
        func errors(
            rows: Int = 40, phones: Int = 2, server: HarnessSettings.Server? = nil,
            _ change: (inout RowCounts) -> Void
        ) -> [String] {
            self.errors(phones: phones, server: server) {
                if phones > 64 { $0.device = DeviceNumber(1) }
                self.begin(&$0, job: "job-1")
                var counts = Self.counts(rows: rows)
                change(&counts)
                self.take(&$0, job: "job-1", counts)
            }
        }
        let right = Self.counts()
        #expect(right.failed > 5 && right.skipped > 5 && right.created > 5)
        #expect(errors { _ in } == [])
        #expect(errors(rows: 17) { _ in } == [], "it ended half way")
        let takesCopies = { (counts: inout RowCounts) in
            counts.created += counts.skipped
            counts.skipped = 0
        }
        let wrong =
            "an import counts \(right.failed) rows as failed and 0 as skipped, but of its file \(right.failed) have a flaw and \(right.skipped) repeat an earlier one"
        #expect(errors(takesCopies) == [wrong])
        #expect(
            errors { (counts: inout RowCounts) in
                counts.created += counts.failed
                counts.failed = 0
            }.count == 1)
        #expect(errors(phones: 65, takesCopies) == [], "of a large fleet, not every phone is followed")
        #expect(errors(server: .gateway, takesCopies) == [], "a foreign backend has rules of its own")
    }

    @Test func `an import finds the books that earlier ones have brought`() {
        func errors(_ second: RowCounts, first: RowCounts = Self.counts(), scan: UInt32 = 1, room: Int = .max)
            -> [String]
        {
            self.errors(libraryBooksMax: room) {
                self.begin(&$0, job: "job-1")
                self.take(&$0, job: "job-1", first)
                self.begin(&$0, scan: scan, job: "job-2")
                self.take(&$0, job: "job-2", second)
            }
        }
        let (new, half) = (Self.counts(), Self.counts(rows: 20))
        #expect(errors(Self.updated(new)) == [])
        let forgotten =
            "an import counts 0 books as updated, but earlier imports have brought \(new.created) of them"
        #expect(errors(new) == [forgotten])
        #expect(errors(new, room: 50) == [], "the libraries may have no room for them")
        #expect(errors(Self.updated(new, half.created), first: half) == [])
        #expect(errors(Self.updated(new, half.created - 1), first: half).count == 1)
        let other = Self.counts(2)
        #expect(errors(other, scan: 2) == [])
        #expect(
            errors(Self.updated(other, 1), scan: 2)
                == ["an import counts 1 books as updated, but earlier imports have brought at most 0 of them"]
        )
    }

    @Test func `of two imports at once each may find what the other brings`() {
        for found in [0, 3, Self.counts().created] {
            let errors = self.errors {
                self.begin(&$0, job: "job-1")
                self.begin(&$0, job: "job-2")
                self.take(&$0, job: "job-2", Self.updated(Self.counts(), found))
                self.take(&$0, job: "job-1", Self.updated(Self.counts(), Self.counts().created - found))
            }
            #expect(errors == [])
        }
    }

    @Test func `the answer to a look-up says whether it is that to an earlier request`() {
        func errors(isBilled: Bool, isRepeated: Bool, isFound: Bool = true) -> [String] {
            HarnessStory {
                let lookup = BookLookup(
                    key: "k", barcode: "9780141439587", isFound: isFound, isBilled: isBilled)
                $0.exchange(.upload, isFound ? 200 : 404, seen: .bookLookedUp(lookup))
                $0.phone(.lookupAnswered(found: isFound, repeated: isRepeated, took: .zero, service: .zero))
            }.errors()
        }
        #expect(errors(isBilled: true, isRepeated: false) == [])
        #expect(errors(isBilled: false, isRepeated: true) == [])
        #expect(
            errors(isBilled: false, isRepeated: false, isFound: false) == [], "a problem has no such mark")
        #expect(
            errors(isBilled: false, isRepeated: false)
                == ["a look-up that was answered as before was not marked as repeated"])
        #expect(
            errors(isBilled: true, isRepeated: true)
                == ["a look-up for which a provider was asked was marked as repeated"])
    }
}
