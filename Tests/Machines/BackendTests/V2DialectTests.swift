import Faults
import JSON
import Observations
import OriginServer
import SimBase
import Talaria
import Testing
import Wire

@testable import Backend

/// The backend's side of v2 where the documents disagree, and its circuit breaker.
@Suite struct V2DialectTests {
    private static let photo = UploadPart(
        name: "photos", filename: "a.jpg", contentType: "image/jpeg", bytes: 250_000,
        prefix: [0xFF, 0xD8, 0xFF, 0xE0])

    private static func bench(_ change: (inout V2Rules) -> Void) -> Bench { Bench { change(&$0.v2) } }

    private static func upload(_ bench: inout Bench, scan: UInt32 = 1, photos: Int = 1) -> [OriginEffect] {
        let (exchange, effects) = bench.ask(
            "POST", "/api/batch-scan", device: nil, contentType: "multipart/form-data; boundary=x",
            contentLength: 600_000, caller: Bench.caller(scan: scan))
        guard effects.contains(.readUpload(exchange)) else { return effects }
        return effects + bench.handle(.uploaded(exchange, Array(repeating: Self.photo, count: photos)))
    }

    private static func scan(_ bench: inout Bench, number: UInt32 = 1, photos: Int = 1) throws -> Bench.Job {
        let reply = try #require(Self.upload(&bench, scan: number, photos: photos).reply)
        try #require(reply.status == 202, "\(String(decoding: reply.body, as: UTF8.self))")
        let data = try #require(JSONNode(reply.body)?["data"])
        return Bench.Job(
            id: data["jobId"]?.text ?? "", token: (data["authToken"] ?? data["token"])?.text ?? "")
    }

