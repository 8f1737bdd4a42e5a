internal import Faults
import JSON
import Observations
internal import OriginServer
internal import SimBase
internal import Talaria
internal import Wire

// Jobs of v2 that are followed by WebSocket (Docs/contract.md section 3.4). Its events are those of the job's log, each in a message.

/// A WebSocket from its 101 to its end.
struct JobSocket: Sendable {
    enum Phase: Hashable, Sendable {
        /// Nothing is sent before the client is ready. Leaves to `following` or `ending`.
        case opening(until: Instant)
        /// It is a stream of its job. Leaves to `ending`.
        case following
        /// It has brought its last message, and is closed then. Leaves by its end.
        case ending(WebSocketClose, at: Instant)
    }

    let context: RequestContext
    let facts: Job.Facts
    /// Whether the client has followed the job before.
    let isReturn: Bool
    var phase: Phase
    /// Whether the log has its end.
    var isEndSeen = false
    var connection: WebSocketConnection

    /// When it has to be looked at; nil while its peer and its job decide.
    var due: Instant? {
        switch self.phase {
        case .opening(let until): until
        case .following: self.connection.deadline
        case .ending(_, let closesAt): self.connection.isOpen ? closesAt : self.connection.deadline
        }
    }

    var isOpening: Bool {
        switch self.phase {
        case .opening: true
        case .following, .ending: false
        }
    }
}

/// The use of a job's token by WebSockets, which is one connection and its returns.
enum SocketUse: Hashable, Sendable {
    case none
    /// `connections`: those that are open.
    case used(connections: Int, lastLostAt: Instant)

    /// Whether another connection may be opened.
    func admits(isReturn: Bool, at now: Instant) -> Bool {
        switch self {
        case .none: true
        case .used(let connections, let lostAt):
            isReturn && (connections > 0 || !ProgressSocket.isStateOver(lostAt: lostAt, at: now))
        }
    }

    mutating func opened() {
        switch self {
        case .none: self = .used(connections: 1, lastLostAt: .zero)
        case .used(let connections, let lostAt):
            self = .used(connections: connections + 1, lastLostAt: lostAt)
        }
    }

    mutating func lost(at now: Instant) {
        guard case .used(let connections, _) = self else { return }
        self = .used(connections: connections - 1, lastLostAt: now)
    }
}

extension Backend {
    // MARK: Opening

    mutating func socketRequested(
        _ context: RequestContext, _ request: OriginRequest, _ device: DeviceKey?, _ jobID: String,
        into effects: inout [OriginEffect]
    ) {
        let handshake: WebSocketRequest
        switch request.handshake {
        case .success(let its): handshake = its
        case .failure(let error): return self.refuse(context, Refusal(error), into: &effects)
        case nil: return self.refuse(context, Refusal(WebSocketRequestError.notUpgrade), into: &effects)
        }
        let subprotocol = handshake.subprotocol(beginning: ProgressSocket.subprotocolPrefix)
        let token = subprotocol?.rest ?? ProgressSocket.field("token", in: request.query).map(String.init)
        guard let token else {
            return self.refuse(context, Refusal(.invalidToken, "A token is required."), into: &effects)
        }
        var request = request
        request.authorization = "Bearer " + token
        switch self.access(context, request, device, jobID, into: &effects) {
        case .refused(let refusal): self.refuse(context, refusal, into: &effects)
        case .gone: self.refuse(context, .gone, into: &effects)
        case .job(let facts):
            let isReturn = ProgressSocket.isReturn(request.query)
            let fields = handshake.answer(choosing: subprotocol?.name)
            self.openSocket(context, facts, isReturn: isReturn, fields, into: &effects)
        }
    }

