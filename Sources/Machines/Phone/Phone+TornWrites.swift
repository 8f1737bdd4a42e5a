import Faults
import Observations
import SimBase
import Talaria

// Where in a sequence of writes the storage is torn: by a draw, or where a fault waits for a record or for a step of a scan.

extension Phone {
    /// The purpose of a draw; raw values are part of the meaning of a seed.
    enum Tear: UInt64 {
        case kill = 0
        case storageFull = 1
        case betweenBooks = 2
    }

    /// Returns the number of pending writes that the storage keeps: none, some or all.
    func drawKept(_ tear: Tear) -> Int { self.draw(upTo: self.storage?.unflushed.count ?? 0, tear) }

    private func draw(upTo most: Int, _ tear: Tear) -> Int {
        Int(
            self.context.random.below(
                UInt64(most) + 1, .kill, UInt64(self.number.raw), UInt64(self.process), tear.rawValue))
    }

    /// The fault that waits for a step which the app has come to by this, if there is one.
    mutating func takeArmed(at observation: Observation, _ now: Instant) -> PhoneWindow? {
        guard case .phone(.uploadAccepted) = observation.what, !self.isRunEnded else { return nil }
        let index = self.armed.firstIndex { $0.trigger == .afterStep(.accepted) }
        return index.map { self.armed.remove(at: $0).opened(at: now) }
    }

    /// The fault that comes first in the writes under way, and how many of them the storage takes before it.
    mutating func takeArmed(at now: Instant) -> (window: PhoneWindow, kept: Int)? {
        guard !self.isRunEnded, let written = self.storage?.unflushed, !written.isEmpty else { return nil }
        var first: (index: Int, kept: Int)?
        for index in self.armed.indices {
            guard let kept = self.recordsBefore(self.armed[index], in: written),
                kept < first?.kept ?? .max
            else { continue }
            first = (index, kept)
        }
        return first.map { (self.armed.remove(at: $0.index).opened(at: now), $0.kept) }
    }

    private func recordsBefore(_ window: PhoneWindow, in written: [PendingWrite]) -> Int? {
        switch window.trigger {
        case nil, .afterStep(.accepted): return nil
        case .afterRecords(let count):
            let kept = max(1, count - self.records)
            return kept <= written.count ? kept : nil
        case .afterStep(.book):
            guard let books = Self.books(in: written, atLeast: 2) else { return nil }
            return books.lowerBound + 1 + self.draw(upTo: books.count - 2, .betweenBooks)
        case .afterStep(.lastBook):
            return Self.books(in: written, atLeast: 1)?.upperBound
        case .afterStep(.completed):
            // A DELETE that is tried again writes such a record too.
            let index = written.firstIndex { write in
                guard case .put(let record) = write.change, record.completed else { return false }
                return self.storage?.isDecided(ScanNumber(record.scan)) == false
            }
            return index.map { $0 + 1 }
        }
    }

    /// The indices of the books of one result.
    private static func books(in written: [PendingWrite], atLeast least: Int) -> Range<Int>? {
        var start = written.startIndex
        while start < written.endIndex {
            guard let scan = written[start].change.scanOfBook else {
                start += 1
                continue
            }
            var end = start + 1
            while end < written.endIndex, written[end].change.scanOfBook == scan { end += 1 }
            if end - start >= least { return start..<end }
            start = end
        }
        return nil
    }
}

extension StoreChange {
    fileprivate var scanOfBook: ScanNumber? {
        switch self {
        case .book(let key, _): key.scan
        case .pending(let entry): entry.key.scan
        case .put, .lastEventID, .reviewed, .settled: nil
        }
    }

    /// Whether it goes with the scan's record; a book in the library stays.
    func isRecord(of scan: ScanNumber) -> Bool {
        switch self {
        case .put(let record): record.scan == scan.raw
        case .lastEventID(scan, _): true
        case .lastEventID, .book, .pending, .reviewed, .settled: false
        }
    }
}

extension ObservationPayload {
    /// Whether it says what is durable now, and not what the app does about it.
    var isOfStorage: Bool {
        switch self {
        case .phone(.queued), .phone(.bookAdded), .phone(.completed), .phone(.refused),
            .phone(.canceled), .phone(.bookPending), .phone(.bookEdited), .phone(.bookApproved),
            .phone(.bookRejected), .phone(.bookMerged):
            true
        case .phone, .backend, .fault, .network, .control: false
        }
    }
}
