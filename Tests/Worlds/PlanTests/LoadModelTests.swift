import Plan
import SimBase
import Testing

private func perSecond(_ count: Int64) -> ArrivalRate { ArrivalRate(arrivals: count, per: .seconds(1)) }

struct StagedArrivalTests {
    private let stages = ArrivalStages([
        ArrivalStage(perSecond(5), length: .seconds(10)),
        ArrivalStage(from: perSecond(5), to: perSecond(50), length: .seconds(60)),
    ])

    private func moments(_ stages: ArrivalStages, _ spacing: ArrivalSpacing = .uniform, scans: Int = 5_000)
        -> [Instant]
    {
        let fleet = group(devices: 1, scans: scans, load: .open(.staged(stages), spacing))
        return plan(scenario([fleet])).arrivals.map(\.scheduled)
    }

    @Test func `a ramp follows the integral of its rate`() {
        // 5 t + (50 - 5) t^2 / (2 x 60) = n, solved for t.
        let ramp = ArrivalStages([
            ArrivalStage(from: perSecond(5), to: perSecond(50), length: .seconds(60))
        ])
        let moments = moments(ramp)
        #expect(moments.count == 1_650, "(5 + 50) / 2 x 60")
        for (index, moment) in moments.enumerated() {
            let expected = (-5 + (25 + 1.5 * Double(index + 1)).squareRoot()) / 0.75 * 1e9
            #expect(abs(expected - Double(moment.nanoseconds)) < 2, "arrival \(index)")
        }
        #expect(moments.last == .zero + .seconds(60))
    }

    @Test func `a ramp that falls to nothing mirrors the one that rises from it`() {
        let rising = ArrivalStages([ArrivalStage(from: nil, to: perSecond(10), length: .seconds(20))])
        let falling = ArrivalStages([ArrivalStage(from: perSecond(10), to: nil, length: .seconds(20))])
        #expect(rising.total == 100 && falling.total == 100)
        // 10 t^2 / 40 = n: arrival n at 2 sqrt n.
        #expect(
            moments(rising).prefix(4).map { $0.nanoseconds / 1_000 } == [
                2_000_000, 2_828_427, 3_464_101, 4_000_000,
            ])
        let mirrored = moments(falling).reversed().dropFirst().map { .seconds(20) - ($0 - .zero) }
        for (left, right) in zip(mirrored, moments(rising)) {
            #expect(abs((left - (right - .zero)).nanoseconds) <= 1)
        }
    }

    @Test func `stages follow each other, and nothing arrives after the last`() {
        let moments = moments(stages)
        #expect(moments.count == 1_700)
        #expect(moments[49] == .zero + .seconds(10))
        let ramp = (-5 + (25 + 1.5 * 1.0).squareRoot()) / 0.75 * 1e9
        #expect(abs(Double((moments[50] - moments[49]).nanoseconds) - ramp) < 2)
        #expect(moments == moments.sorted())
        #expect(stages.end == .zero + .seconds(70))
        let plan = plan(scenario([group(devices: 1, scans: 9_999, load: .open(.staged(stages), .uniform))]))
        #expect(
            plan.expectedArrivals
                == ExpectedArrivals(scansByGroup: [1_700], lastArrival: .zero + .seconds(70)))
    }

    @Test func `a pause brings nothing, and parts of arrivals add up over stages`() {
        let third = ArrivalStage(ArrivalRate(arrivals: 1, per: .seconds(3)), length: .seconds(1))
        let pause = ArrivalStage(nil, length: .seconds(5))
        let moments = moments(ArrivalStages([third, pause, third, pause, third, third]))
        #expect(moments.count == 1, "three thirds are one, and the fourth is too little")
        #expect(abs(moments[0].nanoseconds - 13_000_000_000) <= 1)
    }

    @Test func `bursts keep their size in a ramp`() {
        let moments = moments(stages, .burst(10))
        #expect(moments.count == 1_700)
        #expect(Set(moments).count == 170)
        #expect(moments[0] == .zero + .seconds(2) && moments[9] == moments[0])
    }

    @Test func `random arrivals follow the curve`() {
        let moments = moments(stages, .poisson)
        #expect((1_580...1_820).contains(moments.count), "1,700 and three standard deviations")
        let early = moments.count { $0 < .zero + .seconds(40) }
        // 50 + 5 x 30 + 0.375 x 900 = 537.5
        #expect((468...608).contains(early))
        #expect(moments == moments.sorted())
    }

    @Test func `counts and moments agree`() {
        let curve = ArrivalCurve.staged(stages)
        for index in stride(from: 0, to: 1_699, by: 7) {
            guard let moment = curve.moment(of: index) else {
                Issue.record("arrival \(index) is never due")
                continue
            }
            #expect(curve.count(before: moment + .nanoseconds(2)) == index + 1)
            #expect(curve.count(before: moment) == index)
        }
        #expect(curve.moment(of: 1_699) == stages.end)
        #expect(curve.moment(of: 1_700) == nil)
        #expect(curve.count(before: .distantFuture) == 1_700)
    }

    @Test func `the duration cuts stages too`() {
        let fleet = group(devices: 1, scans: 5_000, load: .open(.staged(stages), .uniform))
        let plan = plan(scenario([fleet], duration: .seconds(10)))
        #expect(plan.expectedArrivals.scans == 49, "what is due at the very end is not captured")
    }

    @Test func `scaling the fleet scales every stage`() {
        let fleet = scenario([group(devices: 10, load: .open(.staged(stages), .uniform))])
        guard case .open(.staged(let scaled), .uniform) = fleet.scaled(devices: 30).groups[0].load else {
            Issue.record("the load lost its stages")
            return
        }
        #expect(scaled.total == 5_100)
        #expect(scaled.end == stages.end)
    }

    @Test func `extremes neither trap nor overflow`() {
        let odd = ArrivalStage(
            from: ArrivalRate(arrivals: .max, per: Interval(nanoseconds: .max - 1)),
            to: ArrivalRate(arrivals: 1, per: Interval(nanoseconds: .max)),
            length: Interval(nanoseconds: .max))
        let stages = ArrivalStages([odd, odd])
        #expect(stages.end == .distantFuture)
        #expect(stages.total > 0)
        #expect(ArrivalCurve.staged(stages).moment(of: 0) != nil)
    }
}