    private static func batch(_ bench: inout Bench) throws -> Bench.Job {
        let body = Array(#"{"barcodes": ["9780141439587", "9780141439556"]}"#.utf8)
        let (exchange, _) = bench.ask(
            "POST", "/api/batch-enrich", device: nil, contentType: "application/json",
            contentLength: body.count)
        let part = UploadPart(
            name: "", filename: nil, contentType: "application/json", bytes: body.count, prefix: body)
        let reply = try #require(bench.handle(.uploaded(exchange, [part])).reply)
        let data = try #require(JSONNode(reply.body)?["data"])
        return Bench.Job(id: data["jobId"]?.text ?? "", token: data["authToken"]?.text ?? "")
    }

    private static func fail(_ bench: inout Bench, _ job: Bench.Job, _ code: String = "PROVIDER_ERROR")
        -> [OriginEffect]
    {
        bench.handle(.changed(job: job.id, .fail(code: code, retryable: true)))
    }

    // MARK: Lifetime, token, envelope

    @Test(arguments: [Interval.hours(1), .hours(24)])
    func `results of v2 live as long as the scenario says, and are not found then`(lifetime: Interval) throws
    {
        var bench = Bench {
            $0.v2.resultsLifetime = lifetime
            $0.tokenLifetime = .hours(30)
        }
        let job = try Self.scan(&bench)
        let own = bench.job()
        bench.run(seconds: 11)
        let path = "/api/v2/scans/\(job.id)/results"
        bench.run(to: .zero + .seconds(10) + lifetime - .nanoseconds(1))
        #expect(bench.get(path, job).effects.status == 200)
        bench.run(seconds: 1)
        #expect(bench.get(path, job).effects.status == 404)
        // Those of v3 keep theirs.
        #expect(bench.results(own).status == (lifetime < .hours(2) ? 200 : 404))
        // The job itself is over with its token.
        bench.run(to: .zero + .hours(31))
        #expect(bench.get(path, job).effects.status == 404)
        #expect(bench.get("/api/v2/scans/\(job.id)", job).effects.status == 410)
    }

    @Test func `the completed event says until when there are results`() throws {
        var bench = Self.bench { $0.resultsLifetime = .hours(1) }
        let job = try Self.scan(&bench)
        let (exchange, _) = bench.get("/api/v2/scans/\(job.id)/stream", job)
        bench.run(seconds: 11)
        let end = try #require(JSONNode(bench.read(exchange).last?.bytes ?? []))
        #expect(end["expiresAt"]?.text == "2026-02-01T13:00:10.000Z")
    }

    /// The client reads what the backend writes, and finds nothing to note.
    @Test(arguments: V2Rules.BooksKey.allCases, V2Rules.Authors.allCases)
    func `the books of v2 have the members that the scenario says`(
        key: V2Rules.BooksKey, authors: V2Rules.Authors
    ) throws {
        var bench = Self.bench {
            $0.booksKey = key
            $0.authors = authors
        }
        var contract = Self.bench { _ in }
        func results(_ bench: inout Bench) throws -> [UInt8] {
            let job = try Self.scan(&bench)
            bench.run(seconds: 11)
            let answer = bench.get("/api/v2/scans/\(job.id)/results", job).effects
            return try #require(answer.reply?.body)
        }
        let body = try results(&bench)
        let data = try #require(JSONNode(body)?["data"])
        #expect(
            (data["books"] != nil) == (key == .books)
                && (data["enrichedBooks"] != nil) == (key == .enrichedBooks))
        let first = try #require((data["books"] ?? data["enrichedBooks"])?.elements.first)
        #expect(
            (first["author"] != nil) == (authors == .author) && (first["work"] != nil) == (authors == .nested)
        )
        #expect((first["authors"]?.elements.first?.text != nil) == (authors == .names))
        #expect((first["authors"]?.elements.first?["name"] != nil) == (authors == .nested))
        var notes = ContractNotes()
        let read = try #require(ResultsReading.readV2(body, into: &notes))
        let expected = try #require(ResultsReading.readV2(try results(&contract), into: &notes))
        #expect(read.books == expected.books && !read.books.isEmpty && notes.isEmpty)
    }

    @Test(arguments: V2Rules.Authors.allCases)
    func `a looked up book has the authors that the scenario says`(authors: V2Rules.Authors) throws {
        var bench = Self.bench { $0.authors = authors }
        let lookup = Array(#"{"barcode": "9780141439587"}"#.utf8)
        let (exchange, _) = bench.ask(
            "POST", "/api/v2/books/enrich", contentType: "application/json", contentLength: lookup.count)
        let part = UploadPart(
            name: "", filename: nil, contentType: "application/json", bytes: lookup.count, prefix: lookup)
        let body = try #require(bench.handle(.uploaded(exchange, [part])).reply?.body)
        let data = try #require(JSONNode(body)?["data"])
        #expect(
            (data["author"] != nil) == (authors == .author)
                && (data["authors"] != nil) == (authors != .author))
        var notes = ContractNotes()
        let read = try #require(LookupReading.read(body, barcode: "9780141439587", into: &notes))
        #expect(!read.book.author.isEmpty && notes.isEmpty)
    }

    @Test func `a job that was canceled is gone`() throws {
        var bench = Bench()
        let job = try Self.scan(&bench)
        bench.ask("DELETE", "/v1/jobs/\(job.id)", authorization: "Bearer \(job.token)")
        #expect(bench.get("/api/v2/scans/\(job.id)/results", job).effects.status == 410)
    }

    @Test(arguments: V2Rules.StreamToken.allCases)
    func `a stream takes its token where the scenario says`(place: V2Rules.StreamToken) throws {
        var bench = Self.bench { $0.streamToken = place }
        let job = try Self.scan(&bench)
        let path = "/api/v2/scans/\(job.id)/stream"
        let (right, wrong) = ("token=\(job.token)", "token=other")
        let inHeader = bench.get(path, job).effects.verdict == "stream"
        let inQuery = bench.get(path, job, query: right, hasHeader: false).effects.verdict == "stream"
        #expect(inHeader == (place != .query))
        #expect(inQuery == (place != .bearer))
        // What does not count is not looked at, be it right or wrong.
        let both = bench.get(path, job, query: wrong).effects
        #expect(both.verdict == (place == .query ? "401" : "stream"))
        // Everything else has its token in the header.
        #expect(bench.get("/api/v2/scans/\(job.id)", job).effects.status == 200)
    }

    @Test func `a plain envelope has no success in any answer of v2`() throws {
        var bench = Self.bench { $0.envelope = .plain }
        let accepted = Self.upload(&bench)
        let job = try Self.scan(&bench, number: 2)
        bench.run(seconds: 11)
        let lookup = Array(#"{"barcode": "9780141439587"}"#.utf8)
        let (exchange, _) = bench.ask(
            "POST", "/api/v2/books/enrich", device: nil, contentType: "application/json",
            contentLength: lookup.count)
        let part = UploadPart(
            name: "", filename: nil, contentType: "application/json", bytes: lookup.count, prefix: lookup)
        let bodies = [
            accepted, bench.get("/api/v2/scans/\(job.id)", job).effects,
            bench.get("/api/v2/scans/\(job.id)/results", job).effects,
            bench.handle(.uploaded(exchange, [part])),
            bench.ask("DELETE", "/v1/jobs/\(job.id)", authorization: "Bearer \(job.token)").effects,
        ].compactMap(\.reply?.body)
        #expect(bodies.count == 5)
        for body in bodies {
            let node = try #require(JSONNode(body), "\(String(decoding: body, as: UTF8.self))")
            #expect(node["success"] == nil && node["data"] != nil && node["metadata"] != nil)
        }
        let errors = [
            bench.get("/api/v2/scans/scan_x", job).effects, bench.ask("GET", "/api/nowhere").effects,
            bench.ask("GET", "/api/v2/books/enrich").effects,
        ].compactMap(\.reply?.body)
        #expect(errors.count == 3)
        for body in errors {
            #expect(JSONNode(body)?["success"] == nil && JSONNode(body)?["error"]?["code"]?.text != nil)
        }
        #expect(JSONNode(bench.upload().reply?.body ?? [])?["success"]?.flag == true)  // That of v3 has it.
    }

    @Test(arguments: V2Rules.TokenNames.allCases)
    func `the token of a job has the names that the scenario says`(names: V2Rules.TokenNames) throws {
        var bench = Self.bench { $0.tokens = names }
        let data = try #require(JSONNode(Self.upload(&bench).reply?.body ?? [])?["data"])
        #expect((data["authToken"] != nil) == (names != .token))
        #expect((data["token"] != nil) == (names != .authToken))
        #expect((data["authToken"] ?? data["token"])?.text?.utf8.count == 64)
    }

    // MARK: Event names

    @Test func `dotted events of a scan have the members of books-v3`() throws {
        var bench = Self.bench { $0.eventNames = .dotted }
        let job = try Self.scan(&bench, photos: 2)
        let (exchange, _) = bench.get("/api/v2/scans/\(job.id)/stream", job)
        bench.run(seconds: 11)
        let events = bench.read(exchange)
        #expect(
            events.map(\.type)
                == Array(repeating: "photoscan.progress", count: 7) + ["photoscan.completed"])
        #expect(
            events.map { $0.id.split(separator: "-").last }
                == ["initial"] + Array(repeating: "progress", count: 6) + ["final"])
        let data = events.compactMap { JSONNode($0.bytes) }
        #expect(data.map { $0["processedPhotos"]?.integer } == [0, 0, 1, 2, 2, 2, 2, nil])
        #expect(data.map { $0["recognizedBooks"]?.integer } == [0, 0, 1, 3, 3, 3, 3, nil])
        #expect(data.dropLast().allSatisfy { $0["totalPhotos"]?.integer == 2 && $0["jobId"]?.text == job.id })
        #expect(data[6]["message"]?.text == "Enriched book 3 of 3" && data[6]["progress"]?.decimal == 0.95)
        #expect(data[7]["resultsUrl"]?.text == "/api/v2/scans/\(job.id)/results")
        #expect(data[7]["status"]?.text == "completed")
        for key in ["approved", "duration", "enrichedCount", "needsReview", "totalDetected"] {
            #expect(data[7]["summary"]?[key]?.integer != nil, "\(key)")
        }
        #expect(data[7]["summary"]?["totalDetected"]?.integer == 3)
        #expect(data[7]["summary"]?["duration"]?.integer == 10_000)
    }

    @Test func `dotted events of a failed scan say why`() throws {
        var bench = Self.bench { $0.eventNames = .dotted }
        let job = try Self.scan(&bench)
        let (exchange, _) = bench.get("/api/v2/scans/\(job.id)/stream", job)
        _ = Self.fail(&bench, job)
        let last = try #require(bench.read(exchange).last)
        #expect(last.type == "photoscan.failed")
        let data = try #require(JSONNode(last.bytes))
        #expect(data["error"]?.text == "The photo could not be read just now.")
        #expect(data["retryable"]?.flag == true && data["status"]?.text == "failed")
    }

    @Test func `dotted events of a batch have the book that it has come to`() throws {
        var bench = Self.bench { $0.eventNames = .dotted }
        let job = try Self.batch(&bench)
        let (exchange, _) = bench.get("/api/v2/enrichments/\(job.id)/stream", job)
        bench.run(seconds: 11)
        let events = bench.read(exchange)
        let progress = Array(repeating: "enrichment.progress", count: events.count - 1)
        #expect(events.map(\.type) == progress + ["enrichment.completed"])
        let data = events.compactMap { JSONNode($0.bytes) }
        #expect(data.allSatisfy { $0["isbn"]?.text?.isEmpty == false && $0["progress"]?.integer != nil })
        #expect(data.dropLast().allSatisfy { $0["provider"]?.text == "auto" })
        let end = try #require(data.last)
        #expect(end["progress"]?.integer == 100 && end["status"]?.text == "completed")
        #expect(end["data"]?["resultsUrl"]?.text == "/api/v2/enrichments/\(job.id)/results")

        let other = try Self.batch(&bench)
        let (stream, _) = bench.get("/api/v2/enrichments/\(other.id)/stream", other)
        _ = Self.fail(&bench, other)
        let failed = try #require(bench.read(stream).last)
        #expect(failed.type == "enrichment.failed")
        let error = try #require(JSONNode(failed.bytes)?["error"])
        #expect(error["message"]?.text == "The batch could not be read just now.")
        #expect(error["code"]?.text?.isEmpty == false && error["retryable"]?.flag == true)
    }

    // MARK: Polling

    @Test func `a stream that polls brings the last change at its next look, and the end as well`() throws {
        var bench = Bench(books: 6) { $0.v2.progress = .poll }
        let job = try Self.scan(&bench)
        let (exchange, _) = bench.get("/api/v2/scans/\(job.id)/stream", job)
        var times: [(type: String, at: Interval)] = []
        var seen = 0
        for tick in 0...(14 * 4) {
            bench.run(to: .zero + .milliseconds(250) * Int64(tick))
            let events = bench.read(exchange)
            for event in events[seen...] { times.append((event.type, bench.now - .zero)) }
            seen = events.count
        }
        // Looks at 0.5, 1.25, 2.375, 4.0625, 6.59375, 9.59375 and 12.59375 s; changes at 0, 0.2, 6, and from 6.63 s on. The job
        // ends at 10 s.
        #expect(
            times.map(\.type) == ["initialized", "processing", "processing", "processing", "completed"])
        #expect(
            times.map(\.at) == [
                .zero, .milliseconds(500), .milliseconds(6_750), .milliseconds(9_750),
                .milliseconds(12_750),
            ])
        #expect(bench.hasEnded(exchange))
        // What was passed over is in the log: a stream that names the first event gets it.
        let first = try #require(bench.read(exchange).first?.id)
        let again = bench.ask(
            "GET", "/api/v2/scans/\(job.id)/stream", device: nil, authorization: "Bearer \(job.token)",
            lastEventID: first)
        #expect(bench.read(again.exchange).count == 9)
    }

    @Test func `a stream that polls is told of the end that a DELETE brings`() throws {
        var bench = Self.bench { $0.progress = .poll }
        let text = "Title,Author\n" + (0..<500).map { "T\($0),A\n" }.joined()
        let part = UploadPart(
            name: "file", filename: "a.csv", contentType: "text/csv", bytes: text.utf8.count,
            prefix: Array(text.utf8))
        let (upload, _) = bench.ask(
            "POST", "/api/v2/imports", device: nil, contentType: "multipart/form-data; boundary=x",
            contentLength: 10_000)
        let data = try #require(
            JSONNode(bench.handle(.uploaded(upload, [part])).reply?.body ?? [])?["data"])
        let id = try #require(data["jobId"]?.text)
        let (exchange, _) = bench.ask("GET", "/api/v2/imports/\(id)/stream", device: nil)
        bench.run(to: .zero + .milliseconds(600))
        let (_, effects) = bench.ask(
            "DELETE", "/v1/jobs/\(id)", authorization: "Bearer \(data["token"]?.text ?? "")")
        let order = effects.compactMap { effect -> String? in
            guard case .observe(let seen) = effect, case .backend(let payload) = seen.what else { return nil }
            switch payload {
            case .eventWritten: return "event"
            case .cleaned: return "cleaned"
            default: return nil
            }
        }
        #expect(order == ["event", "cleaned"])
        #expect(bench.read(exchange).last?.type == "failed")
        #expect(bench.hasEnded(exchange))
    }

    // MARK: The circuit breaker

    private static func rules(_ rules: inout V2Rules) { rules.breaker = CircuitBreakerRules() }

    /// Fails five scans.
    private static func open(_ bench: inout Bench) throws -> [OriginEffect] {
        var effects: [OriginEffect] = []
        for number in 1...5 {
            let job = try Self.scan(&bench, number: UInt32(number))
            effects = Self.fail(&bench, job)
        }
        return effects
    }

    private static func circuit(_ effects: [OriginEffect]) -> [BackendObservation] {
        effects.backendSightings.filter { payload in
            switch payload {
            case .circuitOpened, .circuitClosed: true
            default: false
            }
        }
    }

    @Test func `five failures of a provider refuse uploads of v2 for what is left of a minute`() throws {
        var bench = Self.bench(Self.rules)
        let effects = try Self.open(&bench)
        #expect(Self.circuit(effects).count == 1)
        bench.run(seconds: 15)
        let reply = try #require(Self.upload(&bench, scan: 6).reply)
        #expect(reply.status == 503)
        #expect(reply.headers.first { $0.name == "Retry-After" }?.value == "45")
        let error = try #require(JSONNode(reply.body)?["error"])
        #expect(error["code"]?.text == "CIRCUIT_OPEN" && error["retryable"]?.flag == true)
        #expect(error["details"]?["retryAfterMs"]?.integer == 45_000)
        // v3 goes on.
        #expect(bench.upload(caller: Bench.caller(scan: 7)).status == 202)
        bench.run(to: .zero + .seconds(60))
        #expect(Self.upload(&bench, scan: 8).status == 202)
    }

    @Test func `two jobs that complete after the cooldown close the circuit`() throws {
        var bench = Self.bench(Self.rules)
        _ = try Self.open(&bench)
        bench.run(seconds: 60)
        _ = try Self.scan(&bench, number: 6)
        #expect(Self.circuit(bench.run(seconds: 11)) == [])
        let last = try Self.scan(&bench, number: 7)
        #expect(Self.circuit(bench.run(seconds: 11)) == [.circuitClosed(job: last.id)])
        // Closed: four failures do not open it.
        for number in 8...11 {
            let job = try Self.scan(&bench, number: UInt32(number))
            #expect(Self.circuit(Self.fail(&bench, job)) == [])
        }
    }

    @Test func `a failure after the cooldown opens the circuit again`() throws {
        var bench = Self.bench(Self.rules)
        _ = try Self.open(&bench)
        bench.run(seconds: 60)
        let job = try Self.scan(&bench, number: 6)
        #expect(Self.circuit(Self.fail(&bench, job)) == [.circuitOpened(job: job.id)])
        #expect(Self.upload(&bench, scan: 7).status == 503)
    }

    @Test(arguments: ["INVALID_FILE", "INTERNAL_ERROR", "CIRCUIT_OPEN"])
    func `a failure that is no provider's does not count`(code: String) throws {
        var bench = Self.bench(Self.rules)
        for number in 1...9 {
            let job = try Self.scan(&bench, number: UInt32(number))
            #expect(Self.circuit(Self.fail(&bench, job, code)) == [])
        }
    }

    @Test func `neither jobs of v3 nor jobs that are canceled count`() throws {
        var bench = Self.bench(Self.rules)
        for number in 1...9 {
            let own = bench.job(Bench.caller(scan: UInt32(number)))
            #expect(Self.circuit(Self.fail(&bench, own)) == [])
            let job = try Self.scan(&bench, number: UInt32(10 + number))
            bench.ask("DELETE", "/v1/jobs/\(job.id)", authorization: "Bearer \(job.token)")
        }
        #expect(Self.upload(&bench, scan: 30).status == 202)
    }

    @Test func `without a breaker nothing is refused`() throws {
        var bench = Bench()
        _ = try Self.open(&bench)
        #expect(Self.upload(&bench, scan: 6).status == 202)
    }

    // MARK: Presets

    @Test func `the preset of B3 has what its documents say of v2`() {
        let rules = BackendConfiguration.bendv3.v2
        #expect(rules.progress == .poll && rules.resultsLifetime == .hours(1))
        #expect(rules.breaker == CircuitBreakerRules())
        #expect(rules.streamToken == .either && rules.eventNames == .plain)
        #expect(BackendConfiguration.presets.filter { $0.v2 != V2Rules() }.map(\.dialect.name) == ["bendv3"])
    }

    // MARK: Forms of imports

    @Test func `an import with a second part is told what is wrong`() {
        var bench = Bench()
        let (exchange, _) = bench.ask(
            "POST", "/api/v2/imports", device: nil, contentType: "multipart/form-data; boundary=x",
            contentLength: 100)
        let effects = bench.handle(.uploadFailed(exchange, .tooManyParts))
        #expect(effects.verdict == "400")
        #expect(
            JSONNode(effects.reply?.body ?? [])?["error"]?["message"]?.text
                == "The upload must have one part, file, and no other.")
    }

    @Test func `an import is counted at what its rows take`() throws {
        let text = "Title,Author\n" + (0..<1_000).map { _ in "a,b\n" }.joined()
        func held(max: Int) -> (status: Int?, bytes: Int) {
            var bench = Bench { $0.documentBytesMax = max }
            let part = UploadPart(
                name: "file", filename: "a.csv", contentType: "text/csv", bytes: text.utf8.count,
                prefix: Array(text.utf8))
            let (upload, _) = bench.ask(
                "POST", "/api/v2/imports", device: nil, contentType: "multipart/form-data; boundary=x",
                contentLength: 5_000)
            let status = bench.handle(.uploaded(upload, [part])).status
            return (status, bench.backend.documentBytes)
        }
        let whole = held(max: 1 << 20)
        #expect(whole.status == 202 && whole.bytes > 20 * text.utf8.count)
        // There is room for the file, and none for its rows.
        let full = held(max: 10_000)
        #expect(full.status == 503 && full.bytes == 0)
    }
}
