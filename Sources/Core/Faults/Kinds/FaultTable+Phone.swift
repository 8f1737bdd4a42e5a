import SimBase

extension FaultTable {
    /// The faults of the phone. These have times: `at` may be a range, drawn for each phone, and `for` is how
    /// long.
    static let phone: [FaultKindEntry] = [
        FaultKindEntry(
            .offline, "offline", .phone, .resumesScans, on: [.link], count: nil, mustEnd: true,
            does: "takes the phone offline: no data leaves or reaches it, and connections are not closed",
            example: "{do: offline, scope: 50% of phones, at: 8s, for: 4s}"),
        FaultKindEntry(
            .handover, "handover", .phone, .resumesScans, on: [.link], count: nil,
            for: .milliseconds(300),
            does:
                "changes the network: connections die without being closed, and a new path is available after `for`",
            example: "{do: handover, at: 3s..9s}"),
        FaultKindEntry(
            .background, "background", .phone, [.sparesPath, .needsApp, .resumesScans], on: [.app],
            count: nil, mustEnd: true,
            does: "sends the app to the background",
            example: "{do: background, scope: 40% of phones, at: 4s..8s, for: 3s}"),
        FaultKindEntry(
            .kill, "kill", .phone, [.sparesPath, .needsApp, .tearsStorage, .resumesScans], on: [.app],
            after: [.records, .step], count: nil, for: .seconds(1),
            does:
                "kills the app and starts it again after `for`: at a time, or between two records that it writes",
            example: "{do: kill, scope: 50% of phones, at: 2s..12s, for: 500ms}"),
        FaultKindEntry(
            .reinstall, "reinstall", .phone, [.sparesPath, .needsApp, .tearsStorage, .resumesScans],
            on: [.app], count: nil, for: .seconds(1),
            does:
                "removes the app with all its data and installs it again after `for`, with a new device id",
            example: "{do: reinstall, scope: 10% of phones, at: 5s..9s}"),
        FaultKindEntry(
            .clockSkew, "clock-skew", .phone, .sparesPath, on: [.app], count: nil,
            fields: [
                .required("by", .offset, example: "-5m", "offset of the phone's wall clock")
            ],
            does: "shifts the phone's wall clock",
            example: "{do: clock-skew, by: -5m, scope: 30% of phones}"),
        FaultKindEntry(
            .storageFull, "storage-full", .phone, [.sparesPath, .tearsStorage], on: [.app], after: [.records],
            count: nil, mustEnd: true,
            does:
                "fills the phone's storage: captures are refused visibly, never dropped silently",
            example: "{do: storage-full, scope: 20% of phones, at: 3s..6s, for: 2s}"),
    ]
}
