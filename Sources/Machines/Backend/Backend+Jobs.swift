internal import Faults
import JSON
import Observations
internal import OriginServer
internal import SimBase
internal import Talaria

extension Backend {
    enum Access {
        case job(Job.Facts)
        /// The job was removed, or has expired.
        case gone
        case refused(Refusal)
    }

    /// Checks access to a job: a bearer token must be present (401), the job must be known (404) and not
    /// removed (410), the token must belong to the job (401) and not be expired (401), and with `strictDevice` the device must be
    /// the one of the upload (401). The token of a removed job no longer exists, so any token gets the 410. A journey that is public
    /// is read without a token.
    ///
    /// Faults that answer instead of the server and wait for nothing act here: on a request that would have
    /// been served.
    mutating func access(
        _ context: RequestContext, _ request: OriginRequest, _ device: DeviceKey?, _ jobID: String,
        into effects: inout [OriginEffect]
    ) -> Access {
        let bearer = self.bearer(of: request, context)
        let isRead = context.operation != .cleanup && context.operation != .cancel
        let isOpen =
            !self.dialect(of: context).hasAuthorization
            || context.journey.isPublic && isRead && bearer == .missing
        guard isOpen || bearer != .missing else {
            return .refused(Refusal(.invalidToken, "A bearer token is required."))
        }
        guard let key = JobKey(jobID: jobID) else {
            return .refused(.unknownJob)
        }
        let now = self.now
        let strict = self.configuration.strictDevice
        let found = self.jobs.update(key) { job in
            (
                job.facts, isOpen ? .valid : job.token.verdict(on: bearer, at: now),
                !strict || job.facts.device == device, job.isCleaned
            )
        }
        guard let (facts, verdict, isOwn, isCleaned) = found, !isCleaned, facts.id == jobID,
            facts.journey == context.journey
        else {
            return self.accessToMissingJob(key, context)
        }
        switch verdict {
        case .wrong: return .refused(Refusal(.invalidToken, "The token is not this job's."))
        case .expired: return .refused(.tokenExpired)
        case .valid: break
        }
        guard isOwn else {
            return .refused(Refusal(.unauthorized, "The job belongs to another device."))
        }
        guard
            let (refusal, change) = self.faults.refusal(ofJobRequest: context, at: now, into: &effects)
        else { return .job(facts) }
        if let change { self.apply(change, to: key, into: &effects) }
        return .refused(refusal)
    }

    /// The token that a request shows where the backend looks for it. Only streams have one in the query, which is written into
    /// logs.
    private func bearer(of request: OriginRequest, _ context: RequestContext) -> Bearer {
        guard context.operation == .stream, context.journey.version.leavesStreamTokenOpen else {
            return Bearer(request, acceptsQuery: false)
        }
        switch self.configuration.v2.streamToken {
        case .bearer: return Bearer(request, acceptsQuery: false)
        case .either: return Bearer(request, acceptsQuery: true)
        case .query:
            var request = request
            request.authorization = nil
            return Bearer(request, acceptsQuery: true)
        }
    }

    // MARK: Results

    /// Answers a request for results. Both formats have every field of a book (Docs/contract.md section 7,
    /// C6).
    mutating func resultsRequested(
        _ context: RequestContext, _ request: OriginRequest, _ device: DeviceKey?, _ jobID: String,
        into effects: inout [OriginEffect]
    ) {
        guard !context.journey.version.hasResultsFormats || Self.hasKnownFormat(request.query) else {
            self.refuse(context, Refusal(.invalidRequest, "format must be lite or full."), into: &effects)
            return
        }
        switch self.access(context, request, device, jobID, into: &effects) {
        case .refused(let refusal): self.refuse(context, refusal, into: &effects)
        case .gone: self.refuse(context, .gone, into: &effects)
        case .job(let facts):
            guard self.hasResults(facts.key) else {
                self.refuse(
                    context, .noResults,
                    into: &effects)
                return
            }
            var books = self.books(facts)
            let truncation = context.fault(where: { $0 == .truncateResults })
            if truncation == nil, let fault = context.fault(where: { $0 == .reorderResults }),
                let reordered = EventDistortion.reordered(books, fault.draw)
            {
                effects.append(context.fired(fault, at: self.now))
                books = reordered
            }
            let body = self.results(facts, books, Self.detail(request.query))
            let headers = [HeaderField("Content-Type", "application/json")]
            if let fault = truncation {
                effects.append(context.fired(fault, at: self.now))
                let count = EventDistortion.truncatedCount(of: body.count, fault.draw)
                self.reply(context, 200, headers, Array(body.prefix(count)), into: &effects)
                return
            }
            effects.append(
                .observe(
                    self.payload(facts.owner, .resultsServed(job: facts.id, books: books.count))))
            self.reply(context, 200, headers, body, into: &effects)
            if facts.journey.version.isJobKept { self.noteServed(facts.key) }
        }
    }

