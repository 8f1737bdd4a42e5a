/// The form of a value, in words, by its schema.
enum ScenarioForm {
    static func text(_ schema: JSONSchema) -> String {
        var forms: [String] = []
        for form in self.forms(schema) where !forms.contains(form) { forms.append(form) }
        guard let last = forms.last, forms.count > 1 else { return forms.first ?? "text" }
        return forms.dropLast().joined(separator: ", ") + " or " + last
    }

    private static func forms(_ schema: JSONSchema) -> [String] {
        if let known = self.named.first(where: {
            $0.schema.pattern == schema.pattern && schema.pattern != nil
        }) {
            return [known.text]
        }
        if schema.anyOf == JSONSchema.toggle.anyOf { return ["`on`", "`off`"] }
        if let words = schema.words { return words.map { "`\($0)`" } }
        if let anyOf = schema.anyOf {
            // A variable of the environment can stand for every value, and `true` for `on`.
            return anyOf.filter {
                $0.type != "boolean" && !($0.type == "string" && $0.examples == nil && $0.pattern != nil)
            }
            .flatMap(self.forms)
        }
        // A range beside a whole number.
        if schema.pattern == JSONSchema.range.pattern { return ["a range such as `3..8`"] }
        switch schema.type {
        case nil: return ["see the meaning"]
        case "integer": return [self.integer(schema)]
        case "array": return ["a list"]
        case "object": return ["a map"]
        case .some: return [schema.examples.map { "text such as `\($0[0])`" } ?? "text"]
        }
    }

    private static func integer(_ schema: JSONSchema) -> String {
        switch (schema.minimum, schema.maximum) {
        case (let low?, let high?) where high < Int(Int32.max):
            low == high ? "`\(low)`" : "a whole number, \(low) to \(high)"
        default: "a whole number"
        }
    }

    private static let named: [(schema: JSONSchema, text: String)] = [
        (.duration, "a duration"), (.durations, "a duration or range"),
        (.offset, "a duration, also negative"),
        (.rate, "a rate such as `6/s`"), (.bitRate, "a rate such as `780kbps`"),
        (.quota, "a quota such as `10 per 20m`"), (.share, "a share such as `30%`"),
        (.size, "a size such as `128KiB`"), (.name, "a name"),
    ]
}
