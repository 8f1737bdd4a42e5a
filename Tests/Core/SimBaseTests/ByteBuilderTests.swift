import SimBase
import SimTestSupport
import Testing

/// What is written into a draft must be what an array would hold.
@Suite struct ByteDraftTests {
    private static let random = KeyedRandom(seed: 41)

    @Test func `whatever is appended comes out, however often the room grows`() {
        for round in 0..<200 as Range<UInt64> {
            var draft = ByteBuilder(reserving: Int(Self.random.below(40, .test, round, 0)))
            var bytes: [UInt8] = []
            for step in 1..<30 as Range<UInt64> {
                let count = Int(Self.random.below(50, .test, round, step, 1))
                let piece = (0..<count).map { UInt8(truncatingIfNeeded: step &* 7 &+ UInt64($0)) }
                let number = Int64(bitPattern: Self.random.draw(.test, round, step, 2))
                let kind = Self.random.below(7, .test, round, step, 3)
                switch kind {
                case 0:
                    draft.append(UInt8(step))
                    bytes.append(UInt8(step))
                case 1:
                    draft.append(contentsOf: piece)
                    bytes += piece
                case 2:
                    draft.append(contentsOf: piece[(count / 2)...])
                    bytes += piece[(count / 2)...]
                case 3:
                    draft.append(literal: "a literal, größer als ein Wort")
                    bytes += Array("a literal, größer als ein Wort".utf8)
                case 4:
                    let text = String(repeating: "猫 ", count: count / 4)
                    draft.append(text: text)
                    bytes += Array(text.utf8)
                case 5:
                    Decimal.append(number, to: &draft)
                    bytes += Array(String(number).utf8)
                default:
                    var other = ByteBuilder(reserving: 1)
                    other.append(contentsOf: piece)
                    draft.append(contentsOf: other)
                    bytes += piece
                }
            }
            let (written, count) = (draft.bytes, draft.count)
            #expect(written == bytes)
            #expect(count == bytes.count)
            draft.shorten(to: count / 2)
            let short = draft.bytes
            #expect(short == Array(bytes.prefix(count / 2)))
        }
    }

    @Test func `the offset of a mark is that of the same bytes in an array`() {
        let text = "plain, and plain, and a \" and a \\ behind it"
        var draft = ByteBuilder(reserving: 4)
        draft.append(text: text)
        let bytes = Array(text.utf8)
        for start in 0...bytes.count {
            let offset = draft.offset(from: start) { $0.equal(0x22) | $0.equal(0x5C) }
            #expect(offset == bytes[start...].firstIndex { $0 == 0x22 || $0 == 0x5C })
        }
    }

    @Test func `as text it is the same, and what is no UTF-8 is repaired`() {
        var draft = ByteBuilder(reserving: 0)
        draft.append(text: "Bücher")
        let whole = draft.text
        #expect(whole == "Bücher")
        draft.append(0xFF)
        let repaired = draft.text
        #expect(repaired == "Bücher\u{FFFD}")
    }

    @Test(arguments: [0, 1, 1_023, 1_024, 1_025, 5_000])
    func `bytes and text of any length come out whole`(count: Int) {
        let text = String((0..<count).map { Character(Unicode.Scalar(UInt8(0x61 + $0 % 26))) })
        let bytes = ByteBuilder.bytes { draft in
            for byte in text.utf8 { draft.append(byte) }
        }
        #expect(bytes == Array(text.utf8))
        #expect(ByteBuilder.text { $0.append(text: text) } == text)
    }
}
