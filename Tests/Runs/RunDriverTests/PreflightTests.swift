import CurlLoop
import SimBase
import Testing
import Wire

@testable import RunDriver

/// What the answer of a target to the first request says about it.
@Suite struct PreflightTests {
    private static func answer(_ status: Int, _ fields: [HeaderField]) -> PreflightAnswer {
        PreflightAnswer(
            head: ResponseHead(status: status, headers: HeaderFields(fields)), body: "", isHTTP2: false)
    }

    @Test(arguments: [
        "application/json", "application/problem+json; charset=utf-8", "text/event-stream",
        "Text/Event-Stream ",
    ]) func `a problem, other JSON and a stream are answers of Talaria`(type: String) {
        let answer = Self.answer(404, [HeaderField("Content-Type", type)])
        #expect(answer.contradiction(takesAnyError: false) == nil)
    }

    @Test(arguments: [
        (200, "it is not Talaria (expected JSON, got status 200, text/html)"),
        (401, "it requires credentials (status 401, text/html)"),
        (502, "its gateway cannot reach the backend (status 502, text/html)"),
        (301, "it redirects to /login (status 301)"),
    ]) func `anything else is named`(status: Int, text: String) {
        let fields = [HeaderField("Content-Type", "text/html"), HeaderField("Location", "/login")]
        #expect(Self.answer(status, fields).contradiction(takesAnyError: false)?.text == text)
    }

    @Test(arguments: [(401, true), (404, true), (200, false), (407, false), (502, false), (301, false)])
    func `errors of a lenient scenario may have any form`(status: Int, isAccepted: Bool) {
        let answer = Self.answer(status, [HeaderField("Content-Type", "text/html")])
        #expect((answer.contradiction(takesAnyError: true) == nil) == isAccepted)
        #expect(answer.contradiction(takesAnyError: false) != nil)
    }
}
