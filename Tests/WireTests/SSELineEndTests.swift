import SimTestSupport
import Testing
import Wire

/// Three line ends, six shapes of stream, three sizes of piece: 54 combinations, and pairs cut in two.
@Suite struct SSELineEndTests {
    static let shapes: [([String], [SSEItem])] = [
        (["data: one", "", ""], [event("one")]),
        (["data: one", "", "data: two", "data: three", "", ""], [event("one"), event("two\nthree")]),
        (["data:", "data: two", "data: three", "", ""], [event("\ntwo\nthree")]),
        (["data: one", "data:", "data: three", "", ""], [event("one\n\nthree")]),
        (["data: one", "", "", "data: two", "", ""], [event("one"), event("two")]),
        (["data: one", "", "", "", "data: two", "", ""], [event("one"), event("two")]),
    ]

    @Test(arguments: ["\n", "\r\n", "\r"], [1, 2, 1_000])
    func `every line end in pieces of every size gives the same events`(lineEnd: String, size: Int) {
        for (lines, expected) in Self.shapes {
            withPieces(of: Array(lines.joined(separator: lineEnd).utf8), size: size) { pieces in
                #expect(items(pieces) == expected)
            }
        }
    }

    @Test func `a line that ends in CR is complete before its LF comes`() {
        var reader = SSEReader(limits: .standard)
        var items: [SSEItem] = []
        reader.receive(Array("data: one\r\n\r".utf8), into: &items)
        #expect(items == [event("one")])
        reader.receive(Array("\ndata: two\r".utf8), into: &items)
        reader.receive(Array("\n\r\n".utf8), into: &items)
        #expect(items == [event("one"), event("two")])
    }

    @Test func `an empty piece between CR and LF changes nothing`() {
        #expect(
            items([Array("data: x\r".utf8), [], Array("\n".utf8), [], Array("data: y\n\n".utf8)])
                == [event("x\ny")])
    }

    @Test func `line ends may be mixed in one event`() {
        #expect(items("data:test\r\ndata\ndata:test\r\n\r") == [event("test\n\ntest")])
        #expect(items("data: a\n\rdata: b\n\n") == [event("a"), event("b")])
    }
}
