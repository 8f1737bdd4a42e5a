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

    /// A token of Base64 can stand in `Authorization`, and in no name of a subprotocol (RFC 9110 section 5.6.2).
    @Test(arguments: [StreamTransport.websocket, .sse], [TokenPlace.header, .query])
    func `a token that no subprotocol can have is a finding, and ends nothing`(
        transport: StreamTransport, place: TokenPlace
    ) {
        var profile = NamedProfile.contract.profile(with: [])
        profile.journey = .bookshelfScan
        profile.stream.transport = transport
        profile.token.stream = place
        var phone = TestPhone(profile: profile)
        phone.capture(1)
        let body = String(decoding: V2Wording.accepted("scan_1"), as: UTF8.self)
        phone.answer(.upload, 202, Array(body.replacing(#""t""#, with: #""YWJj+/==""#).utf8))
        let isRefused = transport == .websocket && place == .header
        #expect((phone.request(.stream) == nil) == isRefused)
        #expect(phone.findings.contains { $0.path == "data.authToken" } == isRefused)
    }
}
