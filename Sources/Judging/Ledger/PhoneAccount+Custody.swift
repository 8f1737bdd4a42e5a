import Observations
import SimBase
import Talaria

// scan.custody, scan.refused-for-cause, book.never-lost, book.never-double-added, book.faithful.

extension PhoneAccount {
    /// Something was done for the scan that only makes sense while it is in the phone's care.
    mutating func requireOpen(_ scan: ScanNumber, for deed: String, at: Instant, _ fleet: inout LedgerFleet) {
        let index = self.take(scan, for: deed, at: at, &fleet)
        guard self.isSettled(scan) || index.map({ self.scans[$0].state != .open }) == true else { return }
        self.violate(.scanCustody, scan, at: at, &fleet, "\(deed) after it was settled")
    }

    /// Before its record is durable only the process knows of a scan: a kill would lose it, and its job would
    /// have no owner.
    mutating func requireRecord(of scan: ScanNumber, at: Instant, _ fleet: inout LedgerFleet) {
        guard let index = self.index(of: scan), self.scans[index].state == .open else { return }
        self.scans[index].wasUploaded = true
        guard !self.scans[index].isRecorded else { return }
        self.violate(.scanCustody, scan, at: at, &fleet, "uploaded before its record was durable")
    }

    /// A scan whose job failed for good is refused, and not uploaded again.
    mutating func requireRetry(
        of scan: ScanNumber, attempt: UInt32, at: Instant, _ fleet: inout LedgerFleet
    ) {
        guard let index = self.index(of: scan) else { return }
        self.scans[index].uploadSentAt = at
        self.scans[index].isStreamUnreadable = false
        guard self.scans[index].hasFailedForGood else { return }
        self.scans[index].hasFailedForGood = false
        self.violate(
            .scanRefusedForCause, scan, at: at, &fleet,
            "uploaded again (\(attempt)) after an error event that does not allow a retry")
    }

    /// `waits`: for its person, who sees what comes for it later.
    mutating func bookAdded(
        _ scan: ScanNumber, ordinal: Int, book: Book, waits: Bool = false, at: Instant,
        _ fleet: inout LedgerFleet
    ) {
        guard !self.isCanceled(scan) else {  // Judged as such.
            return fleet.count(in: self.group) { $0.books.withdrawn += 1 }
        }
        guard let index = self.take(scan, for: "book \(ordinal) added", at: at, &fleet) else {
            guard self.isSettled(scan) else {  // Custody is broken already.
                return fleet.count(in: self.group) { $0.books.withdrawn += 1 }
            }
            self.doubleAdded(
                scan, "book \(ordinal) added after the \(self.noun.one) was settled", at: at, &fleet)
            return
        }
        self.judgeAnswer(book, toScan: index, at: at, &fleet)
        var shelf = self.shelf(of: scan, fleet)
        shelf?.keep(ordinal)
        let entry = self.scans[index].library.add(book, ordinal: ordinal, from: shelf)
        if let shelf, !(waits && shelf.texts.contains(book)) {
            self.judge(book, ordinal: ordinal, entry, of: index, on: shelf, at: at, &fleet)
        }
        switch entry {
        case .double:
            self.doubleAdded(scan, "book \(ordinal) added again: \"\(book.title.bounded)\"", at: at, &fleet)
        case .new, .offShelf:
            self.scans[index].finalText = book
            if entry == .offShelf { fleet.count(in: self.group) { $0.books.withdrawn += 1 } }
            guard self.scans[index].state != .open else { return }
            self.doubleAdded(
                scan, "book \(ordinal) added after the \(self.noun.one) was settled", at: at, &fleet)
        }
    }

    /// What the backend found for a scan; nil for a foreign one, whose shelf is unknown.
    private func shelf(of scan: ScanNumber, _ fleet: LedgerFleet) -> ScannedShelf? {
        guard fleet.settings.hasBackendView else { return nil }
        return ScannedShelf(
            shelf: fleet.shelf, device: self.device, scan: scan, texts: self.texts(of: scan, fleet))
    }

    private mutating func doubleAdded(
        _ scan: ScanNumber, _ text: String, at: Instant, _ fleet: inout LedgerFleet
    ) {
        fleet.count(in: self.group) { $0.books.duplicated += 1 }
        self.violate(.bookNeverDoubleAdded, scan, at: at, &fleet, text)
    }

