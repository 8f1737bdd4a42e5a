import JSON
import SimBase
import Talaria
import Wire

// What is requested again, and when (Docs/contract.md sections 1.7 and 1.8, Docs/apps.md section 5).

extension ClientTrial {
    /// Statuses of refusals that no repetition changes.
    private static let finalStatuses = [400, 409, 413, 415, 422]

    // MARK: What comes again

    mutating func judgeRepetition(_ id: UInt64, _ exchange: FollowedExchange, at now: Instant) {
        guard let meaning = exchange.meaning, let job = meaning.job else {
            return self.judgeUploadWait(nil, id, exchange, at: now)
        }
        let operation = meaning.operation
        if let wait = self.jobs[job]?.waits.last(where: { $0.operation == operation }) {
            self.tallies.occasion(.wait)
            if now < wait.until - ClientTrialTimes.tolerance {
                self.breaks(
                    .wait, id, exchange, at: now,
                    "\(operation.name) \(milliseconds: wait.until - now) ms before the end of the wait")
            }
            self.jobs.update(job) { $0.waits.removeAll { $0.operation == operation } }
        }
        self.judgeFinal(job, id, exchange, at: now)
        self.judgeBackoff(id, exchange, at: now)
    }

    private mutating func judgeFinal(
        _ job: String, _ id: UInt64, _ exchange: FollowedExchange, at now: Instant
    ) {
        let operation = exchange.meaning?.operation
        guard let final = self.jobs[job]?.finals.first(where: { $0.operation == operation }) else { return }
        self.tallies.occasion(.refusalFinal)
        guard now - final.at <= ClientTrialTimes.automatic else { return }
        self.breaks(
            .refusalFinal, id, exchange, at: now,
            "\(final.operation.name) was answered with \(final.status) \(milliseconds: now - final.at) ms before"
        )
    }

    private mutating func judgeBackoff(_ id: UInt64, _ exchange: FollowedExchange, at now: Instant) {
        guard let key = exchange.retryKey else { return }
        let count = self.clients.update(exchange.client) { $0.failures.repeated(key, at: exchange.sent) }
        guard let count, count.repeats > 0 else { return }
        self.exchanges.update(id) { $0.count = count }
        self.tallies.occasion(.backoff)
        let isWithoutWaits = self.clients.with(exchange.client) { $0.failures.isWithoutWaits } ?? false
        if isWithoutWaits, count.waited >= count.waitedMin {
            return self.breaks(
                .backoff, id, exchange, at: now,
                "repeated \(milliseconds: count.waited) ms after a failure, as the requests before it")
        }
        guard count.waited < count.waitedMin else { return }
        self.breaks(
            .backoff, id, exchange, at: now,
            "\(exchange.meaning?.operation.name ?? "") failed \(count.repeats) times in a row and was repeated after \(milliseconds: count.waited) ms in all"
        )
    }

    /// The photo of an upload is known.
    mutating func photoUploaded(
        _ photo: UInt64, _ id: UInt64, _ exchange: FollowedExchange, at now: Instant
    ) {
        var exchange = exchange
        exchange.photo = photo
        self.judgeUploadWait(photo, id, exchange, at: now)
        self.judgeBackoff(id, exchange, at: now)
        let before = self.clients.with(exchange.client) { $0.photo(photo) } ?? nil
        if let before, !before.isShared {
            self.judgeWait(of: before, id, exchange, at: now)
            if !self.judgeNeed(of: before, id, exchange, at: now) {
                self.judgeRetry(of: before, id, exchange, at: now)
            }
        }
        let sent = exchange.sent
        self.clients.update(exchange.client) { client in
            client.update(photo) { known in
                let isAutomatic = known.failedAt.map { sent - $0 <= ClientTrialTimes.automatic } ?? false
                known.retries = isAutomatic ? known.retries + (known.isFinal ? 0 : 1) : 0
                known.failedAt = nil
                known.waitsUntil = nil
            }
        }
    }

    private mutating func judgeWait(
        of photo: FollowedClient.Photo, _ id: UInt64, _ exchange: FollowedExchange, at now: Instant
    ) {
        guard let until = photo.waitsUntil else { return }
        self.tallies.occasion(.wait)
        guard exchange.sent < until - ClientTrialTimes.tolerance else { return }
        self.breaks(
            .wait, id, exchange, at: now,
            "upload \(milliseconds: until - exchange.sent) ms before the end of the wait")
    }

    /// A photo whose job can be read is uploaded again. Returns whether it is.
    private mutating func judgeNeed(
        of photo: FollowedClient.Photo, _ id: UInt64, _ exchange: FollowedExchange, at now: Instant
    ) -> Bool {
        let jobs = photo.jobs.compactMap { name in self.jobs[name].map { (name, $0) } }
        guard let (name, job) = jobs.last(where: { $0.1.isReadable }) else { return false }
        // A client that was killed behind the answer may not know of its job.
        let isLost = job.loss?.isAnswered == false
        let isUnread = !job.isRequested && exchange.sent - (job.accepted ?? now) > ClientTrialTimes.crossing
        guard isLost || isUnread else {
            self.clients.update(exchange.client) { client in
                client.update(photo.identity) { $0.isShared = true }
            }
            return true
        }
        self.tallies.occasion(.uploadOnce)
        self.clients.update(exchange.client) { client in
            client.update(photo.identity) { $0.needless += 1 }
        }
        self.jobs.update(name) { $0.loss?.isAnswered = true }
        guard isLost || photo.needless > 0 else { return true }
        self.breaks(
            .uploadOnce, id, exchange, at: now,
            isLost
                ? "the stream of its job \(name.bounded) was lost, and not opened again"
                : "nothing was requested of its job \(name.bounded)")
        return true
    }

