import SimBase
import Wire

// The bytes of a stream, beside those that the origin writes.

extension ServedExchange.Answer {
    /// Whether it is a stream whose body is sent in chunks.
    var isChunkedStream: Bool {
        switch self {
        case .streaming(.chunks, _): true
        case .streaming(.untilClose, _), .streaming(.frames, _), .pending, .held, .passing, .answered: false
        }
    }
}

extension ServedExchange.StreamFraming {
    /// What says when an event was passed to the link, before the event: a comment or, as a peer may send it at any time, a pong
    /// that answers no ping (RFC 6455 section 5.5.3).
    func stamp(_ nanoseconds: Int64, isReplayed: Bool) -> [UInt8] {
        return ByteBuilder.bytes { bytes in
            switch self {
            case .chunks, .untilClose:
                SSEWriter.comment("t", nanoseconds, isReplayed ? "replayed" : "", into: &bytes)
            case .frames:
                let text = "t=\(nanoseconds)" + (isReplayed ? " replayed" : "")
                WebSocketWriter.frame(WebSocketFrame(.pong, Array(text.utf8)), into: &bytes)
            }
        }
    }

    /// A piece with the line ends of the stream.
    func ending(_ piece: [UInt8]) -> [UInt8] {
        switch self {
        case .chunks(let lineEnd), .untilClose(let lineEnd): lineEnd.ending(piece)
        case .frames: piece
        }
    }
}
