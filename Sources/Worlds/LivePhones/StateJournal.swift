package import EventLoop
package import Phone
package import SimBase
import Talaria

/// Where one thread writes what its phones must not forget; see `StateFolder`.
///
/// A write is durable once it is in the kernel's hands: that is what the end of a process cannot undo. The books of a
/// batch are written before the records that rely on them, so that no record claims a book that the library lacks.
package final class StateJournal {
    enum Kind: String, CaseIterable {
        case devices, library, scans
    }

    /// Which journals of a folder.
    package struct Location: Hashable, Sendable {
        let folder: String
        let layout: Int
        let thread: Int

        /// The first journals have plain names: a fleet on one thread never has others.
        func path(of kind: Kind) -> String {
            let suffix = self.layout == 0 && self.thread == 0 ? "" : "-\(self.layout).\(self.thread)"
            return "\(self.folder)/\(kind.rawValue)\(suffix).journal"
        }

        /// All that are in a folder: by layout, and in it by thread.
        static func all(in folder: String) -> [Location] {
            var locations: [Location] = []
            for layout in 0... {
                let before = locations.count
                for thread in 0... {
                    let location = Location(folder: folder, layout: layout, thread: thread)
                    guard FileTree.exists(location.path(of: .devices)) else { break }
                    locations.append(location)
                }
                if locations.count == before { break }
            }
            return locations
        }
    }

    /// The form of the lines; a folder of another form is refused, not guessed at.
    static let version = "1"

    struct DeviceLine: Codable {
        var version: String?
        var d: UInt32?
        var identity: String?
        var scan: UInt32?
        /// The scan has a record in `scans.journal`. Older folders do not say.
        var stored: Bool?
    }

    struct BookLine: Codable {
        var d: UInt32
        var scan: UInt32
        var ordinal: Int
        var book: Book
    }

    struct ScanLine: Codable {
        var d: UInt32
        var put: DurableScan?
        var scan: UInt32?
        var id: String?
        var settled: String?
        /// The app was removed with all that it stored: whatever the phone had before is gone.
        var wiped: Bool?
    }

    private let devices: JournalFile
    private let library: JournalFile
    private let scans: JournalFile
    /// The highest scan of each phone whose record is known to be stored; records come in the order of their scans.
    private var storedMost: [DeviceNumber: UInt32] = [:]
    private var pending = (devices: JournalText(), library: JournalText(), scans: JournalText())

    /// Opens the journals, or makes them, to write behind what they hold.
    package init(_ location: Location) throws(SystemError) {
        self.devices = try JournalFile(path: location.path(of: .devices))
        self.library = try JournalFile(path: location.path(of: .library))
        self.scans = try JournalFile(path: location.path(of: .scans))
        if self.devices.isEmpty { self.pending.devices.writeHead(version: Self.version) }
    }

    package func keep(identity: String, of device: DeviceNumber) {
        self.pending.devices.begin(device)
        self.pending.devices.member("identity", identity)
        self.pending.devices.end()
    }

    /// The scan's number is used from now on, whatever becomes of it.
    package func use(_ scan: ScanNumber, of device: DeviceNumber) {
        self.pending.devices.begin(device, scan.raw)
        self.pending.devices.end()
    }

    /// Whatever a phone had stored is gone, and it has another device id.
    package func wipe(_ device: DeviceNumber, newIdentity identity: String) {
        self.pending.scans.begin(device)
        self.pending.scans.member("wiped", true)
        self.pending.scans.end()
        self.keep(identity: identity, of: device)
    }

    package func store(_ change: StoreChange, of device: DeviceNumber) {
        switch change {
        case .put(let record):
            self.pending.scans.begin(device, record.scan)
            self.pending.scans.member("put", record)
            self.pending.scans.end()
            guard self.storedMost[device].map({ $0 < record.scan }) ?? true else { return }
            self.storedMost[device] = record.scan
            self.pending.devices.begin(device, record.scan)
            self.pending.devices.member("stored", true)
            self.pending.devices.end()
        case .lastEventID(let scan, let id):
            self.pending.scans.begin(device, scan.raw)
            self.pending.scans.member("id", id)
            self.pending.scans.end()
        case .settled(let scan, let outcome):
            let text =
                switch outcome {
                case .completed: "completed"
                case .refused(let code): "refused \(code)"
                }
            self.pending.scans.begin(device, scan.raw)
            self.pending.scans.member("settled", text)
            self.pending.scans.end()
        case .book(let key, let book):
            self.pending.library.begin(device, key.scan.raw)
            self.pending.library.member("ordinal", Int64(key.ordinal))
            self.pending.library.member("book", book)
            self.pending.library.end()
        }
    }

    /// Makes everything durable that was stored since the last flush. The numbers of scans come last: one that is said to
    /// be stored has its record.
    package func flush() throws(SystemError) {
        try self.write(&self.pending.library, to: self.library)
        try self.write(&self.pending.scans, to: self.scans)
        try self.write(&self.pending.devices, to: self.devices)
    }

    /// Also past a loss of power.
    package func sync() throws(SystemError) {
        try self.flush()
        self.devices.sync()
        self.library.sync()
        self.scans.sync()
    }

    private func write(_ text: inout JournalText, to file: JournalFile) throws(SystemError) {
        guard !text.isEmpty else { return }
        try file.append(text.bytes)
        text.removeAll()
    }
}
