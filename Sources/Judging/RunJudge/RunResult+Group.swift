import Ledger
package import Metrics
import RunMetrics

extension RunResult {
    /// Returns the result of one group alone, as if it were the fleet; nil if there is no such group.
    ///
    /// It has the objectives for the group, and the upper limits for the fleet, judged by the group's metrics. It has the
    /// expected failures that are about the group or that its phones had. Resources and open streams are those of all groups
    /// together: they are left out.
    package func part(_ name: String) -> RunResult? {
        guard let group = self.groups.first(where: { $0.name == name }) else { return nil }
        var part = self
        part.groups = [group]
        part.totals = group.totals
        part.verdicts = group.verdicts
        part.disconnections = group.tables.disconnections
        part.findings = group.tables.findings
        part.take(group.errors)
        part.metrics = self.metrics.part(name)
        part.slos = self.slos.filter { $0.slo.concerns(group: name) }.map { result in
            guard result.slo.selector.scope == .fleet else { return result }
            let found = result.slo.evaluate(against: part.metrics)
            return self.isInterrupted ? found.unjudged : found
        }
        part.expectations = Expectations(
            self.expectations.breaks.filter { expected in
                switch (expected, expected.scope) {
                case (_, .group(let scope)): scope == name
                case (.objectives, .fleet): false
                case (.invariant(let id, _), .fleet):
                    expected.covers(invariant: id, group: name, groups: self.expectations.groups)
                        && group.verdicts.contains { $0.invariant.rawValue == id && $0.violations > 0 }
                }
            }, groups: self.expectations.groups)
        part.resources = Resources(client: nil, backend: nil)
        part.streamsOpen = nil
        part.slow = nil
        part.judge(failures: self.exitReasons.failures)
        return part
    }
}

extension SLO {
    /// Whether the objective also says something about one group: it is for that group, or an upper limit for the whole fleet
    /// and the whole run, which then holds for any part. What the fleet has to reach, no group has to reach alone.
    package func concerns(group: String) -> Bool {
        switch self.selector.scope {
        case .group(let name): return name == group
        case .fleet:
            guard self.condition.span == .wholeRun, !self.selector.metric.isOfWholeFleet else { return false }
            switch self.condition.comparison {
            case .less, .lessOrEqual, .equal: return true
            case .greater, .greaterOrEqual, .notEqual: return false
            }
        }
    }
}
