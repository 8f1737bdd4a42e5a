import Observations
import SimBase
import Talaria

// What each observation means for the account of its phone.

extension PhoneAccount {
    mutating func record(
        _ payload: PhoneObservation, scan: ScanNumber, at: Instant, _ fleet: inout LedgerFleet
    ) {
        if case .lostFromStorage(let books) = payload {
            // Its state folder was read; the phone itself need take no part in the run.
            self.lostFromStorage(scan, books: books, at: at, &fleet)
            return
        }
        self.tookPart = true
        self.limits.record(payload, scan: scan)
        self.streams.record(payload, scan: scan, at: at)
        self.judgeAfterCancel(payload, scan: scan, at: at, &fleet)
        self.recordLife(payload, scan: scan, at: at, &fleet)
    }

    /// What happens to the app and its phone.
    private mutating func recordLife(
        _ payload: PhoneObservation, scan: ScanNumber, at: Instant, _ fleet: inout LedgerFleet
    ) {
        switch payload {
        case .launched(let restored): self.launched(restored: restored, at: at, &fleet)
        case .killed: self.killed(at: at)
        case .recordKept(let job, let lastEventID, let isDecided):
            self.judgeKept(scan, job: job, lastEventID: lastEventID, isDecided: isDecided, at: at, &fleet)
            self.recordKept(scan, job: job, lastEventID: lastEventID, isDecided: isDecided)
        case .reinstalled: self.reinstalled(at: at, &fleet)
        case .suspended:
            self.regionDue = nil
            self.presenceChangedAt = at
            self.suspended(at: at)
        case .resumed:
            self.presenceChangedAt = at
            self.resumed(at: at)
        case .pathLost:
            self.presenceChangedAt = at
            self.pathWasLost(at: at)
        case .pathChanged:
            self.presenceChangedAt = at
            self.pathWasChanged(at: at)
        case .pathReturned:
            self.presenceChangedAt = at
            self.pathHasReturned(at: at)
        case .storageFilled, .storageFreed: self.storageChanged(payload, at: at)
        default: self.recordScan(payload, scan: scan, at: at, &fleet)
        }
    }

    private mutating func recordScan(
        _ payload: PhoneObservation, scan: ScanNumber, at: Instant, _ fleet: inout LedgerFleet
    ) {
        switch payload {
        case .regionTaken(let capture, let number, let regions):
            self.regionTaken(scan, capture, number, of: regions, at: at, &fleet)
        case .captured:
            self.capture(scan, at: at, &fleet)
        case .photosTaken(let count): self.updateScan(scan) { $0.photos = count }
        case .photoPrepared(_, let bytes):
            self.prepared(scan, bytes: bytes, at: at, &fleet)
        case .filePrepared(let file):
            guard let index = self.take(scan, for: "its file prepared", at: at, &fleet) else {
                return
            }
            self.scans[index].file = file
        case .queued:
            self.recordText(payload, scan: scan, at: at, &fleet)
            self.queued(scan, at: at, &fleet)
        case .slotTaken:
            self.slotTaken(scan, at: at, &fleet)
        case .slotGiven:
            self.slotGiven(scan, at: at, &fleet)
        case .bookShown(_, let book):
            self.updateScan(scan) { $0.showed(book) }
            fleet.count(in: self.group) { $0.books.shown += 1 }
        case .bookAdded(let ordinal, let book):
            self.bookAdded(scan, ordinal: ordinal, book: book, at: at, &fleet)
        case .bookRepeated(let ordinal, let book):
            self.bookRepeated(scan, ordinal: ordinal, book: book, at: at, &fleet)
            if let book { self.review.cameAgain(book, of: scan, isOnly: self.journey == .textEnrichment) }
        case .completed:
            self.completed(scan, at: at, &fleet)
        case .cancelRequested:
            self.cancelRequested(scan, at: at, &fleet)
        case .canceled(let job):
            self.canceled(scan, job: job, at: at, &fleet)
        case .refused(let code, let cause):
            self.refused(scan, code: code, cause: cause, at: at, &fleet)
        default: self.recordReview(payload, scan: scan, at: at, &fleet)
        }
    }

