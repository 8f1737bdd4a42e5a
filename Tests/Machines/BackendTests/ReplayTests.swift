import Backend
import JSON
import SimBase
import SimTestSupport
import Talaria
import Testing

/// What a client gets that comes back.
@Suite struct ReplayTests {
    /// The ids and data of a job's events, by their position.
    private func script(_ change: (inout BackendConfiguration) -> Void = { _ in }) -> [(
        id: String, data: String
    )] {
        var bench = Bench(books: 3, seed: 7, change)
        let job = bench.job()
        let (exchange, _) = bench.stream(job)
        bench.run(seconds: 10)
        return bench.read(exchange).map { ($0.id, $0.data) }
    }

    @Test(arguments: 0..<Bench.events) func `from every position the rest follows, as it was`(position: Int) {
        let script = self.script()
        for seconds: Int64 in [0, 1, 6, 8, 9, 10] {
            var bench = Bench()
            let job = bench.job()
            bench.run(seconds: seconds)
            let emitted = script.count { $0.id < "\(Bench.wallClockAtZero + seconds * 1_000 + 1)" }
            guard position < emitted else { continue }
            let (exchange, effects) = bench.stream(job, after: script[position].id, attempt: 2)
            let isOver = emitted == Bench.events
            let missed = Array((position + 1)..<max(emitted, position + 1))
            let replayed = isOver && missed.isEmpty ? [position] : missed
            #expect(bench.positions(exchange) == replayed.map { -1 - $0 })
            #expect(
                effects.backendSightings.contains(
                    .streamOpened(job: job.id, attempt: 2, after: position)))
            bench.run(seconds: 10)
            #expect(
                bench.read(exchange).map(\.id)
                    == (replayed + Array(emitted..<Bench.events)).map { script[$0].id })
            #expect(
                bench.read(exchange).map(\.data)
                    == (replayed + Array(emitted..<Bench.events)).map { script[$0].data })
            #expect(bench.hasEnded(exchange))
        }
    }

    @Test func `a known id is repeated in the opening comment`() {
        var bench = Bench()
        let job = bench.job()
        let (exchange, effects) = bench.stream(job, after: "1769947200000-progress")
        let comment = Array(": reconnected from event 1769947200000-progress\n\n".utf8)
        #expect(effects.contains(.stream(exchange, bytes: comment, .preamble)))
    }

    @Test(arguments: [
        "x", "-", "progress", "1769947200000", "1769947200000-", "1769947200000-completed",
        "1769947199999-progress", "1769947200000-progress ", "01769947200000-progress",
        "+1769947200000-progress", "1769947200000-Progress", "99999999999999999999-progress",
        "1769947200000-progress\n: evil", "\u{0}", "1769947299999-ping", "１７６９-progress",
    ])
    func `with an unknown id all that is in the buffer follows, and nothing of the id`(id: String) {
        var bench = Bench()
        let job = bench.job()
        bench.run(seconds: 7)
        let (exchange, effects) = bench.stream(job, after: id, attempt: 2)
        #expect(bench.positions(exchange) == [-1, -2, -3])
        #expect(effects.backendSightings.contains(.streamOpened(job: job.id, attempt: 2, after: nil)))
        #expect(
            effects.contains(.stream(exchange, bytes: Array(": connection established\n\n".utf8), .preamble)))
    }

    @Test func `an empty id is none`() {
        var bench = Bench()
        let job = bench.job()
        bench.run(seconds: 7)
        let (exchange, _) = bench.stream(job, after: "")
        #expect(bench.positions(exchange) == [-3])
    }

    @Test func `an event falls out of the buffer by the time of its emission`() {
        var bench = Bench { $0.eventBuffer = .seconds(7) }
        let job = bench.job()
        bench.run(to: .zero + .seconds(7) - .nanoseconds(1))
        let whole = bench.stream(job, after: "unknown").exchange
        bench.run(to: .zero + .seconds(7))
        let rest = bench.stream(job, after: "unknown", attempt: 2).exchange
        let first = bench.stream(job, after: "1769947200000-progress", attempt: 3).exchange
        #expect(bench.positions(whole).first == -1)
        #expect(bench.positions(rest) == [-2, -3])
        #expect(bench.positions(first) == [-2, -3])
        let second = bench.stream(job, after: "1769947200200-progress", attempt: 4)
        #expect(bench.positions(second.exchange) == [-3])
        #expect(second.effects.backendSightings.contains(.streamOpened(job: job.id, attempt: 4, after: 1)))
    }

    @Test func `when nothing is left in the buffer the current state follows`() {
        var bench = Bench { $0.eventBuffer = .seconds(2) }
        let job = bench.job()
        bench.run(seconds: 5)
        #expect(bench.opening(job, after: "1769947200000-progress") == [-2])
        // To one that has the current state nothing was lost.
        #expect(bench.opening(job, after: "1769947200200-progress") == [])
    }

    @Test func `once the buffer of a finished job is gone its terminal event stays, without books`() throws {
        var bench = Bench()
        let job = bench.job()
        bench.run(to: .zero + .seconds(70) - .nanoseconds(1))
        let before = bench.stream(job).exchange
        #expect(try #require(bench.read(before).first).data.hasPrefix("{\"books\":["))
        bench.run(to: .zero + .seconds(70))
        for id in [nil, "1769947200000-progress", "1769947210000-completed"] {
            let after = bench.stream(job, after: id).exchange
            let events = bench.read(after)
            #expect(events.map(\.id) == ["1769947210000-completed"])
            #expect(events.first?.data.hasPrefix("{\"jobId\":") == true)
            #expect(
                events.first?.data.contains("\"resultsUrl\":\"/v3/jobs/scans/\(job.id)/results\"") == true)
            #expect(
                bench.marks(after).last
                    == .event(position: 6, kind: .completed, replayed: true, emitted: .zero + .seconds(10)))
            #expect(bench.hasEnded(after))
        }
        #expect(bench.results(job).bodyText.contains("\"title\""))
    }

    @Test func `fresh replay ids are new, known again, and leave the data as they were`() {
        var bench = Bench { $0.replayIDs = .fresh }
        let job = bench.job()
        bench.run(seconds: 8)
        let kept = self.script()
        let (second, _) = bench.stream(job, after: "1769947200000-progress")
        let fresh = bench.read(second)
        #expect(
            fresh.map(\.id) == ["1769947208000-progress", "1769947208001-progress", "1769947208002-progress"])
        #expect(fresh.map(\.data) == kept[1...3].map(\.data))
        #expect(bench.positions(second) == [-2, -3, -4])
        let (third, effects) = bench.stream(job, after: "1769947208001-progress", attempt: 3)
        #expect(bench.positions(third) == [-4])
        #expect(effects.backendSightings.contains(.streamOpened(job: job.id, attempt: 3, after: 2)))
        // An event that is emitted later has a later id than any replay had.
        bench.run(seconds: 2)
        let ids = bench.read(second).compactMap { Int64($0.id.prefix(13)) }
        #expect(zip(ids, ids.dropFirst()).allSatisfy { $0 < $1 })
        #expect(bench.positions(second) == [-2, -3, -4, 4, 5, 6])
    }

    @Test func `a fresh id is forgotten with the buffer`() {
        var bench = Bench {
            $0.replayIDs = .fresh; $0.eventBuffer = .seconds(3); $0.jobTime = .seconds(100)...(.seconds(100))
        }
        let job = bench.job()
        bench.run(to: .zero + .seconds(4))  // Position 1 came at 2 s.
        let (exchange, _) = bench.stream(job, after: "1769947200000-progress")
        #expect(bench.read(exchange).map(\.id) == ["1769947204000-progress"])
        #expect(bench.opening(job, after: "1769947204000-progress") == [])
        bench.run(to: .zero + .seconds(7))
        #expect(bench.opening(job, after: "1769947204000-progress") == [-2])
    }

    @Test func `a stream that follows two streams of one client misses nothing, wherever the first was cut`()
    {
        let script = self.script()
        for cut in stride(from: Int64(0), through: 10_000, by: 250) {
            var bench = Bench()
            let job = bench.job()
            let (first, _) = bench.stream(job)
            bench.run(to: .zero + .milliseconds(cut))
            bench.handle(.aborted(first))
            let seen = bench.read(first)
            bench.run(to: .zero + .milliseconds(cut + 700))
            let (second, _) = bench.stream(job, after: seen.last?.id, attempt: 2)
            bench.run(seconds: 11)
            var ids = seen.map(\.id) + bench.read(second).map(\.id)
            // A client that has the end and asks all the same gets it again.
            if cut == 10_000 { #expect(ids.removeLast() == script.last?.id) }
            #expect(ids == script.map(\.id), "cut at \(cut) ms")
        }
    }
}

