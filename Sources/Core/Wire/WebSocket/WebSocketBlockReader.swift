/// A piece of a WebSocket that means something by itself, with the very bytes in which it came.
package struct WebSocketBlock: Hashable, Sendable {
    package var bytes: [UInt8]
    /// Nil for what is not read.
    package var event: WebSocketEvent?
}

/// Splits what a server sends on a WebSocket without losing a byte, for passing it on with some messages changed. All blocks together
/// are always the received bytes.
///
/// A block is a message with all its frames and the control frames between them, or a control frame between messages. What comes
/// after a frame that cannot be read, is too long, or makes a message too long is a block as it comes.
package struct WebSocketBlockReader: Sendable {
    private let bytesMax: Int
    private var reader: WebSocketReader
    /// What has come of a block that is not complete.
    private var block: [UInt8] = []
    /// The bytes of it that are whole frames.
    private var framesEnd = 0
    private var isInsideMessage = false
    /// Nothing is read any more.
    private var isPassing = false

    /// - Parameter bytesMax: The longest block that is read. No more is kept.
    package init(bytesMax: Int) {
        precondition(bytesMax > 0, "a reader that may keep nothing")
        self.bytesMax = bytesMax
        self.reader = WebSocketReader(
            role: .client,
            limits: WebSocketReader.Limits(frameBytesMax: bytesMax, messageBytesMax: bytesMax),
            acceptsBinary: true)
    }

    package mutating func receive(_ bytes: ArraySlice<UInt8>, into blocks: inout [WebSocketBlock]) {
        self.block += bytes
        var start = 0
        while !self.isPassing, let end = self.endOfFrame, end <= self.block.count {
            guard end - start <= self.bytesMax else {
                self.isPassing = true
                break
            }
            let event = self.readFrame(to: end)
            guard !self.isPassing, !self.isInsideMessage else { continue }
            blocks.append(WebSocketBlock(bytes: Array(self.block[start..<end]), event: event))
            start = end
        }
        self.block.removeFirst(start)
        self.framesEnd -= start
        if self.block.count > self.bytesMax { self.isPassing = true }
        guard self.isPassing, !self.block.isEmpty else { return }
        blocks.append(WebSocketBlock(bytes: self.takeRest(), event: nil))
    }

    /// Takes what came behind the last block, at the end of the connection.
    package mutating func takeRest() -> [UInt8] {
        defer { (self.block, self.framesEnd) = ([], 0) }
        return self.block
    }

    /// Reads the frame that ends there, and returns what is complete with it.
    private mutating func readFrame(to end: Int) -> WebSocketEvent? {
        let first = self.block[self.framesEnd]
        var events: [WebSocketEvent] = []
        do throws(WebSocketError) {
            try self.reader.receive(self.block[self.framesEnd..<end], into: &events)
        } catch {
            self.isPassing = true
        }
        self.framesEnd = end
        // FIN of a frame with data (RFC 6455 section 5.4).
        if first & 0x08 == 0 { self.isInsideMessage = first & 0x80 == 0 }
        return events.last
    }

    /// Where the frame behind the whole ones ends; nil until its length has come (RFC 6455 section 5.2).
    private var endOfFrame: Int? {
        let head = self.block[self.framesEnd...].prefix(14)
        guard head.count >= 2 else { return nil }
        let start = head.startIndex
        let announced = Int(head[start + 1] & 0x7F)
        let lengthBytes = announced == 126 ? 2 : announced == 127 ? 8 : 0
        guard head.count >= 2 + lengthBytes else { return nil }
        let extended = head.dropFirst(2).prefix(lengthBytes).reduce(UInt64(0)) { $0 &<< 8 | UInt64($1) }
        let length = lengthBytes == 0 ? announced : Int(min(extended, UInt64(self.bytesMax) + 1))
        return start + 2 + lengthBytes + (head[start + 1] & 0x80 == 0 ? 0 : 4) + length
    }
}
