import Backend
import Faults
import Metrics
import Phone
import Plan
import SimBase

func group(
    _ name: String = "commuters", devices: Int = 40, scans: Int = 3,
    arrivals: ArrivalRate = ArrivalRate(arrivals: 6, per: .seconds(1)), spacing: ArrivalSpacing = .poisson,
    load: LoadModel? = nil, network: String = "lte", idle: IdleTimeout = .automatic
) -> FleetGroup {
    guard let preset = LinkPreset.named(network) else { preconditionFailure("no such preset") }
    return FleetGroup(
        name: name, devices: devices, profile: .contract, idleTimeout: idle,
        network: .always(NamedLink(preset)),
        scansPerDevice: scans, load: load ?? .open(.constant(arrivals), spacing),
        photos: .folder("shelves"), preprocess: .once)
}

func scenario(
    _ groups: [FleetGroup] = [group()], seed: UInt64 = 42, faults: [FaultSpec] = [],
    ping: Interval = .seconds(1), duration: Interval? = nil
) -> Scenario {
    var server = ServerSettings.contract
    server.backend.ping = ping
    return Scenario(
        name: "sample", description: "", seed: seed, groups: groups, server: server, faults: faults, slos: [],
        drain: .seconds(30), duration: duration)
}

func fault(
    _ kind: FaultKind, on target: FaultTarget = .stream, chance: Odds = .always,
    window: FaultWindow = .always, trigger: FaultTrigger = .atOnce, count: FaultCount = .oncePerScan,
    scope: FaultScope = .everyone
) -> FaultSpec {
    FaultSpec(
        id: "\(kind.name)-1", kind: kind, target: target, chance: chance, window: window, trigger: trigger,
        count: count, scope: scope)
}

func plan(_ scenario: Scenario) -> RunPlan { RunPlan(scenario, target: .embedded) }
