import JSON
import SimBase
import Talaria
import Wire

// Streams (Docs/contract.md section 2).

extension ClientTrial {
    /// Names of terminal events in other versions of the backend (Docs/contract.md section 2.1).
    private static let otherTerminals = ["failed", "timeout", "canceled"]

    // MARK: Requests

    mutating func streamRequested(_ id: UInt64, _ exchange: FollowedExchange, at now: Instant) {
        guard let job = exchange.meaning?.job, let known = self.jobs[job] else { return }
        self.judgeSilence(known, id, exchange, at: now)
        self.judgeResume(known, id, exchange, at: now)
        if let terminal = known.terminal, terminal.isKnown {
            self.tallies.occasion(.streamClosed)
            if now - terminal.at <= ClientTrialTimes.relaunch || known.reopened > 0 {
                self.breaks(
                    .streamClosed, id, exchange, at: now,
                    "opened again \(milliseconds: now - terminal.at) ms after the terminal event")
            }
            self.jobs.update(job) { $0.reopened += 1 }
        }
        self.jobs.update(job) { $0.loss?.isAnswered = true }
    }

    private mutating func judgeResume(
        _ known: FollowedJob, _ id: UInt64, _ exchange: FollowedExchange, at now: Instant
    ) {
        guard known.deletedAt == nil else { return }
        let shown = exchange.request.lastEventID
        if let shown, known.accepted != nil, known.loss == nil, !known.knows(shown) {
            return self.breaks(
                .lastEventID, id, exchange, at: now,
                "Last-Event-ID “\(shown.bounded)” is no id that was sent")
        }
        guard let loss = known.loss, now - loss.at <= ClientTrialTimes.buffer, let last = known.lastID else {
            return
        }
        self.tallies.occasion(.lastEventID)
        guard let shown else {
            return self.breaks(
                .lastEventID, id, exchange, at: now,
                "no Last-Event-ID \(milliseconds: now - loss.at) ms after a stream was lost behind “\(last.bounded)”"
            )
        }
        if let flaw = known.flaw(ofResuming: shown, readUpTo: loss.readUpTo) {
            self.breaks(.lastEventID, id, exchange, at: now, flaw)
        }
    }

    // MARK: Events

    mutating func streamOpened(_ id: UInt64, at now: Instant) {
        guard let exchange = self.exchanges[id], let job = exchange.meaning?.job else { return }
        self.jobs.update(job) { $0.openStreams += 1 }
        let open = self.clients.update(exchange.client) { client -> Int in
            client.openStreams += 1
            return client.openStreams
        }
        self.tallies.occasion(.streamsBounded)
        if let open, open > ContractLimit.streamsMax {
            self.breaks(.streamsBounded, id, exchange, at: now, "\(open) open streams")
        }
    }

    mutating func eventSent(
        _ event: SSEEvent, _ id: UInt64, _ exchange: FollowedExchange, at now: Instant
    ) {
        guard let meaning = exchange.meaning, let job = meaning.job else { return }
        let isNew = !event.hasOwnID || self.jobs.with(job) { !$0.hasSent(event.id) } ?? true
        let reading = Self.reading(of: event, meaning.journey)
        if isNew, reading.kind != .ping { self.exchanges.update(id) { $0.hasNewEvent = true } }
        if event.hasOwnID, !event.id.isEmpty { self.jobs.update(job) { $0.sentID(event.id, at: now) } }
        if reading.kind == .result { self.jobs.update(job) { $0.booksCollected += 1 } }
        if reading.kind != .progress, !reading.isTerminal {
            self.jobs.update(job) { $0.aside = (event.type.bounded, now) }
        }
        guard reading.isTerminal else { return }
        if exchange.terminalAt == nil {
            self.exchanges.update(id) { $0.terminalAt = now }
            self.streamLeaves(exchange)
        }
        // Only the first counts, or one after a first that may not have been read.
        guard let known = self.jobs[job], known.terminal?.isCut != false else { return }
        let isFirst = known.terminal == nil
        let isError = reading.kind != .completed
        let node = reading.node
        self.jobs.update(job) {
            $0.end(
                FollowedJob.Terminal(
                    at: now, isError: isError, isReadable: node?.kind == .object,
                    books: FollowedJob.BookList(node?["books"])))
        }
        if isFirst { self.jobOver(job, isError: isError, node, at: now) }
    }

