import JSON
import SimBase
import Talaria
import Wire

// What the messages of a WebSocket show (Docs/contract.md section 3.4). A message about the job is judged as the event that an event
// stream would have.

extension TargetTrial {
    mutating func openSocket(_ id: UInt64, of job: String, at now: Instant) {
        guard let request = self.exchanges[id]?.request else { return }
        guard request.probe == nil || request.probe == .reconnect else { return }
        let hadSocket = self.jobs[job]?.hadSocket ?? false
        self.jobs.update(job) { $0.hadSocket = true }
        if !hadSocket { self.probeUsedToken(of: job, at: now) }
        var stream = TrialStream(opened: now)
        stream.socket = TrialSocket(opened: now, isReturn: request.isReturn && hadSocket)
        self.exchanges.update(id) { $0.stream = stream }
    }

    mutating func socketReceived(_ id: UInt64, _ bytes: [UInt8], at now: Instant) {
        if let job = self.exchanges[id]?.request.job {
            self.jobs.update(job) { $0.socketHeard = now }
        }
        var blocks: [WebSocketBlock] = []
        self.exchanges.update(id) { $0.stream?.socket?.reader.receive(bytes[...], into: &blocks) }
        for block in blocks {
            switch block.event {
            case .text(let text): self.messaged(Array(text.utf8), id, at: now)
            case .close(let close): self.judgeClose(close, id, at: now)
            case .binary, .ping, .pong, nil: break
            }
        }
    }

    private mutating func messaged(_ bytes: [UInt8], _ id: UInt64, at now: Instant) {
        guard let request = self.exchanges[id]?.request else { return }
        self.attempt(.socket, request, at: now)
        guard let node = JSONNode(bytes), let message = SocketMessage(bytes) else {
            return self.breaks(
                .socket, request, id, at: now, "a message is not a JSON object with a type")
        }
        guard let kind = message.kind else {
            return self.breaks(
                .socket, request, id, at: now,
                "a message has the type “\(message.type.bounded)”, which the contract does not have")
        }
        self.judgeEnvelope(message, node, request, id, at: now)
        self.judgeOrder(kind, node, request, id, at: now)
        if kind.eventName != nil, kind != .reconnected { self.judgeSequence(message, request, id, at: now) }
        // The envelope may name another job than the payload.
        self.judgeName(in: node, of: message.type, request, id, at: now)
        guard let name = kind.eventName else { return }
        let event = SSEEvent(
            type: name, bytes: message.eventData, id: message.eventID ?? "",
            hasOwnID: message.eventID != nil)
        self.streamed(event, id, at: now)
    }

    // MARK: The envelope

    private mutating func judgeEnvelope(
        _ message: SocketMessage, _ node: JSONNode, _ request: TrialRequest, _ id: UInt64, at now: Instant
    ) {
        let type = message.type.bounded
        func wrong(_ what: String, _ value: String?) -> String {
            "\(type) has \(value.map { "the \(what) “\($0.bounded)”" } ?? "no \(what)")"
        }
        var flaw: String?
        let (version, pipeline) = (node["version"]?.text, node["pipeline"]?.text)
        if message.jobId == nil { flaw = wrong("jobId", nil) }
        if !(version.map { SocketMessage.versions.contains($0) } ?? false) {
            flaw = flaw ?? wrong("version", version)
        }
        if pipeline != request.journey.pipeline { flaw = flaw ?? wrong("pipeline", pipeline) }
        if message.timestamp == nil { flaw = flaw ?? "\(type) has no timestamp in milliseconds" }
        if let flaw { self.breaks(.socket, request, id, at: now, flaw) }
        guard let time = message.timestamp else { return }
        self.attempt(.times, request, at: now)
        guard let difference = self.difference(of: time, request, at: now) else { return }
        self.breaks(.times, request, id, at: now, "the timestamp of \(type) is \(time), \(difference)")
    }

    // MARK: Order

    /// Messages come in the order in which they were made.
    private mutating func judgeSequence(
        _ message: SocketMessage, _ request: TrialRequest, _ id: UInt64, at now: Instant
    ) {
        guard self.rules.hasRisingIDs, let time = message.timestamp,
            self.difference(of: time, request, at: now) == nil
        else { return }
        let last = self.exchanges.update(id) { exchange -> Int64? in
            defer { exchange.stream?.socket?.lastTime = time }
            return exchange.stream?.socket?.lastTime
        }
        guard let last = last ?? nil, time < last else { return }
        self.breaks(
            .socket, request, id, at: now,
            "the timestamp of \(message.type.bounded) goes back from \(last) to \(time)")
    }

