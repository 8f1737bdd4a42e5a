import Observations
import SimBase
import Talaria
import Wire

// What an open stream says.

extension App {
    /// - Returns: Whether anything changed beyond the stream itself.
    mutating func streamBytes(
        _ bytes: ArraySlice<UInt8>, exchange: Int, at now: Instant, into effects: inout [PhoneEffect]
    ) -> Bool {
        let scan = self.exchanges[exchange].scan
        guard let index = self.activeIndex(scan) else { preconditionFailure("a stream without a scan") }
        var items: [SSEItem] = []
        swap(&items, &self.items)
        let wall = self.wallNanoseconds(at: now) / 1_000_000
        let output = self.active[index].stage.update { _, connection in
            connection.received(bytes, at: now, wall: wall, into: &items)
        }
        defer {
            items.clear()
            swap(&items, &self.items)
        }
        if let output { self.transmit(output.frames, on: self.exchanges[exchange], into: &effects) }
        guard !self.isBlocked(index) else {
            let isGivenUp = self.hold(items, index, exchange: exchange, at: now, into: &effects)
            // How it was closed is forgotten: what is held decides.
            if !isGivenUp, output?.ending != nil { _ = self.hold(.whole, exchange: exchange) }
            return isGivenUp
        }
        let progress = self.read(&items, index, exchange: exchange, at: now, into: &effects)
        guard let ending = output?.ending, !progress.isOver else { return progress.changesMore }
        if progress == .goesOn {
            self.socketEnded(ending, exchange: exchange, at: now, into: &effects)
        } else {
            _ = self.hold(.whole, exchange: exchange)
        }
        return true
    }

    /// What became of a stream whose items were read.
    enum Progress: Hashable, Sendable {
        /// More of it may come.
        case goesOn
        /// Something is shown, and the rest is held.
        case blocked
        /// The client is done with it.
        case over

        var isOver: Bool { self == .over }
        /// Whether anything changed beyond the stream itself.
        var changesMore: Bool { self != .goesOn }
    }

    mutating func read(
        _ items: inout [SSEItem], _ index: Int, exchange: Int, at now: Instant,
        into effects: inout [PhoneEffect]
    ) -> Progress {
        let clockZero = self.clockZero
        var isOver = false
        for next in items.indices {
            switch items.take(next, leaving: .retry(.zero)) {
            case .comment(let comment):
                self.active[index].stage.update { $1.commented(comment.bytes, clockZero: clockZero) }
            case .retry(let base):
                guard self.profile.stream.obeysRetryField else { continue }
                self.active[index].stage.update { stream, _ in stream.backoff.raise(base: base) }
            case .lastEventID(let id):
                self.movedID(id, index, at: now, into: &effects)
            case .overflow(_, let type):
                isOver = self.overflowed(type, index, exchange: exchange, at: now, into: &effects)
            case .event(let event):
                isOver = self.dispatched(event, index, exchange: exchange, at: now, into: &effects)
            }
            if isOver { return .over }  // Nothing is applied after a terminal event.
            if self.isBlocked(index) {
                let rest = Array(items[(next + 1)...])
                return self.hold(rest, index, exchange: exchange, at: now, into: &effects) ? .over : .blocked
            }
        }
        return .goesOn
    }

