import JSON
import Observations
import SimBase
import Talaria

/// One thing that a server may answer and should not, and what the phone calls it.
struct HostileAnswer: Sendable {
    var title: String
    var operation: Talaria.Operation
    var acts: [HostileFront.Act]
    /// What is observed of the request, in order; see `outcomes`.
    var named: [String]

    init(_ title: String, _ operation: Talaria.Operation, _ named: String..., acts: [HostileFront.Act]) {
        self.title = title
        self.operation = operation
        self.named = named
        self.acts = acts
    }

    /// What a phone's first request of a kind came to, in words.
    static func outcomes(of operation: Talaria.Operation, in payloads: [PhoneObservation]) -> [String] {
        payloads.compactMap { payload in
            switch payload {
            case .requestFailed(operation, attempt: 1, let failure, _): "failed \(failure.rawValue)"
            case .badAnswer(operation, attempt: 1, let bad): "bad \(bad.rawValue)"
            case .streamLost(_, attempt: 1, let cause, _) where operation == .stream: "lost \(cause.rawValue)"
            case .rateLimited(operation, _): "limited"
            default: nil
            }
        }
    }
}

extension HostileAnswer {
    private static let every: [Talaria.Operation] = [.upload, .stream, .results, .cleanup]

    /// One answer to every kind of request. An attempt to open a stream that fails is a loss of it too.
    private static func toAll(_ title: String, _ named: String, _ acts: [HostileFront.Act]) -> [HostileAnswer]
    {
        let loss = named == "failed timed-out" ? "lost no-answer" : "lost connect-failed"
        return Self.every.map { operation in
            operation == .stream
                ? .init("\(title), to a stream", operation, named, loss, acts: acts)
                : .init("\(title), to \(operation.name)", operation, named, acts: acts)
        }
    }

    private static let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
    private static let streamHead = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
    private static let chunked = "Transfer-Encoding: chunked\r\n\r\n"
    /// `{"success":true}` by gzip.
    private static let gzip: [UInt8] = [
        0x1F, 0x8B, 0x08, 0, 0, 0, 0, 0, 0, 0x03, 0xAB, 0x56, 0x2A, 0x2E, 0x4D, 0x4E, 0x4E, 0x2D, 0x2E, 0x56,
        0xB2,
        0x2A, 0x29, 0x2A, 0x4D, 0xAD, 0x05, 0x00, 0x5E, 0x2C, 0x61, 0xC1, 0x10, 0, 0, 0,
    ]

    /// What is not HTTP, or not a complete answer, whatever was asked for.
    static let broken: [HostileAnswer] =
        Self.toAll("an end without a byte", "failed reset", [.close])
        + Self.toAll("a reset", "failed reset", [.reset])
        + Self.toAll("no status line", "failed malformed", [.text("hello\r\n\r\n"), .close])
        + Self.toAll("a body alone", "failed malformed", [.text("{\"success\":true}"), .close])
        + Self.toAll("zeros", "failed malformed", [.send([UInt8](repeating: 0, count: 4_096)), .close])
        + Self.toAll("a status of two digits", "failed malformed", [.text("HTTP/1.1 20 OK\r\n\r\n"), .close])
        + Self.toAll(
            "a status of four digits", "failed malformed", [.text("HTTP/1.1 2000 OK\r\n\r\n"), .close])
        + Self.toAll("another version", "failed malformed", [.text("HTTP/7.3 200 OK\r\n\r\n"), .close])
        + Self.toAll("silence", "failed timed-out", [])
        + Self.toAll("half a head", "failed closed-early", [.text("HTTP/1.1 200 OK\r\nContent-"), .close])
        + Self.toAll("half a head, then silence", "failed timed-out", [.text("HTTP/1.1 200 OK\r\nContent-")])
        + Self.toAll(
            "a head byte by byte", "failed timed-out",
            [
                .drip(
                    Array("HTTP/1.1 200 OK\r\nX-Slow: \(String(repeating: "x", count: 500))\r\n\r\n".utf8),
                    every: .milliseconds(20))
            ])
        + Self.toAll(
            "a field of ten megabytes", "failed malformed",
            [
                .text("HTTP/1.1 200 OK\r\nX: "),
                .repeatedly([UInt8](repeating: 0x78, count: 65_536), times: 160), .close,
            ])
        + Self.toAll(
            "a hundred thousand fields", "failed malformed",
            [
                .text("HTTP/1.1 200 OK\r\n"),
                .repeatedly(Array(String(repeating: "X: y\r\n", count: 1_000).utf8), times: 100), .close,
            ])
        + Self.toAll(
            "an endless storm of 100 Continue", "failed malformed",
            [
                .repeatedly(
                    Array(String(repeating: "HTTP/1.1 100 Continue\r\n\r\n", count: 400).utf8), times: 400),
                .close,
            ])
        + Self.toAll(
            "100 Continue and the end", "failed reset",
            [.text("HTTP/1.1 100 Continue\r\n\r\n"), .close])
        + Self.toAll(
            "103 Early Hints, then silence", "failed timed-out",
            [.text("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n")])
        + Self.toAll(
            "another protocol", "failed malformed",
            [
                .text("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n{\"success\":true}data: x\n\n"),
                .close,
            ])
        + Self.toAll(
            "a length that is none", "failed malformed",
            [.text(Self.head + "Content-Length: -5\r\n\r\nx"), .close])