    private mutating func openSocket(
        _ context: RequestContext, _ facts: Job.Facts, isReturn: Bool, _ fields: HeaderFields,
        into effects: inout [OriginEffect]
    ) {
        let now = self.now
        let isAdmitted = self.jobs.update(facts.key) { job in
            guard job.socketUse.admits(isReturn: isReturn, at: now) else { return false }
            job.socketUse.opened()
            return true
        }
        guard isAdmitted == true else {
            return self.refuse(context, Refusal(.invalidToken, "The token was used."), into: &effects)
        }
        let until = now + ProgressSocket.readyTime
        self.sockets[context.exchange] = JobSocket(
            context: context, facts: facts, isReturn: isReturn, phase: .opening(until: until),
            connection: WebSocketConnection(
                role: .server,
                limits: WebSocketReader.Limits(
                    frameBytesMax: ProgressSocket.clientBytesMax,
                    messageBytesMax: ProgressSocket.clientBytesMax),
                acceptsBinary: false, patience: ProgressSocket.readyTime))
        self.deadlines.add(.socket(context.exchange), at: until)
        let headers = [HeaderField(HeaderName.requestID, self.requestID(context.exchange))] + fields.fields
        effects.append(.openSocket(context.exchange, headers: headers))
        self.observeAnswer(context, 101, into: &effects)
        let opened = BackendObservation.streamOpened(
            job: facts.id, attempt: context.caller.attempt, after: nil)
        effects.append(.observe(self.payload(facts.owner, opened)))
        guard (self.jobs.with(facts.key) { $0.streams.count } ?? 0) >= ProgressSocket.connectionsMax else {
            return
        }
        let close = WebSocketClose(.policyViolation, reason: ProgressSocket.limitCode)
        self.endSocket(context.exchange, close, at: now)
    }

    // MARK: What a client sends

    mutating func socketReceived(
        _ exchange: ExchangeID, _ bytes: [UInt8], into effects: inout [OriginEffect]
    ) {
        let now = self.now
        var outcomes: [WebSocketConnection.Effect] = []
        guard
            self.sockets.update(
                exchange, { $0.connection.received(bytes[...], at: now, into: &outcomes) }) != nil
        else { return }
        self.follow(outcomes, of: exchange, into: &effects)
    }

    private mutating func follow(
        _ outcomes: [WebSocketConnection.Effect], of exchange: ExchangeID, into effects: inout [OriginEffect]
    ) {
        for outcome in outcomes {
            switch outcome {
            case .received(.text(let text)): self.understand(text, on: exchange, into: &effects)
            case .received, .failed, .ended: break
            case .send(let frame): self.send(frame, to: exchange, into: &effects)
            case .closeSocket: self.closeSocket(exchange, into: &effects)
            }
        }
        if let due = self.sockets.update(exchange, { $0.due }) ?? nil {
            self.deadlines.add(.socket(exchange), at: due)
        }
    }

    /// A message that is none of the contract has no effect.
    private mutating func understand(
        _ text: String, on exchange: ExchangeID, into effects: inout [OriginEffect]
    ) {
        guard let socket = self.sockets[exchange] else { return }
        switch SocketMessage(Array(text.utf8))?.kind {
        case .ready:
            guard socket.isOpening else { return }
            self.startFollowing(exchange, isReady: true, into: &effects)
        case .cancel: self.cancel(socket.facts, into: &effects)
        case .cancelBatch:
            self.send(.batchCanceling, JSON.object { _ in }, of: socket.facts, to: exchange, into: &effects)
            self.cancel(socket.facts, into: &effects)
        case .ping:
            self.send(.pong, self.times, of: socket.facts, to: exchange, into: &effects)
        case .pong, .readyAck, .jobStarted, .jobProgress, .jobComplete, .error, .reconnected, .batchInit,
            .batchProgress, .batchComplete, .batchCanceling, nil:
            break
        }
    }

    private mutating func cancel(_ facts: Job.Facts, into effects: inout [OriginEffect]) {
        guard self.jobs.with(facts.key, { $0.phase == .running }) == true else { return }
        effects.append(.observe(self.payload(facts.owner, .canceled(job: facts.id))))
        self.end(facts, .canceled, into: &effects)
        self.noteServed(facts.key)
    }

    // MARK: Following

