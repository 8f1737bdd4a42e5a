internal import CSV
internal import Faults
import JSON
import Observations
internal import OriginServer
internal import SimBase
internal import Talaria

extension Backend {
    // MARK: Deadlines

    mutating func doWhatIsDue(into effects: inout [OriginEffect]) {
        while let (at, deadline) = self.deadlines.popDue(at: self.now) {
            guard self.isLive(deadline, at) else { continue }
            switch deadline {
            case .job(let key): self.advance(key, into: &effects)
            case .ping(let exchange): self.pingDue(exchange, into: &effects)
            case .fault(let exchange): self.faultDue(exchange, into: &effects)
            case .linger(let exchange): self.lingeringEnds(exchange, into: &effects)
            case .timeout(let exchange): self.timeOut(exchange, into: &effects)
            case .poll(let exchange): self.pollDue(exchange, into: &effects)
            case .socket(let exchange): self.socketDue(exchange, into: &effects)
            }
        }
    }

    /// Mutating, so that the tables remember where the job or the stream stands that is looked at next.
    private mutating func isLive(_ deadline: DeadlineQueue.Deadline, _ at: Instant) -> Bool {
        switch deadline {
        case .job(let key): self.jobs.update(key) { $0.due } == at
        case .ping(let exchange): self.streams.update(exchange) { $0.nextPing } == at
        case .fault(let exchange): self.faults.alarm(of: exchange) == at
        case .linger(let exchange): self.lingering.update(exchange) { $0.endsAt } == at
        case .timeout(let exchange): self.streams.update(exchange) { $0.endsAt } == .some(at)
        case .poll(let exchange): self.streams.update(exchange) { $0.polling?.next } == .some(at)
        case .socket(let exchange): self.sockets.update(exchange) { $0.due } == .some(at)
        }
    }

    mutating func dropStaleDeadlines() {
        var deadlines = DeadlineQueue()
        swap(&deadlines, &self.deadlines)  // So that what is asked below does not touch what changes.
        let live =
            self.jobs.count + self.streams.count + self.lingering.count + self.sockets.count
            + self.faults.alarms
        deadlines.drop(live: live) { self.isLive($0, $1) }
        swap(&deadlines, &self.deadlines)
    }

    mutating func schedule(_ key: JobKey, at due: Instant) {
        self.jobs.update(key) { $0.due = due }
        self.deadlines.add(.job(key), at: due)
    }

    // MARK: The life of a job

    /// Does what the job is to do by now, and sets its next deadline.
    mutating func advance(_ key: JobKey, into effects: inout [OriginEffect]) {
        while let (facts, phase, step, due) = self.jobs.update(
            key, { ($0.facts, $0.phase, $0.step, $0.nextStepDue) })
        {
            switch phase {
            case .running:
                guard due <= self.now else {
                    self.schedule(key, at: due)
                    return
                }
                self.jobs.update(key) { $0.step += 1 }
                switch facts.script.step(at: step) {
                case .event(let stage, let number, let said):
                    self.emitEvent(facts, stage, number, said, step: step, into: &effects)
                case .completed:
                    self.end(facts, .completed, into: &effects)
                    return
                }
            case .ending(let status, let at):
                // A fault may have ended the job just now.
                guard let second = facts.dialect.secondTerminal, at + second.after <= self.now else { return }
                self.endAgain(facts, status, second, into: &effects)
                return
            case .finished(let status, let at):
                // A fault may have ended the job just now.
                guard at + self.configuration.eventBuffer <= self.now else { return }
                self.settle(facts, status, at: at)
                return
            case .settled:
                self.expire(key, into: &effects)
                return
            }
        }
    }

    /// Gives the next rows of an import their outcomes, up to so many in all.
    private mutating func takeRows(_ facts: Job.Facts, upTo count: Int) {
        guard var rows = self.jobs.update(facts.key, { $0.rows.take() }) ?? nil else { return }
        self.libraries.take(count, of: &rows, by: facts.owner.device)
        self.jobs.update(facts.key) { $0.rows = rows }
    }

