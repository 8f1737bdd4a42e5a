import SimBase

/// A piece of an event stream that means something by itself, with the very bytes in which it came.
package struct SSEBlock: Hashable, Sendable {
    package var bytes: [UInt8]
    /// Nil for comments, `retry` and blank lines alone.
    package var event: SSEEvent?

    package init(bytes: [UInt8], event: SSEEvent?) {
        self.bytes = bytes
        self.event = event
    }
}

/// Splits an event stream into its blocks without losing a byte, for passing a stream on with some events
/// changed. All blocks together are always the received bytes.
///
/// A block ends with its blank line. Complete comment lines are a block as well, so that a heartbeat does not
/// wait for the next event. So is a part of an event that is too long to be read, which is passed on
/// unchanged.
package struct SSEBlockReader: Sendable {
    private enum Mode {
        case reading
        /// The block is too long and is skipped up to its blank line.
        case passing
    }

    private let bytesMax: Int
    private var mode = Mode.reading
    private var block: [UInt8] = []
    private var lineStart = 0
    /// Whether the line is empty, including its parts that were already passed on.
    private var isLineEmpty = true
    /// The last line ended in CR: an LF that comes next belongs to it.
    private var endedInCarriageReturn = false
    /// The block has ended with a CR, and its LF may still come.
    private var endsWithBlock = false
    private var hasOnlyComments = true

    package init(bytesMax: Int) {
        precondition(bytesMax > 0, "a reader that may keep nothing")
        self.bytesMax = bytesMax
    }

    package mutating func receive(_ bytes: [UInt8], into blocks: inout [SSEBlock]) {
        for byte in bytes {
            if self.endedInCarriageReturn {
                self.endedInCarriageReturn = false
                if byte == ASCII.lineFeed {
                    self.block.append(byte)
                    self.lineStart = self.block.count
                    if self.endsWithBlock { self.finishBlock(into: &blocks) }
                    continue
                }
                if self.endsWithBlock { self.finishBlock(into: &blocks) }
            }
            self.block.append(byte)
            if byte == ASCII.lineFeed || byte == ASCII.carriageReturn {
                self.endLine(byte, into: &blocks)
            } else {
                self.isLineEmpty = false
                if self.block.count >= self.bytesMax { self.mode = .passing }
            }
        }
        self.handOverWhatNeedNotWait(into: &blocks)
    }

    /// Returns the rest at the end of the stream: not an event, since its blank line never arrived.
    package mutating func takeRest() -> [UInt8] {
        defer { self = SSEBlockReader(bytesMax: self.bytesMax) }
        return self.block
    }

    private mutating func endLine(_ byte: UInt8, into blocks: inout [SSEBlock]) {
        let line = self.block[self.lineStart..<(self.block.count - 1)]
        self.endedInCarriageReturn = byte == ASCII.carriageReturn
        if let first = line.first, first != ASCII.colon { self.hasOnlyComments = false }
        self.lineStart = self.block.count
        guard self.isLineEmpty else {
            self.isLineEmpty = true
            return
        }
        if self.endedInCarriageReturn {
            self.endsWithBlock = true
        } else {
            self.finishBlock(into: &blocks)
        }
    }

    private mutating func handOverWhatNeedNotWait(into blocks: inout [SSEBlock]) {
        guard !self.block.isEmpty else { return }
        let isAtLineEnd = self.lineStart == self.block.count
        // A CR that ends a block is enough for every reader: its LF, if it comes, is a piece of its own.
        if self.endsWithBlock {
            self.finishBlock(into: &blocks)
            self.endedInCarriageReturn = true
        } else if self.mode == .passing || (isAtLineEnd && self.hasOnlyComments) {
            blocks.append(SSEBlock(bytes: self.block, event: nil))
            self.block = []
            self.lineStart = 0
        }
    }

    private mutating func finishBlock(into blocks: inout [SSEBlock]) {
        var event: SSEEvent?
        if self.mode == .reading, !self.hasOnlyComments {
            var reader = SSEReader(
                limits: SSEReader.Limits(
                    lineBytesMax: self.bytesMax, eventBytesMax: self.bytesMax, retryMax: .hours(1)))
            var items: [SSEItem] = []
            reader.receive(self.block, into: &items)
            for case .event(let found) in items { event = found }
        }
        blocks.append(SSEBlock(bytes: self.block, event: event))
        self.block = []
        self.lineStart = 0
        self.mode = .reading
        self.endedInCarriageReturn = false
        self.endsWithBlock = false
        self.hasOnlyComments = true
    }
}
