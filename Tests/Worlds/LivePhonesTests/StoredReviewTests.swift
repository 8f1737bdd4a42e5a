import Foundation
import Observations
import Phone
import SimBase
import Talaria
import Testing

@testable import LivePhones

/// The books that wait for their person, in the journals of a state folder.
@Suite struct StoredReviewTests {
    private let phone = DeviceNumber(3)

    private func book(_ title: String, isbn: String? = nil) -> Book {
        Book(title: title, author: "A", isbn: isbn, confidence: 0.5, enrichmentStatus: nil, coverUrl: nil)
    }

    private func entry(_ ordinal: Int, _ title: String, isbn: String? = nil) -> ReviewEntry {
        ReviewEntry(
            key: ResultKey(scan: ScanNumber(1), ordinal: ordinal), book: book(title, isbn: isbn),
            receivedUnixNs: 1_700_000_000_000_000_001)
    }

    private func write(_ path: String, _ body: (StateJournal) -> Void) throws {
        var state = try StateFolder(path: path)
        let journal = try StateJournal(try #require(try state.journals(threads: 1).first))
        body(journal)
        try journal.flush()
    }

    private func record() -> DurableScan {
        DurableScan(
            scan: 1, photo: 2, capturedUnixMs: 1_000, job: nil, booksApplied: [],
            cause: WaitingCause.captured.rawValue, attempts: DurableAttempts(), tokenExpiries: 0,
            retryableErrors: 0, completed: false, refusal: nil)
    }

    @Test func `what waits is read as it was written, and what was decided is gone`() throws {
        let folder = TemporaryFolder()
        var edited = entry(1, "b")
        try self.write(folder.path) { journal in
            journal.store(.put(self.record()), of: self.phone)
            for entry in [entry(0, "a", isbn: "9780141439587"), edited, entry(2, "c"), entry(3, "d")] {
                journal.store(.pending(entry), of: self.phone)
            }
        }
        edited.title = "B"
        edited.author = "An author"
        try self.write(folder.path) { journal in
            journal.store(.pending(edited), of: self.phone)
            let first = ResultKey(scan: ScanNumber(1), ordinal: 0)
            journal.store(
                .reviewed(first, .approved(book("a", isbn: "9780141439587"))), of: self.phone)
            journal.store(
                .reviewed(ResultKey(scan: ScanNumber(1), ordinal: 2), .rejected), of: self.phone)
            journal.store(
                .reviewed(ResultKey(scan: ScanNumber(1), ordinal: 3), .merged(into: first)), of: self.phone)
        }
        let state = try StateFolder(path: folder.path)
        let restored = state.restored(self.phone)
        #expect(restored.review.entries == [edited] && state.linesSkipped == 0)
        #expect(restored.review.library.map(\.isbn) == ["9780141439587"])
        // The record knows each book once, whatever has become of it.
        #expect(restored.scans.first?.booksApplied.map(\.title) == ["a", "b", "c", "d"])
    }

    @Test func `what waited goes with an app that is removed`() throws {
        let folder = TemporaryFolder()
        try self.write(folder.path) { journal in
            journal.store(.pending(entry(0, "a")), of: self.phone)
            journal.wipe(self.phone, newIdentity: "5F0C1A52-9C1B-4C3E-8B9A-0123456789AB", hasReview: true)
            journal.store(.pending(entry(1, "b")), of: self.phone)
        }
        let state = try StateFolder(path: folder.path)
        #expect(state.restored(self.phone).review.entries.map(\.book.title) == ["b"])
        #expect(state.linesSkipped == 0)
    }

    @Test func `a line that no phone can have written is skipped`() throws {
        let folder = TemporaryFolder()
        try self.write(folder.path) { $0.store(.pending(entry(0, "a")), of: self.phone) }
        try folder.append(
            #"{"d":3,"scan":1,"review":"pending","ordinal":10001,"book":{"title":"b","author":"A"},"receivedUnixNs":1}"#
                + "\n" + #"{"d":3,"scan":1,"review":"eaten","ordinal":1}"# + "\n", to: "library.journal")
        let state = try StateFolder(path: folder.path)
        #expect(state.restored(self.phone).review.entries.map(\.book.title) == ["a"])
        #expect(state.linesSkipped == 2)
    }
}
