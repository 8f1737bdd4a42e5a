import Ledger
import Metrics
import SimBase

// What a verdict is worth without the evidence of some shards or phones.

extension RunResult {
    /// For `report --missing`. Notes parts of the fleet about which nothing is known, such as a worker that died: what held for the
    /// others is not known for the whole fleet.
    package mutating func lack(_ parts: [String]) {
        guard !parts.isEmpty else { return }
        self.add(parts.map { .merge(.noEvidence(of: $0)) })
        self.leaveRestOpen()
        self.judge(failures: self.exitReasons.failures)
    }

    /// Leaves open what the phones of a missing shard or worker may have changed. What the others have broken is
    /// broken. For merges as well (`ShardMerge.Defect`).
    mutating func leaveRestOpen() {
        self.isPartial = true
        self.verdicts = self.verdicts.map(\.notKnownOfAll)
        for index in self.groups.indices {
            self.groups[index].verdicts = self.groups[index].verdicts.map(\.notKnownOfAll)
        }
        self.slos = self.slos.map { $0.isCertainlyFailed ? $0 : $0.unjudged }
        self.drained = nil
    }
}

extension Verdict {
    fileprivate var notKnownOfAll: Verdict {
        var verdict = self
        switch self.standing {
        case .held: verdict.standing = .notAvailable
        case .broken, .brokenAsExpected, .notAvailable: break
        }
        return verdict
    }
}

extension SLOResult {
    /// Whether it has failed, and more phones could only make it worse: a count or a total cost that is too large, or a
    /// time of the whole run that is longer than any may be, or shorter.
    var isCertainlyFailed: Bool {
        guard self.passed == false else { return false }
        let condition = self.slo.condition
        switch (condition.threshold, self.value) {
        case (.number(let limit), _):
            return switch condition.comparison {
            case .less, .lessOrEqual: true
            case .equal: limit == 0
            case .greater, .greaterOrEqual, .notEqual: false
            }
        case (.time(let limit), .time(let time)?):
            // An operation that was open when its shard was killed has no length.
            guard condition.span == .wholeRun, !condition.comparison.holds(time, limit) else { return false }
            let isLowerLimit = [.greater, .greaterOrEqual].contains(condition.comparison)
            return condition.aggregation == .maximum && condition.isUpperLimit
                || condition.aggregation == .minimum && isLowerLimit
        case (.money, .money?): return self.slo.selector.metric == .cost(.total) && condition.isUpperLimit
        case (.time, _), (.share, _), (.money, _): return false
        }
    }
}
