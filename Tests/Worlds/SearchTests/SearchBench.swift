import Faults
import Phone
import Plan
import SimBase
import VirtualWorld

/// A small scenario for searches.
enum SearchBench {
    static func scenario(
        devices: Int = 4, toggles: [ProfileToggle] = [], faults: [FaultSpec] = []
    ) -> Scenario {
        var profile = ClientProfile.contract
        for toggle in toggles { toggle.apply(to: &profile) }
        let group = FleetGroup(
            name: "all", devices: devices, profile: profile,
            toggles: toggles.map { ToggleSetting($0, isOn: true) }, idleTimeout: .automatic,
            network: .always(NamedLink(name: "perfect", profile: .perfect)), scansPerDevice: 2,
            load: .open(.constant(ArrivalRate(arrivals: 1, per: .seconds(1))), .uniform),
            photos: .folder("none"), preprocess: .once)
        var server = ServerSettings.contract
        server.backend.ping = .seconds(1)
        server.backend.jobTime = .seconds(1)...Interval.seconds(3)
        return Scenario(
            name: "search", description: "", seed: 1, groups: [group], server: server, faults: faults,
            slos: [], drain: .seconds(30), duration: nil)
    }

    static func fault(
        _ kind: FaultKind, on target: FaultTarget, id: String, chance: Odds = .always,
        after trigger: FaultTrigger = .atOnce
    ) -> FaultSpec {
        FaultSpec(
            id: id, kind: kind, target: target, chance: chance, window: .always, trigger: trigger,
            count: .oncePerScan, scope: .everyone)
    }

    static func plan(_ scenario: Scenario) -> WorldPlan { WorldPlan(RunPlan(scenario, target: .embedded)) }
}