    /// What an event says, in the forms of all dialects.
    private static func reading(
        of event: SSEEvent, _ journey: Journey
    ) -> (kind: EventKind?, node: JSONNode?, isTerminal: Bool) {
        let node = JSONNode(event.bytes)
        var (name, data) = (event.type, node)
        if name == "message", let type = node?["type"]?.text, let inner = node?["data"] {
            (name, data) = (type, inner)
        }
        let kind = journey.kind(ofEvent: name)
        let isTerminal = kind?.isTerminal ?? Self.otherTerminals.contains(name)
        return (kind ?? (isTerminal ? .error : nil), data, isTerminal)
    }

    /// A terminal event has reported the outcome of the photo.
    private mutating func jobOver(_ job: String, isError: Bool, _ node: JSONNode?, at now: Instant) {
        guard let known = self.jobs[job], let photo = known.photo else { return }
        self.clients.update(known.client) { client in
            client.update(photo) {
                guard !isError else { return }
                $0.retries = 0
                // Another upload of it would be another scan.
                $0.isShared = true
            }
        }
        guard isError, let node, !known.isCancelSent else { return }
        let member = node["retryable"] ?? node["error"]?["retryable"]
        let isRetryable = member.map { $0.flag ?? !$0.isNull } ?? false
        self.photoFailed(photo, known.client, isFinal: !isRetryable, at: now)
    }

    // MARK: Ends

    private mutating func streamLeaves(_ exchange: FollowedExchange) {
        self.clients.update(exchange.client) { $0.openStreams = max(0, $0.openStreams - 1) }
        guard let job = exchange.meaning?.job else { return }
        self.jobs.update(job) { $0.openStreams = max(0, $0.openStreams - 1) }
    }

    mutating func streamEnded(
        _ end: ClientEnd, _ id: UInt64, _ exchange: FollowedExchange, at now: Instant
    ) {
        guard let job = exchange.meaning?.job else { return }
        if let terminal = exchange.terminalAt {
            self.judgeOpenTime(exchange, at: now)
            guard end == .reset, now - terminal < ClientTrialTimes.arrived else { return }
            self.jobs.update(job) { $0.terminalCut() }
        } else {
            self.streamLeaves(exchange)
        }
        switch end {
        case .left:
            // It may have been killed: then it knows of no event any more.
            self.jobs.update(job) {
                $0.hasLeft = true
                $0.loss = nil
                guard let aside = $0.aside, now - aside.at <= ClientTrialTimes.crossing else { return }
                $0.leftAfter = aside.name
            }
        case .whole, .closed, .reset:
            self.jobs.update(job) { job in
                guard job.deletedAt == nil, job.deletesUnderWay == 0, !job.isCancelSent else { return }
                job.loss = FollowedJob.Loss(
                    at: now, readUpTo: end == .reset ? now - ClientTrialTimes.arrived : now,
                    count: (job.loss?.count ?? 0) + 1, isAnswered: false)
            }
            var exchange = exchange
            if exchange.hasNewEvent { exchange.count = .none }
            self.failed(exchange, at: now)
        }
    }

    private mutating func judgeOpenTime(_ exchange: FollowedExchange, at now: Instant) {
        guard let terminal = exchange.terminalAt else { return }
        self.tallies.occasion(.streamClosed)
        guard now - terminal > ClientTrialTimes.close else { return }
        self.breaks(
            .streamClosed, exchange.client, job: exchange.meaning?.job, exchange.request.line, at: now,
            "open \(milliseconds: now - terminal) ms after the terminal event")
    }

    mutating func judgeOpenStreams(at now: Instant) {
        for exchange in self.exchanges.values { self.judgeOpenTime(exchange, at: now) }
    }
}
