import Phone
import Plan
import SimBase
import Testing

@Suite struct SizedTests {
    @Test func `groups of other sizes keep the load of a phone`() {
        let rate = ArrivalRate(arrivals: 6, per: .seconds(1))
        let think = ThinkTime(think: .zero ... .seconds(1), start: .zero ... .seconds(1))
        let sized = scenario([
            group("a", devices: 40, arrivals: rate), group("b", devices: 4, load: .closed(think)),
        ]).sized(devices: [20, 100])
        #expect(sized.groups.map(\.devices) == [20, 100])
        #expect(
            sized.groups[0].load
                == .open(.constant(ArrivalRate(arrivals: 3, per: .seconds(1))), .poisson))
        #expect(sized.groups[1].load == .closed(think))
    }

    @Test func `an endless scenario captures until it is ended from outside`() {
        let endless = scenario([group(devices: 2, scans: 1)], duration: .seconds(1)).endless
        #expect(endless.duration == nil)
        var arrivals = plan(endless).arrivals
        let moments = (0..<1_000).compactMap { _ in arrivals.next() }
        #expect(moments.count == 1_000)
    }
}
