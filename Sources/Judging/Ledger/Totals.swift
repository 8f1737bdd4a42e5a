package import Metrics
package import Observations
import SimBase
package import Talaria

/// Why a scan is gone without being lost.
package enum DiscardCause: String, CaseIterable, Hashable, Sendable {
    /// The app was deleted with its storage, and reinstalled.
    case reinstalled
    /// The app was killed before the capture was durable: it was never the app's.
    case notStored = "not-stored"
}

/// Where the scans of a run are. At any moment, and at the end with `open` 0:
///
///     captured + restored = completed + refused + canceled + waiting + discarded + lost + open
///
/// A scan that an earlier run left in the state folder is *restored*, not captured: this run took it over, and answers
/// for it as for its own.
package struct ScanTotals: Hashable, Sendable {
    package var captured = 0
    package var restored = 0
    /// All books in the library. A book that is there twice does not make the scan lost: that is `books.duplicated`.
    package var completed = 0
    package var refused = 0
    /// The refused scans that no fired fault and no full storage explains.
    package var refusedUnexplained = 0
    /// Canceled by its user before it was over.
    package var canceled = 0
    package var waiting = 0
    package var lost = 0
    /// Gone by something that has a name, and that the user did or saw: not lost.
    package private(set) var discarded = 0
    /// The unsettled scans: 0 once the ledger is finished.
    package var open = 0
    private var discardedByReinstall = 0
    /// The waiting scans by the index of the cause in `WaitingCause.allCases`.
    private var waitingByCause = [Int](repeating: 0, count: WaitingCause.allCases.count)

    package init() {}

    package func waiting(_ cause: WaitingCause) -> Int {
        WaitingCause.allCases.firstIndex(of: cause).map { self.waitingByCause[$0] } ?? 0
    }

    mutating func wait(_ cause: WaitingCause) {
        self.waiting += 1
        guard let index = WaitingCause.allCases.firstIndex(of: cause) else { return }
        self.waitingByCause[index] += 1
    }

    package func discarded(_ cause: DiscardCause) -> Int {
        switch cause {
        case .reinstalled: self.discardedByReinstall
        case .notStored: self.discarded - self.discardedByReinstall
        }
    }

    mutating func discard(_ cause: DiscardCause) {
        self.discarded += 1
        if cause == .reinstalled { self.discardedByReinstall += 1 }
    }

    /// Restores the totals of a report.
    package mutating func restore(
        waiting: [(cause: WaitingCause, count: Int)], discarded: [(cause: DiscardCause, count: Int)]
    ) {
        for entry in waiting {
            guard let index = WaitingCause.allCases.firstIndex(of: entry.cause) else { continue }
            self.waiting += entry.count
            self.waitingByCause[index] += entry.count
        }
        for entry in discarded {
            self.discarded += entry.count
            if entry.cause == .reinstalled { self.discardedByReinstall += entry.count }
        }
    }

    package var isConserved: Bool {
        let settled =
            self.completed + self.refused + self.canceled + self.waiting + self.discarded + self.lost
        return self.captured + self.restored == settled + self.open
            && self.waiting == self.waitingByCause.reduce(0, +)
    }

    package mutating func add(_ other: ScanTotals) {
        self.captured += other.captured
        self.restored += other.restored
        self.completed += other.completed
        self.refused += other.refused
        self.refusedUnexplained += other.refusedUnexplained
        self.canceled += other.canceled
        self.waiting += other.waiting
        self.lost += other.lost
        self.discarded += other.discarded
        self.discardedByReinstall += other.discardedByReinstall
        self.open += other.open
        for index in self.waitingByCause.indices {
            self.waitingByCause[index] += other.waitingByCause[index]
        }
    }
}

