internal import Faults
internal import OriginServer
internal import SimBase
internal import Talaria
internal import Wire

/// What a WebSocket has beside an event stream.
struct ProxiedSocket: Sendable {
    var reader = WebSocketBlockReader(bytesMax: Gateway.eventBytesMax)
    /// The upstream has sent a close frame.
    var isClosed = false
}

// WebSockets that pass (Docs/contract.md section 3.4). A message about the job is the event that an event stream would have: what
// faults do to events they do to messages.

extension Gateway {
    // MARK: What comes

    mutating func clientSent(_ id: ExchangeID, _ bytes: [UInt8], into effects: inout [OriginEffect]) {
        let isSwitched = self.relays[id].map { $0.phase == .switched }
        guard isSwitched ?? (self.streams[id]?.socket != nil) else { return }
        effects.append(.feedUpstream(id, bytes))
    }

    mutating func socketReceived(_ id: ExchangeID, _ bytes: [UInt8], into effects: inout [OriginEffect]) {
        var blocks: [WebSocketBlock] = []
        self.streams.update(id) { $0.socket?.reader.receive(bytes[...], into: &blocks) }
        for block in blocks {
            // A fault may have ended it by now.
            guard self.streams[id] != nil else { return }
            self.pass(block, id, into: &effects)
            self.applyFaults(of: id, into: &effects)
        }
    }

    private mutating func pass(
        _ block: WebSocketBlock, _ id: ExchangeID, into effects: inout [OriginEffect]
    ) {
        switch block.event {
        case .text(let text):
            guard let message = SocketMessage(Array(text.utf8)), let kind = message.kind else { break }
            if kind == .ping {
                self.passPing(SSEBlock(bytes: block.bytes, event: nil), id, into: &effects)
                return
            }
            guard let name = kind.eventName, let journey = self.streams[id]?.journey else { break }
            let event = message.event(of: kind)
            self.passEvent(
                SSEBlock(bytes: block.bytes, event: event), event, journey.kind(ofEvent: name), id,
                into: &effects)
            return
        case .ping, .pong:
            self.send(block.bytes, .ping, id, into: &effects)
            return
        case .close: self.streams.update(id) { $0.socket?.isClosed = true }
        case .binary, nil: break
        }
        self.send(block.bytes, .extra, id, into: &effects)
    }

    // MARK: What faults do

    /// A job that has failed for the phones says so again. Only the upstream could answer the handshake.
    mutating func repeatFailure(
        on id: ExchangeID, of job: String, into effects: inout [OriginEffect]
    ) -> Bool {
        guard case .failed(let eventID, let name, let data)? = self.jobs[job]?.state,
            let bytes = self.streams[id]?.bytes(id: eventID, type: name, data)
        else { return false }
        self.write(bytes, Self.mark(.error, replayed: true, at: self.now), id, into: &effects)
        self.closeStream(id, .internalError, into: &effects)
        return true
    }

    /// A fault closes a WebSocket before its next event.
    mutating func closesSocket(_ id: ExchangeID, into effects: inout [OriginEffect]) -> Bool {
        guard self.streams[id]?.socket != nil,
            let code = self.faults.socketClose(on: id, at: self.now, into: &effects)
        else { return false }
        self.closeStream(id, WebSocketCloseCode(rawValue: UInt16(code)), into: &effects)
        return true
    }

    /// An event in the frames that a fault gives it.
    mutating func reframed(
        _ bytes: [UInt8], _ id: ExchangeID, into effects: inout [OriginEffect]
    ) -> [UInt8] {
        guard self.streams[id]?.socket != nil,
            let shape = self.faults.frameShape(on: id, at: self.now, into: &effects)
        else { return bytes }
        var reader = WebSocketBlockReader(bytesMax: Self.eventBytesMax)
        var blocks: [WebSocketBlock] = []
        reader.receive(bytes[...], into: &blocks)
        guard case .text(let text)? = blocks.last?.event else { return bytes }
        return SocketFrames.bytes(Array(text.utf8), as: shape)
    }

    /// A fault ends a stream. A WebSocket gets a close frame, unless the upstream has sent one.
    mutating func closeStream(
        _ id: ExchangeID, _ code: WebSocketCloseCode, into effects: inout [OriginEffect]
    ) {
        if let socket = self.streams[id]?.socket, !socket.isClosed {
            let frame = ByteBuilder.bytes {
                WebSocketWriter.frame(WebSocketFrame(WebSocketClose(code)), into: &$0)
            }
            self.write(frame, .extra, id, into: &effects)
        }
        self.endStream(id, into: &effects)
    }
}

extension ProxiedStream {
    /// An event in the form of the stream. `id` begins with milliseconds since 1970, as those of the contract do.
    func bytes(id: String?, type: String, _ data: [UInt8]) -> [UInt8] {
        guard self.socket != nil else {
            var bytes: [UInt8] = []
            SSEWriter.event(id: id, type: type, data: data, into: &bytes)
            return bytes
        }
        let isMessage = SocketMessage.Kind(rawValue: type) != nil
        let kind = isMessage ? nil : self.journey.kind(ofEvent: type)
        let message = SocketMessage(
            type: kind.map { SocketMessage.Kind($0, isFirst: false).rawValue } ?? type, jobId: self.job,
            timestamp: id.flatMap { Int64($0.prefix { $0 != "-" }) }, payload: data)
        return SocketFrames.bytes(message.bytes(pipeline: self.journey.pipeline), as: nil)
    }
}

extension SocketMessage {
    /// The message as an event. It keeps its own type.
    fileprivate func event(of kind: Kind) -> SSEEvent {
        let id = self.timestamp.map { kind.eventID($0) }
        return SSEEvent(type: self.type, bytes: self.payload, id: id ?? "", hasOwnID: id != nil)
    }
}
