import Phone
import Plan
import SimBase

/// Reads `cancel`: which scans of a group the user cancels, and when.
struct CancelReader {
    static let keys = ScenarioKeys<CancelPolicy>(
        what: "a cancel",
        rows: [
            .init(
                "chance", .share, "scans that the user cancels, unless they are over before",
                read: Self.readChance, write: { ValueForm.share.write($0.chance) }),
            .init(
                "after", \.after, .durations(max: ScenarioLimit.timeMax),
                "time from the first 202 of a scan to its cancel (default: 1s..5s)"),
        ])

    @Sendable private static func readChance(_ map: MapReader, _ policy: inout CancelPolicy) {
        let form = ValueForm.share.checked(
            ValueError(
                "a user who cancels nothing has no `cancel`",
                help: "leave `cancel` out, or use `chance: 10%`")
        ) { $0 > .never }
        let chance = map.required("chance", example: "10%") { text throws(ValueError) in
            try form.read("chance", text)
        }
        policy.chance = chance ?? policy.chance
    }
}
