import Phone
import SimBase
import Talaria
import Testing

/// What else happens to a phone: another network, no room, a wrong clock, pictures on the way.
struct LifeTests {
    // MARK: Handover

    @Test func `a change of the network is noticed and every stream goes on from its last event`() {
        var phone = TestPhone()
        phone.captureToStream(1)
        phone.stream(Wording.progress("3"))
        phone.capture(2)
        _ = phone.takeSightings()
        phone.handle(.pathChanged(isAvailable: true))
        #expect(phone.open == [])
        #expect(
            phone.takeSightings() == [
                .pathChanged, .streamLost(job: "job-1", attempt: 1, .handover, silence: nil),
                .requestFailed(.upload, attempt: 1, .noPath, took: .zero), .queued(.transport), .slotGiven,
            ])
        phone.pass(.milliseconds(500))
        #expect(phone.open.map(\.operation).sorted { $0.rawValue < $1.rawValue } == [.upload, .stream])
        #expect(phone.request(.stream)?.headers.contains(HeaderField("Last-Event-ID", "3")) == true)
        phone.openStream()
        #expect(
            phone.payloads.contains {
                if case .reconnected(_, .handover, attempts: 1, resumed: true, _) = $0 { true } else { false }
            })
    }

    @Test func `until the new path is there nothing is tried`() {
        var phone = TestPhone()
        phone.captureToStream()
        phone.handle(.pathChanged(isAvailable: false))
        phone.pass(.minutes(1))
        #expect(phone.open == [])
        #expect(phone.payloads.contains(.pathLost))
        phone.handle(.pathReturned)
        phone.pass(.milliseconds(500))
        #expect(phone.open.map(\.operation) == [.stream])
    }

    @Test func `without a path there is none to change`() {
        var phone = TestPhone(pathAvailable: false)
        _ = phone.take()
        phone.handle(.pathChanged(isAvailable: true))
        #expect(phone.take() == [])
        phone.capture(1)
        #expect(phone.open == [])
    }

    @Test func `a DELETE that was under way is made again`() {
        var phone = TestPhone()
        phone.captureToStream()
        phone.stream(Wording.completed(books: 1))
        phone.handle(.pathChanged(isAvailable: true))
        phone.pass(.milliseconds(500))
        #expect(phone.open.map(\.operation) == [.cleanup])
        #expect(phone.open.first?.attempt == 2)
    }

    // MARK: Storage

    @Test func `a capture without room for its record is refused and shown`() {
        var phone = TestPhone()
        phone.storesByItself = false
        phone.preparesByItself = false
        phone.capture(1)
        _ = phone.take()
        phone.handle(.storeFailed(WriteID(1)))
        #expect(
            phone.payloads == [
                .launched(restored: 0), .captured(scheduled: .zero),
                .refused(code: "STORAGE_FULL", cause: .storage),
            ])
        #expect(phone.take().contains(.releasePhoto(ScanNumber(1))))
        #expect(phone.store.settled.map(\.outcome) == [.refused(code: "STORAGE_FULL")])
        #expect(phone.app.unsettledCount == 0)
        #expect(phone.app.isQuiescent)
        // Its photo comes late, and its writes are made when there is room.
        phone.handle(.photoPrepared(scan: ScanNumber(1), bytes: 1, took: .zero))
        phone.handle(.stored(phone.lastWriteID))
        #expect(phone.open == [])
    }

    @Test func `other writes are kept in memory, and no job is deleted before its books have room`() {
        var phone = TestPhone()
        phone.captureToStream()
        phone.storesByItself = false
        phone.stream(Wording.progress("1"))
        phone.handle(.storeFailed(phone.lastWriteID))
        phone.stream(Wording.progress("2") + Wording.completed(books: 2))
        phone.handle(.storeFailed(phone.lastWriteID))
        phone.pass(.minutes(5))
        #expect(phone.open.map(\.operation) == [], "the stream is over and nothing else may begin")
        #expect(!phone.payloads.contains(.completed(took: .zero)))
        #expect(phone.app.unsettledCount == 1)
        phone.handle(.stored(phone.lastWriteID))
        #expect(phone.open.map(\.operation) == [.cleanup])
        #expect(phone.store.books.count == 2)
    }

    @Test func `a scan whose first record is durable is not refused for a later write`() {
        var phone = TestPhone()
        phone.capture(1)
        phone.answer(.upload, 503)
        phone.handle(.storeFailed(phone.lastWriteID))
        #expect(phone.waiting == ["1 server-error"])
        phone.storesByItself = false
        phone.capture(2)
        let first = phone.lastWriteID
        phone.handle(.suspended)
        phone.handle(.storeFailed(phone.lastWriteID))
        #expect(phone.app.unsettledCount == 2)
        phone.handle(.stored(first))
        #expect(phone.payloads.contains(.queued(.suspended)), "its first record is durable")
    }

    // MARK: Clock

    @Test(arguments: [Interval.hours(-2), .minutes(-5), .zero, .seconds(20), .hours(3)])
    func `a date to come again is read by the phone's own clock`(ahead: Interval) {
        var phone = TestPhone()
        phone.handle(.clockSet(ahead: ahead))
        phone.capture(1)
        // 30 s from now by the true clock, 1_700_000_000 being Tue, 14 Nov 2023 22:13:20 GMT.
        phone.answer(.upload, 429, retryAfter: "Tue, 14 Nov 2023 22:13:50 GMT")
        // A date that has passed says nothing: the profile's own wait.
        let wait = Interval.seconds(30) - ahead
        let expected = wait > .zero ? wait : ClientProfile.contract.waits.rateLimitDefault
        #expect(phone.payloads.contains(.rateLimited(.upload, retryAfter: expected)))
        phone.pass(expected - .milliseconds(1))
        #expect(phone.open == [])
        phone.pass(.milliseconds(1))
        #expect(phone.open.map(\.operation) == [.upload])
    }

    @Test func `a clock that jumps moves no deadline and no order`() {
        var phone = TestPhone()
        phone.capture(1)
        phone.answer(.upload, 429, Wording.problem(.rateLimitExceeded, retryAfterMs: 30_000))
        phone.handle(.clockSet(ahead: .hours(-5)))
        phone.capture(2)
        #expect(phone.waiting == ["1 rate-limited", "2 rate-limited"], "the newer one does not slip past")
        phone.pass(.seconds(15))
        phone.handle(.clockSet(ahead: .hours(5)))
        #expect(phone.open == [])
        phone.pass(.seconds(15))
        #expect(phone.open.map(\.scan.raw) == [1, 2])
        phone.accept(1)
        phone.openStream(1)
        phone.stream(Wording.completed(books: 1), 1)
        #expect(phone.payloads.contains(.completed(took: .seconds(30))))
    }

    @Test func `the time of a scan is the true one, whatever the clock said at its capture`() {
        var phone = TestPhone()
        phone.handle(.clockSet(ahead: .hours(24)))
        phone.now = phone.now + .seconds(5)
        phone.capture(1)
        phone.accept()
        var next = TestPhone(asleep: TestPhone.app())
        next.now = .zero + .seconds(12)
        next.handle(.launched(restored: phone.store.scans, pathAvailable: true))
        next.openStream()
        next.stream(Wording.completed(books: 1))
        #expect(next.payloads.contains(.completed(took: .seconds(7))))
    }

    @Test(arguments: [Int64.min, .max])
    func `no time is too far off for a clock to be set to`(nanoseconds: Int64) {
        var phone = TestPhone()
        phone.handle(.clockSet(ahead: .nanoseconds(nanoseconds)))
        phone.capture(1)
        phone.answer(.upload, 429, retryAfter: "Tue, 14 Nov 2023 22:13:50 GMT")
        #expect(phone.waiting == ["1 rate-limited"])
    }

    // MARK: Progressive results

    private static func segmented(bytes: Int, id: String = "1") -> String {
        let image = String(repeating: "QUJD", count: bytes / 3)
        return Wording.event("segmented", id: id, #"{"image":"\#(image)","totalBooks":7}"#)
    }

    @Test func `previews and book counts are applied, and move the index to resume from`() {
        var phone = TestPhone()
        phone.captureToStream()
        _ = phone.takeSightings()
        phone.stream(Self.segmented(bytes: 3_000))
        phone.stream(Wording.event("book_progress", id: "2", #"{"current":1,"total":7,"stage":"reading"}"#))
        #expect(
            phone.takeSightings() == [
                .firstEvent(job: "job-1", took: .zero),
                .eventApplied(job: "job-1", id: "1", kind: .segmented, latency: nil, replayed: false),
                .eventApplied(job: "job-1", id: "2", kind: .bookProgress, latency: nil, replayed: false),
            ])
        #expect(phone.app.previewBytes == 3_000)
        phone.fail(.stream, .reset)
        phone.pass(.seconds(1))
        #expect(phone.request(.stream)?.headers.contains(HeaderField("Last-Event-ID", "2")) == true)
        phone.openStream()
        phone.stream(Wording.completed(books: 1))
        #expect(phone.app.previewBytes == 0, "let go of with the job")
    }

    @Test func `of five jobs one preview is shown, and never more than its bound`() {
        var phone = TestPhone()
        for scan: UInt32 in 1...5 {
            phone.captureToStream(scan, job: "job-\(scan)")
            for round in 0..<20 {
                phone.stream(Self.segmented(bytes: 30_000 + Int(scan) * 3, id: "\(round)"), scan)
            }
            #expect(phone.app.previewBytes == 30_000 + Int(scan) * 3)
        }
        phone.handle(.suspended)
        #expect(phone.app.previewBytes == 0)
    }

    @Test(arguments: [
        "{}", #"{"image":"QUJD"}"#, #"{"image":"QUJ","totalBooks":1}"#, #"{"image":"QU\nJD","totalBooks":1}"#,
        #"{"image":"","totalBooks":1}"#, #"{"image":"QUJD","totalBooks":-1}"#,
        #"{"image":"QUJD","totalBooks":99999999}"#, #"{"image":7,"totalBooks":1}"#, "[]", "",
    ])
    func `a preview that is none is ignored and counted`(data: String) {
        var phone = TestPhone()
        phone.captureToStream()
        phone.stream(Wording.event("segmented", id: "1", data))
        #expect(
            phone.payloads.last
                == .eventIgnored(job: "job-1", id: "1", name: "segmented", malformed: true))
        #expect(phone.app.previewBytes == 0)
        #expect(phone.open.map(\.operation) == [.stream])
    }

    @Test func `a preview beyond the bound of a line costs the preview and nothing else`() {
        var phone = TestPhone()
        phone.captureToStream()
        phone.stream(Self.segmented(bytes: 1_200_000))
        #expect(phone.payloads.last == .badAnswer(.stream, attempt: 1, .overlongStream))
        #expect(phone.app.previewBytes == 0)
        phone.stream(Wording.completed(books: 1))
        #expect(phone.store.books.count == 1)
    }
}
