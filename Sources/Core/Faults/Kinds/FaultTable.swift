package import SimBase

/// A form that `after` may take.
package enum TriggerForm: String, CaseIterable, Hashable, Sendable {
    case time, events, bytes, records
    /// A word of `ScanStep`.
    case step
}

/// A key that only some kinds of faults take.
package struct FaultField: Hashable, Sendable {
    package var name: String
    package var type: FaultFieldType
    /// The default of the key, as a scenario would write it.
    package var defaultText: String?
    /// Whether the key may be left out although it has no default.
    package var isOptional: Bool
    /// An example, for error messages and documentation.
    package var example: String
    package var summary: String

    static func required(_ name: String, _ type: FaultFieldType, example: String, _ summary: String) -> Self {
        Self(
            name: name, type: type, defaultText: nil, isOptional: false, example: example, summary: summary)
    }

    static func standard(_ name: String, _ type: FaultFieldType, _ text: String, _ summary: String) -> Self {
        Self(
            name: name, type: type, defaultText: text, isOptional: true, example: text, summary: summary)
    }

    static func optional(_ name: String, _ type: FaultFieldType, example: String, _ summary: String) -> Self {
        Self(name: name, type: type, defaultText: nil, isOptional: true, example: example, summary: summary)
    }
}

/// One kind of fault, as scenario files may use it. The reader, its error messages, the schema, the plan and the
/// documentation are made from these.
package struct FaultKindEntry: Hashable, Sendable {
    package var id: FaultKindID
    package var name: String
    package var layer: FaultLayer
    package var traits: FaultTraits
    /// The allowed values of `on`.
    package var targets: [FaultTarget]
    /// The default of `on`; nil if the key is required.
    package var defaultTarget: FaultTarget?
    /// The forms of `after`; none means that the kind takes no `after`.
    package var triggers: [TriggerForm]
    /// The default of `count`; nil means that the kind takes none.
    package var defaultCount: FaultCount?
    package var fields: [FaultField]
    /// Whether it must end: without a `for` of its own it would never let a scan through.
    package var mustEnd: Bool
    /// The default of `for`.
    package var defaultLength: Interval?
    package var summary: String
    /// One line of a scenario that uses it.
    package var example: String

    init(
        _ id: FaultKindID, _ name: String, _ layer: FaultLayer, _ traits: FaultTraits,
        on targets: [FaultTarget],
        orElse defaultTarget: FaultTarget? = nil,
        after triggers: [TriggerForm] = [], count: FaultCount? = .oncePerScan, mustEnd: Bool = false,
        for length: Interval? = nil, fields: [FaultField] = [], does summary: String, example: String
    ) {
        self.id = id
        self.name = name
        self.layer = layer
        self.traits = traits
        self.targets = targets
        self.defaultTarget = targets.count == 1 ? targets[0] : defaultTarget
        self.triggers = triggers
        self.defaultCount = count
        self.fields = fields
        self.mustEnd = mustEnd
        self.defaultLength = length
        self.summary = summary
        self.example = example
    }

    /// Whether `at` may be a range, drawn for each phone.
    package var hasSpread: Bool { self.layer == .phone }

    /// The keys that a fault of this kind may have, in the order in which they are documented.
    package var keys: [String] {
        var keys = ["do", "on", "id", "key"] + self.fields.map(\.name) + ["chance", "at", "for"]
        if !self.triggers.isEmpty { keys.append("after") }
        if self.defaultCount != nil { keys.append("count") }
        if self.targets.contains(.stream) { keys.append("transport") }
        return keys + ["scope"] + (self.layer == .phone ? [] : ["scan", "attempt"])
    }
}

/// Every kind of fault.
package enum FaultTable {
    /// The words of `cut`; `after-bytes` is written as a map, `cut: {after-bytes: 120}`, or as `after-bytes(120)`.
    package static let cutWords = ["between-events", "inside-event", "inside-utf8", "inside-line-end"]

    /// All kinds, in the order of `FaultKindID`.
    package static let all: [FaultKindEntry] = Self.server + Self.link + Self.phone + Self.sockets

    /// All kinds, or those of a fleet without a WebSocket.
    package static func kinds(withSockets: Bool) -> ArraySlice<FaultKindEntry> {
        withSockets ? self.all[...] : self.all.dropLast(self.sockets.count)
    }

    package static func entry(_ name: String) -> FaultKindEntry? {
        self.all.first { $0.name == name }
    }
}
