import Metrics
import Observations
import SimBase
import Talaria

/// The ledger's state of one phone. Settled scans are ranges of numbers; only open ones have a record.
struct PhoneAccount: Sendable {
    /// More restored scans than this are not believed.
    static let restoredMax = 1_000_000

    let device: DeviceNumber
    /// Its index in the findings' totals.
    let group: Int
    let journey: Journey
    /// What texts call its scans.
    var noun: WorkNoun { WorkNoun(self.journey) }

    /// The scans by number.
    var scans: [ScanAccount] = []
    private(set) var settled = NumberRanges<UInt32>()
    /// The jobs in the order of their first observation; usually a late one is searched.
    var jobs: [JobAccount] = []
    /// The next region of a photo that is segmented on the phone; nil if none is due.
    struct RegionDue: Sendable {
        let capture: UInt32
        let number: Int
        let of: Int
    }

    var regionDue: RegionDue?
    /// The last scan that is a region of a photo.
    private var lastRegion = ScanNumber.none
    /// Whether it did anything in this run.
    var tookPart = false
    /// The last time at which its app or its path appeared or disappeared: what was under way may have ended
    /// there. `PhoneLife.interruptedAt` has only the times at which data in flight was lost.
    var presenceChangedAt = Instant(nanoseconds: .min)
    var hasLaunched = false
    var sawRelaunch = false
    /// Scans of an earlier run that were not heard of by number yet.
    var inheritedUnnamed = 0
    /// Its app's process runs.
    var isAlive = true
    var isSuspended = false
    var suspendedAt = Instant.zero
    var isCutOff = false
    var faultsActive = 0
    var storage = PhoneStorage()
    /// Its process knows that the backend has no look-up by text.
    var lacksTexts = false
    /// The last scans that were completed or refused, and when; nil while a process does over what a kill took from it.
    var decided: [(scan: ScanNumber, at: Instant?)] = []
    /// Imports that the backend has ended, the latest few.
    var imports: [ImportedRows] = []
    /// The books that wait for their person, and what became of the others.
    var review = ReviewAccount()
    /// The keys for which a provider was asked, the latest few.
    var bills: [LookupBill] = []
    /// The scans that the user has canceled, the latest few.
    var cancels: [CanceledScan] = []
    var slots = 0
    var limits = RateLimitAccount()
    var streams = OpenStreams()

    init(device: DeviceNumber, group: Int, journey: Journey) {
        self.device = device
        self.group = group
        self.journey = journey
    }

    /// Something that the phone, or the target of its scan, did against an invariant.
    func violate(
        _ invariant: Invariant, _ scan: ScanNumber, at moment: Instant, _ fleet: inout LedgerFleet,
        _ text: String, cause: Cause? = nil
    ) {
        fleet.findings.violate(invariant, device: self.device, scan: scan, at: moment, text, cause: cause)
    }

    // MARK: Scans

    /// Returns the index of the scan's record, if it has one.
    func index(of scan: ScanNumber) -> Int? {
        let index = self.insertionIndex(of: scan)
        return index < self.scans.count && self.scans[index].number == scan ? index : nil
    }

    private func insertionIndex(of scan: ScanNumber) -> Int {
        guard let last = self.scans.last, last.number >= scan else { return self.scans.count }
        var low = 0
        var high = self.scans.count - 1
        while low < high {
            let middle = (low + high) / 2
            if self.scans[middle].number < scan { low = middle + 1 } else { high = middle }
        }
        return low
    }

    mutating func updateScan(_ scan: ScanNumber, _ change: (inout ScanAccount) -> Void) {
        guard let index = self.index(of: scan) else { return }
        change(&self.scans[index])
    }

    func isSettled(_ scan: ScanNumber) -> Bool { self.settled.contains(scan.raw) }

    /// The record of a scan that something was done for. One that was never captured counts as one that an
    /// earlier run left, as long as there are such; otherwise it breaks custody. Nil for a settled scan
    /// without a record.
    mutating func take(
        _ scan: ScanNumber, for deed: String, at: Instant, _ fleet: inout LedgerFleet
    ) -> Int? {
        if let index = self.index(of: scan) { return index }
        if self.isSettled(scan) { return nil }
        guard scan != .none, self.inheritedUnnamed > 0 else {
            self.violate(.scanCustody, scan, at: at, &fleet, "\(deed), but never captured")
            return nil
        }
        self.inheritedUnnamed -= 1
        let index = self.insertionIndex(of: scan)
        self.scans.insert(ScanAccount(number: scan, isInherited: true), at: index)
        return index
    }

    mutating func capture(_ scan: ScanNumber, at: Instant, _ fleet: inout LedgerFleet) {
        guard scan != .none, self.index(of: scan) == nil, !self.isSettled(scan) else {
            self.violate(.scanCustody, scan, at: at, &fleet, "captured with a number that is in use")
            return
        }
        if scan != self.lastRegion, let planned = fleet.regions(ofCapture: scan, by: self.device), planned > 1
        {
            self.violate(
                .scanCustody, scan, at: at, &fleet,
                "captured as a whole; its photo has \(planned) regions by the plan")
        }
        var account = ScanAccount(number: scan, isInherited: false)
        account.isCapturedWithoutRoom = self.storage.isFull
        self.scans.insert(account, at: self.insertionIndex(of: scan))
        fleet.count(in: self.group) {
            $0.scans.captured += 1
            $0.scans.open += 1
        }
    }