    /// A server that waits for `ready` in vain may begin without it.
    private mutating func judgeOrder(
        _ kind: SocketMessage.Kind, _ node: JSONNode, _ request: TrialRequest, _ id: UInt64, at now: Instant
    ) {
        guard let socket = self.exchanges[id]?.stream?.socket else { return }
        if kind == .readyAck { self.exchanges.update(id) { $0.stream?.socket?.isAcknowledged = true } }
        if !socket.isAcknowledged, kind != .readyAck, now - socket.opened < ProgressSocket.readyTime {
            self.breaks(
                .socket, request, id, at: now, "\(kind.rawValue) came before ready_ack")
        }
        guard kind.eventName != nil, let job = request.job else { return }
        self.exchanges.update(id) { $0.stream?.socket?.hasState = true }
        let isDone = (node["payload"]?["progress"]?.decimal ?? 0) > 0
        let hadProgress = self.jobs[job]?.hasProgress ?? false
        if isDone { self.jobs.update(job) { $0.hasProgress = true } }
        guard socket.isReturn, !socket.hasState, kind != .jobComplete, kind != .batchComplete, kind != .error
        else { return }
        if kind != .reconnected {
            self.breaks(
                .socket, request, id, at: now,
                "\(kind.rawValue) and not reconnected is the first message for a client that came back")
        } else if hadProgress, !isDone {
            self.breaks(
                .socket, request, id, at: now,
                "reconnected says that nothing is done of a job that has progressed")
        }
    }

    // MARK: Ends

    /// Codes that say that something went wrong (RFC 6455 section 7.4.1).
    private static let codesOfErrors: [WebSocketCloseCode] = [
        .protocolError, .unsupportedData, .invalidPayload, .messageTooBig, .internalError,
    ]

    /// A normal closure is the end of a job that has ended, and the end of one that has completed is no error.
    private mutating func judgeClose(_ close: WebSocketClose, _ id: UInt64, at now: Instant) {
        guard let exchange = self.exchanges[id] else { return }
        if exchange.request.probe == .reconnect { self.probes.cancel(id) }
        self.exchanges.update(id) { $0.stream?.socket?.isClosed = true }
        if [.normal, .noStatus].contains(close.code) { self.judgeEnd(exchange, id, at: now) }
        guard exchange.stream?.terminals ?? 0 > 0, let job = exchange.request.job,
            self.jobs[job]?.end?.0 == .completed, Self.codesOfErrors.contains(close.code)
        else { return }
        self.breaks(
            .socket, exchange.request, id, at: now,
            "the WebSocket was closed with \(close.code.rawValue) after its last message, job_complete")
    }

    /// A WebSocket that the trial ends: the target should have closed it.
    mutating func judgeOpen(_ id: UInt64, at now: Instant) {
        guard let exchange = self.exchanges[id], exchange.request.probe == .reconnect,
            let stream = exchange.stream, stream.terminals > 0, stream.socket?.isClosed == false
        else { return }
        self.breaks(
            .socket, exchange.request, id, at: now,
            "the WebSocket was still open \(milliseconds: Self.closeTime) ms after job_complete")
    }

    /// What a target is given for the close, which is due a second after the last message.
    static let closeTime = ProgressSocket.closeDelay + .seconds(10)

    // MARK: Returns

    /// A client that comes back in time opens another WebSocket with its token.
    mutating func judgeReturn(_ exchange: TrialExchange, _ id: UInt64, at now: Instant) {
        let request = exchange.request
        guard request.isSocket, request.isReturn, request.probe == nil || request.probe == .reconnect,
            let job = request.job, let known = self.jobs[job], known.isThere, known.hadSocket,
            known.token == request.token, let start = known.accepted, let heard = known.socketHeard,
            now - start < self.rules.tokenLifetime - .seconds(30),
            !ProgressSocket.isStateOver(lostAt: heard, at: exchange.sent + .seconds(5))
        else { return }
        self.breaks(
            .socket, request, id, at: now,
            "a client that came back \(milliseconds: exchange.sent - heard) ms after the last message was answered with 401"
        )
    }
}
