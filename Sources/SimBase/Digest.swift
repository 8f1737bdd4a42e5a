/// A 64-bit digest (FNV-1a over bytes, finished with a mix) that is equal in every process and on every machine.
///
/// Not for secrets: for comparing runs and for naming unknown callers.
package struct Digest: Hashable, Sendable {
    @usableFromInline var state: UInt64 = 0xCBF2_9CE4_8422_2325

    @inlinable package init() {}

    @inlinable package mutating func absorb(_ byte: UInt8) {
        self.state = (self.state ^ UInt64(byte)) &* 0x0000_0100_0000_01B3
    }

    @inlinable package mutating func absorb(_ bytes: some Sequence<UInt8>) {
        for byte in bytes { self.absorb(byte) }
    }

    /// The text's UTF-8.
    package mutating func absorb(_ text: String) {
        for byte in text.utf8 { self.absorb(byte) }
    }

    /// Little-endian, so that the value does not depend on the machine.
    @inlinable package mutating func absorb(_ word: UInt64) {
        for shift in stride(from: UInt64(0), to: 64, by: 8) {
            self.absorb(UInt8(truncatingIfNeeded: word >> shift))
        }
    }

    package var value: UInt64 {
        var z = self.state
        z = (z ^ (z >> 33)) &* 0xFF51_AFD7_ED55_8CCD
        return z ^ (z >> 33)
    }

    package static func of(_ text: String) -> UInt64 {
        var digest = Digest()
        digest.absorb(text)
        return digest.value
    }
}
