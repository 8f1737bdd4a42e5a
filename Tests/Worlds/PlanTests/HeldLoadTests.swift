import Plan
import SimBase
import Testing

/// What counts of the load that the operator of a run takes away.
@Suite struct HeldLoadTests {
    private static let (first, second) = (DeviceNumber(1), DeviceNumber(2))

    private static func second(_ seconds: Int64) -> Instant { .zero + .seconds(seconds) }

    @Test func `a due capture of a held phone counts once`() {
        var load = HeldLoad(until: .distantFuture)
        let early = load.holdsBack(Self.first)
        load.rested([Self.first])
        let held = [load.holdsBack(Self.first), load.holdsBack(Self.second), load.putsOff(Self.second)]
        #expect(!early && held == [true, false, false])
        load.paused()
        let paused = load.holdsBack(Self.second)
        #expect(paused && load.captures == 2)
    }

    @Test func `users think again when nothing holds their phone`() {
        var load = HeldLoad(until: .distantFuture)
        load.paused()
        load.rested([Self.first])
        let puts = [load.putsOff(Self.first), load.putsOff(Self.second)]
        #expect(puts == [true, true] && load.keepsRunning)
        #expect(load.resumed() == [Self.second])
        #expect(!load.keepsRunning, "a phone at rest does not keep a run going")
        #expect(load.woke([Self.first]) == [Self.first])
        #expect(load.woke([Self.first]) == [] && load.captures == 2)
    }

    @Test func `scans that phones at rest have not begun count at the end`() {
        var load = HeldLoad(until: .distantFuture)
        load.rested([Self.first])
        let isPutOff = load.putsOff(Self.first)
        let more = load.ended(left: [(Self.first, 7), (Self.second, 3)])
        #expect(isPutOff && more == 6 && load.captures == 7, "the one that was due is one of them")
    }

    @Test func `a phone that no longer rests has its scans ahead`() {
        var load = HeldLoad(until: .distantFuture)
        load.rested([Self.first])
        #expect(load.woke([Self.first]) == [])
        #expect(load.ended(left: [(Self.first, 7)]) == 0)
    }

    @Test func `where captures end at a time, the time of the phones counts`() {
        var load = HeldLoad(until: Self.second(10))
        load.passed(to: Self.second(2), phones: [Self.first, Self.second])
        load.rested([Self.first])
        load.passed(to: Self.second(5), phones: [Self.first, Self.second])
        #expect(load.time == PhoneTime(.seconds(3)))
        load.paused()
        load.passed(to: Self.second(6), phones: [Self.first, Self.second])
        #expect(load.time == PhoneTime(.seconds(5)))
        // Nothing is captured after the end.
        load.passed(to: Self.second(14), phones: [Self.second])
        #expect(load.time == PhoneTime(.seconds(9)))
        load.passed(to: Self.second(20), phones: [Self.second])
        #expect(load.time == PhoneTime(.seconds(9)))
        #expect(load.ended(left: [(Self.first, 7)]) == 0 && load.captures == 0)
    }
}
