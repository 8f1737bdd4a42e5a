import Faults
import SimBase
import Testing

struct MessageCutTests {
    private func cut(
        _ kind: FaultKind, _ trigger: ArmedTrigger = .atOnce, on side: ExchangeSide = .reply
    ) -> MessageCut? {
        MessageCut(ArmedFault(fault: 2, kind: kind, trigger: trigger, draw: 0), on: side)
    }

    @Test func `at once is before the first byte`() {
        #expect(cut(.reset(.betweenEvents, .reply))?.position == .byte(0))
        #expect(cut(.close(.afterBytes(0), .reply))?.position == .byte(0))
        #expect(cut(.reset(.betweenEvents, .reply))?.fault == 2)
    }

    @Test func `bytes of the trigger and of the cut add`() {
        #expect(cut(.close(.afterBytes(5), .reply))?.position == .byte(5))
        #expect(cut(.close(.betweenEvents, .reply), .afterBytes(7))?.position == .byte(7))
        #expect(cut(.close(.afterBytes(5), .reply), .afterBytes(7))?.position == .byte(12))
        #expect(cut(.close(.afterBytes(.max), .reply), .afterBytes(7))?.position == .byte(.max))
    }

    @Test func `a time is a position of its own`() {
        #expect(
            cut(.silence(.betweenEvents, .reply), .afterTime(.seconds(2)))?.position == .after(.seconds(2)))
    }

    @Test func `each side has its own, and its ending is that of the kind`() {
        #expect(cut(.reset(.betweenEvents, .request), on: .request)?.ending == .reset)
        #expect(cut(.close(.betweenEvents, .request), on: .request)?.ending == .close)
        #expect(cut(.silence(.betweenEvents, .request), on: .request)?.ending == .silence)
        #expect(cut(.reset(.betweenEvents, .request), on: .reply) == nil)
        #expect(cut(.reset(.betweenEvents, .reply), on: .request) == nil)
    }

    @Test func `events and what is inside them are of streams only`() {
        #expect(cut(.reset(.betweenEvents, .reply), .afterEvents(1)) == nil)
        for position in [Cut.insideEvent, .insideUTF8, .insideLineEnd] {
            #expect(cut(.reset(position, .reply)) == nil)
        }
        #expect(cut(.expireToken) == nil)
    }
}

struct FirstEndTests {
    private func armed(_ fault: Int, _ kind: FaultKind, _ trigger: ArmedTrigger = .atOnce) -> ArmedFault {
        ArmedFault(fault: fault, kind: kind, trigger: trigger, draw: 0)
    }

    private let error = FaultKind.httpError(
        HTTPFault(
            status: 503, code: nil, retryable: nil, retryAfter: nil, retryAfterLocation: .neither))

    @Test func `what ends an exchange as it begins leaves nothing to the ends after it`() {
        let reset = armed(1, .reset(.betweenEvents, .reply))
        let faults = [
            armed(0, .delay(by: .zero ... .zero)), reset, armed(2, self.error),
            armed(3, .slice(bytes: 1...1)),
        ]
        #expect(faults.untilFirstEnd.map(\.fault) == [0, 1, 3])
        let other = [armed(0, self.error), armed(1, .close(.betweenEvents, .request)), armed(2, self.error)]
        #expect(other.untilFirstEnd.map(\.fault) == [0])
    }

    @Test func `what may end it later, or never, leaves all`() {
        let faults = [
            armed(0, .reset(.betweenEvents, .reply), .afterBytes(9)),
            armed(1, .close(.afterBytes(4), .reply)), armed(2, .close(.insideUTF8, .reply)),
            armed(3, self.error, .afterTime(.seconds(1))), armed(4, .expireToken), armed(5, self.error),
        ]
        #expect(faults.untilFirstEnd == faults)
        #expect([ArmedFault]().untilFirstEnd == [])
    }
}
