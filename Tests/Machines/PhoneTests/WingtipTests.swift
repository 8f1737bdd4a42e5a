import Observations
import SimBase
import Talaria
import Testing

@testable import Phone

/// The wingtip app (Docs/apps.md section 6.1).
struct WingtipTests {
    private func phone() -> TestPhone { TestPhone(profile: NamedProfile.wingtip.profile()) }

    private func has(_ header: String, _ request: AppRequest?) -> Bool {
        request?.headers.contains { $0.name == header } ?? false
    }

    private static func event(_ type: String, _ data: String) -> String {
        Wording.event("ignored", id: nil, #"{"type":"\#(type)","data":\#(data)}"#)
    }

    private static let book = event("result", #"{"title":"Emma","author":"Jane Austen"}"#)
    private static let complete = event("complete", #"{"booksFound":2}"#)

    private func accept(_ phone: inout TestPhone, status: Int = 202) {
        phone.answer(
            .upload, status, Array(#"{"jobId":"job-1","streamUrl":"/v3/jobs/scans/job-1/stream"}"#.utf8))
    }

    private func captureToStream() -> TestPhone {
        var phone = phone()
        phone.capture(1)
        self.accept(&phone)
        phone.openStream()
        return phone
    }

    @Test func `the part and the flat 202`() {
        var phone = phone()
        #expect(phone.app.profile.upload.part == "image")
        phone.capture(1)
        #expect(has(HeaderName.deviceID, phone.request(.upload)))
        self.accept(&phone)
        let stream = phone.request(.stream)
        #expect(stream?.target == "/v3/jobs/scans/job-1/stream")
        #expect(!has(HeaderName.deviceID, stream) && !has(HeaderName.authorization, stream))
    }

    @Test func `200 is not a success`() {
        var phone = phone()
        phone.capture(1)
        self.accept(&phone, status: 200)
        #expect(phone.request(.stream) == nil)
    }

    @Test func `three retries after 500, 1000 and 2000 ms`() {
        var phone = phone()
        phone.capture(1)
        for wait: Int64 in [500, 1_000, 2_000] {
            phone.answer(.upload, 503)
            phone.pass(.milliseconds(wait - 1))
            #expect(phone.request(.upload) == nil)
            phone.pass(.milliseconds(1))
            #expect(phone.request(.upload) != nil)
        }
        phone.fail(.upload, .reset)
        phone.pass(.minutes(5))
        #expect(phone.open.isEmpty && phone.waiting == ["1 transport"])
    }

    @Test func `a scan that meets a limit has failed, and the header comes before the body`() {
        var phone = phone()
        phone.capture(1)
        phone.answer(
            .upload, 429, Wording.problem(.rateLimitExceeded, retryAfterMs: 1_000), retryAfter: "9")
        #expect(phone.payloads.contains(.rateLimited(.upload, retryAfter: .seconds(9))))
        phone.pass(.minutes(5))
        #expect(phone.open.isEmpty && phone.waiting == ["1 rate-limited"])
    }

    @Test func `the books are those of the result events`() {
        var phone = captureToStream()
        phone.stream(Self.event("progress", "{}") + Self.book + Self.event("news", "{}") + Self.book)
        #expect(phone.store.books.isEmpty)
        phone.stream(Self.complete)
        #expect(phone.store.books.count == 2 && phone.request(.results) == nil)
        #expect(phone.request(.cleanup) != nil && !has(HeaderName.authorization, phone.request(.cleanup)))
    }

    @Test func `without books a scan has failed, and its job is left`() {
        var phone = captureToStream()
        phone.stream(Self.event("complete", #"{"booksFound":0}"#))
        phone.pass(.minutes(5))
        #expect(phone.open.isEmpty && phone.waiting == ["1 results-unavailable"])
    }

    @Test func `a final error leaves the job on the server`() {
        var phone = captureToStream()
        phone.stream(Self.event("error", #"{"code":"NO_BOOKS_FOUND","retryable":false}"#))
        #expect(phone.request(.cleanup) == nil && phone.app.unsettledCount == 0)
    }

    @Test func `a stream begins from scratch three times, also after events`() {
        var phone = captureToStream()
        for wait: Int64 in [500, 1_000, 2_000] {
            phone.stream(Self.book)
            phone.fail(.stream, .reset)
            phone.pass(.milliseconds(wait - 1))
            #expect(phone.request(.stream) == nil)
            phone.pass(.milliseconds(1))
            #expect(phone.request(.stream) != nil && !has(HeaderName.lastEventID, phone.request(.stream)))
            phone.openStream()
        }
        var lucky = phone
        lucky.stream(Self.book + Self.complete)
        #expect(lucky.store.books.count == 1)
        phone.fail(.stream, .reset)
        phone.pass(.minutes(5))
        #expect(phone.open.isEmpty && phone.waiting == ["1 transport"])
    }

    @Test func `the end of a stream without a terminal event is a failure`() {
        var phone = captureToStream()
        if let stream = phone.request(.stream) {
            phone.open.removeAll { $0.id == stream.id }
            phone.handle(.replyEnded(stream.id))
        }
        phone.pass(.minutes(5))
        #expect(phone.open.isEmpty && phone.waiting == ["1 interrupted"])
    }
}
