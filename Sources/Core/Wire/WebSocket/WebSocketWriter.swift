package import SimBase

/// Writes frames by appending to a buffer.
package enum WebSocketWriter {
    /// Appends a frame as its fields say (RFC 6455 section 5.2), whether they are allowed or not.
    package static func frame(_ frame: WebSocketFrame, into bytes: inout ByteBuilder) {
        precondition(frame.opcode < 16 && frame.reservedBits < 8, "a field with more bits than it has")
        bytes.append((frame.isFinal ? 0x80 : 0) | frame.reservedBits &<< 4 | frame.opcode)
        Self.length(of: frame, into: &bytes)
        guard let key = frame.maskingKey else {
            bytes.append(contentsOf: frame.payload)
            return
        }
        bytes.append(word: UInt64(key.byteSwapped), count: 4)
        WebSocketMask.append(frame.payload[...], key: frame.appliedKey ?? key, to: &bytes)
    }

    private static func length(of frame: WebSocketFrame, into bytes: inout ByteBuilder) {
        let mask: UInt8 = frame.maskingKey == nil ? 0 : 0x80
        let count = frame.payload.count
        switch frame.length {
        case .shortest where count <= 125: bytes.append(mask | UInt8(count))
        case .shortest where count <= 0xFFFF: Self.extended(UInt64(count), 2, mask | 126, into: &bytes)
        case .shortest: Self.extended(UInt64(count), 8, mask | 127, into: &bytes)
        case .bits16(let length): Self.extended(UInt64(length), 2, mask | 126, into: &bytes)
        case .bits64(let length): Self.extended(length, 8, mask | 127, into: &bytes)
        }
    }

    /// Appends a length of `count` bytes in network order, after the byte that announces it.
    private static func extended(
        _ length: UInt64, _ count: Int, _ announcement: UInt8, into bytes: inout ByteBuilder
    ) {
        bytes.append(announcement)
        bytes.append(word: length.byteSwapped >> (64 - UInt64(count) &* 8), count: count)
    }
}

/// The masking of payloads (RFC 6455 section 5.3), which is its own reverse.
enum WebSocketMask {
    /// Appends a piece of a payload with each byte changed by that of the key at its position, the first of
    /// the key for the first of the piece.
    static func append(
        _ piece: ArraySlice<UInt8>, key: UInt32, to bytes: inout some ByteSink & ~Copyable
    ) {
        let mask = UInt64(key.byteSwapped) &* 0x1_0000_0001
        let rest = piece.eachWord { bytes.append(word: $0 ^ mask, count: 8) }
        bytes.append(word: rest ^ mask, count: piece.count % 8)
    }

    /// The key for what follows so many bytes.
    static func advanced(_ key: UInt32, by count: Int) -> UInt32 {
        let bits = UInt32(count % 4) &* 8
        return key &<< bits | key &>> (32 - bits)
    }
}
