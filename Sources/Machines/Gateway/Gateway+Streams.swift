internal import Faults
import JSON
import Observations
internal import OriginServer
internal import SimBase
internal import Talaria
internal import Wire

/// One open event stream or WebSocket of a foreign backend.
struct ProxiedStream: Sendable {
    /// A piece that is held until its time, because a stage is slow or a ping is late.
    struct HeldPiece: Sendable {
        var due: Instant
        var bytes: [UInt8]
        var mark: StreamPieceKind
    }

    let job: String
    let journey: Journey
    let caller: Caller
    let authority: String?
    /// Among the streams of its job, from 1.
    let ordinal: UInt32
    var reader = SSEBlockReader(bytesMax: Gateway.eventBytesMax)
    /// Nil of an event stream.
    var socket: ProxiedSocket?
    /// The last id of the upstream's that has passed, or that the phone came with.
    var lastID: String?
    var hasEvents = false
    var isOver = false
    /// The stage from whose first event on everything is delayed.
    var slowness: (stage: ScanPhase, by: Interval)?
    var delay = Interval.zero
    var held: [HeldPiece] = []
    /// The upstream has ended; what is held still goes out.
    var endsBehindHeld = false
}

// Event streams that pass, and what faults do to them. What a fault makes of an event is `EventDistortion`'s.

extension Gateway {
    // MARK: Opening

    /// Returns the resume position for the upstream, as far as faults change it.
    mutating func resumePoint(
        _ context: RequestContext, _ request: OriginRequest, _ jobID: String?,
        into effects: inout [OriginEffect]
    ) -> ResumePoint {
        guard let id = request.lastEventID, !id.isEmpty else { return .asSent }
        if let fault = context.fault(where: { $0 == .ignoreLastEventID }) {
            effects.append(context.fired(fault, at: self.now))
            // Older than every event there is: what is left of the buffer comes again
            // (Docs/contract.md section 2.2).
            return .replaced("0-progress")
        }
        guard let job = jobID.flatMap({ self.jobs[$0] }) else { return .asSent }
        if job.isForgetful { return .removed }
        return job.meaning(of: id) ?? .asSent
    }

    mutating func openStream(
        _ context: RequestContext, _ relay: Relay, _ head: UpstreamHead, into effects: inout [OriginEffect]
    ) {
        guard let jobID = relay.jobID else { return }
        let id = context.exchange
        if self.jobs[jobID] == nil {
            self.know(jobID, context.journey, context.caller, into: &effects)
        }
        let ordinal = self.jobs.update(jobID) { job in
            job.streams.append(id)
            job.streamsOpened += 1
            return job.streamsOpened
        }
        let isSocket = head.status == 101
        self.streams[id] = ProxiedStream(
            job: jobID, journey: context.journey, caller: context.caller, authority: relay.authority,
            ordinal: ordinal ?? 1, socket: isSocket ? ProxiedSocket() : nil)
        if let alarm = self.faults.open(context, isSocket: isSocket, at: self.now) {
            self.deadlines.insert(.fault(id), at: alarm)
        }
        effects.append(
            isSocket ? .openSocket(id, headers: head.headers) : .openStream(id, headers: head.headers))
        effects.append(
            self.payload(
                context.caller, .streamOpened(job: jobID, attempt: context.caller.attempt, after: nil)))
        if isSocket, self.repeatFailure(on: id, of: jobID, into: &effects) { return }
        self.applyFaults(of: id, into: &effects)
    }

    /// A job that has failed for the phones says so again.
    func repeatFailure(
        _ context: RequestContext, _ eventID: String, _ name: String, _ data: [UInt8],
        into effects: inout [OriginEffect]
    ) {
        let id = context.exchange
        effects.append(
            .openStream(
                id,
                headers: [
                    HeaderField(HeaderName.requestID, self.metadata(id).requestId),
                    HeaderField("Content-Type", "text/event-stream"),
                    HeaderField("Cache-Control", "no-cache"),
                ]))
        self.observeAnswer(context, 200, into: &effects)
        var bytes: [UInt8] = []
        SSEWriter.event(id: eventID, type: name, data: data, into: &bytes)
        effects.append(.stream(id, bytes: bytes, Self.mark(.error, replayed: true, at: self.now)))
        effects.append(.endStream(id))
    }

    // MARK: What comes

