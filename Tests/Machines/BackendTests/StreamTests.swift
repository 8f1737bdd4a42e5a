import Backend
import Faults
import JSON
import SimBase
import SimTestSupport
import Talaria
import Testing
import Wire

/// What a stream carries from its head to its end.
@Suite struct StreamTests {
    @Test func `a stream tells the whole job as the contract writes it`() throws {
        var bench = Bench()
        let job = bench.job()
        let (exchange, _) = bench.stream(job)
        bench.run(seconds: 10)
        let shelf = Shelf(seed: 7, booksMin: 3, booksMax: 3)
        let books = shelf.books(device: DeviceNumber(4), scan: ScanNumber(1))
        let events = bench.read(exchange)

        func progress(
            _ message: String, _ status: String, _ share: String, _ counts: (Int, Int), at time: String,
            item: String? = nil
        ) -> String {
            let item = item.map { "\"currentItem\":\(Self.quoted($0))," } ?? ""
            return
                "{\(item)\"jobId\":\"\(job.id)\",\"message\":\"\(message)\",\"processedCount\":\(counts.0),"
                + "\"progress\":\(share),\"status\":\"\(status)\",\"timestamp\":\"2026-02-01T12:00:\(time)Z\","
                + "\"totalCount\":\(counts.1),\"type\":\"progress\"}"
        }
        let found = books.count { $0.enrichmentStatus == .success }
        let list = books.map { String(decoding: JSON.encode($0), as: UTF8.self) }.joined(separator: ",")
        let completed =
            "{\"books\":[\(list)],\"jobId\":\"\(job.id)\","
            + "\"resultsUrl\":\"/v3/jobs/scans/\(job.id)/results\",\"summary\":{\"approved\":\(found),"
            + "\"needsReview\":\(3 - found),\"totalDetected\":3},\"type\":\"completed\"}"
        #expect(
            events.map(\.data) == [
                progress("Starting scan of 1 photos...", "initialized", "0", (0, 1), at: "00.000"),
                progress("Processing photo 1 of 1...", "analyzing_image", "0.1", (0, 1), at: "00.200"),
                progress("Identified 3 books", "identifying_books", "0.5", (0, 3), at: "06.000"),
                progress(
                    "Enriched book 1 of 3", "enriching_metadata", "0.65", (1, 3), at: "07.260",
                    item: books[0].title),
                progress(
                    "Enriched book 2 of 3", "enriching_metadata", "0.8", (2, 3), at: "08.530",
                    item: books[1].title),
                progress(
                    "Enriched book 3 of 3", "enriching_metadata", "0.95", (3, 3), at: "09.800",
                    item: books[2].title),
                completed,
            ])
        #expect(events.map(\.type) == Array(repeating: "progress", count: 6) + ["completed"])
        #expect(
            events.map(\.id) == [
                "1769947200000-progress", "1769947200200-progress", "1769947206000-progress",
                "1769947207260-progress", "1769947208530-progress", "1769947209800-progress",
                "1769947210000-completed",
            ])
        #expect(bench.positions(exchange) == [-1, 1, 2, 3, 4, 5, 6])
        #expect(bench.hasEnded(exchange))
        #expect(bench.backend.streamsOpen == 0)
    }

    /// A JSON string of a text without control characters.
    private static func quoted(_ text: String) -> String {
        "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
    }

    @Test func `a stream opens with its head, a comment and the current state`() {
        var bench = Bench()
        let job = bench.job()
        bench.run(seconds: 8)
        let (exchange, effects) = bench.stream(job, attempt: 3)
        guard case .openStream(exchange, let headers, .lf) = effects[1] else {
            Issue.record("no head: \(effects)")
            return
        }
        #expect(
            headers.dropFirst() == [
                HeaderField("Content-Type", "text/event-stream"),
                HeaderField("Cache-Control", "no-cache, no-store, must-revalidate"),
                HeaderField("X-Accel-Buffering", "no"),
            ])
        #expect(
            effects.backendSightings == [
                .requested(.stream, attempt: 3, connection: 1), .answered(.stream, attempt: 3, status: 200),
                .streamOpened(job: job.id, attempt: 3, after: nil),
                .eventWritten(
                    job: job.id, id: "1769947207260-progress", position: 3, kind: .progress, replayed: true),
            ])
        #expect(
            effects.contains(
                .stream(exchange, bytes: Array(": connection established\n\n".utf8), .preamble)))
        #expect(
            bench.marks(exchange) == [
                .preamble,
                .event(
                    position: 3, kind: .progress, replayed: true, emitted: .zero + .milliseconds(7_260)),
            ])
        #expect(bench.backend.streamsOpen == 1)
    }

    @Test func `the preamble may carry a retry field`() {
        var bench = Bench { $0.retryField = .milliseconds(5_000) }
        let job = bench.job()
        let (exchange, effects) = bench.stream(job)
        let preamble = Array(": connection established\nretry: 5000\n\n".utf8)
        #expect(effects.contains(.stream(exchange, bytes: preamble, .preamble)))
    }

    @Test func `an event goes to every open stream, encoded once`() {
        var bench = Bench()
        let job = bench.job()
        let first = bench.stream(job).exchange
        let second = bench.stream(job, attempt: 2).exchange
        let effects = bench.run(seconds: 1)
        let pieces = effects.compactMap { effect -> [UInt8]? in
            if case .stream(_, let bytes, _) = effect { bytes } else { nil }
        }
        #expect(pieces.count == 2)
        #expect(pieces.first == pieces.last)
        bench.handle(.aborted(first))
        bench.run(seconds: 9)
        #expect(bench.positions(first) == [-1, 1])
        #expect(bench.positions(second) == [-1, 1, 2, 3, 4, 5, 6])
        #expect(!bench.hasEnded(first))
        #expect(bench.hasEnded(second))
    }

    @Test func `how a stream ended is observed`() {
        var bench = Bench()
        let job = bench.job()
        let first = bench.stream(job, attempt: 1).exchange
        bench.stream(job, attempt: 2)
        #expect(
            bench.handle(.aborted(first)).backendSightings == [
                .streamEnded(job: job.id, attempt: 1, byPeer: true)
            ])
        #expect(bench.handle(.aborted(first)) == [])
        let effects = bench.run(seconds: 10)
        #expect(
            effects.backendSightings.suffix(3) == [
                .eventWritten(
                    job: job.id, id: "1769947210000-completed", position: 6, kind: .completed,
                    replayed: false),
                .finished(job: job.id, kind: .completed, books: 3),
                .streamEnded(job: job.id, attempt: 2, byPeer: false),
            ])
        #expect(bench.backend.streamsOpen == 0)
    }

    @Test func `a job goes on without any stream`() {
        var bench = Bench()
        let job = bench.job()
        let effects = bench.run(seconds: 10)
        #expect(effects.backendSightings == [.finished(job: job.id, kind: .completed, books: 3)])
        let (exchange, _) = bench.stream(job)
        #expect(bench.positions(exchange) == [-7])
        #expect(bench.hasEnded(exchange))
        #expect(bench.backend.streamsOpen == 0)
    }

    @Test func `an empty shelf is completed with an empty list`() {
        var bench = Bench(books: 0)
        let job = bench.job()
        let (exchange, _) = bench.stream(job)
        let effects = bench.run(seconds: 10)
        let last = bench.read(exchange).last
        #expect(last?.type == "completed")
        #expect(last?.data.hasPrefix("{\"books\":[],") == true)
        #expect(bench.positions(exchange) == [-1, 1, 2, 3])
        #expect(effects.backendSightings.contains(.finished(job: job.id, kind: .completed, books: 0)))
        #expect(bench.results(job).bodyText.contains("\"results\":[]"))
    }

    @Test func `a job that takes no time is over with its upload`() {
        var bench = Bench { $0.jobTime = .zero...(.zero) }
        let job = bench.job()
        let (exchange, _) = bench.stream(job, after: "1769947200000-progress")
        #expect(
            bench.read(exchange).map(\.id) == (1...5).map { "176994720000\($0)-progress" } + [
                "1769947200006-completed"
            ])
    }

    @Test func `job times are drawn per scan from their range`() {
        var bench = Bench { $0.jobTime = .seconds(1)...(.seconds(3)) }
        var times: [Interval] = []
        for scan in 1...40 {
            let start = bench.now
            let job = bench.job(Bench.caller(scan: UInt32(scan)))
            let effects = bench.run(seconds: 3)
            for case .observe(let seen) in effects
            where seen.what == .backend(.finished(job: job.id, kind: .completed, books: 3)) {
                #expect(seen.scan == ScanNumber(UInt32(scan)))
                times.append(seen.at - start)
            }
        }
        #expect(times.count == 40)
        #expect(times.allSatisfy { (.seconds(1)...(.seconds(3))).contains($0) })
        #expect(Set(times).count == 40)
        #expect(times.contains { $0 < .milliseconds(1_500) } && times.contains { $0 > .milliseconds(2_500) })
    }

    @Test func `a late driver loses no event and no id`() {
        var bench = Bench()
        let job = bench.job()
        let (exchange, _) = bench.stream(job)
        bench.now = .zero + .seconds(10)
        bench.handle(.woke)
        #expect(bench.positions(exchange) == [-1, 1, 2, 3, 4, 5, 6])
        #expect(
            bench.read(exchange).map(\.id)
                == ["1769947200000-progress"] + (0...4).map { "176994721000\($0)-progress" } + [
                    "1769947210005-completed"
                ])
    }

    @Test func `what is due happens before a request is answered`() {
        var bench = Bench()
        let job = bench.job()
        bench.now = .zero + .seconds(10)
        #expect(bench.results(job).status == 200)
    }

    @Test func `line ends are one of three, and mixed ones a draw for each stream`() {
        func ends(_ lineEnds: BackendConfiguration.LineEnds) -> [SSELineEnd] {
            var bench = Bench { $0.lineEnds = lineEnds }
            let job = bench.job()
            return (UInt32(1)...12).compactMap { attempt in
                bench.stream(job, attempt: attempt).effects.lazy.compactMap { effect in
                    if case .openStream(_, _, let end) = effect { end } else { nil }
                }.first
            }
        }
        #expect(Set(ends(.lf)) == [.lf] && Set(ends(.crlf)) == [.crlf] && Set(ends(.cr)) == [.cr])
        #expect(Set(ends(.mixed)) == Set(SSELineEnd.allCases))
        #expect(ends(.mixed) == ends(.mixed))
        #expect(ends(.mixed).count == 12)
    }

    @Test func `a stream may stay open behind its terminal event, whatever becomes of its job`() {
        func ends(_ linger: Interval, aborts: Bool = false) -> [Int64] {
            var bench = Bench { $0.streamLinger = linger }
            let job = bench.job()
            let (exchange, _) = bench.stream(job)
            bench.run(to: .zero + .seconds(11))
            bench.cleanup(job)
            if aborts { bench.handle(.aborted(exchange)) }
            #expect(bench.backend.streamsOpen == (linger > .zero && !aborts ? 1 : 0))
            bench.run(to: .zero + .seconds(20))
            #expect(bench.backend.streamsOpen == 0)
            let payloads = bench.effects.compactMap { effect in
                if case .observe(let observation) = effect { observation } else { nil }
            }
            return payloads.compactMap { observation in
                guard case .backend(.streamEnded(_, _, aborts)) = observation.what else { return nil }
                return observation.at.nanoseconds / 1_000_000
            }
        }
        #expect(ends(.zero) == [10_000])
        #expect(ends(.seconds(4)) == [14_000])
        #expect(ends(.seconds(4), aborts: true) == [11_000])
    }

    @Test(
        arguments: [
            (nil, "400 INVALID_ACCEPT_HEADER"), ("*/*", "400 INVALID_ACCEPT_HEADER"),
            ("application/json", "400 INVALID_ACCEPT_HEADER"), ("text/event-stream", "stream"),
            ("application/json, Text/Event-Stream;q=0.9", "stream"),
        ] as [(String?, String)])
    func `Accept counts in strict mode only`(accept: String?, verdict: String) {
        for strict in [true, false] {
            var bench = Bench { $0.strictAccept = strict }
            let job = bench.job()
            let effects = bench.ask(
                "GET", "/v3/jobs/scans/\(job.id)/stream", authorization: "Bearer \(job.token)",
                accept: accept
            ).effects
            #expect(effects.verdict == (strict ? verdict : "stream"))
        }
    }
}

