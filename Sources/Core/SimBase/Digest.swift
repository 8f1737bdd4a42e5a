/// A 64-bit digest (FNV-1a over bytes, finished with a mix) that is equal in every process and on every machine.
///
/// Not for secrets: for comparing runs and for naming unknown callers.
public struct Digest: Hashable, Sendable {
    @usableFromInline var state: UInt64 = 0xCBF2_9CE4_8422_2325

    /// Creates the digest of no bytes.
    @inlinable public init() {}

    /// Absorbs another byte.
    @inlinable public mutating func absorb(_ byte: UInt8) {
        self.state = (self.state ^ UInt64(byte)) &* 0x0000_0100_0000_01B3
    }

    /// Absorbs more bytes.
    @inlinable public mutating func absorb(_ bytes: some Sequence<UInt8>) {
        for byte in bytes { self.absorb(byte) }
    }

    /// The text's UTF-8.
    @inlinable public mutating func absorb(_ text: String) {
        for byte in text.utf8 { self.absorb(byte) }
    }

    /// The text's UTF-8, eight bytes at a time: another digest than that of its bytes, in less time.
    @inlinable public mutating func absorbInWords(_ text: String) {
        let rest = text.eachWord { self.absorbWord($0) }
        let count = text.utf8.count
        self.absorbWord(UInt64(count) << UInt64(8 * (count % 8)) | rest)
    }

    /// Absorbs bytes word by word, with the same result as `absorb`.
    @inlinable public mutating func absorbInWords(_ bytes: [UInt8]) {
        let rest = bytes[...].eachWord { self.absorbWord($0) }
        self.absorbWord(UInt64(bytes.count) << UInt64(8 * (bytes.count % 8)) | rest)
    }

    @inlinable mutating func absorbWord(_ word: UInt64) {
        self.state = (self.state ^ word) &* 0x9E37_79B9_7F4A_7C15
        self.state ^= self.state >> 32
    }

    /// Little-endian, so that the value does not depend on the machine.
    @inlinable public mutating func absorb(_ word: UInt64) {
        for shift in stride(from: UInt64(0), to: 64, by: 8) {
            self.absorb(UInt8(truncatingIfNeeded: word >> shift))
        }
    }

    /// The digest of all absorbed bytes.
    @inlinable public var value: UInt64 {
        var z = self.state
        z = (z ^ (z >> 33)) &* 0xFF51_AFD7_ED55_8CCD
        return z ^ (z >> 33)
    }

    /// Returns the digest of a text.
    public static func of(_ text: String) -> UInt64 {
        var digest = Digest()
        digest.absorb(text)
        return digest.value
    }

    /// Returns a digest of a text, eight bytes at a time: another one than `of`, in less time.
    public static func inWords(of text: String) -> UInt64 {
        var digest = Digest()
        digest.absorbInWords(text)
        return digest.value
    }
}
