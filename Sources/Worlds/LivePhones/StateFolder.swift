import JSON
package import Phone
package import SimBase
package import SystemIO
import Talaria

/// The durable storage of all phones of a fleet, as it was when the folder was read.
///
/// It is kept in journals, three for each thread that writes, each to be read in the order of its lines:
/// - `devices.journal`: device ids, and how many scans each phone has ever made;
/// - `library.journal`: every book in a library;
/// - `scans.journal`: the records of unsettled scans, with their tokens (file mode 0600).
///
/// Which thread has which phone may change from run to run. A *layout* is the journals of so many threads; the first one
/// of a folder has number 0, and a run with another number of threads begins the next. Layouts are read in their order,
/// and within one a phone's lines are all in the journals of one thread.
package struct StateFolder: Sendable {
    /// The stored data of one phone at the start of its process.
    package struct Restored: Sendable {
        /// The device id, if the phone ever had one.
        package var identity: String?
        /// The number of device ids that it has ever had.
        package var installations = 0
        package var lastScan: ScanNumber
        /// Unsettled scans, oldest first.
        package var scans: [DurableScan]
        /// Books that wait for their person, and those that were approved.
        package var review = DurableReview()

        /// The state of a phone without a record.
        static let nothing = Restored(identity: nil, lastScan: .none, scans: [])
    }

    /// A scan whose record was stored and is gone.
    package struct LostScan: Hashable, Sendable {
        package var device: DeviceNumber
        package var scan: ScanNumber
        /// The number of its books in the library.
        package var books: Int
    }

    /// A journal that has less than it had when it was last written to.
    package struct Shortfall: Hashable, Sendable {
        package var path: String
        /// Nil for a file that is not there.
        package var bytes: Int?
        package var bytesBefore: Int
        /// Whether it is a journal of scans: what is gone from it is known by `lost`.
        package var hasScans: Bool
    }

    package enum Failure: Error {
        case system(SystemError)
        /// Another version of this program wrote the folder.
        case otherVersion(String)
        /// The manifest at this path cannot be read.
        case damagedManifest(String)
    }

    package let path: String
    /// The fleet that it belongs to; nil in a new folder, and in one of an earlier version.
    package var fleet: StateFleet?
    /// Whether something says what the folder should have. That of an earlier version has nothing.
    package let hasManifest: Bool
    /// What it lacks of what it should have.
    package let shortfalls: [Shortfall]
    /// The number of threads of each layout.
    private var layouts: [Int] = []
    private var restored: [DeviceNumber: Restored] = [:]
    /// Lines that mean nothing, or nothing that a phone can continue from.
    package private(set) var linesSkipped = 0
    /// Writes that the process before did not finish, at most one for each journal: what they were to say was never durable.
    /// They were cut off.
    package private(set) var writesTorn = 0
    /// Scans whose records were stored and are gone, although they were not settled: by phone, and by number.
    package private(set) var lost: [LostScan] = []
    /// While the folder is read: the scans of each phone whose records were stored, without those that were settled.
    private var stored: [DeviceNumber: Set<UInt32>] = [:]
    /// While the library is read: the reviews of the phones.
    private var reviews: [DeviceNumber: DurableState] = [:]
    /// While the library is read: the ordinals of the books of each lost scan.
    private var booksOfLost: [DeviceNumber: [UInt32: Set<Int>]] = [:]

    /// Makes the folder if there is none, and reads it.
    package init(path: String) throws(Failure) {
        self.path = path
        do throws(SystemError) {
            try FileTree.makeFolder(path, mode: 0o700)
        } catch { throw .system(error) }
        let manifest = try StateManifest(in: path)
        self.fleet = manifest?.fleet
        self.hasManifest = manifest != nil
        self.shortfalls = manifest?.shortfalls ?? []
        try self.restore()
    }

    /// Returns the stored data of this phone.
    package func restored(_ device: DeviceNumber) -> Restored {
        self.restored[device] ?? .nothing
    }

    /// The phones that have had a device id.
    package var phonesKnown: Set<DeviceNumber> {
        Set(self.restored.lazy.filter { $0.value.identity != nil }.map(\.key))
    }

    /// Every unsettled scan of the folder, by phone, oldest first.
    package func unsettled() -> [(device: DeviceNumber, scan: DurableScan)] {
        self.restored.keys.sorted().flatMap { device in
            self.restored(device).scans.map { (device, $0) }
        }
    }

    /// Returns the journals for a number of threads: the existing ones if the last run had as many, otherwise
    /// new ones. `isKept`: whether another process may read the folder, which then needs a manifest.
    package mutating func journals(
        threads: Int, isKept: Bool = true
    ) throws(Failure) -> [StateJournal.Location] {
        precondition(threads > 0, "a folder that nobody writes to")
        if self.layouts.last != threads { self.layouts.append(threads) }
        let locations = (0..<threads).map { thread in
            StateJournal.Location(folder: self.path, layout: self.layouts.count - 1, thread: thread)
        }
        if isKept {
            try StateManifest.add(
                StateJournal.Location.all(in: self.path) + locations, of: self.fleet, in: self.path)
        }
        // All are made before any is written to: their number is the number of threads of the layout.
        do throws(SystemError) {
            for location in locations { _ = try StateJournal(location) }
        } catch { throw .system(error) }
        return locations
    }

    /// Whether a fleet has kept its storage there.
    package static func holdsJournals(_ path: String) -> Bool {
        FileTree.exists(StateManifest.path(in: path)) || !StateJournal.Location.all(in: path).isEmpty
    }

    /// Deletes the journals of a folder, and the folder. Threads that still write cannot create a journal in
    /// it: it has another name by then.
    package static func remove(path: String) {
        let gone = path + ".gone"
        guard (try? FileTree.replace(gone, by: path)) != nil else { return Self.removeJournals(path) }
        Self.removeJournals(gone)
    }

    private static func removeJournals(_ path: String) {
        for location in StateJournal.Location.all(in: path) {
            for kind in StateJournal.Kind.allCases { try? FileTree.remove(location.path(of: kind)) }
        }
        try? FileTree.remove(StateManifest.path(in: path))
        FileTree.removeFolder(path)
    }

    // MARK: Reading

    /// The lines about each scan that is not settled.
    private typealias ScanLines = [DeviceNumber: SlotMap<UInt32, [[UInt8]]>]

    private mutating func restore() throws(Failure) {
        let locations = StateJournal.Location.all(in: self.path)
        for location in locations where location.thread == 0 {
            self.layouts.append(locations.count { $0.layout == location.layout })
        }
        var scanLines: ScanLines = [:]
        for location in locations {
            try self.restoreDevices(location)
            try self.collectScans(location, into: &scanLines)
        }
        var records = self.replay(scanLines)
        self.findLost(records)
        for location in locations { try self.restoreLibrary(location, into: &records) }
        for device in records.keys {
            let scans = (records[device]?.values ?? []).sorted {
                ($0.capturedUnixMs, $0.scan) < ($1.capturedUnixMs, $1.scan)
            }
            guard !scans.isEmpty else { continue }
            self.restored[device, default: .nothing].scans = scans
        }
        for device in self.reviews.keys {
            self.restored[device, default: .nothing].review = self.reviews[device]?.review ?? DurableReview()
        }
        self.reviews = [:]
        self.listLost()
    }

    /// Finds scans that were stored but are neither settled nor among the records. Their books are then read
    /// from the library.
    private mutating func findLost(_ records: [DeviceNumber: SlotMap<UInt32, DurableScan>]) {
        for (device, stored) in self.stored {
            for scan in stored where records[device]?[scan] == nil {
                self.booksOfLost[device, default: [:]][scan] = []
            }
        }
        self.stored = [:]
    }

    private mutating func listLost() {
        for (device, scans) in self.booksOfLost.sorted(by: { $0.key < $1.key }) {
            for (scan, books) in scans.sorted(by: { $0.key < $1.key }) {
                self.lost.append(LostScan(device: device, scan: ScanNumber(scan), books: books.count))
            }
        }
        self.booksOfLost = [:]
    }

    private mutating func restoreDevices(_ location: StateJournal.Location) throws(Failure) {
        var version: String??
        try self.eachLine(of: location.path(of: .devices)) { folder, bytes in
            guard let line = folder.decode(bytes, StateJournal.DeviceLine.init) else { return }
            if version == nil { version = .some(line.version) }
            guard let device = line.d.map({ DeviceNumber($0) }) else { return }
            if let identity = line.identity {
                folder.restored[device, default: .nothing].identity = identity
                folder.restored[device, default: .nothing].installations += 1
                // What an installation before this one had stored went with it.
                folder.stored[device] = nil
            }
            guard let scan = line.scan else { return }
            folder.used(scan, by: device)
            if line.stored == true { folder.stored[device, default: []].insert(scan) }
        }
        if let version, version != StateJournal.version {
            throw .otherVersion(
                "\(self.path) has format \(version ?? "0"); this program reads format \(StateJournal.version)"
            )
        }
    }

    /// Keeps the lines of scans that are not settled: those of settled scans need not be decoded.
    private mutating func collectScans(_ location: StateJournal.Location, into scanLines: inout ScanLines)
        throws(Failure)
    {
        try self.eachLine(of: location.path(of: .scans)) { folder, bytes in
            guard let subject = JournalSubject(bytes) else {
                folder.collect(bytes, into: &scanLines)
                return
            }
            guard !subject.isCompleted else {
                scanLines[subject.device]?[subject.scan] = nil
                folder.settled(subject.scan, by: subject.device)
                return
            }
            scanLines[subject.device, default: SlotMap()].append(Array(bytes), to: subject.scan)
        }
    }

    /// A line that is in another form than we write.
    private mutating func collect(_ bytes: ArraySlice<UInt8>, into scanLines: inout ScanLines) {
        guard let line = self.decode(bytes, StateJournal.ScanLine.init) else { return }
        let device = DeviceNumber(line.d)
        if let record = line.put {
            scanLines[device, default: SlotMap()].append(Array(bytes), to: record.scan)
        } else if let scan = line.scan, line.id != nil {
            scanLines[device, default: SlotMap()].append(Array(bytes), to: scan)
        } else if let scan = line.scan, line.settled != nil {
            scanLines[device]?[scan] = nil
            self.settled(scan, by: device)
        } else if line.wiped == true {
            scanLines[device] = nil
        }
    }

    private mutating func replay(_ scanLines: ScanLines) -> [DeviceNumber: SlotMap<UInt32, DurableScan>] {
        var records: [DeviceNumber: SlotMap<UInt32, DurableScan>] = [:]
        for (device, scans) in scanLines {
            for (scan, lines) in scans.entries {
                var record: DurableScan?
                for line in lines { self.replay(line[...], of: device, into: &record) }
                guard let record, record.scan == scan else { continue }
                records[device, default: SlotMap()][scan] = record
            }
        }
        return records
    }

    private mutating func replay(
        _ bytes: ArraySlice<UInt8>, of device: DeviceNumber, into record: inout DurableScan?
    ) {
        guard let line = self.decode(bytes, StateJournal.ScanLine.init) else { return }
        if let put = line.put {
            guard put.isSound, put.scan == line.scan ?? put.scan else {
                self.linesSkipped += 1
                return
            }
            record = put
            self.used(put.scan, by: device)
        } else if let id = line.id {
            var moved = record
            moved?.job?.lastEventID = id
            if moved?.isSound ?? true { record = moved } else { self.linesSkipped += 1 }
        } else if let scan = line.scan, line.settled != nil {
            // A refusal, which is rare: its story was kept.
            record = nil
            self.settled(scan, by: device)
        }
    }

    private mutating func settled(_ scan: UInt32, by device: DeviceNumber) {
        self.used(scan, by: device)
        self.stored[device]?.remove(scan)
    }

    /// The library alone says which books it has: a kill may have come between a book and its record, and the
    /// number of a line of an older version is the index of the book in an answer.
    private mutating func restoreLibrary(
        _ location: StateJournal.Location,
        into records: inout [DeviceNumber: SlotMap<UInt32, DurableScan>]
    ) throws(Failure) {
        try self.eachLine(of: location.path(of: .library)) { folder, bytes in
            let subject = JournalSubject(bytes)
            guard subject?.isReview != true else {
                folder.restoreReview(bytes, into: &records)
                return
            }
            if let subject, records[subject.device]?[subject.scan] == nil,
                folder.booksOfLost[subject.device]?[subject.scan] == nil
            {
                folder.used(subject.scan, by: subject.device)
                return
            }
            guard let line = folder.decode(bytes, StateJournal.BookLine.init) else { return }
            guard (0..<AppLimits.booksPerScanMax).contains(line.ordinal) else {
                folder.linesSkipped += 1
                return
            }
            let key = ResultKey(scan: ScanNumber(line.scan), ordinal: line.ordinal)
            folder.came(line.book, key, to: DeviceNumber(line.d), into: &records)
        }
    }

    private mutating func came(
        _ book: Book, _ key: ResultKey, to device: DeviceNumber,
        into records: inout [DeviceNumber: SlotMap<UInt32, DurableScan>]
    ) {
        self.used(key.scan.raw, by: device)
        self.booksOfLost[device]?[key.scan.raw]?.insert(key.ordinal)
        records[device]?.update(key.scan.raw) { record in
            guard record.booksApplied.count < AppLimits.booksPerScanMax else { return }
            record.booksApplied.append(book)
        }
    }

    private mutating func restoreReview(
        _ bytes: ArraySlice<UInt8>, into records: inout [DeviceNumber: SlotMap<UInt32, DurableScan>]
    ) {
        guard let line = self.decode(bytes, StateJournal.ReviewLine.init) else { return }
        let device = DeviceNumber(line.d)
        guard let change = line.change else {
            self.reviews[device] = nil
            return
        }
        guard let key = change.reviewedBook, (0..<AppLimits.booksPerScanMax).contains(key.ordinal),
            (1...ScanNumber.greatest.raw).contains(key.scan.raw)
        else {
            self.linesSkipped += 1
            return
        }
        if case .pending(let entry) = change, self.reviews[device]?.isPending(key) != true {
            self.came(entry.book, key, to: device, into: &records)
        }
        self.reviews[device, default: DurableState(keepsHistory: false)].apply(change)
    }

    /// A number is used as soon as any line says so: should the line that counts it be damaged, another one knows.
    private mutating func used(_ scan: UInt32, by device: DeviceNumber) {
        guard scan <= ScanNumber.greatest.raw else {
            self.linesSkipped += 1
            return
        }
        let last = self.restored[device]?.lastScan ?? .none
        self.restored[device, default: .nothing].lastScan = max(last, ScanNumber(scan))
    }

    /// A line that means nothing is counted. Storage that tears leaves bytes that are not UTF-8: no text of theirs is repaired.
    private mutating func decode<Line>(
        _ bytes: ArraySlice<UInt8>, _ read: (JSONNode) throws(JSONMismatch) -> Line
    ) -> Line? {
        let node = String(validating: bytes, as: UTF8.self).flatMap { _ in JSONNode(Array(bytes)) }
        let line = node.flatMap { try? read($0) }
        if line == nil { self.linesSkipped += 1 }
        return line
    }

    private mutating func eachLine(
        of path: String, _ body: (inout StateFolder, ArraySlice<UInt8>) -> Void
    ) throws(Failure) {
        do throws(SystemError) {
            if try JournalFile(path: path).eachLine({ body(&self, $0) }) { self.writesTorn += 1 }
        } catch { throw .system(error) }
    }
}

extension StoreChange {
    fileprivate var reviewedBook: ResultKey? {
        switch self {
        case .pending(let entry): entry.key
        case .reviewed(let key, _): key
        case .put, .lastEventID, .book, .settled: nil
        }
    }
}

extension SlotMap where Value == [[UInt8]] {
    fileprivate mutating func append(_ line: [UInt8], to key: Key) {
        if self.update(key, { $0.append(line) }) == nil { self[key] = [line] }
    }
}
