import CSV
import Faults
import JSON
import OriginServer
import SimBase
import Talaria
import Testing
import Wire

@testable import Backend

/// The imports of v2 as their callers meet them.
@Suite struct ImportTests {
    struct Job {
        var id: String
        var token: String
    }

    private static let small = """
        Title,Author,ISBN
        Emma,Jane Austen,9780141439587
        Moby-Dick,Herman Melville,
        Emma,Jane Austen,978-0-14-143958-7
        Bad,Nobody,1234567890123

        """

    private static func file(_ bytes: [UInt8], name: String = "file") -> UploadPart {
        UploadPart(
            name: name, filename: "library.csv", contentType: "text/csv", bytes: bytes.count, prefix: bytes)
    }

    private static func rows(_ count: Int, from first: UInt64 = 0) -> [UInt8] {
        var text = "Title,Author,ISBN\n"
        for number in 0..<count {
            text += "Title \(number),Author,\(ISBN(number: first + UInt64(number)).digits)\n"
        }
        return Array(text.utf8)
    }

    private static func upload(
        _ bench: inout Bench, _ parts: [UploadPart], caller: Caller = Bench.caller(), length: Int? = nil
    ) -> [OriginEffect] {
        let (exchange, effects) = bench.ask(
            "POST", "/api/v2/imports", device: nil, contentType: "multipart/form-data; boundary=x",
            contentLength: length ?? parts.reduce(200) { $0 + $1.bytes }, caller: caller)
        guard effects.contains(.readUpload(exchange)) else { return effects }
        return effects + bench.handle(.uploaded(exchange, parts))
    }

    private static func job(
        _ bench: inout Bench, _ bytes: [UInt8], caller: Caller = Bench.caller()
    ) throws -> Job {
        let reply = try #require(Self.upload(&bench, [Self.file(bytes)], caller: caller).reply)
        #expect(reply.status == 202)
        let data = try #require(JSONNode(reply.body)?["data"])
        let job = Job(id: data["jobId"]?.text ?? "", token: data["authToken"]?.text ?? "")
        #expect(data["token"]?.text == job.token)
        #expect(data["sseUrl"]?.text == "/api/v2/imports/\(job.id)/stream")
        #expect(data["statusUrl"]?.text == "/api/v2/imports/\(job.id)")
        return job
    }

    private static func get(
        _ bench: inout Bench, _ path: String, _ job: Job? = nil
    ) throws -> (status: Int, body: JSONNode) {
        let reply = try #require(
            bench.ask("GET", path, device: nil, authorization: job.map { "Bearer \($0.token)" }).effects
                .reply)
        return (reply.status, try #require(JSONNode(reply.body)))
    }

