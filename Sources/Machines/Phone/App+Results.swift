import Observations
import SimBase
import Talaria

// From the terminal event to books in the library.

extension App {
    /// The books that the last event carries, and the observation of the event.
    private mutating func inlineBooks(
        of reading: CompletedReading?, _ index: Int, at now: Instant, into effects: inout [PhoneEffect]
    ) -> CompletedReading.InlineBooks {
        let scan = self.active[index].number
        var unread = ContractNotes()
        let inline = reading.map { self.profile.understood($0.inline, into: &unread) } ?? .undecodable
        if !unread.isEmpty { self.observe(unread, of: scan, .stream, "completed", at: now, into: &effects) }
        self.observe(
            .terminalApplied(
                job: self.active[index].job.jobId, kind: .completed, inline: Self.form(inline)),
            of: scan, at: now, into: &effects)
        return inline
    }

    /// The job has completed; nil when its event could not be read.
    mutating func completed(
        _ reading: CompletedReading?, _ index: Int, at now: Instant, into effects: inout [PhoneEffect]
    ) {
        let job = self.active[index].job
        let inline = self.inlineBooks(of: reading, index, at: now, into: &effects)
        // Nothing is taken under another job's name: the results are requested by the id that is ours.
        let isOurs = reading?.jobId.map { $0 == job.jobId } ?? true
        let summary = isOurs && self.journey(of: self.active[index].number).hasPhotos ? reading?.promise : nil
        let named = isOurs ? reading?.resultsUrl : nil
        self.observePromises(
            of: job, failures: isOurs ? reading?.failures : nil, summary, named, index, at: now,
            into: &effects)
        let promise = self.promise(of: summary, index)
        if self.profile.results.usesInlineBooks, isOurs, case .books(let books) = inline,
            books.count <= AppLimits.booksPerScanMax
        {
            self.file(books, promised: promise, index, at: now, into: &effects)
            return
        }
        if self.profile.events.result == .collected {
            let books = self.active[index].stage.update { stream, _ in stream.books }
            self.complete(with: books, index, at: now, into: &effects)
            return
        }
        guard self.profile.results.isFallback else {
            self.file([], promised: promise, index, at: now, into: &effects)
            return
        }
        guard !self.profile.results.needsAddress || named != nil && job.authToken != nil else {
            self.giveUp(
                self.active[index].number, .resultsUnavailable, job: .deleted, at: now, into: &effects)
            return
        }
        let fetch = ActiveScan.ResultsFetch(
            target: self.resultsTarget(named, job), booksPromised: promise, expiresAt: reading?.expiresAt)
        self.active[index].stage = self.active[index].stage.completed(fetch, at: now)
        if self.pathAvailable { self.requestResults(index, at: now, into: &effects) }
    }

    /// What the summary promises, and what the preview has said.
    private func promise(of summary: BooksPromise?, _ index: Int) -> BooksPromise? {
        guard case .streaming(let stream, _) = self.active[index].stage, let books = stream.booksSegmented
        else { return summary }
        return BooksPromise(summary, segmented: books)
    }

    /// What the event says of the results that are to come.
    private mutating func observePromises(
        of job: DurableJob, failures: BookFailures?, _ promise: BooksPromise?, _ named: String?,
        _ index: Int, at now: Instant, into effects: inout [PhoneEffect]
    ) {
        let scan = self.active[index].number
        if let failures, failures.failed > 0, self.profile.journey == .batchEnrichment {
            self.observe(.booksNotFound(job: job.jobId, failures), of: scan, at: now, into: &effects)
        }
        if let promise {
            self.observe(.booksPromised(job: job.jobId, promise), of: scan, at: now, into: &effects)
        }
        if let named, !self.isUsable(named, job) {
            var notes = ContractNotes()
            notes.add(
                "resultsUrl", expected: "a path, or a URL where the stream is", seen: "another string",
                excerpt: ServerText.shown(address: named))
            self.observe(notes, of: scan, .stream, "completed", at: now, into: &effects)
        }
    }

    /// The job has completed for a client that has its books already. None are a failure.
    private mutating func complete(
        with books: [Book], _ index: Int, at now: Instant, into effects: inout [PhoneEffect]
    ) {
        if books.isEmpty {
            self.giveUp(
                self.active[index].number, .resultsUnavailable, job: .left, at: now, into: &effects)
        } else {
            self.file(books, promised: nil, index, at: now, into: &effects)
        }
    }

