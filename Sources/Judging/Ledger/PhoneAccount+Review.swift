import Metrics
import Observations
import SimBase
import Talaria

// review.book-accounted, review.edit-kept, review.no-duplicate.

extension PhoneAccount {
    mutating func bookPending(
        _ key: ResultKey, _ book: Book, at moment: Instant, _ fleet: inout LedgerFleet
    ) {
        guard !self.review.contains(key) else {
            return self.violate(
                .reviewBookAccounted, key.scan, at: moment, &fleet,
                "\(key.name) came to be reviewed under a number that is taken: \(book.name)")
        }
        self.review.came(key, book, at: moment)
        fleet.count(in: self.group) { $0.books.review.came += 1 }
    }

    mutating func bookEdited(
        _ key: ResultKey, _ title: String?, _ author: String?, at moment: Instant,
        _ fleet: inout LedgerFleet
    ) {
        var isFirst = false
        let waits = self.review.update(key) { book in
            isFirst = !book.isEdited
            book.title = title ?? book.title
            book.author = author ?? book.author
        }
        guard waits else { return self.notWaiting(key, "edited", at: moment, &fleet) }
        if isFirst { fleet.count(in: self.group) { $0.books.review.edited += 1 } }
    }

    mutating func bookApproved(
        _ key: ResultKey, _ book: Book, at moment: Instant, _ fleet: inout LedgerFleet
    ) {
        guard let waiting = self.review.take(key) else {
            return self.notWaiting(key, "approved", at: moment, &fleet)
        }
        fleet.count(in: self.group) { $0.books.review.approved += 1 }
        if !waiting.isMet(by: book) {
            self.violate(
                .reviewEditKept, key.scan, at: moment, &fleet,
                "\(key.name) entered the library as \(book.name); \(waiting.due)")
        }
        if let other = self.review.duplicate(of: book) {
            self.violate(
                .reviewNoDuplicate, key.scan, at: moment, &fleet,
                "\(key.name) entered the library, which has its ISBN as \(other.name) of \(self.noun.one) \(other.scan.raw): \(book.name)"
            )
        }
        self.review.shelve(key, book)
    }

    mutating func bookRejected(_ key: ResultKey, at moment: Instant, _ fleet: inout LedgerFleet) {
        guard self.review.take(key) != nil else {
            return self.notWaiting(key, "rejected", at: moment, &fleet)
        }
        fleet.count(in: self.group) { $0.books.review.rejected += 1 }
    }

    mutating func bookMerged(
        _ key: ResultKey, into original: ResultKey, at moment: Instant, _ fleet: inout LedgerFleet
    ) {
        guard let waiting = self.review.take(key) else {
            return self.notWaiting(key, "merged", at: moment, &fleet)
        }
        fleet.count(in: self.group) { $0.books.review.merged += 1 }
        let window = fleet.settings.fleet.value(of: self.device, in: fleet.settings.duplicateWindows)
        guard !self.review.isSame(waiting, as: original, within: window ?? nil) else { return }
        self.violate(
            .reviewBookAccounted, key.scan, at: moment, &fleet,
            "\(key.name), \(waiting.book.name), was merged into \(original.name) of \(self.noun.one) \(original.scan.raw), which is not the same book"
        )
    }

    private func notWaiting(
        _ key: ResultKey, _ deed: String, at moment: Instant, _ fleet: inout LedgerFleet
    ) {
        self.violate(
            .reviewBookAccounted, key.scan, at: moment, &fleet, "\(key.name) was \(deed), but did not wait")
    }

    // MARK: Processes

    /// The storage has a book. One that is not known waits since an earlier run, if none of this one has launched yet.
    mutating func bookKept(
        _ key: ResultKey, _ book: Book, at moment: Instant, _ fleet: inout LedgerFleet
    ) {
        var lost: ReviewAccount.Waiting?
        let isKnown = self.review.update(key) { waiting in
            waiting.isInDoubt = false
            if !waiting.isMet(by: book) { lost = waiting }
        }
        if let lost {
            self.violate(
                .reviewEditKept, key.scan, at: moment, &fleet,
                "the storage has \(key.name) as \(book.name); \(lost.due)")
        }
        guard !isKnown else { return }
        guard !self.hasLaunched else {
            return self.violate(
                .reviewBookAccounted, key.scan, at: moment, &fleet,
                "the storage has \(key.name), \(book.name), which waits no more")
        }
        self.review.came(key, book, at: moment)
        fleet.count(in: self.group) { $0.books.review.came += 1 }
    }

    /// A new process has found so many books waiting.
    func reviewRestored(_ count: Int, at moment: Instant, _ fleet: inout LedgerFleet) {
        let due = self.review.waiting.count
        guard count != due else { return }
        self.violate(
            .reviewBookAccounted, .none, at: moment, &fleet,
            "the app was started again and found \(count) of \(due) books that wait in its storage")
    }

    /// What a kill took of the review is known, once the next process starts or the run is over.
    mutating func settleReview(at moment: Instant, _ fleet: inout LedgerFleet) {
        guard let killedAt = self.review.killedAt else { return }
        let lost = self.review.takeLost()
        guard let first = lost.first else { return }
        fleet.count(in: self.group) { $0.books.review.lost += lost.count }
        let edits = lost.count(where: \.isEdited)
        let profile = fleet.settings.profile(of: self.device).name
        self.violate(
            .reviewBookAccounted, first.key.scan, at: killedAt, &fleet,
            "\(lost.count == 1 ? "1 book" : "\(lost.count) books") that waited for a review went with the killed process of profile \(profile), because no storage has \(lost.count == 1 ? "it" : "them")"
                + (edits > 0 ? ", \(edits) of them edited" : "") + ": first \(first.book.name)")
    }

    func countPendingReview(_ fleet: inout LedgerFleet) {
        fleet.count(in: self.group) { $0.books.review.pending += self.review.waiting.count }
    }

    mutating func discardReview(_ fleet: inout LedgerFleet) {
        let count = self.review.discard()
        fleet.count(in: self.group) { $0.books.review.discarded += count }
    }
}

extension ReviewAccount.Waiting {
    /// What it has to enter the library with.
    fileprivate var due: String {
        self.isEdited
            ? "with the edits of its person it is \(self.edited.name)"
            : "it came as \(self.book.name)"
    }
}

extension ResultKey {
    fileprivate var name: String { "book \(self.ordinal &+ 1)" }
}

extension Book {
    fileprivate var name: String { "\"\(self.title.bounded)\" by \(self.author.bounded)" }
}
