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

/// Where the scans of a run are. At any time, and at the end with `open` 0:
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
    package var lost = 0
    /// The unsettled scans: 0 once the ledger is finished.
    package var open = 0
    package var waitingByCause = EnumCounts<WaitingCause>()
    /// Gone by something that has a name, and that the user did or saw: not lost.
    package var discardedByCause = EnumCounts<DiscardCause>()

    package init() {}

    package var waiting: Int { self.waitingByCause.total }
    package var discarded: Int { self.discardedByCause.total }

    package var isConserved: Bool {
        let settled =
            self.completed + self.refused + self.canceled + self.waiting + self.discarded + self.lost
        return self.captured + self.restored == settled + self.open
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
    /// Times that a book was shown before its job had ended; in no other number.
    package var shown = 0
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
    /// Books of refused, canceled and discarded scans that never came; in no other number.
    package var refused = 0
    package var canceled = 0
    package var discarded = 0
    /// Completed scans whose results are books of a foreign backend; in no other number.
    package var finds = 0
    /// Those of `finds` whose summary promised a number of books, and those to which it promised none and none came.
    package var promises = 0
    package var emptyPromises = 0
    package var review = ReviewTotals()
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
}

/// What became of the books that came to be reviewed: `came = pending + approved + rejected + merged + discarded + lost`.
package struct ReviewTotals: Hashable, Sendable {
    package var came = 0
    /// Those that wait at the end of the run.
    package var pending = 0
    package var approved = 0
    package var rejected = 0
    /// Those that are the same as another one.
    package var merged = 0
    /// Gone with the app that its user reinstalled.
    package var discarded = 0
    package var lost = 0
    /// Those that their person corrected; in another number, too.
    package var edited = 0

    package init() {}

    package var isConserved: Bool {
        self.came
            == self.pending + self.approved + self.rejected + self.merged + self.discarded + self.lost
    }
}

/// The rows of the library files of a run, except those of imports that were refused, canceled or discarded:
/// `sent = counts.total + missing`, unless results invent rows.
package struct RowTotals: Hashable, Sendable {
    /// The rows of all these files, each counted once, however often its file was sent.
    package var sent = 0
    /// What the phones read of completed imports. `pending`: the rows of files that wait.
    package var counts = RowCounts()
    /// Those of completed and lost imports with an unknown outcome.
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
    /// Those of `imports` in which every row failed, and those in which every row was a duplicate.
    package var failedWhole = 0
    package var skippedWhole = 0

    package init() {}

    /// Whether no import brought a row, because every row failed, or was a duplicate.
    package var isNothingTaken: Bool { self.imports > 0 && self.failedWhole == self.imports }
    package var isNothingNew: Bool { self.imports > 0 && self.skippedWhole == self.imports }

    /// Whether each row of the files has become one thing. Results that invent rows, which `rows.conserved`
    /// finds, break it too.
    package var isConserved: Bool { self.sent == self.counts.total + self.missing }
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
}

/// The books that phones have read by themselves, of completed scans.
package struct TextTotals: Hashable, Sendable {
    /// Looked up by their text.
    package var enriched = 0
    /// Kept as they were read, because the look-up failed.
    package var kept = 0
    /// Uploaded as photos instead.
    package var photos = 0
    /// Final titles and authors in the library that are those of the spine, and those that are not.
    package var right = 0
    package var wrong = 0
    package var differences = TextDifferences()
    package var compared: Int { self.right + self.wrong }

    package init() {}
}

/// The books that have a price, and what was sent for them. Counted only in a run with prices.
package struct CostTotals: Hashable, Sendable {
    package struct Way: Hashable, Sendable {
        /// Books of settled scans that came to their phone, each once.
        package var books = 0
        /// Uploads or look-ups, retries included.
        package var requests = 0
        /// The bytes of the photos or texts of these requests, each counted whole even where its request was cut.
        package var bytes = 0
    }

    package var photo = Way()
    package var text = Way()
    /// Books without a price, such as those that stayed as a phone has read them.
    package var otherBooks = 0

    package init() {}

    package var allBooks: Int { self.photo.books + self.text.books + self.otherBooks }

    package var priced: PricedBooks {
        PricedBooks(photo: Int64(self.photo.books), text: Int64(self.text.books))
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
}

/// The counts of the ledger, for the fleet or for one group.
package struct LedgerTotals: Equatable, Sendable {
    package var scans = ScanTotals()
    package var books = BookTotals()
    package var rows = RowTotals()
    package var lookups = LookupTotals()
    package var texts = TextTotals()
    package var costs = CostTotals()
    package var jobs = JobTotals()

    package init() {}

    package mutating func add(_ other: LedgerTotals) {
        for count in LedgerCount.all { self[keyPath: count.path] += other[keyPath: count.path] }
        self.scans.waitingByCause.add(other.scans.waitingByCause)
        self.scans.discardedByCause.add(other.scans.discardedByCause)
        self.texts.differences.add(other.texts.differences)
        for (name, count) in other.books.absent.entries { self.books.name(absent: name, Int(count)) }
        self.jobs.abandonedByCause.add(other.jobs.abandonedByCause)
    }

    /// Writes the numbers that have a metric into a table, in one group of it.
    package func record(into table: inout MetricTable, group: MetricGroup) {
        for count in LedgerCount.all {
            guard let metric = count.metric else { continue }
            table.add(Int64(self[keyPath: count.path]), to: metric, in: group)
        }
        table.add(Int64(self.scans.waiting), to: .scansWaiting, in: group)
        table.add(Int64(self.scans.discarded), to: .scansDiscarded, in: group)
        table.add(
            FailureRate(failed: Int64(self.texts.wrong), total: Int64(self.texts.compared)),
            to: .reconcileWrong,
            in: group)
        table.add(self.costs.priced, in: group)
    }
}