    private func judge(
        _ book: Book, ordinal: Int, _ entry: ScanLibrary.Entry, of index: Int, on shelf: ScannedShelf,
        at: Instant, _ fleet: inout LedgerFleet
    ) {
        let complaint: String
        switch entry {
        case .double: return
        case .offShelf:
            complaint =
                "book \(ordinal) is \"\(book.title.bounded)\", which is none of the \(shelf.count) of the shelf"
        case .new(let place):
            let real = shelf.book(place)
            guard book != real, !(self.scans[index].isDegraded && book == real.degraded) else { return }
            complaint = "book \(ordinal) is \"\(book.title.bounded)\", but the shelf has \"\(real.title)\""
        }
        self.violate(.bookFaithful, shelf.scan, at: at, &fleet, complaint)
    }

    mutating func bookRepeated(
        _ scan: ScanNumber, ordinal: Int, book: Book?, at: Instant, _ fleet: inout LedgerFleet
    ) {
        fleet.count(in: self.group) { $0.books.repeated += 1 }
        guard let index = self.take(scan, for: "book \(ordinal) repeated", at: at, &fleet) else {
            return
        }
        let isNews = self.scans[index].library.recognize(
            book, ordinal: ordinal, from: self.shelf(of: scan, fleet))
        let isOpen = self.review.waits(ResultKey(scan: scan, ordinal: 0))
        self.scans[index].finalText = isOpen ? book : self.scans[index].finalText ?? book
        // One that was durable before a kill, and was not observed then.
        if isNews, let book { self.judgeAnswer(book, toScan: index, at: at, &fleet) }
    }

    mutating func completed(_ scan: ScanNumber, at: Instant, _ fleet: inout LedgerFleet) {
        let taken = self.take(scan, for: "completed", at: at, &fleet)
        guard let index = taken, self.scans[index].state == .open else {
            // What was not durable when the process was killed is done over, and said again.
            let isDoneOver = taken.map {
                self.scans[$0].state == .completed && self.scans[$0].isKeptUndecided
            }
            self.decide(scan, at: at)
            guard self.isSettled(scan), isDoneOver != true else { return }
            self.violate(.scanCustody, scan, at: at, &fleet, "completed after it was settled")
            return
        }
        self.judgeBatch(at: index, at, &fleet)
        self.judgeShown(at: index, at, &fleet)
        if fleet.settings.hasBackendView {
            let (count, held) = self.books(at: index, fleet)
            fleet.count(in: self.group) {
                $0.books.expected += count
                $0.books.received += held
                $0.books.missing += count - held
                if held == count { $0.scans.completed += 1 } else { $0.scans.lost += 1 }
            }
            if held < count {
                self.violate(
                    .bookNeverLost, scan, at: at, &fleet,
                    "completed; books in the library: \(held) of \(count)",
                    cause: self.scans[index].bookFault.map { .injected(fault: $0) })
            }
        } else {
            self.countBooks(ofCompleted: index, at: at, &fleet)
        }
        if let job = self.jobs.lastIndex(where: { $0.scan == scan && $0.isKnownToPhone }) {
            self.completed(job: job, at: at, &fleet)
        }
        self.countRows(ofCompleted: index, at: at, &fleet)
        self.countText(ofCompleted: index, &fleet)
        self.settle(at: index, as: .completed, &fleet)
        self.decide(scan, at: at)
        self.dropIfDone(scan)
    }

    /// The job of a completed scan has done its work: it is deleted, or kept where the version of the contract keeps jobs.
    private mutating func completed(job: Int, at: Instant, _ fleet: inout LedgerFleet) {
        self.jobs[job].carriedBooks = true
        self.jobs[job].isKept = self.journey.version.isJobKept
        if !self.jobs[job].isKept {
            self.oweAfterOutcome(job: job, at: at)
        } else if !self.jobs[job].isGone {
            fleet.count(in: self.group) { $0.jobs.kept += 1 }
        }
        self.completedAcrossGap(job: job, at: at, &fleet)
    }

