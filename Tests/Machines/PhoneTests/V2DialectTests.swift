import Observations
import SimBase
import Talaria
import Testing

@testable import Phone

/// A client of v2 where the documents of its server disagree (Docs/contract.md sections 3.1 and 7).
struct V2DialectTests {
    private static func phone(_ change: (inout ClientProfile) -> Void = { _ in }) -> TestPhone {
        var profile = ClientProfile.contract
        profile.journey = .bookshelfScan
        change(&profile)
        return TestPhone(profile: profile)
    }

    private static func accepted(
        token: String = #""authToken":"t0ken""#, success: String = #","success":true"#,
        stream: String = "/api/v2/scans/scan_1/stream"
    ) -> [UInt8] {
        Array(#"{"data":{"jobId":"scan_1",\#(token),"sseUrl":"\#(stream)"}\#(success)}"#.utf8)
    }

    private static func stream(_ profile: (inout ClientProfile) -> Void, _ answer: [UInt8]) -> AppRequest? {
        var phone = Self.phone(profile)
        phone.capture(1)
        phone.answer(.upload, 202, answer)
        return phone.request(.stream)
    }

    private static func authorization(_ request: AppRequest?) -> String? {
        request?.headers.first { $0.name == HeaderName.authorization }?.value
    }

    @Test func `authToken comes before token, and token will do`() {
        let both = Self.stream({ _ in }, Self.accepted(token: #""authToken":"new","token":"old""#))
        #expect(Self.authorization(both) == "Bearer new")
        #expect(
            Self.authorization(Self.stream({ _ in }, Self.accepted(token: #""token":"old""#))) == "Bearer old"
        )
    }

    @Test func `an answer without success is an answer`() {
        #expect(Self.stream({ _ in }, Self.accepted(success: "")) != nil)
        #expect(Self.stream({ _ in }, Self.accepted(success: #","success":false"#)) == nil)
        #expect(Self.stream({ _ in }, Self.accepted(success: #","success":"yes""#)) == nil)
        var notes = ContractNotes()
        let books = Array(#"{"data":{"books":[{"title":"Emma","author":"Jane Austen"}]}}"#.utf8)
        #expect(ResultsReading.readV2(books, into: &notes)?.books.count == 1)
        let rows = Array(
            #"{"data":{"booksCreated":1,"booksUpdated":0,"duplicatesSkipped":0,"enrichmentFailed":0}}"#.utf8)
        #expect(ResultsReading.readRows(rows, into: &notes)?.rows?.total == 1)
        #expect(notes.notes.contains { $0.path == "success" })
        #expect(notes.notes.allSatisfy { !$0.isDecisive })
    }

    @Test func `a stream has its token in the header or in the query`() {
        let header = Self.stream({ _ in }, Self.accepted())
        #expect(header?.target == "/api/v2/scans/scan_1/stream")
        #expect(Self.authorization(header) == "Bearer t0ken")
        let query = Self.stream({ $0.token.stream = .query }, Self.accepted())
        #expect(query?.target == "/api/v2/scans/scan_1/stream?token=t0ken")
        #expect(Self.authorization(query) == nil)
        let joined = Self.stream({ $0.token.stream = .query }, Self.accepted(stream: "/s?a=b"))
        #expect(joined?.target == "/s?a=b&token=t0ken")
        let escaped = Self.stream({ $0.token.stream = .query }, Self.accepted(token: #""token":"a+b/c=""#))
        #expect(escaped?.target.hasSuffix("?token=a%2Bb%2Fc%3D") == true)
    }

    @Test func `an open circuit is waited out for as long as it says`() {
        var phone = Self.phone()
        phone.capture(1)
        let body =
            #"{"success":false,"error":{"code":"CIRCUIT_OPEN","message":"m","retryable":true,"details":{"retryAfterMs":45000}}}"#
        phone.answer(.upload, 503, Array(body.utf8))
        phone.pass(.milliseconds(44_999))
        #expect(phone.request(.upload) == nil)
        phone.pass(.milliseconds(1))
        #expect(phone.request(.upload) != nil)
    }
}
