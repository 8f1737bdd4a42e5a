import Backend
import Faults
import JSON
import Observations
import SimBase
import SimTestSupport
import Talaria
import Testing
import Wire

/// Faults that change the outcome of a job.
@Suite struct JobFaultTests {
    private static let firing = FaultObservation.fired(fault: 2, .stream, attempt: 1)

    // MARK: Errors

    @Test(arguments: [true, false]) func `a job ends with an error event`(isRetryable: Bool) throws {
        let kind: FaultKind =
            isRetryable ? .retryableError(code: "PROVIDER_TIMEOUT") : .finalError(code: "INVALID_FILE")
        var bench = Bench()
        let job = bench.job()
        let (exchange, _) = bench.stream(job, faults: [.armed(kind, .afterEvents(2))])
        let other = bench.stream(job, attempt: 2).exchange
        let effects = bench.run(seconds: 20)
        let data =
            isRetryable
            ? ErrorData(
                jobId: job.id, code: "PROVIDER_TIMEOUT", message: "The photo could not be read just now.",
                retryable: true)
            : ErrorData(
                jobId: job.id, code: "INVALID_FILE", message: "The photo cannot be used.", retryable: false)
        let code = try #require(data.code)
        let text = String(decoding: JSON.encode(data), as: UTF8.self)
        for stream in [exchange, other] {
            #expect(bench.positions(stream) == [-1, 1, 2, 3])
            let end = try #require(bench.read(stream).last)
            #expect(end.type == "error" && end.id == "1769947206001-error" && end.data == text)
            #expect(bench.hasEnded(stream))
        }
        #expect(
            effects.payloads.suffix(7) == [
                .fault(Self.firing),
                .backend(.failed(job: job.id, code: code, retryable: isRetryable)),
                .backend(
                    .eventWritten(
                        job: job.id, id: "1769947206001-error", position: 3, kind: .error, replayed: false)),
                .backend(
                    .eventWritten(
                        job: job.id, id: "1769947206001-error", position: 3, kind: .error, replayed: false)),
                .backend(.finished(job: job.id, kind: .error, books: 0)),
                .backend(.streamEnded(job: job.id, attempt: 1, byPeer: false)),
                .backend(.streamEnded(job: job.id, attempt: 2, byPeer: false)),
            ])
        let status = bench.status(job).bodyText
        #expect(status.contains("\"status\":\"failed\"") && status.contains("\"progress\":0.5"))
        #expect(bench.results(job).verdict == "404 NOT_FOUND")
        let after = bench.opening(job, after: "1769947206000-progress")
        #expect(after == [-4])
        #expect(bench.cancel(job).verdict == "409 CONFLICT")
        #expect(bench.cleanup(job).status == 204)
    }

    @Test func `an error comes at once, behind what the stream begins with, or after a time`() {
        var bench = Bench()
        let (atOnce, _) = bench.stream(bench.job(), faults: [.armed(.finalError(code: "NO_TEXT_DETECTED"))])
        #expect(bench.positions(atOnce) == [-1, 1])
        #expect(bench.hasEnded(atOnce))
        var later = Bench()
        let faults = [ArmedFault.armed(.retryableError(code: "X"), .afterTime(.milliseconds(6_500)))]
        let (timed, _) = later.stream(later.job(), faults: faults)
        later.run(to: .zero + .milliseconds(6_499))
        #expect(!later.hasEnded(timed))
        later.run(to: .zero + .milliseconds(6_500))
        #expect(later.positions(timed) == [-1, 1, 2, 3])
        #expect(later.hasEnded(timed))
    }

    @Test func `a job that is over does not fail any more`() {
        var bench = Bench()
        let job = bench.job()
        let (exchange, _) = bench.stream(job, faults: [.armed(.finalError(code: "X"), .afterEvents(6))])
        bench.run(seconds: 20)
        #expect(bench.read(exchange).last?.type == "completed")
        let late = bench.stream(job, attempt: 2, faults: [.armed(.finalError(code: "X"))]).exchange
        #expect(bench.positions(late) == [-7])
        #expect(bench.effects.faultSightings == [])
    }

    @Test func `an error after the fourth event comes to all streams behind that event`() {
        var bench = Bench()
        let job = bench.job()
        bench.stream(job, faults: [.armed(.finalError(code: "X"), .afterEvents(1))])
        let second = bench.stream(job, attempt: 2).exchange
        bench.run(seconds: 1)
        #expect(bench.positions(second) == [-1, 1, 2])
    }

    // MARK: degraded

    @Test func `books that cannot be looked up are announced, and come without what a lookup adds`() throws {
        var bench = Bench()
        let job = bench.job()
        let draw: UInt64 = 5
        let fault = ArmedFault(
            fault: 2, kind: .degraded(books: .always), trigger: .afterEvents(3), draw: draw)
        let (exchange, _) = bench.stream(job, faults: [fault])
        let effects = bench.run(seconds: 10)
        let shelf = Shelf(seed: 7, booksMin: 3, booksMax: 3)
        let books = shelf.books(device: DeviceNumber(4), scan: ScanNumber(1))
        // The first was looked up before the trigger.
        let expected = [books[0], books[1].degraded, books[2].degraded]
        #expect(expected != books)
        let events = bench.read(exchange)
        #expect(
            events.map(\.type) == [
                "progress", "progress", "progress", "progress", "enrichment_degraded", "progress",
                "enrichment_degraded", "progress", "completed",
            ])
        #expect(bench.positions(exchange) == [-1, 1, 2, 3, 4, 5, 6, 7, 8])
        let announced = DegradedData(
            jobId: job.id, isbn: books[1].isbn, title: books[1].title, reason: "isbndb_circuit_open",
            timestamp: "2026-02-01T12:00:08.530Z")
        #expect(events[4].data == String(decoding: JSON.encode(announced), as: UTF8.self))
        #expect(events[5].data.contains("Enriched book 2 of 3"))
        let completed = try #require(JSON.decode(CompletedReading.self, from: events[8].data))
        #expect(completed.inline == .books(expected))
        let results = JSON.decode(ResultsBody.self, from: bench.results(job).reply?.body ?? [])
        #expect(results?.data.results == expected)
        let approved = expected.count { $0.enrichmentStatus == .success }
        #expect(events[8].data.contains("\"approved\":\(approved),\"needsReview\":\(3 - approved)"))
        #expect(effects.faultSightings == [Self.firing])
        #expect(bench.status(job).bodyText.contains("\"processedCount\":3"))
    }

    @Test func `a share of the books is degraded, drawn by their indexes`() {
        var counts: [Int] = []
        for draw in 0..<200 as Range<UInt64> {
            var bench = Bench(books: 8)
            let fault = ArmedFault(
                fault: 2, kind: .degraded(books: .percent(25)), trigger: .atOnce,
                draw: draw &* 0x9E37_79B9_7F4A_7C15)
            bench.stream(bench.job(), faults: [fault])
            let effects = bench.run(seconds: 10)
            let count = effects.backendSightings.count {
                if case .eventWritten(_, _, _, .enrichmentDegraded, _) = $0 { true } else { false }
            }
            #expect(effects.faultSightings == (count > 0 ? [Self.firing] : []))
            counts.append(count)
        }
        let sum = counts.reduce(0, +)
        #expect((340...460).contains(sum), "400 of 1600 books are a quarter: \(sum)")
        #expect(Set(counts).count > 3)
    }

    @Test func `a job stays degraded when the stream that made it so is gone`() throws {
        var bench = Bench()
        let job = bench.job()
        let (exchange, _) = bench.stream(job, faults: [.armed(.degraded(books: .always))])
        bench.run(seconds: 8)
        bench.handle(.aborted(exchange))
        let second = bench.stream(job, attempt: 2).exchange
        bench.run(seconds: 2)
        let end = try #require(bench.read(second).last)
        let completed = try #require(JSON.decode(CompletedReading.self, from: end.data))
        guard case .books(let books) = completed.inline else {
            Issue.record("no books: \(end)")
            return
        }
        #expect(books.allSatisfy { $0.enrichmentStatus == .circuitOpen && $0.coverUrl == nil })
        #expect(bench.effects.faultSightings == [Self.firing])
    }

    // MARK: slow-stage

    /// When each event was emitted, in milliseconds.
    private func times(_ stage: ScanPhase, _ by: ClosedRange<Interval>, draw: UInt64, at open: Interval)
        -> (times: [Int64], firings: [FaultObservation])
    {
        var bench = Bench()
        let job = bench.job()
        bench.run(to: .zero + open)
        let fault = ArmedFault(fault: 2, kind: .slowStage(stage, by: by), trigger: .atOnce, draw: draw)
        let (exchange, _) = bench.stream(job, faults: [fault])
        bench.run(seconds: 60)
        let times = bench.marks(exchange).compactMap { mark -> Int64? in
            guard case .event(_, _, _, let emitted) = mark else { return nil }
            return (emitted - .zero).wholeMilliseconds
        }
        return (times, bench.effects.faultSightings)
    }

    @Test func `a slow stage and all behind it come later`() {
        let second = Interval.seconds(1)...(.seconds(1))
        let analyzing = self.times(.analyzing, second, draw: 0, at: .zero)
        let identifying = self.times(.identifying, second, draw: 0, at: .zero)
        let enriching = self.times(.enriching, second, draw: 0, at: .zero)
        #expect(analyzing.times == [0, 1_200, 7_000, 8_260, 9_530, 10_800, 11_000])
        #expect(identifying.times == [0, 200, 7_000, 8_260, 9_530, 10_800, 11_000])
        #expect(enriching.times == [0, 200, 6_000, 8_260, 9_530, 10_800, 11_000])
        #expect(analyzing.firings == [Self.firing])
        let range = Interval.seconds(2)...(.seconds(4))
        let least = self.times(.enriching, range, draw: 0, at: .zero)
        let most = self.times(.enriching, range, draw: .max, at: .zero)
        #expect(least.times.last == 12_000)
        #expect(most.times.last == 14_000)
    }

    @Test func `a stage that is over is not slow any more`() {
        let second = Interval.seconds(1)...(.seconds(1))
        let late = self.times(.identifying, second, draw: 0, at: .seconds(6))
        #expect(late.times == [6_000, 7_260, 8_530, 9_800, 10_000])
        #expect(late.firings == [])
        let ahead = self.times(.enriching, second, draw: 0, at: .seconds(6))
        #expect(ahead.times == [6_000, 8_260, 9_530, 10_800, 11_000])
        #expect(ahead.firings == [Self.firing])
        let over = self.times(.enriching, second, draw: 0, at: .seconds(11))
        #expect(over.firings == [])
    }

    @Test func `delays add up, and never beyond all clocks`() {
        var bench = Bench()
        let endless = Interval(nanoseconds: .max)
        let faults: [ArmedFault] = (0..<3).map {
            .armed(.slowStage(.identifying, by: .seconds(1)...(.seconds(1))), fault: $0)
        }
        let (exchange, _) = bench.stream(bench.job(), faults: faults)
        bench.run(seconds: 9)
        #expect(bench.positions(exchange) == [-1, 1, 2])
        let forever = (0..<50).map {
            ArmedFault.armed(.slowStage(.analyzing, by: endless...endless), fault: $0)
        }
        bench.stream(bench.job(Bench.caller(scan: 2)), faults: forever)
        bench.run(seconds: 60)
        #expect(bench.effects.faultSightings.count == 53)
    }

    // MARK: forget-events

    @Test func `a job whose events are forgotten has only its end to tell, without books`() throws {
        var bench = Bench()
        let job = bench.job()
        let (exchange, _) = bench.stream(job, faults: [.armed(.forgetEvents, .afterEvents(2))])
        let effects = bench.run(seconds: 7)
        #expect(effects.faultSightings == [Self.firing])
        let seen = bench.read(exchange).map(\.id)
        let nothing = bench.opening(job, after: seen.first)
        #expect(nothing == [])
        bench.run(seconds: 3)
        // Whoever was there hears everything.
        #expect(bench.positions(exchange) == [-1, 1, 2, 3, 4, 5, 6])
        let whole = try #require(bench.read(exchange).last)
        #expect(whole.data.hasPrefix("{\"books\":[{"))
        for id in [nil, seen.last, whole.id] {
            let late = bench.stream(job, after: id, attempt: 3).exchange
            let end = try #require(bench.read(late).first)
            #expect(bench.positions(late) == [-7])
            #expect(end.id == whole.id)
            let completed = try #require(JSON.decode(CompletedReading.self, from: end.data))
            #expect(completed.inline == .absent)
        }
        let results = JSON.decode(ResultsBody.self, from: bench.results(job).reply?.body ?? [])
        #expect(results?.data.results.count == 3)
        #expect(bench.run(seconds: 100).isEmpty)
        #expect(bench.opening(job) == [-7])
    }

    @Test func `a finished job may forget its books only`() {
        var bench = Bench()
        let job = bench.job()
        bench.stream(job, faults: [.armed(.forgetEvents, .afterEvents(6))])
        bench.run(seconds: 10)
        #expect(bench.effects.faultSightings == [Self.firing])
        let late = bench.stream(job, after: "none", attempt: 2).exchange
        #expect(bench.positions(late) == [-7])
        #expect(bench.read(late).first?.data.contains("\"books\"") == false)
    }
}