    /// An import is over: what was not taken stays pending. `hasResults`: these list the books, unless lists would take half of the
    /// memory that there is for documents.
    mutating func endRows(_ facts: Job.Facts, hasResults: Bool, into effects: inout [OriginEffect]) {
        let hasRoom = hasResults && self.documentBytes <= self.configuration.documentBytesMax / 2
        let listBytesMax = hasRoom ? self.configuration.imports.listBytesMax : 0
        let found = self.jobs.update(facts.key) { job -> (counts: RowCounts, released: Int)? in
            guard let rows = job.rows, job.phase == .running else { return nil }
            let counts = rows.counts
            let list = rows.listBytes
            let isListed = hasRoom && list <= listBytesMax
            let errors = counts.failed * ImportAccount.RowError.bytesMax
            let held = min(job.documentBytes, errors + (isListed ? list : 0))
            defer { job.documentBytes = held }
            job.rows?.end(listsBooks: isListed)
            return (counts, job.documentBytes - held)
        }
        guard let (counts, released) = found ?? nil else { return }
        self.documentBytes -= released
        effects.append(.observe(self.payload(facts.owner, .rowsTaken(job: facts.id, counts))))
    }

    /// A step of the script that is not the last.
    private mutating func emitEvent(
        _ facts: Job.Facts, _ stage: JobCourse.Stage, _ number: Int, _ said: JobCourse.Said, step: Int,
        into effects: inout [OriginEffect]
    ) {
        if stage.count == .ticks { self.takeRows(facts, upTo: facts.script.progress(at: step).processed) }
        if stage.count == .books, said == stage.events.first(where: { $0 != .bookProgress }) {
            self.lookUp(facts, ordinal: number - 1, into: &effects)
            // What was said of the book may have reached the trigger of a fault that ended the job.
            guard self.jobs.with(facts.key, { $0.phase }) == .running else { return }
        }
        if let captured = stage.captured {
            self.emit(captured, facts, into: &effects)
            return
        }
        self.emit(
            said.kind, stage.form ?? facts.dialect.events.form(of: said.kind),
            self.data(facts, stage, number, said, step: step), captured: nil, facts, into: &effects)
    }

    private mutating func data(
        _ facts: Job.Facts, _ stage: JobCourse.Stage, _ number: Int, _ said: JobCourse.Said, step: Int
    ) -> [UInt8] {
        switch said {
        case .segmented:
            // Its image is added when it is written to a stream.
            return []
        case .bookProgress:
            return JSON.object { writer in
                writer.member("current", number)
                writer.member("stage", stage.status)
                writer.member("total", facts.script.books)
            }
        case .result(.flat(let form)):
            let book = self.book(facts, ordinal: number - 1)
            return JSONWriter.bytes { form.write(book, to: &$0) }
        case .result(.nested(let form)): return self.progressData(facts, stage, number, form, step: step)
        case .progress: return self.progressData(facts, stage, number, nil, step: step)
        }
    }

    /// The data of a `segmented` event. They are in no log: a job holds no image.
    mutating func segmentedData(_ facts: Job.Facts) -> [UInt8] {
        let sizes = self.configuration.previewBytes
        let owner = facts.owner
        let extra = self.random.below(
            UInt64(sizes.count), .preview, UInt64(owner.device.raw), UInt64(owner.scan.raw))
        return JSON.object { writer in
            writer.member("image") {
                Base64.append(PreviewImage.bytes(sizes.lowerBound + Int(extra)), to: &$0)
            }
            writer.member("totalBooks", facts.script.books)
        }
    }

    /// An event of a captured stream, with the id that it had.
    private mutating func emit(
        _ captured: Capture.Event, _ facts: Job.Facts, into effects: inout [OriginEffect]
    ) {
        let data = captured.data.bytes(job: facts.id, resultsURL: self.resultsLink(facts))
        self.emit(
            captured.kind, captured.form, data, captured: captured.milliseconds, facts, into: &effects)
    }

