import Observations
import SimBase
import Talaria
import Testing

@testable import Phone

/// The defects of the app at HEAD, one at a time (Docs/contract.md section 4.11).
struct QuirkTests {
    private func phone(_ quirks: Quirk..., profile: NamedProfile = .contract) -> TestPhone {
        TestPhone(profile: profile.profile(with: quirks.map { ToggleSetting(.quirk($0), isOn: true) }))
    }

    private func head(without quirk: Quirk) -> TestPhone {
        TestPhone(
            profile: NamedProfile.swiftwingHead.profile(with: [ToggleSetting(.quirk(quirk), isOn: false)]))
    }

    @Test func `Q2: the end of a stream without a terminal event ends the scan`() {
        var phone = phone(.endOfStream)
        phone.capture(1)
        phone.accept()
        phone.answer(.stream, 200, [], type: "text/event-stream")
        phone.pass(.minutes(5))
        #expect(phone.open.isEmpty && phone.waiting == ["1 interrupted"])
        #expect(phone.record?.job != nil)
    }

    @Test func `Q5: an unknown event refuses the scan and deletes its job`() {
        var phone = phone(.unknownEvents)
        phone.captureToStream()
        phone.stream("id: 1-x\nevent: x\ndata: {}\n\n")
        #expect(phone.request(.cleanup) != nil)
        #expect(
            phone.payloads.contains {
                if case .refused(AppLimits.unreadableEventCode, _) = $0 { true } else { false }
            })
    }

    @Test func `Q5: the app at HEAD deletes the job and goes on reading`() {
        var phone = head(without: .relativeURL)
        phone.captureToStream()
        phone.stream("id: 1-x\nevent: x\ndata: {}\n\n")
        #expect(phone.request(.cleanup) != nil && phone.request(.stream) != nil)
        #expect(phone.record?.job?.authToken == nil)
    }

    @Test func `Q9: a stream that was reset is not opened again`() {
        var phone = phone(.lostStream)
        phone.captureToStream()
        phone.fail(.stream, .reset)
        phone.pass(.minutes(5))
        #expect(phone.open.isEmpty && phone.waiting == ["1 transport"])
    }

    @Test func `Q9: the app at HEAD deletes the job and removes the scan`() {
        var phone = head(without: .relativeURL)
        phone.captureToStream()
        phone.fail(.stream, .reset)
        #expect(phone.request(.cleanup) != nil)
        phone.answer(.cleanup, 204)
        #expect(phone.app.unsettledCount == 0 && phone.waiting == [])
        #expect(!phone.payloads.contains { if case .refused = $0 { true } else { false } })
    }

    @Test(arguments: [401, 404, 410, 503]) func `Q10: a stream is requested three times whatever the status`(
        status: Int
    ) {
        var phone = phone(.streamStatuses)
        phone.capture(1)
        phone.accept()
        for _ in 0..<3 {
            phone.answer(.stream, status)
            phone.pass(.seconds(10))
        }
        #expect(phone.open.isEmpty && phone.waiting == ["1 unexpected-status"])
    }

    @Test func `Q11: a relative address is never requested`() {
        var phone = phone(.relativeURL)
        phone.capture(1)
        phone.accept()
        phone.pass(.minutes(5))
        #expect(phone.open.isEmpty && phone.waiting == ["1 foreign-url"])
    }

    @Test func `Q19: a backoff is its ceiling`() {
        var backoff = Backoff()
        var policy = ClientProfile.contract.backoff
        policy.hasJitter = false
        let waits = (0..<3).map { _ in backoff.failed(policy, draw: 7) }
        #expect(waits == [.milliseconds(500), .seconds(1), .seconds(2)])
    }

    @Test func `Q24: the header does not count where there is a problem document`() {
        for (quirks, wait) in [([], Interval.seconds(9)), ([Quirk.retryAfter], .seconds(60))] {
            var phone = TestPhone(
                profile: NamedProfile.contract.profile(
                    with: quirks.map { ToggleSetting(.quirk($0), isOn: true) }))
            phone.capture(1)
            phone.answer(
                .upload, 429, Wording.problem(.rateLimitExceeded, retryAfterMs: nil), retryAfter: "9")
            #expect(phone.payloads.contains(.rateLimited(.upload, retryAfter: wait)))
        }
    }
}
