import JSON
import Testing

@testable import Talaria

/// A client needs little: what else is missing or odd is noted, and the answer is used.
@Suite struct LeanReadingTests {
    private static let whole =
        #"{"success":true,"data":{"jobId":"j","authToken":"t","sseUrl":"/s","statusUrl":"/t"},"#
        + #""_links":{"self":{"href":"/t"},"stream":{"href":"/s"},"cancel":{"href":"/t"}},"#
        + #""metadata":{"timestamp":"2026-01-01T00:00:00.000Z","requestId":"r"}}"#

    private func upload(_ text: String) -> (UploadAccepted?, [ContractNotes.Note]) {
        var notes = ContractNotes()
        let read = UploadAccepted.read(Array(text.utf8), into: &notes)
        return (read, notes.notes)
    }

    private func note(
        _ path: String, _ expected: String, _ seen: String, _ excerpt: String? = nil, decisive: Bool = false
    ) -> ContractNotes.Note {
        .init(path: path, expected: expected, seen: seen, excerpt: excerpt, isDecisive: decisive)
    }

    @Test func `a whole answer has nothing to note`() {
        let (read, notes) = self.upload(Self.whole)
        #expect(read?.data.jobId == "j" && read?.data.authToken == "t" && notes.isEmpty)
        // The same with a blank, which is not plain.
        let (lean, leanNotes) = self.upload(Self.whole + " ")
        #expect(lean?.data == read?.data && leanNotes.isEmpty)
    }

