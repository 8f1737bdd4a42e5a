import SimBase
import SimTestSupport
import Testing

@testable import Wire

@Suite struct WebSocketBlockTests {
    private static func blocks(_ pieces: [[UInt8]], bytesMax: Int = 200) -> [WebSocketBlock] {
        var reader = WebSocketBlockReader(bytesMax: bytesMax)
        var blocks: [WebSocketBlock] = []
        for piece in pieces { reader.receive(piece[...], into: &blocks) }
        let rest = reader.takeRest()
        return blocks + (rest.isEmpty ? [] : [WebSocketBlock(bytes: rest, event: nil)])
    }

    @Test func `a block is a message with what is between its frames, or a control frame`() {
        let parts = WebSocketFrame.fragments(of: Array("in three".utf8), .text, bytes: 3)
        let ping = WebSocketFrame(.ping, [7])
        let long = WebSocketFrame(.binary, [UInt8](repeating: 1, count: 150))
        let close = WebSocketFrame(WebSocketClose(.normal))
        let fragmented = bytes([parts[0], ping, parts[1], parts[2]])
        let whole = bytes([ping]) + fragmented + bytes([long, close])
        let expected = [
            WebSocketBlock(bytes: bytes([ping]), event: .ping([7])),
            WebSocketBlock(bytes: fragmented, event: .text("in three")),
            WebSocketBlock(bytes: bytes([long]), event: .binary(long.payload)),
            WebSocketBlock(bytes: bytes([close]), event: .close(WebSocketClose(.normal))),
        ]
        #expect(Self.blocks([whole]) == expected)
        #expect(Self.blocks(whole.map { [$0] }) == expected)
    }

    @Test func `what is not complete is the rest`() {
        let first = WebSocketFrame(text: "one")
        let part = WebSocketFrame.fragments(of: Array("two".utf8), .text, bytes: 2)[0]
        let blocks = Self.blocks([bytes([first, part]) + [0x89]])
        #expect(blocks.map(\.event) == [.text("one"), nil])
        #expect(blocks[1].bytes == bytes([part]) + [0x89])
    }

    @Test(arguments: [
        [WebSocketFrame(text: String(repeating: "x", count: 200))],
        WebSocketFrame.fragments(of: [UInt8](repeating: 0x61, count: 190), .text, bytes: 10),
        [WebSocketFrame(.text, [0xFF])], [WebSocketFrame(text: "masked").masked],
    ])
    func `what cannot be read passes at once, and so does what comes after it`(frames: [WebSocketFrame]) {
        let first = WebSocketFrame(text: "one")
        var reader = WebSocketBlockReader(bytesMax: 200)
        var blocks: [WebSocketBlock] = []
        reader.receive(bytes([first] + frames)[...], into: &blocks)
        #expect(blocks.map(\.event) == [.text("one"), nil])
        #expect(blocks.last?.bytes == bytes(frames))
        reader.receive(bytes([first]).prefix(1), into: &blocks)
        #expect(blocks.count == 3 && reader.takeRest().isEmpty)
    }

    @Test func `an announced length alone keeps nothing back`() {
        var frame = WebSocketFrame(.binary, [1, 2, 3])
        frame.length = .bits64(.max)
        #expect(Self.blocks([bytes([frame])]).map(\.event) == [nil])
    }

    @Test func `no byte is lost, and the cuts of the bytes show in no event`() {
        let frames = Mutator(
            corpus: [
                bytes(WebSocketReaderTests.stream), bytes(WebSocketReaderTests.errors.flatMap(\.frames)),
            ],
            dictionary: ["\u{01}\u{01}a", "\u{00}\u{01}a", "\u{09}\u{00}", "\u{7E}\u{01}\u{00}"])
        Fuzz.run("websocket-blocks", quick: 800, report: { Issue.record("\($0)") }) { fuzz in
            let bytes = frames.input(fuzz)
            let expected = Self.blocks([bytes]).compactMap(\.event)
            for pieces in fuzz.cuts(of: bytes) {
                let blocks = Self.blocks(pieces)
                try #require(blocks.flatMap(\.bytes) == bytes)
                try #require(blocks.compactMap(\.event) == expected)
                try #require(blocks.allSatisfy { $0.event == nil || $0.bytes.count <= 200 })
            }
        }
    }
}
