internal import OriginServer
internal import SimBase
internal import Talaria
internal import Wire

// WebSockets of a recording. What is played is what the server sent; pings and the close frame of the client are answered.
extension RecordingPlayer {
    /// How long the close frame of the client is awaited, if the recording does not end before.
    private static let patience = Interval.seconds(5)

    /// Why a request for a WebSocket opens none; nil for an opening handshake.
    static func refusal(ofSocket request: OriginRequest) -> Refusal? {
        switch request.handshake {
        case .success: nil
        case .failure(let error): Refusal(error)
        case nil: Refusal(WebSocketRequestError.notUpgrade)
        }
    }

    mutating func stepSocket(
        _ id: ExchangeID, _ what: Recording.Answer.Step.What, into effects: inout [OriginEffect]
    ) {
        guard let playing = self.playing[id], let handshake = playing.handshake else { return }
        switch what {
        case .head(let head):
            self.playing.update(id) { $0.connection = Self.connection }
            let subprotocol = handshake.subprotocol(beginning: ProgressSocket.subprotocolPrefix)
            effects.append(
                .openSocket(
                    id,
                    headers: handshake.answer(choosing: subprotocol?.name).fields
                        + playing.renamed(head).headers))
        case .body(let text):
            guard playing.connection?.isOpen == true else { return }
            effects.append(
                .stream(id, bytes: SocketFrames.bytes(playing.renamed(text), as: nil), .extra))
        case .close(let close):
            var outcomes: [WebSocketConnection.Effect] = []
            let now = self.now
            self.playing.update(id) { $0.connection?.closed(by: close, at: now, into: &outcomes) }
            self.follow(outcomes, of: id, into: &effects)
        case .end(.complete): self.endSocket(id, into: &effects)
        case .end(let end):
            guard let cut = end.cut else { return }
            self.playing[id] = nil
            effects.append(.breakOff(id, cut))
        }
    }

    private static var connection: WebSocketConnection {
        let limit = ProgressSocket.serverBytesMax
        return WebSocketConnection(
            role: .server, limits: WebSocketReader.Limits(frameBytesMax: limit, messageBytesMax: limit),
            acceptsBinary: true, patience: Self.patience)
    }

    mutating func received(_ id: ExchangeID, _ bytes: [UInt8], into effects: inout [OriginEffect]) {
        var outcomes: [WebSocketConnection.Effect] = []
        let now = self.now
        self.playing.update(id) { $0.connection?.received(bytes[...], at: now, into: &outcomes) }
        self.follow(outcomes, of: id, into: &effects)
    }

    private mutating func follow(
        _ outcomes: [WebSocketConnection.Effect], of id: ExchangeID, into effects: inout [OriginEffect]
    ) {
        for outcome in outcomes {
            switch outcome {
            case .send(let frame):
                let bytes = ByteBuilder.bytes { WebSocketWriter.frame(frame, into: &$0) }
                effects.append(.stream(id, bytes: bytes, .extra))
            case .closeSocket: self.endSocket(id, into: &effects)
            case .received, .failed, .ended: break
            }
        }
    }

    private mutating func endSocket(_ id: ExchangeID, into effects: inout [OriginEffect]) {
        guard self.playing[id] != nil else { return }
        self.playing[id] = nil
        effects.append(.endStream(id))
    }
}
