import Observations
import SimBase
import Talaria

// Books that came wait for their person, who acts while the app is in the foreground. What becomes of a book is observed once it
// is durable, where the app stores it.

/// The person of a phone, from the moment at which a book waits until none does.
struct ReviewSession: Sendable {
    struct Act: Sendable {
        enum Kind: Sendable { case edit, approve, reject }

        let key: ResultKey
        let kind: Kind
        let at: Instant
    }

    /// What became of a book, and the write that says so.
    struct News: Sendable {
        let scan: ScanNumber
        let what: PhoneObservation
        let writeID: WriteID
    }

    /// The first book of the session.
    var first: ResultKey?
    /// In the order of time.
    private(set) var acts: [Act] = []
    /// In the order of the writes.
    var news: [News] = []

    mutating func plan(_ act: Act) {
        let index = self.acts.firstIndex { act.at < $0.at } ?? self.acts.count
        self.acts.insert(act, at: index)
    }

    mutating func next(at now: Instant) -> Act? {
        guard let act = self.acts.first, act.at <= now else { return nil }
        return self.acts.removeFirst()
    }

    mutating func forget(_ key: ResultKey) { self.acts.removeAll { $0.key == key } }
}

extension App {
    private var isReviewDurable: Bool { self.profile.review.storage == .durable }

    /// The time of the next act of the person; nil if there is none, or the app is away.
    var nextReview: Instant? { self.phase == .running ? self.session.acts.first?.at : nil }

    /// What the store holds of a review: the person starts again with all that waits.
    mutating func restore(_ stored: DurableReview, at now: Instant, into effects: inout [PhoneEffect]) {
        guard self.profile.reviewer.isMade else { return }
        self.review = ReviewQueue(stored)
        self.observe(.reviewRestored(entries: self.review.entries.count), of: .none, at: now, into: &effects)
        for entry in self.review.entries { self.plan(entry.key, at: now) }
    }

    // MARK: What comes

    /// A book that is new waits for its person or, in an app without a review, enters the library.
    ///
    /// - Returns: The write that brings it into the library; nil for one that waits.
    mutating func add(
        _ book: Book, ordinal: Int, _ key: ResultKey, at now: Instant, into effects: inout [PhoneEffect]
    ) -> WriteID? {
        guard self.profile.reviewer.isMade else { return self.store(.book(key, book), into: &effects) }
        self.receive(book, ordinal: ordinal, key, at: now, into: &effects)
        return nil
    }

    /// Whether a book that comes is the one that waits since the phone has read it by itself, whatever is known of it now.
    func waitsSinceRead(ordinal: Int) -> Bool {
        ordinal == 0 && self.profile.journey == .textEnrichment && self.profile.reviewer.isMade
    }

    private mutating func receive(
        _ book: Book, ordinal: Int, _ key: ResultKey, at now: Instant, into effects: inout [PhoneEffect]
    ) {
        let entry = ReviewEntry(key: key, book: book, receivedUnixNs: self.unixNanoseconds(at: now))
        // What is kept in memory counts from the record that says that the scan is completed, which is the next write.
        let writeID =
            self.isReviewDurable ? self.store(.pending(entry), into: &effects) : WriteID(self.lastWriteID + 1)
        let what = PhoneObservation.bookPending(ordinal: ordinal, entry: key.ordinal, book: book)
        self.session.news.append(ReviewSession.News(scan: key.scan, what: what, writeID: writeID))
        if let merged = self.review.add(entry, window: self.profile.review.duplicateWindow) {
            self.carryOut([merged], at: now, into: &effects)
        } else {
            self.plan(key, at: now)
        }
    }

    /// A book that the phone has read by itself waits from then on, and is looked up meanwhile (seed 002, US-A2).
    mutating func show(
        _ reading: BookReading, at index: Int, at now: Instant, into effects: inout [PhoneEffect]
    ) {
        guard self.profile.reviewer.isMade, self.queue.scans[index].scan.record.booksApplied.isEmpty else {
            return
        }
        let scan = ScanNumber(self.queue.scans[index].scan.record.scan)
        let key = ResultKey(scan: scan, ordinal: 0)
        self.queue.update(at: index) { $0.scan.record.booksApplied = [reading.book] }
        self.receive(reading.book, ordinal: 0, key, at: now, into: &effects)
        if !self.isReviewDurable { self.note(.put(self.queue.scans[index].scan.record), into: &effects) }
    }

    /// A book that came before is not added again. Where it waits for its person, it came first.
    mutating func recognized(
        _ book: Book, ordinal: Int, of scan: ScanNumber, at now: Instant, into effects: inout [PhoneEffect]
    ) {
        self.announce(
            .bookRepeated(ordinal: ordinal, book: book), of: scan, behind: nil, at: now, into: &effects)
    }

    /// A book that came before came again, and may say more. `isRead`: it is the one that the phone has read by itself.
    mutating func enrich(
        _ scan: ScanNumber, with later: Book, isRead: Bool, into effects: inout [PhoneEffect]
    ) {
        let waiting = self.review.entries.first {
            $0.key.scan == scan
                && (isRead ? $0.key.ordinal == 0 : BookKey($0.book).isSame(as: BookKey(later)))
        }
        guard let waiting, let entry = self.review.enrich(waiting.key, with: later), self.isReviewDurable
        else { return }
        self.note(.pending(entry), into: &effects)
    }

