import JSON
import SimBase
import Talaria
import Wire

// What the answers of a target show.

extension TargetTrial {
    /// An answer has come to its end.
    mutating func answered(_ exchange: TrialExchange, _ head: TrialHead, _ id: UInt64, at now: Instant) {
        let request = exchange.request
        let node = JSONNode(exchange.body)
        if request.operation == .refresh, let job = request.job {
            self.jobs.update(job) { $0.refreshes = max(0, $0.refreshes - 1) }
        }
        self.judgeTime(in: node?["metadata"], of: "the answer", request, id, at: now)
        if head.status >= 400 {
            self.judgeForm(exchange, head, node, id, at: now)
            self.judgeWait(request, head, node, id, at: now)
            if request.operation == .upload { self.judgeLimit(exchange, head, node, id, at: now) }
            return
        }
        guard (200...299).contains(head.status), request.probe?.isForbidden != true else { return }
        switch request.operation {
        case .upload:
            self.judgeLimit(exchange, head, node, id, at: now)
            self.accepted(request, node, id, at: now)
        case .results: self.read(request, node, id, at: now)
        case .status: self.judgeStatus(exchange, node, id, at: now)
        case .cleanup:
            if let job = request.job {
                self.jobs.update(job) { job in
                    if job.deleted == nil { job.deleted = now }
                    job.forget()
                }
                self.probeDeleted(job, at: now)
            }
        case .cancel:
            if let job = request.job {
                self.jobs.update(job) { $0.canceled = $0.canceled ?? now }
                self.lookAtWitness(of: job, at: now)
            }
        case .refresh: self.exchanged(request, node, at: now)
        case .stream: break
        }
    }

    // MARK: Uploads

    private mutating func accepted(
        _ request: TrialRequest, _ node: JSONNode?, _ id: UInt64, at now: Instant
    ) {
        guard request.journey.hasJobs, let job = node?["data"]?["jobId"]?.text ?? node?["jobId"]?.text else {
            return
        }
        let device = request.device
        // Of phones of this program, which may be on several threads, the ledger judges it.
        if !self.rules.isOfOwnPhones {
            self.attempt(.jobUnique, request, at: now)
            if let owner = self.jobs.own(job, device), owner != device {
                self.breaks(
                    .jobUnique, request, id, at: now,
                    "the job \(job.bounded) was given to device \(owner.raw), too")
            }
        }
        if let link = node?["data"]?["websocketUrl"]?.text, let named = ProgressSocket.job(of: link) {
            self.attempt(.jobAddressed, request, at: now)
            if named != job {
                self.breaks(
                    .jobAddressed, request, id, at: now,
                    "the websocketUrl of the job \(job.bounded) is that of the job \(named.bounded)")
            }
        }
        self.noteLinks(node, request, id, at: now)
        // A photo that is uploaded again may get its job again, also after a DELETE.
        if let known = self.jobs[job], known.accepted != nil, known.deleted == nil { return }
        var known = TrialJob(device: device, scan: request.scan)
        known.accepted = now
        let token = node?["data"]?["authToken"]?.text ?? node?["data"]?["token"]?.text
        known.token = (token ?? node?["authToken"]?.text).map { Digest.of($0) }
        known.tokenLife = self.tokenLife(from: now)
        if self.rules.probes, let token, request.journey.findsBooks {
            known.credentials = .init(authorization: "Bearer \(token)", deviceID: request.deviceID)
        }
        self.jobs.insert(job, known)
        if self.rules.isOfOwnPhones { self.jobs.pair(job) }
    }

    /// Uploads that the target may or may not have accepted count in its favor.
    private mutating func judgeLimit(
        _ exchange: TrialExchange, _ head: TrialHead, _ node: JSONNode?, _ id: UInt64, at now: Instant
    ) {
        guard let limit = self.rules.limit else { return }
        let (request, sent) = (exchange.request, exchange.sent)
        self.attempt(.limit, request, at: now)
        guard head.status >= 400 else {
            let count = self.uploads.take(request.device, sent: sent, at: now, window: limit.window)
            guard count > limit.requests else { return }
            return self.breaks(
                .limit, request, id, at: now,
                "upload \(count) was taken; \(limit.requests) are allowed")
        }
        guard let (count, opens) = self.uploads.refuse(request.device, sent: sent, limit: limit),
            head.status == 429
        else { return }
        guard count >= limit.requests else {
            return self.breaks(
                .limit, request, id, at: now, "429 after \(count) uploads; \(limit.requests) are allowed")
        }
        guard let wait = self.wait(head, node, at: now), let opens, now + wait > opens + Self.waitTolerance
        else { return }
        self.breaks(
            .limit, request, id, at: now,
            "a 429 asks for a wait of \(milliseconds: wait) ms, and the next upload is allowed in \(milliseconds: opens - now) ms"
        )
    }

