import CSV
import JSON
import OriginServer
import SimBase
import Talaria
import Testing
import Wire

@testable import Backend

/// Scans and batches of v2 as their callers meet them (Docs/contract.md sections 3.1 to 3.3).
@Suite struct V2JobTests {
    private static let photo = UploadPart(
        name: "photos", filename: "a.jpg", contentType: "image/jpeg", bytes: 250_000,
        prefix: [0xFF, 0xD8, 0xFF, 0xE0])

    private static func scan(_ bench: inout Bench, photos: Int = 2, device: String? = nil) -> [OriginEffect] {
        let (exchange, effects) = bench.ask(
            "POST", "/api/batch-scan", device: device, contentType: "multipart/form-data; boundary=x",
            contentLength: 600_000)
        guard effects.contains(.readUpload(exchange)) else { return effects }
        return effects
            + bench.handle(.uploaded(exchange, Array(repeating: Self.photo, count: photos)))
    }

    private static func batch(
        _ bench: inout Bench, _ text: String, path: String = "/api/batch-enrich",
        type: String = "application/json"
    ) -> [OriginEffect] {
        let body = Array(text.utf8)
        let (exchange, effects) = bench.ask(
            "POST", path, device: nil, contentType: type, contentLength: body.count)
        guard effects.contains(.readUpload(exchange)) else { return effects }
        let part = UploadPart(
            name: "", filename: nil, contentType: type, bytes: body.count, prefix: body)
        return effects + bench.handle(.uploaded(exchange, [part]))
    }

    private static func job(_ effects: [OriginEffect]) throws -> Bench.Job {
        let reply = try #require(effects.reply)
        #expect(reply.status == 202, "\(String(decoding: reply.body, as: UTF8.self))")
        let body = try #require(JSONNode(reply.body))
        #expect(body["success"]?.flag == true)
        let data = try #require(body["data"])
        #expect(data["token"]?.text == data["authToken"]?.text)
        return Bench.Job(id: data["jobId"]?.text ?? "", token: data["authToken"]?.text ?? "")
    }

