import JSON
import Metrics
import SimBase

extension SummaryReader {
    /// Nil if there is none, or if it is not complete.
    static func capacity(_ node: JSONNode?) -> CapacitySummary? {
        guard let node, let plan = node["plan"], let from = Self.rate(plan["from"]),
            let by = Self.rate(plan["by"]), let to = Self.rate(plan["to"]), from <= to,
            let every = plan["every_s"]?.nanoseconds(9).map({ Interval(nanoseconds: $0) }),
            every >= RateSteps.everyMin, every == every.wholeSecondsUp
        else { return nil }
        let elements = node["steps"]?.elements ?? []
        let rows = elements.compactMap(Self.step)
        guard rows.count == elements.count else { return nil }
        return CapacitySummary(
            steps: RateSteps(from: from, by: by, to: to, every: every, refine: plan["refine"]?.count ?? 0),
            rows: rows, ending: node["ending"]?.text.flatMap { CapacityEnding(rawValue: $0) })
    }

    private static func rate(_ node: JSONNode?) -> StepRate? {
        guard let hourly = node?["per_hour"]?.integer(Int64.self), hourly > 0 else { return nil }
        return StepRate(perHour: hourly)
    }

    private static func step(_ node: JSONNode) -> CapacitySummary.Row? {
        func moment(_ key: String) -> Instant? {
            node[key]?.nanoseconds(9).map { Instant(nanoseconds: $0) }
        }
        func time(_ key: String) -> Interval? { node[key]?.nanoseconds(6).map { Interval(nanoseconds: $0) } }
        guard let rate = Self.rate(node["rate"]), let from = moment("from_s"), let to = moment("to_s"),
            let judgedFrom = moment("judged_from_s"), let judgedTo = moment("judged_to_s")
        else { return nil }
        return CapacitySummary.Row(
            rate: rate, from: from, to: to, judgedFrom: judgedFrom, judgedTo: judgedTo, p50: time("p50"),
            p95: time("p95"), completed: node["completed"]?.integer(Int64.self) ?? 0,
            unfinished: node["unfinished"]?.integer(Int64.self) ?? 0, held: node["held"]?.flag,
            isRefinement: node["refinement"]?.flag ?? false,
            reasons: (node["reasons"]?.elements ?? []).compactMap(\.text))
    }
}