    /// Waits are rounded, and may come in whole seconds.
    private static let waitTolerance = Interval.seconds(2)

    // MARK: Heads

    /// Which of several types counts depends on the client.
    mutating func judgeFields(_ head: TrialHead, _ request: TrialRequest, at now: Instant) {
        guard Set(head.types).count > 1 else { return }
        self.find(
            ContractFinding(
                operation: request.operation, part: Self.findingPart, path: "headers.content-type",
                expected: "one value", seen: "\(head.types.count) values",
                excerpt: head.types.joined(separator: ", ").bounded, isDecisive: false, count: 1), request,
            at: now)
    }

    // MARK: Results

    private mutating func read(_ request: TrialRequest, _ node: JSONNode?, _ id: UInt64, at now: Instant) {
        self.judgeName(in: node, of: "the results", request, id, at: now)
        let data = node?["data"]
        guard request.journey.findsBooks,
            let books = TrialBooks(data?["results"] ?? data?["books"] ?? data?["enrichedBooks"])
        else { return }
        self.judge(books, from: "the results", request, id, at: now)
    }

    /// Holds the books of an answer against those of the earlier ones.
    mutating func judge(
        _ books: TrialBooks, from source: String, _ request: TrialRequest, _ id: UInt64, at now: Instant
    ) {
        guard let job = request.job, let known = self.jobs[job] else { return }
        self.attempt(.resultsAgree, request, at: now)
        self.attempt(.text, request, at: now)
        if let sign = books.signOfWrongText {
            self.breaks(.text, request, id, at: now, "\(source): \(sign)")
        }
        self.noteISBNs(books, request, id, at: now)
        self.noteTwin(books, of: known, request, id, at: now)
        self.notePhotos(books, of: known, request, id, at: now)
        if known.saidNoBooks, books.count > 0 {
            self.note(
                .emptyBooks, request, id, at: now, "an empty list", excerpt: "\(books.count) in the results")
        }
        if let earlier = known.inline ?? known.results, let difference = books.difference(from: earlier) {
            let first = known.inline == nil ? "earlier results" : "the completed event"
            self.breaks(
                .resultsAgree, request, id, at: now, "\(source) against \(first): \(difference)")
        }
        if known.inline == nil, known.results == nil, let title = known.shown?.firstMissing(in: books) {
            self.breaks(
                .resultsAgree, request, id, at: now,
                "\(source): no book “\(title.bounded)”, which a result event has shown")
        }
        self.jobs.update(job) { job in
            if request.operation == .stream { job.inline = job.inline ?? books } else { job.results = books }
        }
    }

    /// A job that was not deleted is there, and so are its results once it has said that it is complete.
    mutating func judgeAbsence(
        _ exchange: TrialExchange, _ head: TrialHead, _ id: UInt64, at now: Instant
    ) {
        guard let job = exchange.request.job, let known = self.jobs[job], known.deleted == nil,
            exchange.request.probe == nil || known.isThere,
            // A target may hide a job from other devices.
            exchange.request.probe != .otherDevice,
            let start = known.accepted, now - start < self.rules.tokenLifetime
        else { return }
        switch exchange.request.operation {
        case .results: break
        case .stream, .status:
            self.attempt(.jobKept, exchange.request, at: now)
            guard known.isThere, [404, 410].contains(head.status) else { return }
            return self.breaks(
                .jobKept, exchange.request, id, at: now,
                "GET \(exchange.request.operation.name) was answered with \(head.status), \(milliseconds: now - start) ms after the upload of a job that was not deleted"
            )
        case .upload, .cleanup, .cancel, .refresh: return
        }
        let isAbsent = [404, 409, 410, 425].contains(head.status)
        if let end = known.end, end.0 == .completed, end.at <= exchange.sent {
            self.attempt(.resultsAgree, exchange.request, at: now)
            guard isAbsent else { return }
            self.breaks(
                .resultsAgree, exchange.request, id, at: now,
                "the results are \(head.status) \(milliseconds: exchange.sent - end.at) ms after the completed event"
            )
        } else if let said = known.saidCompleted, said <= exchange.sent, isAbsent {
            self.breaks(
                .statusAgrees, exchange.request, id, at: now,
                "the results are \(head.status) \(milliseconds: exchange.sent - said) ms after the status said that the job was completed"
            )
        }
    }

