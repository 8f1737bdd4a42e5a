import Plan
import SimBase
import Testing

struct ArrivalTests {
    private func moments(_ spacing: ArrivalSpacing, count: Int, seed: UInt64 = 42) -> [Interval] {
        let fleet = group(
            devices: count, scans: 1, arrivals: ArrivalRate(arrivals: 3, per: .seconds(1)), spacing: spacing)
        return plan(scenario([fleet], seed: seed)).arrivals.map { $0.scheduled - .zero }
    }

    @Test func `uniform arrivals are at equal distances, and no rounding adds up`() {
        #expect(
            moments(.uniform, count: 4).map(\.nanoseconds)
                == [333_333_333, 666_666_666, 1_000_000_000, 1_333_333_333])
        #expect(moments(.uniform, count: 3_000).last == .seconds(1_000))
    }

    @Test func `a burst comes at once and keeps the rate`() {
        #expect(
            moments(.burst(3), count: 7).map(\.wholeMilliseconds)
                == [1_000, 1_000, 1_000, 2_000, 2_000, 2_000, 3_000])
    }

    @Test func `poisson arrivals keep the rate and are memoryless`() {
        let moments = moments(.poisson, count: 9_000)
        #expect((2_900...3_100).contains((moments.last ?? .zero).wholeMilliseconds / 1_000))
        let gaps = zip(moments, [.zero] + moments).map { $0 - $1 }
        // Of exponential distances a share of 1/e is longer than their mean, and 1/e^3 longer than three means.
        let mean = Interval(nanoseconds: 333_333_333)
        #expect((3_150...3_470).contains(gaps.count { $0 > mean }), "9,000/e = 3,311")
        #expect((380...520).contains(gaps.count { $0 > mean * 3 }), "9,000/e^3 = 448")
    }

    @Test func `the same seed gives the same schedule and another seed another`() {
        #expect(moments(.poisson, count: 50) == moments(.poisson, count: 50))
        #expect(moments(.poisson, count: 50) != moments(.poisson, count: 50, seed: 43))
    }

    @Test func `a schedule is the same on every machine`() {
        #expect(
            moments(.poisson, count: 4).map(\.nanoseconds) == [
                17_161_515, 101_556_923, 103_848_396, 407_071_254,
            ])
    }

    @Test func `every phone gets its scans, numbered from 1, and none gets more`() {
        var ordinals: [UInt32: [Int]] = [:]
        for arrival in plan(scenario()).arrivals {
            ordinals[arrival.device.raw, default: []].append(arrival.ordinal)
        }
        #expect(ordinals.count == 40)
        #expect(ordinals.values.allSatisfy { $0 == [1, 2, 3] })
    }

    @Test(arguments: [2, 4, 7]) func `the arrivals of all shards are those of the fleet`(count: Int) {
        let whole = Array(plan(scenario()).arrivals)
        let shards = (0..<count).map { index in
            RunPlan(scenario(), target: .embedded, shard: FleetShard(index: index, count: count))
        }
        let parts = shards.map { Array($0.arrivals) }
        for (shard, part) in zip(shards, parts) {
            #expect(part == whole.filter { shard.shard.has($0.device) })
            #expect(shard.expectedArrivals.scans == part.count)
            #expect(shard.expectedArrivals.lastArrival == whole.last?.scheduled)
        }
        #expect(shards.map(\.phones).reduce(0, +) == 40)
    }

    @Test func `arrivals go to phones at random, not in turn`() {
        let first = plan(scenario()).arrivals.prefix(40).map(\.device.raw)
        #expect(Set(first).count < 40)
        #expect(first != first.sorted())
    }

    @Test func `groups are merged in the order of time, the earlier group first`() {
        let rate = ArrivalRate(arrivals: 1, per: .seconds(1))
        let fleet = [
            group("a", devices: 2, scans: 1, arrivals: rate, spacing: .uniform),
            group("b", devices: 4, scans: 1, arrivals: rate.scaled(by: 2, over: 1), spacing: .uniform),
        ]
        let plan = plan(scenario(fleet))
        #expect(plan.arrivals.map { plan.group(of: $0.device).spec.name } == ["b", "a", "b", "b", "a", "b"])
        #expect(
            plan.arrivals.map { ($0.scheduled - .zero).wholeMilliseconds } == [
                500, 1_000, 1_000, 1_500, 2_000, 2_000,
            ])
    }

    @Test func `another group changes nothing in the schedule of this one`() {
        let alone = plan(scenario([group("b")])).arrivals.map(\.scheduled)
        let both = plan(scenario([group("a", devices: 5), group("b")]))
        let mine = both.arrivals.filter { both.group(of: $0.device).spec.name == "b" }.map(\.scheduled)
        #expect(mine == alone)
    }

    @Test func `a run's total is the smaller of the schedule and the scans there are`() {
        let uniform = group(spacing: .uniform)
        let cut = plan(scenario([uniform], duration: .seconds(10)))
        #expect(
            cut.expectedArrivals
                == ExpectedArrivals(scansByGroup: [59], lastArrival: .zero + .nanoseconds(9_833_333_333)))
        #expect(cut.arrivals.count(where: { _ in true }) == 59)
        let whole = plan(scenario([uniform], duration: .minutes(10)))
        #expect(
            whole.expectedArrivals == ExpectedArrivals(scansByGroup: [120], lastArrival: .zero + .seconds(20))
        )
    }

    @Test func `photos are chosen by phone and scan`() {
        let arrivals = Array(plan(scenario()).arrivals)
        #expect(Set(arrivals.map { $0.photo(of: 5) }) == [0, 1, 2, 3, 4])
        #expect(arrivals.allSatisfy { $0.photo(of: 1) == 0 })
        let faster = scenario([group(arrivals: ArrivalRate(arrivals: 60, per: .seconds(1)))])
        func photos(_ scenario: Scenario) -> [[UInt64]: UInt64] {
            var photos: [[UInt64]: UInt64] = [:]
            for arrival in plan(scenario).arrivals {
                photos[[UInt64(arrival.device.raw), UInt64(arrival.ordinal)]] = arrival.photoDraw
            }
            return photos
        }
        #expect(photos(scenario()) == photos(faster))
    }
}

