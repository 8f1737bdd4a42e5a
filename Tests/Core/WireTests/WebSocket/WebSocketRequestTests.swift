import SimBase
import Testing

@testable import Wire

@Suite struct WebSocketRequestTests {
    /// The nonce of RFC 6455 section 1.3.
    private static let request = WebSocketRequest(
        nonce: Array("the sample nonce".utf8), subprotocols: ["bookstrack-auth.t0ken", "chat"])

    /// The fields of the answer to it, with changes.
    private static func answer(_ change: (inout HeaderFields) -> Void = { _ in }) -> HeaderFields {
        var fields: HeaderFields = [
            "Upgrade": "websocket", "Connection": "Upgrade",
            "Sec-WebSocket-Accept": "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=",
        ]
        change(&fields)
        return fields
    }

    /// The head of that request, as a server reads it, with changes.
    private static func head(
        _ first: String = "GET /ws/progress?jobId=1 HTTP/1.1",
        _ change: (inout HeaderFields) -> Void = { _ in }
    ) throws -> RequestHead {
        var fields = Self.request.fields
        change(&fields)
        let lines = fields.fields.map { "\($0.name): \($0.value)\r\n" }.joined()
        guard case .head(let head)? = seen("\(first)\r\nHost: h\r\n\(lines)\r\n").first else {
            throw RequestError.badRequestLine
        }
        return head
    }

