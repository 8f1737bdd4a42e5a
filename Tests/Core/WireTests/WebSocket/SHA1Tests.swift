import SimBase
import Testing

@testable import Wire

/// The examples of FIPS 180 and of its test vectors.
@Suite struct SHA1Tests {
    private func digest(_ message: [UInt8]) -> String {
        SHA1.digest(message).map { Hexadecimal.text(UInt64($0), digits: 2) }.joined()
    }

    @Test(arguments: [
        ("", "da39a3ee5e6b4b0d3255bfef95601890afd80709"),
        ("abc", "a9993e364706816aba3e25717850c26c9cd0d89d"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "84983e441c3bd26ebaae4aa1f95129e5e54670f1"
        ),
        (
            "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrs"
                + "mnopqrstnopqrstu", "a49b2446a02c645bf419f995b67091253a04a259"
        ),
    ])
    func `a text has its digest`(text: String, digest: String) {
        #expect(self.digest(Array(text.utf8)) == digest)
    }

    @Test func `100,000 letters have the digest that Python's hashlib has for them`() {
        #expect(
            self.digest(Array(repeating: 0x61, count: 100_000)) == "c4d4b30851182fc4eb8675494d42fd7f17e29c93")
    }

    /// Each of 201 messages has one byte more than the one before, and the digest of that before it.
    @Test func `messages of every length around a block have the digests that Python's hashlib has for them`()
    {
        var chained: [UInt8] = []
        for count in 0...200 {
            chained = SHA1.digest(chained + (0..<count).map { UInt8(truncatingIfNeeded: $0 * 7 + count) })
        }
        let digest = chained.map { Hexadecimal.text(UInt64($0), digits: 2) }.joined()
        #expect(digest == "2d416c57b75c228f5f7db33b6d1d9d345c12191c")
    }
}
