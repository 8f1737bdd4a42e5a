import Faults
import JSON
import Observations
import OriginServer
import SimBase
import Talaria
import Testing
import Wire

@testable import Backend

/// Progressive results and the event of a canceled job (Docs/contract.md section 2.1).
@Suite struct ProgressiveTests {
    private static func bench(
        books: Int = 2, preview: ClosedRange<Int> = 200_000...200_000,
        _ change: (inout BackendConfiguration) -> Void = { _ in }
    ) -> Bench {
        Bench(books: books) {
            $0.progressive = true
            $0.previewBytes = preview
            change(&$0)
        }
    }

    private static func image(_ event: SSEEvent) throws -> String {
        try #require(JSONNode(event.bytes)?["image"]?.text)
    }

    @Test func `a job sends a preview and its books one by one`() throws {
        var bench = Self.bench()
        let job = bench.job()
        let (exchange, _) = bench.stream(job)
        bench.run(seconds: 11)
        let events = bench.read(exchange)
        #expect(
            events.map(\.type) == [
                "progress", "progress", "progress", "segmented", "book_progress", "progress", "result",
                "book_progress", "progress", "result", "completed",
            ])
        #expect(JSONNode(events[3].bytes)?["totalBooks"]?.integer == 2)
        #expect(Base64.decodedCount(try Self.image(events[3])) == 200_000)
        #expect(events[4].data == #"{"current":1,"stage":"enriching_metadata","total":2}"#)
        #expect(events[7].data == #"{"current":2,"stage":"enriching_metadata","total":2}"#)
        let books = (0..<2).map {
            bench.shelf.book(device: DeviceNumber(4), scan: ScanNumber(1), ordinal: $0)
        }
        #expect([events[6], events[9]].map(\.bytes) == books.map { JSON.encode($0) })
        for event in events {
            var notes = ContractNotes()
            let reading =
                event.type == "result"
                ? JobEvent(resultBytes: event.bytes, into: &notes)
                : JobEvent(name: event.type, bytes: event.bytes, into: &notes)
            #expect(notes.isEmpty, "\(event.type): \(reading)")
        }
    }

    /// Events of books at 6, 7.9 and 9.8 s.
    @Test func `what is done next is said before it takes its time`() {
        var bench = Self.bench()
        let job = bench.job()
        let (exchange, _) = bench.stream(job)
        bench.run(to: .zero + .milliseconds(6_100))
        #expect(bench.read(exchange).map(\.type).suffix(2) == ["segmented", "book_progress"])
        bench.run(to: .zero + .seconds(8))
        #expect(bench.read(exchange).map(\.type).suffix(3) == ["progress", "result", "book_progress"])
    }

    @Test func `without the switch nothing of this is sent`() {
        var bench = Bench(books: 2)
        let job = bench.job()
        let (exchange, _) = bench.stream(job)
        bench.run(seconds: 11)
        #expect(Set(bench.read(exchange).map(\.type)) == ["progress", "completed"])
    }

    @Test func `a job of v2 has its own events`() throws {
        var bench = Self.bench()
        let exchange = bench.ask(
            "POST", "/api/batch-scan", contentType: "multipart/form-data; boundary=x", contentLength: 250_300
        ).exchange
        var photo = Bench.jpeg
        photo.name = "photos"
        let effects = bench.handle(.uploaded(exchange, [photo]))
        let data = try #require(JSONNode(effects.reply?.body ?? [])?["data"])
        let id = try #require(data["jobId"]?.text)
        let stream = bench.ask(
            "GET", Journey.bookshelfScan.path(.stream(jobId: id)),
            authorization: data["authToken"]?.text.map { "Bearer \($0)" }
        ).exchange
        bench.run(seconds: 17)
        let names = Set(bench.read(stream).map(\.type))
        #expect(
            names.contains("completed") && names.isDisjoint(with: ["segmented", "book_progress", "result"]))
    }

    /// A job holds no image: each stream has it made for itself, and from the same draw.
    @Test func `a preview that is sent again is the same`() throws {
        var bench = Self.bench(preview: 1_000...1_000_000)
        let job = bench.job()
        let first = bench.stream(job).exchange
        bench.run(seconds: 11)
        let events = bench.read(first)
        let again = bench.stream(job, after: events[2].id).exchange
        #expect(bench.read(again).map(\.id) == events[3...].map(\.id))
        #expect(try Self.image(bench.read(again)[0]) == Self.image(events[3]))
        let size = try #require(Base64.decodedCount(try Self.image(events[3])))
        #expect((1_000...1_000_000).contains(size))
        let other = bench.job(Bench.caller(scan: 2))
        let stream = bench.ask(
            "GET", "/v3/jobs/scans/\(other.id)/stream", authorization: "Bearer \(other.token)",
            caller: Bench.caller(scan: 2)
        ).exchange
        bench.run(seconds: 11)
        #expect(Base64.decodedCount(try Self.image(bench.read(stream)[3])) != size)
    }

    @Test func `a book that was looked up in part is shown so`() throws {
        var bench = Self.bench(books: 1)
        let job = bench.job()
        let (exchange, _) = bench.stream(
            job, faults: [.armed(.degraded(books: .always))])
        bench.run(seconds: 11)
        let events = bench.read(exchange)
        let places = ["enrichment_degraded", "result"].map { name in events.firstIndex { $0.type == name } }
        let (degraded, result) = (try #require(places[0]), try #require(places[1]))
        #expect(degraded < result)
        let shown = try #require(JSONNode(events[result].bytes))
        #expect(shown["enrichmentStatus"]?.text == "circuit_open")
        #expect(events.count { $0.type == "enrichment_degraded" } == 1)
    }

    @Test(arguments: ["live-2026-02", "bendv3", "legacy-openapi", "wingtip"])
    func `every dialect has them in its own form`(_ dialect: String) throws {
        let preset = try #require(BackendConfiguration.preset(dialect))
        var course = preset.dialect.course
        #expect(!course.stages.contains { $0.events.contains(.segmented) })
        course = course.progressive
        let events = course.stages.flatMap(\.events).map(\.kind)
        #expect(events.count { $0 == .segmented } == 1 && events.count { $0 == .bookProgress } == 1)
        #expect(events.count { $0 == .result } == 1)
    }

    // MARK: The image

    @Test(arguments: [PreviewImage.bytesMin, 180, 181, 182, 183, 1_000, 65_713, 65_714, 65_716, 1_000_000])
    func `a preview is a JPEG of its size`(_ count: Int) {
        let bytes = PreviewImage.bytes(count)
        #expect(bytes.count == count)
        #expect(bytes.prefix(2) == [0xFF, 0xD8] && bytes.suffix(2) == [0xFF, 0xD9])
        // The markers up to the data of the picture: each begins where the one before says.
        var place = 2
        while true {
            #expect(bytes[place] == 0xFF)
            while bytes[place] == 0xFF { place += 1 }
            let marker = bytes[place]
            if marker == 0xDA { break }
            place += 1 + Int(bytes[place + 1]) * 256 + Int(bytes[place + 2])
            guard place < bytes.count else {
                Issue.record("a marker of \(marker) ends behind the image")
                break
            }
        }
    }

    @Test func `a preview that is too large or too small is refused`() {
        for size in [PreviewImage.bytesMin - 1, 1_000_001] {
            var configuration = BackendConfiguration.contract
            configuration.previewBytes = size...size
            #expect(configuration.objection?.contains("a preview") == true)
        }
    }

    // MARK: Canceled

    @Test(arguments: [true, false])
    func `a canceled job ends with the event of the switch`(_ isOn: Bool) {
        var bench = Bench { $0.cancelEvent = isOn }
        let job = bench.job()
        let (exchange, _) = bench.stream(job)
        bench.run(seconds: 1)
        #expect(bench.cancel(job).status == 200)
        let last = bench.read(exchange).last
        #expect(last?.type == (isOn ? "canceled" : "error"))
        if isOn {
            #expect(last?.data == #"{"jobId":"\#(job.id)","type":"canceled"}"#)
            #expect(last?.id.hasSuffix("-canceled") == true)
        }
        #expect(bench.hasEnded(exchange))
        // A stream that is opened later begins, and ends, with it.
        let late = bench.stream(job).exchange
        #expect(bench.read(late).map(\.type) == [isOn ? "canceled" : "error"] && bench.hasEnded(late))
    }

    @Test func `a fault can cancel a job`() {
        var bench = Bench { $0.cancelEvent = true }
        let job = bench.job()
        let (exchange, _) = bench.stream(
            job, faults: [.armed(.finalError(code: "CANCELED"), .afterEvents(2))])
        bench.run(seconds: 8)
        #expect(bench.read(exchange).last?.type == "canceled")
        #expect(
            bench.effects.payloads.contains(
                .backend(.failed(job: job.id, code: "CANCELED", retryable: false))))
    }
}