    @Test(arguments: [
        (#""timestamp":"2026-01-01T00:00:00.000Z","#, "", "metadata.timestamp", "a string", "missing"),
        (#""2026-01-01T00:00:00.000Z""#, "17", "metadata.timestamp", "a string", "a number"),
        (#""2026-01-01T00:00:00.000Z""#, "null", "metadata.timestamp", "a string", "null"),
        (#""requestId":"r""#, #""requestId":[]"#, "metadata.requestId", "a string", "an array"),
        (#""self":{"href":"/t"},"#, "", "_links.self", "an object", "missing"),
        (#""stream":{"href":"/s"}"#, #""stream":{}"#, "_links.stream.href", "a string", "missing"),
        (#""cancel":{"href":"/t"}"#, #""cancel":null"#, "_links.cancel", "an object", "null"),
        (#""authToken":"t""#, #""authToken":7"#, "data.authToken", "a string", "a number"),
        (#""statusUrl":"/t""#, #""statusUrl":true"#, "data.statusUrl", "a string", "true or false"),
    ])
    func `an odd optional field is noted, and the answer is used`(
        from: String, to: String, path: String, expected: String, seen: String
    ) {
        let text = Self.whole.replacing(from, with: to)
        #expect(text != Self.whole)
        let (read, notes) = self.upload(text)
        #expect(read?.data.jobId == "j" && read?.data.sseUrl == "/s")
        #expect(notes.map(\.path) == [path])
        #expect(notes.map(\.expected) == [expected] && notes.map(\.seen) == [seen])
        #expect(notes.allSatisfy { !$0.isDecisive })
    }

    @Test(arguments: [
        #"{"success":true,"data":{"jobId":"j","sseUrl":"/s"}}"#,
        #"{"success":true,"data":{"jobId":"j","sseUrl":"/s"},"_links":{},"metadata":{}}"#,
        #"{"success":true,"data":{"jobId":"j","sseUrl":"/s","authToken":null},"_links":7,"metadata":[]}"#,
    ])
    func `three fields are enough`(text: String) {
        let (read, notes) = self.upload(text)
        #expect(read?.data.jobId == "j" && read?.data.authToken == nil)
        #expect(!notes.isEmpty && notes.allSatisfy { !$0.isDecisive })
    }

    @Test func `a token of the wrong type is no token, and is not shown`() {
        let (read, notes) = self.upload(Self.whole.replacing(#""t""#, with: "123456789"))
        #expect(read != nil && read?.data.authToken == nil)
        #expect(notes == [self.note("data.authToken", "a string", "a number")])
    }

    @Test(arguments: [
        (#""success":true,"#, "", "success", "missing"),
        (#""success":true"#, #""success":"yes""#, "success", "a string"),
        (#""jobId":"j","#, "", "data.jobId", "missing"),
        (#""jobId":"j""#, #""jobId":null"#, "data.jobId", "null"),
        (#""jobId":"j""#, #""jobId":7"#, "data.jobId", "a number"),
        (#""sseUrl":"/s","#, "", "data.sseUrl", "missing"),
        (#""sseUrl":"/s""#, #""sseUrl":{}"#, "data.sseUrl", "an object"),
    ])
    func `a field that a client needs decides`(from: String, to: String, path: String, seen: String) {
        let (read, notes) = self.upload(Self.whole.replacing(from, with: to))
        #expect(read == nil)
        #expect(notes.map(\.path) == [path] && notes.map(\.seen) == [seen])
        #expect(notes.allSatisfy { $0.isDecisive })
    }

    @Test(arguments: [
        ("", "empty"), ("[]", "an array"), ("<html>\"x\"", "not JSON"), ("{\"a\":", "not JSON"),
    ])
    func `a body that is no object says what it is`(text: String, seen: String) {
        let (read, notes) = self.upload(text)
        #expect(read == nil)
        #expect(notes.map(\.path) == ["body"] && notes.map(\.seen) == [seen])
        #expect(notes.allSatisfy { !($0.excerpt ?? "").contains("\"") }, "a string may be a token")
    }

    // MARK: Results and books

    private func results(_ data: String, _ rest: String = "") -> (ResultsReading?, [ContractNotes.Note]) {
        var notes = ContractNotes()
        let text = #"{"success":true,"data":{\#(data)}\#(rest)}"#
        return (ResultsReading.read(Array(text.utf8), .data, into: &notes), notes.notes)
    }

    private static let job = #""jobId":"j","status":"completed","#

    @Test(arguments: [
        (#""isbn":7"#, "data.results[].isbn", "a number"),
        (#""confidence":"0.85""#, "data.results[].confidence", "a string"),
        (#""confidence":85"#, "data.results[].confidence", "another number"),
        (#""enrichmentStatus":"quantum""#, "data.results[].enrichmentStatus", "another one"),
        (#""enrichmentStatus":[]"#, "data.results[].enrichmentStatus", "an array"),
        (#""coverUrl":{}"#, "data.results[].coverUrl", "an object"),
    ])
    func `an odd book is a book`(field: String, path: String, seen: String) {
        let book = #"{"title":"T","author":"A",\#(field)}"#
        let (read, notes) = self.results(Self.job + #""results":[\#(book),\#(book)]"#)
        #expect(read?.books.count == 2)
        #expect(notes.map(\.path) == [path] && notes.map(\.seen) == [seen])
        #expect(notes.map(\.count) == [2] && notes.allSatisfy { !$0.isDecisive })
    }

    @Test func `a book without its title spoils the answer, by name`() {
        let (read, notes) = self.results(
            Self.job + #""results":[{"title":"T","author":"A"},{"title":null,"author":"A"}]"#)
        #expect(read == nil)
        #expect(
            notes == [self.note("data.results[].title", "a string", "null", decisive: true)])
    }

    @Test func `truncated results and another status are noted`() {
        let (read, notes) = self.results(
            #""jobId":"j","status":"processing","results":[]"#, #","metadata":{"truncated":true}"#)
        #expect(read?.books.isEmpty == true)
        #expect(notes.map(\.path) == ["data.status", "metadata.truncated"])
        #expect(notes.map(\.excerpt) == ["processing", nil])
    }

    @Test func `results under another key say where they were looked for`() {
        let (read, notes) = self.results(Self.job + #""books":[]"#)
        #expect(read == nil)
        #expect(
            notes == [
                self.note("data.results", "an array of books", "missing", decisive: true),
                self.note("data.books", "a field of the contract", "an unknown field"),
            ])
    }

    // MARK: Events and problems

    @Test(arguments: [
        ("progress", #"{"type":"progress","jobId":"j","progress":"half"}"#, ["progress"]),
        ("progress", #"{"type":7,"message":5}"#, ["type", "message", "jobId"]),
        ("completed", #"{"jobId":7,"summary":[],"resultsUrl":{}}"#, ["jobId", "resultsUrl", "summary"]),
        ("completed", #"{"jobId":"j","summary":{"totalDetected":"5"}}"#, ["summary.totalDetected"]),
        ("error", #"{"type":"error","jobId":"j","code":7,"retryable":false}"#, ["code"]),
        ("enrichment_degraded", #"{"isbn":7}"#, ["jobId", "isbn", "type"]),
        ("progress", #"{"type":"progress","jobId":"j"}"#, []), ("ping", "whatever", ["body"]),
    ])
    func `an odd event is used`(name: String, data: String, paths: [String]) {
        var notes = ContractNotes()
        let event = JobEvent(name: name, bytes: Array(data.utf8), into: &notes)
        if case .malformed = event { Issue.record("\(data) was not used") }
        #expect(notes.notes.map(\.path) == paths && notes.notes.allSatisfy { !$0.isDecisive })
    }

    @Test(arguments: [
        ("progress", "{", "body"), ("error", "7", "body"), ("segmented", "{}", "image"),
        ("book_progress", #"{"current":1}"#, "total"),
    ])
    func `an event that cannot be used says why`(name: String, data: String, path: String) {
        var notes = ContractNotes()
        guard case .malformed = JobEvent(name: name, bytes: Array(data.utf8), into: &notes) else {
            Issue.record("\(data) was used")
            return
        }
        #expect(notes.notes.first?.path == path && notes.notes.first?.isDecisive == true)
    }

    @Test func `nothing is final because of a value that cannot be read`() {
        func retryable(_ member: String) -> Bool? {
            guard
                case .error(let error) = JobEvent(
                    name: "error", data: #"{"type":"error","jobId":"j","code":"X"\#(member)}"#)
            else { return nil }
            return error.retryable == true
        }
        #expect(retryable(#","retryable":"no""#) == true)
        #expect(retryable("") == false && retryable(#","retryable":null"#) == false)
    }

    @Test func `a problem is used as far as it goes`() {
        var notes = ContractNotes()
        let text = #"{"code":7,"retryable":true,"retryAfterMs":250,"status":"503","error":{"code":"BUSY"}}"#
        let problem = ProblemReading.read(Array(text.utf8), status: 503, into: &notes)
        #expect(problem.code == "BUSY" && problem.retryable == true && problem.retryAfterMs == 250)
        #expect(notes.notes.map(\.path) == ["code", "success", "status", "error", "type", "title", "detail"])
        var page = ContractNotes()
        #expect(ProblemReading.read(Array("<html>".utf8), status: 502, into: &page) == ProblemReading())
        #expect(page.notes == [self.note("body", "a problem body", "not JSON", "<html>")])
    }
}
