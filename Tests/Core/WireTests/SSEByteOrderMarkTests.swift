import Testing
import Wire

@Suite struct SSEByteOrderMarkTests {
    static let mark: [UInt8] = [0xEF, 0xBB, 0xBF]

    @Test(
        arguments: [
            ("data: x\n\n", [event("x")]),
            ("event: t\nid: 1\ndata: x\n\n", [event("x", type: "t", id: "1")]),
            ("data: x\n\ndata: y\n\n", [event("x"), event("y")]),
            ("data: x\ndata: y\n\n", [event("x\ny")]),
            (": c\ndata: x\n\n", [.comment("c"), event("x")]),
            ("data:\n\n", [event("")]),
            ("\ndata: x\n\n", [event("x")]),
        ] as [(String, [SSEItem])])
    func `one mark at the start is dropped, in any pieces`(text: String, expected: [SSEItem]) {
        let bytes = Array(text.utf8)
        #expect(items([bytes]) == expected)
        #expect(items([Self.mark + bytes]) == expected)
        #expect(items([Array(Self.mark[..<2]), Array(Self.mark[2...]) + bytes]) == expected)
        #expect(items(Self.mark.map { [$0] } + [bytes]) == expected)
        #expect(items([[], Self.mark, [], bytes]) == expected)
    }

    @Test func `a mark later on makes its field unknown`() {
        let late = Array("data: x\n\n".utf8) + Self.mark + Array("data: y\n\ndata: z\n\n".utf8)
        #expect(items([late]) == [event("x"), event("z")])
    }

    @Test func `of two marks the second makes its field unknown`() {
        let twice = Self.mark + Self.mark + Array("data: x\n\ndata: y\n\n".utf8)
        #expect(items([twice]) == [event("y")])
        #expect(items(twice.map { [$0] }) == [event("y")])
    }

    @Test(arguments: [1, 2])
    func `the start of a mark alone is part of its line`(length: Int) {
        let bytes = Array(Self.mark[..<length]) + Array("data: x\n\n: c\n".utf8)
        #expect(items([bytes]) == [.comment("c")])
        #expect(items(bytes.map { [$0] }) == [.comment("c")])
        #expect(items([Array(Self.mark[..<length]) + Array("\ndata: x\n\n".utf8)]) == [event("x")])
    }

    @Test func `data may hold a mark`() {
        #expect(items("data: \u{FEFF}x\n\n") == [event("\u{FEFF}x")])
    }

    @Test func `each connection may begin with a mark`() {
        var reader = SSEReader(limits: .standard)
        var items: [SSEItem] = []
        for _ in 0..<2 {
            reader.receive(Self.mark + Array("data: x\n\n".utf8), into: &items)
            reader.finish()
        }
        #expect(items == [event("x"), event("x")])
    }
}
