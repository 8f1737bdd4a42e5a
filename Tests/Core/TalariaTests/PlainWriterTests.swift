import JSON
import SimBase
import SimTestSupport
import Testing

@testable import Talaria

/// What is written by hand must be what the encoder writes, to the byte.
@Suite struct PlainWriterTests {
    static let texts = [
        "", "plain", "a\"b\\c/d", "\u{0}\u{1}\u{8}\t\n\u{B}\u{C}\r\u{E}\u{1F}\u{7F}\u{80}", "ü 猫 🌲 \u{2028}",
        "The Art of War \"孫子兵法\"",
    ]
    static let decimals = [0, 1, 0.5, 0.55, 0.001, 0.999, 12, 1e-7, 1e21, 123_456_789.125, -0.25]

    private func agree(_ value: some JSONWritable & Encodable) {
        let (written, encoded) = (JSON.encode(value), JSON.encodeByEncoder(value))
        #expect(String(decoding: written, as: UTF8.self) == String(decoding: encoded, as: UTF8.self))
    }

    private func book(_ text: String, _ confidence: Double?) -> Book {
        Book(
            title: text, author: text, isbn: confidence == nil ? nil : text, confidence: confidence,
            enrichmentStatus: confidence.map { $0 > 0.5 ? .success : .unknown(text) }, coverUrl: text)
    }

    @Test(arguments: texts, decimals) func `every body is what the encoder makes of it`(
        text: String, decimal: Double
    ) {
        let books = [self.book(text, decimal), self.book(text, nil)]
        let summary = CompletedSummary(totalDetected: 2, approved: 1, needsReview: 10)
        self.agree(books[0])
        self.agree(CompletedData(jobId: text, resultsUrl: text, summary: summary, books: books))
        self.agree(CompletedData(jobId: text, resultsUrl: nil, summary: nil, books: []))
        self.agree(CompletedData(jobId: text, resultsUrl: nil, summary: summary, books: nil))
        self.agree(ResultsBody(jobId: text, results: books))
        let link = UploadAccepted.Link(href: text, rel: text, method: nil)
        self.agree(
            UploadAccepted(
                job: .init(jobId: text, authToken: text, sseUrl: text, statusUrl: nil),
                links: .init(own: link, stream: link, cancel: .init(href: "", rel: nil, method: text)),
                metadata: Metadata(timestamp: text, requestId: text)))
        self.agree(
            UploadAccepted(
                job: .init(jobId: text, authToken: nil, sseUrl: text, statusUrl: text), links: nil,
                metadata: nil))
        self.agree(
            StatusBody(
                .init(
                    jobId: text, status: .processing, progress: decimal, processedCount: 1, totalCount: 2)))
        self.agree(CancelBody(jobId: text))
        let metadata = Metadata(timestamp: text, requestId: text)
        self.agree(
            Problem(.conflict, detail: text, instance: text, retryAfterMs: 1_500, metadata: metadata))
        self.agree(
            Problem(.rateLimitExceeded, detail: text, instance: nil, retryAfterMs: nil, metadata: nil))
        self.agree(ErrorData(jobId: text, code: text, message: text, retryable: decimal > 0))
        self.agree(
            DegradedData(jobId: text, isbn: text, title: text, reason: text, timestamp: text))
        self.agree(DegradedData(jobId: text, isbn: nil, title: "", reason: text, timestamp: text))
    }

    @Test(arguments: texts) func `a text that is written where it stands is escaped as any other`(
        text: String
    ) {
        let written = JSON.object { writer in
            writer.member("message") { draft in
                draft.append(text: text)
                draft.append(literal: "!")
            }
        }
        let encoded = JSON.encodeByEncoder(["message": text + "!"])
        #expect(String(decoding: written, as: UTF8.self) == String(decoding: encoded, as: UTF8.self))
    }

    @Test func `a share is written as the number it is`() {
        for thousandths in 0...1_000 {
            let written = JSON.object { $0.member("progress", thousandths: thousandths) }
            let encoded = JSON.encodeByEncoder(["progress": Double(thousandths) / 1_000])
            #expect(written == encoded)
        }
    }

    @Test(arguments: [0, 999, 1_770_000_000_123, -1, -62_135_596_800_000, 253_402_300_800_000] as [Int64])
    func `a timestamp is written as its text`(milliseconds: Int64) {
        let written = JSON.object { $0.member("timestamp", timestamp: milliseconds) }
        let text = Timestamp.iso8601(unixMilliseconds: milliseconds)
        #expect(written == JSON.encodeByEncoder(["timestamp": text]))
    }
}