    private func results(_ facts: Job.Facts, _ books: [Book], _ detail: ResultsForm.Detail) -> [UInt8] {
        if let rows = self.jobs[facts.key]?.rows {
            return V2Envelope.success(timestamp: self.wall) { rows.write(members: &$0) }
        }
        return facts.dialect.results.body(
            facts.id, books, notFound: facts.script.notFound, jobTime: facts.script.time,
            // Of captured books nothing is known but what was captured.
            facts.dialect.capture == nil ? detail : .unstated, at: self.wall)
    }

    /// A job of v2 is not deleted after its books, and a canceled job of v3 not at all: from now on, it is
    /// removed when its slot is needed.
    mutating func noteServed(_ key: JobKey) {
        let isNews = self.jobs.update(key) { job in
            defer { job.isServed = true }
            return !job.isServed
        }
        guard isNews == true else { return }
        self.served.append(key)
        self.served.compact(above: 2 * self.configuration.jobsMax) { self.jobs[$0]?.isServed == true }
    }

    /// Returns the books of the job: those that could not be looked up are degraded.
    func books(_ facts: Job.Facts) -> [Book] {
        if let books = facts.books { return books }
        guard facts.journey.findsBooks else { return [] }
        var books = self.shelf.books(device: facts.owner.device, scan: facts.owner.scan)
        for ordinal in self.jobs[facts.key]?.degradedBooks ?? [] { books[ordinal] = books[ordinal].degraded }
        return books
    }

    /// The book as the job found it.
    func book(_ facts: Job.Facts, ordinal: Int) -> Book {
        let owner = facts.owner
        let book = self.shelf.book(device: owner.device, scan: owner.scan, ordinal: ordinal)
        return self.jobs[facts.key]?.degradedBooks.contains(ordinal) == true ? book.degraded : book
    }

    private func hasResults(_ key: JobKey) -> Bool {
        guard let version = self.jobs[key]?.facts.journey.version else { return false }
        return switch self.jobs[key]?.phase {
        case .ending(.completed, let at), .finished(.completed, let at), .settled(.completed, let at):
            self.now < at + self.configuration.resultsLifetime(of: version)
        case .running, .ending, .finished, .settled, nil: false
        }
    }

    private static func detail(_ query: String?) -> ResultsForm.Detail {
        let fields = query?.split(separator: "&") ?? []
        return fields.contains("format=lite") ? .lite : fields.contains("format=full") ? .full : .unstated
    }

    private static func hasKnownFormat(_ query: String?) -> Bool {
        let fields = query?.split(separator: "&") ?? []
        return fields.allSatisfy {
            !$0.hasPrefix("format=") && $0 != "format" || $0 == "format=lite" || $0 == "format=full"
        }
    }

    // MARK: Status

    mutating func statusRequested(
        _ context: RequestContext, _ request: OriginRequest, _ device: DeviceKey?, _ jobID: String,
        into effects: inout [OriginEffect]
    ) {
        if case .failure(let refusal) = self.limit(context, device, request.address) {
            return self.refuse(context, refusal, into: &effects)
        }
        switch self.access(context, request, device, jobID, into: &effects) {
        case .refused(let refusal): self.refuse(context, refusal, into: &effects)
        case .gone: self.refuse(context, .gone, into: &effects)
        case .job(let facts):
            let (first, now) = (facts.dialect.firstStatus, self.now)
            let found = self.jobs.update(facts.key) {
                ($0.status(first: first), $0.step, $0.waitBeforePoll(at: now))
            }
            guard let (status, step, wait) = found else { return }
            guard wait == .zero else {
                var refusal = Refusal(.rateLimitExceeded, "The status was requested too soon again.")
                refusal.retryAfter = wait
                self.refuse(context, refusal, into: &effects)
                return
            }
            let progress = facts.script.progress(at: max(0, step - 1))
            let data = StatusBody.Status(
                jobId: facts.id, status: status, thousandths: progress.thousandths,
                processedCount: progress.processed, totalCount: progress.total)
            guard !facts.journey.version.envelopesBodies else {
                return self.reply(context, v2: { data.write(members: &$0) }, into: &effects)
            }
            self.reply(context, 200, json: StatusBody(data), [], into: &effects)
        }
    }

    // MARK: Cleanup and cancel

