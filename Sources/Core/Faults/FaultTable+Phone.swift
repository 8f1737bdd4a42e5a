import SimBase

extension FaultTable {
    /// What may happen to a phone. These have times: `at` may be a range, drawn for each phone, and `for` is how long.
    static let phone: [FaultKindEntry] = [
        FaultKindEntry(
            "offline", .phone, on: [.link], count: nil, mustEnd: true,
            does: "the phone has no path: nothing leaves or reaches it, and no goodbye is said",
            example: "{do: offline, scope: 50% of devices, at: 8s, for: 4s}"),
        FaultKindEntry(
            "handover", .phone, on: [.link], count: nil,
            for: .milliseconds(300),
            does:
                "changes the network: connections die without a goodbye, and `for` later there is a new path",
            example: "{do: handover, at: 3s..9s}"),
        FaultKindEntry(
            "background", .phone, on: [.app], count: nil, mustEnd: true,
            does: "sends the app to the background",
            example: "{do: background, scope: 40% of devices, at: 4s..8s, for: 3s}"),
        FaultKindEntry(
            "kill", .phone, on: [.app], after: [.records, .step], count: nil, for: .seconds(1),
            does:
                "kills the app without a goodbye and starts it again `for` later: at a moment, or between two records that it writes",
            example: "{do: kill, scope: 50% of devices, at: 2s..12s, for: 500ms}"),
        FaultKindEntry(
            "reinstall", .phone, on: [.app], count: nil, for: .seconds(1),
            does:
                "removes the app with all it stored and installs it again `for` later, with a new device id",
            example: "{do: reinstall, scope: 10% of devices, at: 5s..9s}"),
        FaultKindEntry(
            "clock-skew", .phone, on: [.app], count: nil,
            fields: [
                .required("by", .offset, example: "-5m", "how far the phone's wall clock is off")
            ],
            does: "sets the phone's wall clock wrong",
            example: "{do: clock-skew, by: -5m, scope: 30% of devices}"),
        FaultKindEntry(
            "storage-full", .phone, on: [.app], after: [.records], count: nil, mustEnd: true,
            does:
                "lets the phone's storage run full: captures are refused, shown, and never dropped in silence",
            example: "{do: storage-full, scope: 20% of devices, at: 3s..6s, for: 2s}"),
    ]
}
