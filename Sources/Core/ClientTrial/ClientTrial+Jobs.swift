import JSON
import SimBase
import Talaria

// Jobs, their results, and their ends (Docs/contract.md sections 1.1 to 1.4).

extension ClientTrial {
    // MARK: Requests

    /// Nothing is requested of a job after its DELETE, if that is not also how a job is canceled.
    mutating func judgeSilence(
        _ known: FollowedJob, _ id: UInt64, _ exchange: FollowedExchange, at now: Instant
    ) {
        guard let deleted = known.deletedAt, known.journey.version.hasOwnCancel else { return }
        guard now - deleted <= ClientTrialTimes.relaunch else { return }
        self.breaks(
            .jobSilent, id, exchange, at: now,
            "\(exchange.meaning?.operation.name ?? "") \(milliseconds: now - deleted) ms after the job was deleted"
        )
    }

    mutating func statusRequested(_ id: UInt64, _ exchange: FollowedExchange, at now: Instant) {
        guard let job = exchange.meaning?.job, let known = self.jobs[job] else { return }
        self.judgeSilence(known, id, exchange, at: now)
        self.jobs.update(job) { $0.loss?.isAnswered = true }
        guard let polled = known.polledAt else { return }
        self.tallies.occasion(.statusPolling)
        guard now - polled < ClientTrialTimes.pollMin else { return }
        self.breaks(
            .statusPolling, id, exchange, at: now, "\(milliseconds: now - polled) ms after the last one")
    }

    mutating func resultsRequested(_ id: UInt64, _ exchange: FollowedExchange, at now: Instant) {
        guard let meaning = exchange.meaning, let job = meaning.job, let known = self.jobs[job] else {
            return
        }
        self.judgeSilence(known, id, exchange, at: now)
        if meaning.journey.version.hasResultsFormats {
            self.tallies.occasion(.resultsLean)
            let formats = exchange.request.parameters.filter { $0.name == "format" }.map(\.value)
            if formats.isEmpty || formats.contains(where: { $0 != "lite" }) {
                self.breaks(
                    .resultsLean, id, exchange, at: now,
                    formats.isEmpty ? "without format=lite" : "with format=\(formats[0].bounded)")
            }
        }
        if meaning.journey.version.completedHasBooks { self.judgeNeed(known, id, exchange, at: now) }
        self.tallies.occasion(.resultsOnce)
        if let got = known.resultsAt, now - got <= ClientTrialTimes.relaunch {
            self.breaks(
                .resultsOnce, id, exchange, at: now,
                "requested again \(milliseconds: now - got) ms after they came whole")
        }
        self.jobs.update(job) {
            $0.areResultsRequested = true
            $0.loss?.isAnswered = true
        }
    }

    private mutating func judgeNeed(
        _ known: FollowedJob, _ id: UInt64, _ exchange: FollowedExchange, at now: Instant
    ) {
        self.tallies.occasion(.resultsNeeded)
        guard let terminal = known.terminal else {
            let isBlind =
                !known.saidCompleted && known.accepted != nil && known.loss == nil && known.refusals == 0
                && !known.hasLeft
            self.exchanges.update(id) { $0.isPremature = isBlind }
            return
        }
        guard terminal.isKnown, !terminal.isError, case .usable = terminal.books,
            now - terminal.at <= ClientTrialTimes.relaunch
        else { return }
        self.breaks(.resultsNeeded, id, exchange, at: now, "the completed event had the books")
    }

    mutating func deleteRequested(_ id: UInt64, _ exchange: FollowedExchange, at now: Instant) {
        guard let job = exchange.meaning?.job, let known = self.jobs[job], known.journey.version.hasOwnCancel
        else { return }
        defer { self.jobs.update(job) { $0.deletesUnderWay += 1 } }
        self.tallies.occasion(.jobDeletedOnce)
        if known.deletesUnderWay > 0 {
            self.breaks(
                .jobDeletedOnce, id, exchange, at: now, "another DELETE of the job is not answered yet")
        } else if let deleted = known.deletedAt, known.finals.allSatisfy({ $0.operation != .cleanup }),
            now - deleted <= ClientTrialTimes.relaunch
        {
            self.breaks(
                .jobDeletedOnce, id, exchange, at: now,
                "deleted \(milliseconds: now - deleted) ms before")
        }
        guard known.accepted != nil, known.deletedAt == nil, known.deletesFailed == 0 else { return }
        if let loss = known.loss, !loss.isAnswered, known.terminal == nil, known.resultsAt == nil,
            !known.isCanceled
        {
            self.breaks(
                .streamResumed, id, exchange, at: now,
                "the job was deleted \(milliseconds: now - loss.at) ms after its stream was lost")
        }
        self.tallies.occasion(.jobNotDeletedEarly)
        if let text = known.whatIsMissing {
            self.breaks(.jobNotDeletedEarly, id, exchange, at: now, text)
        }
    }

    // MARK: Answers

    /// An answer that is not a stream has ended.
    mutating func replied(
        _ end: ClientEnd, _ body: [UInt8], _ id: UInt64, _ exchange: FollowedExchange, at now: Instant
    ) {
        guard let meaning = exchange.meaning else { return }
        if meaning.operation == .cleanup, let job = meaning.job {
            self.jobs.update(job) { $0.deletesUnderWay = max(0, $0.deletesUnderWay - 1) }
        }
        guard end == .whole, let answer = exchange.answer else {
            guard end != .left else { return }
            self.failed(exchange, at: now)
            if meaning.operation == .cleanup { self.deleteFailed(meaning.job, wait: .zero, at: now) }
            return
        }
        let node = JSONNode(body)
        if answer.status >= 400 { self.refused(answer, node, exchange, at: now) }
        switch meaning.operation {
        case .upload where answer.isSuccess: self.accepted(node, exchange, at: now)
        case .upload: self.uploadRefused(answer, node, exchange, at: now)
        case .results: self.resultsCame(answer, node, exchange, at: now)
        case .status: self.statusCame(answer, node, exchange, at: now)
        case .cleanup: self.deleteAnswered(answer, exchange, at: now)
        case .cancel:
            if answer.isSuccess, let job = meaning.job { self.jobs.update(job) { $0.isCanceled = true } }
        case .stream, .refresh: break
        }
    }

