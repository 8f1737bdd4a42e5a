import Foundation
import SimBase
import Testing
import Wire

extension SideBySide {
    /// The codec of WebSocket, and those of Python's `websockets` and `wsproto`.
    @Suite struct WebSocketLibraryTests {
        /// An event as both sides write it: its kind, and a payload in hexadecimal, or a code with a reason.
        private typealias Event = [String]

        /// What one of the libraries wrote.
        private struct Written: Decodable {
            var library, role: String
            var request, bytes: String?
            var events: [[Value]]?
        }

        /// A text or a number.
        private struct Value: Decodable {
            var text: String

            init(from decoder: any Decoder) throws {
                let container = try decoder.singleValueContainer()
                self.text = try (try? container.decode(String.self)) ?? String(container.decode(Int.self))
            }
        }

        private struct Line: Encodable {
            var kind: String
            var bytes: String
            var role = "client"
            var limit = WebSocketLibraryTests.bytesMax
        }

        private static let bytesMax = 70_000
        private static let limits = WebSocketReader.Limits(
            frameBytesMax: Self.bytesMax, messageBytesMax: Self.bytesMax)

        private static let request = WebSocketRequest(
            nonce: Array("the sample nonce".utf8), subprotocols: ["bookstrack-auth.t0ken", "chat"])

        // MARK: The libraries

        private static func lines<Line: Decodable>(
            _ mode: String, _ lines: [Self.Line] = []
        ) async throws -> [Line] {
            let script = Package.tests.appending(path: "Tools/websocket_libraries.py").path
            let input = try lines.map { try JSONEncoder().encode($0) + Data("\n".utf8) }.reduce(Data(), +)
            let outcome = try await Subprocess.run(
                Package.root.appending(path: ".build/venv/bin/python"), ["-B", script, mode], input: input)
            try #require(outcome.code == 0, "\(outcome.complaint)")
            return try outcome.output.split(separator: "\n").map {
                try JSONDecoder().decode(Line.self, from: Data($0.utf8))
            }
        }

        // MARK: Ours

        private static func bytes(_ frames: [WebSocketFrame], isMasked: Bool) -> [UInt8] {
            ByteBuilder.bytes { bytes in
                for (index, var frame) in frames.enumerated() {
                    if isMasked { frame.maskingKey = 0x37FA_213D &+ UInt32(index) }
                    WebSocketWriter.frame(frame, into: &bytes)
                }
            }
        }

        private static func read(
            _ bytes: [UInt8], by role: String
        ) -> (events: [Event], error: WebSocketError?) {
            var reader = WebSocketReader(
                role: role == "client" ? .client : .server, limits: Self.limits, acceptsBinary: true)
            var events: [WebSocketEvent] = []
            var failure: WebSocketError?
            do throws(WebSocketError) { try reader.receive(bytes[...], into: &events) } catch {
                failure = error
            }
            let words = events.map { event -> Event in
                switch event {
                case .text(let text): ["text", Self.hexadecimal(Array(text.utf8))]
                case .binary(let payload): ["binary", Self.hexadecimal(payload)]
                case .ping(let payload): ["ping", Self.hexadecimal(payload)]
                case .pong(let payload): ["pong", Self.hexadecimal(payload)]
                case .close(let close): ["close", "\(close.code.rawValue)", close.reason]
                }
            }
            return (words, failure)
        }

        private static func hexadecimal(_ bytes: [UInt8]) -> String {
            bytes.map { Hexadecimal.text(UInt64($0), digits: 2) }.joined()
        }

        private static func bytes(_ text: String) -> [UInt8] {
            let digits = Array(text.utf8).compactMap { Hexadecimal.nibble($0) }
            return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
        }

        // MARK: Theirs read by ours