struct ArrivalRateTests {
    @Test func `a rate is kept in lowest terms`() {
        #expect(
            ArrivalRate(arrivals: 60, per: .minutes(1)) == ArrivalRate(arrivals: 1, per: .seconds(1)))
    }

    @Test func `scaling is exact`() {
        let rate = ArrivalRate(arrivals: 6, per: .seconds(1))
        #expect(rate.scaled(by: 80, over: 40) == ArrivalRate(arrivals: 12, per: .seconds(1)))
        #expect(rate.scaled(by: 1, over: 7).scaled(by: 7, over: 1) == rate)
    }

    @Test func `counts and moments agree`() {
        let rate = ArrivalRate(arrivals: 7, per: .seconds(3))
        for index in 0..<50 {
            let moment = rate.moment(of: index)
            #expect(rate.count(before: moment + .nanoseconds(1)) == index + 1)
        }
        #expect(ArrivalRate(arrivals: 1, per: .seconds(1)).count(before: .zero + .seconds(5)) == 4)
        #expect(rate.count(before: .zero) == 0)
    }

    @Test func `extremes saturate`() {
        let slow = ArrivalRate(arrivals: 1, per: Interval(nanoseconds: .max))
        #expect(slow.moment(of: .max - 1) == .distantFuture)
        #expect(slow.moment(ofPosition: .max) == .distantFuture)
        #expect(slow.scaled(by: 1, over: .max) == slow)
    }
}

struct ExponentialTests {
    private let one = UInt64(1) << 32

    @Test func `known values`() {
        // -ln(1/2) = ln 2 = 0.693147..., -ln(1/4) is twice that.
        #expect(Exponential.draw(1 << 63) == 2_977_044_472)
        #expect(Exponential.draw(1 << 62) == 2 * 2_977_044_472)
        // -ln(3/4) = 0.28768207245...: 1,235,585,093.6 units.
        #expect((1_235_585_092...1_235_585_095).contains(Exponential.draw(3 << 62)))
        // -ln(1/3) = 1.09861228867...: 4,718,503,850.8 units.
        #expect((4_718_503_849...4_718_503_853).contains(Exponential.draw(.max / 3)))
    }

    @Test func `it falls as the draw rises and stays finite`() {
        #expect(Exponential.draw(0) == Exponential.draw(1))
        #expect(Exponential.draw(1) < 45 * one)
        #expect(Exponential.draw(.max) < 4)
        var last = UInt64.max
        for step in UInt64(0)..<1_000 {
            let value = Exponential.draw(step &* (.max / 1_000))
            #expect(value <= last)
            last = value
        }
    }

    @Test func `the mean of many draws is one`() {
        let random = KeyedRandom(seed: 1)
        let sum = (UInt64(0)..<20_000).reduce(UInt64(0)) { $0 + Exponential.draw(random.draw(.test, $1)) }
        let mean = sum / 20_000
        #expect((one - one / 50...one + one / 50).contains(mean))
    }
}
