import Faults
import SimBase
import Testing

struct LinkTroublesTests {
    private static let slow = LinkDirection(delay: .milliseconds(10), bitsPerSecond: 8_000)

    private func armed(
        _ fault: Int, _ kind: FaultKind, window: FaultWindow = .always, draw: UInt64 = 77
    ) -> ArmedFault {
        ArmedFault(fault: fault, kind: kind, trigger: .atOnce, window: window, draw: draw)
    }

    private func impairments(_ faults: ArmedFault..., way: LinkWay = .down) -> LinkImpairments {
        LinkImpairments(faults, way: way, roundTrip: .milliseconds(20))
    }

    /// When these bytes arrive that are handed over at these times, and which faults acted on each.
    private func arrivals(
        _ impairments: LinkImpairments, _ direction: LinkDirection, _ blocks: [(bytes: Int, at: Instant)]
    ) -> [(at: Instant, acted: [Int])] {
        var (impairments, queue) = (impairments, LinkQueue(direction, readyAt: .zero))
        return blocks.map {
            var acted: [Int] = []
            let at = impairments.admit(bytes: $0.bytes, at: $0.at, through: &queue, acted: &acted)
            return (at, acted)
        }
    }

    private func at(milliseconds: Int64) -> Instant { .zero + .milliseconds(milliseconds) }

    @Test func `without impairments it is the link`() {
        let impairments = LinkImpairments()
        #expect(impairments.isEmpty)
        let seen = arrivals(impairments, Self.slow, [(100, .zero), (100, .zero)])
        #expect(seen.map(\.at) == [at(milliseconds: 110), at(milliseconds: 210)])
        #expect(seen.allSatisfy { $0.acted.isEmpty })
    }

    @Test func `delays add to the link's and to each other`() {
        let impairments = impairments(
            armed(0, .delay(by: .milliseconds(30) ... .milliseconds(30))),
            armed(4, .delay(by: .milliseconds(5) ... .milliseconds(5))))
        let seen = arrivals(impairments, Self.slow, [(100, .zero)])
        #expect(seen.map(\.at) == [at(milliseconds: 145)])
        #expect(seen.map(\.acted) == [[0, 4]])
    }

    @Test func `a delay is drawn from its range, once for each way of an exchange`() {
        let range = Interval.milliseconds(50)...Interval.milliseconds(200)
        let perfect = LinkDirection(delay: .zero, bitsPerSecond: nil)
        var seen: Set<Int64> = []
        for draw in UInt64(0)..<200 {
            let down = impairments(armed(0, .delay(by: range), draw: draw))
            let up = impairments(armed(0, .delay(by: range), draw: draw), way: .up)
            let both = arrivals(down, perfect, [(1, .zero), (1, seconds(1))]).map(\.at)
            let late = both[0] - Instant.zero
            #expect(both[1] == seconds(1) + late, "the same for all of its bytes")
            #expect(range.contains(late))
            #expect(arrivals(up, perfect, [(1, .zero)]).map(\.at) != [both[0]])
            seen.insert(late.wholeMilliseconds / 10)
        }
        #expect(seen.count == 15, "the whole of the range")
    }

    @Test func `the slower of link and fault counts, not their sum`() {
        let cap = impairments(armed(0, .bandwidth(bitsPerSecond: 4_000)))
        let seen = arrivals(cap, Self.slow, [(100, .zero), (100, .zero)])
        #expect(seen.map(\.at) == [at(milliseconds: 210), at(milliseconds: 410)])
        #expect(seen.map(\.acted) == [[0], [0]])
        let faster = impairments(armed(0, .bandwidth(bitsPerSecond: 1_000_000)))
        let linked = arrivals(faster, Self.slow, [(100, .zero), (100, .zero)]).map(\.at)
        #expect(linked == [at(milliseconds: 110), at(milliseconds: 210)])
    }