/// The books of a run's scans, except those that were refused, canceled or discarded: `expected = received + pending + missing`.
package struct BookTotals: Equatable, Sendable {
    package var expected = 0
    /// Different books in the libraries, of those scans.
    package var received = 0
    /// The books of waiting scans that are not in the library yet.
    package var pending = 0
    /// The missing books of completed and lost scans.
    package var missing = 0
    /// Times that a book entered a library that had it already; in no other number.
    package var duplicated = 0
    /// Times that a book came again and was rightly not added; in no other number.
    package var repeated = 0
    /// Books that completed batches asked for by name; in no other number.
    package var asked = 0
    /// Those of `asked` that never came, and that the backend counts as failures.
    package var unknown = 0
    /// Those of `asked` that never came, of batches at whose end a fault of the run made the backend's count unreadable.
    package var unjudged = 0
    /// Books that entered libraries for scans that were refused, canceled or discarded, and those that no shelf has; in no other
    /// number.
    package var withdrawn = 0
    /// Completed scans whose results are books of a foreign backend; in no other number.
    package var finds = 0
    /// Those of `finds` whose summary promised a number of books, and those to which it promised none and none came.
    package var promises = 0
    package var emptyPromises = 0
    /// The names of `unknown` and `unjudged`, and how often each never came. Those beyond `namesMax` are counted as `others`.
    package private(set) var absent = Counters()

    package static let namesMax = 16
    package static let others = "others"

    package init() {}

    /// Counts a book that never came.
    package mutating func name(absent name: String, _ count: Int = 1) {
        let names = self.absent.names
        let isKept = names.contains(name) || names.count < Self.namesMax
        self.absent.add(Int64(count), to: isKept ? name : Self.others)
    }

    /// Whether not one of the books came that were asked for by name.
    package var isNothingAnswered: Bool { self.unknown > 0 && self.unknown + self.unjudged == self.asked }

    /// Whether not one book came, and not every backend said that there was none.
    package var isNoneReceived: Bool {
        self.emptyPromises < self.finds && self.received == 0 && self.repeated == 0
    }

    /// Whether not one book came because every backend said that there was none.
    package var isNoneFound: Bool {
        self.finds > 0 && self.emptyPromises == self.finds && self.received == 0 && self.repeated == 0
    }

    package mutating func add(_ other: BookTotals) {
        self.expected += other.expected
        self.received += other.received
        self.pending += other.pending
        self.missing += other.missing
        self.duplicated += other.duplicated
        self.repeated += other.repeated
        self.asked += other.asked
        self.unknown += other.unknown
        self.unjudged += other.unjudged
        self.withdrawn += other.withdrawn
        self.finds += other.finds
        self.promises += other.promises
        self.emptyPromises += other.emptyPromises
        for (name, count) in other.absent.entries { self.name(absent: name, Int(count)) }
    }
}

/// The rows of the library files of a run, except those of imports that were refused, canceled or discarded:
/// `sent = counts.total + missing`, unless results invent rows.
package struct RowTotals: Hashable, Sendable {
    /// The rows of all these files, each counted once, however often its file was sent.
    package var sent = 0
    /// What the phones read of completed imports. `pending`: the rows of files that wait.
    package var counts = RowCounts()
    /// Those of completed and lost imports of which nobody knows what became of them.
    package var missing = 0
    /// The rows of files whose import was refused or discarded; in no other number.
    package var withdrawn = 0
    /// The rows of files whose import its user canceled; in no other number.
    package var canceled = 0
    /// Rows that the backend took into libraries by imports whose results no phone has read: they were canceled, failed, or
    /// were lost on the way; in no other number.
    package var unread = 0
    /// The rows of files whose imports had not settled when the run was interrupted or killed; in no other number.
    package var unsettled = 0

    /// Completed imports of a foreign backend; in no other number.
    package var imports = 0
    /// Those of `imports` of which every row failed, and those of which every row was a duplicate.
    package var failedWhole = 0
    package var skippedWhole = 0

    package init() {}

    /// Whether no import brought a row, because every row failed, or was a duplicate.
    package var isNothingTaken: Bool { self.imports > 0 && self.failedWhole == self.imports }
    package var isNothingNew: Bool { self.imports > 0 && self.skippedWhole == self.imports }

    /// Whether each row of the files has become one thing. Results that invent rows, which `rows.conserved` tells, break it too.
    package var isConserved: Bool { self.sent == self.counts.total + self.missing }

    package mutating func add(_ other: RowTotals) {
        self.sent += other.sent
        self.counts = self.counts + other.counts
        self.missing += other.missing
        self.withdrawn += other.withdrawn
        self.canceled += other.canceled
        self.unread += other.unread
        self.unsettled += other.unsettled
        self.imports += other.imports
        self.failedWhole += other.failedWhole
        self.skippedWhole += other.skippedWhole
    }
}

/// The look-ups of single books, as the backend made them.
package struct LookupTotals: Hashable, Sendable {
    /// Times that a provider was asked, which costs money.
    package var billed = 0
    /// Requests that were answered as an earlier one with the same key.
    package var repeated = 0
    /// Billed look-ups of books that no provider has.
    package var unknown = 0

    package init() {}

    package mutating func add(_ other: LookupTotals) {
        self.billed += other.billed
        self.repeated += other.repeated
        self.unknown += other.unknown
    }
}

