import SimBase

/// The subject of a journal line, read from its beginning: most lines are about scans that were settled
/// later, and need not be read completely.
struct JournalSubject {
    let device: DeviceNumber
    let scan: UInt32
    /// Whether the scan was completed.
    let isCompleted: Bool
    /// Whether it says what becomes of a book that is reviewed.
    let isReview: Bool

    private static let first = Array("{\"d\":".utf8)
    private static let second = Array(",\"scan\":".utf8)
    private static let third = Array(",\"".utf8)
    private static let review = Array("review\":".utf8)
    private static let completed = Array("settled\":\"completed\"}".utf8)

    /// Reads the subject; nil for a line in any other form than `StateJournal` writes. `JSONNode` may still
    /// read it.
    init?(_ line: ArraySlice<UInt8>) {
        var position = line.startIndex
        guard Self.take(Self.first, in: line, &position), let device = Self.number(line, &position),
            Self.take(Self.second, in: line, &position), let scan = Self.number(line, &position),
            Self.take(Self.third, in: line, &position), position < line.endIndex,
            line.last == UInt8(ascii: "}")
        else { return nil }
        self.device = DeviceNumber(device)
        self.scan = scan
        self.isCompleted =
            line.endIndex - position == Self.completed.count
            && Self.holds(line, Self.completed, at: position)
        self.isReview = Self.holds(line, Self.review, at: position)
    }

    private static func holds(_ line: ArraySlice<UInt8>, _ text: [UInt8], at position: Int) -> Bool {
        guard line.endIndex - position >= text.count else { return false }
        for offset in text.indices where line[position + offset] != text[offset] { return false }
        return true
    }

    private static func take(_ text: [UInt8], in line: ArraySlice<UInt8>, _ position: inout Int) -> Bool {
        guard Self.holds(line, text, at: position) else { return false }
        position += text.count
        return true
    }

    private static func number(_ line: ArraySlice<UInt8>, _ position: inout Int) -> UInt32? {
        var value: UInt64 = 0
        let start = position
        while position < line.endIndex, position - start < 11 {
            let digit = line[position] &- UInt8(ascii: "0")
            guard digit < 10 else { break }
            value = value * 10 + UInt64(digit)
            position += 1
        }
        return position > start ? UInt32(exactly: value) : nil
    }
}
