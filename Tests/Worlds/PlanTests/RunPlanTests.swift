import Faults
import Phone
import Plan
import SimBase
import Testing

struct RunPlanTests {
    private let mixed = scenario([
        group("a", devices: 3, network: "edge"), group("b", devices: 1), group("c", devices: 2, idle: .fixed),
    ])

    @Test func `devices are numbered over the groups in their order`() {
        let plan = plan(mixed)
        #expect(plan.devices == 6)
        let names = (UInt32(0)..<6).map { plan.group(of: DeviceNumber($0)).spec.name }
        #expect(names == ["a", "a", "a", "b", "c", "c"])
        #expect(plan.groupIfAny(of: DeviceNumber(6)) == nil)
        #expect(plan.link(of: DeviceNumber(2), at: .zero) == LinkPreset.named("edge")?.profile)
    }

    @Test func `the idle timeout is two and a half pings of the embedded backend, unless the scenario says`()
    {
        let embedded = plan(mixed)
        #expect(
            embedded.groups.map(\.profile.stream.idleTimeout) == [
                .milliseconds(2_500), .milliseconds(2_500), .seconds(75),
            ])
        let foreign = RunPlan(mixed, target: .foreign)
        #expect(
            foreign.groups.map(\.profile.stream.idleTimeout) == [.seconds(75), .seconds(75), .seconds(75)])
    }

    @Test func `the shelf is the scenario's`() {
        let shelf = plan(mixed).shelf
        #expect((shelf.seed, shelf.booksMin, shelf.booksMax) == (42, 3, 8))
    }

    @Test func `scaling keeps the shape of the fleet and the load of a phone`() {
        let fleet = scenario([group("a", devices: 30), group("b", devices: 10)])
        #expect(fleet.scaled(devices: 40) == fleet)
        let double = fleet.scaled(devices: 80)
        #expect(double.groups.map(\.devices) == [60, 20])
        #expect(
            double.groups[0].load == .open(.constant(ArrivalRate(arrivals: 12, per: .seconds(1))), .poisson))
        #expect(fleet.scaled(devices: 7).groups.map(\.devices) == [5, 2])
    }

    @Test func `scaling takes no group's last phone`() {
        let fleet = scenario([group("a", devices: 97), group("b", devices: 2), group("c", devices: 1)])
        #expect(fleet.scaled(devices: 5).groups.map(\.devices) == [3, 1, 1])
        #expect(fleet.scaled(devices: 1).groups.map(\.devices) == [1, 1, 1])
    }

    @Test func `expected firings are what the draws will decide`() {
        let faults = [
            fault(.expireToken, chance: .percent(10)),
            fault(
                .phone(.offline), on: .link, window: FaultWindow(at: .seconds(8), length: .seconds(4)),
                scope: .share(.percent(50))),
            fault(
                .rateLimit(quota: Quota(requests: 1, window: .seconds(4)), retryAfter: nil), on: .upload,
                count: .eachAttempt),
            fault(.stripBooks(.absent), window: FaultWindow(at: .zero, length: .zero)),
        ]
        let plan = plan(scenario(faults: faults))
        let planner = plan.faultDesk
        var chosen = 0
        for arrival in plan.arrivals {
            let key = ExchangeKey(
                device: arrival.device, scan: ScanNumber(UInt32(arrival.ordinal)), operation: .stream,
                attempt: 1)
            if planner.decides(0, key, group: "commuters") { chosen += 1 }
        }
        let offline = (UInt32(0)..<40).count {
            !planner.phoneSchedule(device: DeviceNumber($0), group: "commuters").isEmpty
        }
        let firings = plan.expectedFirings
        #expect(firings[0] == chosen)
        #expect((5...25).contains(chosen))
        #expect(firings[1] == offline)
        #expect(
            (15...60).contains(firings[2]),
            "of 80 repeated captures about half come within 4 s: \(firings[2])")
        #expect(firings[3] == 0)
    }
}
