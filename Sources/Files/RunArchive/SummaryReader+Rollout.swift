import JSON
import Metrics
import RunMetrics
import SimBase
import Talaria

extension SummaryReader {
    /// Nil if there is none, or if it is not complete.
    static func rollout(_ node: JSONNode?) -> RolloutSummary? {
        guard let node, let arms = Self.arms(node["arms"]) else { return nil }
        let told = node["periods"]?.elements ?? []
        let periods = told.compactMap(Self.period)
        guard periods.count == told.count else { return nil }
        let changes = node["arm_changes"]
        return RolloutSummary(
            arms: arms, periods: periods, rollback: Self.rollback(node["rollback"]),
            changes: changes?["times"]?.count ?? 0, changedPhones: changes?["phones"]?.count ?? 0,
            harmedWithoutRollback: node["harmed_without_rollback"]?.count)
    }

    private static func arms(_ node: JSONNode?) -> [RolloutSummary.Arm]? {
        let arms = (node?.elements ?? []).compactMap(Self.arm)
        return arms.count == 2 ? arms : nil
    }

    private static func arm(_ node: JSONNode) -> RolloutSummary.Arm? {
        guard let transport = node["transport"]?.text.flatMap({ StreamTransport(rawValue: $0) }) else {
            return nil
        }
        func rate(_ key: String) -> FailureRate {
            let (failed, total) = (node[key]?["failed"]?.count ?? 0, node[key]?["total"]?.count ?? 0)
            return FailureRate(failed: Int64(min(failed, total)), total: Int64(total))
        }
        func time(_ key: String) -> Interval? { node[key]?.nanoseconds(6).map { Interval(nanoseconds: $0) } }
        var arm = RolloutSummary.Arm(transport)
        arm.phones = node["phones"]?.count ?? 0
        arm.scans = node["scans"]?.count ?? 0
        arm.completed = node["completed"]?.count ?? 0
        arm.failures = (node["failures"]?.elements ?? []).compactMap { row in
            guard let cause = row["cause"]?.text, let count = row["count"]?.count else { return nil }
            return .init(cause: cause, count: count)
        }
        (arm.jobs, arm.connects, arm.complaints) = (rate("jobs"), rate("connects"), rate("complaints"))
        arm.people = node["people"]?.count ?? 0
        (arm.p50, arm.p95) = (time("p50"), time("p95"))
        return arm
    }

    private static func odds(_ node: JSONNode?) -> Odds? {
        node?.count.flatMap { (0...1_000_000).contains($0) ? Odds(perMillion: UInt32($0)) : nil }
    }

    private static func moment(_ node: JSONNode?) -> Instant? {
        node?.nanoseconds(9).map { Instant(nanoseconds: $0) }
    }

    private static func period(_ node: JSONNode) -> RolloutSummary.Period? {
        guard let share = Self.odds(node["share_ppm"]), let from = Self.moment(node["from_s"]),
            let arms = Self.arms(node["arms"])
        else { return nil }
        return .init(stage: node["stage"]?.count, share: share, from: from, arms: arms)
    }

    private static func rollback(_ node: JSONNode?) -> RolloutSummary.Rollback? {
        guard let node, let at = Self.moment(node["at_s"]), let value = Self.odds(node["value_ppm"]),
            let limit = Self.odds(node["limit_ppm"]),
            let measure = node["measure"]?.text.flatMap({ RolloutMeasure(rawValue: $0) })
        else { return nil }
        return .init(
            at: at, measure: measure, value: value, limit: limit,
            recovery: node["recovered_after_s"]?.nanoseconds(9).map { Interval(nanoseconds: $0) })
    }
}