    private mutating func recordReview(
        _ payload: PhoneObservation, scan: ScanNumber, at: Instant, _ fleet: inout LedgerFleet
    ) {
        switch payload {
        case .bookPending(let ordinal, let entry, let book):
            // In the phone's care, as in the library.
            self.bookAdded(scan, ordinal: ordinal, book: book, waits: true, at: at, &fleet)
            self.bookPending(ResultKey(scan: scan, ordinal: entry), book, at: at, &fleet)
        case .bookEdited(let entry, let title, let author):
            self.bookEdited(ResultKey(scan: scan, ordinal: entry), title, author, at: at, &fleet)
        case .bookApproved(let entry, let book):
            self.bookApproved(ResultKey(scan: scan, ordinal: entry), book, at: at, &fleet)
        case .bookRejected(let entry):
            self.bookRejected(ResultKey(scan: scan, ordinal: entry), at: at, &fleet)
        case .bookMerged(let entry, let intoScan, let intoEntry):
            let original = ResultKey(scan: ScanNumber(intoScan), ordinal: intoEntry)
            self.bookMerged(ResultKey(scan: scan, ordinal: entry), into: original, at: at, &fleet)
        case .bookKept(let entry, let book):
            self.bookKept(ResultKey(scan: scan, ordinal: entry), book, at: at, &fleet)
        case .reviewRestored(let entries): self.reviewRestored(entries, at: at, &fleet)
        default: self.recordRequest(payload, scan: scan, at: at, &fleet)
        }
    }

    private mutating func queued(_ scan: ScanNumber, at: Instant, _ fleet: inout LedgerFleet) {
        self.requireOpen(scan, for: "queued", at: at, &fleet)
        self.updateScan(scan) {
            $0.isRecorded = true
            $0.isPrepared = false  // The photo may be released and prepared again.
            $0.uploadEnded(at: at)
            $0.statusEndedAt = nil
        }
        self.jobWaits(of: scan, at: at)
    }

    /// Requests, and what their answers say.
    private mutating func recordRequest(
        _ payload: PhoneObservation, scan: ScanNumber, at: Instant, _ fleet: inout LedgerFleet
    ) {
        switch payload {
        case .requestSent(let operation, let attempt, let job, let lastEventID):
            self.requestSent(
                operation, scan: scan, attempt: attempt, job: job, lastEventID: lastEventID, at: at,
                &fleet)
        case .keySent(let attempt, let key):
            self.keySent(scan, attempt: attempt, key, at: at, &fleet)
        case .replied(let operation, let attempt, let status, _):
            self.exchangeEnded(operation, scan, attempt: attempt, at: at, &fleet)
            self.replied(operation, scan: scan, attempt: attempt, status: status, at: at, fleet)
        case .requestFailed(let operation, let attempt, let failure, _):
            self.exchangeEnded(operation, scan, attempt: attempt, at: at, &fleet)
            if operation == .upload {
                self.updateScan(scan) { $0.lookup.replied(attempt: attempt, status: nil) }
            }
            guard operation.isDelete else { return }
            self.deleteFailed(scan, attempt: attempt, failure, at: at, fleet)
        case .badAnswer(.stream, _, _): self.updateScan(scan) { $0.isStreamUnreadable = true }
        case .badAnswer(.upload, let attempt, _):
            self.updateScan(scan) { $0.lookup.unreadable(attempt: attempt) }
        case .uploadAccepted(let job, _, _):
            self.updateScan(scan) { $0.jobCame(at: at) }
            self.uploadAccepted(scan, job: job, at: at, &fleet)
        case .rateLimited(let operation, let retryAfter):
            self.rateLimited(operation, scan: scan, retryAfter: retryAfter, at: at)
            if operation.isDelete { self.deleteLimited(scan, retryAfter: retryAfter, at: at) }
        case .lookupAnswered: self.updateScan(scan) { $0.library.answerBegan() }
        case .bookRead, .enriched, .photoInstead, .readingKept:
            self.recordText(payload, scan: scan, at: at, &fleet)
        default: self.recordJob(payload, scan: scan, at: at, &fleet)
        }
    }

