import Observations
import SimBase
import Talaria
import Testing

@testable import Phone

/// One whole journey, every effect of it, in its order.
struct JourneyTests {
    private let scan = ScanNumber(1)
    private var identity: String { TestPhone.app().identity.text }

    private func observe(_ what: PhoneObservation, at milliseconds: Int64 = 0) -> AppEffect {
        .observe(
            Observation(
                at: Instant.zero + .milliseconds(milliseconds), device: DeviceNumber(7), scan: scan,
                what: .phone(what)))
    }

    private func record(
        cause: WaitingCause = .interrupted, upload: UInt32 = 0, stream: UInt32 = 0, cleanup: UInt32 = 0,
        job: DurableJob? = nil, books: [Book] = [], completed: Bool = false
    ) -> DurableScan {
        var attempts = DurableAttempts()
        attempts.upload = upload
        attempts.stream = stream
        attempts.cleanup = cleanup
        return DurableScan(
            scan: 1, photo: 3, capturedUnixMs: TestPhone.wall, scheduledUnixNs: TestPhone.wall * 1_000_000,
            uploadDueUnixNs: TestPhone.wall * 1_000_000, job: job, booksApplied: books,
            cause: cause.rawValue, attempts: attempts, tokenExpiries: 0, retryableErrors: 0,
            completed: completed, refusal: nil)
    }

    private func trace(_ operation: Operation, _ attempt: UInt32) -> HeaderField {
        HeaderField(
            "traceparent",
            TraceContext(
                run: TestPhone.run, device: DeviceNumber(7), scan: scan, operation: operation,
                attempt: attempt
            ).headerValue)
    }

    private func job(_ lastEventID: String = "") -> DurableJob {
        DurableJob(
            jobId: "job-1", authToken: "t0ken", sseUrl: "/v3/jobs/scans/job-1/stream",
            lastEventID: lastEventID)
    }

    @Test func `a journey is record, upload, job record, stream, books, outcome, DELETE, settlement`() {
        var phone = TestPhone()
        phone.storesByItself = false
        phone.preparesByItself = false
        _ = phone.take()

        phone.capture(1)
        #expect(
            phone.take() == [
                observe(.captured(scheduled: .zero)),
                .store(.put(record(cause: .captured)), WriteID(1)),
                .preparePhoto(scan, PhotoReference(3)),
            ])

        phone.handle(.photoPrepared(scan: scan, bytes: 1_000, took: .milliseconds(5)))
        #expect(phone.take() == [observe(.photoPrepared(took: .milliseconds(5), bytes: 1_000))])

