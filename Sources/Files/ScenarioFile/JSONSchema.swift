import JSON

/// The part of JSON Schema (draft 2020-12) that the scenario format needs.
///
/// A value that may be of several types has the rules of all of them: `pattern` applies to texts only,
/// `minimum` about numbers, `properties` about maps and `items` about lists. So a validator names the
/// position and the rule that is broken, where `anyOf` would only say that nothing fits.
struct JSONSchema: Hashable {
    /// A value that may be written, or a default.
    enum Literal: Hashable {
        case text(String)
        case integer(Int)
        case flag(Bool)
        case null
    }

    var dialect: String?
    var id: String?
    var title: String?
    var description: String?
    /// The value in words, for the manual; not a part of the schema.
    var form: String?
    var types: [String]?
    var const: String?
    var values: [Literal]?
    var pattern: String?
    var minimum: Int?
    var maximum: Int?
    var minItems: Int?
    var maxItems: Int?
    var `default`: Literal?
    var examples: [String]?
    var properties: [String: JSONSchema]?
    /// The schemas of the keys that match a pattern.
    var patterns: [String: JSONSchema]?
    /// What every key must match.
    var keyPattern: String?
    var required: [String]?
    var isClosed: Bool?
    /// One schema for every key that `properties` does not name.
    var others: [JSONSchema]?
    var items: [JSONSchema]?
    var allOf: [JSONSchema]?
    var anyOf: [JSONSchema]?
    /// `if`, and what applies where it holds and where it does not.
    var condition: Condition?
    /// Whether no value is valid.
    var isNever = false

    struct Condition: Hashable {
        private var schemas: [JSONSchema]
        private var hasThen: Bool

        /// At least one of `then` and `otherwise` is there.
        init(_ test: JSONSchema, then: JSONSchema? = nil, otherwise: JSONSchema? = nil) {
            self.schemas = [test] + [then, otherwise].compactMap { $0 }
            self.hasThen = then != nil
        }

        var test: JSONSchema { self.schemas[0] }
        var then: JSONSchema? { self.hasThen ? self.schemas[1] : nil }
        var otherwise: JSONSchema? {
            let index = self.hasThen ? 2 : 1
            return self.schemas.indices.contains(index) ? self.schemas[index] : nil
        }
    }
}

extension JSONSchema.Literal {
    /// A scalar as YAML reads it.
    init(scalar text: String) {
        switch text {
        case "true", "false": self = .flag(text == "true")
        case "null": self = .null
        default:
            let isNumber = !text.isEmpty && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
            self = isNumber ? Int(text).map { .integer($0) } ?? .text(text) : .text(text)
        }
    }

    fileprivate func write(to writer: inout JSONWriter) {
        switch self {
        case .text(let text): writer.text(text)
        case .integer(let number): writer.integer(Int64(number))
        case .flag(let flag): writer.flag(flag)
        case .null: writer.null()
        }
    }
}

extension JSONSchema: JSONWritable {
    func write(to writer: inout JSONWriter) {
        guard !self.isNever else { return writer.flag(false) }
        writer.object { writer in
            writer.member("$id", self.id)
            writer.member("$schema", self.dialect)
            if let others = self.others?.first {
                Self.member("additionalProperties", others, &writer)
            } else if self.isClosed == true {
                writer.member("additionalProperties", false)
            }
            if let allOf = self.allOf { writer.array("allOf", allOf) { $1.write(to: &$0) } }
            if let anyOf = self.anyOf { writer.array("anyOf", anyOf) { $1.write(to: &$0) } }
            writer.member("const", self.const)
            if let literal = self.default {
                writer.key("default")
                literal.write(to: &writer)
            }
            writer.member("description", self.description)
            if let otherwise = self.condition?.otherwise { Self.member("else", otherwise, &writer) }
            if let values = self.values { writer.array("enum", values) { $1.write(to: &$0) } }
            if let examples = self.examples { writer.array("examples", examples) { $0.text($1) } }
            if let test = self.condition?.test { Self.member("if", test, &writer) }
            if let items = self.items?.first { Self.member("items", items, &writer) }
            writer.member("maxItems", self.maxItems)
            writer.member("maximum", self.maximum)
            writer.member("minItems", self.minItems)
            writer.member("minimum", self.minimum)
            writer.member("pattern", self.pattern)
            if let patterns = self.patterns { Self.map("patternProperties", patterns, &writer) }
            if let properties = self.properties { Self.map("properties", properties, &writer) }
            if let pattern = self.keyPattern {
                Self.member("propertyNames", JSONSchema(pattern: pattern), &writer)
            }
            if let required = self.required { writer.array("required", required) { $0.text($1) } }
            if let then = self.condition?.then { Self.member("then", then, &writer) }
            writer.member("title", self.title)
            switch self.types?.count {
            case nil: break
            case 1: writer.member("type", self.types?[0])
            default: writer.array("type", self.types ?? []) { $0.text($1) }
            }
        }
    }

    private static func member(_ key: StaticString, _ schema: JSONSchema, _ writer: inout JSONWriter) {
        writer.key(key)
        schema.write(to: &writer)
    }

    private static func map(
        _ key: StaticString, _ schemas: [String: JSONSchema], _ writer: inout JSONWriter
    ) {
        writer.object(key) { writer in
            for (name, schema) in schemas.sorted(by: { $0.key < $1.key }) {
                writer.key(text: name)
                schema.write(to: &writer)
            }
        }
    }
}