    /// Mutating, so that the backend is asked where it stands and not copied first.
    /// `book`: the form of the book of a `result` event; nil for `progress`.
    private mutating func progressData(
        _ facts: Job.Facts, _ stage: JobCourse.Stage, _ number: Int, _ book: BookForm?, step: Int
    ) -> [UInt8] {
        let script = facts.script
        guard facts.journey.version.progressHasMessage else {
            return self.v2ProgressData(facts, stage, number, step: step)
        }
        let isProgress = book == nil
        let progress = script.progress(at: step)
        let wall = self.wall
        return JSON.object { writer in
            if let book {
                writer.key("book")
                book.write(self.book(facts, ordinal: number - 1), to: &writer)
            }
            if stage.tellsBooks { writer.member("count_detected", script.books) }
            if stage.count == .books {
                writer.member("currentItem") {
                    self.shelf.append(
                        titleOf: facts.owner.device, facts.owner.scan, ordinal: number - 1, to: &$0)
                }
            }
            writer.member("jobId", facts.id)
            writer.member("message") { script.append(stage.message, number, to: &$0) }
            if isProgress { writer.member("processedCount", progress.processed) }
            writer.member("progress", thousandths: progress.thousandths)
            writer.member("status", stage.status)
            if isProgress {
                writer.member("timestamp", timestamp: wall)
                writer.member("totalCount", progress.total)
            }
            writer.member("type", (isProgress ? EventKind.progress : .result).rawValue)
        }
    }

    /// Docs/contract.md section 3.3.
    private func v2ProgressData(
        _ facts: Job.Facts, _ stage: JobCourse.Stage, _ number: Int, step: Int
    ) -> [UInt8] {
        let progress = facts.script.progress(at: step)
        switch facts.dialect.v2Data {
        case .plain: break
        case .photoscan: return DottedData.scan(facts, stage, number, progress)
        case .enrichment:
            let isbn = self.isbn(facts, after: step)
            return DottedData.enrichment(isbn: isbn, stage.status, progress.thousandths) {
                $0.member("provider", DottedData.provider)
            }
        }
        return JSON.object { writer in
            writer.member("jobId", facts.id)
            writer.member("processedCount", progress.processed)
            writer.member("progress", thousandths: progress.thousandths)
            writer.member("status", stage.status)
            writer.member("totalCount", progress.total)
        }
    }

    /// The job reaches its terminal event, and its streams their end.
    mutating func end(_ facts: Job.Facts, _ ending: JobEnding, into effects: inout [OriginEffect]) {
        let hasSecond = ending == .completed && facts.dialect.secondTerminal != nil
        let phase: Job.Phase =
            hasSecond ? .ending(ending.status, at: self.now) : .finished(ending.status, at: self.now)
        let progress = facts.script.progress(at: max(0, (self.jobs.with(facts.key) { $0.step } ?? 0) - 1))
        if ending == .completed { self.takeRows(facts, upTo: facts.script.rows) }
        self.endRows(facts, hasResults: ending == .completed, into: &effects)
        self.jobs.update(facts.key) { $0.phase = phase }
        let kind = self.emitEnd(facts, ending, progress, into: &effects)
        // A fault may have taken the job away when its end was told.
        guard self.jobs.with(facts.key, { _ in true }) == true else { return }
        let books = ending == .completed ? facts.script.books : 0
        effects.append(
            .observe(
                self.payload(facts.owner, .finished(job: facts.id, kind: kind, books: books))))
        self.judgeProviders(by: facts, ending, into: &effects)
        if hasSecond, let second = facts.dialect.secondTerminal {
            self.schedule(facts.key, at: self.now + second.after)
        } else {
            self.finish(facts, ending.status, into: &effects)
        }
    }

    /// - Returns: The kind of the terminal event.
    private mutating func emitEnd(
        _ facts: Job.Facts, _ ending: JobEnding, _ progress: JobProgress,
        into effects: inout [OriginEffect]
    ) -> EventKind {
        switch ending {
        case .completed:
            self.emitCompleted(facts, into: &effects)
            return .completed
        case .canceled:
            let code = ErrorData.canceledCode
            self.observeFailed(facts, code, retryable: false, into: &effects)
            let error = ErrorData(
                jobId: facts.id, code: code, message: "The job was canceled.", retryable: false)
            self.emitError(facts, error, status: .canceled, progress, into: &effects)
        case .failed(let code, let retryable):
            self.observeFailed(facts, code, retryable: retryable, into: &effects)
            let error = JobChange.failure(
                job: facts.id, code: code, retryable: retryable, payload: facts.journey.payload)
            self.emitError(facts, error, status: .failed, progress, into: &effects)
        case .unreadable(let flaw):
            let code = ImportLimits.unreadableCode
            self.observeFailed(facts, code, retryable: false, into: &effects)
            let error = ErrorData(jobId: facts.id, code: code, message: flaw.text, retryable: false)
            self.emitError(facts, error, status: .failed, progress, into: &effects)
        }
        return .error
    }

