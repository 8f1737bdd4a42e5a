import JSON
import Phone
import SimBase
import Talaria
import Testing

/// Answers that no backend should give.
struct HostileTests {
    @Test func `ten megabytes of results are cut off at the limit, and the scan is not lost`() {
        var phone = TestPhone()
        phone.captureToStream()
        phone.stream(Wording.completed(rawBooks: nil))
        guard let request = phone.request(.results) else {
            Issue.record("no results are asked for")
            return
        }
        phone.head(.results, 200)
        let piece = [UInt8](repeating: UInt8(ascii: "["), count: 65_536)
        var pieces = 0
        while phone.request(.results) != nil, pieces < 160 {
            phone.handle(.replyBytes(request.id, piece[...]))
            pieces += 1
        }
        #expect(pieces == 65, "4 MiB and the piece that was too much")
        #expect(phone.payloads.filter { $0 == .badAnswer(.results, attempt: 1, .tooLarge) }.count == 1)
        phone.pass(.milliseconds(500))
        #expect(phone.request(.results)?.attempt == 2)
    }

    @Test func `a deep and a wrong JSON are answers that cannot be read`() {
        for body in [
            [UInt8](repeating: UInt8(ascii: "["), count: 60_000), Array(#"{"success":"yes","data":[]}"#.utf8),
            [0xFF, 0xFE, 0x00, 0x80], Array("null".utf8),
        ] {
            var phone = TestPhone()
            phone.capture(1)
            phone.answer(.upload, 202, body)
            #expect(phone.waiting == ["1 unreadable-answer"])
        }
    }

    @Test func `a line of a megabyte and more costs only itself`() {
        var phone = TestPhone()
        phone.captureToStream()
        phone.stream(Wording.progress("1"))
        _ = phone.takeSightings()
        let long = "id: 2\ndata: " + String(repeating: "x", count: AppLimits.streamLineBytesMax) + "\n\n"
        phone.stream(long)
        phone.stream(Wording.completed(books: 2))
        #expect(phone.payloads.first == .badAnswer(.stream, attempt: 1, .overlongStream))
        #expect(phone.store.books.count == 2)
    }

    @Test(arguments: [true, false])
    func `a terminal event beyond the bound ends the job all the same`(inOneLine: Bool) {
        var phone = TestPhone()
        phone.captureToStream()
        let line = String(repeating: "x", count: AppLimits.streamLineBytesMax - 6)
        phone.stream("id: 9\nevent: completed\ndata: \(line)" + (inOneLine ? "x" : "\ndata: xxxxxx\n\n"))
        #expect(phone.payloads.contains(.badAnswer(.stream, attempt: 1, .overlongStream)))
        phone.answer(.results, 200, Wording.results(books: 700))
        #expect(phone.store.books.count == 700)
        phone.answer(.cleanup, 204)
        #expect(phone.store.settled.map(\.outcome) == [.completed])
    }

    @Test func `an error event beyond the bound refuses nothing`() {
        var phone = TestPhone()
        phone.captureToStream()
        phone.stream("event: error\ndata: " + String(repeating: "x", count: AppLimits.streamLineBytesMax))
        #expect(phone.waiting == ["1 retryable-error"])
        #expect(phone.request(.cleanup) != nil)
    }

    @Test func `the id of an event that was dropped is not asked for as the last applied`() {
        var phone = TestPhone()
        phone.captureToStream()
        phone.stream(Wording.progress("1"))
        phone.stream("id: 2\ndata: " + String(repeating: "x", count: AppLimits.streamLineBytesMax) + "\n\n")
        phone.fail(.stream, .reset)
        phone.pass(.milliseconds(500))
        #expect(phone.request(.stream)?.headers.contains(HeaderField("Last-Event-ID", "1")) == true)
    }

    @Test func `more books than a shelf can hold are a bad answer`() {
        var phone = TestPhone()
        phone.captureToStream()
        let book = #"{"title":"","author":""}"#
        let books = Array(repeating: book, count: AppLimits.booksPerScanMax + 1).joined(separator: ",")
        phone.stream(Wording.completed(rawBooks: "[\(books)]"))
        #expect(phone.request(.results) != nil)
        phone.answer(
            .results, 200,
            Array(
                #"{"success":true,"data":{"jobId":"job-1","status":"completed","results":[\#(books)]}}"#.utf8)
        )
        #expect(phone.store.books.isEmpty)
        #expect(phone.waiting == [] && phone.app.unsettledCount == 1)
    }

    @Test func `a stream of noise neither breaks nor settles anything`() {
        let random = KeyedRandom(seed: 11)
        var phone = TestPhone()
        phone.captureToStream()
        let alphabet = Array("id:event:data:retry: \n\n\r\n{}[]\",progresscompleted\u{0}é9".utf8)
        for piece: UInt64 in 0..<400 {
            guard let request = phone.request(.stream) else { break }
            let bytes = (0..<random.below(200, .test, piece, 1)).map { index in
                alphabet[Int(random.below(UInt64(alphabet.count), .test, piece, 2, index))]
            }
            phone.handle(.replyBytes(request.id, bytes[...]))
        }
        #expect(phone.store.books.isEmpty)
        #expect(phone.store.settled.isEmpty)
        #expect(phone.store.scans.count == 1)
    }

    @Test func `memory of events is bounded`() {
        var phone = TestPhone()
        phone.captureToStream()
        for event in 0..<1_000 { phone.stream(Wording.progress("\(event)")) }
        _ = phone.takeSightings()
        // The oldest are forgotten, the newest are not.
        phone.stream(Wording.progress("999"))
        #expect(phone.takeSightings() == [])
    }
}
