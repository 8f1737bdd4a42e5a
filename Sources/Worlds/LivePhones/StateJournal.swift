import JSON
package import Phone
package import SimBase
package import SystemIO
import Talaria

/// The journal of one thread, for the data that its phones must not lose; see `StateFolder`.
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

    private let devices: JournalFile
    private let library: JournalFile
    private let scans: JournalFile
    /// The highest scan of each phone whose record is known to be stored; records come in the order of their scans.
    private var storedMost: [DeviceNumber: UInt32] = [:]
    // What the next flush writes.
    private var pendingDevices = JSONWriter(.numbered, reserving: 512)
    private var pendingLibrary = JSONWriter(.numbered, reserving: 512)
    private var pendingScans = JSONWriter(.numbered, reserving: 512)

    private let location: Location
    /// The line about these journals in the manifest; nil in a folder that ends with its process.
    private let manifest: StateManifest.Line?

    /// Opens the journals, or makes them, to write behind what they hold.
    package init(_ location: Location) throws(SystemError) {
        self.location = location
        self.manifest = try StateManifest.Line(of: location)
        self.devices = try JournalFile(path: location.path(of: .devices))
        self.library = try JournalFile(path: location.path(of: .library))
        self.scans = try JournalFile(path: location.path(of: .scans))
        if self.devices.size == 0 { self.pendingDevices.writeHead(version: Self.version) }
    }

    package func keep(identity: String, of device: DeviceNumber) {
        self.pendingDevices.writeLine(device) { $0.member("identity", identity) }
    }

    /// The scan's number is used from now on, whatever its outcome.
    package func use(_ scan: ScanNumber, of device: DeviceNumber) {
        self.pendingDevices.writeLine(device, scan.raw) { _ in }
    }

    /// Whatever a phone had stored is gone, and it has another device id.
    package func wipe(_ device: DeviceNumber, newIdentity identity: String, hasReview: Bool) {
        self.pendingScans.writeLine(device) { $0.member("wiped", true) }
        if hasReview {
            self.pendingLibrary.writeLine(device, 0) { $0.member("review", ReviewWord.wiped.rawValue) }
        }
        self.keep(identity: identity, of: device)
    }

    package func store(_ change: StoreChange, of device: DeviceNumber) {
        switch change {
        case .put(let record):
            self.pendingScans.writeLine(device, record.scan) { $0.member("put", record) }
            guard self.storedMost[device].map({ $0 < record.scan }) ?? true else { return }
            self.storedMost[device] = record.scan
            self.pendingDevices.writeLine(device, record.scan) { $0.member("stored", true) }
        case .lastEventID(let scan, let id):
            self.pendingScans.writeLine(device, scan.raw) { $0.member("id", id) }
        case .settled(let scan, let outcome):
            let text =
                switch outcome {
                case .completed: "completed"
                case .refused(let code): "refused \(code)"
                case .canceled: "canceled"
                }
            self.pendingScans.writeLine(device, scan.raw) { $0.member("settled", text) }
        case .book(let key, let book):
            self.pendingLibrary.writeLine(device, key.scan.raw) { line in
                line.member("ordinal", key.ordinal)
                line.member("book", book)
            }
        case .pending(let entry):
            self.pendingLibrary.writeReview(device, entry.key, .pending) { line in
                line.member("book", entry.book)
                line.member("receivedUnixNs", entry.receivedUnixNs)
                line.member("title", entry.title)
                line.member("author", entry.author)
            }
        case .reviewed(let key, .approved(let book)):
            self.pendingLibrary.writeReview(device, key, .approved) { $0.member("book", book) }
        case .reviewed(let key, .rejected): self.pendingLibrary.writeReview(device, key, .rejected) { _ in }
        case .reviewed(let key, .merged(let original)):
            self.pendingLibrary.writeReview(device, key, .merged) { line in
                line.member("intoScan", original.scan.raw)
                line.member("intoOrdinal", original.ordinal)
            }
        }
    }

    /// What a line says of a book that is reviewed.
    enum ReviewWord: String {
        case pending, approved, rejected, merged
        /// The app was removed with all that waited, and with its library.
        case wiped
    }

    /// Makes everything durable that was stored since the last flush. The numbers of scans come last: one that is said to
    /// be stored has its record. The manifest follows: what it says has been written.
    package func flush() throws(SystemError) {
        guard !self.pendingLibrary.isEmpty || !self.pendingScans.isEmpty || !self.pendingDevices.isEmpty
        else {
            return
        }
        try self.write(&self.pendingLibrary, to: self.library)
        try self.write(&self.pendingScans, to: self.scans)
        try self.write(&self.pendingDevices, to: self.devices)
        try self.manifest?.write(self.sizes)
    }

    /// The bytes of the journals.
    var sizes: StateManifest.Sizes {
        .init(devices: self.devices.size, library: self.library.size, scans: self.scans.size)
    }

    private func write(_ text: inout JSONWriter, to file: JournalFile) throws(SystemError) {
        guard !text.isEmpty else { return }
        try file.append(text.bytes)
        text.removeAll()
    }
}
