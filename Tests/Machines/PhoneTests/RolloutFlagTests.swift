import Faults
import Observations
import Phone
import SimBase
import Talaria
import Testing

@Suite struct RolloutFlagTests {
    private static let arms = RolloutArms(from: .websocket, to: .sse)

    private static func flag(_ percent: UInt32, isSticky: Bool = true) -> RolloutFlag {
        RolloutFlag(arms: Self.arms, share: .percent(percent), isSticky: isSticky)
    }

    private static func cohort(_ percent: UInt32) -> [UInt32] {
        (0..<2_000).filter {
            Self.flag(percent).arm(
                of: DeviceNumber($0), ScanNumber(1), attempt: 1, KeyedRandom(seed: 3)) == .sse
        }
    }

    @Test func `the cohort of a share is a part of that of a larger one`() {
        let cohorts = [0, 5, 25, 100].map(Self.cohort)
        #expect(cohorts[0] == [])
        #expect((80...120).contains(cohorts[1].count))
        #expect((460...540).contains(cohorts[2].count))
        #expect(Set(cohorts[1]).isSubset(of: cohorts[2]))
        #expect(cohorts[3].count == 2_000)
    }

    @Test func `a sticky phone has one arm, and any other one for each look`() {
        func arms(isSticky: Bool) -> Set<StreamTransport> {
            Set(
                (1...100).map {
                    Self.flag(50, isSticky: isSticky).arm(
                        of: DeviceNumber(9), ScanNumber($0), attempt: 1, KeyedRandom(seed: 3))
                })
        }
        #expect(arms(isSticky: true).count == 1)
        #expect(arms(isSticky: false).count == 2)
    }

    @Test func `a phone looks at its flag at each upload, and a killed app finds it again`() {
        var bench = Bench { $0.journey = .bookshelfScan }
        bench.handle(.rolledOut(Self.flag(100)))
        bench.upload()
        #expect(bench.taken == [.sse])
        bench.flush()
        bench.handle(.rolledOut(Self.flag(0)))
        let killed = PhoneWindow(fault: 0, kind: .kill, from: .zero, to: .distantFuture)
        bench.act(.begins(killed))
        bench.act(.ends(killed))
        bench.prepare()
        #expect(bench.taken == [.sse, .websocket])
    }

    @Test func `without a rollout a phone takes no arm`() {
        var bench = Bench { $0.journey = .bookshelfScan }
        bench.upload()
        #expect(bench.sent.count == 1)
        #expect(bench.taken == [])
    }
}

extension Bench {
    fileprivate mutating func upload() {
        self.capture()
        self.flush()
        self.prepare()
    }

    fileprivate mutating func prepare() {
        self.handle(app: .photoPrepared(scan: ScanNumber(1), bytes: 1_000, took: nil))
    }

    /// The arms that the app took, in their order.
    fileprivate var taken: [StreamTransport] {
        self.effects.compactMap {
            guard case .app(.observe(let observation)) = $0,
                case .phone(.armTaken(let arm, _)) = observation.what
            else { return nil }
            return arm
        }
    }
}