    /// Whole answers of the wrong kind, to a stream.
    static let streams: [HostileAnswer] = [
        .init(
            "no content", .stream, "bad unexpected-status", "lost refused-by-status",
            acts: [.text("HTTP/1.1 204 No Content\r\n\r\n")]),
        .init(
            "another place", .stream, "bad unexpected-status", "lost refused-by-status",
            acts: [.text("HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n")]),
        .init(
            "not modified", .stream, "bad unexpected-status", "lost refused-by-status",
            acts: [.text("HTTP/1.1 304 Not Modified\r\n\r\n")]),
        .init(
            "a status beyond the classes", .stream, "bad unexpected-status", "lost refused-by-status",
            acts: [.text("HTTP/1.1 799 Odd\r\nContent-Length: 0\r\n\r\n")]),
        .init(
            "a page", .stream, "bad wrong-content-type", "lost bad-answer",
            acts: [
                .text("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"),
                .repeatedly(Array("<p>data: x\n\n".utf8), times: 5_000),
            ]),
        .init(
            "no type", .stream, "bad wrong-content-type", "lost bad-answer",
            acts: [.text("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\ndata: x\n\n")]),
        .init(
            "no event, and the end", .stream, "lost end-without-terminal",
            acts: [.text(Self.streamHead + "\r\n"), .close]),
        .init("a head, then silence", .stream, "lost silence", acts: [.text(Self.streamHead + "\r\n")]),
        .init(
            "a reset after the head", .stream, "lost reset",
            acts: [.text(Self.streamHead + Self.chunked + "5\r\n: hi\n\r\n"), .reset]),
        .init(
            "a chunk that is shorter than it says", .stream, "lost end-without-terminal",
            acts: [.text(Self.streamHead + Self.chunked + "fff\r\n: hi\n"), .close]),
        .init(
            "a chunk that is longer than it says", .stream, "lost bad-answer",
            acts: [.text(Self.streamHead + Self.chunked + "3\r\n: hello\n\r\n"), .close]),
        .init(
            "a chunk of no size", .stream, "lost bad-answer",
            acts: [.text(Self.streamHead + Self.chunked + "zz\r\n: hi\n\r\n")]),
        .init(
            "a chunk beyond every type", .stream, "lost bad-answer",
            acts: [.text(Self.streamHead + Self.chunked + "fffffffffffffffff\r\n: hi\n\r\n")]),
        .init(
            "a line of ten megabytes", .stream, "bad overlong-stream", "lost end-without-terminal",
            acts: [
                .text(Self.streamHead + "\r\ndata: "),
                .repeatedly([UInt8](repeating: 0x78, count: 65_536), times: 160), .close,
            ]),
        .init(
            "an event of ten megabytes", .stream, "bad overlong-stream", "lost end-without-terminal",
            acts: [
                .text(Self.streamHead + "\r\n"),
                .repeatedly(Array("data: xxxxxxxxxxxxxxxx\n".utf8), times: 100_000), .close,
            ]),
        .init(
            "bytes that are no text", .stream, "lost end-without-terminal",
            acts: [
                .text(Self.streamHead + "\r\n"), .repeatedly((0...255).map { UInt8($0) }, times: 100), .close,
            ]),
        .init(
            "events, compressed", .stream, "bad wrong-content-type", "lost bad-answer",
            acts: [.text(Self.streamHead + "Content-Encoding: gzip\r\n\r\n"), .send(Self.gzip), .close]),
    ]

