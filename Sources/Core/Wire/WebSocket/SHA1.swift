import SimBase

/// SHA-1 (FIPS 180-4 section 6.1). Only for the opening handshake of WebSocket, which does not depend on its
/// strength (RFC 6455 section 10.8).
enum SHA1 {
    /// The 20 bytes of the digest.
    static func digest(_ message: [UInt8]) -> [UInt8] {
        var padded = message
        padded.append(0x80)
        while padded.count % 64 != 56 { padded.append(0) }
        padded.append(word: (UInt64(message.count) &* 8).byteSwapped, count: 8)
        var state: [UInt32] = [0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476, 0xC3D2_E1F0]
        for start in stride(from: 0, to: padded.count, by: 64) {
            state = zip(state, Self.rounds(of: Self.schedule(padded, at: start), from: state)).map(&+)
        }
        var digest: [UInt8] = []
        for word in state { digest.append(word: UInt64(word.byteSwapped), count: 4) }
        return digest
    }

    /// The 80 words of a block of 64 bytes.
    private static func schedule(_ bytes: [UInt8], at start: Int) -> [UInt32] {
        var words = stride(from: start, to: start + 64, by: 4).map { offset in
            UInt32(truncatingIfNeeded: bytes.word(at: offset, count: 4)).byteSwapped
        }
        for index in 16..<80 {
            words.append(
                Self.rotated(
                    words[index - 3] ^ words[index - 8] ^ words[index - 14] ^ words[index - 16], by: 1))
        }
        return words
    }

    private static func rounds(of words: [UInt32], from state: [UInt32]) -> [UInt32] {
        var (a, b, c, d, e) = (state[0], state[1], state[2], state[3], state[4])
        for (index, word) in words.enumerated() {
            let (mixed, constant): (UInt32, UInt32) =
                switch index {
                case ..<20: (b & c | ~b & d, 0x5A82_7999)
                case ..<40: (b ^ c ^ d, 0x6ED9_EBA1)
                case ..<60: (b & c | b & d | c & d, 0x8F1B_BCDC)
                default: (b ^ c ^ d, 0xCA62_C1D6)
                }
            let next = Self.rotated(a, by: 5) &+ mixed &+ e &+ constant &+ word
            (a, b, c, d, e) = (next, a, Self.rotated(b, by: 30), c, d)
        }
        return [a, b, c, d, e]
    }

    private static func rotated(_ word: UInt32, by bits: UInt32) -> UInt32 {
        word &<< bits | word &>> (32 - bits)
    }
}