    /// The client is ready, or has not been in time: from now on it gets what happens to the job.
    private mutating func startFollowing(
        _ exchange: ExchangeID, isReady: Bool, into effects: inout [OriginEffect]
    ) {
        self.sockets.update(exchange) { $0.phase = .following }
        guard let socket = self.sockets[exchange] else { return }
        let (facts, now) = (socket.facts, self.now)
        if isReady { self.send(.readyAck, self.times, of: facts, to: exchange, into: &effects) }
        let opened = self.jobs.update(facts.key) { job in
            job.streams.append(exchange)
            return (job.log.replay(after: nil, at: now), job.phase != .running, job.log.count)
        }
        guard let (replay, isOver, events) = opened else {
            self.endSocket(exchange, WebSocketClose(.normal), at: now)
            return
        }
        self.addStream(socket.context, facts, eventsKnown: events, isSocket: true)
        if socket.isReturn, !isOver {
            self.writeReconnected(to: exchange, facts, into: &effects)
        } else {
            for entry in replay.entries {
                self.write(entry, to: exchange, facts, replayed: true, into: &effects)
            }
        }
        if isOver {
            self.endStream(exchange, facts, lingering: true, into: &effects)
        } else {
            self.applyFaults(of: exchange, into: &effects)
        }
    }

    /// The state of a job. It is in no log.
    private mutating func writeReconnected(
        to exchange: ExchangeID, _ facts: Job.Facts, into effects: inout [OriginEffect]
    ) {
        let (wall, now) = (self.wall, self.now)
        let found = self.jobs.update(facts.key) { job in
            (job.status(first: .initialized), job.step, job.log.mint(wall: wall), job.log.latest)
        }
        guard let (status, step, milliseconds, latest) = found else { return }
        let progress = facts.script.progress(at: max(0, step - 1))
        let data = JSON.object { writer in
            writer.member("jobId", facts.id)
            writer.member("lastUpdate", latest.map(\.milliseconds) ?? wall)
            writer.member("message", "The connection was restored.")
            progress.write(around: status, to: &writer)
        }
        let id = SocketMessage.Kind.reconnected.eventID(milliseconds)
        effects.append(
            .observe(
                self.payload(
                    facts.owner,
                    .eventWritten(job: facts.id, id: id, position: nil, kind: .progress, replayed: true))))
        let message = SocketMessage(.reconnected, jobId: facts.id, timestamp: milliseconds, payload: data)
        let mark = StreamPieceKind.event(position: 0, kind: .progress, replayed: true, emitted: now)
        self.send(Self.frame(message, facts), mark, to: exchange, into: &effects)
    }

    // MARK: Sending

    func isSocket(_ exchange: ExchangeID) -> Bool {
        !self.sockets.isEmpty && self.sockets.with(exchange) { _ in true } == true
    }

    /// An event in the form of the transport of a stream.
    mutating func bytes(
        of entry: EventLog.Entry, _ facts: Job.Facts, to exchange: ExchangeID,
        into effects: inout [OriginEffect]
    ) -> [UInt8] {
        guard self.isSocket(exchange) else { return entry.bytes }
        let kind = SocketMessage.Kind(entry.kind, isFirst: entry.form.idSuffix == V2EventName.initialSuffix)
        let shape = self.faults.frameShape(on: exchange, at: self.now, into: &effects)
        return Self.frame(
            SocketMessage(kind, jobId: facts.id, timestamp: entry.milliseconds, payload: entry.data), facts,
            as: shape)
    }

    /// An event that is in no log, with any name; nil for a stream of events.
    func message(
        _ name: String, milliseconds: Int64?, data: [UInt8], _ facts: Job.Facts, to exchange: ExchangeID
    ) -> [UInt8]? {
        guard self.isSocket(exchange) else { return nil }
        let type =
            facts.journey.kind(ofEvent: name).map { SocketMessage.Kind($0, isFirst: false).rawValue } ?? name
        return Self.frame(
            SocketMessage(type: type, jobId: facts.id, timestamp: milliseconds ?? self.wall, payload: data),
            facts)
    }

    private static func frame(
        _ message: SocketMessage, _ facts: Job.Facts, as shape: FrameShape? = nil
    ) -> [UInt8] {
        SocketFrames.bytes(message.bytes(pipeline: facts.journey.pipeline), as: shape)
    }