    /// What answers say of a job after its upload.
    private mutating func recordJob(
        _ payload: PhoneObservation, scan: ScanNumber, at: Instant, _ fleet: inout LedgerFleet
    ) {
        switch payload {
        case .resultsDecoded(let job, _, _):
            self.updateScan(scan) { $0.library.answerBegan() }
            if let index = self.jobIndex(job, of: scan) { self.jobs[index].hadResults = true }
        case .rowsRead(let job, let rows):
            self.rowsRead(scan, job: job, rows, at: at, &fleet)
        case .booksListed(_, let count): self.booksListed(scan, count, at: at, &fleet)
        case .statusDecoded(let job, let status, _):
            self.statusDecoded(scan, job: job, status, at: at, &fleet)
        case .cleanupAnswered(let job, let status, _):
            self.deleteAnswered(scan, job: job, status: status, at: at, &fleet)
        case .jobFollowed(let job, let transport):
            guard let index = self.jobIndex(job) else { return }
            self.jobs[index].stream.isSocket = transport == .websocket
            self.jobs[index].socket.isSocket = transport == .websocket
        case .tokenExchanged(let job, _):
            if let index = self.jobIndex(job) { self.jobs[index].token.received(at: at) }
        case .jobAbandoned(let job, let cause):
            self.abandoned(scan, job: job, cause: cause, at: at, &fleet)
        default: self.recordStream(payload, scan: scan, at: at, &fleet)
        }
    }

    private mutating func recordStream(
        _ payload: PhoneObservation, scan: ScanNumber, at: Instant, _ fleet: inout LedgerFleet
    ) {
        switch payload {
        case .streamOpened(let job, let attempt, _, _):
            if let index = self.jobIndex(job, of: scan) {
                self.jobs[index].stream.openedByPhone(attempt: attempt)
            }
        case .eventApplied(let job, let id, let kind, _, _):
            self.eventApplied(scan, job: job, event: id, kind: kind, at: at, &fleet)
        case .eventIgnored(let job, let id, _, _):
            if let id, let index = self.jobIndex(job, of: scan) { self.jobs[index].stream.ignored(id: id) }
        case .terminalApplied(let job, let kind, let inline):
            self.terminalApplied(scan, job: job, kind: kind, inline: inline, at: at, &fleet)
            self.updateScan(scan) { $0.library.answerBegan() }
            self.batchEnded(scan, job: job, kind: kind, inline: inline)
        case .booksPromised(_, let promise): self.updateScan(scan) { $0.promise = promise }
        case .booksNotFound(_, let failures): self.updateScan(scan) { $0.batchEnd = .counted(failures) }
        case .ping(let id, _):
            guard let id, let index = self.jobs.lastIndex(where: { $0.scan == scan && $0.isKnownToPhone })
            else { return }
            self.jobs[index].stream.pinged(id: id)
        default:
            break  // Measured, or judged above.
        }
    }

    private mutating func requestSent(
        _ operation: Operation, scan: ScanNumber, attempt: UInt32, job: String?, lastEventID: String?,
        at: Instant, _ fleet: inout LedgerFleet
    ) {
        self.checkLimit(operation, scan: scan, job: job, at: at, &fleet)
        switch operation {
        case .upload:
            self.requireOpen(scan, for: "uploaded", at: at, &fleet)
            self.requireRecord(of: scan, at: at, &fleet)
            self.requireRetry(of: scan, attempt: attempt, at: at, &fleet)
            self.lookupSent(scan, attempt: attempt)
            self.updateScan(scan) { $0.lookup.sent(attempt: attempt) }
            self.countCost(ofUpload: scan, &fleet)
        case .stream:
            _ = self.take(scan, for: "streamed", at: at, &fleet)
            self.updateScan(scan) { $0.isStreamUnreadable = false }
            guard let job else { return }
            self.askedForStream(scan, job: job, lastEventID: lastEventID, at: at, &fleet)
            if let index = self.jobIndex(job, of: scan) { self.jobs[index].streamAsked(attempt: attempt) }
        case .results:
            _ = self.take(scan, for: "results asked", at: at, &fleet)
            guard let job, let index = self.jobIndex(job, of: scan) else { return }
            self.jobs[index].isParked = false
            self.jobs[index].isEndedByServer = false
            guard self.jobs[index].terminal != .completed else { return }
            self.violate(
                .streamTerminalOnce, scan, at: at, &fleet,
                "results requested, but no completed event was applied")
        case .cleanup, .cancel:
            guard let job else { return }
            self.deleteSent(scan, job: job, attempt: attempt, at: at, &fleet)
        case .refresh: _ = self.take(scan, for: "token exchanged", at: at, &fleet)
        case .status:
            _ = self.take(scan, for: "status asked", at: at, &fleet)
            guard let job else { return }
            self.askedForStatus(scan, job: job, at: at, &fleet)
        }
    }

