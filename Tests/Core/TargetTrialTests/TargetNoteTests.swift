import SimBase
import Talaria
import TargetTrial
import Testing
import Wire

/// What a target may do by the contract, and a client may stumble over.
@Suite struct TargetNoteTests {
    private static let book =
        #"{"title":"Solaris","author":"Stanisław Lem","isbn":"9780156027601","confidence":0.9}"#
    private static let other = #"{"title":"Dune","author":"Frank Herbert","isbn":null,"confidence":0.8}"#

    private static func results(_ books: [String], job: String = "j") -> String {
        #"{"success":true,"data":{"jobId":"\#(job)","results":[\#(books.joined(separator: ","))]}}"#
    }

    private static func progress(_ share: String, _ count: Int = 0) -> String {
        #"{"jobId":"j","progress":\#(share),"processedCount":\#(count),"message":"m"}"#
    }

    private static func witnessed() -> TriedTarget { TriedTarget { $0.witness = 1_000_000 } }

    // MARK: Streams

    @Test func `a stream ends with its job`() {
        var target = Self.witnessed()
        target.upload()
        let (own, witness) = target.openBoth()
        for stream in [own, witness] { target.complete(stream) }
        target.close(own, isWhole: true)
        #expect(target.notes == [])
        target.wait(.seconds(2))
        #expect(target.canceled() == [witness])
        #expect(target.notes == [.openAfterEnd])
    }

    @Test(arguments: [true, false]) func `a stream after an unknown id ends with what is left`(isEnded: Bool)
        throws
    {
        var target = TriedTarget { $0.probes = true }
        target.upload()
        target.complete(target.open())
        let probe = try #require(target.probes().first { $0.kind == "unknown-id" }?.id)
        target.answer(probe, 200, type: "text/event-stream")
        target.complete(probe)
        if isEnded { target.close(probe, isWhole: true) }
        target.wait(.seconds(2))
        _ = target.canceled()
        #expect(target.notes == (isEnded ? [] : [.openAfterEnd]))
    }

    @Test(arguments: ["/v3/jobs/scans/j/cleanup", "/v3/jobs/scans/j"])
    func `a stream ends with the DELETE of its job`(path: String) {
        for isEnded in [true, false] {
            var target = Self.witnessed()
            target.upload()
            let (_, witness) = target.openBoth()
            target.exchange("DELETE", path, path.hasSuffix("j") ? 200 : 204)
            if isEnded { target.close(witness, isWhole: true) }
            target.wait(.seconds(2))
            _ = target.canceled()
            #expect(target.notes == (isEnded ? [] : [.openAfterEnd]))
        }
    }

    @Test(arguments: [(true, true), (false, true), (false, false)])
    func `a stream that is over ends with its last chunk`(isWhole: Bool, isComplete: Bool) {
        var target = Self.witnessed()
        target.upload()
        let (_, witness) = target.openBoth()
        if isComplete { target.complete(witness) }
        target.close(witness, isWhole: isWhole)
        #expect(target.notes == (isComplete && !isWhole ? [.cutAfterEnd] : []))
    }

    @Test func `a terminal event comes once on a stream`() {
        var target = TriedTarget()
        target.upload()
        target.complete(target.open())
        let second = target.open()
        target.complete(second)
        #expect(target.notes == [])
        target.complete(second)
        #expect(target.notes == [.repeatedTerminal] && target.rules == [])
    }

    @Test(arguments: [(0, nil, 0), (2, nil, 1), (2, "1-progress", 0)])
    func `a job that takes its time has progress`(seconds: Int64, after: String?, count: Int) {
        var target = TriedTarget()
        target.upload()
        let stream = target.open(after: after)
        target.wait(.seconds(seconds))
        target.complete(stream)
        #expect(target.notes == [TargetNote](repeating: .noProgress, count: count))
    }

    @Test func `a job with progress lacks none`() {
        var target = TriedTarget()
        target.upload()
        let stream = target.open()
        target.wait(.seconds(2))
        target.send(stream, "progress", id: "2000-progress", Self.progress("0.5"))
        target.complete(stream)
        #expect(target.notes == [])
    }

    @Test func `progress does not fall within a stream`() {
        var target = TriedTarget()
        target.upload()
        let (first, second) = (target.open(), target.open())
        target.send(first, "progress", id: "1-progress", Self.progress("0.5", 1))
        target.send(first, "progress", id: "2-progress", Self.progress("0.5", 2))
        target.send(second, "progress", id: "1-progress", Self.progress("0.1", 3))
        target.send(first, "progress", id: "9-initial", Self.progress("0", 4))
        #expect(target.notes == [])
        target.send(first, "progress", id: "3-progress", Self.progress("0.45", 5))
        #expect(target.notes == [.fallingProgress])
        #expect(target.findings.last?.excerpt == "50.0 %, then 45.0 %")
    }

