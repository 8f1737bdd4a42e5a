import EventLoop
import Foundation
import Observations
import Phone
import SimBase
import Talaria
import Testing

@testable import LivePhones

/// A folder of its own that goes with the test.
struct TemporaryFolder: ~Copyable {
    let path = FileManager.default.temporaryDirectory.appending(path: "state-\(UUID().uuidString)").path

    deinit { try? FileManager.default.removeItem(atPath: self.path) }

    func replace(_ text: String, by other: String, in name: String) throws {
        let path = self.path + "/" + name
        let whole = try String(contentsOfFile: path, encoding: .utf8)
        let first = try #require(whole.range(of: text))
        try whole.replacingCharacters(in: first, with: other).write(
            toFile: path, atomically: false, encoding: .utf8)
    }

    func append(_ text: String, to name: String) throws {
        let handle = try FileHandle(forWritingTo: URL(filePath: self.path + "/" + name))
        try handle.seekToEnd()
        try handle.write(contentsOf: Data(text.utf8))
        try handle.close()
    }
}

@Suite struct StateFolderTests {
    private let phone = DeviceNumber(3)

    private func record(_ scan: UInt32, at: Int64 = 1_000, books: [Book] = [], lastEventID: String? = nil)
        -> DurableScan
    {
        DurableScan(
            scan: scan, photo: 2, capturedUnixMs: at,
            job: lastEventID.map {
                DurableJob(jobId: "job", authToken: "secret", sseUrl: "/s", lastEventID: $0)
            },
            booksApplied: books, cause: WaitingCause.captured.rawValue, attempts: DurableAttempts(),
            tokenExpiries: 0,
            retryableErrors: 0, completed: false, refusal: nil)
    }

    /// A run on so many threads that writes to the folder: by thread, what its journal is to hold.
    private func write(_ path: String, threads: Int = 1, _ body: ([StateJournal]) -> Void) throws {
        var state = try StateFolder(path: path)
        let journals = try state.journals(threads: threads).map { try StateJournal($0) }
        body(journals)
        for journal in journals { try journal.flush() }
    }

    private func book(_ title: String) -> Book {
        Book(title: title, author: "A", isbn: nil, confidence: nil, enrichmentStatus: nil, coverUrl: nil)
    }

    // MARK: Losses

    /// Three scans that were stored, the first of which was settled.
    private func writeThree(_ path: String) throws {
        try self.write(path) { journals in
            let state = journals[0]
            state.keep(identity: "5F0C1A52-9C1B-4C3E-8B9A-0123456789AB", of: self.phone)
            for scan in UInt32(1)...3 {
                state.use(ScanNumber(scan), of: self.phone)
                state.store(.put(self.record(scan)), of: self.phone)
            }
            state.store(.settled(ScanNumber(1), .completed), of: self.phone)
        }
    }

    private func lost(_ path: String) throws -> [UInt32] {
        try StateFolder(path: path).lost.filter { $0.device == self.phone }.map(\.scan.raw)
    }

    @Test func `a stored scan whose record is gone is lost, by its number`() throws {
        let whole = TemporaryFolder()
        try self.writeThree(whole.path)
        #expect(try self.lost(whole.path) == [])
        let damaged = TemporaryFolder()
        try self.writeThree(damaged.path)
        try damaged.replace(#""scan":2,"put""#, by: #""scan":2,"qut""#, in: "scans.journal")
        #expect(try self.lost(damaged.path) == [2])
        let empty = TemporaryFolder()
        try self.writeThree(empty.path)
        try Data().write(to: URL(filePath: empty.path + "/scans.journal"))
        #expect(try self.lost(empty.path) == [1, 2, 3], "nothing says that the first was settled")
    }

    @Test func `of a lost scan the books are known that are in the library`() throws {
        let folder = TemporaryFolder()
        try self.writeThree(folder.path)
        try self.write(folder.path) { journals in
            for key in [(2, 0), (2, 1), (2, 1), (3, 0)] as [(UInt32, Int)] {
                let book = ResultKey(scan: ScanNumber(key.0), ordinal: key.1)
                journals[0].store(.book(book, self.book("kept")), of: self.phone)
            }
        }
        try folder.replace(#""scan":2,"put""#, by: #""scan":2,"qut""#, in: "scans.journal")
        let lost = try StateFolder(path: folder.path).lost
        #expect(lost == [.init(device: self.phone, scan: ScanNumber(2), books: 2)])
    }

    @Test func `a number without a record, an older folder and a reinstalled app have lost nothing`() throws {
        let folder = TemporaryFolder()
        try self.writeThree(folder.path)
        try self.write(folder.path) { $0[0].use(ScanNumber(4), of: self.phone) }
        #expect(try self.lost(folder.path) == [], "the process ended before the capture was stored")
        try self.write(folder.path) {
            $0[0].wipe(self.phone, newIdentity: "6F0C1A52-9C1B-4C3E-8B9A-0123456789AB", hasReview: false)
        }
        #expect(try self.lost(folder.path) == [])
        let older = TemporaryFolder()
        try self.writeThree(older.path)
        let path = older.path + "/devices.journal"
        let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").filter {
            !$0.contains("stored")
        }
        try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: URL(filePath: path))
        try Data().write(to: URL(filePath: older.path + "/scans.journal"))
        #expect(try self.lost(older.path) == [], "it does not say which scans were stored")
    }