        @Test func `what both libraries write is read as it was`() async throws {
            let written: [Written] = try await Self.lines("write")
            let streams = written.filter { $0.events != nil }
            #expect(streams.count == 2 * 2 * 14)
            for stream in streams {
                let reader = stream.role == "client" ? "server" : "client"
                let found = Self.read(Self.bytes(try #require(stream.bytes)), by: reader)
                #expect(found.error == nil)
                #expect(found.events == stream.events?.map { $0.map(\.text) }, "\(stream.library)")
            }

            // Each request is answered, and each library opens its connection after that answer.
            let requests = try written.compactMap(\.request).map { text in
                var reader = RequestReader(limits: .standard)
                var events: [RequestEvent] = []
                try reader.receive(Self.bytes(text), into: &events)
                guard case .head(let head)? = events.first else { throw CocoaError(.coderReadCorrupt) }
                return try WebSocketRequest(head)
            }
            #expect(requests == [Self.request, Self.request])
            let chosen = try #require(requests[0].subprotocol(beginning: "bookstrack-auth."))
            var answers = [requests[0].answer(choosing: chosen.name), requests[1].answer(choosing: nil)]
            answers[1].set("Sec-WebSocket-Accept", to: "S3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
            let opened: [[String: String?]] = try await Self.lines(
                "read",
                answers.map { fields in
                    var bytes: [UInt8] = []
                    ResponseWriter.head(status: 101, headers: fields, framing: .none, into: &bytes)
                    return Line(kind: "answer", bytes: Self.hexadecimal(bytes))
                })
            #expect(opened[0] == ["websockets": chosen.name, "wsproto": chosen.name])
            // Both refuse one that does not prove that the key was read.
            for library in ["websockets", "wsproto"] {
                #expect(opened[1][library]??.hasPrefix("refused: ") == true, "\(opened[1])")
            }
        }

        @Test func `both libraries answer our request, and we take their answers`() async throws {
            let bytes = ByteBuilder.bytes { bytes in
                RequestWriter.head(
                    method: "GET", target: "/ws/progress?jobId=1", host: "h", headers: Self.request.fields,
                    bodyBytes: nil, into: &bytes)
            }
            let answers: [[String: String]] = try await Self.lines(
                "read", [Line(kind: "request", bytes: Self.hexadecimal(bytes))])
            for library in ["websockets", "wsproto"] {
                var reader = ResponseReader()
                reader.isForUpgrade = true
                var events: [ResponseEvent] = []
                try reader.receive(Self.bytes(try #require(answers[0][library]))[...], into: &events)
                guard case .head(let status, let fields)? = events.first else {
                    throw CocoaError(.coderReadCorrupt)
                }
                #expect(
                    try Self.request.subprotocol(acceptedBy: status, fields) == "bookstrack-auth.t0ken",
                    "\(library)")
            }
        }

        // MARK: Ours read by theirs

        /// A stream with every kind of frame and every form of a length.
        private static let stream: [WebSocketFrame] = {
            var frames = WebSocketFrame.fragments(of: Array("B\u{FC}cher \u{1F4DA}".utf8), .text, bytes: 5)
            frames.insert(WebSocketFrame(.ping, [1]), at: 1)
            frames.insert(WebSocketFrame(.pong, Array(repeating: 9, count: 125)), at: 3)
            for count in [0, 125, 126, 65_535, 65_536] {
                frames.append(WebSocketFrame(.binary, Array(repeating: 0xFF, count: count)))
            }
            return frames + [WebSocketFrame(text: "\u{20AC}")]
        }()

        /// Wrong frames, each after a text. Whether it is masked is changed last.
        private static let wrong: [WebSocketFrame] = {
            let text = WebSocketFrame(text: "abc")
            return [
                text.with { $0.reservedBits = 4 }, text.with { $0.reservedBits = 2 },
                text.with { $0.reservedBits = 1 }, text.with { $0.opcode = 3 }, text.with { $0.opcode = 11 },
                WebSocketFrame(.ping, []).with { $0.isFinal = false }, WebSocketFrame(.continuation, [1]),
                WebSocketFrame(.ping, Array(repeating: 0, count: 126)), WebSocketFrame(.close, [3]),
                WebSocketFrame(.close, [3, 0xE8, 0xFF]), WebSocketFrame(.text, [0x61, 0xFF]),
                WebSocketFrame(.text, [0xE2, 0x82]), WebSocketFrame(.text, [0xED, 0xA0, 0x80]),
                WebSocketFrame(.text, [0xFF]).with { $0.isFinal = false },
                WebSocketFrame(.text, Array(repeating: 0x61, count: Self.bytesMax + 1)),
                text.with { $0.length = .bits16(3) }, text.with { $0.length = .bits64(3) },
                text.with { $0.length = .bits64(1 << 63) },
            ]
        }()

        private static let codes: [UInt16] =
            [0, 999, 5_000, 0xFFFF] + Array(1_000...1_016) + [1_999, 2_999, 3_000, 3_999, 4_000, 4_999]

        /// What we write, for a reader of a role.
        private static func cases(for role: String) -> [[UInt8]] {
            let isMasked = role == "server"
            let stream = Self.bytes(Self.stream, isMasked: isMasked)
            let text = WebSocketFrame(text: "a")
            let endless = WebSocketFrame.fragments(
                of: Array(repeating: 0x61, count: Self.bytesMax + 1), .text, bytes: 30_000)
            let wrong =
                Self.wrong.map { Self.bytes([text, $0], isMasked: isMasked) }
                + [Self.bytes([text], isMasked: !isMasked), Self.bytes(endless, isMasked: isMasked)]
                + [
                    Self.bytes(
                        [WebSocketFrame(.text, [0x61]).with { $0.isFinal = false }, text], isMasked: isMasked)
                ]
            let closes = Self.codes.map { code in
                WebSocketFrame(.close, [UInt8(code >> 8), UInt8(code & 0xFF), 0xC3, 0xBC])
            }
            return [stream] + wrong
                + closes.map { Self.bytes([text, $0, text], isMasked: isMasked) }
                + [Self.bytes([WebSocketFrame(WebSocketClose(.noStatus))], isMasked: isMasked)]
        }

        /// A shorter stream with one byte changed at a drawn position.
        private static func damaged(for role: String, _ number: UInt64) -> [UInt8] {
            let random = KeyedRandom(seed: 51)
            let frames =
                Self.stream.filter { $0.payload.count < 1_000 } + [WebSocketFrame(WebSocketClose(.normal))]
            var bytes = Self.bytes(frames, isMasked: role == "server")
            let place = Int(random.below(UInt64(bytes.count), .test, number, 0))
            bytes[place] = UInt8(random.below(256, .test, number, 1))
            return bytes
        }

        /// What a library does not check, so that it reads on or answers with another code.
        private static func overlooks(_ library: String, _ error: WebSocketError?, _ events: [Event]) -> Bool
        {
            switch (library, error) {
            // The form of a length.
            case ("websockets", .lengthNotShortest), ("websockets", .lengthOutOfRange): true
            // Limits. The code 1014 is newer than its list.
            case ("wsproto", .frameTooLarge), ("wsproto", .messageTooLarge): true
            case ("wsproto", nil): events.last?.prefix(2) == ["close", "1014"]
            default: false
            }
        }

        @Test func `both libraries read our frames, right and wrong, as we do`() async throws {
            for role in ["client", "server"] {
                let cases = Self.cases(for: role)
                let damaged = (0..<400 as Range<UInt64>).map { Self.damaged(for: role, $0) }
                let theirs: [[String: [[Value]]]] = try await Self.lines(
                    "read",
                    (cases + damaged).map { Line(kind: "frames", bytes: Self.hexadecimal($0), role: role) })
                try #require(theirs.count == cases.count + damaged.count)
                var overlooked = 0
                for (index, (bytes, theirs)) in zip(cases + damaged, theirs).enumerated() {
                    let (events, error) = Self.read(bytes, by: role)
                    let ours = events + (error.map { [["failed", "\($0.closeCode.rawValue)"]] } ?? [])
                    for library in ["websockets", "wsproto"] {
                        let found = try #require(theirs[library]).map { $0.map(\.text) }
                        guard found != ours else { continue }
                        overlooked += 1
                        #expect(
                            Self.overlooks(library, error, events),
                            "\(role) \(index): \(library) \(found.suffix(2)), we \(ours.suffix(2))")
                    }
                }
                // Three lengths, two limits and a code.
                #expect(overlooked == 6, "\(role)")
            }
        }
    }
}

extension WebSocketFrame {
    fileprivate func with(_ change: (inout WebSocketFrame) -> Void) -> WebSocketFrame {
        var frame = self
        change(&frame)
        return frame
    }
}