    /// - Returns: Whether it was the terminal event.
    private mutating func dispatched(
        _ event: SSEEvent, _ index: Int, exchange: Int, at now: Instant, into effects: inout [PhoneEffect]
    ) -> Bool {
        let scan = self.active[index].number
        var notes = ContractNotes()
        let contents = self.profile.events.contents(event.type, event.bytes)
        let told = self.told(contents.name, contents.bytes, into: &notes)
        let reading = self.profile.events.understood(told, contents.bytes, into: &notes)
        if case .ping = reading {
            if !notes.isEmpty { self.observe(notes, of: scan, .stream, "ping", at: now, into: &effects) }
            guard !self.profile.events.fails(at: reading, contents.bytes) else {
                return self.misread(reading, event, index, exchange: exchange, at: now, into: &effects)
            }
            self.pinged(event, index, at: now, into: &effects)
            return false
        }
        let hasIDs = self.profile.events.data == .plain
        // The stamp before an event speaks of that event only, whatever becomes of it.
        let (transit, novelty, firstAfter) = self.active[index].stage.update { stream, connection in
            let transit = connection.takeTransit(at: now)
            // A client that reads the data alone sees no ids.
            let novelty = hasIDs ? stream.remembered.record(event) : .new
            return (transit, novelty, novelty == .repeated ? nil : connection.takeFirstEvent(at: now))
        }
        guard novelty != .repeated, !self.isStale(event, index) else { return false }
        let job = self.active[index].jobID
        self.note(reading, of: job, into: &notes)
        if !notes.isEmpty {
            let part = reading.kind?.rawValue ?? "event"
            self.observe(notes, of: scan, .stream, part, at: now, into: &effects)
        }
        if let took = firstAfter {
            self.observe(
                .firstEvent(job: job, took: took), of: scan, at: now, into: &effects)
        }
        guard !self.profile.events.fails(at: reading, contents.bytes) else {
            return self.misread(reading, event, index, exchange: exchange, at: now, into: &effects)
        }
        return self.follow(
            reading, event, transit, novelty, index, exchange: exchange, at: now, into: &effects)
    }

    private mutating func pinged(
        _ event: SSEEvent, _ index: Int, at now: Instant, into effects: inout [PhoneEffect]
    ) {
        let gap = self.active[index].stage.update { $1.pinged(at: now) }
        let id = event.idToResumeFrom
        self.observe(.ping(id: id, gap: gap), of: self.active[index].number, at: now, into: &effects)
        // Not worth a write: after a kill the stream resumes from the event before it.
        if let id { self.active[index].scan.record.job?.lastEventID = id }
    }

    /// Does what an event says that is not a repetition.
    ///
    /// - Returns: Whether it was the terminal event.
    private mutating func follow(
        _ reading: JobEvent, _ event: SSEEvent, _ transit: StreamConnection.Transit,
        _ novelty: SeenEvents.Novelty, _ index: Int, exchange: Int, at now: Instant,
        into effects: inout [PhoneEffect]
    ) -> Bool {
        switch reading {
        case .ping:
            return false
        case .progress, .enrichmentDegraded, .segmented, .bookProgress, .result:
            self.progressed(reading, event, transit, novelty, index, at: now, into: &effects)
            return false
        case .unknown(let name):
            self.ignored(event, name: name, isMalformed: false, index, novelty, at: now, into: &effects)
            return false
        case .malformed(let kind) where !kind.isTerminal:
            self.ignored(
                event, name: kind.rawValue, isMalformed: true, index, novelty, at: now, into: &effects)
            return false
        case .error(let error) where error.jobId.map { $0 != self.active[index].jobID } ?? false:
            // Nothing is given up in another job's name.
            self.ignored(
                event, name: EventKind.error.rawValue, isMalformed: true, index, novelty, at: now,
                into: &effects)
            return false
        case .malformed, .completed, .error:
            self.applied(event.idToResumeFrom, reading, transit, index, at: now, into: &effects)
            self.ended(reading, index, exchange: exchange, at: now, into: &effects)
            return true
        }
    }

    private mutating func progressed(
        _ reading: JobEvent, _ event: SSEEvent, _ transit: StreamConnection.Transit,
        _ novelty: SeenEvents.Novelty, _ index: Int, at now: Instant, into effects: inout [PhoneEffect]
    ) {
        if case .segmented(let segmented) = reading {
            self.preview = Preview(scan: self.active[index].number, imageBytes: segmented.imageBytes)
            self.active[index].stage.update { stream, _ in stream.booksSegmented = segmented.totalBooks }
        }
        if case .result(let book, _) = reading, self.profile.events.result == .collected {
            self.active[index].stage.update { stream, _ in stream.books.append(book) }
        }
        if case .enrichmentDegraded = reading { _ = self.showOverlay(index, at: now) }
        let id = event.idToResumeFrom
        self.applied(id, reading, transit, index, at: now, into: &effects)
        if case .result(let book, _) = reading, self.profile.events.result != .collected {
            self.observe(
                .bookShown(job: self.active[index].jobID, book: book), of: self.active[index].number,
                at: now, into: &effects)
        }
        // Else perhaps an old one: no progress, and no id to resume from.
        guard novelty == .new else { return }
        if self.profile.stream.resetsBackoff, self.active.update(index, { $0.stage.hasFailures }) {
            self.active[index].stage.update { stream, _ in stream.backoff.succeeded() }
        }
        self.advance(to: id, index, into: &effects)
    }

