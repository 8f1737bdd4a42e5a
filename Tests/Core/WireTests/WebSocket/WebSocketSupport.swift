import SimBase

@testable import Wire

/// What a reader makes of a connection's bytes.
enum WebSocketSeen: Hashable {
    case event(WebSocketEvent)
    case failed(WebSocketError)
}

extension WebSocketReader.Limits {
    static let generous = Self(frameBytesMax: 1 << 20, messageBytesMax: 1 << 20)
}

/// Reads all pieces with a fresh reader.
func seen(
    _ pieces: [[UInt8]], by role: WebSocketRole, limits: WebSocketReader.Limits = .generous,
    acceptsBinary: Bool = true
) -> [WebSocketSeen] {
    var reader = WebSocketReader(role: role, limits: limits, acceptsBinary: acceptsBinary)
    var seen: [WebSocketSeen] = []
    for piece in pieces {
        var events: [WebSocketEvent] = []
        do throws(WebSocketError) {
            try reader.receive(piece[...], into: &events)
            seen += events.map { .event($0) }
        } catch {
            seen += events.map { .event($0) } + [.failed(error)]
        }
    }
    return seen
}

/// The frames as bytes, in order.
func bytes(_ frames: WebSocketFrame...) -> [UInt8] { bytes(frames) }

func bytes(_ frames: [WebSocketFrame]) -> [UInt8] {
    ByteBuilder.bytes { bytes in
        for frame in frames { WebSocketWriter.frame(frame, into: &bytes) }
    }
}

extension WebSocketFrame {
    /// The same frame with changes.
    func with(_ change: (inout WebSocketFrame) -> Void) -> WebSocketFrame {
        var frame = self
        change(&frame)
        return frame
    }

    /// The same frame as a client sends it.
    var masked: WebSocketFrame { self.with { $0.maskingKey = 0x37FA_213D } }
}
