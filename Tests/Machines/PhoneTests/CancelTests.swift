import Observations
import Phone
import SimBase
import Talaria
import Testing

/// A user who cancels a scan: when, and what is left of it.
struct CancelTests {
    private static func profile(
        after seconds: ClosedRange<Int64> = 2...2, chance: Odds = .always, journey: Journey = .scan
    ) -> ClientProfile {
        var profile = ClientProfile.contract
        profile.journey = journey
        profile.cancel.chance = chance
        profile.cancel.after = .seconds(seconds.lowerBound)...(.seconds(seconds.upperBound))
        return profile
    }

    private func streaming() -> TestPhone {
        var phone = TestPhone(profile: Self.profile())
        phone.captureToStream()
        phone.stream(Wording.progress("1-progress"))
        return phone
    }

    private static func isCanceled(_ phone: TestPhone) -> Bool {
        phone.payloads.contains { if case .canceled = $0 { true } else { false } }
    }

    @Test func `a running scan is canceled at its time, its stream closed and its job canceled`() {
        var phone = streaming()
        phone.pass(.milliseconds(1_999))
        #expect(phone.request(.stream) != nil && !Self.isCanceled(phone))
        _ = phone.takeSightings()
        phone.pass(.milliseconds(1))
        #expect(
            phone.takeSightings() == [
                .cancelRequested, .canceled(job: "job-1"), .slotGiven,
                .requestSent(.cancel, attempt: 1, job: "job-1", lastEventID: nil),
            ])
        let request = phone.request(.cancel)
        #expect(phone.open.count == 1 && request?.method == "DELETE")
        #expect(request?.target == "/v3/jobs/scans/job-1")
        phone.answer(.cancel, 200)
        #expect(
            phone.payloads.suffix(2) == [
                .cleanupAnswered(job: "job-1", status: 200, took: .zero),
                .cancelAnswered(job: "job-1", took: .zero),
            ])
        #expect(phone.store.settled.map(\.outcome) == [.canceled])
        #expect(phone.store.books.values.isEmpty && phone.app.isQuiescent && phone.app.nextWake == nil)
    }

    @Test func `a scan that is over before is not canceled`() {
        var phone = streaming()
        phone.stream(Wording.completed(books: 1))
        phone.answerEnd(.stream)
        phone.pass(.seconds(5))
        #expect(!Self.isCanceled(phone) && phone.request(.cancel) == nil)
        phone.answer(.cleanup, 204)
        #expect(phone.store.settled.map(\.outcome) == [.completed])
    }

    @Test func `results that are under way are given up, and nothing of them is taken`() {
        var phone = streaming()
        phone.stream(Wording.completed(rawBooks: nil))
        phone.answerEnd(.stream)
        #expect(phone.request(.results) != nil)
        phone.pass(.seconds(2))
        #expect(Self.isCanceled(phone) && phone.request(.results) == nil)
        #expect(phone.store.books.values.isEmpty)
    }

    @Test func `a job that had ended before is cleaned up`() {
        var phone = streaming()
        phone.pass(.seconds(2))
        phone.answer(.cancel, 409, Wording.problem(.conflict))
        #expect(phone.request(.cleanup)?.attempt == 2)
        #expect(phone.request(.cleanup)?.target == "/v3/jobs/scans/job-1/cleanup")
        phone.answer(.cleanup, 204)
        #expect(phone.store.settled.map(\.outcome) == [.canceled])
        #expect(phone.findings == [])
    }

    @Test func `a cancel is tried again like any DELETE`() {
        var phone = streaming()
        phone.pass(.seconds(2))
        phone.answer(.cancel, 503)
        phone.pass(.milliseconds(500))
        #expect(phone.request(.cancel)?.attempt == 2)
        phone.answer(.cancel, 404)
        #expect(phone.payloads.last == .cancelAnswered(job: "job-1", took: .milliseconds(500)))
        #expect(phone.store.settled.map(\.outcome) == [.canceled])
    }

    @Test(arguments: [Journey.scan, .csvImport])
    func `an answer about another job has canceled nothing`(journey: Journey) throws {
        func answered(_ job: String) throws -> TestPhone {
            var first = streaming()
            first.pass(.seconds(2))
            var record = try #require(first.record)
            record.journey = journey
            var phone = TestPhone(profile: Self.profile(journey: journey), restored: [record])
            let body = #"{"success":true,"data":{"jobId":"\#(job)","status":"canceled"}}"#
            phone.answer(journey == .scan ? .cancel : .cleanup, 200, Array(body.utf8))
            return phone
        }
        func isAbandoned(_ phone: TestPhone) -> Bool {
            phone.payloads.contains(.jobAbandoned(job: "job-1", cause: .waiting(.unreadableAnswer)))
        }
        #expect(try !isAbandoned(answered("job-1")))
        let other = try answered("job-2")
        #expect(isAbandoned(other) && other.store.scans == [] && other.open == [])
        #expect(other.findings.contains { $0.path == "data.jobId" && $0.isDecisive })
    }

    @Test func `a server's code that is the phone's own word for a cancel cancels nothing`() {
        var phone = TestPhone(profile: Self.profile())
        phone.captureToStream()
        phone.stream(Wording.error(retryable: false, code: AppLimits.canceledCode))
        phone.answerEnd(.stream)
        let second = TestPhone(profile: Self.profile(), restored: phone.store.scans)
        #expect(second.open.map(\.operation) == [.cleanup], "no DELETE that cancels")
        phone.answer(.cleanup, 204)
        #expect(phone.store.settled.map(\.outcome) == [.refused(code: AppLimits.canceledCode)])
    }

    @Test func `without a path the scan is canceled at once, and its job when there is one`() {
        var phone = streaming()
        phone.handle(.pathLost)
        phone.pass(.seconds(2))
        #expect(Self.isCanceled(phone) && phone.open == [] && phone.app.slotsTaken == 0)
        #expect(phone.waiting == [])
        phone.handle(.pathReturned)
        phone.pass(.milliseconds(500))
        #expect(phone.open.map(\.operation) == [.cancel])
    }

    @Test func `a scan that waits for its next upload leaves the queue`() {
        var phone = TestPhone(profile: Self.profile(after: 1...1))
        phone.captureToStream()
        phone.stream(Wording.error(retryable: true))
        phone.answerEnd(.stream)
        phone.answer(.cleanup, 204)
        #expect(phone.waiting == ["1 retryable-error"])
        phone.pass(.seconds(1))
        #expect(phone.payloads.last == .canceled(job: nil))
        #expect(phone.store.settled.map(\.outcome) == [.canceled])
        phone.pass(.hours(1))
        #expect(phone.open == [] && phone.app.isQuiescent)
    }

    @Test func `nothing is canceled during an upload, and everything after it`() {
        var phone = TestPhone(profile: Self.profile(after: 3...3))
        phone.captureToStream()
        phone.stream(Wording.error(retryable: true))
        phone.answerEnd(.stream)
        phone.answer(.cleanup, 204)
        phone.pass(.seconds(4))
        #expect(phone.request(.upload) != nil && !Self.isCanceled(phone))
        phone.accept(job: "job-2")
        #expect(phone.open.map(\.target) == ["/v3/jobs/scans/job-2"])
        #expect(phone.payloads.contains(.canceled(job: "job-2")))
    }

    @Test func `a process that was killed after the cancel still deletes the job`() {
        var first = streaming()
        first.pass(.seconds(2))
        #expect(first.request(.cancel)?.attempt == 1)
        var second = TestPhone(profile: Self.profile(), restored: first.store.scans)
        #expect(second.open.map(\.operation) == [.cancel] && second.request(.cancel)?.attempt == 2)
        #expect(second.waiting == [] && !Self.isCanceled(second), "the process before has said so")
        second.pass(.milliseconds(30))
        second.answer(.cancel, 200)
        #expect(second.store.scans == [])
        #expect(second.payloads.last == .cancelAnswered(job: "job-1", took: .milliseconds(30)))
    }

    @Test func `a process that was killed before the cancel was durable cancels again`() {
        var first = streaming()
        let records = first.store.scans
        #expect(records.first?.cancelDueUnixNs == (TestPhone.wall + 2_000) * 1_000_000)
        first.storesByItself = false
        first.pass(.seconds(2))
        #expect(!Self.isCanceled(first) && first.open == [])
        var second = TestPhone(asleep: TestPhone.app(profile: Self.profile()))
        second.now = .zero + .seconds(7)
        second.handle(.launched(restored: records, pathAvailable: true))
        #expect(second.payloads.contains(.canceled(job: "job-1")))
        #expect(second.open.map(\.operation) == [.cancel])
    }

    @Test func `the user cancels on the screen`() {
        var phone = streaming()
        phone.handle(.pathLost)
        phone.handle(.suspended)
        phone.pass(.seconds(10))
        #expect(!Self.isCanceled(phone) && phone.waiting.count == 1)
        phone.handle(.resumed)
        #expect(Self.isCanceled(phone) && phone.waiting == [])
    }

    @Test func `a job of v2 is deleted by its own path`() throws {
        var first = streaming()
        first.pass(.seconds(2))
        var record = try #require(first.record)
        record.journey = .csvImport
        let second = TestPhone(profile: Self.profile(journey: .csvImport), restored: [record])
        #expect(second.open.map(\.operation) == [.cleanup])
        #expect(second.open.map(\.target) == ["/v1/jobs/job-1"])
    }

    @Test func `whether and when is drawn for each scan`() {
        var phone = TestPhone(profile: Self.profile(after: 1...5, chance: .percent(50)))
        for scan in 1...40 as ClosedRange<UInt32> {
            phone.captureToStream(scan, job: "job-\(scan)")
            phone.pass(.seconds(5))
            guard phone.request(.cancel, scan) == nil else {
                phone.answer(.cancel, 200, scan: scan)
                continue
            }
            phone.stream(Wording.completed(job: "job-\(scan)", books: 0), scan)
            phone.answerEnd(.stream, scan: scan)
            phone.answer(.results, 200, Wording.results(job: "job-\(scan)", books: 0), scan: scan)
            phone.answer(.cleanup, 204, scan: scan)
        }
        let canceled = phone.store.settled.count { $0.outcome == .canceled }
        #expect((10...30).contains(canceled))
    }
}
