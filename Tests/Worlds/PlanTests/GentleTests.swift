import Plan
import SimBase
import Testing

/// Load that is fair to a backend that others use as well.
struct GentleTests {
    private func rate(_ arrivals: Int64, per seconds: Int64 = 1) -> ArrivalRate {
        ArrivalRate(arrivals: arrivals, per: .seconds(seconds))
    }

    @Test func `a limit slows all groups by one factor, down to it and not below`() {
        let fast = scenario([group("a", arrivals: rate(30)), group("b", arrivals: rate(10))])
        let limited = fast.limited(to: self.rate(20))
        #expect(limited.groups.map(\.load) == [15, 5].map { .open(.constant(self.rate($0)), .poisson) })
        #expect(fast.limited(to: self.rate(40)) == fast)
    }

    @Test func `stages count by their peak`() {
        let stages = ArrivalStages([
            ArrivalStage(from: self.rate(2), to: self.rate(40), length: .seconds(10)),
            ArrivalStage(self.rate(10), length: .seconds(5)),
        ])
        let limited = scenario([group(load: .open(.staged(stages), .uniform))]).limited(to: self.rate(4))
        let slowed = ArrivalStages([
            ArrivalStage(from: self.rate(1, per: 5), to: self.rate(4), length: .seconds(10)),
            ArrivalStage(self.rate(1), length: .seconds(5)),
        ])
        #expect(limited.groups[0].load == .open(.staged(slowed), .uniform))
    }

    @Test func `a ramp leads to the rate, and loses no arrival`() {
        let gentle = scenario([group(devices: 40, scans: 3, arrivals: rate(6), spacing: .uniform)])
            .ramped(over: .seconds(10))
        let plan = plan(gentle)
        #expect(plan.expectedArrivals.scansByGroup == [120])
        let moments = plan.arrivals.map(\.scheduled)
        // 6 t^2 / 20 = n: arrival n at sqrt(10 n / 3) s, until 30 have come.
        #expect(abs((moments[0] - Instant.zero).nanoseconds - 1_825_741_858) < 2)
        #expect(abs((moments[29] - Instant.zero).nanoseconds - 10_000_000_000) < 2)
        #expect(abs((moments[30] - moments[29]).nanoseconds - 166_666_667) < 3)
    }

    @Test func `a ramp of no time, stages and closed groups change nothing`() {
        let think = ThinkTime(think: .zero ... .seconds(1), start: .zero ... .seconds(1))
        let stages = ArrivalStages([ArrivalStage(self.rate(2), length: .seconds(10))])
        let others = scenario([
            group("a", load: .closed(think)), group("b", load: .open(.staged(stages), .uniform)),
        ])
        #expect(others.ramped(over: .seconds(10)) == others)
        #expect(others.closedGroups == ["a"])
        let plain = scenario()
        #expect(plain.ramped(over: .zero) == plain)
    }
}
