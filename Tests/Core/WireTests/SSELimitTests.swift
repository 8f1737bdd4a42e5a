import SimBase
import SimTestSupport
import Testing
import Wire

@Suite struct SSELimitTests {
    static let small = SSEReader.Limits(lineBytesMax: 10, eventBytesMax: 12, retryMax: .seconds(60))

    static let cases: [(String, [SSEItem])] = [
        // Ten bytes are a line, eleven are not.
        ("data: 1234\n\n", [event("1234")]),
        ("data: 12345\n\n", [.overflow(.line)]),
        // The event is lost with its line, its id too, and reading goes on.
        (
            "id: 1\ndata: a\n\nid: 2\ndata: 12345\ndata: b\n\ndata: c\n\n",
            [event("a", id: "1"), .overflow(.line), event("c", lastID: "1")]
        ),
        // A comment is lost alone.
        ("data: a\n: 123456789\n\n", [.overflow(.line), event("a")]),
        // One report an event, however many lines are too long; comments are reported each.
        ("data: 12345\ndata: 123456\n\n", [.overflow(.line)]),
        (
            "data: 12345\n:1234567890\n:1234567890\n\n",
            [.overflow(.line), .overflow(.line), .overflow(.line)]
        ),
        // An overlong unknown field might have been any field.
        ("data: a\nunknown: 123\n\ndata: b\n\n", [.overflow(.line), event("b")]),
        // Twelve bytes of data with the line feeds between them are an event, thirteen are not.
        ("data: 1234\ndata: 1234\ndata: 1\ndata:\n\n", [event("1234\n1234\n1\n")]),
        ("data: 1234\ndata: 1234\ndata: 123\n\ndata: b\n\n", [.overflow(.event), event("b")]),
        (
            "data: 1234\ndata: 1234\ndata: 123\nid: 9\ndata: x\n\ndata: b\n\n",
            [.overflow(.event), event("b")]
        ),
        // What is not of the event goes on inside a lost one.
        ("data: 12345\nretry: 7\n: c\n\n", [.overflow(.line), .retry(.milliseconds(7)), .comment("c")]),
        ("data: 12345", [.overflow(.line)]),
        // Its type is known where it was named before.
        ("event:end\ndata: 12345\n\n", [.overflow(.line, type: "end")]),
        ("data: 12345\nevent:end\n\n", [.overflow(.line)]),
        ("retry: 999\r\nretry:60001\n", [.retry(.milliseconds(999)), .overflow(.line)]),
    ]

    @Test(arguments: cases)
    func `a limit yields one named item, in any pieces`(text: String, expected: [SSEItem]) {
        let bytes = Array(text.utf8)
        #expect(items([bytes], limits: Self.small) == expected)
        #expect(items(bytes.map { [$0] }, limits: Self.small) == expected)
        withEverySplit(of: bytes) { pieces in
            #expect(items(pieces, limits: Self.small) == expected)
        }
    }

    @Test func `a retry above its limit is shortened`() {
        let limits = SSEReader.Limits(lineBytesMax: 99, eventBytesMax: 99, retryMax: .seconds(60))
        #expect(items([Array("retry: 60001\n".utf8)], limits: limits) == [.retry(.seconds(60))])
        #expect(items([Array("retry: 60000\n".utf8)], limits: limits) == [.retry(.seconds(60))])
    }

    @Test func `a line of 1 MB and an id of 8 KB are read`() {
        let long = String(repeating: "0123456789abcdef", count: 65_536)
        let id = String(repeating: "i", count: 8_200)
        let bytes = Array("id: \(id)\ndata: \(long)\n\n".utf8)
        #expect(items([bytes]) == [event(long, id: id)])
        withPieces(of: bytes, size: 1_000) { #expect(items($0) == [event(long, id: id)]) }
    }

    @Test func `a line that never ends is reported once and costs no memory`() {
        var reader = SSEReader(limits: Self.small)
        var items: [SSEItem] = []
        let piece = [UInt8](repeating: 0x61, count: 64)
        for _ in 0..<1_000 { reader.receive(piece, into: &items) }
        #expect(items == [.overflow(.line)])
    }

    @Test func `100,000 events come out in order`() {
        var reader = SSEReader(limits: .standard)
        var seen = 0
        var items: [SSEItem] = []
        for block in 0..<100 {
            var bytes: [UInt8] = []
            for number in block * 1_000..<(block + 1) * 1_000 {
                SSEWriter.event(id: nil, type: "", data: String(number), into: &bytes)
            }
            reader.receive(bytes, into: &items)
            for item in items {
                if item == event(String(seen)) { seen += 1 }
            }
            items.removeAll(keepingCapacity: true)
        }
        #expect(seen == 100_000)
    }
}
