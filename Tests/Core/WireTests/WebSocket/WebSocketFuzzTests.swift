import SimBase
import SimTestSupport
import Testing

@testable import Wire

/// Damaged frames. Nothing traps, the cuts of the bytes do not show, and what a reader keeps has a bound.
@Suite struct WebSocketFuzzTests {
    private static let frames = Mutator(
        corpus: [
            bytes(WebSocketReaderTests.stream), bytes(WebSocketReaderTests.stream.map(\.masked)),
            bytes(WebSocketReaderTests.errors.flatMap(\.frames)),
        ],
        dictionary: ["\u{01}\u{01}a", "\u{00}\u{01}a", "\u{09}\u{00}", "B\u{FC}cher", "\u{7E}\u{01}\u{00}"])

    private static let limits = WebSocketReader.Limits(frameBytesMax: 150, messageBytesMax: 170)

    @Test(arguments: WebSocketRole.allCases)
    func `a connection of any bytes gives the same events or error`(role: WebSocketRole) {
        Fuzz.run("websocket-\(role)", quick: 1_000, report: { Issue.record("\($0)") }) { fuzz in
            let bytes = Self.frames.input(fuzz)
            let expected = seen([bytes], by: role, limits: Self.limits)
            try #require(expected.count <= bytes.count)
            for pieces in fuzz.cuts(of: bytes) {
                var reader = WebSocketReader(role: role, limits: Self.limits, acceptsBinary: true)
                var found: [WebSocketSeen] = []
                for (offset, piece) in pieces.enumerated() {
                    var events: [WebSocketEvent] = []
                    do throws(WebSocketError) {
                        try reader.receive(piece[...], into: &events)
                        found += events.map { .event($0) }
                    } catch { found += events.map { .event($0) } + [.failed(error)] }
                    // It takes its time to look.
                    guard pieces.count < 10 || offset % 61 == 0 else { continue }
                    try #require(
                        keptBytes(reader)
                            <= Self.limits.messageBytesMax + WebSocketOpcode.controlBytesMax)
                }
                try #require(found == expected)
            }
        }
    }

    @Test func `what the writer writes is what the reader reads, with pings between the fragments`() {
        let texts = Mutator(corpus: [Array("B\u{FC}cher \u{1F4DA}".utf8)], dictionary: ["\u{20AC}"])
        Fuzz.run("websocket-round-trip", quick: 800, report: { Issue.record("\($0)") }) { fuzz in
            let isClient = fuzz.below(2, 1, 0) == 0
            var frames: [WebSocketFrame] = []
            var expected: [WebSocketEvent] = []
            for message in 0..<UInt64(1 + fuzz.below(4, 2, 0)) {
                let drawn = FuzzCase(seed: fuzz.random.seed, number: fuzz.number &* 8 &+ message)
                let payload = texts.input(drawn)
                let text = String(validating: payload, as: UTF8.self)
                let parts = WebSocketFrame.fragments(
                    of: payload, text == nil ? .binary : .text,
                    bytes: 1 + fuzz.below(1 + payload.count, 3, message))
                for (offset, part) in parts.enumerated() {
                    if offset < 8, fuzz.below(2, 4 + message, UInt64(offset)) == 0 {
                        frames.append(WebSocketFrame(.ping, [UInt8(offset)]))
                        expected.append(.ping([UInt8(offset)]))
                    }
                    frames.append(part)
                }
                expected.append(text.map { .text($0) } ?? .binary(payload))
            }
            if isClient {
                for index in frames.indices {
                    frames[index].maskingKey = UInt32(fuzz.below(1 << 32, 9, UInt64(index)))
                }
            }
            for pieces in fuzz.cuts(of: bytes(frames)) {
                try #require(
                    seen(pieces, by: isClient ? .server : .client) == expected.map { .event($0) })
            }
        }
    }

    /// An owner that checks what a connection lets it do.
    private struct Owner {
        var connection: WebSocketConnection
        var now = Instant.zero
        var closes = 0
        var isOver = false

        mutating func step(_ choice: Int, _ piece: [UInt8]) throws {
            var effects: [WebSocketConnection.Effect] = []
            switch choice {
            case 0: self.connection.closed(by: WebSocketClose(.normal), at: self.now, into: &effects)
            case 1: self.connection.socketEnded(into: &effects)
            case 2, 3:
                self.now = self.now + .milliseconds(1_500)
                self.connection.timePassed(at: self.now, into: &effects)
            default: self.connection.received(piece[...], at: self.now, into: &effects)
            }
            for effect in effects {
                try #require(!self.isOver, "an effect after the end")
                switch effect {
                case .send(let frame) where frame.opcode == WebSocketOpcode.close.rawValue: self.closes += 1
                case .ended: self.isOver = true
                case .send, .received, .failed, .closeSocket: break
                }
            }
            try #require(self.closes <= 1 && self.connection.isOpen == (self.closes == 0 && !self.isOver))
            try #require((self.connection.deadline != nil) == (self.closes == 1 && !self.isOver))
            try #require(effects.contains(.closeSocket) == effects.contains { Self.isEnd($0) })
        }

        private static func isEnd(_ effect: WebSocketConnection.Effect) -> Bool {
            if case .ended = effect { true } else { false }
        }
    }

    @Test(arguments: WebSocketRole.allCases)
    func `a connection sends one close frame at most, and ends once, in any order of events`(
        role: WebSocketRole
    ) throws {
        Fuzz.run("websocket-order-\(role)", quick: 1_500, report: { Issue.record("\($0)") }) { fuzz in
            var owner = Owner(
                connection: WebSocketConnection(
                    role: role, limits: Self.limits, acceptsBinary: false, patience: .seconds(2)))
            let frames =
                role == .server ? WebSocketReaderTests.stream.map(\.masked) : WebSocketReaderTests.stream
            for step in 0..<UInt64(1 + fuzz.below(30, 1, 0)) {
                let piece = bytes(frames[fuzz.below(frames.count, 2, step)])
                let isCut = fuzz.below(8, 4, step) == 0
                try owner.step(fuzz.below(24, 3, step), isCut ? Array(piece.dropLast()) : piece)
            }
            owner.now = owner.now + .seconds(2)
            var effects: [WebSocketConnection.Effect] = []
            owner.connection.timePassed(at: owner.now, into: &effects)
            try #require(owner.connection.deadline == nil)
        }
    }
}
