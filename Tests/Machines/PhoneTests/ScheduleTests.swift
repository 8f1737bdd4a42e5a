import Phone
import SimBase
import Talaria
import Testing

/// What the times of a scan are measured from, whatever happens to the app.
struct ScheduleTests {
    /// What `upload.time` and `upload.service_time` were at the last upload.
    private func lastUpload(_ phone: TestPhone) -> [Interval]? {
        phone.payloads.compactMap {
            if case .uploadAccepted(_, let took, let service) = $0 { [took, service] } else { nil }
        }.last
    }

    @Test func `an upload after the background is due when the app is opened`() {
        var phone = TestPhone()
        phone.captureToStream()
        phone.pass(.seconds(4))
        phone.handle(.suspended)
        phone.answer(.cleanup, 204)
        phone.pass(.seconds(60))
        phone.handle(.resumed)
        phone.now = phone.now + .milliseconds(80)
        phone.accept(job: "again")
        #expect(lastUpload(phone) == [.milliseconds(80), .milliseconds(80)])
    }

    @Test func `an upload that never succeeded counts from its schedule, the background included`() {
        var phone = TestPhone()
        phone.capture(1)
        phone.pass(.seconds(1))
        phone.handle(.suspended)
        phone.pass(.seconds(60))
        phone.handle(.resumed)
        phone.now = phone.now + .milliseconds(80)
        phone.accept()
        #expect(lastUpload(phone) == [.milliseconds(61_080), .milliseconds(80)])
    }

    @Test func `an upload that was parked is due when it is let go`() {
        var phone = TestPhone()
        for _ in 0...1 {
            phone.pass(.seconds(2))
            if phone.request(.upload) == nil { phone.capture(1) }
            phone.accept()
            phone.openStream()
            phone.stream(Wording.error(retryable: true))
            phone.answer(.cleanup, 204)
        }
        phone.pass(.minutes(5))
        phone.handle(.suspended)
        phone.pass(.minutes(5))
        phone.handle(.resumed)
        phone.now = phone.now + .milliseconds(70)
        phone.accept()
        #expect(lastUpload(phone) == [.milliseconds(70), .milliseconds(70)])
    }

    @Test func `one that was parked until the path returns is due then`() {
        var phone = TestPhone()
        phone.captureToStream()
        phone.stream(Wording.error(retryable: true))
        phone.answer(.cleanup, 204)
        phone.pass(.seconds(2))
        phone.accept()
        phone.openStream()
        phone.stream(Wording.error(retryable: true))
        phone.answer(.cleanup, 204)
        phone.pass(.minutes(5))
        phone.handle(.pathLost)
        phone.handle(.pathReturned)
        phone.pass(.milliseconds(500))
        phone.accept()
        #expect(lastUpload(phone).map { $0[0] <= .milliseconds(500) } == true)
    }

    @Test func `a fresh process counts from the schedule, not from a late capture`() {
        var phone = TestPhone()
        phone.now = .zero + .microseconds(5_123_456)
        phone.handle(
            .captured(
                scan: ScanNumber(1), photo: PhotoReference(0), scheduled: .zero + .microseconds(1_000_001)))
        var next = TestPhone(asleep: TestPhone.app())
        next.now = .zero + .seconds(9)
        next.handle(.launched(restored: phone.store.scans, pathAvailable: true))
        next.accept()
        #expect(lastUpload(next) == [.microseconds(7_999_999), .zero])
        next.openStream()
        next.stream(Wording.completed(books: 1))
        #expect(next.payloads.contains(.completed(took: .microseconds(7_999_999))))
    }

    @Test func `a new upload counts from the end of the job, across a relaunch too`() {
        var phone = TestPhone()
        phone.captureToStream()
        phone.pass(.seconds(3))
        phone.fail(.stream, .reset)
        phone.pass(.milliseconds(500))
        phone.answer(.stream, 410)
        let due = phone.now
        var next = TestPhone(asleep: TestPhone.app())
        next.now = due + .seconds(4)
        next.handle(.launched(restored: phone.store.scans, pathAvailable: true))
        next.accept(job: "again")
        #expect(lastUpload(next) == [.seconds(4), .zero])
    }
}
