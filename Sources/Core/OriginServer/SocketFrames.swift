package import Faults
import SimBase
import Talaria
import Wire

/// The frames of a message of a server, by RFC 6455 or as a fault has them.
package enum SocketFrames {
    private static let fragmentBytes = 16

    /// - Parameter shape: Nil for one frame of text.
    package static func bytes(_ text: [UInt8], as shape: FrameShape?) -> [UInt8] {
        ByteBuilder.bytes { bytes in
            for frame in Self.frames(text, as: shape) { WebSocketWriter.frame(frame, into: &bytes) }
        }
    }

    private static func frames(_ text: [UInt8], as shape: FrameShape?) -> [WebSocketFrame] {
        var frame = WebSocketFrame(.text, text)
        switch shape {
        case nil: break
        case .fragmented:
            var frames = WebSocketFrame.fragments(of: text, .text, bytes: Self.fragmentBytes)
            frames.insert(WebSocketFrame(.ping, Array("between".utf8)), at: 1)
            return frames
        case .oversized: frame.length = .bits64(UInt64(ProgressSocket.serverBytesMax) + 1)
        case .masked: frame.maskingKey = 0x1234_5678
        case .reserved: frame.reservedBits = 4
        case .binary: frame.opcode = WebSocketOpcode.binary.rawValue
        case .notUTF8: frame.payload = text.dropLast() + [0xFF, UInt8(ascii: "}")]
        }
        return [frame]
    }
}
