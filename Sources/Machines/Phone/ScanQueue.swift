import Observations
import SimBase
import Talaria

/// A scan in the durable queue.
struct WaitingScan: Sendable {
    var scan: Scan
    var cause: WaitingCause
    var hold: Hold
    /// The wait that a server requested; nothing shortens it.
    var floor: Instant
    /// The write that must be durable before anything is sent for this scan.
    var writeID: WriteID
    /// Whether it was observed as queued; a new capture is once its first record is durable.
    var isAnnounced: Bool

    /// The reason why a waiting scan cannot start.
    enum Hold: Hashable, Sendable {
        case none
        /// A backoff. A path that returns ends it.
        case until(Instant)
        /// Until the path returns, or the app is opened: by a fresh process, or from the background.
        case nextPath
        /// Until the app is opened: by a fresh process, or from the background.
        case nextLaunch

        /// Whether only an event from outside ends it.
        var isParked: Bool {
            switch self {
            case .none, .until: false
            case .nextPath, .nextLaunch: true
            }
        }
    }

    func isReady(at now: Instant) -> Bool { self.readyAt.map { $0 <= now } ?? false }

    /// The earliest time at which it may have a slot, as far as its own clocks go; nil while it is parked.
    var readyAt: Instant? {
        switch self.hold {
        case .none: self.floor
        case .until(let moment): max(self.floor, moment)
        case .nextPath, .nextLaunch: nil
        }
    }
}

/// The durable queue, oldest capture first. The offline queue and the rate-limit queue are views of it by cause.
struct ScanQueue: Sendable {
    private(set) var scans: [WaitingScan] = []
    /// Scans with only the DELETE left: restored ones, so nearly always none.
    private var decidedCount = 0

    var count: Int { self.scans.count }

    func index(of number: ScanNumber) -> Int? {
        // By index: a closure would get a copy of each scan.
        for index in self.scans.indices where self.scans[index].scan.record.scan == number.raw {
            return index
        }
        return nil
    }

    mutating func insert(_ waiting: WaitingScan) {
        // From the end: most scans are the newest when they come.
        var index = self.scans.count
        while index > 0, waiting.comes(before: self.scans[index - 1]) { index -= 1 }
        if waiting.scan.work == .finish { self.decidedCount += 1 }
        self.scans.insert(waiting, at: index)
    }

    mutating func remove(at index: Int) -> WaitingScan {
        let waiting = self.scans.remove(at: index)
        if waiting.scan.work == .finish { self.decidedCount -= 1 }
        return waiting
    }

    mutating func update(at index: Int, _ change: (inout WaitingScan) -> Void) {
        change(&self.scans[index])
    }

    /// The conditions by which the queue selects the next scan.
    struct Conditions {
        var now: Instant
        var durable: WriteID
        /// The gate of all uploads.
        var gate: RateGate
        /// The earliest time for all scans: the path has only just returned.
        var opensAt: Instant
        /// The earliest time for those that were taken offline: another one is still being worked on. Nil
        /// while its end is not known.
        var offlineOpensAt: Instant?
    }

    /// The index of the next scan that needs no slot: only its DELETE is left.
    func nextDecided(_ conditions: Conditions) -> Int? {
        guard self.decidedCount > 0, conditions.opensAt <= conditions.now else { return nil }
        for index in self.scans.indices
        where self.scans[index].scan.work == .finish && self.scans[index].isReady(at: conditions.now)
            && self.scans[index].writeID <= conditions.durable
        {
            return index
        }
        return nil
    }

    /// The index of the scan whose turn it is to have a slot, if any. An upload never overtakes an older one that only awaits its
    /// photo or its record; one that serves a backoff is overtaken.
    func next(_ conditions: Conditions) -> Int? {
        guard conditions.opensAt <= conditions.now else { return nil }
        let isOfflineOpen = conditions.offlineOpensAt.map { $0 <= conditions.now } ?? false
        var uploadsHeld = !conditions.gate.isOpen(at: conditions.now)
        for index in self.scans.indices {
            guard let readyAt = self.scans[index].readyAt, readyAt <= conditions.now,
                isOfflineOpen || self.scans[index].cause != .offline
            else { continue }
            let isRecorded = self.scans[index].writeID <= conditions.durable
            switch self.scans[index].scan.work {
            case .finish: break
            case .follow:
                if isRecorded { return index }
            case .upload:
                guard !uploadsHeld else { continue }
                if isRecorded, self.scans[index].hasPhoto { return index }
                uploadsHeld = true
            }
        }
        return nil
    }

    /// Returns the number of scans that hold a prepared photo that they cannot use yet.
    func photosHeldBack(at now: Instant) -> Int {
        var count = 0
        for index in self.scans.indices
        where self.scans[index].hasPhoto && !self.scans[index].isReady(at: now) {
            count += 1
        }
        return count
    }

    /// Returns the time after now at which the next scan becomes ready by the clock alone.
    func nextReady(_ conditions: Conditions, hasSlot: Bool) -> Instant? {
        guard hasSlot || self.decidedCount > 0 else { return nil }
        var earliest: Instant?
        for index in self.scans.indices {
            guard var at = self.scans[index].readyAt, self.scans[index].writeID <= conditions.durable
            else { continue }
            switch self.scans[index].scan.work {
            case .follow, .finish: break
            case .upload:
                // Without its photo, that is requested as soon as its wait is over.
                guard self.scans[index].hasPhoto || at > conditions.now else { continue }
                if self.scans[index].hasPhoto { at = max(at, conditions.gate.opensAt) }
            }
            at = max(at, conditions.opensAt)
            if self.scans[index].cause == .offline {
                guard let offlineOpensAt = conditions.offlineOpensAt else { continue }
                at = max(at, offlineOpensAt)
            }
            if at > conditions.now { earliest = min(earliest ?? at, at) }
        }
        return earliest
    }
}

extension WaitingScan {
    fileprivate var hasPhoto: Bool {
        switch self.scan.photo {
        case .prepared: true
        case .absent, .preparing: false
        }
    }

    fileprivate func comes(before other: WaitingScan) -> Bool {
        let (left, right) = (self.scan.record, other.scan.record)
        return (left.capturedUnixMs, left.scan) < (right.capturedUnixMs, right.scan)
    }
}
