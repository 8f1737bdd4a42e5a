import JSON
import Phone
import SimBase
import Talaria
import Testing

/// What the server says that the contract does not: found, and the scan goes on where it can.
struct FindingTests {
    @Test func `an upload whose address is missing says so`() {
        var phone = TestPhone()
        phone.capture(1)
        phone.answer(.upload, 202, Array(#"{"success":true,"data":{"jobId":"j"},"_links":{}}"#.utf8))
        #expect(phone.found.first == "upload 202 data.sseUrl: missing!")
        #expect(phone.waiting == ["1 unreadable-answer"])
    }

    @Test func `a lean acceptance leads to a completed scan`() {
        var phone = TestPhone()
        phone.capture(1)
        phone.answer(
            .upload, 202,
            Array(
                #"{"success":true,"data":{"jobId":"job-1","sseUrl":"/s","authToken":7},"metadata":{}}"#.utf8))
        phone.openStream()
        phone.stream(Wording.completed(books: 2))
        phone.answer(.cleanup, 204)
        #expect(phone.store.settled.map(\.outcome) == [.completed])
        #expect(phone.found.contains("upload 202 data.authToken: a number"))
        #expect(phone.request(.stream)?.headers.contains { $0.name == "Authorization" } != true)
    }

    @Test(arguments: [(5, "a higher number"), (1, "a lower number")])
    func `a number of books that did not come is found`(detected: Int, seen: String) {
        var phone = TestPhone()
        phone.captureToStream()
        phone.stream(
            Wording.event(
                "completed", id: "9",
                #"{"type":"completed","jobId":"job-1","summary":{"totalDetected":\#(detected)}}"#))
        phone.answer(.results, 200, Wording.results(books: 2))
        #expect(phone.store.books.count == 2)
        #expect(phone.found.contains("stream completed summary.totalDetected: \(seen)"))
    }

    @Test(arguments: [(2, 9, nil), (2, nil, nil), (3, 2, "a higher number"), (1, 2, "a lower number")])
    func `books that are different are promised apart from those that were detected`(
        unique: Int, detected: Int?, seen: String?
    ) {
        var phone = TestPhone()
        phone.captureToStream()
        phone.findings = []
        let number = detected.map { #","totalDetected":\#($0)"# } ?? ""
        phone.stream(
            Wording.event(
                "completed", id: "9",
                #"{"type":"completed","jobId":"job-1","summary":{"totalUnique":\#(unique)\#(number)}}"#))
        phone.answer(.results, 200, Wording.results(books: 2))
        let found = phone.found.filter { $0.contains("total") }
        #expect(found == (seen.map { ["stream completed summary.totalUnique: \($0)"] } ?? []))
        let promise = phone.payloads.compactMap {
            if case .booksPromised(_, let promise) = $0 { promise } else { nil }
        }
        #expect(promise == [BooksPromise(unique: unique, detected: detected)])
    }

    @Test(arguments: [
        (#""processedCount":2,"totalCount":2"#, []),
        (#""processedCount":3,"totalCount":2"#, ["stream progress processedCount: a higher number"]),
        (#""processedCount":3"#, []),
    ])
    func `a progress above its total is found`(counts: String, expected: [String]) {
        var phone = TestPhone()
        phone.captureToStream()
        phone.findings = []
        phone.stream(
            Wording.event(
                "progress", id: "9",
                #"{"type":"progress","jobId":"job-1","status":"enriching","progress":0.5,\#(counts)}"#))
        #expect(phone.found.filter { $0.contains("processedCount") } == expected)
    }

    @Test func `the number of books that came is no finding`() {
        var phone = TestPhone()
        phone.captureToStream()
        phone.findings = []
        phone.stream(
            Wording.event(
                "completed", id: "9",
                #"{"type":"completed","jobId":"job-1","summary":{"totalDetected":1},"books":"#
                    + #"[{"title":"T","author":"A"}]}"#))
        #expect(phone.found == [])
    }

    @Test func `a stream on another server is a finding about the upload, without its query`() {
        var phone = TestPhone()
        phone.capture(1)
        phone.answer(.upload, 202, Wording.accepted(job: "j", sseUrl: "http://evil.example/s?token=x"))
        phone.findings = []
        phone.fail(.stream, .foreignURL)
        #expect(phone.found == ["upload 202 data.sseUrl: another server!"])
        #expect(phone.findings.map(\.excerpt) == ["http://evil.example/s"])
    }

    @Test func `an unknown event and a wait that nobody can read are found`() {
        var phone = TestPhone()
        phone.captureToStream()
        phone.findings = []
        phone.stream(Wording.event("result", id: "1", "{}"))
        #expect(phone.found == ["stream event event: result"])
        var other = TestPhone()
        other.capture(1)
        other.answer(.upload, 503, Wording.problem(.circuitOpen), retryAfter: "soon")
        #expect(other.found.contains("upload 503 header Retry-After: another text"))
    }

    @Test func `a status and a content type that the contract does not have are found once`() {
        var phone = TestPhone()
        phone.capture(1)
        phone.answer(.upload, 507, Wording.problem(.internalError), type: "application/json")
        #expect(
            phone.found == [
                "upload 507 status: another status", "upload 507 status: 507",
                "upload 507 header Content-Type: another type",
            ])
        var other = TestPhone()
        other.captureToStream()
        other.stream(Wording.completed(books: 0))
        other.findings = []
        other.answer(.results, 302)
        #expect(other.found == ["results 302 status: 302!"])
    }

    @Test func `a code that the contract does not have is found`() {
        var phone = TestPhone()
        phone.capture(1)
        var problem = Problem(.circuitOpen, detail: "", instance: nil, retryAfterMs: nil, metadata: nil)
        problem.code = "RATE_LIMITED"
        phone.answer(.upload, 503, JSON.encode(problem))
        #expect(phone.found == ["upload 503 code: another one"])
        #expect(phone.findings.map(\.excerpt) == ["RATE_LIMITED"])
    }

    @Test func `a ping with more than the contract says is found`() {
        var phone = TestPhone()
        phone.captureToStream()
        phone.findings = []
        phone.stream(Wording.event("ping", id: "1", #"{"type":"ping","load":0.5}"#))
        #expect(phone.found == ["stream ping load: an unknown field"])
    }

    // MARK: One id for two jobs

    @Test func `a DELETE of an old job does not hit a new one of the same id`() {
        var phone = TestPhone()
        phone.captureToStream()
        phone.stream(Wording.error(retryable: true))
        #expect(phone.request(.cleanup)?.target == "/v3/jobs/scans/job-1/cleanup")
        phone.pass(.seconds(2))
        phone.findings = []
        phone.accept(job: "job-1")
        #expect(phone.request(.cleanup) == nil, "the DELETE under way is given up")
        #expect(phone.payloads.contains(.jobAbandoned(job: "job-1", cause: .jobIDReused)))
        #expect(phone.found.contains("upload 202 data.jobId: the id of an earlier job"))
        phone.openStream()
        phone.stream(Wording.completed("10", books: 1))
        phone.answer(.cleanup, 204)
        #expect(phone.store.settled.map(\.outcome) == [.completed])
    }

    @Test func `the first of two scans with one job does not delete the other's`() {
        var phone = TestPhone()
        phone.capture(1)
        phone.accept(job: "job-1")
        phone.capture(2)
        phone.answer(.upload, 202, Wording.accepted(job: "job-1"), scan: 2)
        phone.openStream()
        phone.stream(Wording.completed(books: 1))
        #expect(phone.request(.cleanup) == nil)
        #expect(phone.payloads.contains(.jobAbandoned(job: "job-1", cause: .jobIDReused)))
        #expect(phone.store.settled.map(\.outcome) == [.completed])
    }
}
