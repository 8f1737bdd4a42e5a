internal import Faults
import JSON
import Observations
internal import OriginServer
internal import SimBase
internal import Talaria
internal import Wire

extension Backend {
    /// Answers with the head, the opening comment and what the client has missed; a job that is over then ends the
    /// stream again. Several streams of one job may be open at once.
    mutating func streamRequested(
        _ context: RequestContext, _ request: OriginRequest, _ device: DeviceKey?, _ jobID: String,
        into effects: inout [OriginEffect]
    ) {
        if self.configuration.strictAccept, !Self.wantsEventStream(request.accept) {
            self.refuse(
                context, Refusal(.invalidAcceptHeader, "Accept must be text/event-stream."), into: &effects)
            return
        }
        switch self.access(context, request, device, jobID, into: &effects) {
        case .refused(let refusal)
        where refusal == .unknownJob && self.dialect(of: context).unknownStream == .errorEvent:
            self.openStreamOfUnknownJob(context, jobID, into: &effects)
        case .refused(let refusal): self.refuse(context, refusal, into: &effects)
        case .gone: self.refuse(context, .gone, into: &effects)
        case .job(let facts):
            self.openStream(context, facts, after: request.lastEventID, into: &effects)
        }
    }

    /// Whether one of the types of an `Accept` is `text/event-stream`.
    private static func wantsEventStream(_ accept: String?) -> Bool {
        (accept ?? "").split(separator: ",").contains {
            ParameterizedValue(String($0))?.value.lowercased() == "text/event-stream"
        }
    }

    private mutating func openStream(
        _ context: RequestContext, _ facts: Job.Facts, after lastEventID: String?,
        into effects: inout [OriginEffect]
    ) {
        let exchange = context.exchange
        let now = self.now
        let ignored = lastEventID?.isEmpty == false ? context.fault { $0 == .ignoreLastEventID } : nil
        let opened = self.jobs.update(facts.key) { job in
            job.streams.append(exchange)
            let replay =
                ignored == nil
                ? job.log.replay(after: lastEventID, at: now) : job.log.replayFromStart(at: now)
            return (replay, job.phase != .running, job.log.count)
        }
        guard let (replay, isOver, events) = opened else { return }
        self.addStream(context, facts, eventsKnown: events)

        self.sendHead(context, into: &effects)
        if let ignored { effects.append(context.fired(ignored, at: self.now)) }
        effects.append(
            .observe(
                self.payload(
                    facts.owner,
                    .streamOpened(job: facts.id, attempt: context.caller.attempt, after: replay.after))))

        // What came from the client is repeated only when it is an id that was ours.
        let resumed = replay.after == nil ? nil : lastEventID
        let retry = self.configuration.retryField ?? facts.dialect.retryField
        self.send(
            self.preamble(resumedFrom: resumed, retry: retry), .preamble, to: exchange, into: &effects)
        if self.opensWithSnapshot(facts, after: lastEventID) {
            self.writeSnapshot(to: exchange, facts, into: &effects)
        }
        for entry in replay.entries {
            self.write(entry, to: exchange, facts, replayed: true, into: &effects)
        }
        if isOver {
            self.endStream(exchange, facts, lingering: true, into: &effects)
        } else {
            self.applyFaults(of: exchange, into: &effects)
        }
    }

    /// A stream of one event, which says that there is no such job.
    private mutating func openStreamOfUnknownJob(
        _ context: RequestContext, _ jobID: String, into effects: inout [OriginEffect]
    ) {
        self.sendHead(context, into: &effects)
        let form = EventForm(name: EventKind.error.rawValue, idSuffix: "error", isEnveloped: false)
        let bytes =
            self.preamble(resumedFrom: nil, retry: self.configuration.retryField)
            + form.bytes(milliseconds: self.wall, data: FailureForm.unknownJob(jobID))
        effects.append(.stream(context.exchange, bytes: bytes, .extra))
        effects.append(.endStream(context.exchange))
    }

    private func sendHead(_ context: RequestContext, into effects: inout [OriginEffect]) {
        var headers = [
            HeaderField(HeaderName.requestID, self.requestID(context.exchange)),
            HeaderField("Content-Type", "text/event-stream"),
            HeaderField("Cache-Control", "no-cache, no-store, must-revalidate"),
            HeaderField("X-Accel-Buffering", "no"),
        ]
        if self.dialect(of: context).opensStreamsToPages {
            headers.append(HeaderField("Access-Control-Allow-Origin", "*"))
        }
        effects.append(
            .openStream(context.exchange, headers: headers, lineEnd: self.lineEnd(context.caller)))
        self.observeAnswer(context, 200, into: &effects)
    }

