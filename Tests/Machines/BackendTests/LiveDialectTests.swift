import Backend
import JSON
import OriginServer
import SimBase
import Talaria
import Testing
import Wire

/// The dialect `live-2026-02`: the recorded job of Docs/contract.md section 2.4, byte for byte.
@Suite struct LiveDialectTests {
    /// The first progress event of the recorded job has the milliseconds 148688, its stream begins 83 ms later.
    private static func recorded(books: Int = 5) throws -> (Bench, Bench.Job, ExchangeID) {
        var bench = try Self.bench(books: books)
        let job = bench.job()
        bench.run(to: .zero + .milliseconds(83))
        let exchange = bench.stream(job).exchange
        return (bench, job, exchange)
    }

    private static func bench(books: Int = 5) throws -> Bench {
        let preset = try #require(BackendConfiguration.preset("live-2026-02"))
        return Bench(books: books) { configuration in
            configuration = preset
            configuration.jobTime = .milliseconds(11_591)...(.milliseconds(11_591))
            configuration.wallClockAtZero = Bench.wallClockAtZero
        }
    }

    private static func text(_ bench: Bench, _ exchange: ExchangeID) -> String {
        let pieces = bench.effects.map { effect -> [UInt8] in
            if case .stream(exchange, let bytes, _) = effect { bytes } else { [] }
        }
        return String(decoding: pieces.joined(), as: UTF8.self)
    }

    @Test func `the stream is that of the transcript`() throws {
        var (bench, job, exchange) = try Self.recorded()
        bench.run(seconds: 30)
        let books = bench.shelf.books(device: DeviceNumber(4), scan: ScanNumber(1))
        let id = job.id

        func event(_ ms: Int, _ suffix: String, _ name: String, _ data: String) -> String {
            "id: 17699472\(String(format: ms))-\(suffix)\nevent: \(name)\ndata: \(data)\n\n"
        }
        func progress(
            _ ms: Int, _ message: String, _ share: String, _ status: String, _ counts: (Int, Int),
            _ time: String, more: String = ""
        ) -> String {
            event(
                ms, "progress", "progress",
                "{\(more)\"jobId\":\"\(id)\",\"message\":\"\(message)\",\"processedCount\":\(counts.0),"
                    + "\"progress\":\(share),\"status\":\"\(status)\",\"timestamp\":\"2026-02-01T12:00:\(time)Z\","
                    + "\"totalCount\":\(counts.1),\"type\":\"progress\"}")
        }
        var expected = ": connection established\nretry: 5000\n\n"
        expected += event(
            83, "initial", "progress",
            "{\"jobId\":\"\(id)\",\"processedCount\":0,\"progress\":0.05,\"status\":\"processing\",\"totalCount\":1,\"type\":\"progress\"}"
        )
        expected += progress(0, "analyzing_image", "0.05", "analyzing_image", (0, 1), "00.000")
        expected += progress(5_249, "analyzing_image", "0.1", "analyzing_image", (0, 1), "05.249")
        expected += progress(5_328, "Processing photo 1 of 1...", "0.5", "analyzing_image", (0, 1), "05.328")
        expected += progress(
            11_344, "Identified 5 books", "0.5", "identifying_books", (0, 5), "11.344",
            more: "\"count_detected\":5,")
        expected += progress(11_421, "enriching_metadata", "0.55", "enriching_metadata", (0, 5), "11.421")
        for (index, share) in ["0.63", "0.71", "0.79", "0.87", "0.95"].enumerated() {
            let title = Self.quoted(books[index].title)
            expected += event(
                11_421, "result", "result",
                "{\"book\":\(Self.nested(books[index])),\"currentItem\":\(title),\"jobId\":\"\(id)\","
                    + "\"message\":\"Enriched book \(index + 1) of 5\",\"progress\":\(share),"
                    + "\"status\":\"enriching_metadata\",\"type\":\"result\"}")
        }
        expected += event(
            11_591, "completed", "completed",
            "{\"books\":[\(books.map(Self.inline).joined(separator: ","))],"
                + "\"completedAt\":\"2026-02-01T12:00:11.591Z\",\"jobId\":\"\(id)\",\"processedCount\":5,"
                + "\"progress\":1,\"status\":\"completed\","
                + "\"summary\":{\"degraded_count\":0,\"enriched\":0,\"errors\":[],\"failed\":0,\"review_needed\":5,\"total_processed\":5},"
                + "\"totalCount\":5,\"type\":\"completed\"}")
        expected += event(
            21_557, "final", "completed",
            "{\"jobId\":\"\(id)\",\"resultsUrl\":\"/v3/jobs/ai_scan/scans/\(id)/results\","
                + "\"summary\":{\"enriched\":0,\"failed\":0,\"total_processed\":5},\"type\":\"complete\"}")

        let text = Self.text(bench, exchange)
        #expect(text == expected)
        #expect(text.split(separator: "\n").count == 41)
        #expect(bench.hasEnded(exchange))
    }