    mutating func streamReceived(_ id: ExchangeID, _ bytes: [UInt8], into effects: inout [OriginEffect]) {
        guard self.streams[id]?.socket == nil else {
            self.socketReceived(id, bytes, into: &effects)
            return
        }
        var blocks: [SSEBlock] = []
        self.streams.update(id) { $0.reader.receive(bytes, into: &blocks) }
        for block in blocks {
            // A fault may have ended it by now.
            guard self.streams[id] != nil else { return }
            self.pass(block, id, into: &effects)
        }
    }

    private mutating func pass(_ block: SSEBlock, _ id: ExchangeID, into effects: inout [OriginEffect]) {
        guard let journey = self.streams[id]?.journey else { return }
        if let event = block.event {
            let kind = journey.kind(ofEvent: event.type)
            if kind == .ping {
                self.passPing(block, id, into: &effects)
            } else {
                self.passEvent(block, event, kind, id, into: &effects)
            }
        } else if journey.isHeartbeat(block.bytes) {
            self.passPing(block, id, into: &effects)
        } else {
            self.send(block.bytes, .preamble, id, into: &effects)
            return
        }
        self.applyFaults(of: id, into: &effects)
    }

    /// Passes a ping event, or the comment that v2 has instead.
    mutating func passPing(
        _ block: SSEBlock, _ id: ExchangeID, into effects: inout [OriginEffect]
    ) {
        let withoutID = block.event.map { Self.withoutID($0) } ?? block.bytes
        let isBehind = self.streams[id].map { $0.held.isEmpty } == false
        switch self.faults.pingChange(on: id, isLate: false, at: self.now, into: &effects) {
        case .omitted: break
        case .late(let by):
            self.hold(withoutID, .ping, due: self.now + by, id, into: &effects)
        case .none:
            // It overtakes what is held, so it must not move the point from which its reader continues.
            self.write(isBehind ? withoutID : block.bytes, .ping, id, into: &effects)
            if !isBehind, let event = block.event, event.hasOwnID {
                self.streams.update(id) { $0.lastID = event.id }
            }
        }
    }

    private static func withoutID(_ event: SSEEvent) -> [UInt8] {
        var bytes: [UInt8] = []
        SSEWriter.event(id: nil, type: event.type, data: event.bytes, into: &bytes)
        return bytes
    }

    mutating func passEvent(
        _ block: SSEBlock, _ event: SSEEvent, _ kind: EventKind?, _ id: ExchangeID,
        into effects: inout [OriginEffect]
    ) {
        guard let stream = self.streams[id] else { return }
        let isReplay =
            event.hasOwnID
            && self.jobs.update(stream.job) { $0.isReplay(event.id, on: stream.ordinal) } == true
        if let kind, let slowness = stream.slowness, stream.delay == .zero,
            kind != .progress || stream.journey.hasReached(slowness.stage, in: event)
        {
            self.streams.update(id) { $0.delay = slowness.by }
        }
        if self.closesSocket(id, into: &effects) { return }
        self.writeExtras(before: event, id, into: &effects)
        let isTerminal = kind?.isTerminal == true
        if isTerminal, self.faults.endsWithoutTerminal(id, at: self.now, into: &effects) {
            self.closeStream(id, .normal, into: &effects)
            return
        }
        let changed = self.changed(block, event, kind, id, into: &effects)
        let bytes = self.reframed(changed, id, into: &effects)
        let mark =
            kind.map { Self.mark($0, replayed: isReplay, at: self.now) }
            ?? Self.mark(.progress, replayed: isReplay, at: self.now)
        self.send(bytes, mark, id, into: &effects)
        self.streams.update(id) { stream in
            stream.hasEvents = true
            if event.hasOwnID { stream.lastID = event.id }
            if isTerminal { stream.isOver = true }
        }
        if stream.journey.version.failureHasProgress, kind == .progress {
            self.jobs.update(stream.job) {
                $0.lastProgress = event.bytes
                $0.subject = DottedEventName.subject(of: event.type)
            }
        }
        if isTerminal, let kind {
            self.jobs.update(stream.job) { if $0.state == .open { $0.state = .finished } }
            effects.append(self.payload(stream.caller, .finished(job: stream.job, kind: kind, books: 0)))
            self.writeSecondTerminal(after: event, kind, id, into: &effects)
        }
    }

    static func mark(_ kind: EventKind, replayed: Bool, at now: Instant) -> StreamPieceKind {
        .event(position: 0, kind: kind, replayed: replayed, emitted: now)
    }

