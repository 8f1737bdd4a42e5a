import SimBase
import Talaria
import Wire

/// The client's end of the WebSocket of a job (Docs/contract.md section 3.4): frames in, and events out as an event stream would
/// have them.
struct SocketReader: Sendable {
    /// What follows from bytes, beside their events.
    struct Output: Sendable {
        /// Frames to be sent, unmasked.
        var frames: [WebSocketFrame] = []
        /// How the server has closed the connection, or why this end does; nil while it is open.
        var ending: Ending?
    }

    enum Ending: Hashable, Sendable {
        case closed(WebSocketClose)
        case unreadable(WebSocketError)
    }

    private var connection = WebSocketConnection(
        role: .client,
        limits: WebSocketReader.Limits(
            frameBytesMax: ProgressSocket.serverBytesMax, messageBytesMax: ProgressSocket.serverBytesMax),
        acceptsBinary: false, patience: AppLimits.drainGrace)

    /// - Parameter wall: Milliseconds since 1970 by the phone's clock.
    mutating func received(
        _ bytes: ArraySlice<UInt8>, at now: Instant, wall: Int64, into items: inout [SSEItem],
        _ output: inout Output
    ) {
        var effects: [WebSocketConnection.Effect] = []
        self.connection.received(bytes, at: now, into: &effects)
        for effect in effects {
            switch effect {
            case .received(.text(let text)):
                Self.understand(Array(text.utf8), wall: wall, into: &items, &output)
            case .received(.pong(let payload)): items.append(.comment(SSEComment(bytes: payload[...])))
            case .received(.close(let close)): output.ending = .closed(close)
            case .received(.ping), .received(.binary), .closeSocket, .ended: break
            case .failed(let error): output.ending = .unreadable(error)
            case .send(let frame): output.frames.append(frame)
            }
        }
    }

    private static func understand(
        _ bytes: [UInt8], wall: Int64, into items: inout [SSEItem], _ output: inout Output
    ) {
        // What cannot be read has no name, like an event whose name is not known.
        guard let message = SocketMessage(bytes) else {
            items.append(.event(SSEEvent(type: "message", bytes: bytes, id: "", hasOwnID: false)))
            return
        }
        switch message.kind {
        case .ping: output.frames.append(Self.pong(to: message, wall: wall))
        case .readyAck, .pong, .batchCanceling, .ready, .cancel, .cancelBatch: break
        case .jobStarted, .jobProgress, .jobComplete, .error, .reconnected, .batchInit, .batchProgress,
            .batchComplete, nil:
            let id = message.eventID
            items.append(
                .event(
                    SSEEvent(
                        type: message.kind?.eventName ?? message.type, bytes: message.eventData, id: id ?? "",
                        hasOwnID: id != nil)))
        }
    }

    private static func pong(to ping: SocketMessage, wall: Int64) -> WebSocketFrame {
        let latency = ping.timestamp.map { wall.subtractingReportingOverflow($0).partialValue } ?? 0
        let payload = Array("{\"timestamp\":\(wall),\"latency\":\(max(0, latency))}".utf8)
        return Self.frame(SocketMessage(.pong, timestamp: wall, payload: payload))
    }

    /// The first message of a client.
    static func ready(wall: Int64) -> WebSocketFrame { Self.frame(SocketMessage(.ready, timestamp: wall)) }

    private static func frame(_ message: SocketMessage) -> WebSocketFrame {
        WebSocketFrame(.text, message.bytes(pipeline: nil))
    }
}
