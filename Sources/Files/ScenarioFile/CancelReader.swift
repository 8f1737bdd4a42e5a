import Phone
import Plan
import SimBase

/// Reads `cancel`: which scans of a group the user cancels, and when.
struct CancelReader {
    static let keys = ["chance", "after"]

    let findings: Findings

    static let schema = JSONSchema.map(
        [
            "chance": .share.described("scans that the user cancels, unless they are over before"),
            "after": .durations.described(
                "time from the first 202 of a scan to its cancel (default: 1s..5s)"),
        ], required: ["chance"])

    /// - Parameter node: The value of the key; nil for a user who cancels nothing.
    func policy(_ node: Node?) -> CancelPolicy {
        var policy = CancelPolicy()
        guard let node,
            let map = MapReader(node, what: "a cancel", keys: Self.keys, planned: [], findings: self.findings)
        else { return policy }
        let chance = map.required("chance", example: "10%") { text throws(ValueError) in
            let chance = try Values.share(text)
            guard chance > .never else {
                throw ValueError(
                    "a user who cancels nothing has no `cancel`",
                    help: "leave `cancel` out, or use `chance: 10%`")
            }
            return chance
        }
        policy.chance = chance ?? policy.chance
        policy.after = map.value("after", default: policy.after) { text throws(ValueError) in
            try Values.durations(text, max: ScenarioLimit.timeMax)
        }
        return policy
    }
}

extension CancelPolicy {
    /// On one line, as a scenario has it.
    var text: String {
        "{chance: \(Units.percent(Int64(self.chance.perMillion))), after: \(Units.text(self.after))}"
    }
}