    private mutating func emitCompleted(_ facts: Job.Facts, into effects: inout [OriginEffect]) {
        let whole = self.completedData(facts, stripped: nil)
        let fits = whole.count <= self.configuration.completedBytesMax
        let captured = facts.dialect.capture?.completed
        self.emit(
            .completed, captured?.form ?? facts.dialect.events.form(of: .completed),
            fits ? whole : self.completedData(facts, stripped: .absent), captured: captured?.milliseconds,
            facts, into: &effects)
    }

    private mutating func emitError(
        _ facts: Job.Facts, _ error: ErrorData, status: JobStatus, _ progress: JobProgress,
        into effects: inout [OriginEffect]
    ) {
        if self.configuration.cancelEvent, error.code == ErrorData.canceledCode,
            facts.journey.version.hasProgressiveEvents
        {
            var form = facts.dialect.events.form(of: .error)
            (form.name, form.idSuffix) = (EventKind.canceledName, EventKind.canceledName)
            let data = JSON.object { writer in
                writer.member("jobId", facts.id)
                writer.member("type", EventKind.canceledName)
            }
            return self.emit(.error, form, data, captured: nil, facts, into: &effects)
        }
        self.emit(.error, self.failureData(facts, error, status: status, progress), facts, into: &effects)
    }

    /// The terminal event after the first one, which brings the address of the books in place of the books.
    private mutating func endAgain(
        _ facts: Job.Facts, _ status: JobStatus, _ second: Dialect.SecondTerminal,
        into effects: inout [OriginEffect]
    ) {
        let phase = Job.Phase.finished(status, at: self.now)
        self.jobs.update(facts.key) { $0.phase = phase }
        var form = facts.dialect.events.form(of: .completed)
        form.idSuffix = second.idSuffix
        let data = second.form.data(self.completedFacts(facts), stripped: nil)
        let captured = facts.dialect.capture?.again
        self.emit(
            .completed, captured?.form ?? form, data, captured: captured?.milliseconds, facts, into: &effects)
        guard self.jobs.with(facts.key, { _ in true }) == true else { return }
        self.finish(facts, status, into: &effects)
    }

    /// The last terminal event has been sent.
    private mutating func finish(
        _ facts: Job.Facts, _ status: JobStatus, into effects: inout [OriginEffect]
    ) {
        let (isForgetful, isCleaned) =
            self.jobs.update(facts.key) { ($0.log.isForgetful, $0.isCleaned) } ?? (false, false)
        // A stream that looks for changes ends when it has seen the end.
        if !facts.dialect.isPolled { self.endStreams(of: facts.key, lingering: true, into: &effects) }
        if isForgetful { self.keepTerminalOnly(facts, status) }
        if isCleaned {
            self.forget(facts.key)
        } else {
            self.schedule(facts.key, at: self.now + self.configuration.eventBuffer)
        }
    }

    private func observeFailed(
        _ facts: Job.Facts, _ code: String, retryable: Bool, into effects: inout [OriginEffect]
    ) {
        effects.append(
            .observe(self.payload(facts.owner, .failed(job: facts.id, code: code, retryable: retryable))))
    }

    /// The buffer is over: of the log only the terminal event is left, without its books. The job itself lives on until
    /// neither its token nor its results are of use.
    private mutating func settle(_ facts: Job.Facts, _ status: JobStatus, at finished: Instant) {
        self.keepTerminalOnly(facts, status)
        self.jobs.update(facts.key) { $0.phase = .settled(status, at: finished) }
        let configuration = self.configuration
        let results = configuration.resultsLifetime(of: facts.journey.version)
        let end = max(facts.accepted + configuration.tokenLifetime, finished + results, self.now)
        self.schedule(facts.key, at: end)
    }

