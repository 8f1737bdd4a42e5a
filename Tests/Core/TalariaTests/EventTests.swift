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
        #expect(JobEvent(name: "canceled", data: "{}") == .unknown(name: "canceled"))
        #expect(JobEvent(name: "progress", data: "{") == .malformed(.progress))
        #expect(JobEvent(name: "ping", data: "not json") == .ping)
    }

    @Test func `only completed and error end a job`() {
        #expect(EventKind.allCases.filter(\.isTerminal) == [.completed, .error])
    }
}
