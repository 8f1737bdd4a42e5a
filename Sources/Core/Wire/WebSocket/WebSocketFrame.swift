/// The defined kinds of frames (RFC 6455 section 11.8).
package enum WebSocketOpcode: UInt8, Hashable, Sendable, CaseIterable {
    case continuation = 0x0
    case text = 0x1
    case binary = 0x2
    case close = 0x8
    case ping = 0x9
    case pong = 0xA

    /// The most bytes that a control frame may carry (RFC 6455 section 5.5).
    package static let controlBytesMax = 125

    /// Whether the frame may be between the fragments of a message, and may not be fragmented (RFC 6455
    /// section 5.5).
    package var isControl: Bool { self.rawValue & 0x8 != 0 }
}

/// A frame as its fields (RFC 6455 section 5.2). Wrong ones can be written too, for faults.
package struct WebSocketFrame: Hashable, Sendable {
    /// How the length of the payload is stated.
    package enum Length: Hashable, Sendable {
        /// The number of bytes of the payload, in the shortest form.
        case shortest
        /// Any number, as 16 bits.
        case bits16(UInt16)
        /// Any number, as 64 bits.
        case bits64(UInt64)
    }

    /// FIN: whether it is the last frame of its message.
    package var isFinal = true
    /// RSV1 to RSV3 as a number below 8, RSV1 its highest bit. 0 unless an extension defines them.
    package var reservedBits: UInt8 = 0
    /// Below 16.
    package var opcode: UInt8
    package var length = Length.shortest
    /// The masking key that the frame states, in network order; nil in an unmasked frame. A client masks
    /// every frame, with a key that cannot be foreseen, and a server none (RFC 6455 section 5.3).
    package var maskingKey: UInt32?
    /// The key that the payload is masked with; nil if it is the one that the frame states.
    package var appliedKey: UInt32?
    /// The bytes before they are masked.
    package var payload: [UInt8]

    /// A whole unmasked message, or a control frame.
    package init(_ opcode: WebSocketOpcode, _ payload: [UInt8]) {
        self.opcode = opcode.rawValue
        self.payload = payload
    }

    /// A whole unmasked text message.
    package init(text: String) { self.init(.text, Array(text.utf8)) }

    /// An unmasked close frame; it has no body if the code is `noStatus` (RFC 6455 section 5.5.1).
    package init(_ close: WebSocketClose) { self.init(.close, close.payload) }

    /// An unmasked message in frames of `bytes` bytes, the last one shorter (RFC 6455 section 5.4). A text
    /// may be cut inside a character. An empty message is one frame.
    package static func fragments(
        of payload: [UInt8], _ opcode: WebSocketOpcode, bytes: Int
    ) -> [WebSocketFrame] {
        precondition(bytes > 0, "a message does not end in empty fragments")
        let starts = stride(from: 0, to: max(1, payload.count), by: bytes)
        return starts.map { start in
            let end = min(payload.count, start + bytes)
            var frame = WebSocketFrame(start == 0 ? opcode : .continuation, Array(payload[start..<end]))
            frame.isFinal = end == payload.count
            return frame
        }
    }
}