    /// Keeps only the terminal event of a finished job's log, without its books.
    mutating func keepTerminalOnly(_ facts: Job.Facts, _ status: JobStatus) {
        let hasBooks = status == .completed && facts.dialect.secondTerminal == nil
        let data = hasBooks ? self.completedData(facts, stripped: .absent) : nil
        self.jobs.update(facts.key) { $0.log.settle(lastData: data) }
    }

    func completedData(_ facts: Job.Facts, stripped: StrippedForm?) -> [UInt8] {
        facts.dialect.completed.data(self.completedFacts(facts), stripped: stripped)
    }

    private func completedFacts(_ facts: Job.Facts) -> CompletedForm.Facts {
        CompletedForm.Facts(
            job: facts.id, resultsURL: self.resultsLink(facts), books: self.books(facts),
            completedAt: self.wall, jobTime: facts.script.time, photos: facts.script.photos,
            expiresAt: self.wall(
                at: self.now + self.configuration.resultsLifetime(of: facts.journey.version)),
            notFound: facts.script.notFound, rows: self.jobs[facts.key]?.rows?.counts,
            isFull: self.configuration.inlineBooks == .full)
    }

    private func failureData(
        _ facts: Job.Facts, _ error: ErrorData, status: JobStatus, _ progress: JobProgress
    ) -> [UInt8] {
        switch facts.dialect.v2Data {
        case .plain: return facts.dialect.failure.data(error, status: status, progress)
        case .photoscan: return error.dottedScan(job: facts.id, status: status)
        case .enrichment:
            let isbn = self.isbn(facts, after: max(0, (self.jobs[facts.key]?.step ?? 0) - 1))
            return error.dottedEnrichment(isbn: isbn, percent: progress.thousandths / 10, status: status)
        }
    }

    /// The ISBN that a batch has come to with a step of its script, or that it begins with; empty for a book without one.
    private func isbn(_ facts: Job.Facts, after step: Int) -> String {
        guard case .event(let stage, let number, _) = facts.script.step(at: step) else {
            return self.books(facts).last?.isbn ?? ""
        }
        let books = self.books(facts)
        let ordinal = stage.count == .books ? number - 1 : 0
        return books.indices.contains(ordinal) ? books[ordinal].isbn ?? "" : ""
    }

    private func resultsLink(_ facts: Job.Facts) -> String {
        facts.dialect.hasOtherResultsPath
            ? Endpoint.otherResultsPath(facts.id)
            : self.link(.results(jobId: facts.id), facts.journey, facts.host)
    }

    /// Appends an event to the job's log and sends it on all its streams.
    mutating func emit(
        _ kind: EventKind, _ data: [UInt8], _ facts: Job.Facts, into effects: inout [OriginEffect]
    ) {
        self.emit(
            kind, facts.dialect.events.form(of: kind), data, captured: nil, facts, into: &effects)
    }

    private mutating func emit(
        _ kind: EventKind, _ form: EventForm, _ data: [UInt8], captured: Int64?, _ facts: Job.Facts,
        into effects: inout [OriginEffect]
    ) {
        guard let (position, streams) = self.jobs.update(facts.key, { ($0.log.count, $0.streams) }) else {
            return
        }
        // Before the event has its id, so that ids increase on every stream.
        for exchange in streams where !facts.dialect.isPolled {
            self.writeExtras(before: position, to: exchange, facts, into: &effects)
        }
        let (wall, now) = (self.wall, self.now)
        let emitted = self.jobs.update(facts.key) {
            $0.log.append(kind, form, data: data, wall: wall, captured: captured, at: now)
        }
        guard let entry = emitted else { return }
        guard !facts.dialect.isPolled else { return }
        for exchange in streams {
            self.write(entry, to: exchange, facts, replayed: false, into: &effects)
        }
        // Only now: what a fault does must not overtake the event on another stream.
        for exchange in streams { self.applyFaults(of: exchange, into: &effects) }
    }
}
