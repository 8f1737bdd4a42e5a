import Metrics
import RunControl
import SimBase
import Talaria

/// Reads `rollback` of a rollout: conditions in the grammar of the objectives, each with a window, by what they are about.
struct RollbackReader {
    private static let off = "off"

    static let schema: JSONSchema = {
        let measures = RolloutMeasure.allCases.map { measure in
            (measure.rawValue, JSONSchema.text(".*", "a condition", examples: [Self.example(measure)]))
        }
        var schema = JSONSchema.choice(
            .choice([Self.off, "false"]), orTypes: ["object", "boolean"], "a map of conditions, or `off`")
        schema.properties = Dictionary(uniqueKeysWithValues: measures)
        schema.isClosed = true
        return schema
    }()

    let findings: Findings

    func triggers(_ node: Node) -> [RolloutTrigger] {
        if case .scalar(let text) = node.content, [Self.off, "false"].contains(text) { return [] }
        guard
            let map = MapReader(
                node, what: "a rollback", keys: RolloutMeasure.allCases.map(\.rawValue), planned: [],
                findings: self.findings)
        else { return [] }
        return map.entries.compactMap { entry in
            RolloutMeasure(rawValue: entry.key).flatMap { self.trigger($0, entry.value) }
        }
    }

    static func text(_ triggers: [RolloutTrigger]) -> String {
        let conditions = triggers.map {
            "\($0.measure.rawValue): \(ScenarioWriter.quoted($0.condition.description))"
        }
        return triggers.isEmpty ? Self.off : "{\(conditions.joined(separator: ", "))}"
    }

    private static func example(_ measure: RolloutMeasure) -> String {
        switch measure {
        case .errors: "rate > 5% over 5m"
        case .connects: "rate < 95% over 5m"
        case .complaints: "value > 2 over 5m"
        }
    }

    private func trigger(_ measure: RolloutMeasure, _ node: Node) -> RolloutTrigger? {
        guard case .scalar(let text) = node.content else {
            self.findings.add(
                node.location, "`\(measure.rawValue)` must be a condition, not \(node.text)",
                help: "for example `\(Self.example(measure))`")
            return nil
        }
        do throws(SLOError) {
            let condition = try SLOCondition(parsing: text, for: measure.kind)
            if let trigger = RolloutTrigger(measure, condition) { return trigger }
            self.findings.add(
                node.location,
                "a condition of `\(measure.rawValue)` is of \(measure.aggregation) over a time",
                help: "for example `\(Self.example(measure))`")
        } catch {
            self.findings.report(error, in: node, text)
        }
        return nil
    }
}