    /// The address of the results: the one that the event names, as long as it is a path or lies where the stream lies;
    /// else the contract's. `format` is requested exactly once, by a client that requests it.
    func resultsTarget(_ named: String?, _ job: DurableJob) -> String {
        var target = self.profile.journey.path(.results(jobId: job.jobId))
        let version = self.profile.journey.version
        if version.completedHasBooks, let named, self.isUsable(named, job) { target = named }
        guard version.hasResultsFormats, let value = self.profile.results.format else { return target }
        let format = "format=\(value)"
        guard let mark = target.utf8.firstIndex(of: UInt8(ascii: "?")) else { return "\(target)?\(format)" }
        let query = target[target.index(after: mark)...]
        if query.split(separator: "&").contains(where: { $0 == format }) { return target }
        return query.isEmpty || query.hasSuffix("&") ? target + format : "\(target)&\(format)"
    }

    private func isUsable(_ address: String, _ job: DurableJob) -> Bool {
        ServerText.isTarget(address)
            && (ServerText.isPath(address) || ServerText.origin(address) == ServerText.origin(job.sseUrl))
    }

    mutating func requestResults(_ index: Int, at now: Instant, into effects: inout [PhoneEffect]) {
        self.active[index].stage = self.active[index].stage.fetched()
        guard case .fetching(let fetch) = self.active[index].stage else { return }
        if self.profile.results.checksExpiry, let expiry = fetch.expiresAt,
            self.wallNanoseconds(at: now) / 1_000_000 >= expiry
        {
            self.giveUp(
                self.active[index].number, .resultsExpired, job: .deleted, at: now, into: &effects)
            return
        }
        let attempt = self.active[index].scan.nextAttempt(.results)
        self.note(.put(self.active[index].scan.record), into: &effects)
        self.send(
            RequestPlan(
                purpose: .results, scan: self.active[index].number, attempt: attempt, method: "GET",
                target: fetch.target, job: self.active[index].job, headers: [],
                lastEventID: nil, body: .none, timeout: self.profile.timeout(of: .results)),
            at: now, into: &effects)
    }

    mutating func resultsAnswered(
        _ exchange: Exchange, _ answer: Answer, at now: Instant, into effects: inout [PhoneEffect]
    ) {
        guard let index = self.activeIndex(exchange.scan) else {
            preconditionFailure("results without a scan")
        }
        guard case .fetching(let fetch) = self.active[index].stage else {
            preconditionFailure("results that were not requested")
        }
        let job = self.active[index].job.jobId
        var answer = answer
        let judgement = ResultsJudgement.judge(&answer, jobId: job, self.profile)
        self.observe(answer, exchange, at: now, into: &effects)
        switch judgement {
        case .books(let books, let rows, let listed):
            self.observeResults(books, rows, listed: listed, of: job, exchange, at: now, into: &effects)
            self.file(books, promised: fetch.booksPromised, index, at: now, into: &effects)
        case .jobEnded(.tokenExpired) where self.showedOldToken(exchange),
            .jobEnded(.tokenRefused) where self.showedOldToken(exchange):
            self.resultsFailed(exchange.scan, after: nil, at: now, into: &effects)
        case .jobEnded(let end):
            guard self.profile.results.isRepeated else {
                self.resultsFailed(exchange.scan, after: nil, at: now, into: &effects)
                return
            }
            self.jobEnded(exchange.scan, end, at: now, into: &effects)
        case .again(let asked):
            if answer.head.status == 429 {
                self.observe(
                    .rateLimited(.results, retryAfter: asked ?? .zero), of: exchange.scan, at: now,
                    into: &effects)
            }
            self.resultsFailed(exchange.scan, after: asked, at: now, into: &effects)
        case .bad(let bad):
            self.observe(bad: bad, exchange, at: now, into: &effects)
            self.resultsUnreadable(bad, fetch, index, at: now, into: &effects)
        }
    }

    private mutating func observeResults(
        _ books: [Book], _ rows: RowCounts?, listed: Int?, of job: String, _ exchange: Exchange,
        at now: Instant, into effects: inout [PhoneEffect]
    ) {
        self.observe(
            .resultsDecoded(job: job, books: books.count, took: now - exchange.sentAt), of: exchange.scan,
            at: now, into: &effects)
        if let rows {
            self.observe(.rowsRead(job: job, rows), of: exchange.scan, at: now, into: &effects)
        }
        if let listed {
            self.observe(.booksListed(job: job, count: listed), of: exchange.scan, at: now, into: &effects)
        }
    }

