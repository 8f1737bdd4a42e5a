import SimBase
import SimTestSupport
import Testing

@testable import Wire

/// Damaged input. Nothing traps, the cuts of the bytes do not show, and what a reader keeps has a bound.
@Suite struct WireFuzzTests {
    private static let streamWords = [
        "data:", "data", "event:", "event: ", "id:", "id: ", "retry:", "retry: ", ": ", "\n\n", "\r\n\r\n",
        "\r\r",
        "data: {\"a\":1}\n\n", "event: ping\n", "event: completed\n", "id: 1738419600000-progress\n", ": t=1",
        "retry: 99999999999999999999\n",
    ]

    private static let streams = Mutator(
        corpus: [
            SSESplitTests.stream, Array("retry: 5000\n\n: ok\nid: 7\nevent: a\ndata: b\ndata: c\n\n".utf8),
        ],
        dictionary: Self.streamWords)

    @Test func `an event stream of any bytes reads as the standard's text says`() {
        Fuzz.run("sse", quick: 1_200, report: { Issue.record("\($0)") }) { fuzz in
            let bytes = Self.streams.input(fuzz)
            let expected = wholeStreamItems(bytes)
            for pieces in fuzz.cuts(of: bytes) { try #require(items(pieces) == expected) }
        }
    }

    @Test func `tight limits on an event stream do not hang on the cuts, and bound what is kept`() {
        let limits = SSEReader.Limits(lineBytesMax: 48, eventBytesMax: 64, retryMax: .seconds(60))
        Fuzz.run("sse-limits", quick: 1_000, report: { Issue.record("\($0)") }) { fuzz in
            let bytes = Self.streams.input(fuzz)
            let expected = items([bytes], limits: limits)
            try #require(expected.count <= bytes.count)
            for case .event(let event) in expected {
                try #require(event.data.utf8.count <= 3 * 64 && event.id.utf8.count <= 3 * 48)
            }
            for pieces in fuzz.cuts(of: bytes) {
                var reader = SSEReader(limits: limits)
                var found: [SSEItem] = []
                for (offset, piece) in pieces.enumerated() {
                    reader.receive(piece, into: &found)
                    // It takes its time to look.
                    guard pieces.count < 10 || offset % 61 == 0 else { continue }
                    // A line, an event, a type and two ids; an invalid byte becomes three.
                    try #require(keptBytes(reader) <= 48 + 64 + 3 * (3 * 48))
                }
                try #require(found == expected)
                // What was not finished is forgotten, and the next connection starts from the beginning.
                reader.finish()
                found = []
                reader.receive(Array("data: x\n\n".utf8), into: &found)
                try #require(found == [event("x", lastID: reader.lastEventID)])
            }
        }
    }

    @Test func `what the writer writes is what the reader reads`() {
        let texts = Mutator(
            corpus: [Array("1738419600000-progress".utf8), Array("{\"title\":\"B\u{FC}cher\"}".utf8)],
            dictionary: Self.streamWords)
        Fuzz.run("sse-round-trip", quick: 1_000, report: { Issue.record("\($0)") }) { fuzz in
            func text(_ name: UInt64) -> String {
                let drawn = FuzzCase(seed: fuzz.random.seed, number: fuzz.number &* 8 &+ name)
                return String(decoding: texts.input(drawn), as: UTF8.self)
            }
            func line(_ name: UInt64) -> String {
                String(
                    String.UnicodeScalarView(
                        text(name).unicodeScalars.filter { !"\r\n\0".unicodeScalars.contains($0) }))
            }
            let (id, type, data, comment) = (line(1), line(2), text(3), text(4))
            let retry = Interval.milliseconds(Int64(fuzz.below(1 << 30, 1, 0)))
            var bytes: [UInt8] = []
            SSEWriter.comment(comment, into: &bytes)
            SSEWriter.event(id: id, type: type, retry: retry, data: data, into: &bytes)
            SSEWriter.ping(id: nil, data: data, into: &bytes)
            let lines = data.unicodeLines.joined(separator: "\n")
            let expected =
                comment.unicodeLines.map { SSEItem.comment(SSEComment($0)) } + [
                    .retry(retry), event(lines, type: type.isEmpty ? "message" : type, id: id),
                    event(lines, type: "ping", lastID: id),
                ]
            for pieces in fuzz.cuts(of: bytes) { try #require(items(pieces, limits: .generous) == expected) }
        }
    }

    private static let connections = Mutator(
        corpus: [
            RequestSplitTests.connection,
            Array(
                ("GET http://h:1/v3/jobs/scans/a%20b/stream?format=lite&a=+ HTTP/1.1\r\nHost: h\r\n"
                    + "Authorization: Bearer 0f\r\nLast-Event-ID: 1-a\r\nConnection: close\r\n\r\n").utf8),
            Array(
                ("POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 3, 3\r\n\r\nabc"
                    + "DELETE /x HTTP/1.0\r\nConnection: keep-alive\r\n\r\n").utf8),
        ],
        dictionary: [
            "GET", "POST", " HTTP/1.1", " HTTP/1.0", " HTTP/2.0", "Host: x\r\n", "Content-Length:",
            "Content-Length: 0",
            "Transfer-Encoding:", "Transfer-Encoding: chunked\r\n", "chunked", "gzip",
            "Connection: close\r\n",
            "Expect: 100-continue\r\n", "\r\n\r\n", "0\r\n\r\n", "1\r\nx\r\n", "ffffffffffffffff\r\n",
            "7fffffffffffffff",
            "http://", "https://a", "*", "%00", "%zz", "%", "?", "\n\n", " ", "\r\n ",
        ])

    /// Tight, but for the one limit that hangs on how much comes before an answer goes out.
    private static let tight = RequestReader.Limits(
        requestLineBytesMax: 40, headBytesMax: 120, headerCountMax: 4, bodyBytesMax: 32,
        chunkLineBytesMax: 12,
        leftOverBytesMax: Mutator.bytesMax)

    @Test(arguments: [RequestReader.Limits.standard, Self.tight])
    func `a connection of any bytes gives the same requests or error`(limits: RequestReader.Limits) {
        Fuzz.run("requests-\(limits.bodyBytesMax)", quick: 1_200, report: { Issue.record("\($0)") }) { fuzz in
            let bytes = Self.connections.input(fuzz)
            let expected = seen([bytes], limits: limits)
            try #require(expected.count <= bytes.count + 1)
            var bodyBytes = 0
            for seen in expected {
                switch seen {
                case .body(let body): bodyBytes += body.count
                case .head(let head):
                    try #require(head.headers.count <= limits.headerCountMax)
                    try #require(head.target.utf8.count <= limits.requestLineBytesMax)
                    try #require(
                        (PercentEncoding.decoded(head.path)?.utf8.count ?? 0) <= 3 * head.path.utf8.count)
                    try #require((head.queryValue("format")?.utf8.count ?? 0) <= 3 * head.target.utf8.count)
                case .end, .failed: break
                }
            }
            try #require(bodyBytes <= bytes.count)
            for pieces in fuzz.cuts(of: bytes) { try #require(seen(pieces, limits: limits) == expected) }
        }
    }

    @Test func `what a connection makes a server keep has a bound`() {
        let limits = RequestReader.Limits.tight
        Fuzz.run("requests-kept", quick: 1_000, report: { Issue.record("\($0)") }) { fuzz in
            for pieces in fuzz.cuts(of: Self.connections.input(fuzz)) {
                var reader = RequestReader(limits: limits)
                var events: [RequestEvent] = []
                for (offset, piece) in pieces.enumerated() {
                    try? reader.receive(piece, into: &events)
                    guard pieces.count < 10 || offset % 61 == 0 else { continue }
                    // A line, a head and what came too early; an invalid byte becomes three.
                    try #require(
                        keptBytes(reader) <= limits.leftOverBytesMax + 3 * limits.headBytesMax
                            + limits.headBytesMax
                            + 2 * limits.requestLineBytesMax)
                }
            }
        }
    }

    @Test func `a request that is written in chunks is read as it was`() {
        Fuzz.run("chunks", quick: 800, report: { Issue.record("\($0)") }) { fuzz in
            let body = Self.connections.input(fuzz)
            var bytes = Array("POST /x HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n".utf8)
            for piece in fuzz.cuts(of: body).last ?? [] { ResponseWriter.chunk(piece, into: &bytes) }
            ResponseWriter.lastChunk(into: &bytes)
            let head = plainHead {
                ($0.method, $0.target, $0.path) = ("POST", "/x", "/x")
                $0.headers.append("Transfer-Encoding", "chunked")
                $0.body = .chunked
            }
            let expected: [Seen] = [.head(head)] + (body.isEmpty ? [] : [.body(body)]) + [.end]
            for pieces in fuzz.cuts(of: bytes) { try #require(seen(pieces) == expected) }
        }
    }

    private static let multipart = Mutator(
        corpus: [
            Array(
                ("preamble\r\n--b0undary\r\nContent-Disposition: form-data; name=\"photos[]\"; filename=\"a.jpg\"\r\n"
                    + "Content-Type: image/jpeg\r\n\r\n\r\n--b0undar\r\n\r\r\n--\r\nbytes\r\n--b0undary\r\n"
                    + "Content-Disposition: form-data; name=device\r\n\r\n--b0undary  \r\n"
                    + "Content-Disposition: form-data; name=\"x\"\r\n\r\n1\r\n--b0undary--\r\nepilogue").utf8)
        ],
        dictionary: [
            "\r\n--b0undary\r\n", "\r\n--b0undary--", "--b0undary", "\r\n--",
            "Content-Disposition: form-data; name=\"a\"",
            "\r\n\r\n", "filename=\"", "\\\"", "name=",
        ])

    @Test(arguments: [
        MultipartReader.Limits.standard,
        MultipartReader.Limits(partsMax: 2, headBytesMax: 90, partBytesMax: 40, prefixBytesMax: 7),
    ])
    func `a multipart body of any bytes gives the same parts or error`(limits: MultipartReader.Limits) {
        Fuzz.run("multipart-\(limits.partsMax)", quick: 1_200, report: { Issue.record("\($0)") }) { fuzz in
            let bytes = Self.multipart.input(fuzz)
            let expected = parts([bytes], limits: limits)
            if case .success(let parts) = expected {
                try #require(parts.count <= limits.partsMax)
                try #require(parts.reduce(0) { $0 + $1.byteCount } <= bytes.count)
                try #require(parts.allSatisfy { $0.prefix.count <= min($0.byteCount, limits.prefixBytesMax) })
            }
            for pieces in fuzz.cuts(of: bytes) { try #require(parts(pieces, limits: limits) == expected) }
        }
    }

    @Test func `parts of any bytes come back as they were`() {
        let limits = MultipartReader.Limits.standard
        Fuzz.run("multipart-round-trip", quick: 800, report: { Issue.record("\($0)") }) { fuzz in
            let contents = (0..<UInt64(1 + fuzz.below(4, 1, 0))).map { part in
                Self.multipart.input(FuzzCase(seed: fuzz.random.seed, number: fuzz.number &* 8 &+ part))
            }
            // A boundary must not occur in what it divides.
            let boundary = "other-boundary"
            var bytes: [UInt8] = []
            for (offset, content) in contents.enumerated() {
                bytes += Array(
                    "--\(boundary)\r\nContent-Disposition: form-data; name=\"\(offset)\"\r\n\r\n".utf8)
                bytes += content + Array("\r\n".utf8)
            }
            bytes += Array("--\(boundary)--\r\n".utf8)
            let expected = contents.enumerated().map { offset, content in
                PartSummary(
                    name: "\(offset)", filename: nil, contentType: nil, byteCount: content.count,
                    prefix: Array(content.prefix(limits.prefixBytesMax)))
            }
            for pieces in fuzz.cuts(of: bytes) {
                try #require(parts(pieces, boundary: boundary, limits: limits) == .success(expected))
            }
        }
    }

    private static let values = Mutator(
        corpus: [
            "multipart/form-data; boundary=\"a \\\" b\"; charset=utf-8", "Sun, 06 Nov 1994 08:49:37 GMT",
            "Thu, 29 Feb 2024 23:59:60 GMT", "120", "text/event-stream;charset=UTF-8", "chunked, gzip ,, x",
        ].map { Array($0.utf8) },
        dictionary: [
            "Mon, ", "Jan", "GMT", " ", "23:59:60", "; ", "=", "\"", "\\", "boundary=", "0000", "9999",
            "29 Feb 2023",
        ])

    @Test func `header values of any text are read or refused`() {
        Fuzz.run("header-values", quick: 4_000, report: { Issue.record("\($0)") }) { fuzz in
            let text = String(decoding: Self.values.input(fuzz), as: UTF8.self)
            if let parsed = ParameterizedValue(text) {
                try #require(parsed.value.utf8.count <= text.utf8.count)
                try #require(parsed.parameters.count <= text.utf8.count)
            }
            // The second 60 counts as the next minute's first.
            if let seconds = HTTPDate.seconds(text), seconds % 60 != 0 {
                try #require(HTTPDate.text(seconds) == text)
            }
            switch RetryAfter(text) {
            case .delay(let delay)?: try #require((.zero...RetryAfter.waitMax).contains(delay))
            case .date?:
                for now: Int64 in [.min / 4, 0, 1_700_000_000, .max / 4] {
                    let wait = RetryAfter(text)?.wait(at: now) ?? .zero
                    try #require((.zero...RetryAfter.waitMax).contains(wait))
                }
            case nil: break
            }
            var fields: HeaderFields = ["a": text, "B": "x"]
            try #require(fields.list("A").allSatisfy { !$0.isEmpty && !$0.contains(",") })
            fields.set("b", to: text)
            try #require(fields["B"] == text && fields.count == 2)
        }
    }

    @Test func `every second between the years 1 and 9999 is a date and back`() {
        Fuzz.run("dates", quick: 4_000, report: { Issue.record("\($0)") }) { fuzz in
            let (first, last): (Int64, Int64) = (-62_135_596_800, 253_402_300_799)
            let second = first + Int64(fuzz.below(Int(last - first), 1, 0))
            try #require(HTTPDate.seconds(HTTPDate.text(second)) == second)
        }
        #expect(HTTPDate.text(-62_135_596_800) == "Mon, 01 Jan 0001 00:00:00 GMT")
        #expect(HTTPDate.text(253_402_300_799) == "Fri, 31 Dec 9999 23:59:59 GMT")
    }
}

/// The bytes of everything that a value keeps: arrays of bytes and texts, however deep.
func keptBytes(_ value: Any) -> Int {
    switch value {
    case let bytes as [UInt8]: bytes.count
    case let text as String: text.utf8.count
    default: Mirror(reflecting: value).children.reduce(0) { $0 + keptBytes($1.value) }
    }
}

extension String {
    /// Its lines, ended by CR, LF or CRLF; in scalars, because CRLF is one character.
    fileprivate var unicodeLines: [String] {
        var lines = [String.UnicodeScalarView()]
        var last: Unicode.Scalar?
        for scalar in self.unicodeScalars {
            switch scalar {
            case "\n" where last == "\r": break
            case "\r", "\n": lines.append(String.UnicodeScalarView())
            default: lines[lines.count - 1].append(scalar)
            }
            last = scalar
        }
        return lines.map { String($0) }
    }
}
