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
        var high: UInt64 = 0
        var low: UInt64 = 0
        for (place, byte) in text.utf8.enumerated() {
            if place == 8 || place == 13 || place == 18 || place == 23 {
                guard byte == UInt8(ascii: "-") else { return nil }
                continue
            }
            let digit: UInt8
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = byte - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = byte - UInt8(ascii: "a") + 10
            case UInt8(ascii: "A")...UInt8(ascii: "F"): digit = byte - UInt8(ascii: "A") + 10
            default: return nil
            }
            if place < 18 { high = high << 4 | UInt64(digit) } else { low = low << 4 | UInt64(digit) }
        }
        self.high = high
        self.low = low
    }

    var isVersion4: Bool { self.high >> 12 & 0xF == 4 && self.low >> 62 == 0b10 }

    /// In lower case.
    var text: String {
        var text: [UInt8] = []
        text.reserveCapacity(36)
        for place in 0..<32 {
            if place == 8 || place == 12 || place == 16 || place == 20 { text.append(UInt8(ascii: "-")) }
            let word = place < 16 ? self.high : self.low
            let digit = UInt8(truncatingIfNeeded: word >> UInt64(60 - place % 16 * 4)) & 15
            text.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
        }
        return String(decoding: text, as: UTF8.self)
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