    @Test func `a stream that resumes by a time misses the other events of that millisecond`() throws {
        var (bench, job, first) = try Self.recorded()
        bench.run(to: .zero + .milliseconds(11_500))
        let result = try #require(bench.read(first).last { $0.type == "result" })
        #expect(result.id == "1769947211421-result")
        let (second, effects) = bench.stream(job, after: result.id, attempt: 2)
        // All five have the id: what the client saw of them is not known, and none is sent again.
        #expect(bench.read(second).isEmpty)
        #expect(effects.backendSightings.contains(.streamOpened(job: job.id, attempt: 2, after: 9)))
        bench.run(seconds: 1)
        #expect(bench.read(second).map(\.id) == ["1769947211591-completed"])
    }

    @Test(arguments: [(9_999, false), (10_000, true)])
    func `a stream begins with the state of the job after ten seconds`(age: Int64, isTold: Bool) throws {
        var (bench, job, _) = try Self.recorded()
        bench.run(to: .zero + .milliseconds(age))
        let (second, _) = bench.stream(job, after: "1769947200000-progress", attempt: 2)
        let ids = bench.read(second).map(\.id)
        let seen = ["1769947205249-progress", "1769947205328-progress"]
        #expect(ids == (isTold ? ["1769947210000-initial"] : []) + seen)
    }

    @Test func `a job that was cleaned up goes on on its open streams, and for nobody else`() throws {
        var (bench, job, first) = try Self.recorded()
        bench.run(seconds: 1)
        #expect(bench.cleanup(job).status == 204)
        #expect(bench.stream(job, attempt: 2).effects.verdict == "410 GONE")
        #expect(bench.cleanup(job).status == 204)
        bench.run(seconds: 30)
        #expect(bench.read(first).count == 13)
        #expect(bench.hasEnded(first))
        #expect(bench.backend.jobsAlive == 0)
    }

    @Test func `results are served under both paths`() throws {
        var (bench, job, _) = try Self.recorded()
        bench.run(to: .zero + .seconds(12))
        for path in ["/v3/jobs/scans/\(job.id)/results", "/v3/jobs/ai_scan/scans/\(job.id)/results"] {
            let effects = bench.ask("GET", path, authorization: "Bearer \(job.token)").effects
            #expect(
                JSON.decode(ResultsBody.self, from: effects.reply?.body ?? [])?.data.results
                    == bench.shelf.books(
                        device: DeviceNumber(4), scan: ScanNumber(1)))
        }
    }

    @Test func `an upload without photos is an error of the server, as it was in January`() throws {
        var bench = try Self.bench()
        var part = Bench.jpeg
        part.name = "image"
        #expect(bench.upload([part]).verdict == "500 INTERNAL_ERROR")
    }

    @Test func `links name the host that the client named`() throws {
        var bench = try Self.bench()
        let exchange = bench.nextExchange()
        let request = OriginRequest(
            method: "POST", path: "/v3/jobs/scans", query: nil, deviceID: Bench.deviceID, authorization: nil,
            accept: nil, contentType: "multipart/form-data; boundary=x", contentLength: 250_300,
            lastEventID: nil, authority: "phone-7.test:8080")
        bench.handle(.requested(exchange, request, Bench.caller(), connection: 1, faults: []))
        let reply = bench.handle(.uploaded(exchange, [Bench.jpeg])).reply
        let job = try #require(JSON.decode(UploadAccepted.self, from: reply?.body ?? [])?.data)
        #expect(job.sseUrl == "http://phone-7.test:8080/v3/jobs/scans/\(job.jobId)/stream")
    }

    private static func quoted(_ text: String) -> String {
        "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
    }

    /// The book of a `result` event: an ISBN that is null.
    private static func nested(_ book: Book) -> String {
        "{\"author\":\(Self.quoted(book.author)),\"enrichmentStatus\":\"review_needed\",\"isbn\":null,"
            + "\"title\":\(Self.quoted(book.title))}"
    }

    /// The book of a `completed` event.
    private static func inline(_ book: Book) -> String {
        "{\"author\":\(Self.quoted(book.author)),\"confidence\":0.95,\"enrichmentStatus\":\"review_needed\","
            + "\"isbn\":null,\"title\":\(Self.quoted(book.title))}"
    }
}

extension String {
    fileprivate init(format milliseconds: Int) {
        let number = String(milliseconds)
        self = String(repeating: "0", count: 5 - number.count) + number
    }
}
