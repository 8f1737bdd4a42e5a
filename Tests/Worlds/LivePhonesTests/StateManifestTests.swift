import Foundation
import Observations
import Phone
import SimBase
import Testing

@testable import LivePhones

/// What the manifest of a state folder knows of journals that are gone.
@Suite struct StateManifestTests {
    private static let fleet = StateFleet(
        seed: .max, groups: [.init(name: "a \"b\"", devices: 3), .init(name: "c", devices: 1)],
        shard: FleetShard(index: 1, count: 2))

    private func record(_ scan: UInt32) -> DurableScan {
        DurableScan(
            scan: scan, photo: 2, capturedUnixMs: 1_000, job: nil, booksApplied: [],
            cause: WaitingCause.captured.rawValue, attempts: DurableAttempts(), tokenExpiries: 0,
            retryableErrors: 0, completed: false, refusal: nil)
    }

    /// Writes a scan for each thread, `flushes` times.
    private func write(_ path: String, threads: Int, flushes: Int = 1) throws {
        var state = try StateFolder(path: path)
        if state.fleet == nil { state.fleet = Self.fleet }
        let journals = try state.journals(threads: threads).map { try StateJournal($0) }
        for flush in 1...flushes {
            for (thread, journal) in journals.enumerated() {
                let device = DeviceNumber(UInt32(thread))
                journal.keep(identity: "x", of: device)
                journal.store(.put(self.record(UInt32(flush))), of: device)
                try journal.flush()
            }
        }
    }

    @Test(arguments: [1, 3]) func `a folder that is whole lacks nothing, and says whose it is`(threads: Int)
        throws
    {
        let folder = TemporaryFolder()
        #expect(try !StateFolder(path: folder.path).hasManifest)
        try self.write(folder.path, threads: threads, flushes: 3)
        try self.write(folder.path, threads: 2)
        let state = try StateFolder(path: folder.path)
        #expect(state.hasManifest && state.fleet == Self.fleet && state.shortfalls == [])
        let lines = try String(contentsOfFile: folder.path + "/manifest.ndjson", encoding: .utf8)
            .split(separator: "\n")
        #expect(lines.count == 1 + threads + 2 && Set(lines.dropFirst().map(\.count)).count == 1)
    }

    @Test func `a folder that no other process reads has no manifest`() throws {
        let folder = TemporaryFolder()
        var state = try StateFolder(path: folder.path)
        let journal = try StateJournal(
            try #require(try state.journals(threads: 1, isKept: false).first))
        journal.store(.put(self.record(1)), of: DeviceNumber(0))
        try journal.flush()
        let again = try StateFolder(path: folder.path)
        #expect(!again.hasManifest && again.unsettled().map(\.scan.scan) == [1])
    }

    @Test(arguments: [
        "devices.journal", "scans.journal", "devices-0.1.journal", "scans-0.1.journal", "devices-1.0.journal",
    ])
    func `a journal that is deleted or emptied is missed, whatever else is gone`(name: String) throws {
        let folder = TemporaryFolder()
        try self.write(folder.path, threads: 2)
        try self.write(folder.path, threads: 1)
        let path = folder.path + "/" + name
        let size = try Data(contentsOf: URL(filePath: path)).count
        func shortfall(_ bytes: Int?) -> StateFolder.Shortfall {
            .init(path: path, bytes: bytes, bytesBefore: size, hasScans: name.hasPrefix("scans"))
        }
        try Data().write(to: URL(filePath: path))
        #expect(try StateFolder(path: folder.path).shortfalls == [shortfall(0)])
        try FileManager.default.removeItem(atPath: path)
        #expect(try StateFolder(path: folder.path).shortfalls == [shortfall(nil)])
    }

    @Test func `the last flush counts, and a line that a dying process left does not`() throws {
        let folder = TemporaryFolder()
        try self.write(folder.path, threads: 1, flushes: 5)
        let path = folder.path + "/devices.journal"
        let whole = try Data(contentsOf: URL(filePath: path))
        try (whole + Data("{\"d\":3,\"sc".utf8)).write(to: URL(filePath: path))
        #expect(try StateFolder(path: folder.path).shortfalls == [])
        try whole.dropLast().write(to: URL(filePath: path))
        #expect(
            try StateFolder(path: folder.path).shortfalls
                == [.init(path: path, bytes: whole.count - 1, bytesBefore: whole.count, hasScans: false)])
    }

    @Test func `a folder of an earlier version gets a manifest of what it has`() throws {
        let folder = TemporaryFolder()
        try self.write(folder.path, threads: 2)
        try FileManager.default.removeItem(atPath: folder.path + "/manifest.ndjson")
        #expect(try !StateFolder(path: folder.path).hasManifest)
        try self.write(folder.path, threads: 1)
        #expect(try StateFolder(path: folder.path).shortfalls == [])
        try FileManager.default.removeItem(atPath: folder.path + "/devices-0.1.journal")
        #expect(try StateFolder(path: folder.path).shortfalls.map(\.bytes) == [nil])
    }

    @Test(arguments: ["", "x\n", "{}", "{\"seed\":1}\n", "{}\n{\"layout\":0}\n"])
    func `a manifest that cannot be read is no manifest of an empty folder`(text: String) throws {
        let folder = TemporaryFolder()
        try self.write(folder.path, threads: 1)
        try Data(text.utf8).write(to: URL(filePath: folder.path + "/manifest.ndjson"))
        let failure = #expect(throws: StateFolder.Failure.self) { try StateFolder(path: folder.path) }
        guard case .damagedManifest? = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
    }
}
