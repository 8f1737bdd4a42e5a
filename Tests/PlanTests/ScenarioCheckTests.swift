import Faults
import Plan
import SimBase
import Testing

struct ScenarioCheckTests {
    private func subjects(_ faults: FaultSpec...) -> [ScenarioFinding.Subject] {
        ScenarioCheck.findings(scenario(faults: faults)).map(\.subject)
    }

    @Test func `a sound scenario has no findings`() {
        #expect(
            subjects(
                fault(.reset(.insideEvent, .reply), chance: .percent(35), trigger: .afterEvents(1...4)),
                fault(.expireToken, chance: .percent(10), trigger: .afterTime(.seconds(1)...(.seconds(1)))),
                fault(.stripBooks(.absent), count: .eachAttempt),
                fault(
                    .rateLimit(quota: Quota(requests: 1, window: .seconds(4)), retryAfter: nil), on: .upload,
                    count: .eachAttempt),
                fault(.offline, on: .link, window: FaultWindow(at: .seconds(8), length: .seconds(4)))) == [])
    }

    @Test func `being offline for ever lets no scan through`() {
        #expect(subjects(fault(.offline, on: .link)) == [.fault(0, key: "do")])
        #expect(subjects(fault(.offline, on: .link, chance: .never)) == [])
    }

    @Test func `a reset of every attempt before any event lets no scan through`() {
        for cut in [Cut.betweenEvents, .insideEvent, .afterBytes(10)] {
            for trigger in [
                FaultTrigger.atOnce, .afterEvents(0...0), .afterBytes(0...20), .afterTime(.zero ... .zero),
            ] {
                let doomed = fault(
                    .reset(cut, .reply), chance: .percent(20), trigger: trigger, count: .eachAttempt)
                #expect(subjects(doomed) == [.fault(0, key: "count")], "\(cut) \(trigger)")
                var once = doomed
                once.count = .oncePerScan
                #expect(subjects(once) == [], "once per scan can be survived")
                var over = doomed
                over.window = FaultWindow(at: .zero, length: .seconds(5))
                #expect(subjects(over) == [], "a fault that ends can be waited out")
            }
        }
        #expect(
            subjects(fault(.reset(.insideEvent, .reply), trigger: .afterEvents(0...1), count: .eachAttempt))
                == [])
        #expect(subjects(fault(.reset(.insideUTF8, .reply), count: .eachAttempt)) == [])
        #expect(subjects(fault(.reset(.afterBytes(500), .reply), count: .eachAttempt)) == [])
    }

    @Test func `a token that is gone at once on every stream lets no scan through`() {
        #expect(subjects(fault(.expireToken, count: .eachAttempt)) == [.fault(0, key: "count")])
        #expect(subjects(fault(.expireToken)) == [])
    }

    @Test func `a quota of nothing lets no scan through`() {
        let quota = FaultKind.rateLimit(quota: Quota(requests: 0, window: .seconds(4)), retryAfter: nil)
        #expect(subjects(fault(quota, on: .upload, count: .eachAttempt)) == [.fault(0, key: "quota")])
        var limited = scenario()
        limited.server.backend.rateLimit = Quota(requests: 0, window: .seconds(4))
        #expect(ScenarioCheck.findings(limited).map(\.subject) == [.server(key: "rate-limit")])
    }

    @Test func `a fault that wakes when all is over is a mistake`() {
        // 120 scans at 6 a second are over after 20 s, and drained after 50 s.
        let late = FaultWindow(at: .seconds(50), length: .seconds(4))
        #expect(subjects(fault(.offline, on: .link, window: late)) == [.fault(0, key: "at")])
        let inTime = FaultWindow(at: .seconds(49), length: .seconds(4))
        #expect(subjects(fault(.offline, on: .link, window: inTime)) == [])
        let short = scenario(faults: [fault(.offline, on: .link, window: inTime)], duration: .seconds(5))
        #expect(ScenarioCheck.findings(short).map(\.subject) == [.fault(0, key: "at")])
    }

    @Test func `an impossible backend is told`() {
        var impossible = scenario()
        impossible.server.backend.ping = .zero
        #expect(
            ScenarioCheck.findings(impossible).map(\.message)
                == ["impossible backend: pings must be at least a millisecond apart"])
    }

    @Test func `sizes beyond every machine are told, without counting them out`() {
        let huge = scenario([
            group(devices: 1_000_001, scans: 1_000_000, arrivals: ArrivalRate(arrivals: 1, per: .hours(1)))
        ])
        #expect(
            ScenarioCheck.findings(huge).map(\.subject) == [.scenario, .group(0, key: "arrivals"), .scenario])
        let largest = scenario([group(devices: .max, scans: .max)])
        #expect(!ScenarioCheck.findings(largest).isEmpty)
    }
}