/// When a completed event has its books.
@Suite struct StripTests {
    /// The completed event's data with this limit on them.
    private func completed(bytesMax: Int, books: Int = 3) -> String {
        var bench = Bench(books: books) { $0.completedBytesMax = bytesMax }
        let (exchange, _) = bench.stream(bench.job())
        bench.run(seconds: 10)
        return bench.read(exchange).last?.data ?? ""
    }

    @Test func `the books go when the payload has one byte too many`() {
        let whole = self.completed(bytesMax: 131_072)
        #expect(self.completed(bytesMax: whole.utf8.count) == whole)
        let stripped = self.completed(bytesMax: whole.utf8.count - 1)
        let rest = whole.dropFirst(
            whole.distance(
                from: whole.startIndex, to: whole.firstRange(of: "],")?.upperBound ?? whole.startIndex))
        #expect(stripped == "{" + rest)
        #expect(stripped.contains("\"resultsUrl\"") && stripped.contains("\"summary\""))
    }

    @Test func `a natural payload of 128 KB loses its books, and they stay in the results`() throws {
        var bench = Bench(books: 800)
        let job = bench.job()
        let (exchange, _) = bench.stream(job)
        bench.run(seconds: 10)
        let last = try #require(bench.read(exchange).last)
        #expect(last.data.utf8.count < 1_000)
        let results = bench.results(job)
        #expect(JSON.decode(ResultsBody.self, from: results.reply?.body ?? [])?.data.results.count == 800)
        #expect(results.backendSightings.contains(.resultsServed(job: job.id, books: 800)))
    }
}
