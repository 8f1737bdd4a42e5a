import SimBase
import SimTestSupport
import Testing

@testable import Wire

@Suite struct WebSocketReaderTests {
    /// Every kind of frame, every form of a length, and control frames between fragments.
    static let stream: [WebSocketFrame] =
        [WebSocketFrame(text: "B\u{FC}cher \u{1F4DA}"), WebSocketFrame(.ping, [1, 2, 3])]
        + {
            var fragments = WebSocketFrame.fragments(of: Array("\u{1F4DA}\u{20AC}".utf8), .text, bytes: 3)
            fragments.insert(WebSocketFrame(.ping, []), at: 1)
            fragments.insert(WebSocketFrame(.pong, Array(repeating: 9, count: 125)), at: 3)
            return fragments
        }()
        + [
            WebSocketFrame(.binary, []), WebSocketFrame(.binary, Array(repeating: 5, count: 200)),
            WebSocketFrame(text: ""),
            WebSocketFrame(WebSocketClose(.init(rawValue: 4_001), reason: "b\u{FC}")),
            WebSocketFrame(text: "ignored"),
        ]

    static let expected: [WebSocketEvent] = [
        .text("B\u{FC}cher \u{1F4DA}"), .ping([1, 2, 3]), .ping([]), .pong(Array(repeating: 9, count: 125)),
        .text("\u{1F4DA}\u{20AC}"), .binary([]), .binary(Array(repeating: 5, count: 200)), .text(""),
        .close(WebSocketClose(.init(rawValue: 4_001), reason: "b\u{FC}")),
    ]

