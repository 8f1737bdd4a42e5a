import Device
import EventLoop
import Foundation
import LiveDevices
import SimBase
import Talaria
import Testing

/// A folder of its own that goes with the test.
struct TemporaryFolder: ~Copyable {
    let path = FileManager.default.temporaryDirectory.appending(path: "state-\(UUID().uuidString)").path

    deinit { try? FileManager.default.removeItem(atPath: self.path) }

    func append(_ text: String, to name: String) throws {
        let handle = try FileHandle(forWritingTo: URL(filePath: self.path + "/" + name))
        try handle.seekToEnd()
        try handle.write(contentsOf: Data(text.utf8))
        try handle.close()
    }
}

@Suite struct StateFolderTests {
    private let phone = DeviceNumber(3)

    private func record(_ scan: UInt32, at: Int64 = 1_000, books: [Int] = [], lastEventID: String? = nil)
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

    private func book(_ title: String) -> Book {
        Book(title: title, author: "A", isbn: nil, confidence: nil, enrichmentStatus: nil, coverUrl: nil)
    }

    @Test func `what was flushed is there for the next process`() throws {
        let folder = TemporaryFolder()
        let scan = self.record(4, lastEventID: "1-progress")
        do {
            let state = try StateFolder(path: folder.path)
            state.keep(identity: "5F0C1A52-9C1B-4C3E-8B9A-0123456789AB", of: self.phone)
            state.use(ScanNumber(4), of: self.phone)
            state.store(.put(scan), of: self.phone)
            state.store(.lastEventID(ScanNumber(4), "2-progress"), of: self.phone)
            try state.flush()
        }
        let again = try StateFolder(path: folder.path).restored(self.phone)
        var expected = scan
        expected.job?.lastEventID = "2-progress"
        #expect(again.identity == "5F0C1A52-9C1B-4C3E-8B9A-0123456789AB")
        #expect(again.lastScan == ScanNumber(4))
        #expect(again.scans == [expected])
    }

    @Test func `what was not flushed is not there`() throws {
        let folder = TemporaryFolder()
        do {
            let state = try StateFolder(path: folder.path)
            state.store(.put(self.record(1)), of: self.phone)
        }
        #expect(try StateFolder(path: folder.path).unsettled().isEmpty)
    }

    @Test func `a settled scan is gone and its number stays used`() throws {
        let folder = TemporaryFolder()
        do {
            let state = try StateFolder(path: folder.path)
            state.use(ScanNumber(7), of: self.phone)
            state.store(.put(self.record(7)), of: self.phone)
            state.store(.settled(ScanNumber(7), .completed), of: self.phone)
            try state.flush()
        }
        let again = try StateFolder(path: folder.path)
        #expect(again.unsettled().isEmpty)
        #expect(again.restored(self.phone).lastScan == ScanNumber(7))
    }

    @Test func `a book whose record was not written any more still counts as applied`() throws {
        let folder = TemporaryFolder()
        do {
            let state = try StateFolder(path: folder.path)
            state.store(.put(self.record(1, books: [0])), of: self.phone)
            state.store(.book(ResultKey(scan: ScanNumber(1), ordinal: 1), self.book("kept")), of: self.phone)
            try state.flush()
        }
        #expect(
            try StateFolder(path: folder.path).restored(self.phone).scans.map(\.booksApplied) == [[0, 1]])
    }

    @Test func `a line that a dying process left unfinished is cut off, and writing goes on behind it`()
        throws
    {
        let folder = TemporaryFolder()
        do {
            let state = try StateFolder(path: folder.path)
            state.store(.put(self.record(1)), of: self.phone)
            try state.flush()
        }
        try folder.append(#"{"d":3,"put":{"scan":2,"pho"#, to: "scans.journal")
        do {
            let state = try StateFolder(path: folder.path)
            #expect(state.linesSkipped == 1)
            #expect(state.unsettled().map(\.scan.scan) == [1])
            state.store(.put(self.record(2, at: 2_000)), of: self.phone)
            try state.flush()
        }
        let again = try StateFolder(path: folder.path)
        #expect(again.linesSkipped == 0)
        #expect(again.unsettled().map(\.scan.scan) == [1, 2])
    }

    @Test func `unsettled scans come oldest first, whatever their numbers`() throws {
        let folder = TemporaryFolder()
        do {
            let state = try StateFolder(path: folder.path)
            state.store(.put(self.record(1, at: 3_000)), of: self.phone)
            state.store(.put(self.record(2, at: 1_000)), of: self.phone)
            state.store(.put(self.record(1, at: 2_000)), of: DeviceNumber(1))
            try state.flush()
        }
        let unsettled = try StateFolder(path: folder.path).unsettled()
        #expect(unsettled.map { [$0.device.raw, $0.scan.scan] } == [[1, 1], [3, 2], [3, 1]])
    }

    @Test func `a folder of another form is refused, not guessed at`() throws {
        let folder = TemporaryFolder()
        _ = try StateFolder(path: folder.path)
        try folder.append("{\"version\":\"9\"}\n", to: "devices.journal")
        #expect(throws: StateFolder.Failure.self) { try StateFolder(path: folder.path) }
    }

    @Test func `tokens are for the owner's eyes`() throws {
        let folder = TemporaryFolder()
        _ = try StateFolder(path: folder.path)
        let mode = try FileManager.default.attributesOfItem(atPath: folder.path + "/scans.journal")[
            .posixPermissions]
        #expect(mode as? Int == 0o600)
    }

    @Test func `a path below a file is a clear error`() throws {
        let folder = TemporaryFolder()
        #expect(FileManager.default.createFile(atPath: folder.path, contents: Data()))
        #expect(throws: StateFolder.Failure.self) { try StateFolder(path: folder.path + "/below") }
    }
}