    /// The event as the client knows it by its name. Changes nothing, see `observe`.
    private mutating func told(
        _ name: String, _ bytes: [UInt8], into notes: inout ContractNotes
    ) -> JobEvent {
        switch (self.profile.events.names, self.profile.journey.version) {
        case (.plain, .v2): JobEvent(v2Name: name, bytes: bytes, into: &notes)
        case (.plain, .v3): JobEvent(name: name, bytes: bytes, into: &notes)
        case (.dotted, _): JobEvent(dottedName: name, bytes: bytes, into: &notes)
        }
    }

    /// Whether the client takes the event for an old one by its time.
    private mutating func isStale(_ event: SSEEvent, _ index: Int) -> Bool {
        guard self.profile.events.order == .byTimestamp else { return false }
        let openedAt = self.active[index].stage.update { $1.openedAt }
        return self.profile.events.isStale(
            event.bytes, openedAtUnixMilliseconds: self.wallNanoseconds(at: openedAt) / 1_000_000)
    }

    /// The client's parser fails at an event, and the client shows the failure as an error of the job, which it deletes.
    ///
    /// - Returns: Whether the client is done with the stream.
    private mutating func misread(
        _ reading: JobEvent, _ event: SSEEvent, _ index: Int, exchange: Int, at now: Instant,
        into effects: inout [PhoneEffect]
    ) -> Bool {
        let (scan, job) = (self.active[index].number, self.active[index].job)
        let name = reading.kind?.rawValue ?? ServerText.code(event.type, fallback: "unreadable")
        self.observe(
            .eventIgnored(job: job.jobId, id: event.idToResumeFrom, name: name, malformed: true), of: scan,
            at: now, into: &effects)
        switch self.profile.events.failure {
        case .final:
            self.drain(index, exchange: exchange, at: now, into: &effects)
            self.refuse(
                scan, code: AppLimits.unreadableEventCode, cause: .event(job: job.jobId, retryable: nil),
                at: now, into: &effects)
            return true
        case .continues:
            let attempt = self.active[index].scan.nextAttempt(.cleanup)
            self.active[index].scan.record.job?.authToken = nil
            self.note(.put(self.active[index].scan.record), into: &effects)
            let due = self.showOverlay(index, at: now) ? now + self.profile.events.overlay : now
            self.cleanups.append(
                Cleanup(
                    scan: scan, job: job, purpose: .discard, cancels: false,
                    state: .waiting(until: due, floor: due, attempt: attempt)))
            // An event that was held may be read when the path is lost.
            if self.pathAvailable { self.sendDueCleanups(at: now, into: &effects) }
            return false
        }
    }

    /// Notes what only the phone knows to be odd. Changes nothing, see `observe`.
    private mutating func note(_ reading: JobEvent, of job: String, into notes: inout ContractNotes) {
        switch reading {
        case .unknown(let name):
            let isDotted = self.profile.events.names == .dotted
            guard isDotted || name != self.profile.journey.version.timeoutName else { return }
            notes.add(
                "event", expected: isDotted ? ContractFinding.dottedEvent : ContractFinding.event,
                seen: ServerText.code(name, fallback: "an unreadable name"))
        case .completed(let completed):
            guard let id = completed.jobId, id != job else { return }
            notes.add("jobId", expected: "the job of the stream", seen: "another job", excerpt: id)
        case .error(let error):
            guard let id = error.jobId, id != job else { return }
            notes.add(
                "jobId", expected: "the job of the stream", seen: "another job", excerpt: id,
                isDecisive: true)
        case .progress, .ping, .enrichmentDegraded, .segmented, .bookProgress, .result, .malformed: return
        }
    }

