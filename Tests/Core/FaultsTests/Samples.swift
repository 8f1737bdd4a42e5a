import Faults
import Observations
import SimBase
import Talaria

func spec(
    _ id: String, _ kind: FaultKind = .reset(.betweenEvents, .reply), on target: FaultTarget = .stream,
    chance: Odds = .always, window: FaultWindow = .always, trigger: FaultTrigger = .atOnce,
    count: FaultCount = .oncePerScan, scope: FaultScope = .everyone
) -> FaultSpec {
    FaultSpec(
        id: id, kind: kind, target: target, chance: chance, window: window, trigger: trigger, count: count,
        scope: scope)
}

func key(_ device: UInt32, _ scan: UInt32, _ operation: Talaria.Operation = .stream, attempt: UInt32 = 1)
    -> ExchangeKey
{
    ExchangeKey(
        device: DeviceNumber(device), scan: ScanNumber(scan), operation: operation, attempt: attempt)
}

func planner(_ specs: FaultSpec..., seed: UInt64 = 42) -> FaultPlanner {
    FaultPlanner(specs: specs, random: KeyedRandom(seed: seed))
}

extension FaultPlanner {
    /// Opens without looking at the observations.
    mutating func opened(
        _ key: ExchangeKey, by transport: StreamTransport = .sse, group: String = "g", at: Instant = .zero
    ) -> [ArmedFault] {
        var observations: [Observation] = []
        return self.open(key, by: transport, group: group, at: at, into: &observations)
    }
}

func seconds(_ count: Int64) -> Instant { .zero + .seconds(count) }