    private static func cancel(_ bench: inout Bench, _ job: Job) throws -> (status: Int, body: JSONNode) {
        let effects = bench.ask(
            "DELETE", "/v1/jobs/\(job.id)", device: nil, authorization: "Bearer \(job.token)"
        ).effects
        let reply = try #require(effects.reply)
        return (reply.status, try #require(JSONNode(reply.body)))
    }

    /// The events that effects send on a stream: id, name and data.
    private static func events(
        _ effects: [OriginEffect], on exchange: ExchangeID
    ) -> [(id: String?, name: String, data: JSONNode)] {
        var bytes: [UInt8] = []
        for case .stream(exchange, let piece, _) in effects { bytes += piece }
        let text = String(decoding: bytes, as: UTF8.self)
        return text.components(between: "\n\n").compactMap { block in
            var fields: [String: String] = [:]
            for line in block.split(separator: "\n") {
                guard let colon = line.firstIndex(of: ":"), colon > line.startIndex else { continue }
                fields[String(line[..<colon])] = String(line[line.index(colon, offsetBy: 2)...])
            }
            guard let name = fields["event"], let data = fields["data"].flatMap({ JSONNode(Array($0.utf8)) })
            else { return nil }
            return (fields["id"], name, data)
        }
    }

    private static func code(_ body: JSONNode) -> String? { body["error"]?["code"]?.text }

    // MARK: The way of a file

    @Test func `each row of a file has one outcome in the results`() throws {
        var bench = Bench()
        let job = try Self.job(&bench, Array(Self.small.utf8))
        #expect(job.id.hasPrefix("import_"))
        #expect(try Self.get(&bench, "/api/v2/imports/\(job.id)/results").status == 404)
        bench.run(seconds: 2)
        for path in ["/api/v2/imports/\(job.id)/results", "/v1/jobs/\(job.id)/results"] {
            let (status, body) = try Self.get(&bench, path)
            #expect(status == 200)
            let data = try #require(body["data"])
            #expect(data["booksCreated"]?.integer == 2)
            #expect(data["booksUpdated"]?.integer == 0)
            #expect(data["duplicatesSkipped"]?.integer == 1)
            #expect(data["enrichmentFailed"]?.integer == 1)
            let error = try #require(data["errors"]?.elements.first)
            #expect(error["row"]?.integer == 4 && error["isbn"]?.text == "1234567890123")
            let books = try #require(data["books"]?.elements)
            #expect(books.map { $0["title"]?.text } == ["Emma", "Moby-Dick"])
            #expect(books.map { $0["author"]?.text } == ["Jane Austen", "Herman Melville"])
            #expect(books.map { $0["isbn"]?.text } == ["9780141439587", nil])
        }
    }

    @Test func `the results list the books as long as there is room for them`() throws {
        func listed(_ change: (inout BackendConfiguration) -> Void) throws -> Int? {
            var bench = Bench(change)
            let job = try Self.job(&bench, Self.rows(100))
            bench.run(seconds: 2)
            let data = try #require(try Self.get(&bench, "/api/v2/imports/\(job.id)/results").body["data"])
            #expect(data["booksCreated"]?.integer == 100)
            return data["books"]?.elements.count
        }
        let file = ImportAccount.bytes(of: try LibraryTable(Self.rows(100), limits: .imports).entries)
        #expect(try listed { $0.imports.listBytesMax = file } == 100)
        #expect(try listed { $0.imports.listBytesMax = file - 1 } == nil)
        #expect(try listed { $0.documentBytesMax = 2 * file } == 100)
        #expect(try listed { $0.documentBytesMax = 2 * file - 1 } == nil)
    }

    @Test func `what an earlier import of the device has brought is updated`() throws {
        var bench = Bench()
        func counts(_ job: Job) throws -> [Int?] {
            let data = try #require(try Self.get(&bench, "/api/v2/imports/\(job.id)/results").body["data"])
            return [data["booksCreated"]?.integer, data["booksUpdated"]?.integer]
        }
        let first = try Self.job(&bench, Self.rows(10))
        bench.run(seconds: 2)
        let second = try Self.job(&bench, Self.rows(10, from: 5))
        bench.run(seconds: 2)
        let other = try Self.job(&bench, Self.rows(10), caller: Bench.caller(device: 8))
        bench.run(seconds: 2)
        #expect(try counts(first) == [10, 0])
        #expect(try counts(second) == [5, 5])
        #expect(try counts(other) == [10, 0])
    }

    @Test func `rows in are rows out at every moment`() throws {
        var spec = LibrarySpec()
        spec.rows = 1_000
        spec.duplicates = .percent(20)
        spec.badISBNs = .percent(10)
        let file = LibraryFile(spec, KeyedRandom(seed: 3), device: DeviceNumber(1), number: 1)
        let table = try LibraryTable(file.bytes, limits: .imports)
        var account = ImportAccount(table.entries)
        var library: Set<LibraryKey> = []
        for count in stride(from: 0, through: 1_100, by: 77) {
            account.process(upTo: count, library: &library, room: 10_000)
            #expect(account.processed == min(count, 1_000))
            #expect(
                account.created + account.updated + account.skipped + account.failed + account.pending
                    == 1_000)
        }
        account.process(upTo: 1_000, library: &library, room: 10_000)
        #expect(account.pending == 0 && account.created == library.count)
        #expect(account.skipped > 100 && account.failed > 50)
        var again = ImportAccount(table.entries)
        again.process(upTo: 1_000, library: &library, room: 10_000)
        #expect(again.created == 0 && again.updated == account.created && again.skipped == account.skipped)
    }