    /// The regions of a capture are taken one after another, as many as the plan has, unless the app leaves the screen.
    mutating func regionTaken(
        _ scan: ScanNumber, _ capture: UInt32, _ number: Int, of regions: Int, at: Instant,
        _ fleet: inout LedgerFleet
    ) {
        if let due = self.regionDue, due.capture != capture {
            self.missRegion(due, at: at, &fleet)
            self.regionDue = nil
        }
        let planned = fleet.regions(ofCapture: ScanNumber(capture), by: self.device) ?? regions
        let due = self.regionDue?.number ?? 1
        if number != due || regions != planned {
            self.violate(
                .scanCustody, scan, at: at, &fleet,
                "region \(number) of \(regions) was taken; due was region \(due) of \(planned)")
        }
        self.lastRegion = scan
        self.regionDue = number < regions ? RegionDue(capture: capture, number: number + 1, of: regions) : nil
    }

    private func missRegion(_ due: RegionDue, at: Instant, _ fleet: inout LedgerFleet) {
        self.violate(
            .scanCustody, ScanNumber(due.capture), at: at, &fleet,
            "region \(due.number) of \(due.of) of its photo was never taken")
    }

    /// Marks a scan as settled. The caller counts its class.
    mutating func settle(at index: Int, as state: ScanAccount.State, _ fleet: inout LedgerFleet) {
        precondition(self.scans[index].state == .open, "only an open scan can be settled")
        self.scans[index].state = state
        let left: WritableKeyPath<BookTotals, Int>? =
            switch state {
            case .refused: \.refused
            case .canceled: \.canceled
            case .discarded: \.discarded
            case .open, .completed, .waiting, .lost: nil
            }
        if let left {
            let held = self.scans[index].library.added.count
            let absent = max(0, self.books(at: index, fleet).expected - held)
            fleet.count(in: self.group) {
                $0.books.withdrawn += held
                $0.books[keyPath: left] += absent
            }
        }
        self.countCost(ofSettled: index, &fleet)
        _ = self.settled.insert(self.scans[index].number.raw)
        fleet.count(in: self.group) { $0.scans.open -= 1 }
        for job in self.jobs.indices where self.jobs[job].scan == self.scans[index].number {
            self.jobs[job].stream.forgetLog()
        }
    }

    /// Drops the record of a settled scan that no job needs any more.
    mutating func dropIfDone(_ scan: ScanNumber) {
        guard let index = self.index(of: scan), self.scans[index].state != .open,
            !self.jobs.contains(where: { $0.scan == scan })
        else { return }
        self.scans.remove(at: index)
    }

    mutating func discard(at index: Int, _ cause: DiscardCause, _ fleet: inout LedgerFleet) {
        self.settle(at: index, as: .discarded, &fleet)
        fleet.count(in: self.group) { $0.scans.discardedByCause[cause] += 1 }
        self.countRows(ofWithdrawn: index, &fleet)
    }

    // MARK: The screen

    mutating func suspended(at: Instant) {
        if !self.isSuspended { self.suspendedAt = at }
        self.isSuspended = true
        self.debtsOfTheSuspended(at: at)
    }

    mutating func resumed(at: Instant) {
        if self.isSuspended { self.debtsOfTheResumed(at: at) }
        self.isSuspended = false
    }

    // MARK: The end

    mutating func foundOnDisk(
        _ scan: ScanNumber, cause: WaitingCause, at: Instant, _ fleet: inout LedgerFleet
    ) {
        if !self.tookPart, scan != .none, !self.isSettled(scan) {
            // The phone took no part in this run; its record stays what it was.
            self.inheritedUnnamed += 1
            fleet.count(in: self.group) {
                $0.scans.restored += 1
                $0.scans.open += 1
            }
        }
        guard !self.isSettled(scan) else {
            let isTwice = self.index(of: scan).map { self.scans[$0].state == .waiting } ?? false
            self.violate(
                .scanCustody, scan, at: at, &fleet,
                isTwice ? "waiting on disk in two records" : "settled, but still waiting on disk")
            return
        }
        guard let index = self.take(scan, for: "waiting on disk", at: at, &fleet) else { return }
        self.countRows(ofWaiting: index, &fleet)
        self.settle(at: index, as: .waiting, &fleet)
        let books = self.books(at: index, fleet)
        fleet.count(in: self.group) {
            $0.scans.waitingByCause[cause] += 1
            $0.books.expected += books.expected
            $0.books.received += books.held
            $0.books.pending += books.expected - books.held
        }
    }

    mutating func finish(at: Instant, _ fleet: inout LedgerFleet) {
        self.settleReview(at: at, &fleet)
        self.countPendingReview(&fleet)
        // Whatever an interrupted run has not settled would have gone on.
        guard fleet.findings.bounds.interruption == nil else {
            return self.countUnsettledRows(&fleet)
        }
        if let due = self.regionDue { self.missRegion(due, at: at, &fleet) }
        for index in self.scans.indices where self.scans[index].state == .open {
            if self.scans[index].mayBeGone {
                self.discard(at: index, .notStored, &fleet)
            } else {
                self.lose(at: index, at: at, &fleet)
            }
        }
        if self.inheritedUnnamed > 0 {
            let count = self.inheritedUnnamed
            self.inheritedUnnamed = 0
            fleet.count(in: self.group) {
                $0.scans.lost += count
                $0.scans.open -= count
            }
            self.violate(
                .scanCustody, .none, at: at, &fleet,
                "\(count) restored, never observed again, and not on disk")
        }
        if self.slots != 0 {
            self.violate(.slotsBounded, .none, at: at, &fleet, "\(self.slots) slots taken and never released")
        }
        self.checkDebts(at: at)
        for index in self.jobs.indices {
            self.finishJob(at: index, at: at, &fleet)
        }
        self.scans.removeAll()
        self.jobs.removeAll()
    }
}
