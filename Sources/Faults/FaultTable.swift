/// The layer in which a fault acts.
package enum FaultLayer: String, CaseIterable, Hashable, Sendable {
    case server, link, phone
}

/// A form that `after` may take.
package enum TriggerForm: String, CaseIterable, Hashable, Sendable {
    case time, events, bytes
}

/// What the value of a fault's own key must be.
package enum FaultFieldType: Hashable, Sendable {
    case duration
    /// `N per DURATION`.
    case quota
    /// One of these words.
    case choice([String])
    /// A place to cut, or `after-bytes: N`.
    case cut
}

/// A key that only one kind of fault takes.
package struct FaultField: Hashable, Sendable {
    package var name: String
    package var type: FaultFieldType
    /// Without a default a key is required, unless `isOptional`.
    package var defaultText: String?
    package var isOptional: Bool
    package var summary: String
}

/// One kind of fault, as scenario files may use it. The reader, its error messages, the schema, the plan and the
/// documentation are made from these.
package struct FaultKindEntry: Hashable, Sendable {
    package var name: String
    package var layer: FaultLayer
    /// Kinds that are designed but not built yet are listed, so that a scenario that asks for one hears the truth.
    package var isAvailable: Bool
    /// What `on` may say. With one place only, `on` may be left out.
    package var places: [FaultPlace]
    /// The forms of `after`; none means that the kind takes no `after`.
    package var triggers: [TriggerForm]
    /// The default of `count`; nil means that the kind takes none.
    package var defaultCount: FaultCount?
    package var fields: [FaultField]
    package var summary: String

    /// The keys that a fault of this kind may have, in the order in which they are documented.
    package var keys: [String] {
        var keys = ["do", "on", "id"] + self.fields.map(\.name) + ["chance", "at", "for"]
        if !self.triggers.isEmpty { keys.append("after") }
        if self.defaultCount != nil { keys.append("count") }
        return keys + ["scope"]
    }
}

/// Every kind of fault.
package enum FaultTable {
    /// The words of `cut`; `after-bytes` is written as a map, `cut: {after-bytes: 120}`, or as `after-bytes(120)`.
    package static let cutWords = ["between-events", "inside-event", "inside-utf8", "inside-line-end"]

    package static var available: [FaultKindEntry] { self.all.filter(\.isAvailable) }

    package static func entry(_ name: String) -> FaultKindEntry? {
        self.all.first { $0.name == name }
    }

    package static let all: [FaultKindEntry] = built + planned

    private static let built: [FaultKindEntry] = [
        FaultKindEntry(
            name: "rate-limit", layer: .server, isAvailable: true, places: [.upload], triggers: [],
            // A quota is a state of the server, not an accident of one scan: it holds for every request.
            defaultCount: .eachAttempt,
            fields: [
                FaultField(
                    name: "quota", type: .quota, defaultText: nil, isOptional: false,
                    summary: "how many uploads a device may make in which time"),
                FaultField(
                    name: "per", type: .choice(["device"]), defaultText: "device", isOptional: true,
                    summary: "whose requests are counted together"),
                FaultField(
                    name: "retry-after", type: .duration, defaultText: nil, isOptional: true,
                    summary:
                        "what the 429 tells the phone to wait; the rest of the quota's window unless told"),
            ],
            summary: "answers 429 to uploads beyond a quota"),
        FaultKindEntry(
            name: "strip-books", layer: .server, isAvailable: true, places: [.stream], triggers: [],
            defaultCount: .oncePerScan,
            fields: [
                FaultField(
                    name: "as", type: .choice(StrippedForm.allCases.map(\.rawValue)), defaultText: "absent",
                    isOptional: true, summary: "what the completed event has in place of its books")
            ],
            summary: "takes the books out of the completed event"),
        FaultKindEntry(
            name: "expire-token", layer: .server, isAvailable: true, places: [.stream],
            triggers: [.time, .events], defaultCount: .oncePerScan, fields: [],
            summary: "revokes the job's token and ends its open streams with FIN"),
        FaultKindEntry(
            name: "reset", layer: .link, isAvailable: true, places: [.stream],
            triggers: [.time, .events, .bytes], defaultCount: .oncePerScan,
            fields: [
                FaultField(
                    name: "cut", type: .cut, defaultText: "between-events", isOptional: true,
                    summary: "where the reset lands; with `after: N bytes` exactly there unless told")
            ],
            summary: "resets the connection (RST)"),
        FaultKindEntry(
            name: "offline", layer: .phone, isAvailable: true, places: [.link], triggers: [],
            defaultCount: nil, fields: [],
            summary: "the phone has no path: nothing leaves or reaches it, and no goodbye is said"),
    ]

    private static let planned: [FaultKindEntry] = [
        planned("http-error", .server, "answers with a status and a problem document"),
        planned("truncate-results", .server, "cuts the results short"),
        planned("job-gone", .server, "answers 404 or 410 for a job that should be there"),
        planned("retryable-error", .server, "ends the stream with a retryable error event"),
        planned("final-error", .server, "ends the stream with a final error event"),
        planned("degraded", .server, "sends enrichment_degraded for books"),
        planned("slow-stage", .server, "makes a stage of the job slow"),
        planned("unknown-event", .server, "sends an event that the contract does not know"),
        planned("bad-json", .server, "sends an event whose data is no JSON"),
        planned("no-message", .server, "sends progress without text"),
        planned("late-ping", .server, "sends pings late"),
        planned("no-ping", .server, "sends no pings"),
        planned("two-terminals", .server, "sends two terminal events"),
        planned("end-without-terminal", .server, "ends the stream without a terminal event"),
        planned("ignore-last-event-id", .server, "replays from the start whatever the phone has"),
        planned("forget-events", .server, "forgets the event buffer"),
        planned("close", .link, "closes the connection (FIN)"),
        planned("silence", .link, "leaves the connection half open"),
        planned("slice", .link, "writes in tiny pieces at nasty places"),
        planned("delay", .link, "delays what passes"),
        planned("bandwidth", .link, "limits the rate of what passes"),
        planned("loss", .link, "stalls as lost packets would"),
        planned("refuse", .link, "refuses connections"),
        planned("handover", .phone, "changes the network under the phone"),
        planned("background", .phone, "sends the app to the background"),
        planned("kill", .phone, "kills the app and starts it again"),
        planned("reinstall", .phone, "installs the app anew, with a new device id"),
        planned("clock-skew", .phone, "sets the phone's clock wrong"),
        planned("storage-full", .phone, "lets the phone's storage run full"),
    ]

    private static func planned(_ name: String, _ layer: FaultLayer, _ summary: String) -> FaultKindEntry {
        FaultKindEntry(
            name: name, layer: layer, isAvailable: false, places: [], triggers: [], defaultCount: nil,
            fields: [], summary: summary)
    }
}
