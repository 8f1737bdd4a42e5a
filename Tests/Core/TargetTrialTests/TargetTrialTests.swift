import SimBase
import Talaria
import TargetTrial
import Testing
import Wire

/// What a foreign backend may do, and what it may not.
@Suite struct TargetTrialTests {
    private static let book =
        #"{"title":"Solaris","author":"Stanisław Lem","isbn":"9780156027601","confidence":0.9,"enrichmentStatus":"success"}"#
    private static let other =
        #"{"title":"Dune","author":"Frank Herbert","isbn":null,"confidence":0.8,"enrichmentStatus":"not_found"}"#

    private static func results(_ books: [String], job: String = "j") -> String {
        #"{"success":true,"data":{"jobId":"\#(job)","results":[\#(books.joined(separator: ","))]}}"#
    }

    @Test func `what comes again on a second resume comes again`() {
        var target = TriedTarget()
        target.upload()
        let first = target.open()
        target.play(first, to: 2)
        target.close(first)
        let second = target.open(after: "2000-progress")
        target.play(second, from: 3, to: 4)
        target.close(second)
        target.play(target.open(after: "4000-progress"), from: 1, to: 1)
        #expect(target.rules == [.resume])
    }

    @Test func `what says where a job stands may come again`() {
        var target = TriedTarget()
        let state = #"{"jobId":"j","processedCount":0,"totalCount":9}"#
        target.upload()
        let first = target.open()
        target.send(first, "progress", id: "500-initial", state)
        target.play(first, to: 2)
        target.close(first)
        let second = target.open(after: "2000-progress")
        target.send(second, "progress", id: "2500-initial", state)
        target.play(second, from: 3, to: 3)
        #expect(target.rules == [])
    }

    private static func state(_ count: Int) -> String {
        #"{"jobId":"j","processedCount":\#(count),"totalCount":9}"#
    }

    @Test func `the state of a job may be newer than the events behind it`() {
        var target = TriedTarget()
        target.upload()
        let first = target.open()
        target.play(first, to: 2)
        target.close(first)
        let second = target.open(after: "2000-progress")
        target.send(second, "progress", id: "9000-initial", Self.state(5))
        target.play(second, from: 3, to: 3)
        #expect(target.rules == [])
    }

    @Test func `two streams may begin with different states of one time`() {
        var target = TriedTarget()
        target.upload()
        let (first, second) = (target.open(), target.open())
        target.send(first, "progress", id: "500-initial", Self.state(0))
        target.play(first, to: 2)
        target.send(second, "progress", id: "500-initial", Self.state(1))
        target.play(second, to: 2)
        #expect(target.rules == [])
    }

    @Test func `a state that another stream has shown need not come again`() {
        var target = TriedTarget()
        target.upload()
        let first = target.open()
        target.play(first, to: 2)
        target.close(first)
        let second = target.open(after: "2000-progress")
        target.send(second, "progress", id: "2500-initial", Self.state(2))
        target.close(second)
        let third = target.open(after: "2000-progress")
        target.play(third, from: 3, to: 3)
        #expect(target.rules == [])
    }

