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

    @Test(arguments: SSELineEnd.allCases) func `what is written with another line end says the same`(
        end: SSELineEnd
    ) {
        var lines: [UInt8] = []
        SSEWriter.comment("hello", into: &lines)
        SSEWriter.event(id: "7-a", type: "progress", data: "one", into: &lines)
        let written = end.ending(lines)
        let text = [SSELineEnd.lf: "\n", .crlf: "\r\n", .cr: "\r"][end] ?? ""
        #expect(
            String(decoding: written, as: UTF8.self)
                == [": hello", "id: 7-a", "event: progress", "data: one", "", ""].joined(separator: text))
        for size in [1, 3, 1_000] {
            withPieces(of: written, size: size) { #expect(items($0) == items([lines])) }
        }
    }

    @Test func `line ends may be mixed in one event`() {
        #expect(items("data:test\r\ndata\ndata:test\r\n\r") == [event("test\n\ntest")])
        #expect(items("data: a\n\rdata: b\n\n") == [event("a"), event("b")])
    }
}