    @Test func `what was flushed is there for the next process`() throws {
        let folder = TemporaryFolder()
        let scan = self.record(4, lastEventID: "1-progress")
        try self.write(folder.path) { journals in
            let state = journals[0]
            state.keep(identity: "5F0C1A52-9C1B-4C3E-8B9A-0123456789AB", of: self.phone)
            state.use(ScanNumber(4), of: self.phone)
            state.store(.put(scan), of: self.phone)
            state.store(.lastEventID(ScanNumber(4), "2-progress"), of: self.phone)
        }
        let again = try StateFolder(path: folder.path).restored(self.phone)
        var expected = scan
        expected.job?.lastEventID = "2-progress"
        #expect(again.identity == "5F0C1A52-9C1B-4C3E-8B9A-0123456789AB")
        #expect(again.lastScan == ScanNumber(4))
        #expect(again.scans == [expected])
    }

    /// Every member that a record and a book can have, with text that JSON escapes. Reading and
    /// writing are done by hand: a member that is not written or not read is missed here.
    @Test func `a record comes back with every member, whatever its text`() throws {
        let folder = TemporaryFolder()
        var attempts = DurableAttempts()
        attempts.upload = 1
        attempts.stream = 2
        attempts.results = 3
        attempts.cleanup = 4
        attempts.status = 5
        attempts.refresh = 6
        let text = "a \"quoted\" \\ back\u{8}\n\u{1F}\u{7F} / é 📚\u{2028}"
        var full = DurableScan(
            scan: 9, photo: 3, capturedUnixMs: 1_700_000_000_123,
            scheduledUnixNs: 1_700_000_000_120_000_001, uploadDueUnixNs: -5,
            job: DurableJob(
                jobId: "job-9", authToken: "secret", sseUrl: "/s", lastEventID: "1-progress",
                transport: .websocket),
            booksApplied: [], cause: text, attempts: attempts,
            tokenExpiries: 2, retryableErrors: 1, completed: false, refusal: "NOT_A_SHELF")
        full.job?.earlierStreams = 3
        full.job?.refreshDueUnixNs = 1_700_000_000_126_000_001
        full.isVolatile = true
        full.photos = 4
        full.journey = .csvImport
        full.file = .rows(7)
        full.cancelDueUnixNs = 1_700_000_000_125_000_001
        full.isCanceled = true
        #expect(Mirror(reflecting: full).children.count == 19, "a new member is to be written too")
        #expect(full.job.map { Mirror(reflecting: $0).children.count } == 7)
        #expect(Mirror(reflecting: attempts).children.count == 6)
        let book = Book(
            title: text, author: text, isbn: "978", confidence: 0.1, enrichmentStatus: .notFound,
            coverUrl: "https://a/b")
        full.booksApplied = [book]
        #expect(Mirror(reflecting: book).children.count == 6)
        let bare = self.record(10, at: 2_000_000_000_000)
        try self.write(folder.path) { journals in
            journals[0].store(.put(full), of: self.phone)
            journals[0].store(.put(bare), of: self.phone)
            journals[0].store(.book(ResultKey(scan: ScanNumber(9), ordinal: 0), book), of: self.phone)
        }
        let state = try StateFolder(path: folder.path)
        #expect(state.linesSkipped == 0)
        #expect(state.restored(self.phone).scans == [full, bare])
        struct Line: Decodable { var book: Book }
        let line = try Data(contentsOf: URL(filePath: folder.path + "/library.journal"))
        #expect(try JSONDecoder().decode(Line.self, from: line).book == book)
    }