    private func lineEnd(_ caller: Caller) -> SSELineEnd {
        switch self.configuration.lineEnds {
        case .lf: return .lf
        case .crlf: return .crlf
        case .cr: return .cr
        case .mixed:
            let ends = SSELineEnd.allCases
            let index = self.random.below(
                UInt64(ends.count), .lineEnds, UInt64(caller.device.raw), UInt64(caller.scan.raw),
                UInt64(caller.attempt))
            return ends[Int(index)]
        }
    }

    mutating func addStream(
        _ context: RequestContext, _ facts: Job.Facts, eventsKnown: Int, isSocket: Bool = false
    ) {
        let stream = Stream(
            facts: facts, attempt: context.caller.attempt, nextPing: self.now + self.configuration.ping,
            endsAt: isSocket ? nil : facts.journey.version.streamLifetime.map { self.now + $0 },
            polling: facts.dialect.isPolled && !isSocket ? StreamPolling(opened: self.now) : nil,
            eventsKnown: eventsKnown)
        self.streams[context.exchange] = stream
        self.deadlines.add(.ping(context.exchange), at: stream.nextPing)
        if let end = stream.endsAt { self.deadlines.add(.timeout(context.exchange), at: end) }
        if let polling = stream.polling { self.deadlines.add(.poll(context.exchange), at: polling.next) }
        if let alarm = self.faults.open(context, isSocket: isSocket, at: self.now) {
            self.deadlines.add(.fault(context.exchange), at: alarm)
        }
    }

    private func preamble(resumedFrom id: String?, retry: Interval?) -> [UInt8] {
        var bytes: [UInt8] = []
        SSEWriter.comment(
            id.map { "reconnected from event \($0)" } ?? "connection established", into: &bytes)
        if let retry {
            SSEWriter.retry(retry, into: &bytes)
        } else {
            bytes.append(UInt8(ascii: "\n"))
        }
        return bytes
    }

    // MARK: The state of the job

    /// Whether the stream begins with the state of the job, for a client that was away for some time.
    private func opensWithSnapshot(_ facts: Job.Facts, after lastEventID: String?) -> Bool {
        guard case .snapshot(let within) = facts.dialect.opening else { return false }
        guard let time = lastEventID?.prefix(while: { $0 != "-" }), let milliseconds = Int64(time) else {
            return true
        }
        let (age, overflow) = self.wall.subtractingReportingOverflow(milliseconds)
        return overflow || age >= within.wholeMilliseconds
    }

    /// Writes an event with the state of the job. It is in no log.
    private mutating func writeSnapshot(
        to exchange: ExchangeID, _ facts: Job.Facts, into effects: inout [OriginEffect]
    ) {
        let first = facts.dialect.firstStatus
        guard let (status, step) = self.jobs.update(facts.key, { ($0.status(first: first), $0.step) })
        else { return }
        let progress = facts.script.progress(at: max(0, step - 1))
        let data = JSON.object { writer in
            writer.member("jobId", facts.id)
            writer.member("processedCount", progress.processed)
            writer.member("progress", thousandths: progress.thousandths)
            writer.member("status", status.rawValue)
            writer.member("totalCount", progress.total)
            writer.member("type", EventKind.progress.rawValue)
        }
        let wall = self.wall
        let form = EventForm(
            name: EventKind.progress.rawValue, idSuffix: V2EventName.initialSuffix, isEnveloped: false)
        effects.append(
            .observe(
                self.payload(
                    facts.owner,
                    .eventWritten(
                        job: facts.id, id: form.id(wall), position: nil, kind: .progress, replayed: true))))
        let mark = StreamPieceKind.event(position: 0, kind: .progress, replayed: true, emitted: self.now)
        self.send(form.bytes(milliseconds: wall, data: data), mark, to: exchange, into: &effects)
    }

    // MARK: Writing

