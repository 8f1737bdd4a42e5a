import SimBase

/// The bytes the formats of this module are made of, by name.
enum ASCII {
    @inline(__always) static var tab: UInt8 { 0x09 }
    @inline(__always) static var lineFeed: UInt8 { 0x0A }
    @inline(__always) static var carriageReturn: UInt8 { 0x0D }
    @inline(__always) static var space: UInt8 { 0x20 }
    @inline(__always) static var hyphen: UInt8 { 0x2D }
    @inline(__always) static var colon: UInt8 { 0x3A }

    /// The value of a decimal digit, or nil.
    static func digit(_ byte: UInt8) -> Int64? {
        guard byte >= 0x30, byte <= 0x39 else { return nil }
        return Int64(byte - 0x30)
    }

    /// A letter in lower case; any other byte as it is.
    @inline(__always) static func lowercased(_ byte: UInt8) -> UInt8 {
        byte >= 0x41 && byte <= 0x5A ? byte | 0x20 : byte
    }

    /// Whether two texts are the same but for the case of ASCII letters.
    static func equalIgnoringCase(_ left: some StringProtocol, _ right: some StringProtocol) -> Bool {
        left.utf8.count == right.utf8.count
            && left.utf8.elementsEqual(right.utf8) { Self.lowercased($0) == Self.lowercased($1) }
    }

    /// Returns whether two texts are equal except for case. Fast if they are identical or have different
    /// lengths.
    static func equalIgnoringCase(_ left: String, _ right: String) -> Bool {
        guard left.utf8.count == right.utf8.count else { return false }
        return left == right
            || left.utf8.elementsEqual(right.utf8) { Self.lowercased($0) == Self.lowercased($1) }
    }

    /// Returns the index of the next line feed.
    static func lineFeed(in bytes: ArraySlice<UInt8>, from start: Int) -> Int? {
        bytes.offset(from: start) { $0.equal(Self.lineFeed) }
    }

    /// Returns the index of the next line feed or carriage return.
    static func lineBreak(in bytes: ArraySlice<UInt8>, from start: Int) -> Int? {
        // One test covers both, and bytes that are rare in a line.
        var start = start
        while let offset = bytes.offset(from: start, { $0.less(Self.carriageReturn + 1) }) {
            if bytes[offset] == Self.lineFeed || bytes[offset] == Self.carriageReturn { return offset }
            start = offset + 1
        }
        return nil
    }

    /// The bytes that are not allowed in the value of a field (RFC 9110 section 5.5).
    static func unfitForValue(_ word: SWARWord) -> UInt64 {
        word.equal(Self.carriageReturn) | word.equal(Self.lineFeed) | word.equal(0)
    }

    /// Whether the byte is allowed in a token (RFC 9110 section 5.6.2).
    static func isToken(_ byte: UInt8) -> Bool {
        // A bit for each byte below 64, and one for each from there on.
        guard byte < 0x80 else { return false }
        let tokens: UInt64 = byte < 0x40 ? 0x03FF_6CFA_0000_0000 : 0x57FF_FFFF_C7FF_FFFE
        return tokens >> UInt64(byte & 0x3F) & 1 == 1
    }

    /// Whether all of it is a token, and there is any of it.
    static func isToken(_ bytes: ArraySlice<UInt8>) -> Bool {
        for byte in bytes where !Self.isToken(byte) { return false }
        return !bytes.isEmpty
    }

    /// The text without spaces and tabs at its ends.
    static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var (start, end) = (bytes.startIndex, bytes.endIndex)
        while start < end, bytes[start] == Self.space || bytes[start] == Self.tab { start += 1 }
        while start < end, bytes[end - 1] == Self.space || bytes[end - 1] == Self.tab { end -= 1 }
        return bytes[start..<end]
    }

    static func text(_ bytes: ArraySlice<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }
}
