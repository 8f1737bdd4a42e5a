import Observations
import SimBase
import Talaria
import Testing

@testable import Phone

/// A client that shows something inside its loop over the events of a job (Docs/apps.md section 4.11, Q13).
struct OverlayTests {
    private static let degraded = Wording.event("enrichment_degraded", id: nil, #"{"title":"Emma"}"#)
    private static let unknown = Wording.event("x", id: nil, "{}")

    private func phone(_ quirks: ProfileToggle...) -> TestPhone {
        TestPhone(
            profile: NamedProfile.contract.profile(with: quirks.map { ToggleSetting($0, isOn: true) })
        )
    }

    private func head() -> TestPhone {
        let off = ToggleSetting(.relativeURL, isOn: false)
        return TestPhone(profile: NamedProfile.swiftwingHead.profile(with: [off]))
    }

    private func completions(_ phone: TestPhone) -> Int {
        phone.payloads.count { if case .completed = $0 { true } else { false } }
    }

    @Test(arguments: 0...3) func `each degraded book delays the completion by 5.2 s`(books: Int) {
        var phone = phone(.overlays)
        phone.captureToStream()
        phone.stream(String(repeating: Self.degraded, count: books) + Wording.completed(books: 1))
        let delay = Interval.milliseconds(5_200 * Int64(books))
        if books > 0 {
            phone.pass(delay - .milliseconds(1))
            #expect(self.completions(phone) == 0)
            phone.pass(.milliseconds(1))
        }
        #expect(self.completions(phone) == 1 && phone.now == Instant.zero + delay)
    }

    @Test func `without it a degraded book delays nothing`() {
        var phone = phone()
        phone.captureToStream()
        phone.stream(Self.degraded + Wording.completed(books: 1))
        #expect(self.completions(phone) == 1)
    }

    @Test func `what comes in pieces during an overlay is read in its order`() {
        var phone = phone(.overlays)
        phone.captureToStream()
        phone.stream(Self.degraded)
        for byte in Wording.progress("1-progress") + Wording.completed(books: 2) {
            phone.stream(String(byte))
        }
        #expect(phone.record?.job?.lastEventID == "")
        phone.pass(.milliseconds(5_200))
        #expect(phone.store.books.count == 2)
    }

    @Test(arguments: [true, false]) func `the end of a stream is noticed after what came before it`(
        isReset: Bool
    ) {
        var phone = phone(.overlays)
        phone.captureToStream()
        phone.stream(Self.degraded)
        if isReset {
            phone.fail(.stream, .reset)
        } else if let request = phone.request(.stream) {
            phone.open.removeAll { $0.id == request.id }
            phone.handle(.replyEnded(request.id))
        }
        #expect(!phone.payloads.contains { if case .streamLost = $0 { true } else { false } })
        phone.pass(.milliseconds(5_200))
        let cause = isReset ? LossCause.reset : .endWithoutTerminal
        #expect(
            phone.payloads.contains { if case .streamLost(_, _, cause, _) = $0 { true } else { false } })
    }

    @Test func `the last event is read from a stream that has ended`() {
        var phone = phone(.overlays)
        phone.captureToStream()
        phone.stream(Self.degraded + Wording.completed(books: 2))
        phone.fail(.stream, .reset)
        phone.pass(.milliseconds(5_200))
        #expect(phone.store.books.count == 2)
    }

    @Test func `a path that goes during an overlay takes no event that has come`() {
        var phone = phone(.overlays)
        phone.captureToStream()
        phone.stream(Self.degraded + Wording.completed(books: 2))
        phone.handle(.pathLost)
        phone.pass(.milliseconds(5_200))
        #expect(phone.store.books.count == 2)
    }

    @Test func `an event that cannot be read after the path was lost sends nothing`() {
        var phone = head()
        phone.captureToStream()
        phone.stream(Self.unknown + Self.unknown)
        phone.handle(.pathLost)
        phone.pass(.milliseconds(5_200))
        #expect(phone.request(.cleanup) == nil)
    }

    @Test func `the background ends an overlay`() {
        var phone = phone(.overlays)
        phone.captureToStream()
        phone.stream(Self.degraded)
        phone.fail(.stream, .reset)
        phone.handle(.suspended)
        #expect(phone.waiting == ["1 suspended"])
    }

    @Test func `a slot is held for 5 s after the DELETE`() {
        for (quirks, held) in [([], Interval.zero), ([ProfileToggle.overlays], .seconds(5))] {
            var phone = TestPhone(
                profile: NamedProfile.contract.profile(
                    with: quirks.map { ToggleSetting($0, isOn: true) }))
            phone.captureToStream()
            phone.stream(Wording.completed(books: 1))
            if let stream = phone.request(.stream) { phone.handle(.replyEnded(stream.id)) }
            #expect(phone.app.slotsTaken == (held == .zero ? 0 : 1))
            phone.answer(.cleanup, 204)
            phone.pass(held)
            #expect(phone.app.slotsTaken == 0 && phone.app.isQuiescent)
            #expect(phone.payloads.last == (held == .zero ? phone.payloads.last : .slotGiven))
        }
    }

    @Test func `a final error is shown for 5.2 s, and then its job deleted`() {
        var phone = phone(.overlays)
        phone.captureToStream()
        phone.stream(Wording.error(retryable: false))
        #expect(phone.request(.cleanup) == nil && phone.app.slotsTaken == 1)
        phone.pass(.milliseconds(5_200))
        #expect(phone.request(.cleanup) != nil)
    }

    @Test func `six events that cannot be read take the app at HEAD 31.2 s and seven DELETEs`() {
        var phone = head()
        phone.captureToStream()
        phone.stream(String(repeating: Self.unknown, count: 6) + Wording.completed(books: 5))
        var deletes: [Interval] = []
        while deletes.count < 7, phone.now < Instant.zero + .minutes(1) {
            phone.pass(.milliseconds(100))
            while phone.request(.cleanup) != nil {
                deletes.append(phone.now - Instant.zero)
                phone.answer(.cleanup, 204)
            }
        }
        #expect(
            deletes
                == [5_200, 10_400, 15_600, 20_800, 26_000, 31_200, 31_200].map { Interval.milliseconds($0) })
        #expect(phone.store.books.count == 5)
    }
}