    /// Whole answers of the wrong kind, to an upload.
    static let uploads: [HostileAnswer] =
        [
            ("a page", "bad wrong-content-type", "Content-Type: text/html\r\nContent-Length: 3\r\n\r\n<p>"),
            (
                "an empty body", "bad undecodable",
                "Content-Type: application/json\r\nContent-Length: 0\r\n\r\n"
            ),
            (
                "half of a JSON", "bad undecodable",
                "Content-Type: application/json\r\nContent-Length: 9\r\n\r\n{\"success"
            ),
            ("a length that is longer than the body", "failed closed-early", "Content-Length: 500\r\n\r\n{}"),
            ("a chunk that is shorter than it says", "failed closed-early", Self.chunked + "fff\r\n{}"),
            (
                "a chunk that is longer than it says", "failed malformed",
                Self.chunked + "1\r\n{\"success\"\r\n0\r\n\r\n"
            ),
            ("a chunk of no size", "failed malformed", Self.chunked + "\r\n\r\n"),
            ("a failure that calls itself accepted", "bad not-success", Self.job("a", "/s", success: false)),
            ("a job on another host", "bad undecodable", Self.job("a", "gopher://elsewhere/")),
            ("a job that climbs", "bad undecodable", Self.job("..", "/s")),
            ("a token of two lines", "bad undecodable", Self.job("a", "/s", token: "a\\r\\nX: y")),
        ].map {
            HostileAnswer(
                "\($0.0), to an upload", .upload, $0.1,
                acts: [.text("HTTP/1.1 202 Accepted\r\n" + $0.2), .close])
        }
        + [
            .init(
                "ten megabytes of JSON, to an upload", .upload, "bad too-large",
                acts: [
                    .text(Self.head + "\r\n"),
                    .repeatedly([UInt8](repeating: 0x5B, count: 65_536), times: 160), .close,
                ]),
            .init(
                "a body byte by byte, to an upload", .upload, "failed timed-out",
                acts: [
                    .text(Self.head + "\r\n"),
                    .drip([UInt8](repeating: 0x20, count: 500), every: .milliseconds(20)),
                ]),
            .init(
                "JSON, compressed, to an upload", .upload, "bad wrong-content-type",
                acts: [.text(Self.head + "Content-Encoding: gzip\r\n\r\n"), .send(Self.gzip), .close]),
            .init(
                "another place, to an upload", .upload, "bad unexpected-status",
                acts: [
                    .text(
                        "HTTP/1.1 307 Temporary Redirect\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n"
                    )
                ]),
        ]

    /// Whole answers of the wrong kind, to a request for results or a DELETE.
    static let others: [HostileAnswer] = [
        .init(
            "a page, to results", .results, "bad wrong-content-type",
            acts: [.text("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 3\r\n\r\n<p>")]),
        .init(
            "no content, to results", .results, "bad unexpected-status",
            acts: [.text("HTTP/1.1 204 No Content\r\n\r\n")]),
        .init(
            "the books of another job", .results, "bad undecodable",
            acts: [
                .text(
                    Self.head
                        + "\r\n{\"success\":true,\"data\":{\"jobId\":\"x\",\"status\":\"completed\",\"results\":[]}}"
                ), .close,
            ]),
        .init(
            "ten megabytes of JSON, to results", .results, "bad too-large",
            acts: [
                .text(Self.head + "\r\n"), .repeatedly([UInt8](repeating: 0x5B, count: 65_536), times: 160),
                .close,
            ]),
        .init(
            "JSON, compressed, to results", .results, "bad wrong-content-type",
            acts: [.text(Self.head + "Content-Encoding: gzip\r\n\r\n"), .send(Self.gzip), .close]),
        .init(
            "a body byte by byte, to results", .results, "failed timed-out",
            acts: [
                .text(Self.head + "\r\n"),
                .drip([UInt8](repeating: 0x20, count: 500), every: .milliseconds(20)),
            ]),
        .init(
            "ten megabytes, to a DELETE", .cleanup, "bad too-large",
            acts: [
                .text("HTTP/1.1 500 Internal Server Error\r\n\r\n"),
                .repeatedly([UInt8](repeating: 0x5B, count: 65_536), times: 160),
                .close,
            ]),
    ]

    private static func job(_ id: String, _ target: String, token: String = "t", success: Bool = true)
        -> String
    {
        let body =
            "{\"success\":\(success),\"data\":{\"jobId\":\"\(id)\",\"authToken\":\"\(token)\",\"sseUrl\":\"\(target)\"}}"
        return "Content-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }
}