    private static func body(_ effects: [OriginEffect]) throws -> (status: Int, body: JSONNode) {
        let reply = try #require(effects.reply)
        return (reply.status, try #require(JSONNode(reply.body)))
    }

    // MARK: Barcodes

    /// A phone that asks by barcode gets the books of its shelf; the same barcodes of anybody else are looked up.
    @Test func `a batch of barcodes brings the books of its shelf`() throws {
        let device = Bench.caller().device
        var shelf = Shelf(seed: 7, booksMin: 30, booksMax: 30)
        shelf.exceptions = [Shelf.Exception(devices: device.raw...device.raw, stock: .barcodes)]
        var bench = Bench(shelf: shelf)
        let books = shelf.books(device: device, scan: ScanNumber(1))
        #expect(books.allSatisfy { $0.isbn.flatMap { ISBN($0) } != nil })
        let body = String(
            decoding: shelf.batchBody(device: device, scan: ScanNumber(1)), as: UTF8.self)
        #expect(body.hasPrefix(#"{"barcodes":["978"#) && body.hasSuffix(#""],"vectorize":false}"#))
        let job = try Self.job(Self.batch(&bench, body))
        bench.run(seconds: 12)
        let path = "/api/v2/enrichments/\(job.id)/results"
        let results = try Self.body(bench.get(path, job).effects)
        let found = results.body["data"]?["books"]?.elements ?? []
        #expect(found.map { $0["title"]?.text } == books.map(\.title))
        #expect(found.map { $0["isbn"]?.text } == books.map(\.isbn))
        #expect(bench.backend.enrichments.lookups == 0)
        // By title they are not those that this phone has.
        let titles = BatchRequest.body(of: books)
        _ = try Self.job(Self.batch(&bench, String(decoding: titles, as: UTF8.self)))
        let others = BatchRequest.body(ofBarcodes: books.dropLast().compactMap(\.isbn))
        _ = try Self.job(Self.batch(&bench, String(decoding: others, as: UTF8.self)))
        #expect(bench.backend.enrichments.lookups == 29)
    }

    // MARK: Scans

    @Test func `a scan has the events and the results of v2`() throws {
        var bench = Bench { $0.ping = .seconds(4) }
        let started = Self.scan(&bench)
        let job = try Self.job(started)
        #expect(job.id.hasPrefix("scan_"))
        let data = try #require(JSONNode(started.reply?.body ?? [])?["data"])
        #expect(data["sseUrl"]?.text == "/api/v2/scans/\(job.id)/stream")
        #expect(data["statusUrl"]?.text == "/api/v2/scans/\(job.id)")
        #expect(data["totalPhotos"]?.integer == 2)

        let (exchange, _) = bench.get("/api/v2/scans/\(job.id)/stream", job)
        bench.run(seconds: 12)
        let events = bench.read(exchange)
        #expect(
            events.map(\.type) == ["initialized"] + Array(repeating: "processing", count: 6) + ["completed"])
        let suffixes = events.map { $0.id.split(separator: "-").last.map(String.init) ?? "" }
        #expect(suffixes == ["initial"] + Array(repeating: "progress", count: 6) + ["final"])
        #expect(bench.hasEnded(exchange))
        let sent = bench.effects.reduce(into: [UInt8]()) { bytes, effect in
            if case .stream(exchange, let piece, _) = effect { bytes += piece }
        }
        let text = String(decoding: sent, as: UTF8.self)
        #expect(text.contains(": heartbeat\n\n") && !text.contains("event: ping"))
        let end = try #require(JSONNode(events.last?.bytes ?? []))
        #expect(end["type"]?.text == "job_complete" && end["pipeline"]?.text == "ai_scan")
        #expect(end["summary"]?["photosProcessed"]?.integer == 2)
        #expect(end["summary"]?["booksDetected"]?.integer == 3 && end["books"] == nil)

        let results = try Self.body(bench.get("/api/v2/scans/\(job.id)/results", job).effects)
        #expect(results.status == 200)
        let books = results.body["data"]?["books"]?.elements ?? []
        #expect(
            books.map { $0["title"]?.text }
                == bench.shelf.books(device: DeviceNumber(4), scan: ScanNumber(1)).map { $0.title })
        // The older path has the same.
        let again = try Self.body(bench.get("/v1/jobs/\(job.id)/results", job).effects)
        #expect(again.status == 200)
    }

    @Test func `a stream of v2 takes its token from the header or the query`() throws {
        var bench = Bench()
        let job = try Self.job(Self.scan(&bench))
        let path = "/api/v2/scans/\(job.id)/stream"
        #expect(bench.get(path, job).effects.verdict == "stream")
        #expect(
            bench.get(path, job, query: "token=\(job.token)", hasHeader: false).effects.verdict
                == "stream")
        for query in [nil, "token=", "token=other", "key=\(job.token)"] {
            let refused = try Self.body(
                bench.get(path, job, query: query, hasHeader: false).effects)
            #expect(refused.status == 401)
            #expect(refused.body["error"]?["code"]?.text == "UNAUTHORIZED")
            #expect(refused.body["error"]?["retryable"]?.flag == false)
        }
        // Only streams: a query is written into logs.
        let results = bench.get(
            "/api/v2/scans/\(job.id)/results", job, query: "token=\(job.token)", hasHeader: false)
        #expect(results.effects.status == 401)
        var v3 = Bench()
        let own = v3.job()
        let stream = v3.ask(
            "GET", "/v3/jobs/scans/\(own.id)/stream", query: "token=\(own.token)",
            accept: "text/event-stream")
        #expect(stream.effects.status == 401)
    }

    @Test func `a job of one journey is not known to another`() throws {
        var bench = Bench()
        let scan = try Self.job(Self.scan(&bench))
        let batch = try Self.job(Self.batch(&bench, #"{"books": [{"title": "Emma"}]}"#))
        let own = bench.job()
        let bare = scan.id.replacing("scan_", with: "")
        for (path, job) in [
            ("/v3/jobs/scans/\(scan.id)", scan), ("/v3/jobs/scans/\(bare)", scan),
            ("/api/v2/scans/scan_\(own.id)", own), ("/api/v2/enrichments/\(scan.id)", scan),
            ("/api/v2/scans/\(batch.id)", batch),
        ] {
            let effects = bench.ask("GET", path, authorization: "Bearer \(job.token)").effects
            #expect(effects.status == 404, "\(path)")
        }
        #expect(bench.get("/api/v2/scans/\(scan.id)", scan).effects.status == 200)
        #expect(bench.get("/api/v2/enrichments/\(batch.id)", batch).effects.status == 200)
    }

    @Test func `a DELETE cancels a job, and is told so each time`() throws {
        var bench = Bench()
        let job = try Self.job(Self.scan(&bench))
        let (exchange, _) = bench.get("/api/v2/scans/\(job.id)/stream", job)
        bench.run(seconds: 3)
        for _ in 1...2 {
            let (status, body) = try Self.body(
                bench.ask(
                    "DELETE", "/v1/jobs/\(job.id)", device: nil, authorization: "Bearer \(job.token)"
                ).effects)
            #expect(status == 200)
            #expect(body["data"]?["status"]?.text == "canceled" && body["data"]?["jobId"]?.text == job.id)
        }
        #expect(bench.hasEnded(exchange))
        bench.run(seconds: 12)
        #expect(bench.get("/api/v2/scans/\(job.id)/results", job).effects.status == 410)
        let missing = bench.ask("DELETE", "/v1/jobs/\(job.id)", device: nil).effects
        #expect(missing.status == 401)
    }

    @Test func `refusals have the body of v2, and a wait where its code has it`() throws {
        var bench = Bench { $0.rateLimit = Quota(requests: 1, window: .seconds(60)) }
        _ = try Self.job(Self.scan(&bench))
        let limited = try Self.body(Self.scan(&bench))
        #expect(limited.status == 429 && limited.body["success"]?.flag == false)
        #expect(limited.body["error"]?["code"]?.text == "RATE_LIMIT_EXCEEDED")
        #expect(limited.body["retryAfter"]?.integer == 60)
        #expect(limited.body["error"]?["details"]?["retryAfterMs"]?.integer == 60_000)
        var full = Bench { $0.jobsMax = 0 }
        let open = try Self.body(Self.scan(&full))
        #expect(open.status == 503 && open.body["error"]?["code"]?.text == "CIRCUIT_OPEN")
        #expect(open.body["error"]?["details"]?["retryAfterMs"]?.integer == 60_000)
        let many = try Self.body(Self.scan(&full, photos: 6))
        #expect(many.status == 503)
        var other = Bench()
        #expect(try Self.body(Self.scan(&other, photos: 6)).status == 400)
        #expect(try Self.body(Self.scan(&other, photos: 0)).status == 400)
        let method = other.ask("GET", "/api/batch-scan", device: nil).effects.reply
        #expect(method?.status == 405)
    }

    // MARK: Batches

    @Test func `a batch has each book that was asked for once`() throws {
        var bench = Bench()
        let text = #"""
            {"books": [{"title": "Emma", "author": "Jane Austen", "isbn": "9780141439587"},
                       {"title": "Ulysses"}], "jobId": "x"}
            """#
        for path in ["/api/batch-enrich", "/v1/enrichment/batch"] {
            let started = Self.batch(&bench, text, path: path)
            let job = try Self.job(started)
            let data = try #require(JSONNode(started.reply?.body ?? [])?["data"])
            #expect(data["totalCount"]?.integer == 2 && data["processedCount"]?.integer == 0)
            #expect(data["sseUrl"]?.text == "/api/v2/enrichments/\(job.id)/stream")
            let (exchange, _) = bench.get("/api/v2/enrichments/\(job.id)/stream", job)
            bench.run(seconds: 12)
            #expect(
                bench.read(exchange).map(\.type) == ["initialized", "processing", "processing", "completed"])
            let results = try Self.body(
                bench.get("/api/v2/enrichments/\(job.id)/results", job).effects)
            let books = results.body["data"]?["books"]?.elements ?? []
            #expect(books.map { $0["title"]?.text } == ["Emma", "Ulysses"])
            #expect(books.map { $0["isbn"]?.text } == ["9780141439587", nil])
        }
    }

    @Test func `results expire, and are not found then`() throws {
        var bench = Bench { $0.resultsLifetime = .hours(1) }
        let job = try Self.job(Self.batch(&bench, #"{"books": [{"title": "Emma"}]}"#))
        let path = "/api/v2/enrichments/\(job.id)/results"
        #expect(bench.get(path, job).effects.status == 404)
        bench.run(seconds: 12)
        #expect(bench.get(path, job).effects.status == 200)
        bench.run(seconds: 3_600)
        #expect(bench.get(path, job).effects.status == 404)
    }

    @Test func `barcodes become books, and those that no provider has are left out`() throws {
        var bench = Bench()
        let valid = (0..<90).map { "\"\(ISBN(number: UInt64($0)).digits)\"" }
        let codes = valid + Array(repeating: "\"9780141439588\"", count: 10)
        let started = Self.batch(&bench, "{\"barcodes\": [\(codes.joined(separator: ","))]}")
        let job = try Self.job(started)
        bench.run(seconds: 12)
        let results = try Self.body(
            bench.get("/api/v2/enrichments/\(job.id)/results", job).effects)
        let books = results.body["data"]?["books"]?.elements ?? []
        #expect((1..<90).contains(books.count), "some are known to no provider")
        #expect(Set(books.compactMap { $0["isbn"]?.text }).count == books.count)
    }

    @Test(
        arguments: [
            "", "[]", "{}", #"{"barcodes": 1}"#, #"{"books": []}"#, #"{"books": [{}]}"#,
            #"{"books": [{"title": 1}]}"#, #"{"barcodes": [""]}"#, #"{"barcodes": ["123456789012345678"]}"#,
        ])
    func `a body that is no batch is refused, and leaves no job`(text: String) throws {
        var bench = Bench()
        let (status, body) = try Self.body(Self.batch(&bench, text))
        #expect(status == 400 && body["error"]?["code"]?.text == "INVALID_REQUEST")
        #expect(bench.backend.jobsAlive == 0)
        let many = Array(repeating: "\"9780141439587\"", count: 101).joined(separator: ",")
        #expect(try Self.body(Self.batch(&bench, "{\"barcodes\": [\(many)]}")).status == 400)
        #expect(try Self.body(Self.batch(&bench, "{}", type: "text/csv")).status == 400)
    }

    // MARK: Counts, bounds and codes

    @Test func `a book that no provider has is counted as a failure`() throws {
        var bench = Bench()
        let started = Self.batch(&bench, #"{"barcodes":["9780306406157","nonsense"]}"#)
        let job = try Self.job(started)
        #expect(JSONNode(started.reply?.body ?? [])?["data"]?["totalCount"]?.integer == 2)
        let (exchange, _) = bench.get("/api/v2/enrichments/\(job.id)/stream", job)
        bench.run(seconds: 20)
        let summary = try #require(JSONNode(bench.read(exchange).last?.bytes ?? [])?["summary"])
        #expect(summary["totalProcessed"]?.integer == 2 && summary["successCount"]?.integer == 1)
        #expect(summary["failureCount"]?.integer == 1)
        let results = try Self.body(bench.get("/api/v2/enrichments/\(job.id)/results", job).effects)
        #expect(results.body["data"]?["totalCount"]?.integer == 2)
        #expect(results.body["data"]?["books"]?.elements.count == 1)
    }

    @Test func `null is absent, and another type than JSON is refused`() throws {
        var bench = Bench()
        _ = try Self.job(Self.batch(&bench, #"{"barcodes":["9780306406157"],"books":null}"#))
        _ = try Self.job(
            Self.batch(&bench, #"{"barcodes":["9780306406157"]}"#, type: "application/json; charset=utf-8"))
        for type in ["application/json5", "application/json-patch+json", "text/plain"] {
            let refused = try Self.body(Self.batch(&bench, #"{"barcodes":["9780306406157"]}"#, type: type))
            #expect(refused.status == 400, "\(type)")
        }
    }

    @Test func `a job that fails says how far it came`() throws {
        var bench = Bench()
        let job = try Self.job(Self.batch(&bench, #"{"barcodes":["9780306406157","9780141439587"]}"#))
        let (exchange, _) = bench.get("/api/v2/enrichments/\(job.id)/stream", job)
        bench.run(seconds: 5)
        bench.handle(.changed(job: job.id, .fail(code: "PROVIDER_ERROR", retryable: true)))
        let data = try #require(JSONNode(bench.read(exchange).last?.bytes ?? []))
        #expect(data["error"]?["code"]?.text == "PROVIDER_ERROR" && data["status"]?.text == "failed")
        #expect(data["totalCount"]?.integer == 2 && data["processedCount"]?.integer == 1)
        #expect(data["progress"]?.decimal ?? 0 > 0)
        #expect(data["error"]?["message"]?.text == "The batch could not be read just now.")
    }

    @Test func `a job that was served makes room, and one that was not keeps its place`() throws {
        var bench = Bench {
            $0.jobsMax = 2
            $0.rateLimit = nil
        }
        let text = #"{"barcodes":["9780306406157"]}"#
        let first = try Self.job(Self.batch(&bench, text))
        let second = try Self.job(Self.batch(&bench, text))
        bench.run(seconds: 20)
        let refused = try Self.body(Self.batch(&bench, text))
        #expect(refused.status == 503 && refused.body["error"]?["code"]?.text == "CIRCUIT_OPEN")
        let path = "/api/v2/enrichments/\(second.id)/results"
        #expect(bench.get(path, second).effects.status == 200)
        #expect(bench.get(path, second).effects.status == 200)
        _ = try Self.job(Self.batch(&bench, text))
        #expect(bench.effects.backendSightings.contains(.expired(job: second.id)))
        #expect(bench.get(path, second).effects.status == 404)
        #expect(bench.get("/api/v2/enrichments/\(first.id)/results", first).effects.status == 200)
    }

    @Test func `a stream of v2 ends after five minutes, and its job goes on`() throws {
        var bench = Bench { $0.jobTime = .minutes(20)...(.minutes(20)) }
        let job = try Self.job(Self.scan(&bench))
        let path = "/api/v2/scans/\(job.id)/stream"
        let (exchange, _) = bench.get(path, job)
        bench.run(seconds: 299)
        #expect(!bench.hasEnded(exchange))
        bench.run(seconds: 2)
        #expect(bench.hasEnded(exchange) && bench.read(exchange).last?.type == "timeout")
        #expect(bench.get(path, job).effects.verdict == "stream")
    }
}