    @Test func `a stream tells the way of a job to its end`() throws {
        var bench = Bench()
        let job = try Self.job(&bench, Self.rows(1_500))
        let (exchange, opened) = bench.ask("GET", "/api/v2/imports/\(job.id)/stream", device: nil)
        let effects = opened + bench.run(seconds: 10)
        let events = Self.events(effects, on: exchange)
        #expect(events.map(\.name) == ["initialized", "processing", "processing", "processing", "completed"])
        #expect(events.map { $0.data["processedCount"]?.integer } == [0, 375, 750, 1_125, nil])
        #expect(events.map { $0.data["progress"]?.decimal } == [0, 0.25, 0.5, 0.75, nil])
        let ids = try events.map { try #require($0.id) }
        #expect(
            ids.map { $0.split(separator: "-").last }
                == ["initial", "progress", "progress", "progress", "final"])
        #expect(ids == ids.sorted())
        let end = try #require(events.last?.data)
        #expect(end["type"]?.text == "job_complete" && end["pipeline"]?.text == "csv_import")
        #expect(end["summary"]?["totalProcessed"]?.integer == 1_500)
        #expect(end["summary"]?["failureCount"]?.integer == 0)
        #expect(effects.contains(.endStream(exchange)))
        let texts = effects.compactMap { effect -> String? in
            if case .stream(exchange, let bytes, .preamble) = effect {
                return String(decoding: bytes, as: UTF8.self)
            }
            return nil
        }
        #expect(texts == [": connection established\nretry: 5000\n\n"])
    }

    @Test func `progress of a long import comes every two seconds at least`() throws {
        var bench = Bench()
        let job = try Self.job(&bench, Self.rows(5_000))
        let (exchange, _) = bench.ask("GET", "/api/v2/imports/\(job.id)/stream", device: nil)
        bench.run(seconds: 30)
        let events = bench.read(exchange)
        #expect(events.count == 11 && events.last?.type == "completed")
    }

    @Test func `a stream that comes back goes on after the event that it names, and the end is told again`()
        throws
    {
        var bench = Bench()
        let job = try Self.job(&bench, Self.rows(1_000))
        let path = "/api/v2/imports/\(job.id)/stream"
        let first = bench.ask("GET", path, device: nil)
        bench.run(seconds: 2)
        let seen = bench.read(first.exchange)
        #expect(seen.map(\.type) == ["initialized", "processing", "processing"])
        let second = bench.ask("GET", path, device: nil, lastEventID: seen.last?.id)
        #expect(Self.events(second.effects, on: second.exchange).isEmpty)
        let ended = bench.run(seconds: 10)
        let final = try #require(Self.events(ended, on: second.exchange).last)
        #expect(final.name == "completed")
        let late = bench.ask("GET", path, device: nil)
        let again = try #require(Self.events(late.effects, on: late.exchange).last)
        #expect(again.id == final.id && again.name == "completed")
        #expect(late.effects.contains(.endStream(late.exchange)))
    }

