import Faults
import Plan
import Talaria

extension ScenarioSchema {
    /// A list, each entry by the kind that its `do` names. An empty value is an empty list.
    static var faults: JSONSchema {
        let names = FaultTable.all.map(\.name)
        let fault = JSONSchema(
            types: ["object"],
            properties: ["do": JSONSchema.choice(names).described("the kind of the fault")],
            required: ["do"],
            allOf: FaultTable.all.map { entry in
                let kind = JSONSchema(
                    properties: ["do": JSONSchema(const: entry.name)], required: ["do"])
                return JSONSchema(condition: JSONSchema.Condition(kind, then: Self.fault(entry)))
            })
        var faults = JSONSchema.list(of: fault, max: ScenarioLimit.faultsMax)
        faults.types = ["array", "null"]
        return faults.described("faults to inject: what, where, when and how often")
    }

    static func fault(_ entry: FaultKindEntry) -> JSONSchema {
        var keys: [String: JSONSchema] = [
            "do": JSONSchema(const: entry.name).described(entry.summary),
            "on": JSONSchema.choice(entry.targets.map(\.rawValue))
                .described("what the fault acts on"),
            "id": .name.described("name of the fault (default: `<kind>-<ordinal within the kind>`)"),
            "key": .text(
                "[0-9a-fA-F]{16}", "text", examples: ["00c0ffee00c0ffee"], types: ["string", "number"]
            ).described(
                "key of its random decisions (default: derived from its `id`, or from all of its keys)"),
            "chance": .share.described(
                "probability, drawn once per scan and operation; for a fault of the phone, once per phone"),
            "at": (entry.hasSpread ? JSONSchema.durations : .duration).described(
                "when the fault starts, from the start of the run"),
            "for": .duration.described("duration of the fault"),
            "scope": .text(
                "\(JSONSchema.number)% *(of (phones|devices))?|phone [0-9]+|\(JSONSchema.namePattern)",
                "text",
                examples: ["all", "50% of phones", "phone 7"], types: ["string", "number", "boolean"]
            ).described(
                "affected phones: `all`, a share such as `50% of phones`, the name of a group, or one such as `phone 7`"
            ),
        ]
        keys.merge(Self.selectors(entry)) { key, _ in key }
        if !entry.triggers.isEmpty {
            keys["after"] = Self.after(entry.triggers)
                .described("what must happen before the fault takes effect")
        }
        if entry.defaultCount != nil {
            keys["count"] = Self.count
        }
        for field in entry.fields {
            var schema = Self.value(field.type).described(field.summary)
            schema.default = field.defaultText.map { JSONSchema.Literal(scalar: $0) }
            keys[field.name] = schema
        }
        let required = entry.fields.filter { !$0.isOptional }.map(\.name)
        return .map(keys, required: ["do"] + required + (entry.defaultTarget == nil ? ["on"] : []))
    }

    /// The requests that a fault may affect.
    private static func selectors(_ entry: FaultKindEntry) -> [String: JSONSchema] {
        var keys: [String: JSONSchema] = [:]
        if entry.layer != .phone {
            keys["scan"] = .integer(1...ScenarioLimit.scansPerDeviceMax).described(
                "the scan of a phone that it affects (default: all)")
            keys["attempt"] = .integer(1...ScenarioLimit.scansPerDeviceMax).described(
                "the attempt of a request that it affects (default: all)")
        }
        if entry.targets.contains(.stream) {
            keys["transport"] = .choice(StreamTransport.allCases.map(\.rawValue)).described(
                "the transport of the streams that it affects, with `on: stream` (default: both)")
        }
        return keys
    }

    private static var count: JSONSchema {
        JSONSchema(
            description: "how often it acts: `once` or a maximum per scan, or at each attempt",
            types: ["integer", "string"], pattern: JSONSchema.whole("once|each-attempt|[0-9]+"),
            minimum: 1, maximum: 1_000_000, examples: ["once", "each-attempt"])
    }

    private static func after(_ forms: [TriggerForm]) -> JSONSchema {
        func counted(_ unit: String) -> String { "[0-9]+(\\.\\.[0-9]+)? *\(unit)s?" }
        let times = "\(JSONSchema.time)(\\.\\.\(JSONSchema.time))?"
        let parts = forms.map { form -> (pattern: String, examples: [String]) in
            switch form {
            case .time: (times, ["1s", "1s..3s"])
            case .events: (counted("event"), ["2 events", "1..4 events"])
            case .bytes:
                (counted("byte") + "|\(JSONSchema.number)(B|kB|MB|GB|KiB|MiB|GiB)", ["120 bytes", "4KiB"])
            case .records: (counted("record"), ["3 records"])
            case .step:
                (
                    ScanStep.allCases.map(\.rawValue).joined(separator: "|"),
                    ScanStep.allCases.map(\.rawValue)
                )
            }
        }
        return .text(
            parts.map(\.pattern).joined(separator: "|"), "text", examples: parts.flatMap(\.examples))
    }

    private static func value(_ type: FaultFieldType) -> JSONSchema {
        switch type {
        case .duration: .duration
        case .durations: .durations
        case .offset: .offset
        case .quota: .quota
        case .integer(let range): .integer(range)
        case .integers(let range): .integers(range)
        case .share: .share
        case .bitRate: .bitRate
        case .toggle: .toggle
        case .choice(let words): .choice(words)
        case .code: .code
        case .cut: Self.cut
        }
    }

    private static var cut: JSONSchema {
        let words = FaultTable.cutWords
        var cut = JSONSchema.text(
            (words + [#"after-bytes\([0-9]+\)"#]).joined(separator: "|"), "text",
            examples: words + ["after-bytes(120)"])
        cut.types? += ["object"]
        cut.properties = [
            "after-bytes": JSONSchema.integer(0...Int(Int32.max)).described("bytes before the cut")
        ]
        cut.required = ["after-bytes"]
        cut.isClosed = true
        return cut
    }
}
