import SimBase
import Testing

@testable import Wire

struct SSEBlockTests {
    private static let stream =
        ": connection established\nretry: 5000\n\nid: 1-progress\nevent: progress\ndata: {\"a\":\ndata: 1}\n\n"
        + ": t=5\r\nid: 2-é\r\ndata: x\r\n\r\n\n: heartbeat\n\ndata\r\rdata: cut off"

    private static func events(_ blocks: [SSEBlock]) -> [SSEEvent] { blocks.compactMap(\.event) }

    @Test func `however the bytes are cut, none is lost and the events are the same`() {
        let bytes = Array(Self.stream.utf8)
        var reader = SSEReader(limits: .standard)
        var items: [SSEItem] = []
        reader.receive(bytes, into: &items)
        let expected = items.compactMap { if case .event(let event) = $0 { event } else { nil } }
        for first in 0...bytes.count {
            for second in stride(from: first, through: bytes.count, by: 7) {
                var blocks: [SSEBlock] = []
                var taker = SSEBlockReader(bytesMax: 1_000)
                for piece in [bytes[..<first], bytes[first..<second], bytes[second...]] {
                    taker.receive(Array(piece), into: &blocks)
                }
                let rest = taker.takeRest()
                #expect(blocks.flatMap(\.bytes) + rest == bytes)
                #expect(rest == Array("data: cut off".utf8))
                #expect(Self.events(blocks).map(\.data) == expected.map(\.data))
                #expect(Self.events(blocks).map(\.type) == expected.map(\.type))
            }
        }
    }

    @Test func `a comment does not wait for what follows it`() {
        var blocks: [SSEBlock] = []
        var taker = SSEBlockReader(bytesMax: 100)
        taker.receive(Array(": heartbeat\n".utf8), into: &blocks)
        #expect(blocks == [SSEBlock(bytes: Array(": heartbeat\n".utf8), event: nil)])
    }

    @Test func `an event that is too long passes unread and is not kept`() {
        var blocks: [SSEBlock] = []
        var taker = SSEBlockReader(bytesMax: 10)
        taker.receive(Array("data: 0123456789".utf8), into: &blocks)
        #expect(blocks.map(\.bytes.count) == [16])
        taker.receive(Array("\ndata: y\n\ndata: z\n\n".utf8), into: &blocks)
        #expect(Self.events(blocks).map(\.data) == ["z"])
        #expect(taker.takeRest() == [])
    }
}