    // MARK: Sending

    /// Sends a piece in its turn: after held pieces, and as late as its stage is slow.
    mutating func send(
        _ bytes: [UInt8], _ mark: StreamPieceKind, _ id: ExchangeID,
        into effects: inout [OriginEffect]
    ) {
        guard let stream = self.streams[id] else { return }
        guard stream.delay > .zero else {
            self.write(bytes, mark, id, into: &effects)
            return
        }
        self.hold(bytes, mark, due: self.now + stream.delay, id, into: &effects)
    }

    private mutating func hold(
        _ bytes: [UInt8], _ mark: StreamPieceKind, due: Instant, _ id: ExchangeID,
        into effects: inout [OriginEffect]
    ) {
        self.streams.update(id) { stream in
            let piece = ProxiedStream.HeldPiece(due: due, bytes: bytes, mark: mark)
            stream.held.insert(piece, at: stream.held.firstIndex { $0.due > due } ?? stream.held.count)
        }
        self.deadlines.insert(.heldPiece(id), at: due)
    }

    mutating func sendHeld(_ id: ExchangeID, into effects: inout [OriginEffect]) {
        let now = self.now
        while let first = self.streams[id]?.held.first, first.due <= now {
            self.streams.update(id) { _ = $0.held.removeFirst() }
            self.write(first.bytes, first.mark, id, into: &effects)
            self.applyFaults(of: id, into: &effects)
        }
        if let stream = self.streams[id], stream.held.isEmpty, stream.endsBehindHeld {
            self.endStream(id, into: &effects)
        }
    }

    mutating func write(
        _ bytes: [UInt8], _ mark: StreamPieceKind, _ id: ExchangeID,
        into effects: inout [OriginEffect]
    ) {
        guard self.streams[id] != nil else { return }
        effects.append(.stream(id, bytes: bytes, mark))
        self.faults.wrote(bytes, mark, to: id)
    }

    // MARK: Ends

    mutating func streamCompleted(_ id: ExchangeID, into effects: inout [OriginEffect]) {
        self.passRest(id, into: &effects)
        guard let stream = self.streams[id] else { return }
        if stream.held.isEmpty {
            self.endStream(id, into: &effects)
        } else {
            self.streams.update(id) { $0.endsBehindHeld = true }
        }
    }

    /// Forwards the data that arrived before the upstream failed, and then the same kind of end; the gateway
    /// never invents a clean end.
    mutating func streamFailed(
        _ id: ExchangeID, _ failure: UpstreamFailure, into effects: inout [OriginEffect]
    ) {
        for piece in self.streams[id]?.held ?? [] {
            self.write(piece.bytes, piece.mark, id, into: &effects)
        }
        self.passRest(id, into: &effects)
        guard let stream = self.streams[id] else { return }
        self.forget(id, stream)
        effects.append(.breakOff(id, failure.ending))
        effects.append(
            self.payload(
                stream.caller, .streamEnded(job: stream.job, attempt: stream.caller.attempt, byPeer: false)))
    }

    private mutating func passRest(_ id: ExchangeID, into effects: inout [OriginEffect]) {
        let taken = self.streams.update(id) { $0.socket?.reader.takeRest() ?? $0.reader.takeRest() }
        guard let rest = taken, !rest.isEmpty else { return }
        self.send(rest, .preamble, id, into: &effects)
    }

    /// A fault ends them.
    mutating func endStreams(of job: String, into effects: inout [OriginEffect]) {
        let hasFailed = if case .failed? = self.jobs[job]?.state { true } else { false }
        for id in self.jobs[job]?.streams ?? [] {
            self.closeStream(id, hasFailed ? .internalError : .normal, into: &effects)
        }
    }

    mutating func endStream(_ id: ExchangeID, into effects: inout [OriginEffect]) {
        guard let stream = self.streams[id] else { return }
        self.forget(id, stream)
        effects.append(.endStream(id))
        effects.append(.releaseUpstream(id))
        effects.append(
            self.payload(
                stream.caller, .streamEnded(job: stream.job, attempt: stream.caller.attempt, byPeer: false)))
    }

    mutating func forget(_ id: ExchangeID, _ stream: ProxiedStream) {
        self.faults.close(id)
        self.streams[id] = nil
        self.jobs.update(stream.job) { job in
            if let index = job.streams.firstIndex(of: id) { job.streams.remove(at: index) }
        }
    }
}
