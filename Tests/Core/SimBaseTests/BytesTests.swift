import SimBase
import SimTestSupport
import Testing

/// What is done eight bytes at a time must be what it is byte by byte.
@Suite struct BytesTests {
    private static let random = KeyedRandom(seed: 31)

    /// Bytes of few values, so that every mark is met next to its neighbours.
    private static func bytes(_ round: UInt64) -> [UInt8] {
        let values: [UInt8] = [
            0, 0x09, 0x0A, 0x0B, 0x0D, 0x1F, 0x20, 0x22, 0x5C, 0x61, 0x7F, 0x80, 0x8A, 0xFF,
        ]
        return (0..<Self.random.below(40, .test, round, 0)).map {
            values[Int(Self.random.below(UInt64(values.count), .test, round, $0 + 1))]
        }
    }

    @Test func `the first marked byte is found from every offset of every slice`() {
        for round in 0..<400 as Range<UInt64> {
            let bytes = Self.bytes(round)
            for start in 0...bytes.count {
                let lines = bytes.offset(from: start) { $0.equal(0x0A) | $0.equal(0x0D) }
                #expect(lines == bytes[start...].firstIndex { $0 == 0x0A || $0 == 0x0D } ?? bytes.count)
                let json = bytes[start...].offset(from: start) {
                    $0.less(0x20) | $0.equal(0x22) | $0.equal(0x5C)
                }
                #expect(json == bytes[start...].firstIndex { $0 < 0x20 || $0 == 0x22 || $0 == 0x5C })
                let low = bytes[start...].offset(from: start) { $0.less(128) }
                #expect(low == bytes[start...].firstIndex { $0 < 128 })
            }
        }
    }

    @Test func `a byte beyond ASCII is marked, wherever it stands`() {
        for round in 0..<200 as Range<UInt64> {
            let bytes = Self.bytes(round)
            #expect(bytes[...].offset(from: 0) { $0.beyondASCII } == bytes.firstIndex { $0 >= 0x80 })
        }
    }

    @Test func `a word of a few bytes has these and zeros, also at the end`() {
        for round in 0..<100 as Range<UInt64> {
            let bytes = Self.bytes(round)
            for start in 0...bytes.count {
                for count in 0...min(8, bytes.count - start) {
                    let word = bytes.word(at: start, count: count)
                    let expected = bytes[start..<(start + count)].reversed().reduce(0 as UInt64) {
                        $0 << 8 | UInt64($1)
                    }
                    #expect(word == expected)
                }
            }
        }
    }

    @Test func `words hold the bytes in their order, and what is left comes last`() {
        for round in 0..<200 as Range<UInt64> {
            let bytes = Self.bytes(round)
            for start in 0...min(3, bytes.count) {
                let slice = bytes[start...]
                var seen: [UInt8] = []
                var rest = slice.eachWord { word in
                    for shift in 0..<8 as Range<UInt64> {
                        seen.append(UInt8(truncatingIfNeeded: word >> (8 * shift)))
                    }
                }
                while seen.count < slice.count {
                    seen.append(UInt8(truncatingIfNeeded: rest))
                    rest >>= 8
                }
                #expect(seen == Array(slice))
                #expect(rest == 0)
            }
        }
    }

    @Test(arguments: ["", "a", "short", "exactly fifteen", "längere Texte liegen auf dem Heap, 猫 🌲"])
    func `a text is appended as its bytes, and its words are theirs`(text: String) {
        var bytes: [UInt8] = [1, 2]
        bytes.append(text: text)
        #expect(bytes == [1, 2] + Array(text.utf8))
        var (ofText, ofBytes): ([UInt64], [UInt64]) = ([], [])
        ofText.append(text.eachWord { ofText.append($0) })
        ofBytes.append(bytes[2...].eachWord { ofBytes.append($0) })
        #expect(ofText == ofBytes)
    }

    @Test(arguments: ["", "a", "short", "exactly fifteen", "längere Texte liegen auf dem Heap, 猫 🌲"])
    func `a text is found where it stands, and nowhere else`(text: String) {
        let bytes = [1, 2] + Array(text.utf8) + [3]
        for offset in 0...bytes.count {
            #expect(bytes.holds(text, at: offset) == bytes[offset...].starts(with: text.utf8))
        }
        for offset in 0..<text.utf8.count {
            var other = bytes
            other[2 + offset] ^= 0x40
            #expect(!other.holds(text, at: 2))
        }
        #expect(bytes[2...].dropLast().contains(0x61) == text.contains(byte: { $0.equal(0x61) }))
        #expect(!text.contains(byte: { $0.equal(3) }))
        for offset in 0..<max(0, text.utf8.count - 7) {
            var words: [UInt64] = []
            _ = Array(text.utf8)[offset..<(offset + 8)].eachWord { words.append($0) }
            #expect(words == [text.word(at: offset)])
        }
    }

    @Test func `what is taken is what stood there, and the other stands there then`() {
        var texts = (0..<5).map { "element \($0) of some length" }
        let taken = texts.indices.map { texts.take($0, leaving: "other") }
        #expect(taken == (0..<5).map { "element \($0) of some length" })
        #expect(texts == Array(repeating: "other", count: 5))
        texts.reserveCapacity(20)
        texts.clear()
        #expect(texts.isEmpty)
        #expect(texts.capacity >= 20)
        texts = ["one", "two"]
        texts.clear()
        #expect(texts.isEmpty)
    }
}