    /// A request is under way no more: it has its answer, or none.
    private mutating func exchangeEnded(
        _ operation: Operation, _ scan: ScanNumber, attempt: UInt32, at: Instant,
        _ fleet: inout LedgerFleet
    ) {
        switch operation {
        case .upload:
            self.updateScan(scan) { $0.uploadEnded(at: at) }
            self.lookupEnded(scan, attempt: attempt, at: at, &fleet)
        case .status: self.updateScan(scan) { $0.statusEndedAt = at }
        case .stream, .results, .cleanup, .cancel, .refresh: break
        }
    }

    private mutating func replied(
        _ operation: Operation, scan: ScanNumber, attempt: UInt32, status: Int, at: Instant,
        _ fleet: LedgerFleet
    ) {
        if status == 429 { self.limits.delivered(operation, scan: scan, attempt: attempt, at: at) }
        if operation == .upload {
            self.updateScan(scan) { $0.lookup.replied(attempt: attempt, status: status) }
        }
        guard status >= 400 || operation.isDelete else { return }
        switch operation {
        case .upload:
            self.updateScan(scan) {
                $0.uploadReply = ScanAccount.Reply(attempt: attempt, status: status)
                $0.isRefusalExplained = $0.isUploadRefused(attempt: attempt)
            }
        case .refresh: break
        case .stream, .results, .status:
            self.jobEnded(by: operation, of: scan, attempt: attempt, status: status, at: at, fleet)
        case .cleanup, .cancel:
            self.deleteReplied(scan, attempt: attempt, status: status, at: at, fleet)
        }
    }

    mutating func record(
        _ payload: BackendObservation, scan: ScanNumber, at: Instant, _ fleet: inout LedgerFleet
    ) {
        self.judgeAfterCancel(payload, at: at, &fleet)
        switch payload {
        case .accepted(let job, _):
            self.accepted(scan, job: job, at: at, &fleet)
        case .photosReceived(let job, let count):
            self.photosReceived(count, job: job, of: scan)
        case .streamOpened, .eventWritten, .streamEnded:
            self.recordStream(payload, scan: scan, at: at, &fleet)
        case .finished(let job, let kind, let books):
            self.finished(scan, job: job, kind: kind, books: books, at: at, &fleet)
        case .problem(let operation, let attempt, let status, let job, let isRetryable, let retryAfter):
            let problem = ScanAccount.ProblemReply(
                attempt: attempt, status: status, isRetryable: isRetryable, retryAfter: retryAfter)
            self.problemAnswered(problem, to: operation, scan, job: job)
        case .rowsTaken(let job, let rows):
            self.rowsTaken(scan, job: job, rows, at: at, &fleet)
        case .bookLookedUp(let lookup):
            self.bookLookedUp(scan, lookup, at: at, &fleet)
        case .failed(let job, _, let isRetryable): self.failed(job: job, isRetryable: isRetryable)
        case .tokenRevoked(let job):
            self.tokenRevoked(job: job)
        case .tokenExchanged(let job):
            guard let index = self.jobIndex(job) else { return }
            self.jobs[index].token.replaced(at: at)
            self.jobs[index].socket.tokenReplaced()
        case .cleaned(let job, effective: true), .canceled(let job):
            self.deleted(job: job, at: at, &fleet)
        case .expired(let job):
            self.expired(job: job, at: at, &fleet)
        case .vanished(let job):
            self.vanished(job: job, at: at, &fleet)
        case .textLookedUp: self.updateScan(scan) { $0.lookup.isFound = true }
        case .circuitOpened: fleet.count(in: self.group) { $0.jobs.circuitsOpened += 1 }
        case .targetBroke(let rule, _, let text):
            self.violate(Invariant(rule), scan, at: at, &fleet, text, cause: .target)
        case .connected, .requested, .answered, .pingWritten, .resultsServed, .cleaned(_, effective: false),
            .circuitClosed, .found, .upstreamFailed, .targetTried, .targetProbed, .targetEvent:
            break  // Measured, not judged.
        }
    }

