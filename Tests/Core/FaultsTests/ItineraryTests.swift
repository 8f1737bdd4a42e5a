import Faults
import SimBase
import Testing

struct ItineraryTests {
    private func preset(_ name: String) -> NamedLink {
        guard let preset = LinkPreset.named(name) else { preconditionFailure("no such preset") }
        return NamedLink(preset)
    }

    private func step(_ at: Int64, _ link: String?, for length: Int64? = nil) -> Itinerary.Step {
        Itinerary.Step(
            at: .seconds(at), link: link.map(self.preset), length: length.map { .seconds($0) })
    }

    /// The names of the links at some seconds; nil without a path.
    private func names(_ itinerary: Itinerary, _ seconds: ClosedRange<Int64>) -> [String?] {
        seconds.map { itinerary.link(at: .zero + .seconds($0))?.name }
    }

    @Test func `a step lasts until the next, or for its time and then gives the link back`() {
        let way = Itinerary([step(0, "lte"), step(2, "edge", for: 2), step(6, "wifi")])
        #expect(names(way, 0...7) == ["lte", "lte", "edge", "edge", "lte", "lte", "wifi", "wifi"])
        #expect(way.link(at: .zero + .nanoseconds(1_999_999_999))?.name == "lte")
    }

    @Test func `a short step within a short step gives back what still holds`() {
        let way = Itinerary([step(0, "lte"), step(1, "edge", for: 5), step(2, "3g", for: 2)])
        #expect(names(way, 0...7) == ["lte", "edge", "3g", "3g", "edge", "edge", "lte", "lte"])
        let outlived = Itinerary([step(0, "lte"), step(1, "edge", for: 2), step(2, "3g", for: 3)])
        #expect(names(outlived, 0...6) == ["lte", "edge", "3g", "3g", "3g", "lte", "lte"])
    }

    @Test func `changes are told one after the other`() {
        let way = Itinerary([step(0, "lte"), step(2, "edge", for: 2), step(6, "lte"), step(8, "wifi")])
        var moments: [Instant] = []
        var now = Instant.zero
        while let next = way.nextChange(after: now) {
            moments.append(next)
            now = next
        }
        #expect(moments == [2, 4, 8].map { .zero + .seconds($0) }, "a step onto the same link is no change")
        #expect(Itinerary.always(preset("lte")).nextChange(after: .zero) == nil)
    }

    @Test func `tunnels have no path, and bytes under way meet the link before them`() {
        let way = Itinerary([step(0, "lte"), step(3, nil, for: 2), step(7, "edge"), step(9, nil)])
        let seconds = way.tunnels.map {
            [$0.from.nanoseconds / 1_000_000_000, $0.to.nanoseconds / 1_000_000_000]
        }
        #expect(seconds == [[3, 5], [9, Int64.max / 1_000_000_000]])
        #expect(way.link(at: .zero + .seconds(4)) == nil)
        #expect(way.profile(at: .zero + .seconds(4)) == preset("lte").profile)
        #expect(way.profile(at: .zero + .seconds(10)) == preset("edge").profile)
        let inside = Itinerary([step(0, nil), step(3, "edge")])
        #expect(inside.profile(at: .zero) == preset("edge").profile)
        #expect(inside.first == nil)
    }
}

struct LossyLinkTests {
    private func connection(_ profile: LinkProfile, seed: UInt64) -> (up: LinkQueue, down: LinkQueue) {
        profile.connection(acceptedAt: .zero, random: KeyedRandom(seed: seed))
    }

    private func lossy(_ percent: UInt32) -> LinkProfile {
        let way = LinkDirection(delay: .milliseconds(50), bitsPerSecond: nil, loss: .percent(percent))
        return LinkProfile(up: way, down: way)
    }

    @Test func `a lost segment is a stall, in the share that the link says`() {
        var stalls: [Interval: Int] = [:]
        for seed in UInt64(0)..<400 {
            var down = connection(lossy(10), seed: seed).down
            let begin = down.idleAt
            for block in Int64(0)..<10 {
                // Far enough apart that none waits for the one before.
                let sent = begin + .seconds(10 * block)
                stalls[down.admit(bytes: 1_460, at: sent) - sent, default: 0] += 1
            }
        }
        #expect(Set(stalls.keys) == [.milliseconds(50), .milliseconds(250)], "200 ms: twice the round trip")
        #expect((340...460).contains(stalls[.milliseconds(250)] ?? 0), "a tenth of 4,000")
    }

    @Test func `what is behind a lost segment waits for it`() {
        for seed in UInt64(0)..<200 {
            var up = connection(lossy(30), seed: seed).up
            var last = Instant.zero
            for step in Int64(0)..<50 {
                let arrival = up.admit(bytes: 100, at: .zero + .seconds(5) + .milliseconds(step))
                #expect(arrival >= last)
                last = arrival
            }
        }
    }

    @Test func `a lost handshake costs seconds`() {
        var begins: [Int64: Int] = [:]
        for seed in UInt64(0)..<1_000 {
            let (up, down) = connection(lossy(10), seed: seed)
            #expect(up.idleAt == down.idleAt)
            begins[(up.idleAt.nanoseconds - 100_000_000) / 1_000_000_000, default: 0] += 1
        }
        // Either way may lose it: 19 %. Then a second, three, seven.
        #expect((760...860).contains(begins[0] ?? 0))
        #expect((110...200).contains(begins[1] ?? 0))
        #expect(Set(begins.keys).isSubset(of: [0, 1, 3, 7, 15, 31, 63]))
    }

    @Test func `the same connection loses the same, and another link loses another share`() {
        #expect(connection(lossy(10), seed: 5).down == connection(lossy(10), seed: 5).down)
        var queue = connection(lossy(99), seed: 1).down
        queue.change(to: .perfect, .down)
        let now = Instant.zero + .seconds(1_000)
        #expect((0..<100).allSatisfy { _ in queue.admit(bytes: 1_460, at: now) == now })
    }

    @Test func `the lossy presets lose what their sources say`() {
        let losses = ["3g-lossy", "edge-lossy", "very-bad", "edge"].map {
            LinkPreset.named($0)?.profile.down.loss
        }
        #expect(losses == [.percent(1), .percent(1), .percent(10), .never])
        #expect(LinkPreset.all.allSatisfy { $0.profile.up.loss == $0.profile.down.loss })
    }
}
