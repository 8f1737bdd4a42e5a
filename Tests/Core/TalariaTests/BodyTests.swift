import JSON
import SimBase
import SimTestSupport
import Talaria
import Testing

@Suite struct BodyTests {
    @Test func `the 202 body of the contract is read`() {
        let body = JSON.decode(
            UploadAccepted.self,
            from: """
                {"success": true,
                 "data": {"jobId": "abc-123", "authToken": "a1b2c3", "sseUrl": "/v3/jobs/scans/abc-123/stream",
                          "statusUrl": "/v3/jobs/scans/abc-123"},
                 "_links": {"self": {"href": "/v3/jobs/scans/abc-123"}, "stream": {"href": "/s"},
                            "cancel": {"href": "/c", "rel": "cancel", "method": "DELETE"}},
                 "metadata": {"timestamp": "2026-02-01T12:00:00.000Z", "requestId": "req-1"}, "status": "queued"}
                """)
        #expect(body?.success == true)
        #expect(
            body?.data
                == .init(
                    jobId: "abc-123", authToken: "a1b2c3", sseUrl: "/v3/jobs/scans/abc-123/stream",
                    statusUrl: "/v3/jobs/scans/abc-123"))
        #expect(body?._links?.cancel.method == "DELETE")
    }

    @Test func `a 202 body without token or links is still read`() {
        let body = JSON.decode(
            UploadAccepted.self, from: #"{"success":true,"data":{"jobId":"j","sseUrl":"/s"}}"#)
        #expect(body?.data == .init(jobId: "j", authToken: nil, sseUrl: "/s", statusUrl: nil))
    }

    @Test(arguments: [
        "", "<html></html>", "{}", "[]", "null", #"{"success":true}"#,
        #"{"success":true,"data":{"jobId":7}}"#,
        #"{"success":true,"data":{"jobId":"j","sseUrl":1}}"#,
    ])
    func `a body of another shape does not decode`(text: String) {
        #expect(JSON.decode(UploadAccepted.self, from: text) == nil)
    }

    @Test func `a deeply nested body does not decode and does not crash`() {
        let text = String(repeating: "[", count: 100_000)
        #expect(JSON.decode(UploadAccepted.self, from: text) == nil)
        #expect(JobEvent(name: "progress", data: text) == .malformed(.progress))
    }

    @Test func `results are written with sorted keys and plain slashes`() {
        let book = Book(
            title: "A/B", author: "C", isbn: nil, confidence: 0.95, enrichmentStatus: .reviewNeeded,
            coverUrl: nil)
        let text = String(decoding: JSON.encode(ResultsBody(jobId: "j", results: [book])), as: UTF8.self)
        #expect(
            text == #"{"data":{"jobId":"j","results":[{"author":"C","confidence":0.95,"#
                + #""enrichmentStatus":"review_needed","title":"A/B"}],"status":"completed"},"success":true}"#
        )
    }

    @Test func `a problem of the contract is read, and its number too`() {
        let problem = JSON.decode(
            Problem.self,
            from: """
                {"success": false, "type": "https://api.oooefam.net/errors/rate-limit-exceeded",
                 "title": "Rate Limit Exceeded", "status": 429, "detail": "Too many requests from device",
                 "instance": "/v3/jobs/scans", "code": "RATE_LIMIT_EXCEEDED", "retryable": true,
                 "retryAfterMs": 60000, "metadata": {"timestamp": "t", "requestId": "r"}}
                """)
        #expect(
            problem
                == Problem(
                    .rateLimitExceeded, detail: "Too many requests from device", instance: "/v3/jobs/scans",
                    retryAfterMs: 60_000, metadata: Metadata(timestamp: "t", requestId: "r")))
    }

    @Test func `every code has a title, a kebab type and an error status`() {
        for code in ProblemCode.allCases {
            #expect((400...599).contains(code.status))
            #expect(code.kebab.allSatisfy { $0.isLowercase || $0 == "-" })
        }
        #expect(ProblemCode.tokenExpired.title == "Token Expired")
    }

    @Test func `every error status has a code, the contract's own where it names one`() {
        for status in 400...599 {
            let code = ProblemCode(status: status)
            let isNamed = ProblemCode.allCases.contains { $0.status == status }
            #expect(
                isNamed ? code.status == status : code == (status < 500 ? .invalidRequest : .internalError))
        }
    }

    @Test func `a problem may be given another status and code`() {
        var problem = Problem(.circuitOpen, detail: "d", instance: nil, retryAfterMs: nil, metadata: nil)
        problem.replace(status: 422, code: "INVALID_IMAGE_SIZE")
        #expect(problem.type == "https://api.oooefam.net/errors/invalid-image-size")
        #expect(problem.title == "Invalid Image Size")
        #expect(problem.status == 422 && problem.code == "INVALID_IMAGE_SIZE")
        #expect(problem.retryable)
    }
}