    /// A block that carried an id and nothing else: nothing was dispatched, but the stream resumes from there (WHATWG HTML
    /// section 9.2.6, "dispatch the event", step 1).
    private mutating func movedID(
        _ id: String, _ index: Int, at now: Instant, into effects: inout [PhoneEffect]
    ) {
        guard ServerText.isEventID(id), id != self.active[index].job.lastEventID else { return }
        let scan = self.active[index].number
        self.observe(
            .eventIgnored(job: self.active[index].jobID, id: id, name: "id-only", malformed: false),
            of: scan,
            at: now, into: &effects)
        self.active[index].scan.record.job?.lastEventID = id
        self.note(.lastEventID(scan, id), into: &effects)
    }

    /// Drops an event that was too long; the stream itself continues. After a dropped terminal event, the job
    /// is over, since requesting the event again would repeat it.
    ///
    /// - Returns: Whether it was the terminal event.
    private mutating func overflowed(
        _ type: String, _ index: Int, exchange: Int, at now: Instant, into effects: inout [PhoneEffect]
    ) -> Bool {
        let scan = self.active[index].number
        var notes = ContractNotes()
        notes.add(
            "event", expected: "at most \(AppLimits.streamEventBytesMax) bytes", seen: "a longer one",
            isDecisive: true)
        self.observe(notes, of: scan, .stream, "event", at: now, into: &effects)
        self.observe(
            .badAnswer(.stream, attempt: self.exchanges[exchange].attempt, .overlongStream), of: scan,
            at: now,
            into: &effects)
        guard let kind = EventKind(eventName: type), kind.isTerminal else { return false }
        self.observe(
            .eventApplied(
                job: self.active[index].jobID, id: nil, kind: kind, latency: nil, replayed: false),
            of: scan, at: now, into: &effects)
        let isTooLate = self.active[index].stage.update { stream, _ in stream.hasFailed }
        self.drain(index, exchange: exchange, at: now, into: &effects)
        if isTooLate {
            self.giveUp(scan, .transport, job: .left, at: now, into: &effects)
        } else if kind == .completed {
            self.completed(nil, index, at: now, into: &effects)
        } else {
            self.failed(index, nil, at: now, into: &effects)
        }
        return true
    }

    /// The stream is left to end by itself, so that its connection stays usable.
    private mutating func drain(
        _ index: Int, exchange: Int, at now: Instant, into effects: inout [PhoneEffect]
    ) {
        self.closeSocket(exchange: exchange, into: &effects)
        self.leaveToEnd(exchange, at: now)
        if self.preview?.scan == self.active[index].number { self.preview = nil }
    }

    /// Nothing that still comes matters.
    mutating func leaveToEnd(_ exchange: Int, at now: Instant) {
        if self.exchanges[exchange].ending != nil {
            self.exchanges.remove(at: exchange)
        } else {
            self.exchanges[exchange].purpose = .drain
            self.exchanges[exchange].deadline = now + AppLimits.drainGrace
        }
    }

    /// The terminal event. One that cannot be read is believed in so far as the job is over: what a `completed` found is
    /// requested, and nothing is refused because of an `error` that says nothing.
    private mutating func ended(
        _ reading: JobEvent, _ index: Int, exchange: Int, at now: Instant, into effects: inout [PhoneEffect]
    ) {
        let answered = self.exchanges[exchange]
        let isTooLate = self.active[index].stage.update { stream, _ in stream.hasFailed }
        self.drain(index, exchange: exchange, at: now, into: &effects)
        guard !isTooLate else {
            // The event has closed the stream. Its scan had failed before.
            self.giveUp(self.active[index].number, .transport, job: .left, at: now, into: &effects)
            return
        }
        switch reading {
        case .completed(let completed):
            self.completed(completed, index, at: now, into: &effects)
        case .error(let error):
            self.failed(index, error, at: now, into: &effects)
        case .malformed(.completed):
            self.observe(bad: .undecodable, answered, at: now, into: &effects)
            self.completed(nil, index, at: now, into: &effects)
        case .malformed(.error):
            self.observe(bad: .undecodable, answered, at: now, into: &effects)
            self.failed(index, nil, at: now, into: &effects)
        case .malformed, .progress, .ping, .enrichmentDegraded, .segmented, .bookProgress, .result, .unknown:
            preconditionFailure("a stream was ended by an event that is not terminal")
        }
    }