/// What is read must be what the decoder reads.
@Suite struct PlainBodyTests {
    private static let books = [
        Book(
            title: "Der \"Prozeß\"", author: "Franz Kafka\n", isbn: "9783518", confidence: 0.75,
            enrichmentStatus: .success, coverUrl: "https://covers.example/1.jpg"),
        Book(
            title: "紅樓夢", author: "曹雪芹", isbn: nil, confidence: 1, enrichmentStatus: .reviewNeeded,
            coverUrl: nil),
    ]
    private static let completed = JSON.encode(
        CompletedData(
            jobId: "j-1", resultsUrl: "/v3/jobs/scans/j-1/results",
            summary: CompletedSummary(totalDetected: 2, approved: 1, needsReview: 1), books: Self.books))
    private static let accepted = JSON.encode(
        UploadAccepted(
            job: .init(jobId: "j-1", authToken: "0123", sseUrl: "/s", statusUrl: "/t"),
            links: .init(
                own: .init(href: "/t", rel: "self", method: "GET"),
                stream: .init(href: "/s", rel: "stream", method: "GET"),
                cancel: .init(href: "/t", rel: "cancel", method: "DELETE")),
            metadata: Metadata(timestamp: "2026-02-01T12:00:00.000Z", requestId: "req-1")))

    private static func accepted(_ bytes: [UInt8]) -> UploadAccepted? {
        var notes = ContractNotes()
        return UploadAccepted.read(bytes, into: &notes)
    }

    private static func completed(_ bytes: [UInt8]) -> CompletedReading? {
        var notes = ContractNotes()
        return CompletedReading.read(bytes, into: &notes)
    }

    @Test func `bodies are read as the decoder reads them`() {
        let text = String(decoding: Self.completed, as: UTF8.self)
        #expect(Self.completed(Self.completed) == JSON.decode(CompletedReading.self, from: text))
        #expect(Self.completed(Self.completed)?.inline == .books(Self.books))
        #expect(
            Self.accepted(Self.accepted)?.data
                == JSON.decode(UploadAccepted.self, from: Self.accepted)?.data)
        #expect(Self.accepted(Self.accepted)?.data.sseUrl == "/s")
    }

    @Test(arguments: [
        #"{"books":null}"#, #"{"books":[]}"#, "{}", #"{"books":[{"title":"T"}]}"#, #"{"books":{}}"#,
        #"{"books":[{"title":"T","author":null}]}"#,
        #"{"books":[{"title":"T","author":"A","extra":1}]}"#, #"{"summary":{"a":{}},"jobId":"j"}"#,
        #"{"books":[{"title":"\u0041","author":"A"}]}"#, #"{"jobId":5}"#, "[]", "{", "", "null",
        #"{"jobId":null,"resultsUrl":""}"#,
    ]) func `a completed event reads as the decoder reads it`(data: String) {
        let decoded = JSON.decode(CompletedReading.self, from: data)
        #expect(Self.completed(Array(data.utf8)) == decoded)
        #expect(
            JobEvent(name: "completed", data: data)
                == decoded.map(JobEvent.completed) ?? .malformed(.completed))
    }

    @Test(arguments: ["completed", "progress", "error"])
    func `an event that is no UTF-8 reads as its repaired text`(name: String) {
        let random = KeyedRandom(seed: 13)
        for round in 0..<2_000 as Range<UInt64> {
            var bytes = Self.completed
            for change in 0...random.below(4, .photo, round, 99) {
                let offset = Int(random.below(UInt64(bytes.count), .photo, round, change * 2))
                bytes[offset] = 0x80 | UInt8(random.below(128, .photo, round, change * 2 + 1))
            }
            let text = String(decoding: bytes, as: UTF8.self)
            #expect(JobEvent(name: name, bytes: bytes) == JobEvent(name: name, data: text))
        }
    }

    @Test func `damaged bodies read as the decoder reads them`() throws {
        let random = KeyedRandom(seed: 12)
        for round in 0..<20_000 as Range<UInt64> {
            var bytes = round % 2 == 0 ? Self.completed : Self.accepted
            for change in 0...random.below(3, .photo, round, 99) {
                let offset = Int(random.below(UInt64(bytes.count), .photo, round, change * 2))
                let byte = UInt8(random.below(96, .photo, round, change * 2 + 1)) + 0x20
                switch random.below(3, .photo, round, change + 50) {
                case 0: bytes[offset] = byte
                case 1: bytes.insert(byte, at: offset)
                default: bytes.remove(at: offset)
                }
            }
            if let read = Self.accepted(bytes) {
                let required = try #require(JSON.decode(Required.self, from: bytes))
                #expect(read.success == required.success)
                #expect(read.data.jobId == required.data.jobId && read.data.sseUrl == required.data.sseUrl)
                // A member of another form that no client requires is noted. The decoder refuses it.
                let whole = JSON.decode(Accepted.self, from: bytes)
                #expect(whole.map { $0.data == read.data } ?? true)
            }
            // The decoder accepts bad escapes and numbers in what it is not asked for.
            let text = String(decoding: bytes, as: UTF8.self)
            if let read = Self.completed(bytes) {
                #expect(read == JSON.decode(CompletedReading.self, from: text), "\(text)")
            }
        }
    }

    private struct Required: Decodable {
        struct Data: Decodable {
            var jobId: String
            var sseUrl: String
        }

        var success: Bool
        var data: Data
    }

    private struct Accepted: Decodable {
        var success: Bool
        var data: UploadAccepted.Job
    }
}
