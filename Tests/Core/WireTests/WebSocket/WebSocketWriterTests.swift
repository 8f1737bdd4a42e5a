import SimBase
import Testing

@testable import Wire

@Suite struct WebSocketWriterTests {
    /// The examples of RFC 6455 section 5.7.
    static let examples: [(frames: [WebSocketFrame], bytes: [UInt8], seen: [WebSocketEvent])] = [
        (
            [WebSocketFrame(text: "Hello")], [0x81, 0x05, 0x48, 0x65, 0x6C, 0x6C, 0x6F], [.text("Hello")]
        ),
        (
            [WebSocketFrame(text: "Hello").masked],
            [0x81, 0x85, 0x37, 0xFA, 0x21, 0x3D, 0x7F, 0x9F, 0x4D, 0x51, 0x58], [.text("Hello")]
        ),
        (
            WebSocketFrame.fragments(of: Array("Hello".utf8), .text, bytes: 3),
            [0x01, 0x03, 0x48, 0x65, 0x6C, 0x80, 0x02, 0x6C, 0x6F], [.text("Hello")]
        ),
        (
            [WebSocketFrame(.ping, Array("Hello".utf8))], [0x89, 0x05, 0x48, 0x65, 0x6C, 0x6C, 0x6F],
            [.ping(Array("Hello".utf8))]
        ),
        (
            [WebSocketFrame(.pong, Array("Hello".utf8)).masked],
            [0x8A, 0x85, 0x37, 0xFA, 0x21, 0x3D, 0x7F, 0x9F, 0x4D, 0x51, 0x58], [.pong(Array("Hello".utf8))]
        ),
        (
            [WebSocketFrame(.binary, [UInt8](repeating: 7, count: 256))],
            [0x82, 0x7E, 0x01, 0x00] + [UInt8](repeating: 7, count: 256),
            [.binary([UInt8](repeating: 7, count: 256))]
        ),
        (
            [WebSocketFrame(.binary, [UInt8](repeating: 7, count: 65_536))],
            [0x82, 0x7F, 0, 0, 0, 0, 0, 1, 0, 0] + [UInt8](repeating: 7, count: 65_536),
            [.binary([UInt8](repeating: 7, count: 65_536))]
        ),
    ]

    @Test func `the examples of RFC 6455 section 5.7 are written and read byte for byte`() {
        for example in Self.examples {
            #expect(bytes(example.frames) == example.bytes)
            let role: WebSocketRole = example.frames[0].maskingKey == nil ? .client : .server
            #expect(seen([example.bytes], by: role) == example.seen.map { .event($0) })
        }
    }

    @Test(
        arguments: [
            (0, [0x00]), (125, [0x7D]), (126, [0x7E, 0x00, 0x7E]), (65_535, [0x7E, 0xFF, 0xFF]),
            (65_536, [0x7F, 0, 0, 0, 0, 0, 1, 0, 0]),
        ] as [(Int, [UInt8])])
    func `a length has its shortest form`(count: Int, form: [UInt8]) {
        let payload = [UInt8](repeating: 0x61, count: count)
        #expect(bytes(WebSocketFrame(.text, payload)) == [0x81] + form + payload)
    }

    @Test func `a close frame has its code and reason, and no body without a code`() {
        let close = WebSocketClose(.normal, reason: "é")
        #expect(bytes(WebSocketFrame(close)) == [0x88, 0x04, 0x03, 0xE8, 0xC3, 0xA9])
        #expect(bytes(WebSocketFrame(WebSocketClose(.noStatus))) == [0x88, 0x00])
    }

    @Test(arguments: [0, 1, 2, 3, 4, 5, 7, 8, 9, 31])
    func `a payload of any length is masked byte by byte`(count: Int) {
        let payload = (0..<count).map { UInt8(10 * $0 % 256) }
        let key: [UInt8] = [0x01, 0x23, 0x45, 0x67]
        let frame = WebSocketFrame(.binary, payload).with { $0.maskingKey = 0x0123_4567 }
        let masked = payload.enumerated().map { $1 ^ key[$0 % 4] }
        #expect(bytes(frame) == [0x82, 0x80 | UInt8(count)] + key + masked)
    }

    @Test func `a message is cut into fragments of a size`() {
        func parts(_ count: Int, by size: Int) -> [[UInt8]] {
            let payload = (0..<count).map { UInt8($0) }
            return WebSocketFrame.fragments(of: payload, .binary, bytes: size).map {
                [$0.opcode, $0.isFinal ? 1 : 0] + $0.payload
            }
        }
        #expect(parts(5, by: 2) == [[2, 0, 0, 1], [0, 0, 2, 3], [0, 1, 4]])
        #expect(parts(4, by: 2) == [[2, 0, 0, 1], [0, 1, 2, 3]])
        #expect(parts(1, by: .max) == [[2, 1, 0]])
        #expect(parts(0, by: 2) == [[2, 1]])
    }

    @Test func `wrong fields are written as they are`() {
        let text = WebSocketFrame(text: "a")
        #expect(bytes(text.with { $0.reservedBits = 0b100 }) == [0xC1, 0x01, 0x61])
        #expect(bytes(text.with { $0.reservedBits = 0b011 }) == [0xB1, 0x01, 0x61])
        #expect(bytes(text.with { $0.opcode = 0xF }) == [0x8F, 0x01, 0x61])
        #expect(bytes(text.with { $0.length = .bits16(5) }) == [0x81, 0x7E, 0x00, 0x05, 0x61])
        #expect(
            bytes(text.with { $0.length = .bits64(1 << 63) }) == [
                0x81, 0x7F, 0x80, 0, 0, 0, 0, 0, 0, 0, 0x61,
            ])
        #expect(
            bytes(text.masked.with { $0.appliedKey = 0x0100_0000 })
                == [0x81, 0x81, 0x37, 0xFA, 0x21, 0x3D, 0x60])
    }
}
