import SimBase

/// Checks UTF-8 that comes in any pieces (RFC 3629 section 4), so that an invalid byte is found when it
/// comes.
struct UTF8Check: Sendable {
    /// Bytes that the character still lacks.
    private var missing = 0
    /// What the next of them may be.
    private var next: ClosedRange<UInt8> = 0x80...0xBF

    /// Whether what has come ends with a whole character.
    var isBetweenCharacters: Bool { self.missing == 0 }

    /// Takes the next bytes; false at the first that no valid text has there.
    mutating func accepts(_ bytes: ArraySlice<UInt8>) -> Bool {
        var offset = bytes.startIndex
        while offset < bytes.endIndex {
            if self.missing == 0 {
                guard let lead = bytes.offset(from: offset, { $0.beyondASCII }) else { return true }
                offset = lead
            }
            guard self.accepts(bytes[offset]) else { return false }
            offset += 1
        }
        return true
    }

    private mutating func accepts(_ byte: UInt8) -> Bool {
        if self.missing > 0 {
            guard self.next.contains(byte) else { return false }
            self.missing -= 1
            self.next = 0x80...0xBF
            return true
        }
        switch byte {
        case 0xC2...0xDF: self.missing = 1
        case 0xE0...0xEF: self.missing = 2
        case 0xF0...0xF4: self.missing = 3
        default: return false
        }
        switch byte {
        // Longer than needed.
        case 0xE0: self.next = 0xA0...0xBF
        case 0xF0: self.next = 0x90...0xBF
        // Surrogates.
        case 0xED: self.next = 0x80...0x9F
        // Above U+10FFFF.
        case 0xF4: self.next = 0x80...0x8F
        default: break
        }
        return true
    }
}
