import Phone
import SimBase
import Talaria
import Testing

/// Capture, photo, slots and order.
struct QueueTests {
    @Test func `five scans have slots and the others follow oldest first as slots are given`() {
        var phone = TestPhone()
        for scan in 1...8 { phone.capture(UInt32(scan)) }
        #expect(phone.open.map(\.scan.raw) == [1, 2, 3, 4, 5])
        #expect(phone.waiting == ["6 captured", "7 captured", "8 captured"])
        for scan: UInt32 in [3, 1] {
            phone.accept(scan, job: "job-\(scan)")
            phone.openStream(scan)
            phone.stream(Wording.completed(job: "job-\(scan)", books: 1), scan)
            #expect(phone.app.slotsTaken == 5, "the slot covers the stream to its end")
            phone.answerEnd(.stream, scan: scan)
        }
        #expect(phone.open.filter { $0.operation == .upload }.map(\.scan.raw) == [2, 4, 5, 6, 7])
        #expect(phone.waiting == ["8 captured"])
    }

    @Test func `an upload never overtakes an older one that awaits its photo`() {
        var phone = TestPhone()
        phone.preparesByItself = false
        phone.capture(1)
        phone.capture(2)
        phone.handle(.photoPrepared(scan: ScanNumber(2), bytes: 1, took: .zero))
        #expect(phone.open == [])
        phone.handle(.photoPrepared(scan: ScanNumber(1), bytes: 1, took: .zero))
        #expect(phone.open.map(\.scan.raw) == [1, 2])
    }

    @Test func `a scan that serves a backoff is overtaken and keeps its index`() {
        var profile = ClientProfile.contract
        profile.stream.slots = 1
        var phone = TestPhone(profile: profile)
        phone.capture(1)
        phone.capture(2)
        phone.capture(3)
        phone.answer(.upload, 503, scan: 1)
        #expect(phone.open.map(\.scan.raw) == [2])
        phone.pass(.milliseconds(500))
        phone.answer(.upload, 400, scan: 2)
        #expect(phone.open.map(\.scan.raw) == [1])
    }

    @Test func `scans that serve a wait block nobody, however many they are`() {
        var phone = TestPhone()
        let held = 3 * AppLimits.photosAheadMax
        for scan in 1...held { phone.capture(UInt32(scan)) }
        for scan in 1...held { phone.answer(.upload, 503, scan: UInt32(scan), retryAfter: "600") }
        for scan in held + 1...held + 7 { phone.capture(UInt32(scan)) }
        #expect(phone.open.map(\.scan.raw) == (held + 1...held + 5).map { UInt32($0) })
        for scan in held + 1...held + 7 { phone.answer(.upload, 400, scan: UInt32(scan)) }
        phone.pass(.seconds(600))
        #expect(phone.open.map(\.scan.raw) == [1, 2, 3, 4, 5], "what waited goes on, oldest first")
    }

    @Test func `few scans keep their photo while they wait, the others have it prepared again`() {
        var phone = TestPhone()
        let held = AppLimits.photosHeldBackMax + 3
        for scan in 1...held { phone.capture(UInt32(scan)) }
        for scan in 1...held { phone.answer(.upload, 503, scan: UInt32(scan), retryAfter: "600") }
        let released = phone.take().filter {
            if case .releasePhoto = $0 { true } else { false }
        }
        #expect(released.count == 3)
        phone.pass(.seconds(600))
        let again = phone.take().filter {
            if case .preparePhoto = $0 { true } else { false }
        }
        #expect(again.count == 3)
    }

    @Test func `only the photos of the next scans are prepared, and the others follow`() {
        var phone = TestPhone(pathAvailable: false)
        phone.preparesByItself = false
        for scan in 1...20 { phone.capture(UInt32(scan)) }
        #expect(phone.preparing.map(\.raw) == Array(1...10))
        phone.handle(.pathReturned)
        for scan: UInt32 in 1...10 {
            phone.handle(.photoPrepared(scan: ScanNumber(scan), bytes: 1, took: .zero))
        }
        phone.pass(.milliseconds(500))
        #expect(phone.open.map(\.scan.raw) == Array(1...5))
        #expect(phone.preparing.map(\.raw) == Array(1...15))
    }

    @Test func `an unusable photo refuses its scan and lets the next one go`() {
        var phone = TestPhone()
        phone.preparesByItself = false
        phone.capture(1)
        phone.capture(2)
        phone.handle(.photoPrepared(scan: ScanNumber(2), bytes: 1, took: .zero))
        phone.handle(.photoRejected(scan: ScanNumber(1), reason: "not a JPEG"))
        #expect(phone.store.settled.map(\.scan.raw) == [1])
        #expect(phone.payloads.contains(.photoRejected(reason: "not a JPEG")))
        #expect(phone.payloads.contains(.refused(code: "PHOTO_UNUSABLE", cause: .photo)))
        #expect(phone.open.map(\.scan.raw) == [2])
    }

    @Test func `a full queue refuses aloud and takes no custody`() {
        var phone = TestPhone(pathAvailable: false)
        phone.preparesByItself = false
        phone.storesByItself = false
        for scan in 1...AppLimits.unsettledMax { phone.capture(UInt32(scan)) }
        _ = phone.take()
        _ = phone.takeSightings()
        phone.capture(UInt32(AppLimits.unsettledMax + 1))
        #expect(
            phone.takeSightings() == [
                .captured(scheduled: .zero), .refused(code: "QUEUE_FULL", cause: .queue),
            ])
        #expect(phone.app.unsettledCount == AppLimits.unsettledMax)
    }

    @Test func `a photo that comes late for a settled scan is released`() {
        var phone = TestPhone()
        phone.capture(1)
        phone.answer(.upload, 400)
        _ = phone.take()
        phone.handle(.photoPrepared(scan: ScanNumber(1), bytes: 1, took: .zero))
        #expect(phone.take().contains(.releasePhoto(ScanNumber(1))))
    }

    @Test func `the upload's deadline grows with the photo`() {
        var phone = TestPhone()
        phone.capture(1)  // 200,000 bytes at 8,000 a second: 25 s more.
        #expect(phone.app.nextWake == .zero + .seconds(55))
        phone.pass(.seconds(55))
        #expect(phone.payloads.contains(.requestFailed(.upload, attempt: 1, .timedOut, took: .seconds(55))))
        #expect(phone.waiting == ["1 no-answer"])
    }

    @Test func `an answer to a request that was given up changes nothing`() {
        var phone = TestPhone()
        phone.capture(1)
        let id = RequestID(1)
        phone.pass(.seconds(55))
        _ = phone.take()
        let before = phone.app.waiting.map(\.0)
        phone.handle(.replyHead(id, ReplyHead(status: 202, contentType: "application/json", retryAfter: nil)))
        phone.handle(.replyBytes(id, Wording.accepted(job: "late")[...]))
        phone.handle(.replyEnded(id))
        phone.handle(.replyFailed(id, .reset))
        #expect(phone.take() == [])
        #expect(phone.app.waiting.map(\.0) == before)
    }
}