    @Test func `a quiet stream has heartbeats, and ends after five minutes`() throws {
        var bench = Bench { $0.imports.rowsPerSecond = 1 }
        let job = try Self.job(&bench, Self.rows(1_000))
        let (exchange, _) = bench.ask("GET", "/api/v2/imports/\(job.id)/stream", device: nil)
        let effects = bench.run(seconds: 400)
        let heartbeats = effects.filter { effect in
            if case .stream(exchange, let bytes, .ping) = effect {
                return String(decoding: bytes, as: UTF8.self) == ": heartbeat\n\n"
            }
            return false
        }
        #expect(heartbeats.count == 9 || heartbeats.count == 10)
        #expect(Self.events(effects, on: exchange).last?.name == "timeout")
        #expect(effects.contains(.endStream(exchange)))
        // The job goes on.
        #expect(
            try Self.get(&bench, "/api/v2/imports/\(job.id)").body["data"]?["status"]?.text == "processing")
    }

    // MARK: Cancel

    @Test func `after a cancel no row is taken any more, and there are no results`() throws {
        var bench = Bench()
        let job = try Self.job(&bench, Self.rows(1_000))
        let (exchange, _) = bench.ask("GET", "/api/v2/imports/\(job.id)/stream", device: nil)
        bench.run(seconds: 1)
        let before = bench.effects.count
        let (status, body) = try Self.cancel(&bench, job)
        #expect(status == 200 && body["data"]?["status"]?.text == "canceled")
        let effects = Array(bench.effects[before...])
        let end = Self.events(effects, on: exchange)
        #expect(end.map(\.name) == ["failed"] && Self.code(end[0].data) == "CANCELED")
        #expect(end[0].data["processedCount"]?.integer == 250 && end[0].data["totalCount"]?.integer == 1_000)
        var rows = RowCounts()
        rows.created = 250
        rows.pending = 750
        #expect(effects.backendSightings.contains(.rowsTaken(job: job.id, rows)))
        bench.run(seconds: 60)
        #expect(try Self.get(&bench, "/api/v2/imports/\(job.id)", job).status == 410)
        #expect(try Self.get(&bench, "/api/v2/imports/\(job.id)/results", job).status == 410)
        #expect(try Self.cancel(&bench, job).body["data"]?["status"]?.text == "canceled")
        // The rows before are in the library, the others are not.
        let again = try Self.job(&bench, Self.rows(1_000))
        bench.run(seconds: 10)
        let data = try Self.get(&bench, "/api/v2/imports/\(again.id)/results").body["data"]
        #expect(data?["booksUpdated"]?.integer == 250 && data?["booksCreated"]?.integer == 750)
    }

    @Test func `a cancel needs the token of its job, and the rest only if one is shown`() throws {
        var bench = Bench()
        let job = try Self.job(&bench, Self.rows(3))
        let other = try Self.job(&bench, Self.rows(3))
        let path = "/v1/jobs/\(job.id)"
        #expect(bench.ask("DELETE", path, device: nil).effects.reply?.status == 401)
        #expect(
            bench.ask("DELETE", path, device: nil, authorization: "Bearer \(other.token)").effects.reply?
                .status
                == 401)
        #expect(
            bench.ask("DELETE", "/v1/jobs/import_x", device: nil, authorization: "Bearer \(job.token)")
                .effects
                .reply?.status == 404)
        bench.run(seconds: 5)
        let results = "/api/v2/imports/\(job.id)/results"
        #expect(try Self.get(&bench, results).status == 200)
        #expect(try Self.get(&bench, results, job).status == 200)
        #expect(try Self.get(&bench, results, other).status == 401)
    }

    @Test(arguments: [
        ("DELETE", "/v1/jobs/ID"), ("DELETE", "/api/v2/jobs/ID/cancel"), ("POST", "/v1/csv/cancel/ID"),
    ])
    func `older clients cancel in their ways`(method: String, path: String) throws {
        var bench = Bench()
        let job = try Self.job(&bench, Self.rows(1_000))
        let own = path.replacing("ID", with: job.id)
        let reply = bench.ask(method, own, device: nil, authorization: "Bearer \(job.token)").effects.reply
        #expect(reply?.status == 200)
        #expect(try Self.get(&bench, "/api/v2/imports/\(job.id)").status == 410)
    }

    // MARK: Bad files

    @Test(arguments: BadLibrary.allCases) func `a file that is no library fails as a whole`(bad: BadLibrary)
        throws
    {
        var bench = Bench()
        let effects = Self.upload(&bench, [Self.file(bad.bytes)])
        let reply = try #require(effects.reply)
        if bad == .tooLarge {
            let body = try #require(JSONNode(reply.body))
            #expect(reply.status == 413 && Self.code(body) == "FILE_TOO_LARGE")
            return
        }
        #expect(reply.status == 202)
        let id = try #require(JSONNode(reply.body)?["data"]?["jobId"]?.text)
        let (exchange, opened) = bench.ask("GET", "/api/v2/imports/\(id)/stream", device: nil)
        let events = Self.events(opened, on: exchange)
        #expect(events.map(\.name) == ["failed"])
        #expect(Self.code(events[0].data) == "E_CSV_PARSE_FAILED")
        #expect(events[0].data["error"]?["message"]?.text == bad.error.text)
        #expect(try Self.get(&bench, "/api/v2/imports/\(id)/results").status == 404)
    }

    @Test func `an upload must have one part of the right name`() throws {
        var bench = Bench()
        for parts in [[], [Self.file([1], name: "photo")], [Self.file([1]), Self.file([1])]] {
            let reply = try #require(Self.upload(&bench, parts).reply)
            let body = try #require(JSONNode(reply.body))
            #expect(reply.status == 400 && Self.code(body) == "INVALID_REQUEST")
        }
        let plain = bench.ask("POST", "/api/v2/imports", device: nil, contentType: "text/csv").effects.reply
        #expect(plain?.status == 400)
        let large = Self.upload(&bench, [], caller: Bench.caller(device: 5), length: 9_000_000).reply
        #expect(large?.status == 413)
        let exchange = bench.ask(
            "POST", "/api/v2/imports", device: nil, contentType: "multipart/form-data; boundary=x",
            caller: Bench.caller(device: 6)
        ).exchange
        #expect(bench.handle(.uploadFailed(exchange, .timedOut)).reply?.status == 408)
        let given = bench.ask("PUT", "/api/v2/imports", device: nil).effects.reply
        #expect(given?.status == 405 && given?.headers.contains(HeaderField("Allow", "POST")) == true)
    }

    // MARK: Limits

    @Test func `imports are uploads of the rate limit`() throws {
        var bench = Bench { $0.rateLimit = Quota(requests: 5, window: .minutes(1)) }
        for _ in 0..<5 { _ = try Self.job(&bench, Self.rows(1)) }
        let reply = try #require(Self.upload(&bench, [Self.file(Self.rows(1))]).reply)
        let body = try #require(JSONNode(reply.body))
        #expect(reply.status == 429 && body["retryAfter"]?.integer == 60)
        #expect(reply.headers.contains(HeaderField("Retry-After", "60")))
        bench.run(seconds: 60)
        _ = try Self.job(&bench, Self.rows(1))
    }

    @Test func `the limits of v2 are those of each kind of request`() throws {
        var bench = Bench {
            let quota = Quota(requests: 5, window: .minutes(1))
            $0.limits = [RateLimitRule(quota: quota, scope: .address, requests: .journey(.csvImport))]
        }
        for _ in 0..<5 { _ = try Self.job(&bench, Self.rows(1)) }
        #expect(Self.upload(&bench, [Self.file(Self.rows(1))]).status == 429)
        #expect(bench.upload().status == 202)
    }

    @Test func `a status is requested every two seconds at most`() throws {
        var bench = Bench()
        let job = try Self.job(&bench, Self.rows(1))
        let (status, body) = try Self.get(&bench, "/api/v2/imports/\(job.id)")
        #expect(status == 200 && body["metadata"]?["timestamp"]?.text != nil)
        #expect(try Self.get(&bench, "/api/v2/imports/\(job.id)").status == 429)
        bench.run(seconds: 2)
        #expect(try Self.get(&bench, "/api/v2/imports/\(job.id)").status == 200)
    }

    @Test func `results are not found after two hours, and the job is gone with them`() throws {
        var bench = Bench()
        let job = try Self.job(&bench, Self.rows(1))
        bench.run(seconds: 7_200)
        #expect(try Self.get(&bench, "/api/v2/imports/\(job.id)/results").status == 200)
        bench.run(seconds: 2)
        #expect(try Self.get(&bench, "/api/v2/imports/\(job.id)/results").status == 404)
        #expect(try Self.get(&bench, "/api/v2/imports/\(job.id)").status == 410)
    }

    @Test func `more files than can be held are turned away`() throws {
        var bench = Bench { $0.documentBytesMax = 2 * ImportLimits.bodyBytesMax }
        func begin(_ device: UInt32) -> [OriginEffect] {
            bench.ask(
                "POST", "/api/v2/imports", device: nil, contentType: "multipart/form-data; boundary=x",
                caller: Bench.caller(device: device)
            ).effects
        }
        _ = begin(1)
        let exchange = try #require(
            begin(2).compactMap { effect -> ExchangeID? in
                if case .readUpload(let id) = effect { return id } else { return nil }
            }.first)
        let reply = try #require(begin(3).reply)
        let body = try #require(JSONNode(reply.body))
        #expect(reply.status == 503 && Self.code(body) == "CIRCUIT_OPEN")
        #expect(body["error"]?["details"]?["retryAfterMs"]?.integer == 60_000)
        bench.handle(.aborted(exchange))
        #expect(begin(3).reply == nil)
    }

    @Test func `what is held of files is counted, and given back`() throws {
        let file = Self.rows(1_000)
        let taken = ImportAccount.bytes(of: try LibraryTable(file, limits: .imports).entries)
        var bench = Bench { $0.documentBytesMax = 3 * taken / 2 }
        func held() -> Int {
            var held = -1
            bench.backend.eachBound { bound in
                if bound.name == "BackendConfiguration.documentBytesMax" { held = bound.count }
            }
            return held
        }
        _ = try Self.job(&bench, file)
        #expect(taken > file.count && held() == taken)
        let reply = try #require(
            Self.upload(&bench, [Self.file(Self.rows(2_000))], caller: Bench.caller()).reply)
        #expect(reply.status == 503)
        bench.run(seconds: 5)
        #expect(held() == 0)
        let job = try Self.job(&bench, Self.rows(1_000, from: 5_000))
        _ = try Self.cancel(&bench, job)
        #expect(held() == 0)
    }
}

extension String {
    /// The parts between a separator.
    fileprivate func components(between separator: String) -> [String] {
        var parts: [String] = []
        var rest = self[...]
        while let range = rest.firstRange(of: separator) {
            parts.append(String(rest[..<range.lowerBound]))
            rest = rest[range.upperBound...]
        }
        return parts + [String(rest)]
    }
}