    /// Writes an event of the log to one stream, in the form that the stream's faults give it.
    mutating func write(
        _ entry: EventLog.Entry, to exchange: ExchangeID, _ facts: Job.Facts, replayed: Bool,
        into effects: inout [OriginEffect]
    ) {
        // A fault may have ended the stream while the events before were written.
        guard self.streams.update(exchange, { _ in true }) != nil else { return }
        if replayed { self.writeExtras(before: entry.position, to: exchange, facts, into: &effects) }
        if entry.kind.isTerminal, self.faults.endsWithoutTerminal(exchange, at: self.now, into: &effects) {
            self.endStream(exchange, facts, into: &effects)
            return
        }
        if self.isSocket(exchange),
            let code = self.faults.socketClose(on: exchange, at: self.now, into: &effects)
        {
            self.endStream(exchange, facts, into: &effects)
            let close = WebSocketClose(WebSocketCloseCode(rawValue: UInt16(code)))
            return self.endSocket(exchange, close, at: self.now)
        }
        var original = self.readdressed(entry, facts, replayed: replayed)
        if entry.kind == .segmented, facts.dialect.capture == nil {
            original = original.with(data: self.segmentedData(facts))
        }
        if replayed, facts.dialect.replaysWithoutBooks, entry.kind == .completed,
            let stripped = EventDistortion.stripped(original.data, as: .absent)
        {
            original = original.with(data: stripped)
        }
        let changed = self.faults.changedData(
            of: entry.kind, original.data, job: facts.id, on: exchange, at: self.now, into: &effects)
        let entry = changed.map { original.with(data: $0) } ?? original
        self.observe(entry, facts, replayed: replayed, into: &effects)
        let mark = StreamPieceKind.event(
            position: entry.position, kind: entry.kind, replayed: replayed, emitted: entry.emitted)
        let bytes = self.bytes(of: entry, facts, to: exchange, into: &effects)
        self.send(bytes, mark, to: exchange, into: &effects)
        if entry.kind.isTerminal {
            self.writeSecondTerminal(after: original, to: exchange, facts, into: &effects)
        }
    }

    /// Returns the entry with another id, if replays have their own.
    private mutating func readdressed(
        _ entry: EventLog.Entry, _ facts: Job.Facts, replayed: Bool
    ) -> EventLog.Entry {
        guard replayed, self.configuration.replayIDs == .fresh else { return entry }
        let (wall, now) = (self.wall, self.now)
        let fresh = self.jobs.update(facts.key) {
            $0.log.alias(entry.form.idSuffix, position: entry.position, wall: wall, at: now)
        }
        return fresh.map { entry.with(milliseconds: $0) } ?? entry
    }

    /// Changes nothing. A backend that was only lent for it would be copied.
    mutating func observe(
        _ entry: EventLog.Entry, _ facts: Job.Facts, replayed: Bool, into effects: inout [OriginEffect]
    ) {
        effects.append(
            .observe(
                self.payload(
                    facts.owner,
                    .eventWritten(
                        job: facts.id, id: entry.id, position: entry.position, kind: entry.kind,
                        replayed: replayed))))
    }

    /// Sends a piece of a stream, which the faults count.
    mutating func send(
        _ bytes: [UInt8], _ mark: StreamPieceKind, to exchange: ExchangeID, into effects: inout [OriginEffect]
    ) {
        effects.append(.stream(exchange, bytes: bytes, mark))
        self.faults.wrote(bytes, mark, to: exchange)
    }

    // MARK: Deadlines of a stream

    mutating func pingDue(_ exchange: ExchangeID, into effects: inout [OriginEffect]) {
        guard
            let (facts, nextPing, isLate) = self.streams.update(
                exchange, { ($0.facts, $0.nextPing, $0.isPingLate) })
        else { return }
        switch self.faults.pingChange(on: exchange, isLate: isLate, at: self.now, into: &effects) {
        case .omitted: break
        case .late(let by):
            self.schedulePing(exchange, at: self.now + by, isLate: true)
            return
        case .none:
            if !facts.dialect.events.hasCommentPings {
                effects.append(.observe(self.payload(facts.owner, .pingWritten(job: facts.id))))
            }
            let ping = self.socketPing(facts, to: exchange) ?? self.ping(facts)
            self.send(ping, .ping, to: exchange, into: &effects)
        }
        // Late pings are not made up for.
        let next = nextPing + self.configuration.ping
        self.schedulePing(exchange, at: next > self.now ? next : self.now + self.configuration.ping)
        self.applyFaults(of: exchange, into: &effects)
    }