    private mutating func judgeRetry(
        of photo: FollowedClient.Photo, _ id: UInt64, _ exchange: FollowedExchange, at now: Instant
    ) {
        guard let failed = photo.failedAt else { return }
        self.tallies.occasion(photo.isFinal ? .refusalFinal : .retryOnce)
        let time = exchange.sent - failed
        guard time <= ClientTrialTimes.automatic else { return }
        if photo.isFinal {
            self.breaks(
                .refusalFinal, id, exchange, at: now,
                "the photo was refused for good \(milliseconds: time) ms before")
        } else if photo.retries > 0 {
            self.breaks(
                .retryOnce, id, exchange, at: now,
                "upload \(photo.retries + 2) of the photo, \(milliseconds: time) ms after a retryable error")
        }
    }

    // MARK: Waits

    /// `photo`: nil while it is not known.
    private mutating func judgeUploadWait(
        _ photo: UInt64?, _ id: UInt64, _ exchange: FollowedExchange, at now: Instant
    ) {
        let sent = exchange.sent
        guard exchange.meaning?.operation == .upload,
            let wait = self.clients.with(exchange.client, { $0.uploadWait }) ?? nil, sent >= wait.from
        else { return }
        if photo == nil { self.tallies.occasion(.wait) }
        guard sent < wait.until - ClientTrialTimes.tolerance else { return }
        // Another photo may have been on its way.
        let isSame = photo.map(wait.photos.contains) ?? false
        guard isSame || sent - wait.from > ClientTrialTimes.uploadCrossing else { return }
        self.breaks(
            .wait, id, exchange, at: now,
            "upload \(milliseconds: wait.until - sent) ms before the end of the wait")
    }

    /// Records the wait that an answer asks for.
    mutating func asksToWait(
        _ answer: ClientAnswer, _ node: JSONNode?, _ exchange: FollowedExchange, at now: Instant
    ) {
        guard let wait = self.wait(answer, node, at: now), wait > .zero, let meaning = exchange.meaning else {
            return
        }
        let until = now + min(wait, .hours(24))
        if let job = meaning.job {
            self.jobs.update(job) { job in
                job.waits.removeAll { $0.operation == meaning.operation }
                job.waits.append((meaning.operation, until))
            }
            return
        }
        guard answer.status == 429 else {
            if let photo = exchange.photo {
                self.clients.update(exchange.client) { $0.update(photo) { $0.waitsUntil = until } }
            }
            return
        }
        self.clients.update(exchange.client) { client in
            var photos = client.uploadWait.map { $0.until > now ? $0.photos : [] } ?? []
            if let photo = exchange.photo, photos.count < ClientTrialLimits.photosMax { photos.append(photo) }
            client.uploadWait = FollowedClient.UploadWait(from: now, until: until, photos: photos)
        }
    }

    /// The shorter of the waits in header and body: a client may take either.
    private func wait(_ answer: ClientAnswer, _ node: JSONNode?, at now: Instant) -> Interval? {
        guard answer.status == 429 || answer.status >= 500 else { return nil }
        let error = node?["error"]
        let member = node?["retryAfterMs"] ?? error?["retryAfterMs"] ?? error?["details"]?["retryAfterMs"]
        let body = member?.integer(Int64.self).map { Interval.milliseconds(min(max($0, 0), 1 << 40)) }
        let seconds = (self.rules.wallClockAtZero + (now - Instant.zero).wholeMilliseconds) / 1_000
        let header: Interval? = answer.retryAfter.flatMap { RetryAfter($0) }.map { field in
            switch field {
            case .delay(let delay): delay
            case .date: field.wait(at: seconds) - ClientTrialTimes.dateTolerance
            }
        }
        return [body, header].compactMap(\.self).min()
    }

    // MARK: Failures

    /// Records that a request came to nothing and may be repeated.
    mutating func failed(_ exchange: FollowedExchange, at now: Instant) {
        guard let key = exchange.retryKey else { return }
        self.clients.update(exchange.client) { $0.failures.failed(key, exchange.count, at: now) }
    }

    /// An upload was refused.
    mutating func uploadRefused(
        _ answer: ClientAnswer, _ node: JSONNode?, _ exchange: FollowedExchange, at now: Instant
    ) {
        guard let photo = exchange.photo, Self.finalStatuses.contains(answer.status),
            node?["retryable"]?.flag != true
        else { return }
        self.photoFailed(photo, exchange.client, isFinal: true, at: now)
    }

    /// A photo has come to nothing.
    mutating func photoFailed(_ photo: UInt64, _ client: String, isFinal: Bool, at now: Instant) {
        self.clients.update(client) { client in
            client.update(photo) {
                $0.failedAt = now
                $0.isFinal = isFinal
            }
        }
    }
}
