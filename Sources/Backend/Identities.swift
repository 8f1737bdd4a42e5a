internal import SimBase

/// The 128 bits of a UUID (RFC 9562), for keys that cost no text.
struct UUIDBits: Hashable, Sendable {
    let high: UInt64
    let low: UInt64

    /// A version 4 UUID of 122 of the given bits.
    init(randomHigh: UInt64, randomLow: UInt64) {
        self.high = randomHigh & 0xFFFF_FFFF_FFFF_0FFF | 0x0000_0000_0000_4000
        self.low = randomLow & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000
    }

    /// Nil when the text is not 8-4-4-4-12 hexadecimal digits of either case.
    init?(_ text: String) {
        guard text.utf8.count == 36 else { return nil }
        let bytes = Array(text.utf8)
        var high: UInt64 = 0
        var low: UInt64 = 0
        for place in bytes.indices {
            if place == 8 || place == 13 || place == 18 || place == 23 {
                guard bytes[place] == UInt8(ascii: "-") else { return nil }
                continue
            }
            guard let digit = Hexadecimal.nibble(bytes[place]) else { return nil }
            if place < 18 { high = high << 4 | UInt64(digit) } else { low = low << 4 | UInt64(digit) }
        }
        self.high = high
        self.low = low
    }

    var isVersion4: Bool { self.high >> 12 & 0xF == 4 && self.low >> 62 == 0b10 }

    /// In lower case.
    var text: String {
        ByteDraft.text { text in
            Hexadecimal.append(self.high >> 32, digits: 8, to: &text)
            text.append(UInt8(ascii: "-"))
            Hexadecimal.append(self.high >> 16, digits: 4, to: &text)
            text.append(UInt8(ascii: "-"))
            Hexadecimal.append(self.high, digits: 4, to: &text)
            text.append(UInt8(ascii: "-"))
            Hexadecimal.append(self.low >> 48, digits: 4, to: &text)
            text.append(UInt8(ascii: "-"))
            Hexadecimal.append(self.low, digits: 12, to: &text)
        }
    }
}

/// A phone as the contract knows it: its `X-Device-ID`.
struct DeviceKey: Hashable, Sendable {
    let bits: UUIDBits

    /// Nil when the header is not a version 4 UUID. Case does not count (RFC 9562 section 4).
    init?(header: String) {
        guard let bits = UUIDBits(header), bits.isVersion4 else { return nil }
        self.bits = bits
    }
}

/// A job.
struct JobKey: Hashable, Sendable {
    let bits: UUIDBits

    init(_ bits: UUIDBits) { self.bits = bits }

    /// Nil when no job of ours can have this id. Job ids are opaque: the case counts.
    init?(jobID: String) {
        guard let bits = UUIDBits(jobID),
            !jobID.utf8.contains(where: { (UInt8(ascii: "A")...UInt8(ascii: "F")).contains($0) })
        else { return nil }
        self.bits = bits
    }

    var text: String { self.bits.text }
}
