import Observations
import Phone
import SimBase
import Talaria
import Testing

/// The exchange of the token of a job that is followed by WebSocket (Docs/contract.md section 2.5).
@Suite struct TokenTests {
    private static let wait = Interval.minutes(90)

    private static func profile(_ change: (inout ClientProfile) -> Void = { _ in }) -> ClientProfile {
        var profile = NamedProfile.contract.profile(with: [])
        profile.journey = .bookshelfScan
        profile.stream.transport = .websocket
        profile.stream.idleTimeout = .hours(24)
        profile.stream.connectTimeout = .hours(24)
        change(&profile)
        return profile
    }

    /// A phone that requests the WebSocket of its job; nothing answers it.
    private static func following(_ change: (inout ClientProfile) -> Void = { _ in }) -> TestPhone {
        var phone = TestPhone(profile: Self.profile(change))
        phone.capture(1)
        phone.answer(.upload, 202, V2Wording.accepted("scan_1"))
        return phone
    }

    private static func answer(_ phone: inout TestPhone, token: String, expiresIn: Int = 7_200) {
        phone.answer(.refresh, 200, V2Wording.success(#""token":"\#(token)","expiresIn":\#(expiresIn)"#))
    }

    private static func token(_ phone: TestPhone) -> String? { phone.record?.job?.authToken }

    @Test func `it is requested after 90 minutes, with the job and its token in the body alone`() {
        var phone = Self.following()
        phone.pass(Self.wait - .milliseconds(1))
        #expect(phone.request(.refresh) == nil)
        phone.pass(.milliseconds(1))
        let request = phone.request(.refresh)
        #expect(request?.method == "POST")
        #expect(request?.target == "/api/token/refresh")
        #expect(request?.body == .token(TokenRefresh(jobId: "scan_1", oldToken: "t")))
        #expect(request?.headers.contains { $0.name == "Authorization" } == false)
    }

    @Test func `the new one is durable, used from then on, and exchanged 30 minutes before its end`() {
        var phone = Self.following()
        phone.pass(Self.wait)
        Self.answer(&phone, token: "u", expiresIn: 3_600)
        #expect(phone.payloads.contains { if case .tokenExchanged("scan_1", _) = $0 { true } else { false } })
        #expect(Self.token(phone) == "u")
        phone.pass(.minutes(30) - .milliseconds(1))
        #expect(phone.request(.refresh) == nil)
        phone.pass(.milliseconds(1))
        #expect(phone.request(.refresh)?.body == .token(TokenRefresh(jobId: "scan_1", oldToken: "u")))
        #expect(phone.record?.attempts.refresh == 2)
        phone.fail(.stream, .reset)
        phone.pass(.minutes(1))
        #expect(phone.request(.stream)?.headers.contains { $0.value.hasSuffix("u") } == true)
    }

    @Test func `a job that is followed by an event stream keeps its token`() {
        var phone = Self.following { $0.stream.transport = .sse }
        phone.pass(.hours(3))
        #expect(phone.request(.refresh) == nil)
        var migrating = TestPhone(profile: NamedProfile.booksMigrating.profile())
        migrating.capture(1)
        migrating.answer(.upload, 202, V2Wording.accepted("scan_1"))
        migrating.pass(.hours(3))
        #expect(migrating.request(.refresh) == nil)
    }

    @Test func `a failed exchange is made again, four times`() {
        var phone = Self.following()
        phone.pass(Self.wait)
        for attempt in 1...5 {
            #expect(phone.record?.attempts.refresh == UInt32(attempt))
            phone.answer(.refresh, 503, V2Wording.error("API_ERROR"), type: "application/json")
            for _ in 0..<600 where attempt < 5 && phone.request(.refresh) == nil {
                phone.pass(.milliseconds(100))
            }
        }
        #expect(phone.request(.refresh) == nil)
        phone.pass(.hours(1))
        #expect(phone.request(.refresh) == nil)
        #expect(Self.token(phone) == "t")
        #expect(phone.request(.stream) != nil)
    }

    @Test func `a wait that the server states is kept`() {
        var phone = Self.following()
        phone.pass(Self.wait)
        phone.answer(
            .refresh, 429, V2Wording.error("RATE_LIMIT_EXCEEDED"), type: "application/json", retryAfter: "60")
        phone.pass(.seconds(59))
        #expect(phone.request(.refresh) == nil)
        phone.pass(.seconds(5))
        #expect(phone.request(.refresh) != nil)
    }

    @Test(arguments: [400, 401, 404]) func `a refusal ends nothing but the exchange`(status: Int) {
        var phone = Self.following()
        phone.pass(Self.wait)
        phone.answer(.refresh, status, V2Wording.error("UNAUTHORIZED"), type: "application/json")
        phone.pass(.hours(1))
        #expect(phone.request(.refresh) == nil)
        #expect(phone.request(.stream) != nil)
        #expect(phone.findings.isEmpty)
        #expect(!phone.payloads.contains { if case .badAnswer = $0 { true } else { false } })
    }

    @Test func `a request that showed the old token is made again with the new one`() {
        var phone = Self.following()
        phone.pass(Self.wait)
        Self.answer(&phone, token: "u")
        phone.answer(.stream, 401, V2Wording.error("UNAUTHORIZED"), type: "application/json")
        phone.pass(.seconds(5))
        #expect(phone.request(.stream)?.headers.contains { $0.value.hasSuffix("u") } == true)
        phone.answer(.stream, 401, V2Wording.error("UNAUTHORIZED"), type: "application/json")
        phone.pass(.seconds(5))
        #expect(phone.request(.upload) != nil)
    }

    @Test func `an answer without a token, or with one that no header can have, changes nothing`() {
        for members in ["", #""token":"a\r\nb","expiresIn":1"#] {
            var phone = Self.following()
            phone.pass(Self.wait)
            phone.answer(.refresh, 200, V2Wording.success(members))
            #expect(Self.token(phone) == "t")
            #expect(phone.findings.contains { $0.operation == .refresh && $0.isDecisive })
            phone.pass(.hours(1))
            #expect(phone.request(.refresh) == nil)
        }
    }

    @Test func `an answer that comes after the end of its job is not its business`() {
        var phone = Self.following()
        phone.pass(Self.wait)
        phone.answer(.stream, 404, V2Wording.error("NOT_FOUND"), type: "application/json")
        phone.pass(.seconds(5))
        phone.answer(.upload, 202, V2Wording.accepted("scan_2"))
        Self.answer(&phone, token: "u")
        #expect(Self.token(phone) == "t")
        phone.pass(Self.wait)
        #expect(phone.request(.refresh)?.body == .token(TokenRefresh(jobId: "scan_2", oldToken: "t")))
    }

    @Test func `a new process goes on where the old one was`() {
        var phone = Self.following()
        phone.pass(.minutes(30))
        var again = TestPhone(asleep: TestPhone.app(profile: Self.profile()))
        again.now = phone.now + .minutes(5)
        again.handle(.launched(restored: phone.store.scans, pathAvailable: true))
        again.pass(.minutes(55) - .milliseconds(1))
        #expect(again.request(.refresh) == nil)
        again.pass(.milliseconds(2))
        #expect(again.request(.refresh) != nil)
    }
}
