import JSON
import SimTestSupport
import Talaria
import Testing

@Suite struct EventTests {
    @Test(arguments: [
        (#"{"jobId":"j"}"#, CompletedReading.InlineBooks.absent),
        (#"{"jobId":"j","books":null}"#, .null),
        (#"{"jobId":"j","books":[]}"#, .empty),
        (#"{"jobId":"j","books":[{"title":null,"author":"x"}]}"#, .undecodable),
        (#"{"jobId":"j","books":"many"}"#, .undecodable),
    ])
    func `the condition of the inline books is told apart`(data: String, inline: CompletedReading.InlineBooks)
    {
        guard case .completed(let reading) = JobEvent(name: "completed", data: data) else {
            Issue.record("not read as completed")
            return
        }
        #expect(reading.inline == inline)
    }

    @Test func `inline books are read, with an enrichment status nobody has heard of`() {
        let data = #"{"books":[{"title":"T","author":"A","enrichmentStatus":"quantum"}],"resultsUrl":"/r"}"#
        guard case .completed(let reading) = JobEvent(name: "complete", data: data) else {
            Issue.record("the alias `complete` is not understood")
            return
        }
        let book = Book(
            title: "T", author: "A", isbn: nil, confidence: nil, enrichmentStatus: .unknown("quantum"),
            coverUrl: nil)
        #expect(reading.inline == .books([book]))
        #expect(reading.resultsUrl == "/r")
    }

    @Test func `an error without retryable is read and left open`() {
        #expect(
            JobEvent(name: "error", data: #"{"code":"NO_TEXT_DETECTED","message":"m"}"#)
                == .error(
                    JSON.decode(ErrorData.self, from: #"{"code":"NO_TEXT_DETECTED","message":"m"}"#)
                        ?? ErrorData(jobId: "", code: "", message: "", retryable: true)))
    }

    @Test func `unknown names and bad data are said so`() {
        #expect(JobEvent(name: "stopped", data: "{}") == .unknown(name: "stopped"))
        #expect(JobEvent(name: "progress", data: "{") == .malformed(.progress))
        #expect(JobEvent(name: "ping", data: "not json") == .ping)
    }

    @Test func `a canceled job has failed for good, whatever else its event says`() {
        var canceled = ErrorData(jobId: "", code: "CANCELED", message: "", retryable: false)
        canceled.message = nil
        for (data, job) in [("{}", nil), (#"{"jobId":"j","retryable":true}"#, "j"), ("no JSON", nil)] {
            canceled.jobId = job
            #expect(JobEvent(name: "canceled", data: data) == .error(canceled))
        }
    }

    @Test(arguments: [("/9j/AAAA", []), ("iVBORw0K", ["image"]), ("", ["image"])])
    func `a preview is a JPEG`(_ image: String, _ found: [String]) {
        var notes = ContractNotes()
        _ = JobEvent(
            name: "segmented", bytes: Array(#"{"image":"\#(image)","totalBooks":2}"#.utf8), into: &notes)
        #expect(notes.notes.map(\.path) == found)
    }

    @Test func `no book has a number above that of all books`() {
        var notes = ContractNotes()
        _ = JobEvent(name: "book_progress", bytes: Array(#"{"current":3,"total":2}"#.utf8), into: &notes)
        #expect(notes.notes.map(\.path) == ["current"])
    }

    @Test func `only completed and error end a job`() {
        #expect(EventKind.allCases.filter(\.isTerminal) == [.completed, .error])
    }
}
