/// The side of a connection that an endpoint is.
package enum WebSocketRole: Hashable, Sendable, CaseIterable {
    case client
    case server
}

/// What a peer sent.
package enum WebSocketEvent: Hashable, Sendable {
    /// A whole message.
    case text(String)
    /// A whole message.
    case binary([UInt8])
    case ping([UInt8])
    case pong([UInt8])
    /// Nothing is read after it.
    case close(WebSocketClose)
}

/// Reads the frames of a peer (RFC 6455 section 5) from bytes in any pieces, without extensions.
package struct WebSocketReader: Sendable {
    package struct Limits: Hashable, Sendable {
        /// The longest payload of a frame with data.
        package var frameBytesMax: Int
        /// The longest message, over all its fragments. No more is kept.
        package var messageBytesMax: Int

        package init(frameBytesMax: Int, messageBytesMax: Int) {
            precondition(frameBytesMax >= 0 && messageBytesMax >= 0, "a limit below zero")
            self.frameBytesMax = frameBytesMax
            self.messageBytesMax = messageBytesMax
        }
    }

    /// A frame whose payload is being read.
    private struct Frame: Sendable {
        let opcode: WebSocketOpcode
        let isFinal: Bool
        let isMasked: Bool
        /// For the next byte of the payload; 0 in an unmasked frame.
        var key: UInt32 = 0
    }

    private enum State: Sendable {
        /// In the first two bytes of a frame. Leaves to any of the others.
        case opening
        /// In an extended length of `count` bytes. Leaves to `maskingKey`, `payload` or `ended`.
        case length(Frame, count: Int)
        /// Leaves to `payload`.
        case maskingKey(Frame, length: Int)
        /// Leaves to `opening` or `ended`.
        case payload(Frame, remaining: Int)
        /// After a close frame or an error. What follows is ignored.
        case ended
    }

    private let role: WebSocketRole
    private let limits: Limits
    private let acceptsBinary: Bool
    private var state = State.opening
    /// A number in network order, and how many of its bytes have come.
    private var number: (value: UInt64, count: Int) = (0, 0)
    /// The kind of the message that has begun: `text` or `binary`.
    private var kind: WebSocketOpcode?
    private var message: [UInt8] = []
    private var text = UTF8Check()
    /// The payload of a control frame.
    private var control: [UInt8] = []

    /// - Parameters:
    ///   - role: The endpoint that reads.
    ///   - acceptsBinary: Whether binary messages are read, or refused with 1003.
    package init(role: WebSocketRole, limits: Limits, acceptsBinary: Bool) {
        self.role = role
        self.limits = limits
        self.acceptsBinary = acceptsBinary
    }

    /// Reads on and appends what was understood to `events`. After an error, which does not undo the events
    /// before it, and after a close frame, nothing is read.
    package mutating func receive(
        _ bytes: ArraySlice<UInt8>, into events: inout [WebSocketEvent]
    ) throws(WebSocketError) {
        var position = bytes.startIndex
        do throws(WebSocketError) {
            while try self.step(bytes, &position, into: &events) {}
        } catch {
            self.state = .ended
            self.message = []
            throw error
        }
    }

    /// Takes what one state can take; false if it needs more bytes than there are.
    private mutating func step(
        _ bytes: ArraySlice<UInt8>, _ position: inout Int, into events: inout [WebSocketEvent]
    ) throws(WebSocketError) -> Bool {
        switch self.state {
        case .opening:
            guard let opening = self.number(2, bytes, &position) else { return false }
            try self.open(first: UInt8(opening >> 8), second: UInt8(opening & 0xFF))
        case .length(let frame, let count):
            guard let length = self.number(count, bytes, &position) else { return false }
            guard length > (count == 2 ? 125 : 0xFFFF) else { throw .lengthNotShortest }
            guard let length = Int(exactly: length) else { throw .lengthOutOfRange }
            try self.begin(frame, length: length)
        case .maskingKey(var frame, let length):
            guard let key = self.number(4, bytes, &position) else { return false }
            frame.key = UInt32(key)
            self.state = .payload(frame, remaining: length)
        case .payload(var frame, let remaining):
            let piece = bytes[position...].prefix(remaining)
            position = piece.endIndex
            try self.take(piece, of: frame)
            guard piece.count == remaining else {
                frame.key = WebSocketMask.advanced(frame.key, by: piece.count)
                self.state = .payload(frame, remaining: remaining - piece.count)
                return false
            }
            self.state = .opening
            try self.finish(frame, into: &events)
        case .ended: return false
        }
        return true
    }

    /// The next `count` bytes as a number; nil if they have not all come.
    private mutating func number(
        _ count: Int, _ bytes: ArraySlice<UInt8>, _ position: inout Int
    ) -> UInt64? {
        while self.number.count < count, position < bytes.endIndex {
            self.number.value = self.number.value &<< 8 | UInt64(bytes[position])
            self.number.count += 1
            position += 1
        }
        guard self.number.count == count else { return nil }
        defer { self.number = (0, 0) }
        return self.number.value
    }

    /// The first two bytes of a frame have come.
    private mutating func open(first: UInt8, second: UInt8) throws(WebSocketError) {
        guard first & 0x70 == 0 else { throw .reservedBits }
        guard let opcode = WebSocketOpcode(rawValue: first & 0x0F) else { throw .reservedOpcode }
        let frame = Frame(opcode: opcode, isFinal: first & 0x80 != 0, isMasked: second & 0x80 != 0)
        switch self.role {
        case .client: guard !frame.isMasked else { throw .masked }
        case .server: guard frame.isMasked else { throw .unmasked }
        }
        switch opcode {
        case .continuation: guard self.kind != nil else { throw .unexpectedContinuation }
        case .text, .binary:
            guard self.kind == nil else { throw .unfinishedMessage }
            guard opcode == .text || self.acceptsBinary else { throw .binaryMessage }
            self.kind = opcode
        case .close, .ping, .pong:
            guard frame.isFinal else { throw .fragmentedControl }
            guard second & 0x7F <= WebSocketOpcode.controlBytesMax else { throw .controlTooLong }
        }
        switch second & 0x7F {
        case 126: self.state = .length(frame, count: 2)
        case 127: self.state = .length(frame, count: 8)
        case let length: try self.begin(frame, length: Int(length))
        }
    }

    /// The length of a frame is known.
    private mutating func begin(_ frame: Frame, length: Int) throws(WebSocketError) {
        if !frame.opcode.isControl {
            guard length <= self.limits.frameBytesMax else { throw .frameTooLarge }
            guard length <= self.limits.messageBytesMax - self.message.count else { throw .messageTooLarge }
        }
        self.state = frame.isMasked ? .maskingKey(frame, length: length) : .payload(frame, remaining: length)
    }

    private mutating func take(_ piece: ArraySlice<UInt8>, of frame: Frame) throws(WebSocketError) {
        guard !frame.opcode.isControl else {
            WebSocketMask.append(piece, key: frame.key, to: &self.control)
            return
        }
        let start = self.message.count
        WebSocketMask.append(piece, key: frame.key, to: &self.message)
        guard self.kind == .text else { return }
        guard self.text.accepts(self.message[start...]) else { throw .invalidUTF8 }
    }

    /// The payload of a frame is complete.
    private mutating func finish(
        _ frame: Frame, into events: inout [WebSocketEvent]
    ) throws(WebSocketError) {
        var control: [UInt8] = []
        swap(&control, &self.control)
        switch frame.opcode {
        case .ping: events.append(.ping(control))
        case .pong: events.append(.pong(control))
        case .close:
            events.append(.close(try WebSocketClose(payload: control)))
            self.state = .ended
            self.message = []
        case .continuation, .text, .binary:
            guard frame.isFinal else { return }
            guard self.text.isBetweenCharacters else { throw .invalidUTF8 }
            var message: [UInt8] = []
            swap(&message, &self.message)
            let isText = self.kind == .text
            events.append(isText ? .text(String(decoding: message, as: UTF8.self)) : .binary(message))
            self.kind = nil
        }
    }
}