struct ClosedLoadTests {
    private let think = ThinkTime(
        think: .seconds(1)...(.seconds(4)), start: .zero ... .seconds(4))

    private func times(scans: Int = 3, until: Instant = .distantFuture) -> ThinkTimes {
        ThinkTimes(think, scans: scans, until: until, random: KeyedRandom(seed: 42))
    }

    @Test func `think times are drawn by phone and capture, evenly over their range`() {
        let times = times()
        let waits = (UInt32(0)..<2_000).map { times.wait(before: 2, of: DeviceNumber($0)) }
        #expect(waits.allSatisfy { (.seconds(1)...(.seconds(4))).contains($0) })
        let mean = waits.reduce(Int64(0)) { $0 + $1.nanoseconds } / 2_000
        #expect((2_440_000_000...2_560_000_000).contains(mean))
        #expect(waits == (UInt32(0)..<2_000).map { times.wait(before: 2, of: DeviceNumber($0)) })
        #expect(times.wait(before: 2, of: DeviceNumber(1)) != times.wait(before: 3, of: DeviceNumber(1)))
    }

    @Test func `first captures are spread from the start`() {
        let waits = (UInt32(0)..<1_000).map { times().wait(before: 1, of: DeviceNumber($0)) }
        #expect((200...300).contains(waits.count { $0 < .seconds(1) }))
        let fixed = ThinkTime(think: .seconds(2)...(.seconds(2)), start: .seconds(1)...(.seconds(1)))
        let all = ThinkTimes(fixed, scans: 1, until: .distantFuture, random: KeyedRandom(seed: 1))
        #expect(all.wait(before: 1, of: DeviceNumber(3)) == .seconds(1))
    }

    @Test func `a capture is due its think time after the settlement, until scans or time are over`() {
        let phone = DeviceNumber(7)
        let times = times(scans: 2, until: .zero + .seconds(20))
        let settled = Instant.zero + .seconds(10)
        let arrival = times.arrival(2, of: phone, settled: settled)
        #expect(arrival?.scheduled == settled + times.wait(before: 2, of: phone))
        #expect(arrival?.ordinal == 2 && arrival?.device == phone)
        #expect(times.arrival(3, of: phone, settled: settled) == nil)
        #expect(times.arrival(2, of: phone, settled: .zero + .seconds(19)) == nil)
        #expect(times.arrival(2, of: phone, settled: .distantFuture) == nil)
    }

    @Test func `a phone takes the same photos in a closed group as in an open one`() {
        let scheduled = plan(scenario()).arrivals.first { $0.ordinal == 2 }
        guard let scheduled else { return }
        let arrival = times().arrival(2, of: scheduled.device, settled: .zero)
        #expect(arrival?.photoDraw == scheduled.photoDraw)
    }

    @Test func `a closed group has no schedule, and the census says the most that it can do`() {
        let closed = group("closed", devices: 5, scans: 4, load: .closed(think))
        let mixed = plan(scenario([closed, group("open", devices: 3, scans: 1)]))
        #expect(mixed.arrivals.map { mixed.group(of: $0.device).spec.name } == ["open", "open", "open"])
        #expect(mixed.expectedArrivals.scansByGroup == [20, 3])
        #expect(mixed.thinkTimes(of: mixed.groups[1]) == nil)
        let times = mixed.thinkTimes(of: mixed.groups[0])
        #expect(times == ThinkTimes(think, scans: 4, until: .distantFuture, random: mixed.random))
        let short = plan(scenario([closed], duration: .seconds(5)))
        #expect((5...15).contains(short.expectedArrivals.scans))
        #expect(short.expectedArrivals.lastArrival < .zero + .seconds(5))
    }

    @Test func `scaling a closed group changes its phones, not what each of them does`() {
        let scaled = scenario([group(devices: 5, load: .closed(think))]).scaled(devices: 50)
        #expect(scaled.groups[0].devices == 50)
        #expect(scaled.groups[0].load == .closed(think))
    }

    @Test func `expected firings count what a closed group is likely to capture`() {
        let closed = group("closed", devices: 50, scans: 10, load: .closed(think))
        let faults = [fault(.expireToken, chance: .percent(50))]
        let whole = plan(scenario([closed], faults: faults)).expectedFirings
        #expect((215...285).contains(whole[0]), "half of 500")
        // A scan takes 12 s of job time and 2.5 s of thinking, so about two a phone fit.
        let short = plan(scenario([closed], faults: faults, duration: .seconds(30))).expectedFirings
        #expect((35...75).contains(short[0]))
    }

    @Test func `a closed load longer than a week is told`() {
        let long = ThinkTime(think: .hours(10)...(.hours(10)), start: .zero ... .zero)
        let slow = scenario([group(devices: 1, scans: 100, load: .closed(long))])
        #expect(ScenarioCheck.findings(slow).map(\.subject) == [.group(0, key: "think")])
        var bounded = slow
        bounded.duration = .hours(30)
        #expect(ScenarioCheck.findings(bounded) == [])
    }
}