    private mutating func resultsUnreadable(
        _ bad: BadAnswer, _ fetch: ActiveScan.ResultsFetch, _ index: Int, at now: Instant,
        into effects: inout [PhoneEffect]
    ) {
        let scan = self.active[index].number
        self.active[index].stage = self.active[index].stage.answeredBadly()
        guard self.profile.results.isRepeated, fetch.badAnswers + 1 >= AppLimits.resultsBadAnswersMax
        else {
            self.resultsFailed(scan, after: nil, at: now, into: &effects)
            return
        }
        // The job stays in the record: a later process, or a later version, may be able to read it. A DELETE
        // would destroy the results.
        self.giveUpEpisodes(index, isSuperseded: false, resultsToo: true, at: now, into: &effects)
        self.requeue(scan, bad.waitingCause, .nextLaunch, floor: now, at: now, into: &effects)
    }

    /// The results could not be had this time; the job lives.
    mutating func resultsFailed(
        _ scan: ScanNumber, after asked: Interval?, at now: Instant, into effects: inout [PhoneEffect]
    ) {
        guard let index = self.activeIndex(scan) else { preconditionFailure("results without a scan") }
        guard self.profile.results.isRepeated else {
            self.giveUp(scan, .resultsUnavailable, job: .deleted, at: now, into: &effects)
            return
        }
        if let max = self.profile.results.failuresMax, case .fetching(let fetch) = self.active[index].stage,
            fetch.failures >= max
        {
            self.giveUp(scan, .resultsUnavailable, job: .deletedWithScan, at: now, into: &effects)
            return
        }
        let attempt = self.active[index].scan.record.attempts.results
        self.active[index].stage = self.active[index].stage.failed(
            asked: asked, self.profile.backoffOfRequests, draw: self.jitter(.results, scan, attempt: attempt),
            at: now)
    }

    // MARK: Filing

    /// Adds every book that is not in the library yet, whatever its place in the event or the response.
    mutating func file(
        _ books: [Book], promised: BooksPromise?, _ index: Int, at now: Instant,
        into effects: inout [PhoneEffect]
    ) {
        let scan = self.active[index].number
        if let promised {
            self.observe(
                promised.notes(on: books), of: scan, .stream, "completed", at: now, into: &effects)
            self.observe(
                promised.notesOfPreview(on: books), of: scan, .stream, "segmented", at: now, into: &effects)
        }
        let library = self.active[index].scan.record.booksApplied
        // Almost always it has none of them yet, and no keys are needed.
        let known = library.isEmpty ? nil : BookPairs.known(books, in: library)
        var unobserved: [ActiveScan.UnobservedBook] = []
        for (ordinal, book) in books.enumerated() {
            let isRead = !library.isEmpty && self.waitsSinceRead(ordinal: ordinal)
            guard !isRead, known?[ordinal] != true else {
                self.recognized(book, ordinal: ordinal, of: scan, at: now, into: &effects)
                self.enrich(scan, with: book, isRead: isRead, into: &effects)
                continue
            }
            let key = ResultKey(scan: scan, ordinal: self.active[index].scan.record.booksApplied.count)
            self.active[index].scan.record.booksApplied.append(book)
            if let writeID = self.add(book, ordinal: ordinal, key, at: now, into: &effects) {
                unobserved.append(ActiveScan.UnobservedBook(writeID: writeID, ordinal: ordinal, book: book))
            }
        }
        self.active[index].scan.record.completed = true
        self.file(.completed(unobserved), index, into: &effects)
    }

    /// A non-retryable answer: shown, and cleaned up if there is a job.
    mutating func refuse(
        _ scan: ScanNumber, code: String, cause: RefusalCause, at now: Instant,
        into effects: inout [PhoneEffect]
    ) {
        guard let index = self.activeIndex(scan) else {
            preconditionFailure("only a scan in a slot is refused")
        }
        self.active[index].scan.record.refusal = code
        self.file(.refused(code: code, cause), index, into: &effects)
    }

