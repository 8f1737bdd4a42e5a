import JSON

/// The part of JSON Schema (draft 2020-12) that the scenario format needs.
struct JSONSchema: Hashable {
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
}

extension JSONSchema: JSONWritable {
    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("$schema", self.dialect)
            if let others = self.others?.first {
                writer.key("additionalProperties")
                others.write(to: &writer)
            } else if self.isClosed == true {
                writer.member("additionalProperties", false)
            }
            if let anyOf = self.anyOf { writer.array("anyOf", anyOf) { $1.write(to: &$0) } }
            writer.member("const", self.const)
            writer.member("default", self.default)
            writer.member("description", self.description)
            if let words = self.words { writer.array("enum", words) { $0.text($1) } }
            if let examples = self.examples { writer.array("examples", examples) { $0.text($1) } }
            if let items = self.items?.first {
                writer.key("items")
                items.write(to: &writer)
            }
            writer.member("maxItems", self.maxItems)
            writer.member("maximum", self.maximum)
            writer.member("minimum", self.minimum)
            writer.member("pattern", self.pattern)
            if let properties = self.properties {
                writer.object("properties") { writer in
                    for property in properties.sorted(by: { $0.key < $1.key }) {
                        writer.key(text: property.key)
                        property.value.write(to: &writer)
                    }
                }
            }
            if let required = self.required { writer.array("required", required) { $0.text($1) } }
            writer.member("title", self.title)
            writer.member("type", self.type)
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
    static let range = Self.text(#"[0-9]+(\.\.[0-9]+)?"#, examples: ["3..8"])
    static let anyText = Self(type: "string")

    static func integer(_ range: ClosedRange<Int>) -> Self {
        Self(anyOf: [
            Self(type: "integer", minimum: range.lowerBound, maximum: range.upperBound),
            Self(type: "string", pattern: Self.variable),
        ])
    }

    static func integers(_ range: ClosedRange<Int>) -> Self {
        Self(anyOf: [Self.integer(range), Self.range])
    }

    static func choice(_ words: [String]) -> Self { Self(type: "string", words: words) }

    static func list(of items: Self, max: Int) -> Self { Self(type: "array", maxItems: max, items: [items]) }

    /// A map of exactly these keys.
    static func map(_ properties: [String: Self], required: [String] = []) -> Self {
        Self(
            type: "object", properties: properties, required: required.isEmpty ? nil : required,
            isClosed: true)
    }

    /// Returns the schema of the value or `off`.
    func orOff() -> Self { Self(anyOf: [self, .choice(["off"]), Self(type: "boolean")]) }

    func described(_ text: String) -> Self {
        var schema = self
        schema.description = text
        return schema
    }
}