    /// An event that changes nothing but the id to resume from.
    private mutating func ignored(
        _ event: SSEEvent, name: String, isMalformed: Bool, _ index: Int,
        _ novelty: SeenEvents.Novelty, at now: Instant,
        into effects: inout [PhoneEffect]
    ) {
        self.observe(
            .eventIgnored(
                job: self.active[index].job.jobId, id: event.idToResumeFrom,
                name: ServerText.code(name, fallback: "unreadable"), malformed: isMalformed),
            of: self.active[index].number, at: now, into: &effects)
        if novelty == .new { self.advance(to: event.idToResumeFrom, index, into: &effects) }
    }

    private mutating func applied(
        _ id: String?, _ reading: JobEvent, _ transit: StreamConnection.Transit, _ index: Int,
        at now: Instant,
        into effects: inout [PhoneEffect]
    ) {
        guard let kind = reading.kind else {
            preconditionFailure("an event that changes nothing was applied")
        }
        self.observe(
            .eventApplied(
                job: self.active[index].jobID, id: id, kind: kind,
                latency: transit.latency, replayed: transit.isReplayed),
            of: self.active[index].number, at: now, into: &effects)
    }

    /// The stream resumes after this event from now on. An ignored event counts as well: it was dispatched, and asking
    /// for it again would only bring it again. A terminal event does not: until its books are durable a fresh process
    /// must be told of it once more.
    private mutating func advance(to id: String?, _ index: Int, into effects: inout [PhoneEffect]) {
        guard let id else { return }
        self.active[index].scan.record.job?.lastEventID = id
        self.note(.lastEventID(self.active[index].number, id), into: &effects)
    }

    /// An `error` event: once again by itself, then it waits; or it is final. `error`: nil when it could not be read.
    private mutating func failed(
        _ index: Int, _ error: ErrorData?, at now: Instant, into effects: inout [PhoneEffect]
    ) {
        let scan = self.active[index].number
        let job = self.active[index].job
        self.observe(
            .terminalApplied(job: job.jobId, kind: .error, inline: .absent), of: scan, at: now,
            into: &effects)
        if let error, UploadRetry.isFinal(error) {
            let code = ServerText.code(error.code, fallback: "UNKNOWN_ERROR")
            let cause = RefusalCause.event(job: job.jobId, retryable: error.retryable)
            self.refuse(scan, code: code, cause: cause, at: now, into: &effects)
            return
        }
        self.uploadAfterError(index, at: now, into: &effects)
    }

    /// The job has ended in an error that says nothing against its scan: the scan is uploaded once more, then it waits.
    mutating func uploadAfterError(_ index: Int, at now: Instant, into effects: inout [PhoneEffect]) {
        let (scan, job) = (self.active[index].number, self.active[index].job)
        self.active[index].scan.record.job = nil
        self.active[index].scan.record.retryableErrors += 1
        let retry = UploadRetry.retryableError(
            errors: self.active[index].scan.record.retryableErrors, max: self.profile.events.errorRetriesMax,
            delay: self.profile.events.errorRetryDelay)
        self.active[index].scan.record.uploadDueUnixNs =
            retry.isAutomatic ? self.unixNanoseconds(at: now + retry.atLeast) : nil
        self.uploadAgain(scan, retry, at: now, into: &effects)
        self.discard(job, of: scan, at: now, into: &effects)
    }
}

extension JobEvent {
    /// Nil for a name that the contract does not have.
    fileprivate var kind: EventKind? {
        switch self {
        case .progress: .progress
        case .completed: .completed
        case .error: .error
        case .ping: .ping
        case .enrichmentDegraded: .enrichmentDegraded
        case .segmented: .segmented
        case .bookProgress: .bookProgress
        case .result: .result
        case .malformed(let kind): kind
        case .unknown: nil
        }
    }
}

extension SSEEvent {
    /// Nil if it has no id of its own, or one that cannot stand in a header: then the id to resume from stays.
    fileprivate var idToResumeFrom: String? {
        self.hasOwnID && ServerText.isEventID(self.id) ? self.id : nil
    }
}