    /// The job goes on. The event has no id: it is in no log.
    mutating func timeOut(_ exchange: ExchangeID, into effects: inout [OriginEffect]) {
        guard let facts = self.streams.update(exchange, { $0.facts }),
            let step = self.jobs.update(facts.key, { $0.step })
        else { return }
        let progress = facts.script.progress(at: max(0, step - 1))
        let data = JSON.object { writer in
            writer.member("jobId", facts.id)
            progress.write(around: .processing, to: &writer)
        }
        let form = EventForm(name: V2EventName.timeout, idSuffix: "", isEnveloped: false)
        self.send(form.bytes(milliseconds: nil, data: data), .extra, to: exchange, into: &effects)
        self.endStream(exchange, facts, into: &effects)
    }

    private mutating func schedulePing(_ exchange: ExchangeID, at due: Instant, isLate: Bool = false) {
        self.streams.update(exchange) { ($0.nextPing, $0.isPingLate) = (due, isLate) }
        self.deadlines.add(.ping(exchange), at: due)
    }

    private mutating func ping(_ facts: Job.Facts) -> [UInt8] {
        let wall = self.wall
        guard !facts.dialect.events.hasCommentPings else {
            var comment: [UInt8] = []
            SSEWriter.comment(V2EventName.heartbeat, into: &comment)
            return comment + [UInt8(ascii: "\n")]
        }
        if !self.configuration.pingIDs, let last = self.lastPing, last.wall == wall { return last.bytes }
        let isEmpty = facts.dialect.events.hasEmptyPings
        let data = JSON.object { writer in
            guard !isEmpty else { return }
            writer.member("timestamp", timestamp: wall)
            writer.member("type", EventKind.ping.rawValue)
        }
        var milliseconds: Int64?
        if self.configuration.pingIDs {
            milliseconds = self.jobs.update(facts.key) { $0.log.mint(wall: wall) } ?? wall
        }
        var form = facts.dialect.events.form(of: .ping)
        form.isEnveloped = false
        let bytes = form.bytes(milliseconds: milliseconds, data: data)
        self.lastPing = (wall, bytes)
        return bytes
    }

    // MARK: Ends

    /// `lingering`: after the terminal event, where the connections may stay open for a while.
    mutating func endStreams(
        of key: JobKey, lingering: Bool = false, into effects: inout [OriginEffect]
    ) {
        guard let (facts, streams) = self.jobs.update(key, { ($0.facts, $0.streams) }) else { return }
        for exchange in streams {
            self.endStream(exchange, facts, lingering: lingering, into: &effects)
        }
    }

    mutating func endStream(
        _ exchange: ExchangeID, _ facts: Job.Facts, lingering: Bool = false,
        into effects: inout [OriginEffect]
    ) {
        guard let stream = self.streams[exchange] else { return }
        self.forget(exchange, stream)
        if self.isSocket(exchange) {
            let hasFailed = self.jobs.with(facts.key) { $0.status(first: .initialized) } == .failed
            let close = WebSocketClose(hasFailed ? .internalError : .normal)
            return self.endSocket(
                exchange, close, at: lingering ? self.now + ProgressSocket.closeDelay : self.now)
        }
        if lingering, self.configuration.streamLinger > .zero {
            let endsAt = self.now + self.configuration.streamLinger
            self.lingering[exchange] = LingeringStream(
                job: facts.id, owner: facts.owner, attempt: stream.attempt, endsAt: endsAt)
            self.deadlines.add(.linger(exchange), at: endsAt)
            return
        }
        effects.append(.endStream(exchange))
        effects.append(
            .observe(
                self.payload(
                    facts.owner, .streamEnded(job: facts.id, attempt: stream.attempt, byPeer: false))))
    }

    mutating func lingeringEnds(_ exchange: ExchangeID, into effects: inout [OriginEffect]) {
        guard let stream = self.lingering[exchange] else { return }
        self.lingering[exchange] = nil
        effects.append(.endStream(exchange))
        self.observeEnd(of: stream, byPeer: false, into: &effects)
    }

    func observeEnd(of stream: LingeringStream, byPeer: Bool, into effects: inout [OriginEffect]) {
        let ended = BackendObservation.streamEnded(job: stream.job, attempt: stream.attempt, byPeer: byPeer)
        effects.append(.observe(self.payload(stream.owner, ended)))
    }

    mutating func forget(_ exchange: ExchangeID, _ stream: Stream) {
        self.faults.close(exchange)
        self.streams[exchange] = nil
        self.jobs.update(stream.job) { job in
            if let index = job.streams.firstIndex(of: exchange) { job.streams.remove(at: index) }
        }
    }
}
