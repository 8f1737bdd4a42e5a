package import SimBase

/// The 128 bits of a UUID (RFC 9562), for keys that cost no text.
package struct UUIDBits: Hashable, Sendable {
    @usableFromInline package let high: UInt64
    @usableFromInline package let low: UInt64

    @inlinable package static func == (left: UUIDBits, right: UUIDBits) -> Bool {
        left.high == right.high && left.low == right.low
    }

    /// A version 4 UUID of 122 of the given bits.
    package init(randomHigh: UInt64, randomLow: UInt64) {
        self.high = randomHigh & 0xFFFF_FFFF_FFFF_0FFF | 0x0000_0000_0000_4000
        self.low = randomLow & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000
    }

    /// Nil when the text is not 8-4-4-4-12 hexadecimal digits of either case.
    package init?(_ text: String) {
        guard text.utf8.count == 36 else { return nil }
        // The hyphens are the bytes 0 and 5 of the second word, and 2 and 7 of the third.
        let (second, third) = (text.word(at: 8), text.word(at: 16))
        guard second & 0x0000_FF00_0000_00FF == 0x0000_2D00_0000_002D,
            third & 0xFF00_0000_00FF_0000 == 0x2D00_0000_002D_0000,
            let a = Hexadecimal.value(digits: text.word(at: 0)),
            let b = Hexadecimal.value(
                digits: second >> 8 & 0xFFFF_FFFF | second >> 16 & 0xFFFF_0000_0000 | third << 48),
            let c = Hexadecimal.value(digits: third >> 24 & 0xFFFF_FFFF | text.word(at: 24) << 32),
            let d = Hexadecimal.value(digits: text.word(at: 28))
        else { return nil }
        self.high = UInt64(a) << 32 | UInt64(b)
        self.low = UInt64(c) << 32 | UInt64(d)
    }

    package var isVersion4: Bool { self.high >> 12 & 0xF == 4 && self.low >> 62 == 0b10 }

    /// The text in lower case.
    package var text: String {
        let hyphen = UInt64(UInt8(ascii: "-"))
        let b = Hexadecimal.digits(UInt32(truncatingIfNeeded: self.high))
        let c = Hexadecimal.digits(UInt32(self.low >> 32))
        let d = Hexadecimal.digits(UInt32(truncatingIfNeeded: self.low))
        return ByteBuilder.text { text in
            text.append(word: Hexadecimal.digits(UInt32(self.high >> 32)), count: 8)
            text.append(word: hyphen | (b & 0xFFFF_FFFF) << 8 | hyphen << 40 | (b >> 32) << 48, count: 8)
            text.append(word: b >> 48 | hyphen << 16 | (c & 0xFFFF_FFFF) << 24 | hyphen << 56, count: 8)
            text.append(word: c >> 32 | d << 32, count: 8)
            text.append(word: d >> 32, count: 4)
        }
    }
}

/// A phone as the contract knows it: its `X-Device-ID`.
package struct DeviceKey: Hashable, Sendable {
    package let bits: UUIDBits

    /// Nil when the header is not a version 4 UUID. Case does not count (RFC 9562 section 4).
    package init?(header: String) {
        guard let bits = UUIDBits(header), bits.isVersion4 else { return nil }
        self.bits = bits
    }

    /// A key for a caller without an id, which v2 does not ask for.
    package init(caller: DeviceNumber) {
        self.bits = UUIDBits(randomHigh: UInt64(caller.raw), randomLow: .max)
    }
}