    @Test func `a request has the fields of the standard`() {
        #expect(
            Self.request.fields == [
                "Upgrade": "websocket", "Connection": "Upgrade",
                "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
                "Sec-WebSocket-Version": "13", "Sec-WebSocket-Protocol": "bookstrack-auth.t0ken, chat",
            ])
        let plain = WebSocketRequest(nonce: Array(repeating: 0, count: 16), subprotocols: [])
        #expect(plain.fields["Sec-WebSocket-Protocol"] == nil)
    }

    @Test func `a server reads what a client writes, and answers as the standard's example`() throws {
        let read = try WebSocketRequest(Self.head())
        #expect(read == Self.request)
        #expect(read.answer(choosing: nil) == Self.answer())
        let chosen = try #require(read.subprotocol(beginning: "bookstrack-auth."))
        #expect(chosen == ("bookstrack-auth.t0ken", "t0ken"))
        #expect(read.subprotocol(beginning: "other.") == nil)
        let answer = read.answer(choosing: chosen.name)
        #expect(try Self.request.subprotocol(acceptedBy: 101, answer) == "bookstrack-auth.t0ken")
    }

    @Test func `names and lists in fields are read in any case`() throws {
        let head = try Self.head { fields in
            fields.set("Upgrade", to: "h2c, WebSocket")
            fields.set("Connection", to: "keep-alive, upgrade")
        }
        #expect(try WebSocketRequest(head) == Self.request)
        let answer = Self.answer { fields in
            fields.set("Upgrade", to: "WebSocket")
            fields.set("Connection", to: "keep-alive, UPGRADE")
        }
        #expect(try Self.request.subprotocol(acceptedBy: 101, answer) == nil)
    }

    private static let refused:
        [(WebSocketRequestError, status: Int, first: String?, change: @Sendable (inout HeaderFields) -> Void)] =
            [
                (.notUpgrade, 426, nil, { $0.remove("Upgrade") }),
                (.notUpgrade, 426, nil, { $0.set("Upgrade", to: "h2c") }),
                (.notUpgrade, 426, nil, { $0.set("Connection", to: "keep-alive") }),
                (.notUpgrade, 426, "GET / HTTP/1.0", { _ in }),
                (.badMethod, 400, "POST / HTTP/1.1", { _ in }),
                (.unsupportedVersion, 426, nil, { $0.set("Sec-WebSocket-Version", to: "8") }),
                (.unsupportedVersion, 426, nil, { $0.remove("Sec-WebSocket-Version") }),
                (.badKey, 400, nil, { $0.remove("Sec-WebSocket-Key") }),
                (.badKey, 400, nil, { $0.append("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ==") }),
                (.badKey, 400, nil, { $0.set("Sec-WebSocket-Key", to: "dGhlIHNhbXBsZSBub25j") }),
                (.badSubprotocols, 400, nil, { $0.append("Sec-WebSocket-Protocol", "chat") }),
                (.badSubprotocols, 400, nil, { $0.set("Sec-WebSocket-Protocol", to: "a b") }),
            ]

    @Test func `a server refuses what is not an opening handshake`() throws {
        for (error, status, first, change) in Self.refused {
            let head = try Self.head(first ?? "GET / HTTP/1.1", change)
            #expect(throws: error) { try WebSocketRequest(head) }
            #expect(error.status == status)
        }
        #expect(
            WebSocketRequestError.unsupportedVersion.fields
                == ["Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13"])
        #expect(WebSocketRequestError.badKey.fields == [:])
    }

    private static let wrong: [(WebSocketAnswerError, change: @Sendable (inout HeaderFields) -> Void)] = [
        (.notUpgraded, { $0.remove("Upgrade") }),
        (.notUpgraded, { $0.set("Upgrade", to: "websocket, h2c") }),
        (.notUpgraded, { $0.append("Upgrade", "h2c") }),
        (.notUpgraded, { $0.remove("Connection") }),
        (.wrongAccept, { $0.remove("Sec-WebSocket-Accept") }),
        (.wrongAccept, { $0.set("Sec-WebSocket-Accept", to: "S3pPLMBiTxaQ9kYGzzhZRbK+xOo=") }),
        (.wrongAccept, { $0.append("Sec-WebSocket-Accept", "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=") }),
        (.unknownExtension, { $0.append("Sec-WebSocket-Extensions", "permessage-deflate") }),
        (.unknownSubprotocol, { $0.append("Sec-WebSocket-Protocol", "other") }),
        (.unknownSubprotocol, { $0.append("Sec-WebSocket-Protocol", "") }),
        (.unknownSubprotocol, { $0.append("Sec-WebSocket-Protocol", "bookstrack-auth.t0ken, chat") }),
        (
            .unknownSubprotocol,
            {
                $0.append("Sec-WebSocket-Protocol", "chat")
                $0.append("Sec-WebSocket-Protocol", "chat")
            }
        ),
    ]

    @Test func `a client refuses an answer that does not open its connection`() {
        for (error, change) in Self.wrong {
            #expect(throws: error) { try Self.request.subprotocol(acceptedBy: 101, Self.answer(change)) }
        }
        for status in [200, 401, 426] {
            #expect(throws: WebSocketAnswerError.status(status)) {
                try Self.request.subprotocol(acceptedBy: status, Self.answer())
            }
        }
    }

    @Test func `an answer that was asked for is read, and what follows is its body`() throws {
        let text = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n"
        let answer = Array(text.utf8) + [0x81, 0x01, 0x61]
        for cut in 0...answer.count {
            var reader = ResponseReader()
            reader.isForUpgrade = true
            var events: [ResponseEvent] = []
            try reader.receive(answer[..<cut], into: &events)
            try reader.receive(answer[cut...], into: &events)
            #expect(events.first == .head(status: 101, ["Upgrade": "websocket"]))
            let body = events.dropFirst().flatMap { event -> ArraySlice<UInt8> in
                if case .body(let piece) = event { piece } else { [] }
            }
            #expect(body == [0x81, 0x01, 0x61])
            #expect(!reader.keepsAlive && reader.isInsideResponse)
        }
        // One that refuses is an answer like any other.
        var reader = ResponseReader()
        reader.isForUpgrade = true
        var events: [ResponseEvent] = []
        try reader.receive(Array("HTTP/1.1 401\r\nContent-Length: 0\r\n\r\n".utf8)[...], into: &events)
        #expect(events == [.head(status: 401, ["Content-Length": "0"]), .end])
    }
}
