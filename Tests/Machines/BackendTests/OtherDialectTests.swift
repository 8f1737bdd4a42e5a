import Backend
import Faults
import JSON
import OriginServer
import SimBase
import Talaria
import Testing
import Wire

/// The dialects `bendv3`, `legacy-openapi` and `wingtip`, byte for byte where they differ from the contract.
@Suite struct OtherDialectTests {
    private static func bench(
        _ dialect: String, books: Int = 1, change: (inout BackendConfiguration) -> Void = { _ in }
    ) throws -> Bench {
        let preset = try #require(BackendConfiguration.preset(dialect))
        return Bench(books: books) { configuration in
            configuration = preset
            configuration.jobTime = .seconds(10)...(.seconds(10))
            configuration.wallClockAtZero = Bench.wallClockAtZero
            configuration.rateLimit = nil
            change(&configuration)
        }
    }

    /// The job of an upload whose 202 has these keys.
    private static func job(
        _ bench: inout Bench, part: String = "photos[]", in key: String? = "data", token: String? = nil
    ) throws -> Bench.Job {
        var photo = Bench.jpeg
        photo.name = part
        let effects = bench.upload([photo])
        #expect(effects.status == 202)
        let body = try #require(JSONNode(effects.reply?.body ?? []))
        let data = try #require(key.map { body[$0] } ?? body)
        let id = try #require(data["jobId"]?.text)
        return Bench.Job(id: id, token: token.flatMap { data[$0]?.text } ?? "")
    }

    private static func quoted(_ text: String) -> String {
        String(decoding: JSON.string(text), as: UTF8.self)
    }

    private static func book(_ bench: Bench, _ ordinal: Int = 0) -> Book {
        bench.shelf.book(device: DeviceNumber(4), scan: ScanNumber(1), ordinal: ordinal)
    }

    private static func text(_ book: Book) -> String { String(decoding: JSON.encode(book), as: UTF8.self) }

    // MARK: bendv3

