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
        var rest = line
        guard Self.take(Self.first, from: &rest), let device = Self.number(&rest),
            Self.take(Self.second, from: &rest), let scan = Self.number(&rest),
            Self.take(Self.third, from: &rest), rest.last == UInt8(ascii: "}")
        else { return nil }
        self.device = DeviceNumber(device)
        self.scan = scan
        self.isCompleted = rest.elementsEqual(Self.completed)
        self.isReview = rest.starts(with: Self.review)
    }

    private static func take(_ text: [UInt8], from rest: inout ArraySlice<UInt8>) -> Bool {
        guard rest.starts(with: text) else { return false }
        rest.removeFirst(text.count)
        return true
    }

    private static func number(_ rest: inout ArraySlice<UInt8>) -> UInt32? {
        var value: UInt64 = 0
        var digits = 0
        while let byte = rest.first, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte), digits < 11 {
            value = value * 10 + UInt64(byte - UInt8(ascii: "0"))
            digits += 1
            rest.removeFirst()
        }
        return digits > 0 ? UInt32(exactly: value) : nil
    }
}