        phone.handle(.stored(WriteID(1)))
        #expect(
            phone.take() == [
                observe(.queued(.captured)),
                observe(.slotTaken),
                .store(.put(record(upload: 1)), WriteID(2)),
                observe(.requestSent(.upload, attempt: 1, job: nil, lastEventID: nil)),
                .send(
                    AppRequest(
                        id: RequestID(1), operation: .upload, scan: scan, attempt: 1, method: "POST",
                        target: "/v3/jobs/scans",
                        headers: [
                            HeaderField("X-Device-ID", identity),
                            HeaderField("User-Agent", "SwiftWing/1.0 iOS/26.0"), trace(.upload, 1),
                        ], body: .photos(scan, count: 1))),
            ])

        phone.now = .zero + .milliseconds(40)
        phone.answer(.upload, 202, Wording.accepted(job: "job-1"))
        #expect(
            phone.take() == [
                observe(.replied(.upload, attempt: 1, status: 202, took: .milliseconds(40)), at: 40),
                observe(
                    .uploadAccepted(job: "job-1", took: .milliseconds(40), service: .milliseconds(40)), at: 40
                ),
                .store(.put(record(upload: 1, stream: 1, job: job())), WriteID(3)),
            ])

        phone.handle(.stored(WriteID(3)))
        #expect(
            phone.take() == [
                observe(.requestSent(.stream, attempt: 1, job: "job-1", lastEventID: nil), at: 40),
                .send(
                    AppRequest(
                        id: RequestID(2), operation: .stream, scan: scan, attempt: 1, method: "GET",
                        target: "/v3/jobs/scans/job-1/stream",
                        headers: [
                            HeaderField("X-Device-ID", identity), HeaderField("Accept", "text/event-stream"),
                            HeaderField("Authorization", "Bearer t0ken"), trace(.stream, 1),
                        ], body: .none)),
            ])

        phone.openStream()
        phone.now = .zero + .milliseconds(50)
        phone.stream(Wording.progress("1-progress"))
        #expect(
            phone.take() == [
                observe(.replied(.stream, attempt: 1, status: 200, took: .zero), at: 40),
                observe(.streamOpened(job: "job-1", attempt: 1, after: nil, took: .zero), at: 40),
                observe(.firstEvent(job: "job-1", took: .milliseconds(10)), at: 50),
                observe(
                    .eventApplied(
                        job: "job-1", id: "1-progress", kind: .progress, latency: nil, replayed: false),
                    at: 50),
                .store(.lastEventID(scan, "1-progress"), WriteID(4)),
            ])

        phone.stream(Wording.completed(books: 2))
        let outcome = record(
            upload: 1, stream: 1, cleanup: 1, job: job("1-progress"),
            books: [Wording.book(0), Wording.book(1)], completed: true)
        #expect(
            phone.take() == [
                observe(
                    .eventApplied(
                        job: "job-1", id: "9-completed", kind: .completed, latency: nil, replayed: false),
                    at: 50),
                observe(.terminalApplied(job: "job-1", kind: .completed, inline: .books), at: 50),
                .store(.book(ResultKey(scan: scan, ordinal: 0), Wording.book(0)), WriteID(5)),
                .store(.book(ResultKey(scan: scan, ordinal: 1), Wording.book(1)), WriteID(6)),
                .store(.put(outcome), WriteID(7)),
            ])

        phone.handle(.stored(WriteID(5)))
        #expect(phone.take() == [observe(.bookAdded(ordinal: 0, book: Wording.book(0)), at: 50)])

        phone.handle(.stored(WriteID(7)))
        #expect(
            phone.take() == [
                observe(.bookAdded(ordinal: 1, book: Wording.book(1)), at: 50),
                observe(.completed(took: .milliseconds(50)), at: 50),
                .releasePhoto(scan),
                observe(.requestSent(.cleanup, attempt: 1, job: "job-1", lastEventID: nil), at: 50),
                .send(
                    AppRequest(
                        id: RequestID(3), operation: .cleanup, scan: scan, attempt: 1, method: "DELETE",
                        target: "/v3/jobs/scans/job-1/cleanup",
                        headers: [
                            HeaderField("X-Device-ID", identity),
                            HeaderField("Authorization", "Bearer t0ken"),
                            trace(.cleanup, 1),
                        ], body: .none)),
            ])

        // The stream ends by itself at that time, which is not a loss.
        phone.handle(.replyEnded(RequestID(2)))
        #expect(phone.take() == [observe(.slotGiven, at: 50)])

        #expect(!phone.app.isQuiescent)
        phone.answer(.cleanup, 204)
        #expect(
            phone.take() == [
                observe(.replied(.cleanup, attempt: 1, status: 204, took: .zero), at: 50),
                observe(.cleanupAnswered(job: "job-1", status: 204, took: .zero), at: 50),
                .store(.settled(scan, .completed), WriteID(8)),
            ])
        #expect(phone.app.isQuiescent)
        #expect(phone.app.nextWake == nil)
        #expect(phone.store.scans == [])
    }

    @Test func `nothing is sent before the record of a capture is durable`() {
        var phone = TestPhone()
        phone.storesByItself = false
        phone.capture(1)
        #expect(phone.open == [])
        phone.handle(.stored(phone.lastWriteID))
        #expect(phone.request(.upload)?.attempt == 1)
    }

    @Test func `no stream is asked for before the job is durable`() {
        var phone = TestPhone()
        phone.capture(1)
        phone.storesByItself = false
        phone.accept()
        phone.handle(.stored(WriteID(phone.lastWriteID.raw - 1)))
        #expect(phone.open == [])
        phone.handle(.stored(phone.lastWriteID))
        #expect(phone.request(.stream)?.target == "/v3/jobs/scans/job-1/stream")
    }

    @Test func `an absolute stream URL is asked for as it was given, and a missing token is not sent`() {
        var phone = TestPhone()
        phone.capture(1)
        let url = "https://api.oooefam.net/v3/jobs/scans/job-1/stream"
        phone.answer(.upload, 200, Wording.accepted(job: "job-1", sseUrl: url, token: nil))
        #expect(phone.request(.stream)?.target == url)
        #expect(phone.request(.stream)?.headers.map(\.name) == ["X-Device-ID", "Accept", "traceparent"])
    }

    @Test func `a phone without cleanup settles as soon as the books are durable`() {
        var profile = ClientProfile.contract
        profile.cleanup.isMade = false
        var phone = TestPhone(profile: profile)
        phone.captureToStream()
        phone.stream(Wording.completed(books: 1))
        #expect(phone.store.settled.map(\.outcome) == [.completed])
        #expect(phone.request(.cleanup) == nil)
    }

    @Test func `a stream that does not end after its terminal event is closed after the grace`() {
        var phone = TestPhone()
        phone.captureToStream()
        phone.stream(Wording.completed(books: 1))
        // A second terminal: nothing is applied any more.
        phone.stream(Wording.completed("10-final", books: 3))
        #expect(phone.request(.stream) != nil)
        phone.answer(.cleanup, 204)
        #expect(!phone.app.isQuiescent)
        phone.pass(.milliseconds(250))
        #expect(phone.request(.stream) == nil)
        #expect(phone.store.books.count == 1)
        #expect(phone.app.isQuiescent)
    }
}