    @Test func `a folder that does not say what was canceled is one in which the code says so`() throws {
        let older = TemporaryFolder()
        var canceled = self.record(2)
        canceled.refusal = AppLimits.canceledCode
        try self.write(older.path) { $0[0].store(.put(canceled), of: self.phone) }
        #expect(try StateFolder(path: older.path).restored(self.phone).scans == [canceled])
        try older.replace(#","canceled":false"#, by: "", in: "scans.journal")
        #expect(try StateFolder(path: older.path).restored(self.phone).scans.map(\.isCanceled) == [true])
    }

    @Test func `what was not flushed is not there`() throws {
        let folder = TemporaryFolder()
        var state = try StateFolder(path: folder.path)
        let journal = try StateJournal(try #require(try state.journals(threads: 1).first))
        journal.store(.put(self.record(1)), of: self.phone)
        #expect(try StateFolder(path: folder.path).unsettled().isEmpty)
    }

    @Test func `a settled scan is gone and its number stays used`() throws {
        let folder = TemporaryFolder()
        try self.write(folder.path) { journals in
            let state = journals[0]
            state.use(ScanNumber(7), of: self.phone)
            state.store(.put(self.record(7)), of: self.phone)
            state.store(.settled(ScanNumber(7), .completed), of: self.phone)
        }
        let again = try StateFolder(path: folder.path)
        #expect(again.unsettled().isEmpty)
        #expect(again.restored(self.phone).lastScan == ScanNumber(7))
    }

    @Test func `a book whose record was not written any more still counts as applied`() throws {
        let folder = TemporaryFolder()
        try self.write(folder.path) { journals in
            let state = journals[0]
            state.store(.put(self.record(1)), of: self.phone)
            state.store(.book(ResultKey(scan: ScanNumber(1), ordinal: 0), self.book("kept")), of: self.phone)
        }
        #expect(
            try StateFolder(path: folder.path).restored(self.phone).scans.map(\.booksApplied)
                == [[self.book("kept")]])
    }

    @Test func `an older folder has places of books in its records, and the books in its library`() throws {
        let older = TemporaryFolder()
        try self.write(older.path) { journals in
            for (place, title) in ["first", "second"].enumerated() {
                let key = ResultKey(scan: ScanNumber(1), ordinal: place)
                journals[0].store(.book(key, self.book(title)), of: self.phone)
            }
            journals[0].store(.put(self.record(1)), of: self.phone)
        }
        try older.replace(#","cause":"#, by: #","booksApplied":[0,1],"cause":"#, in: "scans.journal")
        let state = try StateFolder(path: older.path)
        #expect(state.linesSkipped == 0)
        #expect(state.unsettled().map(\.scan.booksApplied) == [[self.book("first"), self.book("second")]])
    }

    @Test func `a line that a dying process left unfinished is cut off, and writing goes on behind it`()
        throws
    {
        let folder = TemporaryFolder()
        try self.write(folder.path) { journals in
            let state = journals[0]
            state.store(.put(self.record(1)), of: self.phone)
        }
        try folder.append(#"{"d":3,"put":{"scan":2,"pho"#, to: "scans.journal")
        let torn = try StateFolder(path: folder.path)
        #expect(torn.linesSkipped == 0, "it is no damage")
        #expect(torn.writesTorn == 1)
        #expect(torn.unsettled().map(\.scan.scan) == [1])
        try self.write(folder.path) { journals in
            let state = journals[0]
            state.store(.put(self.record(2, at: 2_000)), of: self.phone)
        }
        let again = try StateFolder(path: folder.path)
        #expect(again.linesSkipped == 0)
        #expect(again.writesTorn == 0)
        #expect(again.unsettled().map(\.scan.scan) == [1, 2])
    }

    /// A process that dies in a flush leaves what it wrote up to some byte of one of the journals; it writes the books first,
    /// then the records, then the numbers.
    @Test func `a flush that is torn at any byte is no damage and loses nothing of before`() throws {
        let names = ["library.journal", "scans.journal", "devices.journal"]
        func bytes(_ folder: borrowing TemporaryFolder) throws -> [Data] {
            try names.map { try Data(contentsOf: URL(filePath: folder.path + "/" + $0)) }
        }
        let whole = TemporaryFolder()
        try self.write(whole.path) { journals in
            journals[0].keep(identity: "5F0C1A52-9C1B-4C3E-8B9A-0123456789AB", of: self.phone)
            journals[0].use(ScanNumber(1), of: self.phone)
            journals[0].store(.put(self.record(1, lastEventID: "4")), of: self.phone)
        }
        let before = try bytes(whole)
        try self.write(whole.path) { journals in
            for ordinal in 0..<2 {
                let key = ResultKey(scan: ScanNumber(1), ordinal: ordinal)
                journals[0].store(.book(key, self.book("kept")), of: self.phone)
            }
            journals[0].store(.put(self.record(1, lastEventID: "5")), of: self.phone)
            journals[0].use(ScanNumber(2), of: self.phone)
            journals[0].store(.put(self.record(2, at: 2_000)), of: self.phone)
        }
        let after = try bytes(whole)
        for torn in names.indices {
            for count in before[torn].count...after[torn].count {
                for other in names.indices {
                    let content =
                        other == torn
                        ? after[torn].prefix(count) : other < torn ? after[other] : before[other]
                    try content.write(to: URL(filePath: whole.path + "/" + names[other]))
                }
                let state = try StateFolder(path: whole.path)
                let isWhole = [nil, UInt8(ascii: "\n")].contains(after[torn].prefix(count).last)
                try #require(state.linesSkipped == 0)
                try #require(state.writesTorn == (isWhole ? 0 : 1))
                try #require(state.lost.isEmpty)
                let scans = state.restored(self.phone).scans
                let first = try #require(scans.first)
                let books = after[0].prefix(torn == 0 ? count : .max).count { $0 == UInt8(ascii: "\n") }
                try #require(first.scan == 1 && first.booksApplied.count == books)
                try #require(["4", "5"].contains(first.job?.lastEventID))
                try #require(scans.count == 1 || scans[1] == self.record(2, at: 2_000))
                try #require(scans.count == 2 || torn < 2, "the records come before the numbers")
            }
        }
    }

    @Test(arguments: [
        (#""photo":2"#, #""photo":-2"#), (#""scan":4"#, #""scan":4294967295"#),
        (#""upload":0"#, #""upload":4294967295"#),
        (#""tokenExpiries":0"#, #""tokenExpiries":9223372036854775807"#),
        (#""authToken":"secret""#, #""authToken":"a\r\nX: 1""#),
        (#""sseUrl":"/s""#, #""sseUrl":"file:///etc/passwd""#), (#""jobId":"job""#, #""jobId":"..""#),
        (#""completed":false"#, #""completed":true,"refusal":"NO""#),
    ])
    func `a record that no phone can go on from is left out and counted`(sound: String, damaged: String)
        throws
    {
        let folder = TemporaryFolder()
        try self.write(folder.path) { journals in
            journals[0].store(.put(self.record(4, lastEventID: "1")), of: self.phone)
            journals[0].store(.put(self.record(5)), of: self.phone)
        }
        try folder.replace(sound, by: damaged, in: "scans.journal")
        let again = try StateFolder(path: folder.path)
        #expect(again.linesSkipped == 1)
        #expect(again.unsettled().map(\.scan.scan) == [5])
    }

    @Test func `a number is used if any line says so`() throws {
        let folder = TemporaryFolder()
        try self.write(folder.path) { journals in
            let state = journals[0]
            state.store(.put(self.record(4)), of: self.phone)
            state.store(.settled(ScanNumber(5), .completed), of: self.phone)
            state.store(.book(ResultKey(scan: ScanNumber(6), ordinal: 0), self.book("kept")), of: self.phone)
        }
        #expect(try StateFolder(path: folder.path).restored(self.phone).lastScan == ScanNumber(6))
        try folder.append("{\"d\":3,\"scan\":4294967295}\n", to: "devices.journal")
        let again = try StateFolder(path: folder.path)
        #expect(again.restored(self.phone).lastScan == ScanNumber(6))
        #expect(again.linesSkipped == 1)
    }

    @Test func `unsettled scans come oldest first, whatever their numbers`() throws {
        let folder = TemporaryFolder()
        try self.write(folder.path) { journals in
            let state = journals[0]
            state.store(.put(self.record(1, at: 3_000)), of: self.phone)
            state.store(.put(self.record(2, at: 1_000)), of: self.phone)
            state.store(.put(self.record(1, at: 2_000)), of: DeviceNumber(1))
        }
        let unsettled = try StateFolder(path: folder.path).unsettled()
        #expect(unsettled.map { [$0.device.raw, $0.scan.scan] } == [[1, 1], [3, 2], [3, 1]])
    }

    @Test func `a folder of another form is refused, not guessed at`() throws {
        let folder = TemporaryFolder()
        try self.write(folder.path) { _ in }
        let journal = URL(filePath: folder.path + "/devices.journal")
        try Data("{\"version\":\"9\"}\n".utf8).write(to: journal)
        #expect(throws: StateFolder.Failure.self) { try StateFolder(path: folder.path) }
    }

    @Test func `tokens are for the owner's eyes`() throws {
        let folder = TemporaryFolder()
        try self.write(folder.path) { _ in }
        let mode = try FileManager.default.attributesOfItem(atPath: folder.path + "/scans.journal")[
            .posixPermissions]
        #expect(mode as? Int == 0o600)
    }

    @Test func `a journal that is no file is refused`() throws {
        let folder = TemporaryFolder()
        try self.writeThree(folder.path)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        let journal = folder.path + "/" + (try #require(names.first { $0.hasPrefix("scans") }))
        try FileManager.default.removeItem(atPath: journal)
        try FileManager.default.createSymbolicLink(atPath: journal, withDestinationPath: "/dev/null")
        let failure = #expect(throws: StateFolder.Failure.self) { try StateFolder(path: folder.path) }
        guard case .system(let error)? = failure else { return }
        #expect(error.description.contains("which is not a file"))
    }

    @Test func `a path below a file is a clear error`() throws {
        let folder = TemporaryFolder()
        #expect(FileManager.default.createFile(atPath: folder.path, contents: Data()))
        #expect(throws: StateFolder.Failure.self) { try StateFolder(path: folder.path + "/below") }
    }

    // MARK: Another number of threads

    @Test func `what runs on another number of threads wrote is read in their order`() throws {
        let folder = TemporaryFolder()
        try self.write(folder.path) { journals in
            for device in 0..<4 {
                journals[0].keep(identity: "phone \(device)", of: DeviceNumber(UInt32(device)))
                journals[0].use(ScanNumber(1), of: DeviceNumber(UInt32(device)))
                journals[0].store(.put(self.record(1)), of: DeviceNumber(UInt32(device)))
            }
        }
        try self.write(folder.path, threads: 3) { journals in
            journals[0].store(.settled(ScanNumber(1), .completed), of: DeviceNumber(0))
            journals[1].use(ScanNumber(2), of: DeviceNumber(1))
            journals[1].store(.put(self.record(2, at: 2_000)), of: DeviceNumber(1))
            journals[2].store(
                .book(ResultKey(scan: ScanNumber(1), ordinal: 0), self.book("kept")), of: DeviceNumber(2))
        }
        try self.write(folder.path, threads: 2) { journals in
            journals[1].store(.settled(ScanNumber(1), .completed), of: DeviceNumber(1))
        }
        let state = try StateFolder(path: folder.path)
        #expect(state.linesSkipped == 0)
        #expect(
            state.unsettled().map { [$0.device.raw, $0.scan.scan, UInt32($0.scan.booksApplied.count)] }
                == [[1, 2, 0], [2, 1, 1], [3, 1, 0]])
        #expect((0..<4).map { state.restored(DeviceNumber($0)).lastScan.raw } == [1, 2, 1, 1])
        #expect(state.restored(DeviceNumber(3)).identity == "phone 3")
    }

    @Test func `the same number of threads goes on in the same journals, another makes new ones`() throws {
        let folder = TemporaryFolder()
        func files() throws -> Int { try FileManager.default.contentsOfDirectory(atPath: folder.path).count }
        for _ in 0..<2 { try self.write(folder.path, threads: 2) { _ in } }
        #expect(try files() == 7)
        for _ in 0..<2 { try self.write(folder.path, threads: 1) { _ in } }
        #expect(try files() == 10)
        StateFolder.remove(path: folder.path)
        #expect(!FileManager.default.fileExists(atPath: folder.path))
    }
}