@Suite struct PingTests {
    @Test func `pings come at their interval from the head of each stream on`() {
        var bench = Bench { $0.ping = .seconds(4) }
        let job = bench.job()
        bench.run(seconds: 1)
        let (exchange, _) = bench.stream(job)
        bench.run(seconds: 20)
        let pings = bench.read(exchange).filter { $0.type == "ping" }
        #expect(
            pings.map(\.data) == [
                "{\"timestamp\":\"2026-02-01T12:00:05.000Z\",\"type\":\"ping\"}",
                "{\"timestamp\":\"2026-02-01T12:00:09.000Z\",\"type\":\"ping\"}",
            ])
        #expect(pings.allSatisfy { !$0.hasOwnID })
        #expect(bench.marks(exchange).count { $0 == .ping } == 2)
        #expect(bench.effects.backendSightings.count { $0 == .pingWritten(job: job.id) } == 2)
    }

    @Test func `a stream that is gone is not pinged`() {
        var bench = Bench { $0.ping = .seconds(1) }
        let job = bench.job()
        let (exchange, _) = bench.stream(job)
        bench.handle(.aborted(exchange))
        bench.run(seconds: 5)
        #expect(!bench.marks(exchange).contains(.ping))
    }

    @Test func `pings that a late driver missed are not made up for`() {
        var bench = Bench {
            $0.ping = .seconds(1); $0.jobTime = .hours(1)...(.hours(1))
        }
        let (exchange, _) = bench.stream(bench.job())
        bench.now = .zero + .milliseconds(7_500)
        bench.handle(.woke)
        #expect(bench.marks(exchange).count { $0 == .ping } == 1)
        #expect(bench.backend.nextWake == .zero + .milliseconds(8_500))
    }

    @Test func `with ids on, a ping's id resumes where the ping stood`() {
        var bench = Bench {
            $0.ping = .milliseconds(6_500); $0.pingIDs = true
        }
        let job = bench.job()
        let (first, _) = bench.stream(job)
        bench.run(to: .zero + .seconds(9))
        let ping = bench.read(first).first { $0.type == "ping" }
        #expect(ping?.id == "1769947206500-ping")
        let (second, effects) = bench.stream(job, after: ping?.id, attempt: 2)
        #expect(bench.positions(second) == [-4, -5])
        #expect(effects.backendSightings.contains(.streamOpened(job: job.id, attempt: 2, after: 2)))
    }

    @Test func `a ping never takes the id of an event nor comes between it and its order`() {
        var bench = Bench {
            $0.ping = .milliseconds(200); $0.pingIDs = true
        }
        let job = bench.job()
        let streams = (1...3).map { bench.stream(job, attempt: $0).exchange }
        bench.run(seconds: 10)
        for exchange in streams {
            let ids = bench.read(exchange).compactMap { Int64($0.id.prefix(13)) }
            #expect(ids.count > 50)
            #expect(zip(ids, ids.dropFirst()).allSatisfy { $0 < $1 })
        }
    }
}
