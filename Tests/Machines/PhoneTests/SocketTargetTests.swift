import Phone
import Talaria
import Testing

/// The address of a WebSocket (Docs/contract.md section 3.4).
@Suite struct SocketTargetTests {
    @Test func `a client comes back to the job that it followed, and not to the one of a new upload`() {
        var profile = NamedProfile.contract.profile(with: [])
        profile.journey = .bookshelfScan
        profile.stream.transport = .websocket
        var phone = TestPhone(profile: profile)
        phone.capture(1)
        phone.answer(.upload, 202, V2Wording.accepted("scan_1"))
        #expect(phone.request(.stream)?.target.contains("reconnect") == false)
        phone.fail(.stream, .reset)
        phone.pass(.minutes(1))
        #expect(phone.request(.stream)?.target.hasSuffix("&reconnect=true") == true)
        phone.answer(.stream, 404, V2Wording.error("NOT_FOUND"), type: "application/json")
        phone.pass(.minutes(1))
        phone.answer(.upload, 202, V2Wording.accepted("scan_2"))
        #expect(phone.request(.stream)?.target.contains("reconnect") == false)
        phone.fail(.stream, .reset)
        phone.pass(.minutes(1))
        #expect(phone.request(.stream)?.target.hasSuffix("&reconnect=true") == true)
    }
}
