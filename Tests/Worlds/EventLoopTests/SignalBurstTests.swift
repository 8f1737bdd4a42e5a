import SimBase
import Testing

@testable import EventLoop

@Suite struct SignalBurstTests {
    private static func meanings(_ milliseconds: [Int64]) -> [SignalBurst.Meaning] {
        var burst = SignalBurst()
        return milliseconds.map { burst.received(at: .zero + .milliseconds($0)) }
    }

    @Test func `signals within half a second of the first are one`() {
        #expect(Self.meanings([0, 0, 499]) == [.first, .same, .same])
    }

    @Test func `a later one is another, however many came before`() {
        #expect(Self.meanings([10, 400, 509, 510, 511]) == [.first, .same, .same, .again, .again])
    }

    @Test func `a program is interrupted from the first signal on`() {
        var burst = SignalBurst()
        #expect(!burst.hasBegun)
        let first = burst.received(at: .zero)
        #expect(first == .first && burst.hasBegun)
    }
}