/// The jobs of a run. An accepted job may be in several of the others: abandoned by the phone, expired later.
package struct JobTotals: Equatable, Sendable {
    /// The accepted jobs: by the backend if it is observed, otherwise by decoded 202 responses.
    package var accepted = 0
    /// The deleted jobs: by effective DELETEs if the backend is observed, otherwise by successful responses.
    package var cleaned = 0
    package var abandoned = 0
    /// Accepted by the backend and never known to a phone: the 202 was lost. Known once the ledger is finished.
    package var orphaned = 0
    package var expired = 0
    /// Jobs of completed scans that are kept until they expire, and have not: the DELETE of v2 cancels.
    package var kept = 0
    /// Completed scans whose job got no DELETE that ended it: neither a success, nor the answer that it is gone, nor a 401
    /// for a token that had expired or was revoked.
    package var unfinishedCleanups = 0
    /// How often a failure of a provider opened the circuit breaker.
    package var circuitsOpened = 0
    /// Causes of abandonment in the order of their first use. Those beyond `causesMax` are counted as `other`.
    package var abandonedByCause = Counters()

    package static let causesMax = 32

    package init() {}

    /// The jobs not known to be deleted or kept, for a target whose backend is not observed.
    package var undeleted: Int { max(0, self.accepted - self.cleaned - self.kept) }

    mutating func abandon(cause: AbandonCause) {
        self.abandoned += 1
        let name = cause.name
        let names = self.abandonedByCause.names
        let known = names.count < Self.causesMax || names.contains(name)
        self.abandonedByCause.add(1, to: known ? name : "other")
    }

    package mutating func add(_ other: JobTotals) {
        self.accepted += other.accepted
        self.cleaned += other.cleaned
        self.abandoned += other.abandoned
        self.orphaned += other.orphaned
        self.expired += other.expired
        self.kept += other.kept
        self.unfinishedCleanups += other.unfinishedCleanups
        self.circuitsOpened += other.circuitsOpened
        self.abandonedByCause.add(other.abandonedByCause)
    }
}

/// The counts of the ledger, for the fleet or for one group.
package struct LedgerTotals: Equatable, Sendable {
    package var scans = ScanTotals()
    package var books = BookTotals()
    package var rows = RowTotals()
    package var lookups = LookupTotals()
    package var jobs = JobTotals()

    package init() {}

    package mutating func add(_ other: LedgerTotals) {
        self.scans.add(other.scans)
        self.books.add(other.books)
        self.rows.add(other.rows)
        self.lookups.add(other.lookups)
        self.jobs.add(other.jobs)
    }

    /// Writes the numbers that have a metric into a table, in one group of it.
    package func record(into table: inout MetricTable, group: MetricGroup) {
        func add(_ count: Int, _ metric: CountMetric) { table.add(Int64(count), to: metric, in: group) }
        add(self.scans.captured, .scansCaptured)
        add(self.scans.completed, .scansCompleted)
        add(self.scans.refused, .scansRefused)
        add(self.scans.refusedUnexplained, .scansRefusedUnexplained)
        add(self.scans.canceled, .scansCanceled)
        add(self.scans.waiting, .scansWaiting)
        add(self.scans.lost, .scansLost)
        add(self.scans.discarded, .scansDiscarded)
        add(self.books.expected, .booksExpected)
        add(self.books.received, .booksReceived)
        add(self.books.pending, .booksPending)
        add(self.books.missing, .booksMissing)
        add(self.books.duplicated, .booksDuplicated)
        add(self.books.unknown, .booksUnknown)
        add(self.rows.counts.created, .rowsCreated)
        add(self.rows.counts.updated, .rowsUpdated)
        add(self.rows.counts.skipped, .rowsSkipped)
        add(self.rows.counts.failed, .rowsFailed)
        add(self.rows.missing, .rowsMissing)
        add(self.lookups.billed, .lookupsBilled)
        add(self.lookups.repeated, .lookupsRepeated)
        add(self.jobs.accepted, .jobsAccepted)
        add(self.jobs.cleaned, .jobsCleaned)
        add(self.jobs.abandoned, .jobsAbandoned)
        add(self.jobs.orphaned, .jobsOrphaned)
        add(self.jobs.unfinishedCleanups, .cleanupUnfinished)
    }
}
