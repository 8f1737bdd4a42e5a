package import Device
package import EventLoop
package import SimBase
import Talaria

/// The durable storage of all phones of a fleet: a few append-only journals in one folder.
///
/// - `devices.journal`: device ids, and how many scans each phone has ever made;
/// - `library.journal`: every book in a library;
/// - `scans.journal`: the records of unsettled scans, with their tokens (file mode 0600).
///
/// A write is durable once it is in the kernel's hands: that is what the end of a process cannot undo. The books of a
/// batch are written before the records that rely on them, so that no record claims a book that the library lacks.
package final class StateFolder {
    /// What one phone finds when its process starts.
    package struct Restored: Sendable {
        /// The device id, if the phone ever had one.
        package var identity: String?
        package var lastScan: ScanNumber
        /// Unsettled scans, oldest first.
        package var scans: [DurableScan]

        package init(identity: String?, lastScan: ScanNumber, scans: [DurableScan]) {
            self.identity = identity
            self.lastScan = lastScan
            self.scans = scans
        }
    }

    package enum Failure: Error {
        case system(SystemError)
        /// Another version of this program wrote the folder.
        case otherVersion(String)
    }

    /// The form of the lines; a folder of another form is refused, not guessed at.
    private static let version = "1"

    package let path: String
    private let devices: JournalFile
    private let library: JournalFile
    private let scans: JournalFile
    private var pending = (devices: [UInt8](), library: [UInt8](), scans: [UInt8]())
    private var restored: [DeviceNumber: Restored] = [:]
    /// Unfinished lines that were cut off, and lines that mean nothing.
    package private(set) var linesSkipped = 0

    package init(path: String) throws(Failure) {
        self.path = path
        do throws(SystemError) {
            try FileTree.makeFolder(path, mode: 0o700)
            self.devices = try JournalFile(path: path + "/devices.journal")
            self.library = try JournalFile(path: path + "/library.journal")
            self.scans = try JournalFile(path: path + "/scans.journal")
        } catch { throw .system(error) }
        try self.restore()
    }

    /// What the folder held for this phone when it was opened.
    package func restored(_ device: DeviceNumber) -> Restored {
        self.restored[device] ?? Restored(identity: nil, lastScan: .none, scans: [])
    }

    /// Every unsettled scan of the folder, by phone, oldest first.
    package func unsettled() -> [(device: DeviceNumber, scan: DurableScan)] {
        self.restored.keys.sorted().flatMap { device in
            self.restored(device).scans.map { (device, $0) }
        }
    }

    /// Lets go of what was read at the beginning.
    package func forgetRestored() { self.restored = [:] }

    // MARK: Writing

    package func keep(identity: String, of device: DeviceNumber) {
        self.add(DeviceLine(d: device.raw, identity: identity), to: &self.pending.devices)
    }

    /// The scan's number is used from now on, whatever becomes of it.
    package func use(_ scan: ScanNumber, of device: DeviceNumber) {
        self.add(DeviceLine(d: device.raw, scan: scan.raw), to: &self.pending.devices)
    }

    package func store(_ change: StoreChange, of device: DeviceNumber) {
        switch change {
        case .put(let record):
            self.add(ScanLine(d: device.raw, put: record), to: &self.pending.scans)
        case .lastEventID(let scan, let id):
            self.add(ScanLine(d: device.raw, scan: scan.raw, id: id), to: &self.pending.scans)
        case .settled(let scan, let outcome):
            let text =
                switch outcome {
                case .completed: "completed"
                case .refused(let code): "refused \(code)"
                }
            self.add(ScanLine(d: device.raw, scan: scan.raw, settled: text), to: &self.pending.scans)
        case .book(let key, let book):
            self.add(
                BookLine(d: device.raw, scan: key.scan.raw, ordinal: key.ordinal, book: book),
                to: &self.pending.library)
        }
    }

    /// Makes everything durable that was stored since the last flush.
    package func flush() throws(SystemError) {
        try self.write(&self.pending.devices, to: self.devices)
        try self.write(&self.pending.library, to: self.library)
        try self.write(&self.pending.scans, to: self.scans)
    }

    /// Also past a loss of power.
    package func sync() throws(SystemError) {
        try self.flush()
        self.devices.sync()
        self.library.sync()
        self.scans.sync()
    }

    /// Deletes the journals and the folder.
    package func remove() {
        for file in [self.devices, self.library, self.scans] { FileTree.remove(file.path) }
        FileTree.removeFolder(self.path)
    }

    private func add(_ line: some Encodable, to bytes: inout [UInt8]) {
        bytes += JSON.encode(line)
        bytes.append(UInt8(ascii: "\n"))
    }

    private func write(_ bytes: inout [UInt8], to file: JournalFile) throws(SystemError) {
        guard !bytes.isEmpty else { return }
        try file.append(bytes)
        bytes.removeAll(keepingCapacity: true)
    }

    // MARK: Reading

    private struct DeviceLine: Codable {
        var version: String?
        var d: UInt32?
        var identity: String?
        var scan: UInt32?
    }

    private struct BookLine: Codable {
        var d: UInt32
        var scan: UInt32
        var ordinal: Int
        var book: Book
    }

    private struct ScanLine: Codable {
        var d: UInt32
        var put: DurableScan?
        var scan: UInt32?
        var id: String?
        var settled: String?
    }

    private func restore() throws(Failure) {
        try self.restoreDevices()
        var records: [DeviceNumber: OrderedTable<UInt32, DurableScan>] = [:]
        for line: ScanLine in try self.lines(of: self.scans) {
            let device = DeviceNumber(line.d)
            if let record = line.put {
                records[device, default: OrderedTable()][record.scan] = record
            } else if let scan = line.scan, let id = line.id {
                records[device]?.update(scan) { $0.job?.lastEventID = id }
            } else if let scan = line.scan, line.settled != nil {
                records[device]?[scan] = nil
            }
        }
        for line: BookLine in try self.lines(of: self.library) {
            // The library decides: a kill may have come between a book and its record.
            records[DeviceNumber(line.d)]?.update(line.scan) { record in
                if !record.booksApplied.contains(line.ordinal) { record.booksApplied.append(line.ordinal) }
            }
        }
        for device in records.keys {
            let scans = (records[device]?.values ?? []).sorted {
                ($0.capturedUnixMs, $0.scan) < ($1.capturedUnixMs, $1.scan)
            }
            guard !scans.isEmpty else { continue }
            self.restored[device, default: Restored(identity: nil, lastScan: .none, scans: [])].scans = scans
        }
    }

    private func restoreDevices() throws(Failure) {
        let lines: [DeviceLine] = try self.lines(of: self.devices)
        if let first = lines.first, first.version != Self.version {
            throw .otherVersion(
                "\(self.path) was written in form \(first.version ?? "0"), not \(Self.version)")
        }
        if lines.isEmpty { self.add(DeviceLine(version: Self.version), to: &self.pending.devices) }
        for line in lines {
            guard let device = line.d.map({ DeviceNumber($0) }) else { continue }
            var phone = self.restored(device)
            if let identity = line.identity { phone.identity = identity }
            if let scan = line.scan { phone.lastScan = max(phone.lastScan, ScanNumber(scan)) }
            self.restored[device] = phone
        }
    }

    private func lines<Line: Decodable>(of file: JournalFile) throws(Failure) -> [Line] {
        do throws(SystemError) {
            let (lines, torn) = try file.takeLines()
            if torn { self.linesSkipped += 1 }
            var decoded: [Line] = []
            for line in lines {
                if let value = JSON.decode(Line.self, from: Array(line)) {
                    decoded.append(value)
                } else {
                    self.linesSkipped += 1
                }
            }
            return decoded
        } catch { throw .system(error) }
    }
}
