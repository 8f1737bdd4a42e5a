import Observations
import Phone
import SimBase
import Talaria
import Testing

/// From the terminal event to the library.
struct ResultsTests {
    private func completed(_ event: String, profile: ClientProfile = .contract) -> TestPhone {
        var phone = TestPhone(profile: profile)
        phone.captureToStream()
        _ = phone.takeSightings()
        phone.stream(event)
        return phone
    }

    private func terminal(_ inline: InlineBooksForm) -> PhoneObservation {
        .terminalApplied(job: "job-1", kind: .completed, inline: inline)
    }

    @Test(arguments: [
        (nil as String?, InlineBooksForm.absent), ("null", .null), ("[]", .empty),
        (#"[{"title":null,"author":"a"}]"#, .undecodable),
        ("{}", .undecodable), ("5", .undecodable), (#"[{"title":"t","author":"a"},5]"#, .undecodable),
    ])
    func `books that cannot be used are fetched`(books: String?, inline: InlineBooksForm) {
        var phone = completed(Wording.completed(rawBooks: books))
        #expect(phone.payloads.contains(terminal(inline)))
        let request = phone.request(.results)
        #expect(request?.method == "GET")
        #expect(request?.target == "/v3/jobs/scans/job-1/results?format=lite")
        #expect(request?.headers.map(\.name) == ["X-Device-ID", "Authorization", "traceparent"])
        phone.now = phone.now + .milliseconds(80)
        phone.answer(.results, 200, Wording.results(books: 2))
        #expect(phone.payloads.contains(.resultsDecoded(job: "job-1", books: 2, took: .milliseconds(80))))
        #expect(phone.store.books.values == [Wording.book(0), Wording.book(1)])
        #expect(phone.request(.cleanup) != nil)
    }

    @Test func `inline books are used as they are`() {
        let phone = completed(Wording.completed(books: 3))
        #expect(phone.payloads.contains(terminal(.books)))
        #expect(phone.request(.results) == nil)
        #expect(phone.store.books.count == 3)
    }

    @Test func `a profile that ignores inline books fetches them, in its format`() {
        var profile = ClientProfile.contract
        profile.results.usesInlineBooks = false
        profile.results.format = "full"
        let phone = completed(Wording.completed(books: 3), profile: profile)
        #expect(phone.request(.results)?.target == "/v3/jobs/scans/job-1/results?format=full")
    }

    @Test func `complete is the same event under another name`() {
        let phone = completed(
            Wording.event("complete", id: "9", #"{"books":[{"title":"t","author":"a"}]}"#))
        #expect(phone.payloads.contains(terminal(.books)))
        #expect(phone.store.books.count == 1)
    }

    @Test func `books under another job's name are not taken`() {
        let phone = completed(Wording.completed(job: "job-2", books: 2))
        #expect(phone.store.books.isEmpty)
        #expect(phone.request(.results)?.target == "/v3/jobs/scans/job-1/results?format=lite")
    }

    @Test
    func `a completed event that cannot be read is believed to be the end, and the results are asked for`() {
        var phone = completed(Wording.event("completed", id: "9", "{\"books\":[{"))
        #expect(
            phone.takeSightings().prefix(4) == [
                .firstEvent(job: "job-1", took: .zero),
                .eventApplied(job: "job-1", id: "9", kind: .completed, latency: nil, replayed: false),
                .badAnswer(.stream, attempt: 1, .undecodable), terminal(.undecodable),
            ])
        phone.answer(.results, 200, Wording.results(books: 1))
        #expect(phone.store.books.count == 1)
    }

    @Test func `no books at all complete a scan`() {
        var phone = completed(Wording.completed(rawBooks: "[]"))
        phone.answer(.results, 200, Wording.results(books: 0))
        phone.answer(.cleanup, 204)
        #expect(phone.store.settled.map(\.outcome) == [.completed])
    }

    @Test(arguments: [
        ("/v3/jobs/ai_scan/scans/x/results", "/v3/jobs/ai_scan/scans/x/results?format=lite"),
        ("/r?format=lite", "/r?format=lite"), ("/r?a=1&format=lite", "/r?a=1&format=lite"),
        ("/r?a=1", "/r?a=1&format=lite"), ("/r?", "/r?format=lite"), ("/r?a=1&", "/r?a=1&format=lite"),
        ("/r?xformat=lite", "/r?xformat=lite&format=lite"),
        ("//other/r", "/v3/jobs/scans/job-1/results?format=lite"),
        ("https://other/r", "/v3/jobs/scans/job-1/results?format=lite"),
        ("r", "/v3/jobs/scans/job-1/results?format=lite"), ("", "/v3/jobs/scans/job-1/results?format=lite"),
        ("/r#x", "/v3/jobs/scans/job-1/results?format=lite"),
        ("/r s", "/v3/jobs/scans/job-1/results?format=lite"),
    ])
    func `the named address is asked, with its format once`(named: String, target: String) {
        let phone = completed(Wording.completed(rawBooks: nil, resultsUrl: named))
        #expect(phone.request(.results)?.target == target)
    }

    @Test func `an absolute address counts where the stream lies`() {
        for (named, target) in [
            ("https://api.x/r", "https://api.x/r?format=lite"),
            ("https://api.x.evil/r", "/v3/jobs/scans/job-1/results?format=lite"),
            ("http://api.x/r", "/v3/jobs/scans/job-1/results?format=lite"),
        ] {
            var phone = TestPhone()
            phone.capture(1)
            phone.answer(.upload, 202, Wording.accepted(job: "job-1", sseUrl: "https://api.x/s"))
            phone.openStream()
            phone.stream(Wording.completed(rawBooks: nil, resultsUrl: named))
            #expect(phone.request(.results)?.target == target)
        }
    }

    @Test(arguments: [408, 429, 500, 503])
    func `results that cannot be had just now are asked for again`(status: Int) {
        var phone = completed(Wording.completed(rawBooks: nil))
        for attempt: UInt32 in 1...12 {
            #expect(phone.request(.results)?.attempt == attempt)
            phone.answer(.results, status)
            #expect(phone.request(.cleanup) == nil, "a DELETE would destroy the results")
            phone.pass(.seconds(30))
        }
        phone.answer(.results, 200, Wording.results(books: 1))
        #expect(phone.store.books.count == 1)
    }

    @Test func `a time that the server names is waited out`() {
        var phone = completed(Wording.completed(rawBooks: nil))
        phone.answer(.results, 503, retryAfter: "40")
        phone.pass(.milliseconds(39_999))
        #expect(phone.request(.results) == nil)
        phone.pass(.milliseconds(1))
        #expect(phone.request(.results) != nil)
    }

    @Test func `a transport failure and a deadline are tried again too`() {
        var phone = completed(Wording.completed(rawBooks: nil))
        phone.fail(.results, .reset)
        phone.pass(.milliseconds(500))
        #expect(phone.request(.results)?.attempt == 2)
        phone.pass(.seconds(30))
        #expect(
            phone.payloads.contains(.requestFailed(.results, attempt: 2, .timedOut, took: .seconds(30))))
        phone.pass(.seconds(1))
        #expect(phone.request(.results)?.attempt == 3)
    }

    @Test(arguments: [
        (
            #"{"success":true,"data":{"jobId":"job-1","status":"completed","books":[]}}"#,
            BadAnswer.undecodable
        ),
        (#"{"success":false,"data":{"jobId":"job-1","status":"completed","results":[]}}"#, .notSuccess),
        (#"{"success":true,"data":{"jobId":"job-2","status":"completed","results":[]}}"#, .undecodable),
        ("<html></html>", .undecodable), ("", .undecodable),
    ])
    func `results that cannot be read are asked for three times, then wait with their job`(
        body: String, bad: BadAnswer
    ) {
        var phone = completed(Wording.completed(rawBooks: nil))
        for attempt: UInt32 in 1...3 {
            phone.answer(.results, 200, Array(body.utf8))
            #expect(phone.payloads.contains(.badAnswer(.results, attempt: attempt, bad)))
            phone.pass(.seconds(2))
        }
        #expect(phone.open.filter { $0.operation != .stream } == [])
        #expect(phone.waiting == ["1 \(bad == .tooLarge ? "answer-too-large" : "unreadable-answer")"])
        #expect(phone.payloads.contains(.resultsGivenUp(job: "job-1")))
        #expect(phone.record?.job?.jobId == "job-1")
        #expect(phone.app.isQuiescent)
    }
}
