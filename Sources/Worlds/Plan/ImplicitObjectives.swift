package import Metrics
package import SimBase

/// The default objectives of every run (Docs/design.md section 11.1): nothing is lost, missing or unfinished
/// at the end, and nothing is refused without a reason.
package enum ImplicitObjective {
    /// The metrics in the order of the reports. Each is a count that must be 0.
    package static let metrics: [CountMetric] = [
        .scansLost, .scansWaiting, .booksMissing, .scansRefusedUnexplained, .cleanupUnfinished,
    ]

    /// Those of a run against a foreign backend.
    package static let ofTarget: [CountMetric] = [.contractBreaking]

    /// What an overload leaves behind that the scenario makes on purpose: in a load in steps a miss only warns.
    package static let ofOverload: Set<CountMetric> = [
        .scansWaiting, .scansRefusedUnexplained, .cleanupUnfinished,
    ]

    /// The expectation that no scan is completed, which a scenario can name without an objective.
    package static let nothingCompleted = MetricSelector(metric: .count(.scansCompleted), scope: .fleet)
}

extension Scenario {
    /// The objectives of a run: those that the scenario states, then the implicit ones that it does not replace.
    ///
    /// An objective on the same metric replaces an implicit one for the fleet, or for its group. Where a group is treated
    /// apart, each of the others has an objective of its own.
    package func objectives(against target: PlanTarget) -> [SLO] {
        let trial = target == .foreign && self.trial.isOn ? ImplicitObjective.ofTarget : []
        return self.slos + (ImplicitObjective.metrics + trial).flatMap { self.implicit($0, against: target) }
    }

    private func implicit(_ metric: CountMetric, against target: PlanTarget) -> [SLO] {
        var replacing: [Metric] = [.count(metric)]
        // No fault is known of somebody else's backend: whoever counts its refusals need not explain them.
        if metric == .scansRefusedUnexplained, target == .foreign { replacing.append(.count(.scansRefused)) }
        let stated = self.slos.map(\.selector).filter { replacing.contains($0.metric) }.map(\.scope)
        guard !stated.contains(.fleet) else { return [] }
        let isApart = self.expectBroken.contains { expected in
            guard case .objectives(let selector) = expected else { return false }
            return selector.metric == .count(metric)
                && (selector.scope != .fleet || self.groupsExpectedToBreak != nil)
        }
        let groups = self.groups.map { MetricScope.group($0.name) }
        let scopes = stated.isEmpty && !isApart ? [.fleet] : groups.filter { !stated.contains($0) }
        // Steps end in an overload: what it leaves unfinished is not a failure, and what it loses is one.
        let isOfOverload = self.steps != nil && ImplicitObjective.ofOverload.contains(metric)
        return scopes.map { scope in
            SLO(
                selector: MetricSelector(metric: .count(metric), scope: scope), condition: .none,
                severity: isOfOverload ? .warn : .error, abort: false, origin: .implicit)
        }
    }

    /// Returns the default time for unfinished scans after the last arrival: the longest time that the
    /// objectives allow a scan.
    package static func drainDefault(_ slos: [SLO]) -> Interval {
        let limits = slos.compactMap { slo -> Interval? in
            guard slo.selector.metric == .latency(.scanTime),
                case .time(let nanoseconds) = slo.condition.threshold,
                [.less, .lessOrEqual].contains(slo.condition.comparison)
            else { return nil }
            return Interval(nanoseconds: nanoseconds)
        }
        return min(max(self.drainDefault, limits.max() ?? .zero), ScenarioLimit.timeMax)
    }
}