    /// What the user has seen has to stay. Books that a fault has taken are lost, whether they were shown or not.
    private func judgeShown(at index: Int, _ moment: Instant, _ fleet: inout LedgerFleet) {
        let scan = self.scans[index]
        guard !scan.shown.isEmpty, scan.bookFault == nil else { return }
        let shelf = self.shelf(of: scan.number, fleet)
        guard let book = scan.library.firstMissing(of: scan.shown, from: shelf) else { return }
        self.violate(
            .bookShown, scan.number, at: moment, &fleet,
            "completed without a book that was shown: \(book.title.bounded)",
            cause: fleet.settings.hasBackendView ? nil : .target)
    }

    /// Of a foreign backend's shelf, all that is known is what the summary of the job promises. One that promises nothing is held
    /// to nothing.
    private func countBooks(ofCompleted index: Int, at: Instant, _ fleet: inout LedgerFleet) {
        let scan = self.scans[index]
        let came = scan.library.places.isEmpty ? 0 : scan.library.different
        let promised = scan.promise.map { $0.different(duplicates: scan.library.duplicates) }
        let isLost = promised.map { came < $0 } ?? false
        let findsBooks = self.journey.findsBooks && fleet.shelf.booksMax > 0
        fleet.count(in: self.group) {
            $0.books.received += scan.library.added.count
            if isLost { $0.scans.lost += 1 } else { $0.scans.completed += 1 }
            // A scenario that states that there are none expects none.
            guard findsBooks else { return }
            $0.books.finds += 1
            if promised != nil { $0.books.promises += 1 }
            if promised == 0, came == 0 { $0.books.emptyPromises += 1 }
        }
        guard isLost, let promised else { return }
        self.violate(
            .bookNeverLost, scan.number, at: at, &fleet,
            "completed; different books that came: \(came) of \(promised) that the summary of its job promises"
        )
    }

    /// Records that it is durable that the scan is completed, refused or canceled.
    mutating func decide(_ scan: ScanNumber, at moment: Instant) {
        self.decided.removeAll { $0.scan == scan }
        self.decided.append((scan, moment), max: Self.decidedMax)
    }

    private static let decidedMax = 32

    mutating func refused(
        _ scan: ScanNumber, code: String, cause: RefusalCause?, at: Instant, _ fleet: inout LedgerFleet
    ) {
        let taken = self.take(scan, for: "refused", at: at, &fleet)
        guard let index = taken, self.scans[index].state == .open else {
            guard self.isSettled(scan) else { return }
            self.violate(.scanCustody, scan, at: at, &fleet, "refused after it was settled")
            return
        }
        if let complaint = self.refusalComplaint(at: index, cause, fleet) {
            self.violate(
                .scanRefusedForCause, scan, at: at, &fleet,
                "refused as \(code.bounded) \(complaint)")
        }
        let isExplained =
            cause == .storage
            ? self.scans[index].isCapturedWithoutRoom || self.storage.isFull
            : self.scans[index].isRefusalExplained || self.isUnreadable(index, code)
                || self.isUnknownBook(index, code, fleet)
        fleet.count(in: self.group) {
            $0.scans.refused += 1
            if !isExplained { $0.scans.refusedUnexplained += 1 }
        }
        self.oweAfterRefusal(of: scan, cause: cause, at: at)
        self.countRows(ofWithdrawn: index, &fleet)
        self.settle(at: index, as: .refused, &fleet)
        self.decide(scan, at: at)
        self.dropIfDone(scan)
    }

