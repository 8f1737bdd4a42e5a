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
        #expect(Self.answer(404, [HeaderField("Content-Type", type)]).contradiction == nil)
    }

    @Test(arguments: [
        (200, "it is not Talaria (expected JSON, got status 200, text/html)"),
        (401, "it requires credentials (status 401, text/html)"),
        (502, "its gateway cannot reach the backend (status 502, text/html)"),
        (301, "it redirects to /login (status 301)"),
    ]) func `anything else is named`(status: Int, text: String) {
        let fields = [HeaderField("Content-Type", "text/html"), HeaderField("Location", "/login")]
        #expect(Self.answer(status, fields).contradiction?.text == text)
    }
}
