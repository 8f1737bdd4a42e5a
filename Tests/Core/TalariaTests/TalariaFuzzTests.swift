import JSON
import SimBase
import SimTestSupport
import Talaria
import Testing

/// Damaged bodies and events. Nothing traps, and what was understood can be written and is then understood the same.
@Suite struct TalariaFuzzTests {
    private static let book = Book(
        title: "Преступление \u{1F4DA} \"quoted\" \\ back/slash", author: "Фёдор Достоевский",
        isbn: "9783161484100",
        confidence: 0.95, enrichmentStatus: .reviewNeeded, coverUrl: "https://covers.example/1.jpg")

    private static let texts: [[UInt8]] = [
        JSON.encode(
            UploadAccepted(
                job: .init(
                    jobId: "j-1", authToken: "0f", sseUrl: "/v3/jobs/scans/j-1/stream",
                    statusUrl: "/v3/jobs/scans/j-1"),
                links: .init(
                    own: .init(href: "/a", rel: "self", method: "GET"),
                    stream: .init(href: "/b", rel: nil, method: nil),
                    cancel: .init(href: "/c", rel: nil, method: "DELETE")),
                metadata: Metadata(timestamp: "2026-02-01T12:00:00.000Z", requestId: "r-1"))),
        JSON.encode(ResultsBody(jobId: "j-1", results: [Self.book, Self.book])),
        JSON.encode(
            StatusBody(
                .init(jobId: "j-1", status: .processing, progress: 0.5, processedCount: 1, totalCount: 2))),
        JSON.encode(CancelBody(jobId: "j-1")),
        JSON.encode(
            Problem(
                .rateLimitExceeded, detail: "Too many requests from device", instance: "/v3/jobs/scans",
                retryAfterMs: 60_000, metadata: Metadata(timestamp: "t", requestId: "r"))),
        JSON.encodeByEncoder(
            ProgressData(
                jobId: "j-1", status: "processing", progress: 0.05, processedCount: 0, totalCount: 1,
                message: "Looking\u{2026}", currentItem: "x", timestamp: "t")),
        JSON.encode(
            CompletedData(
                jobId: "j-1", resultsUrl: "/v3/jobs/scans/j-1/results",
                summary: CompletedSummary(totalDetected: 2, approved: 1, needsReview: 1), books: [Self.book])),
        JSON.encode(ErrorData(jobId: "j-1", code: "NO_TEXT_DETECTED", message: "m", retryable: false)),
        JSON.encode(
            DegradedData(
                jobId: "j-1", isbn: "9783161484100", title: "t", reason: "isbndb_circuit_open", timestamp: "t"
            )),
        JSON.encodeByEncoder(PingData(timestamp: "t")),
    ]

    private static let bodies = Mutator(
        corpus: texts,
        dictionary: [
            "\"success\":false", "\"data\":", "\"books\":null", "\"books\":[]", "\"results\":{}", "{}", "[]",
            "{", "}",
            "]", "false", "\"confidence\":1e309", "-0", "1E+2", "0.85", "\"0.85\"", "\\n", "\\uD83D\\uDCDA",
            "\\uDC00",
            "\"retryAfterMs\":", "//", "/*", "'", "\"jobId\":\"j-2\"", ",\"jobId\":\"j-3\"",
        ])

    /// What was understood is written and read again.
    private static func roundTrip<Value: Codable & JSONWritable & Equatable>(
        _ type: Value.Type, _ bytes: [UInt8]
    ) throws {
        guard let value = JSON.decode(type, from: bytes) else { return }
        let written = JSON.encode(value)
        try #require(JSON.decode(type, from: written) == value)
        try #require(JSON.encode(value) == written)
    }

    @Test func `bodies of any bytes are read or refused`() {
        Fuzz.run("bodies", quick: 2_500, report: { Issue.record("\($0)") }) { fuzz in
            let bytes = Self.bodies.input(fuzz)
            try Self.roundTrip(UploadAccepted.self, bytes)
            try Self.roundTrip(ResultsBody.self, bytes)
            try Self.roundTrip(StatusBody.self, bytes)
            try Self.roundTrip(CancelBody.self, bytes)
            try Self.roundTrip(Problem.self, bytes)
        }
    }

    @Test func `events of any text are what they are called, or malformed, or unknown`() {
        Fuzz.run("events", quick: 2_500, report: { Issue.record("\($0)") }) { fuzz in
            let text = String(decoding: Self.bodies.input(fuzz), as: UTF8.self)
            for kind in EventKind.allCases {
                switch (JobEvent(name: kind.rawValue, data: text), kind) {
                case (.progress, .progress): break
                case (.error(let data), .error):
                    try #require(JSON.decode(ErrorData.self, from: JSON.encode(data)) == data)
                case (.enrichmentDegraded(let data), .enrichmentDegraded):
                    try #require(JSON.decode(DegradedData.self, from: JSON.encode(data)) == data)
                case (.completed(let reading), .completed):
                    guard case .books(let books) = reading.inline else { break }
                    try #require(!books.isEmpty)
                    try #require(JSON.decode([Book].self, from: JSON.encodeByEncoder(books)) == books)
                case (.ping, .ping): break
                case (.unknown("result"), .result): break
                case (.malformed(let malformed), _): try #require(malformed == kind)
                default: throw Misread(kind: kind)
                }
            }
            guard case .unknown = JobEvent(name: "\(text)!", data: text) else { throw Misread(kind: .ping) }
        }
    }

    private struct Misread: Error { var kind: EventKind }

    private static let names = Mutator(
        corpus: [
            "00-000000000000abcd0000000700000001-0100000000000001-01", "/v3/jobs/scans",
            "/v3/jobs/scans/a~1/stream",
            "/v3/jobs/scans/a.1/results", "/v3/jobs/scans/a_1/cleanup", "/v3/jobs/scans/..",
        ].map { Array($0.utf8) }, dictionary: ["-", "/", "//", "..", ".", "00", "ff", "FF", "%2F", "+", "g"])

    @Test func `trace contexts and paths of any text are ours or not`() {
        Fuzz.run("names", quick: 6_000, report: { Issue.record("\($0)") }) { fuzz in
            let text = String(decoding: Self.names.input(fuzz), as: UTF8.self)
            if let trace = TraceContext(headerValue: text) {
                try #require(TraceContext(headerValue: trace.headerValue) == trace)
            }
            if let endpoint = Endpoint(path: text) { try #require(endpoint.path == text) }
        }
    }

    @Test func `every trace context comes back from its header`() {
        Fuzz.run("traces", quick: 4_000, report: { Issue.record("\($0)") }) { fuzz in
            func draw(_ name: UInt64) -> UInt64 { fuzz.random.draw(.test, fuzz.number, name) }
            let trace = TraceContext(
                run: max(1, draw(1)), device: DeviceNumber(UInt32(truncatingIfNeeded: draw(2))),
                scan: ScanNumber(UInt32(truncatingIfNeeded: draw(3))),
                operation: Operation.allCases[fuzz.below(Operation.allCases.count, 1, 0)],
                attempt: UInt32(truncatingIfNeeded: draw(4)))
            try #require(TraceContext(headerValue: trace.headerValue) == trace)
        }
    }
}