    // MARK: The person

    private func draw(_ key: ResultKey, _ part: UInt64, below bound: UInt64) -> UInt64 {
        self.random.below(
            bound, .review, UInt64(self.number.raw), UInt64(key.scan.raw), UInt64(key.ordinal) * 4 + part)
    }

    /// Draws what the person does with a book, and when.
    private mutating func plan(_ key: ResultKey, at now: Instant) {
        if self.session.first == nil { self.session.first = key }
        let policy = self.profile.reviewer
        let width = UInt64((policy.after.upperBound - policy.after.lowerBound).nanoseconds) + 1
        let time = policy.after.lowerBound + .nanoseconds(Int64(self.draw(key, 0, below: width)))
        func plan(_ kind: ReviewSession.Act.Kind, after time: Interval) {
            self.session.plan(.init(key: key, kind: kind, at: now + time))
        }
        let share = UInt32(self.draw(key, 1, below: 1_000_000))
        let (approved, edited) = (policy.approve.perMillion, policy.edit.perMillion)
        switch share {
        case ..<approved: plan(.approve, after: time)
        case ..<(approved + edited):
            plan(.edit, after: .nanoseconds(time.nanoseconds / 2))
            plan(.approve, after: time)
        case ..<(approved + edited + policy.reject.perMillion): plan(.reject, after: time)
        default: break  // It waits on.
        }
    }

    /// Does what the person does by now. The app has to be on the screen.
    mutating func reviewDueBooks(at now: Instant, into effects: inout [PhoneEffect]) {
        guard self.phase == .running else { return }
        while let act = self.session.next(at: now) {
            switch act.kind {
            case .edit: self.edit(act.key, at: now, into: &effects)
            case .approve where self.isApprovingAll:
                let decisions = self.review.approveAll(self.profile.review.approvalOfAll)
                self.carryOut(decisions, at: now, into: &effects)
            case .approve:
                let decisions = self.review.approve(act.key, self.profile.review.approvalOfAll)
                self.carryOut(decisions, at: now, into: &effects)
            case .reject:
                self.carryOut([self.review.reject(act.key)].compactMap(\.self), at: now, into: &effects)
            }
        }
    }

    private var isApprovingAll: Bool {
        guard let first = self.session.first else { return false }
        return self.draw(first, 2, below: 1_000_000) < UInt64(self.profile.reviewer.approveAll.perMillion)
    }

    private mutating func edit(_ key: ResultKey, at now: Instant, into effects: inout [PhoneEffect]) {
        guard let book = self.review[key]?.resolved else { return }
        let choice = self.draw(key, 3, below: 3)
        let title = choice == 0 ? nil : "\(book.title) (corrected)"
        let author = choice == 1 ? nil : "\(book.author) (corrected)"
        guard let entry = self.review.edit(key, title: title, author: author) else { return }
        let writeID = self.isReviewDurable ? self.store(.pending(entry), into: &effects) : nil
        let what = PhoneObservation.bookEdited(entry: key.ordinal, title: title, author: author)
        self.announce(what, of: key.scan, behind: writeID, at: now, into: &effects)
    }

    /// The user cancels a scan, some of whose books have come before a kill.
    mutating func rejectBooks(of scan: ScanNumber, at now: Instant, into effects: inout [PhoneEffect]) {
        self.carryOut(self.review.reject(booksOf: scan), at: now, into: &effects)
    }

    private mutating func carryOut(
        _ decisions: [ReviewDecision], at now: Instant, into effects: inout [PhoneEffect]
    ) {
        for decision in decisions {
            let entry = decision.key.ordinal
            self.session.forget(decision.key)
            let what: PhoneObservation
            var isStored = self.isReviewDurable
            switch decision.outcome {
            case .approved(let book):
                what = .bookApproved(entry: entry, book: book)
                isStored = true  // The library is.
            case .rejected: what = .bookRejected(entry: entry)
            case .merged(let original):
                what = .bookMerged(entry: entry, intoScan: original.scan.raw, intoEntry: original.ordinal)
            }
            let change = StoreChange.reviewed(decision.key, decision.outcome)
            let writeID = isStored ? self.store(change, into: &effects) : nil
            self.announce(what, of: decision.key.scan, behind: writeID, at: now, into: &effects)
        }
        if self.review.entries.isEmpty { self.session.first = nil }
    }

    // MARK: News

    /// `writeID`: nil for what is in memory only, which follows what is announced before.
    private mutating func announce(
        _ what: PhoneObservation, of scan: ScanNumber, behind writeID: WriteID?, at now: Instant,
        into effects: inout [PhoneEffect]
    ) {
        let writeID = writeID ?? self.session.news.last?.writeID ?? self.durable
        self.session.news.append(ReviewSession.News(scan: scan, what: what, writeID: writeID))
        self.announceReviews(at: now, into: &effects)
    }

    /// Says what is durable by now.
    mutating func announceReviews(at now: Instant, into effects: inout [PhoneEffect]) {
        while let news = self.session.news.first, news.writeID <= self.durable {
            self.session.news.removeFirst()
            self.observe(news.what, of: news.scan, at: now, into: &effects)
        }
    }
}
