/// The bytes of one event as it is written to a stream, and the positions inside it at which a fault can cut. Which
/// event, `StreamCutter` decides.
struct EventBytes {
    private let bytes: [UInt8]

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// A position after the leading comment lines and before the end of the last line that is not empty; nil
    /// when there is none.
    func insideEvent(_ draw: UInt64) -> Int? {
        let start = self.afterComments
        let end = self.contentEnd
        guard start < end else { return nil }
        return start + 1 + Self.index(draw, below: end - start)
    }

    /// A position inside a drawn multi-byte sequence; nil when all is ASCII.
    func insideUTF8(_ draw: UInt64) -> Int? {
        var count = 0
        for (index, byte) in self.bytes.enumerated() where self.isSplit(at: index, byte) { count += 1 }
        guard count > 0 else { return nil }
        var left = Self.index(draw, below: count)
        for (index, byte) in self.bytes.enumerated() where self.isSplit(at: index, byte) {
            if left == 0 { return index }
            left -= 1
        }
        return nil
    }

    /// A position between the bytes of the two line ends that close the event; nil when it does not end in two.
    func insideLineEnd(_ draw: UInt64) -> Int? {
        let ends = self.bytes.count - self.contentEnd
        guard ends > 1 else { return nil }
        // Only the last two line ends: LF LF, CR CR or CR LF CR LF.
        let last = self.bytes.suffix(4).elementsEqual([0x0D, 0x0A, 0x0D, 0x0A]) ? 4 : 2
        let width = min(last, ends)
        return self.bytes.count - width + 1 + Self.index(draw, below: width - 1)
    }

    /// Whether a cut before this byte splits a sequence: it is a continuation (RFC 3629) that follows something.
    private func isSplit(at index: Int, _ byte: UInt8) -> Bool {
        index > 0 && byte & 0b1100_0000 == 0b1000_0000 && self.bytes[index - 1] >= 0b1000_0000
    }

    private var afterComments: Int {
        var start = 0
        while start < self.bytes.count, self.bytes[start] == UInt8(ascii: ":") {
            guard let end = self.bytes[start...].firstIndex(where: Self.isLineEnd) else { return start }
            start = end
            while start < self.bytes.count, Self.isLineEnd(self.bytes[start]) { start += 1 }
        }
        return start
    }

    private var contentEnd: Int {
        (self.bytes.lastIndex { !Self.isLineEnd($0) } ?? -1) + 1
    }

    private static func isLineEnd(_ byte: UInt8) -> Bool { byte == 0x0A || byte == 0x0D }

    private static func index(_ draw: UInt64, below bound: Int) -> Int {
        Int(draw.multipliedFullWidth(by: UInt64(bound)).high)
    }
}
