import Observations
import Phone
import SimBase
import Talaria
import Testing

/// A fresh phone and what the store holds.
struct RelaunchTests {
    private func record(
        _ scan: UInt32, at milliseconds: Int64 = 0, job: String? = nil, cause: WaitingCause = .interrupted,
        lastEventID: String = "", completed: Bool = false, refusal: String? = nil
    ) -> DurableScan {
        var attempts = DurableAttempts()
        attempts.upload = 4
        attempts.stream = 6
        return DurableScan(
            scan: scan, photo: 3, capturedUnixMs: TestPhone.wall - 10_000 + milliseconds,
            job: job.map {
                DurableJob(
                    jobId: $0, authToken: "t0ken", sseUrl: "/v3/jobs/scans/\($0)/stream",
                    lastEventID: lastEventID)
            }, booksApplied: [], cause: cause.rawValue, attempts: attempts, tokenExpiries: 0,
            retryableErrors: 0,
            completed: completed, refusal: refusal)
    }

    @Test func `scans go on oldest first, each from where it was, and numbers never start over`() {
        let phone = TestPhone(restored: [
            record(4, at: 30), record(3, at: 20, job: "job-3", lastEventID: "5-progress"),
            record(2, at: 10, cause: .rateLimited),
        ])
        #expect(phone.open.map(\.scan.raw).sorted() == [2, 3, 4])
        let uploads = phone.open.filter { $0.operation == .upload }
        #expect(uploads.map(\.scan.raw) == [2, 4])
        #expect(phone.request(.upload, 2)?.attempt == 5)
        #expect(phone.request(.stream, 3)?.attempt == 7)
        #expect(
            phone.request(.stream, 3)?.headers.contains(HeaderField("Last-Event-ID", "5-progress")) == true)
        #expect(
            phone.payloads.prefix(4) == [
                .launched(restored: 3), .queued(.rateLimited), .queued(.interrupted), .queued(.interrupted),
            ])
    }

    @Test func `an upload that comes before its delay is over is measured from when it was sent`() throws {
        var early = record(1, cause: .retryableError)
        early.uploadDueUnixNs = (TestPhone.wall + 60_000) * 1_000_000
        var phone = TestPhone(restored: [early])
        let sent = try #require(phone.request(.upload, 1))
        phone.pass(.milliseconds(250))
        phone.accept(1, job: "job-9")
        let times = phone.payloads.compactMap { payload -> [Interval]? in
            if case .uploadAccepted(_, let took, let service) = payload { [took, service] } else { nil }
        }
        #expect(sent.attempt == 5)
        #expect(times.count == 1 && times[0][0] == times[0][1] && times[0][0] >= .zero)
    }

    @Test func `a fresh phone without a path reports what waits and touches nothing`() {
        let phone = TestPhone(
            restored: [
                record(2, at: 1, cause: .tokenExpired), record(1, job: "job-1"),
                record(3, at: 2, completed: true),
                record(4, at: 3, refusal: "NO"), record(5, at: 4, cause: .offline),
            ], pathAvailable: false)
        #expect(phone.waiting == ["1 interrupted", "2 token-expired", "5 offline"])
        #expect(phone.open == [])
        #expect(phone.written == [])
        #expect(phone.payloads.first == .launched(restored: 3))
    }

    @Test func `a cause that nobody knows is an interruption`() {
        var odd = record(1)
        odd.cause = "from the future"
        #expect(TestPhone(restored: [odd], pathAvailable: false).waiting == ["1 interrupted"])
    }

    @Test(arguments: [nil, "NO_TEXT_DETECTED"])
    func `of a scan whose outcome is durable only the DELETE is done`(refusal: String?) {
        var phone = TestPhone(restored: [
            record(1, job: "job-1", completed: refusal == nil, refusal: refusal)
        ])
        #expect(phone.open.map(\.operation) == [.cleanup])
        phone.answer(.cleanup, 404)
        let outcome = refusal.map { SettledOutcome.refused(code: $0) } ?? .completed
        #expect(phone.store.settled.map(\.outcome) == [outcome])
        #expect(
            phone.payloads.contains {
                switch $0 {
                case .completed, .refused: true
                default: false
                }
            } == false, "its outcome was seen by the process before")
    }

    @Test func `the time of a restored scan counts from its capture`() {
        var phone = TestPhone(restored: [record(1, job: "job-1")])
        phone.openStream()
        phone.now = phone.now + .seconds(1)
        phone.stream(Wording.completed(books: 1))
        #expect(phone.payloads.contains(.completed(took: .seconds(11))))
    }

    @Test(arguments: [Int64.min, .max, 0])
    func `a record of a broken clock is a record`(unixMs: Int64) {
        var odd = record(1, job: "job-1")
        odd.capturedUnixMs = unixMs
        var phone = TestPhone(restored: [odd])
        phone.openStream()
        phone.stream(Wording.completed(books: 1))
        #expect(phone.store.books.count == 1)
    }

    @Test func `restored scans share the slots with new ones`() {
        var phone = TestPhone(
            restored: (1...6).map { record($0, at: Int64($0), job: "job-\($0)") })
        phone.capture(7)
        #expect(phone.open.map(\.scan.raw) == [1, 2, 3, 4, 5])
        #expect(phone.waiting == ["6 interrupted", "7 captured"])
    }

    @Test func `resume off means a fresh stream after a relaunch as well`() {
        var profile = ClientProfile.contract
        profile.stream.resumes = false
        let phone = TestPhone(
            profile: profile, restored: [record(1, job: "job-1", lastEventID: "5")])
        #expect(phone.request(.stream)?.headers.contains { $0.name == "Last-Event-ID" } == false)
    }
}
