import Observations
import Phone
import SimBase
import Talaria
import Testing

/// `error` on the stream.
struct ErrorEventTests {
    private static let refused = PhoneObservation.refused(
        code: "NO_TEXT_DETECTED", cause: .event(job: "job-1", retryable: false))

    @Test(arguments: [false, nil])
    func `a final error is refused, shown, cleaned up and settled`(retryable: Bool?) {
        var phone = TestPhone()
        phone.captureToStream()
        _ = phone.takeSightings()
        phone.stream(Wording.error(retryable: retryable))
        #expect(
            phone.takeSightings() == [
                .firstEvent(job: "job-1", took: .zero),
                .eventApplied(job: "job-1", id: "9-error", kind: .error, latency: nil, replayed: false),
                .terminalApplied(job: "job-1", kind: .error, inline: .absent),
                .refused(code: "NO_TEXT_DETECTED", cause: .event(job: "job-1", retryable: retryable)),
                .requestSent(.cleanup, attempt: 1, job: "job-1", lastEventID: nil),
            ])
        #expect(phone.record?.refusal == "NO_TEXT_DETECTED")
        phone.answer(.cleanup, 204)
        #expect(phone.store.settled.map(\.outcome) == [.refused(code: "NO_TEXT_DETECTED")])
        #expect(phone.store.scans == [])
    }

    @Test func `an error of another job changes nothing`() {
        var phone = TestPhone()
        phone.captureToStream()
        _ = phone.takeSightings()
        phone.stream(Wording.error(retryable: false, job: "job-2"))
        #expect(
            phone.takeSightings() == [
                .firstEvent(job: "job-1", took: .zero),
                .eventIgnored(job: "job-1", id: "9-error", name: "error", malformed: true),
            ])
        #expect(phone.record?.refusal == nil && phone.request(.cleanup) == nil)
        phone.stream(Wording.error(retryable: false, job: "job-1"))
        #expect(phone.payloads.contains(Self.refused))
    }

    @Test func `it is shown only once that is durable`() {
        var phone = TestPhone()
        phone.captureToStream()
        phone.storesByItself = false
        phone.stream(Wording.error(retryable: false))
        #expect(!phone.payloads.contains(Self.refused))
        #expect(phone.request(.cleanup) == nil)
        phone.handle(.stored(phone.lastWriteID))
        #expect(phone.payloads.contains(Self.refused))
    }

    @Test func `a code that cannot be shown is not shown`() {
        var phone = TestPhone()
        phone.captureToStream()
        phone.stream(Wording.error(retryable: false, code: "<b>"))
        #expect(
            phone.payloads.contains(
                .refused(code: "UNKNOWN_ERROR", cause: .event(job: "job-1", retryable: false))))
    }

    @Test func `a retryable error deletes the job and uploads once more after two seconds`() {
        var phone = TestPhone()
        phone.captureToStream()
        _ = phone.takeSightings()
        phone.stream(Wording.error(retryable: true))
        #expect(
            phone.takeSightings().suffix(2) == [
                .queued(.retryableError),
                .requestSent(.cleanup, attempt: 1, job: "job-1", lastEventID: nil),
            ])
        phone.answerEnd(.stream)
        #expect(phone.takeSightings() == [.slotGiven])
        phone.answer(.cleanup, 204)
        #expect(phone.store.settled.isEmpty)
        phone.pass(.milliseconds(1_999))
        #expect(phone.request(.upload) == nil)
        phone.pass(.milliseconds(1))
        #expect(phone.request(.upload)?.attempt == 2)
        phone.accept(job: "job-2")
        phone.openStream()
        phone.stream(Wording.completed(job: "job-2", books: 1))
        phone.answer(.cleanup, 204)
        #expect(phone.store.settled.map(\.outcome) == [.completed])
    }

    private func twice(_ event: String) -> TestPhone {
        var phone = TestPhone()
        phone.captureToStream()
        phone.stream(event)
        phone.answer(.cleanup, 204)
        phone.pass(.seconds(3))
        phone.accept(job: "job-2")
        phone.openStream()
        phone.stream(event)
        phone.answer(.cleanup, 204)
        phone.pass(.seconds(1))
        return phone
    }

    @Test func `a second one puts the scan back to wait, never to be refused`() {
        var phone = twice(Wording.error(retryable: true))
        #expect(phone.waiting == ["1 retryable-error"])
        #expect(phone.app.isQuiescent)
        phone.pass(.hours(1))
        #expect(phone.open == [])
        phone.handle(.pathLost)
        phone.handle(.pathReturned)
        phone.pass(.milliseconds(500))
        #expect(phone.request(.upload)?.attempt == 3)
        #expect(phone.store.settled.isEmpty)
    }

    @Test func `the next launch tries once`() {
        var next = TestPhone(restored: twice(Wording.error(retryable: true)).store.scans)
        next.accept(job: "job-3")
        next.openStream()
        next.stream(Wording.error(retryable: true))
        next.answer(.cleanup, 204)
        next.pass(.seconds(10))
        #expect(next.waiting == ["1 retryable-error"])
        #expect(next.app.isQuiescent)
    }

    @Test func `an error that cannot be read refuses nothing`() {
        let phone = twice(Wording.event("error", id: "9", "{"))
        #expect(phone.waiting == ["1 retryable-error"])
        #expect(phone.payloads.contains(.badAnswer(.stream, attempt: 1, .undecodable)))
    }

    @Test func `the old job's DELETE may take longer than the new job`() {
        var phone = TestPhone()
        phone.captureToStream()
        phone.stream(Wording.error(retryable: true))
        let old = phone.request(.cleanup)
        phone.pass(.seconds(2))
        phone.accept(job: "job-2")
        phone.openStream()
        phone.stream(Wording.completed(job: "job-2", books: 1))
        let new = phone.open.last
        #expect(old?.target == "/v3/jobs/scans/job-1/cleanup" && old?.attempt == 1)
        #expect(new?.target == "/v3/jobs/scans/job-2/cleanup" && new?.attempt == 2)
        guard let old, let new else { return }
        phone.handle(.replyHead(new.id, ReplyHead(status: 204, contentType: "", retryAfter: nil)))
        phone.handle(.replyEnded(new.id))
        #expect(phone.store.settled.isEmpty, "a job of the scan is still to be cleaned up")
        phone.handle(.replyHead(old.id, ReplyHead(status: 404, contentType: "", retryAfter: nil)))
        phone.handle(.replyEnded(old.id))
        #expect(phone.store.settled.map(\.outcome) == [.completed])
    }
}
