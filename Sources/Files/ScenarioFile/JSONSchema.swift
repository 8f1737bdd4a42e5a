/// As much of JSON Schema (draft 2020-12) as the scenario format needs.
struct JSONSchema: Encodable, Hashable {
    var dialect: String?
    var title: String?
    var description: String?
    var type: String?
    var const: String?
    var words: [String]?
    var pattern: String?
    var minimum: Int?
    var maximum: Int?
    var maxItems: Int?
    var `default`: String?
    var examples: [String]?
    var properties: [String: JSONSchema]?
    var required: [String]?
    var isClosed: Bool?
    /// One schema for every key that `properties` does not name.
    var others: [JSONSchema]?
    var items: [JSONSchema]?
    var anyOf: [JSONSchema]?

    private enum Key: String, CodingKey {
        case dialect = "$schema"
        case title, description, type, const, pattern, minimum, maximum, maxItems, examples, properties,
            required
        case anyOf, items, additionalProperties
        case words = "enum"
        case standard = "default"
    }

    func encode(to encoder: any Encoder) throws {
        var keys = encoder.container(keyedBy: Key.self)
        try keys.encodeIfPresent(self.dialect, forKey: .dialect)
        try keys.encodeIfPresent(self.title, forKey: .title)
        try keys.encodeIfPresent(self.description, forKey: .description)
        try keys.encodeIfPresent(self.type, forKey: .type)
        try keys.encodeIfPresent(self.const, forKey: .const)
        try keys.encodeIfPresent(self.words, forKey: .words)
        try keys.encodeIfPresent(self.pattern, forKey: .pattern)
        try keys.encodeIfPresent(self.minimum, forKey: .minimum)
        try keys.encodeIfPresent(self.maximum, forKey: .maximum)
        try keys.encodeIfPresent(self.maxItems, forKey: .maxItems)
        try keys.encodeIfPresent(self.default, forKey: .standard)
        try keys.encodeIfPresent(self.examples, forKey: .examples)
        try keys.encodeIfPresent(self.properties, forKey: .properties)
        try keys.encodeIfPresent(self.required, forKey: .required)
        try keys.encodeIfPresent(self.anyOf, forKey: .anyOf)
        try keys.encodeIfPresent(self.items?.first, forKey: .items)
        if let others = self.others?.first {
            try keys.encode(others, forKey: .additionalProperties)
        } else if self.isClosed == true {
            try keys.encode(false, forKey: .additionalProperties)
        }
    }
}

// MARK: Values as scenario files write them

extension JSONSchema {
    private static let number = #"[0-9]+(\.[0-9]+)?"#
    private static let time = Self.number + "(ns|us|ms|s|m|h|d)"
    private static let variable = #"\$\{[A-Za-z_][A-Za-z0-9_]*(:-[^}]*)?\}"#

    /// A text of this form, or a variable of the environment in its place.
    static func text(_ pattern: String, examples: [String]) -> Self {
        Self(type: "string", pattern: "^(\(pattern)|.*\(Self.variable).*)$", examples: examples)
    }

    static let duration = Self.text(Self.time, examples: ["250ms", "30s"])
    static let durations = Self.text("\(Self.time)(\\.\\.\(Self.time))?", examples: ["1s", "1s..3s"])
    static let offset = Self.text("-?\(Self.time)", examples: ["-5m", "2h"])
    static let rate = Self.text("\(Self.number) */ *([0-9]*(ms|s|m|h))", examples: ["6/s"])
    static let bitRate = Self.text("\(Self.number) *(bps|kbps|Mbps|Gbps)", examples: ["780kbps"])
    static let quota = Self.text("[0-9]+ per \(Self.time)", examples: ["10 per 20m"])
    static let share = Self.text("\(Self.number) *%", examples: ["30%"])
    static let size = Self.text("\(Self.number) *(B|kB|KB|KiB|MB|MiB|GB|GiB)", examples: ["128KiB"])
    static let toggle = Self(anyOf: [Self.choice(["on", "off"]), Self(type: "boolean")])
    static let name = Self.text("[A-Za-z0-9_][A-Za-z0-9_.-]*", examples: ["flaky-network"])
    static let anyText = Self(type: "string")

    static func integer(_ range: ClosedRange<Int>) -> Self {
        Self(anyOf: [
            Self(type: "integer", minimum: range.lowerBound, maximum: range.upperBound),
            Self(type: "string", pattern: Self.variable),
        ])
    }

    static func integers(_ range: ClosedRange<Int>) -> Self {
        Self(anyOf: [Self.integer(range), Self.text(#"[0-9]+(\.\.[0-9]+)?"#, examples: ["3..8"])])
    }

    static func choice(_ words: [String]) -> Self { Self(type: "string", words: words) }

    static func list(of items: Self, max: Int) -> Self { Self(type: "array", maxItems: max, items: [items]) }

    /// A map of exactly these keys.
    static func map(_ properties: [String: Self], required: [String] = []) -> Self {
        Self(
            type: "object", properties: properties, required: required.isEmpty ? nil : required,
            isClosed: true)
    }

    /// The same value, or the word that switches it off.
    func orOff() -> Self { Self(anyOf: [self, .choice(["off"]), Self(type: "boolean")]) }

    func described(_ text: String) -> Self {
        var schema = self
        schema.description = text
        return schema
    }
}