    /// A scan that is given up for good. Until that is durable, a process that ends keeps it. `overlay`: the time before its
    /// job is deleted.
    mutating func remove(
        _ index: Int, overlay: Interval, at now: Instant, into effects: inout [PhoneEffect]
    ) {
        if self.active[index].scan.isDrained {
            self.drainsAgainAt = now + overlay + (self.profile.stream.slotHold ?? .zero)
        }
        self.active[index].scan.record.refusal = AppLimits.removedCode
        self.file(.removed(overlay: overlay), index, into: &effects)
    }

    mutating func file(
        _ outcome: ActiveScan.Outcome, _ index: Int, into effects: inout [PhoneEffect]
    ) {
        var attempt: UInt32?
        if self.deletes(after: self.active[index].scan.record), self.active[index].scan.record.job != nil {
            attempt = self.active[index].scan.nextAttempt(.cleanup)
        }
        let writeID = self.store(.put(self.active[index].scan.record), into: &effects)
        self.active[index].stage = self.active[index].stage.decided(
            ActiveScan.Filing(writeID: writeID, outcome: outcome, cleanupAttempt: attempt))
    }

    mutating func observeDurableBooks(_ index: Int, at now: Instant, into effects: inout [PhoneEffect]) {
        guard case .filing(var filing) = self.active[index].stage,
            case .completed(let books) = filing.outcome, !books.isEmpty
        else { return }
        let scan = self.active[index].number
        let left = books.drop { $0.writeID <= self.durable }
        for book in books[..<left.startIndex] {
            self.observe(
                .bookAdded(ordinal: book.ordinal, book: book.book), of: scan, at: now, into: &effects)
        }
        filing.outcome = .completed(Array(left))
        self.active[index].stage = .filing(filing)
    }

    /// The outcome is durable: it counts from here on, whatever becomes of the DELETE.
    mutating func filed(
        _ scan: ScanNumber, _ filing: ActiveScan.Filing, at now: Instant, into effects: inout [PhoneEffect]
    ) {
        guard let index = self.activeIndex(scan) else { preconditionFailure("an outcome without a scan") }
        var due = now
        switch filing.outcome {
        case .completed where self.active[index].scan.copies > 0: break
        case .completed:
            let took = now - self.active[index].scan.scheduled
            self.observe(.completed(took: took), of: scan, at: now, into: &effects)
        case .refused(let code, let cause):
            self.observe(.refused(code: code, cause: cause), of: scan, at: now, into: &effects)
            if case .event = cause { due = now + self.profile.events.overlay }
        case .removed(let overlay): due = now + overlay
        case .canceled:
            let job = self.active[index].scan.record.job?.jobId
            self.observe(.canceled(job: job), of: scan, at: now, into: &effects)
        }
        if self.repeatsDrained(index, at: now, into: &effects) { return }
        Self.release(&self.active[index].scan, into: &effects)
        self.active[index].stage = self.active[index].stage.filed(
            holdingThroughCleanup: self.profile.stream.slotHold != nil)
        self.clean(index, attempt: filing.cleanupAttempt, due: due, at: now, into: &effects)
    }

    private static func form(_ inline: CompletedReading.InlineBooks) -> InlineBooksForm {
        switch inline {
        case .absent: .absent
        case .null: .null
        case .empty: .empty
        case .undecodable: .undecodable
        case .books: .books
        }
    }
}

extension BooksPromise {
    /// Where the preview of the photo said another number of books.
    fileprivate func notesOfPreview(on books: [Book]) -> ContractNotes {
        var notes = ContractNotes()
        if let segmented, segmented != books.count {
            notes.add(
                "totalBooks", expected: "the number of books that came",
                seen: segmented > books.count ? "a higher number" : "a lower number",
                excerpt: "\(segmented), and \(books.count) came")
        }
        return notes
    }

    /// What deviates in the number of books that came.
    fileprivate func notes(on books: [Book]) -> ContractNotes {
        var notes = ContractNotes()
        func note(_ member: String, _ promised: Int, came count: Int, _ noun: String) {
            guard promised != count else { return }
            notes.add(
                "summary.\(member)", expected: "the number of \(noun) that came",
                seen: promised > count ? "a higher number" : "a lower number",
                excerpt: "\(promised), and \(count) came")
        }
        if let unique {
            // Books without a copy among them need no keys.
            guard unique != books.count else { return notes }
            note("totalUnique", unique, came: BookKey.different(books.map(BookKey.init)), "different books")
        } else if let detected {
            note("totalDetected", detected, came: books.count, "books")
        }
        return notes
    }
}