    private mutating func refused(
        _ answer: ClientAnswer, _ node: JSONNode?, _ exchange: FollowedExchange, at now: Instant
    ) {
        self.asksToWait(answer, node, exchange, at: now)
        if answer.status == 408 || answer.status >= 500 { self.failed(exchange, at: now) }
        guard let meaning = exchange.meaning, let job = meaning.job else { return }
        let code = node?["code"]?.text ?? node?["error"]?["code"]?.text
        self.jobs.update(job) { known in
            switch meaning.operation {
            case .stream, .status: known.refusals += 1
            case .upload, .results, .cleanup, .cancel, .refresh: break
            }
            let mayBeEarly = meaning.operation == .results && known.endedAt == nil && !known.saidCompleted
            if Self.isFinal(answer.status, of: meaning.operation), !mayBeEarly {
                known.finals.removeAll { $0.operation == meaning.operation }
                known.finals.append((meaning.operation, answer.status, now))
            }
            if answer.status == 410 || answer.status == 404 && !mayBeEarly { known.isGone = true }
            // Without a device id a stream is refused with this code, whatever its token.
            if answer.status == 401, code != "UNAUTHORIZED", exchange.request.token == known.token {
                known.tokenRefusedAt = known.tokenRefusedAt ?? now
            }
        }
    }

    /// Whether the same request gets the same answer (Docs/contract.md section 1.7, Docs/apps.md section 4.11).
    private static func isFinal(_ status: Int, of operation: Talaria.Operation) -> Bool {
        switch status {
        case 404, 410: true
        case 401, 403: operation == .cleanup
        default: false
        }
    }

    private mutating func accepted(_ node: JSONNode?, _ exchange: FollowedExchange, at now: Instant) {
        guard let journey = exchange.meaning?.journey, journey.hasJobs,
            let id = node?["data"]?["jobId"]?.text ?? node?["jobId"]?.text
        else { return }
        var job = FollowedJob(client: exchange.client, journey: journey, accepted: now)
        let token = node?["data"]?["authToken"]?.text ?? node?["data"]?["token"]?.text
        job.token = (token ?? node?["authToken"]?.text).map { Digest.of($0) }
        job.photo = exchange.photo
        if let token = job.token { self.tokens[token] = id }
        self.insert(id, job)
        self.tallies.jobs += 1
        self.clients.update(exchange.client) { client in
            client.jobs += 1
            guard let photo = exchange.photo else { return }
            client.update(photo) {
                if $0.jobs.count >= ContractLimit.streamsMax { $0.jobs.removeFirst() }
                $0.jobs.append(id)
            }
        }
    }

    private mutating func resultsCame(
        _ answer: ClientAnswer, _ node: JSONNode?, _ exchange: FollowedExchange, at now: Instant
    ) {
        guard let job = exchange.meaning?.job else { return }
        let data = node?["data"]
        let books = FollowedJob.BookList(data?["results"] ?? data?["books"] ?? node?["results"])
        let isWhole: Bool
        switch books {
        case .usable, .empty: isWhole = answer.isSuccess
        case .unusable: isWhole = answer.isSuccess && exchange.meaning?.journey.findsBooks == false
        }
        self.jobs.update(job) {
            guard isWhole else {
                $0.resultsFailures += 1
                return
            }
            $0.resultsAt = $0.resultsAt ?? now
            $0.ended(at: now)
        }
        guard exchange.isPremature, [404, 409, 425].contains(answer.status) else { return }
        self.breaks(
            .resultsNeeded, exchange.client, job: job, exchange.request.line, at: now,
            "requested before the job was complete, and answered with \(answer.status)")
    }

    private mutating func statusCame(
        _ answer: ClientAnswer, _ node: JSONNode?, _ exchange: FollowedExchange, at now: Instant
    ) {
        guard answer.isSuccess, let job = exchange.meaning?.job,
            let text = (node?["data"]?["status"] ?? node?["status"])?.text
        else { return }
        self.jobs.update(job) { job in
            job.polledAt = exchange.sent
            switch JobStatus(rawValue: text) {
            case .completed?: job.saidCompleted = true
            case .failed?, .canceled?:
                job.saidFailed = true
                job.ended(at: now)
            case .initialized?, .queued?, .processing?, nil: break
            }
        }
    }

    // MARK: DELETEs

    private mutating func deleteAnswered(
        _ answer: ClientAnswer, _ exchange: FollowedExchange, at now: Instant
    ) {
        guard let job = exchange.meaning?.job else { return }
        let isAgain = answer.status == 408 || answer.status == 429 || answer.status >= 500
        guard isAgain else {
            // Refusals are final as well.
            self.jobs.update(job) {
                $0.deletedAt = $0.deletedAt ?? now
                $0.forget()
            }
            return
        }
        let until = self.jobs.with(job) { job in
            job.waits.first { $0.operation == .cleanup }?.until
        }
        self.deleteFailed(job, wait: (until ?? nil).map { $0 - now } ?? .zero, at: now)
    }

    private mutating func deleteFailed(_ job: String?, wait: Interval, at now: Instant) {
        guard let job else { return }
        self.jobs.update(job) {
            $0.deletesFailed += 1
            $0.deleteDue = now + wait + ClientTrialTimes.patience
        }
    }
}