    /// Returns the complaint about the cause of a refusal: it must be the response or event that it names,
    /// seen for this scan and without permission to retry.
    private func refusalComplaint(at index: Int, _ cause: RefusalCause?, _ fleet: LedgerFleet) -> String? {
        let scan = self.scans[index]
        switch cause {
        case nil: return "without a cause"
        case .answer(let operation, let attempt, let status, let isRetryable):
            guard operation == .upload,
                scan.uploadReply == ScanAccount.Reply(attempt: attempt, status: status)
            else { return "for a response to \(operation.name) \(attempt) that was not seen" }
            let problem = scan.uploadProblem(attempt: attempt)
            // An answer of the upstream's is seen by the phone alone.
            if fleet.settings.hasBackendView || problem != nil, problem?.status != status {
                return "for a response to upload \(attempt) that the backend did not give"
            }
            guard Self.isFinal(status, self.journey), (problem?.isRetryable ?? isRetryable) != true else {
                return "for a response to upload \(attempt), \(status), which allows a retry"
            }
            guard status != 404 || self.isToldUnknown(index, attempt: attempt, fleet) else {
                return "for a 404 to upload \(attempt) that does not say that no provider has the book"
            }
            return nil
        case .event(let id, let isRetryable):
            let followed = self.jobs.last { $0.id == id && $0.scan == scan.number }?.ended
            guard let job = followed ?? scan.lastEndedJob, job.id == id, job.isErrorSeen
            else { return "for an error event that was not seen" }
            if fleet.settings.hasBackendView, job.isErrorRetryable == nil, !job.isInherited {
                return "for an error event that the backend did not write"
            }
            guard (job.isErrorRetryable ?? isRetryable) != true else {
                return "for an error event that allows a retry"
            }
            return nil
        case .photo: return scan.isPrepared ? "for a photo that could be read" : nil
        case .storage: return self.storage.isFull ? nil : "while its storage had room"
        case .queue:
            // Those with only the DELETE left count, too.
            let followed = self.scans.count + self.inheritedUnnamed
            return followed > Self.unsettledMax ? nil : "while its queue had room"
        }
    }

    /// Unsettled scans of one phone; one more is refused.
    private static let unsettledMax = 1_000

    /// Whether an answer to an upload is a verdict on the scan. 401, 403, 404 and 410 are verdicts on the
    /// caller or the address, 408 and 429 on the time. Of a look-up, 404 says that no provider has the book.
    private static func isFinal(_ status: Int, _ journey: Journey) -> Bool {
        if status == 404, !journey.hasJobs { return true }
        return (400...499).contains(status) && ![401, 403, 404, 408, 410, 429].contains(status)
    }

    /// The books of a scan, and how many of them are in the library. Of a foreign target's shelf nothing is known.
    func books(at index: Int, _ fleet: LedgerFleet) -> (expected: Int, held: Int) {
        guard fleet.settings.hasBackendView else { return (0, 0) }
        let count = fleet.shelf.count(device: self.device, scan: self.scans[index].number)
        return (count, self.scans[index].held)
    }

    /// An earlier run left the scan unsettled, and its record is no longer there. Its books are counted as those of any
    /// restored scan: by the shelf of this run, whose backend would have found them. `held`: how many the library has.
    mutating func lostFromStorage(
        _ scan: ScanNumber, books held: Int, at: Instant, _ fleet: inout LedgerFleet
    ) {
        var books = "its number of books is unknown"
        if fleet.settings.hasBackendView {
            let count = fleet.shelf.count(device: self.device, scan: scan)
            let received = min(held, count)
            books = "books in the library: \(received) of \(count)"
            fleet.count(in: self.group) {
                $0.books.expected += count
                $0.books.received += received
                $0.books.missing += count - received
            }
        }
        fleet.count(in: self.group) {
            $0.scans.restored += 1
            $0.scans.lost += 1
        }
        self.violate(
            .scanCustody, scan, at: at, &fleet,
            "stored by an earlier run, not settled, and missing from the state folder; \(books)")
    }

    /// The run is over and the scan is nowhere.
    mutating func lose(at index: Int, at: Instant, _ fleet: inout LedgerFleet) {
        let scan = self.scans[index].number
        fleet.count(in: self.group) { $0.scans.lost += 1 }
        self.violate(.scanCustody, scan, at: at, &fleet, "neither completed nor refused, and not on disk")
        let (count, held) = self.books(at: index, fleet)
        fleet.count(in: self.group) {
            $0.books.expected += count
            $0.books.received += held
            $0.books.missing += count - held
        }
        if self.scans[index].isFound {
            self.violate(
                .bookNeverLost, scan, at: at, &fleet,
                "the \(self.noun.one) is lost; books in the library: \(held) of \(count) that the backend found",
                cause: self.scans[index].bookFault.map { .injected(fault: $0) })
        }
        self.countRows(ofLost: index, &fleet)
        self.settle(at: index, as: .lost, &fleet)
    }
}