    @Test func `a stream cut anywhere gives the same events, masked or not`() throws {
        for (role, frames) in [(.client, Self.stream), (.server, Self.stream.map(\.masked))]
            as [(WebSocketRole, [WebSocketFrame])]
        {
            let expected = Self.expected.map { WebSocketSeen.event($0) }
            try withEverySplit(of: bytes(frames)) { try #require(seen($0, by: role) == expected) }
            for size in 1...9 {
                try withPieces(of: bytes(frames), size: size) { try #require(seen($0, by: role) == expected) }
            }
        }
    }

    @Test func `an event comes with the last byte of its frame`() {
        let whole = bytes(WebSocketFrame(.ping, []).masked)
        #expect(seen([whole.dropLast()].map { Array($0) }, by: .server) == [])
        #expect(seen([whole], by: .server) == [.event(.ping([]))])
    }

    /// Frames of a server, what they are, and the code that answers it.
    static let errors: [(what: String, frames: [WebSocketFrame], error: WebSocketError, code: UInt16)] = {
        let text = WebSocketFrame(text: "abc")
        let begun = WebSocketFrame(text: "a").with { $0.isFinal = false }
        return [
            ("RSV1", [text.with { $0.reservedBits = 4 }], .reservedBits, 1_002),
            ("RSV2", [text.with { $0.reservedBits = 2 }], .reservedBits, 1_002),
            ("RSV3", [WebSocketFrame(.ping, []).with { $0.reservedBits = 1 }], .reservedBits, 1_002),
            ("data opcode", [text.with { $0.opcode = 3 }], .reservedOpcode, 1_002),
            ("control opcode", [text.with { $0.opcode = 15 }], .reservedOpcode, 1_002),
            ("masked", [text.masked], .masked, 1_002),
            (
                "ping in parts", [WebSocketFrame(.ping, []).with { $0.isFinal = false }], .fragmentedControl,
                1_002
            ),
            ("long ping", [WebSocketFrame(.ping, Array(repeating: 0, count: 126))], .controlTooLong, 1_002),
            (
                "long close", [WebSocketFrame(.close, Array(repeating: 3, count: 70_000))], .controlTooLong,
                1_002
            ),
            (
                "125 in 16 bits",
                [WebSocketFrame(.text, Array(repeating: 0x61, count: 125)).with { $0.length = .bits16(125) }],
                .lengthNotShortest, 1_002
            ),
            ("65,535 in 64 bits", [text.with { $0.length = .bits64(65_535) }], .lengthNotShortest, 1_002),
            ("a length of 2^63", [text.with { $0.length = .bits64(1 << 63) }], .lengthOutOfRange, 1_002),
            ("a continuation first", [text.with { $0.opcode = 0 }], .unexpectedContinuation, 1_002),
            (
                "a continuation after the end", [text, text.with { $0.opcode = 0 }], .unexpectedContinuation,
                1_002
            ),
            ("a message inside another", [begun, text], .unfinishedMessage, 1_002),
            ("a close of one byte", [WebSocketFrame(.close, [3])], .closeBodyTooShort, 1_002),
            (
                "a close code that is only reported", [WebSocketFrame(.close, [3, 0xED])], .badCloseCode,
                1_002
            ),
            ("a reason in Latin-1", [WebSocketFrame(.close, [3, 0xE8, 0xFC])], .invalidUTF8, 1_007),
            ("a text in Latin-1", [WebSocketFrame(.text, [0x62, 0xFC, 0x63])], .invalidUTF8, 1_007),
            (
                "a text that ends inside a character", [WebSocketFrame(.text, [0xE2, 0x82])], .invalidUTF8,
                1_007
            ),
            ("a surrogate", [WebSocketFrame(.text, [0xED, 0xA0, 0x80])], .invalidUTF8, 1_007),
            (
                "a first fragment in Latin-1",
                [WebSocketFrame(.text, [0xFC, 0x63]).with { $0.isFinal = false }], .invalidUTF8, 1_007
            ),
            (
                "a character that its next fragment breaks",
                [
                    WebSocketFrame(.text, [0xE2]).with { $0.isFinal = false },
                    WebSocketFrame(.continuation, [0x41]).with { $0.isFinal = false },
                ], .invalidUTF8, 1_007
            ),
        ]
    }()

    @Test func `each wrong frame has its error and its close code, wherever the bytes are cut`() throws {
        for (what, frames, error, code) in Self.errors {
            #expect(error.closeCode.rawValue == code, "\(what)")
            let found = seen([bytes(frames)], by: .client)
            #expect(found.last == .failed(error), "\(what)")
            // Nothing is read after an error.
            try withPieces(of: bytes(frames + [WebSocketFrame(text: "later")]), size: 1) {
                try #require(seen($0, by: .client) == found, "\(what)")
            }
        }
    }

    @Test func `a server refuses what is not masked`() {
        #expect(seen([bytes(WebSocketFrame(text: "a"))], by: .server) == [.failed(.unmasked)])
        let wrong = WebSocketFrame(text: "aaaa").masked.with { $0.appliedKey = 0x0000_00FF }
        #expect(seen([bytes(wrong)], by: .server) == [.failed(.invalidUTF8)])
    }

    @Test func `an invalid byte is found before its fragment ends`() {
        let text = bytes(WebSocketFrame(.text, [0x61, 0xFF, 0x61]).with { $0.length = .bits16(1_000) })
        #expect(seen([text], by: .client) == [.failed(.invalidUTF8)])
    }

    @Test func `a binary message is refused at its first bytes where only text is read`() {
        let binary = bytes(WebSocketFrame(.binary, [1]))
        #expect(seen([binary], by: .client, acceptsBinary: false) == [.failed(.binaryMessage)])
        #expect(WebSocketError.binaryMessage.closeCode == .unsupportedData)
        // Its bytes need not be text.
        #expect(seen([bytes(WebSocketFrame(.binary, [0xFF]))], by: .client) == [.event(.binary([0xFF]))])
    }

    @Test func `what exceeds a limit is refused at its length`() {
        let limits = WebSocketReader.Limits(frameBytesMax: 300, messageBytesMax: 500)
        func seenLengths(_ counts: Int...) -> [WebSocketSeen] {
            var frames = counts.map { count in
                WebSocketFrame(.continuation, [UInt8](repeating: 0x61, count: count)).with {
                    $0.isFinal = false
                }
            }
            frames[0].opcode = 1
            frames[frames.count - 1].isFinal = true
            return seen([bytes(frames)], by: .client, limits: limits)
        }
        func text(_ count: Int) -> [WebSocketSeen] { [.event(.text(String(repeating: "a", count: count)))] }
        #expect(seenLengths(300) == text(300))
        #expect(seenLengths(301) == [.failed(.frameTooLarge)])
        #expect(seenLengths(300, 200) == text(500))
        #expect(seenLengths(300, 201) == [.failed(.messageTooLarge)])
        #expect(seenLengths(0, 0, 0) == text(0))
        let announced = WebSocketFrame(text: "").with { $0.length = .bits64(1 << 40) }
        #expect(seen([bytes(announced)], by: .client, limits: limits) == [.failed(.frameTooLarge)])
        #expect(WebSocketError.frameTooLarge.closeCode == .messageTooBig)
        #expect(WebSocketError.messageTooLarge.closeCode == .messageTooBig)
        // A limit is of data: a control frame has its own.
        let none = WebSocketReader.Limits(frameBytesMax: 0, messageBytesMax: 0)
        #expect(seen([bytes(WebSocketFrame(.ping, [1]))], by: .client, limits: none) == [.event(.ping([1]))])
    }

    @Test func `of all codes the registered and the private ones may be in a close frame`() {
        let allowed = (UInt16.min...UInt16.max).filter { code in
            WebSocketCloseCode(rawValue: code).isAllowedInFrame
        }
        #expect(
            allowed == [1_000, 1_001, 1_002, 1_003] + Array(1_007...1_014) + Array(3_000...4_999))
    }

    @Test func `a close frame without a body has no status`() {
        #expect(seen([[0x88, 0x00]], by: .client) == [.event(.close(WebSocketClose(.noStatus)))])
    }

    @Test func `UTF-8 is checked as the standard library does`() throws {
        for lead in UInt8.min...UInt8.max {
            for second in [0, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xFF] as [UInt8] {
                for rest in [[], [0x80], [0xBF, 0x80], [0x41], [0x80, 0xC0]] as [[UInt8]] {
                    let text = [lead, second] + rest
                    var check = UTF8Check()
                    let isValid = check.accepts(text[...]) && check.isBetweenCharacters
                    try #require(isValid == (String(validating: text, as: UTF8.self) != nil), "\(text)")
                }
            }
        }
    }
}