    /// Idempotent: the first removes the job with its token and results and ends its streams; the next get an
    /// answer that says so.
    mutating func cleanupRequested(
        _ context: RequestContext, _ request: OriginRequest, _ device: DeviceKey?, _ jobID: String,
        into effects: inout [OriginEffect]
    ) {
        switch self.access(context, request, device, jobID, into: &effects) {
        case .refused(let refusal): self.refuse(context, refusal, into: &effects)
        case .gone:
            effects.append(
                .observe(
                    self.payload(context.caller, .cleaned(job: jobID, effective: false))))
            switch self.configuration.repeatedCleanup {
            case .noContent: self.confirmCleanup(context, jobID, into: &effects)
            case .notFound:
                self.refuse(context, Refusal(.notFound, "The job is gone already."), into: &effects)
            }
        case .job(let facts):
            self.confirmCleanup(context, jobID, into: &effects)
            self.cancelImport(facts, into: &effects)
            self.tellLastChange(of: facts, into: &effects)
            effects.append(
                .observe(self.payload(facts.owner, .cleaned(job: facts.id, effective: true))))
            if facts.dialect.cleanupLeavesStreams, self.jobs.with(facts.key, { $0.hasMoreToSend }) == true {
                self.jobs.update(facts.key) { $0.isCleaned = true }
                self.tombstones.add(facts.key)
            } else {
                self.remove(facts.key, into: &effects)
            }
        }
    }

    /// Says that the job is gone.
    private func confirmCleanup(
        _ context: RequestContext, _ jobID: String, into effects: inout [OriginEffect]
    ) {
        guard context.journey.version.envelopesBodies else {
            self.reply(context, 204, [], [], into: &effects)
            return
        }
        self.reply(
            context, 200, [HeaderField("Content-Type", "application/json")],
            V2Envelope.canceled(job: jobID, timestamp: self.wall), into: &effects)
    }

    /// A job that runs ends with an `error` event of the code `CANCELED`, so that its streams have an end that every
    /// client of the contract knows. A job that was canceled already is canceled.
    mutating func cancelRequested(
        _ context: RequestContext, _ request: OriginRequest, _ device: DeviceKey?, _ jobID: String,
        into effects: inout [OriginEffect]
    ) {
        switch self.access(context, request, device, jobID, into: &effects) {
        case .refused(let refusal): self.refuse(context, refusal, into: &effects)
        case .gone: self.refuse(context, .gone, into: &effects)
        case .job(let facts):
            switch self.jobs[facts.key]?.status(first: .initialized) {
            case .completed, .failed:
                self.refuse(context, Refusal(.conflict, "The job has ended already."), into: &effects)
            case .initialized, .queued, .processing:
                effects.append(.observe(self.payload(facts.owner, .canceled(job: facts.id))))
                self.reply(context, 200, json: CancelBody(jobId: facts.id), [], into: &effects)
                self.end(facts, .canceled, into: &effects)
                self.noteServed(facts.key)
            case .canceled, nil:
                self.reply(context, 200, json: CancelBody(jobId: facts.id), [], into: &effects)
            }
        }
    }

    /// Ends an import that still runs: the rows taken so far are counted, and its streams get `failed` with `CANCELED`.
    private mutating func cancelImport(_ facts: Job.Facts, into effects: inout [OriginEffect]) {
        guard let job = self.jobs[facts.key], job.rows != nil, job.phase == .running else { return }
        effects.append(.observe(self.payload(facts.owner, .canceled(job: facts.id))))
        self.end(facts, .canceled, into: &effects)
    }

    /// The time of a job is over.
    mutating func expire(_ key: JobKey, into effects: inout [OriginEffect]) {
        guard let facts = self.jobs.with(key, { $0.facts }) else { return }
        self.tellLastChange(of: facts, into: &effects)
        effects.append(.observe(self.payload(facts.owner, .expired(job: facts.id))))
        self.remove(key, into: &effects)
        self.tombstones.addExpired(key)
    }

    /// Removes a job with all it has.
    mutating func remove(_ key: JobKey, into effects: inout [OriginEffect]) {
        self.endStreams(of: key, into: &effects)
        self.forget(key)
        self.tombstones.add(key)
    }

    /// Takes a job out of the table.
    mutating func forget(_ key: JobKey) {
        self.documentBytes -= self.jobs.with(key) { $0.documentBytes } ?? 0
        self.jobs[key] = nil
    }

    /// The token is no longer valid, and what it opened is closed.
    mutating func revoke(_ key: JobKey, into effects: inout [OriginEffect]) {
        guard let (facts, isNews) = self.jobs.update(key, { ($0.facts, $0.token.revoke()) }) else { return }
        if isNews {
            effects.append(.observe(self.payload(facts.owner, .tokenRevoked(job: facts.id))))
        }
        self.endStreams(of: key, into: &effects)
    }
}
