import SimBase
import Testing

@testable import RunDriver

@Suite struct ShardSilenceTests {
    private static func silent(
        _ silence: inout ShardSilence, _ messages: [Int], isJudging: Bool = false, at second: Double
    ) -> [Int] {
        silence.silent(
            messages.map { .init(messages: $0, isJudging: isJudging) },
            at: .zero + .milliseconds(Int64(second * 1_000)))
    }

    /// Looks every half second, at processes, the first of which continues to report.
    private static func found(until second: Int, isJudging: Bool = false) -> [Int] {
        var silence = ShardSilence(.seconds(3), processes: 2, at: .zero)
        var found: [Int] = []
        for half in 1...(second * 2) {
            found += Self.silent(&silence, [half, 1], isJudging: isJudging, at: Double(half) / 2)
        }
        return found
    }

    @Test func `a process that says nothing any more is found`() {
        #expect(Self.found(until: 3) == [])
        #expect(Self.found(until: 4) == [1])
    }

    @Test func `one that judges has more time, and not for ever`() {
        let factor = Int(ShardSilence.judgingFactor)
        #expect(Self.found(until: 3 * factor, isJudging: true) == [])
        #expect(Self.found(until: 3 * factor + 1, isJudging: true) == [1])
    }

    @Test func `the time in which nobody looked is held against nobody`() {
        var silence = ShardSilence(.seconds(3), processes: 1, at: .zero)
        #expect(Self.silent(&silence, [1], at: 0.5) == [])
        // As after Ctrl-Z.
        #expect(Self.silent(&silence, [1], at: 600) == [])
        #expect(Self.silent(&silence, [1], at: 600.5) == [])
        for half in 2...5 { #expect(Self.silent(&silence, [1], at: 600 + Double(half) / 2) == []) }
        #expect(Self.silent(&silence, [1], at: 603.5) == [0])
    }
}
