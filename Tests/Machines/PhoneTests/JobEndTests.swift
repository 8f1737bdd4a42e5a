import JSON
import Observations
import Phone
import SimBase
import Talaria
import Testing

/// Tokens that expire and jobs that vanish: a new upload of the same scan, a named number of times.
struct JobEndTests {
    @Test(arguments: [
        (401, WaitingCause.tokenExpired), (404, .jobGone), (410, .jobGone),
    ])
    func `a stream that the job does not open any more leads to a new upload`(
        status: Int, cause: WaitingCause
    ) {
        var phone = TestPhone()
        phone.capture(1)
        phone.accept()
        _ = phone.takeSightings()
        phone.answer(.stream, status, Wording.problem(.tokenExpired))
        #expect(
            phone.takeSightings() == [
                .replied(.stream, attempt: 1, status: status, took: .zero),
                .jobAbandoned(job: "job-1", cause: .waiting(cause)),
                .queued(cause), .slotGiven, .slotTaken,
                .requestSent(.upload, attempt: 2, job: nil, lastEventID: nil),
            ])
        #expect(phone.record?.job == nil)
        #expect(phone.record?.tokenExpiries == 1)
        phone.accept(job: "job-2")
        #expect(phone.request(.stream)?.attempt == 2)
        #expect(phone.request(.stream)?.headers.contains { $0.name == "Last-Event-ID" } == false)
    }

    @Test(arguments: [
        (ProblemCode?.some(.tokenExpired), WaitingCause.tokenExpired), (.invalidToken, .tokenRefused),
        (.unauthorized, .tokenRefused), (nil, .tokenExpired),
    ]) func `the code of a 401 says whether the token has expired`(code: ProblemCode?, cause: WaitingCause) {
        let body = code.map { Wording.problem($0) } ?? []
        var phone = TestPhone()
        phone.capture(1)
        phone.accept()
        phone.answer(.stream, 401, body)
        #expect(phone.payloads.contains(.jobAbandoned(job: "job-1", cause: .waiting(cause))))
        #expect(phone.payloads.contains(.queued(cause)))
        #expect(phone.request(.upload)?.attempt == 2, "what the phone does is the same")
    }

    @Test(arguments: [400, 403, 405, 422])
    func `a stream that is refused with a status of no contract is no job that is gone`(status: Int) {
        var phone = TestPhone()
        phone.capture(1)
        phone.accept()
        for attempt in 1...AppLimits.streamRefusalsMax {
            #expect(phone.request(.stream)?.attempt == UInt32(attempt))
            phone.answer(.stream, status)
            phone.pass(.seconds(2))
        }
        #expect(phone.waiting == ["1 unexpected-status"])
        #expect(phone.record?.attempts.upload == 1, "a new job would be refused in the same way")
        #expect(phone.record?.job?.jobId == "job-1")
        #expect(phone.app.isQuiescent)
    }

    @Test(arguments: [400, 403, 405])
    func `results that are refused with a status of no contract are no job that is gone`(status: Int) {
        var phone = TestPhone()
        phone.captureToStream()
        phone.stream(Wording.completed(rawBooks: nil))
        for _ in 1...AppLimits.resultsBadAnswersMax {
            phone.answer(.results, status)
            phone.pass(.seconds(30))
        }
        #expect(phone.waiting == ["1 unexpected-status"])
        #expect(phone.record?.attempts.upload == 1)
        #expect(phone.record?.job?.jobId == "job-1")
    }

    @Test func `a stream on another server is not asked for again`() {
        var phone = TestPhone()
        phone.capture(1)
        phone.answer(.upload, 202, Wording.accepted(job: "job-1", sseUrl: "http://evil.example/s"))
        phone.fail(.stream, .foreignURL)
        #expect(phone.waiting == ["1 foreign-url"])
        #expect(phone.payloads.contains(.streamLost(job: "job-1", attempt: 1, .foreignURL, silence: nil)))
        #expect(phone.app.isQuiescent)
        var next = TestPhone(restored: phone.store.scans)
        next.fail(.stream, .foreignURL)
        #expect(next.waiting == ["1 foreign-url"])
    }

    @Test func `a stream that expires while it is being reconnected gives the episode up`() {
        var phone = TestPhone()
        phone.captureToStream()
        phone.stream(Wording.progress("1"))
        phone.fail(.stream, .reset)
        phone.pass(.milliseconds(500))
        phone.answer(.stream, 401)
        #expect(
            phone.payloads.contains(.reconnectSuperseded(job: "job-1", .reset, attempts: 1)))
        #expect(phone.request(.cleanup) == nil, "a DELETE would be turned away as well")
    }

    @Test func `after three new uploads the scan waits for the next launch`() {
        var phone = TestPhone()
        phone.capture(1)
        for job in 1...4 {
            phone.accept(job: "job-\(job)")
            phone.answer(.stream, 401, Wording.problem(.tokenExpired))
        }
        #expect(phone.open == [])
        #expect(phone.waiting == ["1 token-expired"])
        #expect(phone.app.slotsTaken == 0)
        #expect(phone.app.isQuiescent)
        #expect(phone.store.settled.isEmpty)
        #expect(phone.record?.attempts.upload == 4)
        phone.handle(.pathLost)
        phone.handle(.pathReturned)
        phone.pass(.hours(1))
        #expect(phone.open == [])

        // The next launch has one try.
        var next = TestPhone(restored: phone.store.scans)
        #expect(next.request(.upload)?.attempt == 5)
        next.accept(job: "job-5")
        next.answer(.stream, 401)
        #expect(next.waiting == ["1 token-expired"])
        #expect(next.app.isQuiescent)
    }

    @Test func `both kinds count together`() {
        var phone = TestPhone()
        phone.capture(1)
        for (job, status) in [401, 410, 404].enumerated() {
            phone.accept(job: "job-\(job)")
            phone.answer(.stream, status)
        }
        phone.accept(job: "job-3")
        phone.openStream()
        phone.stream(Wording.completed(rawBooks: nil, job: "job-3"))
        phone.answer(.results, 404)
        #expect(phone.waiting == ["1 job-gone"])
        #expect(phone.payloads.contains(.resultsGivenUp(job: "job-3")))
    }

    @Test func `results that the token does not open lead to a new upload`() {
        var phone = TestPhone()
        phone.captureToStream()
        phone.stream(Wording.completed(rawBooks: nil))
        phone.answer(.results, 401, Wording.problem(.tokenExpired))
        #expect(phone.payloads.contains(.resultsGivenUp(job: "job-1")))
        #expect(phone.payloads.contains(.jobAbandoned(job: "job-1", cause: .waiting(.tokenExpired))))
        #expect(phone.request(.upload)?.attempt == 2)
    }

    @Test func `books of a first job are not added again by the second`() {
        var phone = TestPhone()
        phone.storesByItself = false
        phone.capture(1)
        phone.handle(.stored(phone.lastWriteID))
        phone.accept()
        phone.handle(.stored(phone.lastWriteID))
        // A store that was killed between books: two are there, the outcome is not.
        var record = phone.store.scans[0]
        record.booksApplied = [Wording.book(0), Wording.book(1)]
        record.job = nil
        var next = TestPhone(restored: [record])
        next.accept(job: "job-2")
        next.openStream()
        next.stream(Wording.completed(job: "job-2", books: 3))
        #expect(
            next.payloads.filter {
                switch $0 {
                case .bookRepeated, .bookAdded: true
                default: false
                }
            } == [
                .bookRepeated(ordinal: 0, book: Wording.book(0)),
                .bookRepeated(ordinal: 1, book: Wording.book(1)),
                .bookAdded(ordinal: 2, book: Wording.book(2)),
            ])
        #expect(next.written.filter { if case .book = $0 { true } else { false } }.count == 1)
    }

    @Test(arguments: [([2, 0, 1], [1, 2]), ([1, 2, 0], [0, 2]), ([2, 1, 0], [1, 2])])
    func `an answer in another order adds the book that is missing`(order: [Int], repeated: [Int]) {
        var phone = TestPhone()
        phone.capture(1)
        var record = phone.store.scans[0]
        record.booksApplied = [Wording.book(0), Wording.book(1)]
        var next = TestPhone(restored: [record])
        next.accept(job: "job-2")
        next.openStream()
        let data = CompletedData(
            jobId: "job-2", resultsUrl: "/v3/jobs/scans/job-2/results", summary: nil,
            books: order.map { Wording.book($0) })
        next.stream(
            Wording.event("completed", id: "9-completed", String(decoding: JSON.encode(data), as: UTF8.self)))
        let seen = next.payloads.compactMap { payload -> (place: Int, isNew: Bool, title: String)? in
            switch payload {
            case .bookRepeated(let place, let book): (place, false, book?.title ?? "")
            case .bookAdded(let place, let book): (place, true, book.title)
            default: nil
            }
        }
        #expect(seen.filter { !$0.isNew }.map(\.place) == repeated)
        #expect(seen.filter(\.isNew).map(\.title) == [Wording.book(2).title])
        #expect(next.store.scans.first?.booksApplied.count ?? 3 == 3)
    }
}