    /// `{timestamp, type}` of now.
    private var times: [UInt8] { JSON.object { $0.member("timestamp", self.wall) } }

    /// A message that is no event of the job.
    private mutating func send(
        _ kind: SocketMessage.Kind, _ payload: [UInt8], of facts: Job.Facts, to exchange: ExchangeID,
        into effects: inout [OriginEffect]
    ) {
        let message = SocketMessage(kind, jobId: facts.id, timestamp: self.wall, payload: payload)
        self.send(Self.frame(message, facts), .extra, to: exchange, into: &effects)
    }

    private mutating func send(
        _ frame: WebSocketFrame, to exchange: ExchangeID, into effects: inout [OriginEffect]
    ) {
        let bytes = ByteBuilder.bytes { WebSocketWriter.frame(frame, into: &$0) }
        self.send(bytes, .extra, to: exchange, into: &effects)
    }

    /// A ping on a WebSocket; nil for a stream of events.
    func socketPing(_ facts: Job.Facts, to exchange: ExchangeID) -> [UInt8]? {
        guard self.isSocket(exchange) else { return nil }
        return Self.frame(
            SocketMessage(.ping, jobId: facts.id, timestamp: self.wall, payload: self.times), facts)
    }

    // MARK: Ends

    /// Closes it then, by a handshake. Its stream is over.
    mutating func endSocket(_ exchange: ExchangeID, _ close: WebSocketClose, at moment: Instant) {
        self.sockets.update(exchange) { $0.phase = .ending(close, at: moment) }
        self.deadlines.add(.socket(exchange), at: moment)
    }

    mutating func socketDue(_ exchange: ExchangeID, into effects: inout [OriginEffect]) {
        let now = self.now
        guard let phase = self.sockets.update(exchange, { $0.phase }) else { return }
        var outcomes: [WebSocketConnection.Effect] = []
        switch phase {
        case .opening: self.startFollowing(exchange, isReady: false, into: &effects)
        case .following: self.sockets.update(exchange) { $0.connection.timePassed(at: now, into: &outcomes) }
        case .ending(let close, _):
            self.observeEnd(of: exchange, byPeer: false, into: &effects)
            self.sockets.update(exchange) { socket in
                if socket.connection.isOpen {
                    socket.connection.closed(by: close, at: now, into: &outcomes)
                } else {
                    socket.connection.timePassed(at: now, into: &outcomes)
                }
            }
        }
        self.follow(outcomes, of: exchange, into: &effects)
    }

    private mutating func closeSocket(_ exchange: ExchangeID, into effects: inout [OriginEffect]) {
        effects.append(.endStream(exchange))
        self.forgetSocket(exchange, into: &effects)
    }

    /// The connection is over.
    ///
    /// - Returns: Whether it was a WebSocket.
    @discardableResult
    mutating func forgetSocket(_ exchange: ExchangeID, into effects: inout [OriginEffect]) -> Bool {
        guard !self.sockets.isEmpty, let socket = self.sockets[exchange] else { return false }
        self.observeEnd(of: exchange, byPeer: true, into: &effects)
        self.sockets[exchange] = nil
        let now = self.now
        self.jobs.update(socket.facts.key) { $0.socketUse.lost(at: now) }
        if let stream = self.streams[exchange] { self.forget(exchange, stream) }
        return true
    }

    /// The stream is over: by our close frame, or by what the peer did before it.
    private mutating func observeEnd(
        of exchange: ExchangeID, byPeer: Bool, into effects: inout [OriginEffect]
    ) {
        let found = self.sockets.update(exchange) { socket in
            defer { socket.isEndSeen = true }
            return socket.isEndSeen ? nil : (socket.facts, socket.context.caller.attempt)
        }
        guard let (facts, attempt) = found ?? nil else { return }
        let ended = BackendObservation.streamEnded(job: facts.id, attempt: attempt, byPeer: byPeer)
        effects.append(.observe(self.payload(facts.owner, ended)))
    }
}
