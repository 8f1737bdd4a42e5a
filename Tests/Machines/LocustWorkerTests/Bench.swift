import LocustWorker
import SimBase

/// A worker with a clock that does not advance until it is moved.
struct Bench {
    static let offer = ScenarioOffer(name: "short", text: [1, 2], tool: "x")
    static let order = TestOrder(
        test: "t1", started: 1_700_000_000_000, deviceSalt: DeviceSalt(bits: 7), hasNewDevices: true,
        groups: [.init(group: "a", phones: 20), .init(group: "b", phones: 10)], command: [])

    var worker: LocustWorker
    var now = Instant.zero

    init(phonesMax: Int = 100) {
        self.worker = LocustWorker(
            LocustWorkerSettings(tool: "x", phonesMax: phonesMax, masterSilenceMax: .seconds(10)))
    }

    /// A worker whose master has answered.
    static func idle(phonesMax: Int = 100) -> Bench {
        var bench = Bench(phonesMax: phonesMax)
        _ = bench.handle(.started)
        _ = bench.handle(.received(.scenario(Self.offer)))
        _ = bench.handle(.prepared)
        _ = bench.handle(.received(.acknowledged))
        return bench
    }

    /// A worker with two phones of group `a`.
    static func testing(phonesMax: Int = 100) -> Bench {
        var bench = Bench.idle(phonesMax: phonesMax)
        _ = bench.handle(.received(.begin(Self.order)))
        _ = bench.spawn(1, a: 2)
        _ = bench.lease([(0, "a"), (1, "a")])
        return bench
    }

    mutating func handle(_ event: LocustWorkerEvent) -> [LocustWorkerEffect] {
        var effects: [LocustWorkerEffect] = []
        self.worker.handle(event, at: self.now, into: &effects)
        return effects
    }

    mutating func spawn(_ timestamp: Int64, a: Int = 0, b: Int = 0, host: String? = "http://x")
        -> [LocustWorkerEffect]
    {
        self.handle(
            .received(
                .spawn(
                    SpawnOrder(
                        timestamp: timestamp,
                        counts: [.init(group: "a", phones: a), .init(group: "b", phones: b)], host: host))))
    }

    mutating func lease(_ phones: [(UInt32, String)], test: String = "t1") -> [LocustWorkerEffect] {
        self.handle(.received(.leased(test: test, Self.phones(phones))))
    }

    static func phones(_ phones: [(UInt32, String)]) -> [LeasedPhone] {
        phones.map { LeasedPhone(group: $0.1, number: DeviceNumber($0.0), lastScan: .none) }
    }

    /// Wakes the worker as often as it wants until that much time has passed; the master answers each
    /// heartbeat if it should.
    mutating func pass(_ time: Interval, answering: Bool) -> [LocustWorkerEffect] {
        let end = self.now + time
        var effects: [LocustWorkerEffect] = []
        while let wake = self.worker.nextWake, wake <= end {
            self.now = max(self.now, wake)
            let news = self.handle(.woke)
            effects += news
            if answering, news.contains(where: { $0.isHeartbeat }) {
                effects += self.handle(.received(.heartbeat))
            }
        }
        self.now = end
        return effects
    }

    static func counts(a: Int, b: Int = 0) -> [SpawnOrder.Count] {
        [.init(group: "a", phones: a), .init(group: "b", phones: b)]
    }
}

extension LocustWorkerEffect {
    var isHeartbeat: Bool {
        if case .send(.heartbeat) = self { true } else { false }
    }

    var isReport: Bool {
        if case .report = self { true } else { false }
    }
}