    @Test func `bendv3 names token and stream in its own way`() throws {
        var bench = try Self.bench("bendv3")
        let body = bench.upload().bodyText
        let job = try #require(body.firstMatch(of: /"jobId":"([0-9a-f-]+)"/)).1
        #expect(
            body.contains(
                /"data":\{"token":"[0-9a-f]{64}","jobId":"[0-9a-f-]+","streamUrl":"[^"]+\/stream","status":"queued","statusUrl":"[^"]+"\}/
            ), "\(body)")
        #expect(body.contains("\"streamUrl\":\"/v3/jobs/scans/\(job)/stream\""))
        #expect(!body.contains("sseUrl") && !body.contains("authToken"))
    }

    @Test func `bendv3 sends its own progress, a completed of 100, and a second one without books`() throws {
        var bench = try Self.bench("bendv3")
        let job = try Self.job(&bench, token: "token")
        let (exchange, effects) = bench.stream(job)
        guard
            case .openStream(exchange, let headers, _)? = effects.first(where: {
                if case .openStream = $0 { true } else { false }
            })
        else {
            Issue.record("no stream")
            return
        }
        #expect(headers.contains(HeaderField("Access-Control-Allow-Origin", "*")))
        bench.run(seconds: 30)
        let events = bench.read(exchange)
        let node = events.compactMap { JSONNode(Array($0.data.utf8)) }
        #expect(
            events.map(\.id) == [
                "1769947200000-initial", "1769947200000-progress", "1769947205000-progress",
                "1769947206000-progress", "1769947209800-progress", "1769947210000-completed",
                "1769947213000-final",
            ])
        #expect(
            node.map { $0["message"]?.text } == [
                nil, "Starting scan of 1 photos...", "Processing photo 1 of 1...",
                "Enriching 1 detected books...", "Enriching book 1 of 1...", nil, nil,
            ])
        #expect(node.map { $0["progress"]?.decimal } == [0.1, 0.1, 0.5, 0.5, 0.95, 100, nil])
        #expect(node[5]["books"]?.elements.count == 1 && node[6]["books"] == nil)
        #expect(node[6]["resultsUrl"]?.text == "/v3/jobs/scans/\(job.id)/results")
        #expect(node[6]["type"]?.text == "complete")
        #expect(bench.hasEnded(exchange))
    }

    @Test func `bendv3 sends no books again`() throws {
        var bench = try Self.bench("bendv3")
        let job = try Self.job(&bench, token: "token")
        bench.run(seconds: 11)
        let (late, _) = bench.stream(job)
        let completed = try #require(bench.read(late).first { $0.type == "completed" })
        #expect(!completed.data.contains("\"books\""))
    }

    @Test func `bendv3 tells a failure in an event of its own`() throws {
        var bench = try Self.bench("bendv3")
        let job = try Self.job(&bench, token: "token")
        let (exchange, _) = bench.stream(job, faults: [.armed(.retryableError(code: "TIMEOUT"))])
        let last = try #require(bench.read(exchange).last)
        #expect(last.type == "failed" && last.id == "1769947200000-failed")
        #expect(
            last.data
                == "{\"error\":{\"code\":\"TIMEOUT\",\"message\":\"The photo could not be read just now.\",\"retryable\":true},\"jobId\":\"\(job.id)\",\"status\":\"failed\"}"
        )
        #expect(bench.hasEnded(exchange))
    }

    @Test func `bendv3 answers in its own way where a stream cannot be opened`() throws {
        var bench = try Self.bench("bendv3") { $0.tokenLifetime = .seconds(5) }
        let job = try Self.job(&bench, token: "token")
        let unknown = Bench.Job(id: "4f1f2c1e-0000-4000-8000-000000000000", token: job.token)
        let (exchange, _) = bench.stream(unknown)
        let event = try #require(bench.read(exchange).first)
        #expect(event.type == "error" && event.data.contains("\"error\":{\"code\":\"JOB_NOT_FOUND\""))
        #expect(bench.hasEnded(exchange))
        let plain = bench.ask(
            "GET", "/v3/jobs/scans/\(job.id)/stream", authorization: "Bearer \(job.token)")
        #expect(plain.effects.verdict == "400 INVALID_ACCEPT_HEADER")
        bench.run(seconds: 6)
        let expired = bench.stream(job).effects
        #expect(expired.status == 401)
        #expect(
            expired.bodyText.hasPrefix(
                "{\"error\":{\"code\":\"TOKEN_EXPIRED\",\"message\":\"The token has expired.\"},\"metadata\":{"
            ))
        #expect(expired.bodyText.hasSuffix(",\"success\":false}"))
    }

    @Test func `bendv3 keeps the last hundred events`() throws {
        var bench = try Self.bench("bendv3", books: 120)
        let job = try Self.job(&bench, token: "token")
        bench.run(to: .zero + .milliseconds(9_900))  // Of 123 events.
        let (exchange, _) = bench.stream(job)
        #expect(bench.read(exchange).filter { $0.id.hasSuffix("-progress") }.count == 100)
    }

    // MARK: legacy-openapi

    @Test func `legacy-openapi completes with an event complete, and says what OAS says before`() throws {
        var bench = try Self.bench("legacy-openapi")
        let job = bench.job()
        let (exchange, _) = bench.stream(job)
        bench.run(seconds: 30)
        let events = bench.read(exchange)
        let book = Self.book(bench)
        #expect(
            events.compactMap { JSONNode(Array($0.data.utf8))?["message"]?.text } == [
                "Looking...", "Reading...", "Enriching...", "Finalizing...",
            ])
        let last = try #require(events.last)
        #expect(last.type == "complete" && last.id == "1769947210000-complete")
        #expect(last.data.hasPrefix("{\"books\":[\(Self.text(book))],\"jobId\":\"\(job.id)\""))
        #expect(last.data.hasSuffix("\"type\":\"complete\"}"))
        #expect([.unknown("complete"), .unknown("failed")].contains(book.enrichmentStatus))
    }

    @Test func `legacy-openapi serves books, three fields of them where they are lite`() throws {
        var bench = try Self.bench("legacy-openapi")
        let job = bench.job()
        bench.run(seconds: 11)
        let book = Self.book(bench)
        let isbn = book.isbn.map { "\"isbn\":\"\($0)\"," } ?? ""
        let short =
            "{\"author\":\(Self.quoted(book.author)),\(isbn)\"title\":\(Self.quoted(book.title))}"
        func body(_ book: String) -> String {
            "{\"data\":{\"jobId\":\"\(job.id)\",\"processingTimeMs\":10000,\"books\":[\(book)],\"status\":\"completed\"},\"success\":true}"
        }
        #expect(bench.results(job).bodyText == body(short))
        #expect(bench.results(job, query: nil).bodyText == body(Self.text(book)))
        let full = String(decoding: JSONWriter.bytes { book.writeFull(to: &$0) }, as: UTF8.self)
        #expect(bench.results(job, query: "format=full").bodyText == body(full) && full != Self.text(book))
    }

    @Test func `legacy-openapi pings with nothing, degrades with three fields and waits in seconds`() throws {
        var bench = try Self.bench("legacy-openapi") {
            $0.ping = .seconds(4)
            $0.rateLimit = Quota(requests: 1, window: .seconds(90))
        }
        let job = bench.job()
        let (exchange, _) = bench.stream(job, faults: [.armed(.degraded(books: .always))])
        bench.run(to: .zero + .milliseconds(9_900))
        let events = bench.read(exchange)
        #expect(events.first { $0.type == "ping" }?.data == "{}")
        let title = Self.quoted(Self.book(bench).title).dropFirst().dropLast()
        #expect(
            events.first { $0.type == "enrichment_degraded" }?.data
                == "{\"failedFields\":[\"coverUrl\"],\"jobId\":\"\(job.id)\",\"message\":\"\(title) could not be looked up.\",\"severity\":\"warning\"}"
        )
        let limited = bench.upload()
        #expect(limited.status == 429 && limited.bodyText.contains("\"retryAfter\":81,"))
        #expect(!limited.bodyText.contains("retryAfterMs"))
    }

    // MARK: wingtip

    @Test func `wingtip takes an image and answers flatly`() throws {
        var bench = try Self.bench("wingtip")
        var photo = Bench.jpeg
        photo.name = "image"
        let body = bench.upload([photo]).bodyText
        #expect(
            body.wholeMatch(
                of: /\{"jobId":"([0-9a-f-]+)","streamUrl":"\/v3\/jobs\/scans\/([0-9a-f-]+)\/stream"\}/)
                != nil,
            "\(body)")
        #expect(bench.upload().verdict == "400 INVALID_REQUEST")
    }

    @Test func `wingtip streams to anybody, in envelopes, a result for each book`() throws {
        var bench = try Self.bench("wingtip")
        let job = try Self.job(&bench, part: "image", in: nil)
        let (exchange, _) = bench.ask(
            "GET", "/v3/jobs/scans/\(job.id)/stream", device: nil, accept: "text/event-stream")
        bench.run(seconds: 30)
        let events = bench.read(exchange)
        #expect(events.map(\.type) == ["progress", "progress", "progress", "result", "complete"])
        #expect(events[0].data.hasPrefix("{\"data\":{\"jobId\":\"\(job.id)\",\"message\":\"Starting scan"))
        #expect(events[0].data.hasSuffix("},\"type\":\"progress\"}"))
        #expect(events[3].data == "{\"data\":\(Self.text(Self.book(bench))),\"type\":\"result\"}")
        #expect(
            events[4].data == "{\"data\":{\"booksFound\":1,\"jobId\":\"\(job.id)\"},\"type\":\"complete\"}")
        #expect(bench.ask("DELETE", "/v3/jobs/scans/\(job.id)/cleanup").effects.status == 204)
    }

    @Test func `a fault changes the data inside of an envelope`() throws {
        var bench = try Self.bench("wingtip")
        let job = try Self.job(&bench, part: "image", in: nil)
        let (exchange, _) = bench.ask(
            "GET", "/v3/jobs/scans/\(job.id)/stream", device: nil, accept: "text/event-stream",
            faults: [.armed(.eventShape(.noMessage))])
        let first = try #require(bench.read(exchange).first)
        #expect(first.data.hasPrefix("{\"data\":{\"jobId\""))
        #expect(!first.data.contains("message"))
    }
}
