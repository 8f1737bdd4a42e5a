package import Device
package import EventLoop
package import SimBase
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
    /// What one phone finds when its process starts.
    package struct Restored: Sendable {
        /// The device id, if the phone ever had one.
        package var identity: String?
        /// How many device ids it has ever had.
        package var installations = 0
        package var lastScan: ScanNumber
        /// Unsettled scans, oldest first.
        package var scans: [DurableScan]

        package init(identity: String?, lastScan: ScanNumber, scans: [DurableScan]) {
            self.identity = identity
            self.lastScan = lastScan
            self.scans = scans
        }

        /// Of a phone that never was.
        static let nothing = Restored(identity: nil, lastScan: .none, scans: [])
    }

    package enum Failure: Error {
        case system(SystemError)
        /// Another version of this program wrote the folder.
        case otherVersion(String)
    }

    package let path: String
    /// How many threads each layout is for.
    private var layouts: [Int] = []
    private var restored: [DeviceNumber: Restored] = [:]
    /// Unfinished lines that were cut off, and lines that mean nothing or nothing that a phone can go on from.
    package private(set) var linesSkipped = 0

    /// Makes the folder if there is none, and reads it.
    package init(path: String) throws(Failure) {
        self.path = path
        do throws(SystemError) {
            try FileTree.makeFolder(path, mode: 0o700)
        } catch { throw .system(error) }
        try self.restore()
    }

    /// What the folder held for this phone when it was read.
    package func restored(_ device: DeviceNumber) -> Restored {
        self.restored[device] ?? .nothing
    }

    /// Every unsettled scan of the folder, by phone, oldest first.
    package func unsettled() -> [(device: DeviceNumber, scan: DurableScan)] {
        self.restored.keys.sorted().flatMap { device in
            self.restored(device).scans.map { (device, $0) }
        }
    }

    /// Where so many threads write from now on: behind what is there, if the last run had as many, else to new journals.
    package mutating func journals(threads: Int) throws(Failure) -> [StateJournal.Place] {
        precondition(threads > 0, "a folder that nobody writes to")
        if self.layouts.last != threads { self.layouts.append(threads) }
        let places = (0..<threads).map { thread in
            StateJournal.Place(folder: self.path, layout: self.layouts.count - 1, thread: thread)
        }
        // All are made before any is written to: their number tells how many threads the layout is for.
        do throws(SystemError) {
            for place in places { _ = try StateJournal(place) }
        } catch { throw .system(error) }
        return places
    }

    /// Deletes the journals and the folder.
    package func remove() {
        for (layout, threads) in self.layouts.enumerated() {
            for thread in 0..<threads {
                let place = StateJournal.Place(folder: self.path, layout: layout, thread: thread)
                for kind in StateJournal.Kind.allCases { FileTree.remove(place.path(of: kind)) }
            }
        }
        FileTree.removeFolder(self.path)
    }

    // MARK: Reading

    private mutating func restore() throws(Failure) {
        var records: [DeviceNumber: OrderedTable<UInt32, DurableScan>] = [:]
        var places: [StateJournal.Place] = []
        while true {
            let layout = self.layouts.count
            var thread = 0
            while let place = StateJournal.Place(folder: self.path, layout: layout, thread: thread).ifThere {
                try self.restoreDevices(place)
                try self.restoreScans(place, into: &records)
                places.append(place)
                thread += 1
            }
            guard thread > 0 else { break }
            self.layouts.append(thread)
        }
        for place in places { try self.restoreLibrary(place, into: &records) }
        for device in records.keys {
            let scans = (records[device]?.values ?? []).sorted {
                ($0.capturedUnixMs, $0.scan) < ($1.capturedUnixMs, $1.scan)
            }
            guard !scans.isEmpty else { continue }
            self.restored[device, default: .nothing].scans = scans
        }
    }

    private mutating func restoreDevices(_ place: StateJournal.Place) throws(Failure) {
        let lines: [StateJournal.DeviceLine] = try self.lines(of: place.path(of: .devices))
        if let first = lines.first, first.version != StateJournal.version {
            throw .otherVersion(
                "\(self.path) was written in form \(first.version ?? "0"), not \(StateJournal.version)")
        }
        for line in lines {
            guard let device = line.d.map({ DeviceNumber($0) }) else { continue }
            if let identity = line.identity {
                self.restored[device, default: .nothing].identity = identity
                self.restored[device, default: .nothing].installations += 1
            }
            if let scan = line.scan { self.used(scan, by: device) }
        }
    }

    private mutating func restoreScans(
        _ place: StateJournal.Place, into records: inout [DeviceNumber: OrderedTable<UInt32, DurableScan>]
    ) throws(Failure) {
        for line: StateJournal.ScanLine in try self.lines(of: place.path(of: .scans)) {
            let device = DeviceNumber(line.d)
            if let record = line.put {
                guard record.isSound else {
                    self.linesSkipped += 1
                    continue
                }
                records[device, default: OrderedTable()][record.scan] = record
                self.used(record.scan, by: device)
            } else if let scan = line.scan, let id = line.id {
                records[device]?.update(scan) { record in
                    var moved = record
                    moved.job?.lastEventID = id
                    if moved.isSound { record = moved } else { self.linesSkipped += 1 }
                }
            } else if let scan = line.scan, line.settled != nil {
                records[device]?[scan] = nil
                self.used(scan, by: device)
            } else if line.wiped == true {
                records[device] = nil
            }
        }
    }

    /// The library decides: a kill may have come between a book and its record.
    private mutating func restoreLibrary(
        _ place: StateJournal.Place, into records: inout [DeviceNumber: OrderedTable<UInt32, DurableScan>]
    ) throws(Failure) {
        for line: StateJournal.BookLine in try self.lines(of: place.path(of: .library)) {
            guard (0..<DeviceLimit.booksPerScanMax).contains(line.ordinal) else {
                self.linesSkipped += 1
                continue
            }
            self.used(line.scan, by: DeviceNumber(line.d))
            records[DeviceNumber(line.d)]?.update(line.scan) { record in
                if !record.booksApplied.contains(line.ordinal) { record.booksApplied.append(line.ordinal) }
            }
        }
    }

    /// A number is used as soon as any line says so: should the line that counts it be damaged, another one knows.
    private mutating func used(_ scan: UInt32, by device: DeviceNumber) {
        guard scan <= DeviceLimit.scanNumberMax else {
            self.linesSkipped += 1
            return
        }
        let last = self.restored[device]?.lastScan ?? .none
        self.restored[device, default: .nothing].lastScan = max(last, ScanNumber(scan))
    }

    private mutating func lines<Line: Decodable>(of path: String) throws(Failure) -> [Line] {
        do throws(SystemError) {
            let (lines, torn) = try JournalFile(path: path).takeLines()
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