    @Test(arguments: [(true, false), (false, false), (true, true)])
    func `a book of a result event is among those of the job`(_ comes: Bool, _ isNested: Bool) {
        var target = TriedTarget()
        target.upload()
        let stream = target.open()
        target.play(stream, to: 2)
        let shown = isNested ? #"{"type":"result","book":\#(Self.other)}"# : Self.other
        target.send(stream, "result", id: "2500-result", shown)
        let books = comes ? [Self.book, Self.other] : [Self.book]
        target.send(
            stream, "completed", id: "4000-completed",
            #"{"type":"completed","jobId":"j","books":[\#(books.joined(separator: ","))]}"#)
        #expect(target.rules == (comes ? [] : [.resultsAgree]))
    }

    @Test func `a job may end with an event that says that it was canceled`() {
        var target = TriedTarget()
        target.upload()
        let stream = target.open()
        target.play(stream, to: 2)
        target.send(stream, "canceled", id: "4000-canceled", #"{"jobId":"j"}"#)
        target.send(stream, "progress", id: "5000-progress", Self.state(5))
        #expect(target.rules == [.terminal])
    }

    @Test func `an honest job breaks nothing`() {
        var target = TriedTarget()
        target.upload()
        let first = target.open()
        target.play(first, to: 3)
        target.close(first)
        let second = target.open(after: "3000-progress")
        target.play(second, from: 4, to: 5)
        target.complete(second, books: "[\(Self.book),\(Self.other)]")
        target.exchange("GET", "/v3/jobs/scans/j/results", 200, Self.results([Self.other, Self.book]))
        target.exchange(
            "GET", "/v3/jobs/scans/j", 200, #"{"data":{"jobId":"j","status":"completed"}}"#)
        target.exchange("DELETE", "/v3/jobs/scans/j/cleanup", 204)
        target.wait(.seconds(3))
        target.exchange("GET", "/v3/jobs/scans/j/results", 410, Self.problem(410))
        #expect(target.rules == [])
        #expect(
            target.tried
                == [
                    .jobAddressed, .resume, .ids, .terminal, .resultsAgree, .statusAgrees, .cleanup,
                    .errorForm, .jobKept, .times, .text,
                ])
    }

    // MARK: Jobs

    @Test func `a job of a foreign client is of one device`() {
        var target = TriedTarget { $0.isOfOwnPhones = false }
        target.upload(device: 1)
        target.upload(device: 1, scan: 2)
        #expect(target.rules == [], "a photo may be uploaded twice")
        target.upload(device: 2)
        #expect(target.rules == [.jobUnique])
    }

    @Test func `an event, a status and results name the job that was asked for`() {
        var target = TriedTarget()
        target.upload()
        let stream = target.open()
        target.send(stream, "progress", id: "1-progress", #"{"jobId":"other"}"#)
        target.send(stream, "progress", id: "2-progress", #"{"jobId":"other"}"#)
        #expect(target.rules == [.jobAddressed], "once a stream")
        target.exchange("GET", "/v3/jobs/scans/j", 200, #"{"data":{"jobId":"k","status":"processing"}}"#)
        target.exchange("GET", "/v3/jobs/scans/j/results", 200, Self.results([], job: "k"))
        #expect(target.rules == [.jobAddressed, .jobAddressed, .jobAddressed])
    }

    // MARK: Streams

    @Test func `what came before the last id does not come again`() {
        var target = TriedTarget()
        target.upload()
        let first = target.open()
        target.play(first, to: 4)
        let second = target.open(after: "3000-progress")
        target.play(second, from: 3, to: 5)
        #expect(target.rules == [.resume])
        #expect(target.broken[0].text.contains("came again"))
    }

    @Test func `two copies of a book are two events, and one of them does not come again`() {
        func rules(id: String) -> [TargetRule] {
            var target = TriedTarget()
            target.upload()
            let first = target.open()
            target.send(first, "result", id: "1000-result", #"{"title":"Emma","author":"Jane Austen"}"#)
            let second = target.open(after: "1000-result")
            target.send(second, "result", id: id, #"{"title":"Emma","author":"Jane Austen"}"#)
            return target.rules
        }
        #expect(rules(id: "2000-result") == [])
        #expect(rules(id: "1000-result") == [.resume])
    }

    @Test func `an event with another id is known by its data`() {
        var target = TriedTarget { $0.hasRisingIDs = false }
        target.upload()
        let first = target.open()
        target.play(first, to: 2)
        let second = target.open(after: "2000-progress")
        target.send(second, "progress", id: "7777-progress", #"{"jobId":"j","processedCount":1}"#)
        #expect(target.rules == [.resume])
    }

    @Test func `no event after the last id is skipped`() {
        var target = TriedTarget()
        target.upload()
        let (witness, first) = (target.open(), target.open())
        target.play(first, to: 1)
        target.play(witness, to: 4)
        let second = target.open(after: "2000-progress")
        target.play(second, from: 4, to: 5)
        #expect(target.rules == [.resume])
        #expect(target.broken[0].text.hasPrefix("1 of the events after"))
    }

    @Test func `beyond the buffer, and where it repeats itself, a target owes nothing`() {
        var late = TriedTarget()
        late.upload()
        late.play(late.open(), to: 3)
        late.wait(.seconds(61))
        late.play(late.open(after: "3000-progress"), from: 1, to: 4)
        #expect(late.rules == [])
        var repeating = TriedTarget()
        repeating.upload()
        let first = repeating.open()
        for number in 1...3 { repeating.send(first, "progress", id: "\(number)-progress", #"{"p":1}"#) }
        repeating.send(repeating.open(after: "3-progress"), "progress", id: "4-progress", #"{"p":1}"#)
        #expect(repeating.rules == [])
    }

    @Test(arguments: [
        ("7-progress", "1000", "no time and type"), ("7-progress", "x-progress", "no time and type"),
        ("7-progress", "6-progress", "goes back by 1 ms"),
    ])
    func `an id has the contract's form and does not go back`(first: String, id: String, text: String) {
        var target = TriedTarget()
        target.upload()
        let stream = target.open()
        target.send(stream, "progress", id: first, #"{"p":1}"#)
        #expect(target.rules == [])
        target.send(stream, "progress", id: id, #"{"p":2}"#)
        #expect(target.rules == [.ids] && target.broken[0].text.contains(text))
    }

    @Test func `an id is of one event`() {
        var target = TriedTarget()
        target.upload()
        let stream = target.open()
        target.send(stream, "progress", id: "7-progress", #"{"p":1}"#)
        target.send(stream, "progress", id: "7-progress", #"{"p":2}"#)
        #expect(target.rules == [], "two events of one millisecond")
        target.wait(.seconds(2))
        target.send(stream, "progress", id: "7-progress", #"{"p":3}"#)
        #expect(target.rules == [.ids])
        let next = target.open()
        target.complete(next, id: "7-progress")
        #expect(target.rules == [.ids, .ids] && target.broken[1].text.contains("of another event"))
    }

    @Test func `a job ends once, and in time`() {
        var target = TriedTarget { $0.jobMax = .seconds(10) }
        target.upload()
        let stream = target.open()
        target.complete(stream)
        target.complete(stream)
        #expect(target.rules == [], "a repetition")
        target.complete(stream, books: "null", id: "90001-completed")
        #expect(target.rules == [.terminal])
        var chatty = TriedTarget()
        chatty.upload()
        let other = chatty.open()
        chatty.complete(other)
        chatty.send(other, "ping", id: nil, "{}")
        #expect(chatty.rules == [])
        chatty.send(other, "progress", id: "90002-progress", "{}")
        #expect(chatty.rules == [.terminal])
        var slow = TriedTarget { $0.jobMax = .seconds(10) }
        slow.upload()
        slow.wait(.seconds(9))
        _ = slow.open()
        #expect(slow.rules == [])
        slow.wait(.seconds(2))
        _ = slow.open()
        #expect(slow.rules == [.terminal])
    }

    @Test func `a dialect with two terminal events may send two`() {
        var target = TriedTarget { $0.terminalsMax = 2 }
        target.upload()
        let stream = target.open()
        target.complete(stream)
        target.complete(stream, books: "null", id: "90001-final")
        #expect(target.rules == [])
        target.complete(stream, books: "{}", id: "90002-final")
        #expect(target.rules == [.terminal])
    }

    // MARK: Results and statuses

    @Test(arguments: [
        ([Self.book], "1 book in place of 2"),
        ([Self.book, Self.book.replacing("Solaris", with: "Solar")], "no book"),
        ([Self.other, Self.book.replacing("Solaris", with: "Solar")], "with the ISBN"),
        ([Self.other, Self.book.replacing("success", with: "pending")], "pending now"),
    ])
    func `results have the books of the completed event`(books: [String], text: String) {
        var target = TriedTarget()
        target.upload()
        target.complete(target.open(), books: "[\(Self.book),\(Self.other)]")
        target.exchange("GET", "/v3/jobs/scans/j/results", 200, Self.results(books))
        #expect(target.rules == [.resultsAgree])
        #expect(target.broken.first?.text.contains(text) == true, "\(target.broken)")
    }

    @Test func `a completed event says where its books are`() {
        var target = TriedTarget()
        target.upload()
        target.send(target.open(), "completed", id: "7-completed", #"{"resultsUrl":"/r"}"#)
        #expect(target.rules == [])
        target.send(target.open(), "completed", id: "7-completed", #"{"jobId":"j"}"#)
        #expect(target.rules == [.resultsAgree])
    }

    @Test func `two copies on a shelf are two books`() {
        var target = TriedTarget()
        target.upload()
        target.complete(target.open(), books: "[\(Self.book),\(Self.book)]")
        target.exchange("GET", "/v3/jobs/scans/j/results", 200, Self.results([Self.book, Self.book]))
        #expect(target.rules == [])
        target.exchange("GET", "/v3/jobs/scans/j/results", 200, Self.results([Self.book]))
        #expect(target.rules == [.resultsAgree])
    }

    @Test func `the results of a completed job are there until it is deleted`() {
        var target = TriedTarget()
        target.upload()
        target.exchange("GET", "/v3/jobs/scans/j/results", 404)
        target.complete(target.open())
        target.exchange("GET", "/v3/jobs/scans/j/results", 404)
        #expect(target.rules.filter { $0 != .errorForm } == [.resultsAgree])
    }

    @Test func `a status agrees with the stream and the results`() {
        var target = TriedTarget()
        target.upload()
        target.complete(target.open())
        let processing = #"{"data":{"jobId":"j","status":"processing"}}"#
        target.exchange("GET", "/v3/jobs/scans/j", 200, processing)
        #expect(target.rules == [], "it may not know yet")
        target.wait(.seconds(2))
        target.exchange("GET", "/v3/jobs/scans/j", 200, processing)
        #expect(target.rules == [.statusAgrees])
        var early = TriedTarget()
        early.upload()
        early.exchange("GET", "/v3/jobs/scans/j", 200, #"{"data":{"status":"completed"}}"#)
        early.exchange("GET", "/v3/jobs/scans/j/results", 409)
        #expect(early.rules.filter { $0 != .errorForm } == [.statusAgrees])
    }

    // MARK: Access

    @Test func `nothing can be read of a job after its DELETE`() {
        var target = TriedTarget()
        target.upload()
        target.exchange("DELETE", "/v3/jobs/scans/j/cleanup", 204)
        target.exchange("GET", "/v3/jobs/scans/j/results", 200, Self.results([]))
        #expect(target.rules == [], "it may not know yet")
        target.wait(.seconds(2))
        target.exchange("GET", "/v3/jobs/scans/j/results", 200, Self.results([]))
        target.exchange("DELETE", "/v3/jobs/scans/j/cleanup", 204)
        #expect(target.rules == [.cleanup])
    }

    @Test func `a photo that is uploaded again may get its job again`() {
        var target = TriedTarget()
        target.upload()
        target.exchange("DELETE", "/v3/jobs/scans/j/cleanup", 204)
        target.wait(.seconds(3))
        target.upload()
        target.exchange("GET", "/v3/jobs/scans/j/results", 200, Self.results([]))
        #expect(target.rules == [])
    }

    private static let unauthorized =
        #"{"success":false,"type":"t","title":"T","status":401,"code":"INVALID_TOKEN","retryable":false}"#

    @Test func `a token is good for its lifetime`() {
        var target = TriedTarget()
        target.upload(token: "t")
        target.exchange("GET", "/v3/jobs/scans/j/results", 401, Self.unauthorized, token: "other")
        #expect(target.rules == [])
        target.exchange("GET", "/v3/jobs/scans/j/results", 401, Self.unauthorized)
        #expect(target.rules == [.auth])
        var old = TriedTarget()
        old.upload(token: "t")
        old.wait(.hours(2))
        old.exchange("GET", "/v3/jobs/scans/j/results", 401, Self.unauthorized)
        #expect(old.rules == [])
    }

    @Test(arguments: [(["application/json"], 0), (["text/plain"], 1), ([], 0)])
    func `an answer has one content type`(others: [String], count: Int) {
        var target = TriedTarget()
        let id = target.ask("POST", "/v3/jobs/scans", token: nil)
        target.answer(
            id, 202, #"{"success":true,"data":{"jobId":"j","authToken":"t"}}"#,
            others: others.map { HeaderField("content-type", $0) })
        #expect(target.rules == [])
        #expect(target.findings.map(\.path) == Array(repeating: "headers.content-type", count: count))
        #expect(target.findings.allSatisfy { $0.excerpt == "application/json, text/plain" })
    }

    @Test func `a job whose upload gave no token needs none`() {
        var target = TriedTarget()
        target.exchange(
            "POST", "/v3/jobs/scans", 202, #"{"success":true,"data":{"jobId":"j"}}"#, token: nil)
        target.exchange("GET", "/v3/jobs/scans/j/results", 401, Self.unauthorized, token: "guessed")
        #expect(target.rules == [])
        target.exchange("GET", "/v3/jobs/scans/j/results", 401, Self.unauthorized, token: nil)
        #expect(target.rules == [.auth])
    }

    @Test(arguments: [
        ("1970-01-01T00:00:01Z", 0), ("1969-12-31T23:51:00Z", 0), ("1969-12-31T17:00:00Z", 1), ("1970", 1),
    ])
    func `what a target offers is not over yet`(expiry: String, count: Int) {
        var target = TriedTarget()
        target.upload()
        let stream = target.open()
        target.send(
            stream, "completed", id: "1-completed", #"{"jobId":"j","books":[],"expiresAt":"\#(expiry)"}"#)
        #expect(target.rules == [TargetRule](repeating: .times, count: count))
    }

    // MARK: Errors and waits

    private static func problem(_ status: Int, wait: String = "") -> String {
        #"{"success":false,"type":"t","title":"T","status":\#(status),"code":"C","retryable":true\#(wait)}"#
    }

    @Test(arguments: [
        (429, Self.problem(429), nil, "no wait is given"),
        (429, Self.problem(429, wait: #","retryAfterMs":90000"#), "30", "the body asks for 90000 ms"),
        (429, Self.problem(429), "1200000", "Retry-After asks for 1200000000 ms"),
        (429, Self.problem(429), "soon", "Retry-After is"),
        (503, Self.problem(503, wait: #","retryAfterMs":-5"#), nil, "the body asks for a wait of"),
    ])
    func `a wait is given, sane and one`(status: Int, body: String, header: String?, text: String) {
        var target = TriedTarget()
        target.exchange("POST", "/v3/jobs/scans", status, body, retryAfter: header)
        #expect(target.rules == [.wait])
        #expect(target.broken.first?.text.contains(text) == true, "\(target.broken)")
    }

    @Test(arguments: [
        (429, Self.problem(429, wait: #","retryAfterMs":29400"#), "30"), (503, Self.problem(503), nil),
        (429, Self.problem(429, wait: #","retryAfterMs":60000"#), "Thu, 01 Jan 1970 00:01:03 GMT"),
    ])
    func `a wait may be rounded, a date, or not there`(status: Int, body: String, header: String?) {
        var target = TriedTarget()
        target.exchange("POST", "/v3/jobs/scans", status, body, retryAfter: header)
        #expect(target.rules == [])
    }

    @Test(arguments: [
        ("{}", "`success` is not false"), (Self.problem(500), "`status` is not 404"),
        (Self.problem(404).replacing(#""code":"C","#, with: ""), "`code` is not a string"),
        (Self.problem(404).replacing(#","retryable":true"#, with: ""), "`retryable` is not a Boolean"),
        ("<html>", "not a JSON object"),
    ])
    func `an error has the contract's form`(body: String, text: String) {
        var target = TriedTarget()
        target.exchange("GET", "/v3/jobs/scans/j", 404, body, type: "text/html")
        #expect(target.rules == [.errorForm])
        #expect(target.broken.first?.text.contains(text) == true, "\(target.broken)")
    }

    @Test func `an error of v2 has another form, and one of the path has none`() {
        var target = TriedTarget()
        target.exchange(
            "GET", "/api/v2/scans/scan_j/results", 404,
            #"{"success":false,"error":{"code":"NOT_FOUND","message":"m"}}"#)
        target.exchange("GET", "/v3/jobs/scans/j", 502, "<html>", type: "text/html")
        #expect(target.rules == [])
        target.exchange("GET", "/api/v2/scans/scan_j/results", 404, Self.problem(404))
        #expect(target.rules == [.errorForm])
    }

    @Test func `a stated limit is kept from both sides`() {
        var target = TriedTarget { $0.limit = Quota(requests: 2, window: .minutes(1)) }
        let limited = Self.problem(429, wait: #","retryAfterMs":1000"#)
        target.upload(job: "a")
        target.upload(job: "b", scan: 2)
        target.exchange("POST", "/v3/jobs/scans", 429, limited)
        #expect(target.rules == [])
        target.exchange("POST", "/v3/jobs/scans", 429, limited, device: 2)
        #expect(target.rules == [.limit])
        target.upload(job: "c", scan: 3)
        #expect(target.rules == [.limit, .limit])
        target.wait(.minutes(2))
        target.upload(job: "d", scan: 4)
        #expect(target.rules.count == 2)
    }

    @Test func `uploads are in a window for the time that they may take`() {
        let limited = Self.problem(429, wait: #","retryAfterMs":1000"#)
        let accepted = #"{"success":true,"data":{"jobId":"j","authToken":"t"}}"#
        // The first one was taken when it was sent, and has left the window when the third is answered.
        var early = TriedTarget { $0.limit = Quota(requests: 2, window: .seconds(10)) }
        for seconds in [Int64(3), 0, 7] {
            let id = early.ask("POST", "/v3/jobs/scans", token: nil)
            early.wait(.seconds(seconds))
            early.answer(id, 202, accepted)
        }
        #expect(early.rules == [])
        // It was taken when its answer came, and is still in it.
        var late = TriedTarget { $0.limit = Quota(requests: 1, window: .seconds(10)) }
        let first = late.ask("POST", "/v3/jobs/scans", token: nil)
        late.wait(.seconds(3))
        late.answer(first, 202, accepted)
        late.wait(.seconds(9))
        late.exchange("POST", "/v3/jobs/scans", 429, limited)
        #expect(late.rules == [])
        late.wait(.seconds(2))
        late.exchange("POST", "/v3/jobs/scans", 429, limited)
        #expect(late.rules == [.limit])
    }

    @Test(arguments: [(6_000, 0), (8_900, 0), (9_500, 1), (20_000, 1)])
    func `a wait is no longer than the limit`(wait: Int, count: Int) {
        var target = TriedTarget { $0.limit = Quota(requests: 2, window: .seconds(10)) }
        for (job, scan) in [("a", UInt32(1)), ("b", 2), ("c", 3)] {
            target.upload(job: job, scan: scan)
            target.wait(.seconds(scan == 1 ? 9 : 1))
        }
        // The second one leaves the window 7 s from now.
        target.wait(.seconds(1))
        target.exchange("POST", "/v3/jobs/scans", 429, Self.problem(429, wait: #","retryAfterMs":\#(wait)"#))
        #expect(target.rules == [TargetRule](repeating: .limit, count: count))
    }

    @Test func `an upload without an answer may have been taken`() {
        var target = TriedTarget { $0.limit = Quota(requests: 2, window: .minutes(1)) }
        target.upload(job: "a")
        _ = target.ask("POST", "/v3/jobs/scans", token: nil)
        target.exchange("POST", "/v3/jobs/scans", 429, Self.problem(429, wait: #","retryAfterMs":1000"#))
        #expect(target.rules == [])
    }

    // MARK: Severity

    @Test func `a lenient rule makes a finding`() {
        var target = TriedTarget { $0.lenient = [.ids] }
        target.upload()
        target.send(target.open(), "progress", id: "7", "{}")
        #expect(target.rules == [])
        #expect(target.findings.map(\.path).filter { $0.hasPrefix("target.") } == ["target.ids"])
        #expect(target.findings.allSatisfy { $0.isAdditional }, "it does not fail a run")
    }
}