    @Test func `progress has a message, but for the state at the start`() {
        var target = TriedTarget()
        target.upload()
        let stream = target.open()
        target.send(stream, "progress", id: "1-initial", #"{"jobId":"j"}"#)
        #expect(target.notes == [])
        for number in 2...3 { target.send(stream, "progress", id: "\(number)-progress", #"{"jobId":"j"}"#) }
        #expect(target.notes == [.noMessage], "once a stream")
    }

    @Test func `a quiet stream has pings`() {
        var target = TriedTarget { $0.readsAtOnce = true }
        target.upload()
        let stream = target.open()
        for _ in 1...3 {
            target.wait(.seconds(31))
            target.send(stream, "ping", id: nil, "{}")
        }
        #expect(target.notes == [])
        target.wait(.seconds(46))
        target.close(stream)
        #expect(target.notes == [.silence])
        let other = target.open()
        target.wait(.seconds(46))
        target.send(other, "ping", id: nil, "{}")
        #expect(target.notes == [.silence, .silence])
    }

    @Test func `a phone in the background hears nothing`() {
        var target = Self.witnessed()
        target.upload()
        let (own, witness) = target.openBoth()
        target.wait(.seconds(46))
        target.close(own)
        #expect(target.notes == [])
        target.send(witness, "ping", id: nil, "{}")
        #expect(target.notes == [.silence])
    }

    @Test func `the id of a ping is a time as well`() {
        var target = TriedTarget()
        target.upload()
        target.send(target.open(), "ping", id: "1-ping", "{}")
        target.send(target.open(), "ping", id: "", "{}")
        #expect(target.rules == [])
        target.send(target.open(), "ping", id: "zero", "{}")
        #expect(target.rules == [.ids])
        target.wait(.hours(1))
        target.upload(job: "k", scan: 2)
        target.send(target.open(job: "k"), "ping", id: "0-ping", "{}")
        #expect(target.rules == [.ids, .times])
    }

    @Test func `a heartbeat is a comment or a ping`() {
        var target = TriedTarget()
        target.upload()
        let stream = target.open()
        target.send(stream, "heartbeat", id: nil, "{}")
        #expect(target.notes == [])
        target.send(stream, "message", id: nil, "heartbeat")
        #expect(target.notes == [.plainData])
    }

    // MARK: Books

    @Test func `a list without books is of a job without books`() {
        for books in [[], [Self.book]] {
            var target = TriedTarget()
            target.upload()
            target.complete(target.open(), books: "[]")
            target.exchange("GET", "/v3/jobs/scans/j/results", 200, Self.results(books))
            #expect(target.notes == (books.isEmpty ? [] : [.emptyBooks]) && target.rules == [])
        }
    }

    @Test(arguments: [
        (1, [Self.book, Self.book], 1), (2, [Self.book, Self.book], 0), (1, [Self.book, Self.other], 0),
    ])
    func `a summary counts two copies`(counted: Int, books: [String], count: Int) {
        var target = TriedTarget()
        target.upload()
        target.send(
            target.open(), "completed", id: "1-completed",
            #"{"jobId":"j","summary":{"totalDetected":\#(counted)},"books":[\#(books.joined(separator: ","))]}"#
        )
        #expect(target.notes == [TargetNote](repeating: .repeatedBook, count: count))
    }

    @Test(arguments: [
        ("9780156027602", 1), ("9780156027601", 0), ("0156027607", 0), ("0156027600", 1),
        ("unknown-isbn.", 0),
    ])
    func `an ISBN has its check digit`(isbn: String, count: Int) {
        var target = TriedTarget()
        target.upload()
        target.complete(target.open(), books: "[\(Self.book.replacing("9780156027601", with: isbn))]")
        #expect(target.notes == [TargetNote](repeating: .wrongISBN, count: count))
    }

    @Test(arguments: [([Self.book], 0), ([Self.book, Self.book], 1), ([], 1)])
    func `a photo that is uploaded again has the same books`(books: [String], count: Int) throws {
        var target = TriedTarget { $0.probes = true }
        target.upload(job: "first")
        target.upload(job: "second")
        let stream = target.open(job: "second")
        _ = target.probes()
        target.complete(stream, job: "second", books: "[\(Self.book)]")
        target.exchange("DELETE", "/v3/jobs/scans/second/cleanup", 204)
        target.wait(.seconds(2))
        let probe = try #require(target.probes().first { $0.target.contains("/first/results") })
        #expect(probe.token == "Bearer t" && probe.hasDevice)
        target.answer(probe.id, 200, Self.results(books, job: "first"))
        #expect(target.notes == [TargetNote](repeating: .otherBooks, count: count) && target.rules == [])
    }

    @Test func `two batches may have the same books`() {
        var target = TriedTarget()
        let books = (1...3).map { #"{"title":"Volume \#($0)","author":"A"}"# }.joined(separator: ",")
        for (job, scan) in [("enrichment_1", UInt32(1)), ("enrichment_2", 2)] {
            target.exchange(
                "POST", "/api/batch-enrich", 202, #"{"success":true,"data":{"jobId":"\#(job)"}}"#, scan: scan,
                token: nil)
            target.exchange(
                "GET", "/api/v2/enrichments/\(job)/results", 200, #"{"data":{"books":[\#(books)]}}"#,
                scan: scan)
        }
        #expect(!target.notes.contains(.sameBooks) && target.tried.contains(.resultsAgree))
    }

    @Test func `the jobs of two photos are not compared`() {
        var target = TriedTarget { $0.probes = true }
        target.upload(job: "first")
        target.upload(job: "second", scan: 2)
        let stream = target.open(job: "second")
        target.complete(stream, job: "second", books: "[\(Self.book)]")
        target.wait(.seconds(2))
        #expect(!target.probes().contains { $0.target.contains("/first/") })
    }

    @Test(arguments: [(2, 3, 1), (2, 2, 0), (1, 3, 0)])
    func `two photos of a device have different books`(scan: UInt32, count: Int, notes: Int) {
        var target = TriedTarget()
        let books = (1...count).map { #"{"title":"Volume \#($0)","author":"A"}"# }.joined(separator: ",")
        for (job, scan) in [("i", 1), ("j", scan)] {
            target.upload(job: job, scan: scan)
            target.complete(target.open(job: job), job: job, books: "[\(books)]")
            target.exchange("GET", "/v3/jobs/scans/\(job)/results", 200, #"{"data":{"results":[\#(books)]}}"#)
        }
        #expect(target.notes.count { $0 == .sameBooks } == notes)
    }

    // MARK: Heads and links

    @Test(arguments: [(5, true, 0), (6, true, 1), (6, false, 0)])
    func `an answer begins in time`(seconds: Int64, readsAtOnce: Bool, count: Int) {
        var target = TriedTarget { $0.readsAtOnce = readsAtOnce }
        target.upload()
        let (upload, cleanup) = (
            target.ask("POST", "/v3/jobs/scans", token: nil), target.ask("DELETE", "/v3/jobs/scans/j/cleanup")
        )
        target.wait(.seconds(seconds))
        for id in [upload, cleanup] { target.begin(id, 204) }
        #expect(target.notes == [TargetNote](repeating: .slowAnswer, count: count))
    }

    @Test(arguments: [true, false]) func `nothing comes behind the end of an answer`(hasExcess: Bool) {
        var target = TriedTarget()
        target.upload()
        let id = target.ask("DELETE", "/v3/jobs/scans/j/cleanup")
        target.begin(id, 204)
        target.end(id, hasExcess: hasExcess)
        #expect(target.notes == (hasExcess ? [.excessBytes] : []))
    }

    @Test(arguments: [
        ("/v3/jobs/scans/j/stream", 0), ("/v3/jobs/scans/j/stream?x=1", 0),
        ("https://a.example/v3/jobs/scans/j", 0),
        ("/api/v2/scans/scan_j/stream", 0), ("/v3/job/scan/j", 1), ("https://a.example/events/j", 1),
        ("j", 0),
    ])
    func `links have paths of the contract`(link: String, count: Int) {
        var target = TriedTarget()
        target.exchange(
            "POST", "/v3/jobs/scans", 202, #"{"success":true,"data":{"jobId":"j","statusUrl":"\#(link)"}}"#,
            token: nil)
        #expect(target.notes == [TargetNote](repeating: .unknownLink, count: count))
    }

    @Test(arguments: [
        ("1", 0), ("31622300", 0), ("1738419600000", 1), ("soon", 0), ("\(Int64.min)", 0),
        ("\(Int64.max)", 1),
    ])
    func `the reset of a limit is in seconds`(value: String, count: Int) {
        var target = TriedTarget()
        let id = target.ask("POST", "/v3/jobs/scans", token: nil)
        target.answer(
            id, 202, #"{"success":true,"data":{"jobId":"j"}}"#,
            others: [HeaderField("x-ratelimit-reset", value)])
        #expect(target.notes == [TargetNote](repeating: .resetTime, count: count))
    }

    @Test(arguments: [
        ("staging.example:8443", "/v3/jobs/scans/j/stream", 0),
        ("staging.example", "http://STAGING.example/v3/jobs/scans/j", 0),
        ("staging.example", "http://pod-7.internal:8080/v3/jobs/scans/j", 1),
        ("127.0.0.1:80", "http://localhost:8080/v3/jobs/scans/j", 0),
        ("127.0.0.1:80", "http://pod-7.internal/v3/jobs/scans/j", 1),
        (nil, "http://pod-7.internal/v3/jobs/scans/j", 0),
    ])
    func `links name the host that was asked`(host: String?, link: String, count: Int) {
        var target = TriedTarget { $0.host = host }
        target.exchange(
            "POST", "/v3/jobs/scans", 202, #"{"success":true,"data":{"jobId":"j","sseUrl":"\#(link)"}}"#,
            token: nil)
        #expect(target.notes == [TargetNote](repeating: .otherHost, count: count))
        #expect(target.findings.allSatisfy { $0.isAdditional })
    }
}