    @Test func `what is under the cap when its window closes passes then`() {
        let window = FaultWindow(at: .zero, length: .milliseconds(500))
        let cap = impairments(armed(0, .bandwidth(bitsPerSecond: 800), window: window))
        let perfect = LinkDirection(delay: .zero, bitsPerSecond: nil)
        let seen = arrivals(cap, perfect, [(10, .zero), (1_000, .zero), (1_000, at(milliseconds: 500))])
        #expect(
            seen.map(\.at) == [at(milliseconds: 100), at(milliseconds: 500), at(milliseconds: 500)])
        #expect(seen.map(\.acted) == [[0], [0], []])
    }

    @Test func `each is felt within its window only`() {
        let window = FaultWindow(at: .seconds(1), length: .seconds(1))
        let delay = impairments(
            armed(0, .delay(by: .milliseconds(30) ... .milliseconds(30)), window: window))
        let perfect = LinkDirection(delay: .zero, bitsPerSecond: nil)
        let seen = arrivals(delay, perfect, [(1, .zero), (1, seconds(1)), (1, seconds(2))])
        #expect(seen.map(\.at) == [.zero, at(milliseconds: 1_030), seconds(2)])
    }

    @Test func `no byte is no traffic`() {
        let delay = impairments(armed(0, .delay(by: .seconds(1) ... .seconds(1))))
        let seen = arrivals(delay, Self.slow, [(0, .zero)])
        #expect(seen.map(\.at) == [at(milliseconds: 10)])
        #expect(seen.map(\.acted) == [[]])
    }

    // MARK: Loss

    @Test func `a stall is two round trips, and never less than 200 ms`() {
        #expect(SegmentLoss.stall(roundTrip: .milliseconds(20)) == .milliseconds(200))
        #expect(SegmentLoss.stall(roundTrip: .milliseconds(840)) == .milliseconds(1_680))
    }

    @Test func `segments are lost by their share, whatever the block`() {
        var losses = SegmentLoss(
            .percent(10), random: KeyedRandom(seed: 3), way: .down, stall: .seconds(1))
        let small = (0..<10_000).count { _ in losses.stall(of: 1_460) == .seconds(1) }
        #expect((900...1_100).contains(small))
        // Of ten segments one is lost two times in three.
        let large = (0..<1_000).count { _ in losses.stall(of: 14_000) != nil }
        #expect((600...700).contains(large))
        var certain = SegmentLoss(.always, random: KeyedRandom(seed: 3), way: .down, stall: .seconds(1))
        let always = certain.stall(of: 1)
        let nothing = certain.stall(of: 0)
        #expect(always == .seconds(1))
        #expect(nothing == nil)
    }

    @Test func `a lost segment holds up what is behind it`() {
        let loss = impairments(armed(0, .loss(.always)))
        let perfect = LinkDirection(delay: .zero, bitsPerSecond: nil)
        let seen = arrivals(loss, perfect, [(10, .zero), (10, .zero)])
        #expect(seen.map(\.at) == [at(milliseconds: 200), at(milliseconds: 200)])
        #expect(seen.map(\.acted) == [[0], [0]])
        let never = impairments(armed(0, .loss(.never)))
        #expect(arrivals(never, perfect, [(10, .zero)]).map(\.acted) == [[]])
    }

    @Test func `times without end do not trap`() {
        let forever = LinkDirection(delay: .seconds(1), bitsPerSecond: 1)
        let all = impairments(
            armed(0, .bandwidth(bitsPerSecond: 1)), armed(1, .delay(by: .zero ... .hours(168))),
            armed(2, .loss(.always)))
        var (impairments, queue) = (all, LinkQueue(forever, readyAt: .zero))
        var acted: [Int] = []
        for _ in 0..<4 {
            let arrival = impairments.admit(bytes: .max / 16, at: seconds(1), through: &queue, acted: &acted)
            #expect(arrival == .distantFuture)
        }
    }
}