    private mutating func recordStream(
        _ payload: BackendObservation, scan: ScanNumber, at: Instant, _ fleet: inout LedgerFleet
    ) {
        switch payload {
        case .streamOpened(let job, let attempt, let after):
            self.streamOpened(scan, job: job, attempt: attempt, at: at, &fleet)
            self.serverOpenedStream(job: job, attempt: attempt, after: after)
            if let index = self.jobIndex(job) { self.jobs[index].socket.opened() }
        case .eventWritten(let job, let id, let position, let kind, _):
            self.eventWritten(job: job, event: id, position: position, kind: kind)
        case .streamEnded(let job, let attempt, _):
            self.streams.ended(job: job, scan: scan, attempt: attempt)
            if let index = self.jobIndex(job) { self.jobs[index].socket.ended(at: at) }
        default: break
        }
    }

    private mutating func photosReceived(_ count: Int, job: String, of scan: ScanNumber) {
        guard let index = self.jobIndex(job, of: scan) else { return }
        self.jobs[index].photos = count
    }

    private mutating func serverOpenedStream(job: String, attempt: UInt32, after: Int?) {
        guard let index = self.jobIndex(job) else { return }
        self.jobs[index].stream.openedByServer(attempt: attempt, after: after)
    }

    private mutating func problemAnswered(
        _ problem: ScanAccount.ProblemReply, to operation: Operation, _ scan: ScanNumber, job: String?
    ) {
        if problem.status == 429 {
            self.limits.receivedRetryAfter(
                operation, scan: scan, attempt: problem.attempt, job: job, wait: problem.retryAfter)
        }
        self.updateScan(scan) { $0.problemAnswered(operation, problem) }
    }

    private mutating func failed(job: String, isRetryable: Bool) {
        guard let index = self.jobIndex(job) else { return }
        self.jobs[index].isErrorRetryable = isRetryable
    }

    mutating func record(_ payload: FaultObservation, scan: ScanNumber, at: Instant, _ fleet: LedgerFleet) {
        switch payload {
        case .fired(let fault, let operation, let attempt):
            self.faultFired(operation, scan: scan, attempt: attempt)
            let refuses = fleet.settings.faultsThatRefuse.contains(fault)
            self.updateScan(scan) { $0.faultFired(operation, attempt: attempt, refuses: refuses) }
            if let id = fleet.settings.faultsThatTakeBooks[fault] {
                self.updateScan(scan) { $0.bookFault = $0.bookFault ?? id }
            }
            if operation == .stream, fleet.settings.faultsThatChange.contains(fault) {
                for index in self.jobs.indices where self.jobs[index].scan == scan {
                    self.jobs[index].stream.isChanged = true
                }
            }
            if operation == .stream, fleet.settings.faultsThatGarble.contains(fault) {
                for index in self.jobs.indices where self.jobs[index].scan == scan {
                    self.jobs[index].stream.isGarbled = true
                }
            }
            guard fleet.settings.faultsThatCut.contains(fault) else { return }
            self.limits.cut(operation, scan: scan, attempt: attempt)
            if operation == .stream { self.streams.cut(scan: scan, attempt: attempt) }
        case .began(let fault):
            guard !fleet.settings.faultsOffPath.contains(fault) else { return }
            self.faultBegan(at: at)
        case .ended(let fault):
            guard !fleet.settings.faultsOffPath.contains(fault) else { return }
            self.faultEnded(at: at)
        case .decided, .passed:
            break
        }
    }
}

extension BackendObservation {
    /// With a foreign target, the ledger knows what the gateway's faults do and what the trial finds, and nothing else of it.
    var isOfTheGatewayToo: Bool {
        switch self {
        case .tokenRevoked, .problem, .failed, .targetBroke, .targetTried, .targetProbed, .targetEvent: true
        case .connected, .requested, .answered, .accepted, .photosReceived, .streamOpened, .eventWritten,
            .pingWritten,
            .streamEnded, .finished, .rowsTaken, .bookLookedUp, .textLookedUp, .tokenExchanged,
            .resultsServed,
            .cleaned, .canceled, .expired,
            .vanished, .circuitOpened, .circuitClosed, .found, .upstreamFailed:
            false
        }
    }
}
