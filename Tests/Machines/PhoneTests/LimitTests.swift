import Phone
import SimBase
import Talaria
import Testing

/// Every limit of what a server may say, at its last good value and one beyond.
struct LimitTests {
    private func text(_ count: Int) -> String { String(repeating: "a", count: count) }

    private func padded(_ json: [UInt8], to count: Int) -> [UInt8] {
        json + [UInt8](repeating: UInt8(ascii: " "), count: count - json.count)
    }

    private func isAccepted(token: String = "t", target: String = "/s") -> Bool {
        var phone = TestPhone()
        phone.capture(1)
        phone.answer(.upload, 202, Wording.accepted(job: "job-1", sseUrl: target, token: token))
        return phone.request(.stream) != nil
    }

    @Test func `an answer`() {
        let json = Wording.accepted(job: "job-1")
        var phone = TestPhone()
        phone.capture(1)
        phone.answer(.upload, 202, self.padded(json, to: AppLimits.answerBytesMax))
        #expect(phone.request(.stream) != nil)
        phone = TestPhone()
        phone.capture(1)
        guard let request = phone.request(.upload) else {
            Issue.record("no upload")
            return
        }
        phone.head(.upload, 202)
        phone.handle(.replyBytes(request.id, self.padded(json, to: AppLimits.answerBytesMax + 1)[...]))
        #expect(phone.payloads.contains(.badAnswer(.upload, attempt: 1, .tooLarge)))
        #expect(phone.waiting == ["1 answer-too-large"])
    }

    @Test(arguments: [0, 1]) func `an answer with results`(beyond: Int) {
        var phone = TestPhone()
        phone.captureToStream()
        phone.stream(Wording.completed(rawBooks: nil))
        guard let request = phone.request(.results) else {
            Issue.record("no results are asked for")
            return
        }
        phone.head(.results, 200)
        let body = self.padded(Wording.results(books: 3), to: AppLimits.resultsBytesMax + beyond)
        phone.handle(.replyBytes(request.id, body[...]))
        if beyond == 0 { phone.handle(.replyEnded(request.id)) }
        #expect(phone.store.books.count == (beyond == 0 ? 3 : 0))
        #expect(phone.payloads.contains(.badAnswer(.results, attempt: 1, .tooLarge)) == (beyond == 1))
    }

    @Test(arguments: [0, 1]) func `books of a scan`(beyond: Int) {
        var phone = TestPhone()
        phone.captureToStream()
        let books = AppLimits.booksPerScanMax + beyond
        let book = #"{"title":"","author":""}"#
        phone.stream(
            Wording.completed(rawBooks: "[\(Array(repeating: book, count: books).joined(separator: ","))]"))
        #expect(phone.store.books.count == (beyond == 0 ? books : 0))
        #expect((phone.request(.results) != nil) == (beyond == 1))
    }

    @Test(arguments: [0, 1]) func `a line of a stream`(beyond: Int) {
        var phone = TestPhone()
        phone.captureToStream()
        let start = #"data: {"type":"progress","jobId":"job-1","message":""#
        let long = self.text(AppLimits.streamLineBytesMax + beyond - start.utf8.count - 2)
        phone.stream("event: progress\n\(start)\(long)\"}\n\n")
        let isApplied = phone.payloads.contains { if case .eventApplied = $0 { true } else { false } }
        #expect(isApplied == (beyond == 0))
        #expect(phone.payloads.contains(.badAnswer(.stream, attempt: 1, .overlongStream)) == (beyond == 1))
    }

    @Test(arguments: [0, 1]) func `an event of a stream`(beyond: Int) {
        var phone = TestPhone()
        phone.captureToStream()
        let start = #"{"type":"progress","jobId":"job-1","#
        // Two lines of half the size each, with the line feed between them.
        let rest = AppLimits.streamEventBytesMax + beyond - start.utf8.count - 1
        let end = "\"message\":\"" + self.text(rest - 13 - rest / 2) + "\"}"
        let blank = String(repeating: " ", count: rest / 2)
        phone.stream("event: progress\ndata: \(start)\(blank)\ndata: \(end)\n\n")
        let isApplied = phone.payloads.contains { if case .eventApplied = $0 { true } else { false } }
        #expect(isApplied == (beyond == 0))
        #expect(phone.payloads.contains(.badAnswer(.stream, attempt: 1, .overlongStream)) == (beyond == 1))
    }

    @Test(arguments: [0, 1]) func `the id of an event`(beyond: Int) {
        var phone = TestPhone()
        phone.captureToStream()
        phone.stream(Wording.progress(self.text(AppLimits.eventIDBytesMax + beyond)))
        phone.fail(.stream, .reset)
        phone.pass(.milliseconds(500))
        let sent = phone.request(.stream)?.headers.first { $0.name == "Last-Event-ID" }?.value
        #expect(sent?.utf8.count == (beyond == 0 ? AppLimits.eventIDBytesMax : nil))
    }

    @Test func `a token`() {
        #expect(self.isAccepted(token: self.text(AppLimits.tokenBytesMax)))
        #expect(!self.isAccepted(token: self.text(AppLimits.tokenBytesMax + 1)))
    }

    @Test func `the address of a stream`() {
        #expect(self.isAccepted(target: "/" + self.text(AppLimits.targetBytesMax - 1)))
        #expect(!self.isAccepted(target: "/" + self.text(AppLimits.targetBytesMax)))
    }

    @Test(arguments: [0, 1]) func `a code that is shown`(beyond: Int) {
        var phone = TestPhone()
        phone.captureToStream()
        let code = self.text(AppLimits.codeBytesMax + beyond)
        phone.stream(Wording.error(retryable: false, code: code))
        let shown = phone.payloads.compactMap { if case .refused(let code, _) = $0 { code } else { nil } }
        #expect(shown.count == 1)
        #expect((shown == [code]) == (beyond == 0))
    }

    @Test func `answers with results that cannot be read`() {
        var phone = TestPhone()
        phone.captureToStream()
        phone.stream(Wording.completed(rawBooks: nil))
        for attempt in 1...AppLimits.resultsBadAnswersMax {
            #expect(phone.waiting == [], "attempt \(attempt)")
            phone.answer(.results, 200, Array("{}".utf8))
            phone.pass(.seconds(30))
        }
        #expect(phone.waiting == ["1 unreadable-answer"])
        #expect(phone.request(.results) == nil)
    }

    @Test func `the time that a server asks to wait`() {
        for (asked, after) in [
            (AppLimits.serverWaitMax.wholeMilliseconds, AppLimits.serverWaitMax),
            (AppLimits.serverWaitMax.wholeMilliseconds + 1, AppLimits.serverWaitMax),
            (Int64.max, AppLimits.serverWaitMax), (1, .milliseconds(1)),
        ] {
            var phone = TestPhone()
            phone.capture(1)
            phone.answer(.upload, 429, Wording.problem(.rateLimitExceeded, retryAfterMs: asked))
            phone.pass(after - .nanoseconds(1))
            #expect(phone.request(.upload) == nil, "\(asked)")
            phone.pass(.nanoseconds(1))
            #expect(phone.request(.upload)?.attempt == 2, "\(asked)")
        }
    }
}