    // MARK: Statuses

    private mutating func judgeStatus(
        _ exchange: TrialExchange, _ node: JSONNode?, _ id: UInt64, at now: Instant
    ) {
        let request = exchange.request
        self.judgeName(in: node, of: "the status", request, id, at: now)
        guard let job = request.job, let known = self.jobs[job],
            let status = (node?["data"]?["status"] ?? node?["status"])?.text
        else { return }
        self.attempt(.statusAgrees, request, at: now)
        if status == JobStatus.completed.rawValue, known.saidCompleted == nil {
            self.jobs.update(job) { $0.saidCompleted = now }
        }
        guard let end = known.end, exchange.sent - end.at >= self.rules.settle else { return }
        let isCompleted = status == JobStatus.completed.rawValue
        guard isCompleted != (end.0 == .completed) else { return }
        self.breaks(
            .statusAgrees, request, id, at: now,
            "the status is \(status.bounded) \(milliseconds: exchange.sent - end.at) ms after the job has \(end.0 == .completed ? "completed" : "failed")"
        )
    }

    // MARK: Deleted jobs and tokens

    /// Nothing can be read of a job some time after its DELETE.
    mutating func judgeDeleted(
        _ exchange: TrialExchange, _ head: TrialHead, _ id: UInt64, at now: Instant
    ) {
        guard let job = exchange.request.job, let deleted = self.jobs[job]?.deleted,
            exchange.sent - deleted >= self.rules.settle
        else { return }
        switch exchange.request.operation {
        case .stream, .results, .status: break
        case .upload, .cleanup, .cancel, .refresh: return
        }
        self.attempt(.cleanup, exchange.request, at: now)
        guard head.isGranted else { return }
        self.breaks(
            .cleanup, exchange.request, id, at: now,
            "\(exchange.request.name) is \(head.status), \(milliseconds: exchange.sent - deleted) ms after the DELETE"
        )
    }

    /// A token is good for its lifetime, if its job is not deleted. A job whose 202 has no token needs none (Docs/contract.md
    /// section 1.1).
    mutating func judgeRefusal(_ exchange: TrialExchange, _ id: UInt64, at now: Instant) {
        // A token may be good for one stream, and a DELETE may come before a probe.
        guard exchange.request.probe == nil else { return }
        guard let job = exchange.request.job, let known = self.jobs[job], known.deleted == nil,
            known.token == exchange.request.token, let life = known.tokenLife,
            // One that was tried before may have been used, though its 101 was lost.
            !exchange.request.isSocket || known.socketTries == 1,
            known.refreshes == (exchange.request.operation == .refresh ? 1 : 0)
        else { return }
        self.attempt(.auth, exchange.request, at: now)
        guard life.contains(now) else { return }
        let start = life.lowerBound == known.accepted ? "the upload" : "its token was exchanged"
        self.breaks(
            .auth, exchange.request, id, at: now,
            "\(exchange.request.operation.name)\(known.token == nil ? " without a token, as in the 202," : "") was answered with 401, \(milliseconds: now - life.lowerBound) ms after \(start)"
        )
    }

    private func tokenLife(from start: Instant, stated: Interval? = nil) -> Range<Instant> {
        let life = min(self.rules.tokenLifetime, stated ?? self.rules.tokenLifetime) - Self.lifeTolerance
        return start..<(start + max(.zero, life))
    }

    /// Clocks differ, and a request takes its time.
    private static let lifeTolerance = Interval.seconds(30)

    /// The job has another token from now on, which no WebSocket has used.
    private mutating func exchanged(_ request: TrialRequest, _ node: JSONNode?, at now: Instant) {
        guard let job = request.job, let token = node?["data"]?["token"]?.text else { return }
        let stated = node?["data"]?["expiresIn"]?.integer.map {
            Interval.seconds(Int64(min(max(0, $0), 86_400)))
        }
        let life = self.tokenLife(from: now, stated: stated)
        self.jobs.update(job) { job in
            job.token = Digest.of(token)
            job.tokenLife = life
            job.socketTries = 0
            job.refreshes = 0
        }
    }
}
