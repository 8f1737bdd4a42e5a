// Values as scenario files write them.

extension JSONSchema {
    static let number = #"[0-9]+(\.[0-9]+)?"#
    static let time = Self.number + "(ns|us|ms|s|m|h)"
    private static let variable = #".*\$\{[A-Za-z_][A-Za-z0-9_]*(:-[^}]*)?\}.*"#
    private static let plainTypes = ["string", "number", "boolean"]

    /// The pattern, or a text with a variable of the environment.
    static func whole(_ pattern: String) -> String { "^(\(pattern)|\(Self.variable))$" }

    /// A text of this form. `types`: what else YAML may read such a text as.
    static func text(
        _ pattern: String, _ form: String, examples: [String], types: [String] = ["string"]
    ) -> Self {
        Self(form: form, types: types, pattern: Self.whole(pattern), examples: examples)
    }

    static let duration = Self.text(Self.time, "a duration", examples: ["250ms", "30s"])
    static let durations = Self.text(
        "\(Self.time)(\\.\\.\(Self.time))?", "a duration or range", examples: ["1s", "1s..3s"])
    static let offset = Self.text(
        "-?\(Self.time)", "a duration, also negative", examples: ["-5m", "2h"])
    static let ratePattern = "\(Self.number) */ *(\(Self.number))?(ns|us|ms|s|m|h)"
    static let rate = Self.text(Self.ratePattern, "a rate such as `6/s`", examples: ["6/s"])
    private static let bitRatePattern = "\(Self.number)(bps|kbps|Mbps|Gbps)"
    static let bitRate = Self.text(
        Self.bitRatePattern, "a rate such as `780kbps`", examples: ["780kbps"])
    private static let quotaPattern = "[0-9]+ *per +\(Self.time)"
    static let quota = Self.text(
        Self.quotaPattern, "a quota such as `10 per 20m`", examples: ["10 per 20m"])
    static let shareOrAuto = Self.text(
        "\(Self.number)%|off|auto", "a share such as `30%`, `off` or `auto`", examples: ["5%", "auto"])
    static let share = Self.text("\(Self.number)%", "a share such as `30%`", examples: ["30%"])
    static let fractionsOrAuto = Self.text(
        #"[01](\.[0-9]{1,3})?(\.\.[01](\.[0-9]{1,3})?)?|auto"#,
        "a number from 0 to 1, a range of such numbers or `auto`", examples: ["0.3..0.99", "auto"],
        types: ["string", "number"])
    static let amount = Self.text(
        #"[0-9]+(\.[0-9]{1,6})?"#, "an amount such as `0.021`", examples: ["0.021"],
        types: ["string", "number"])
    private static let sizePattern = "\(Self.number)(B|kB|MB|GB|KiB|MiB|GiB)"
    static let size = Self.text(Self.sizePattern, "a size such as `128KiB`", examples: ["128KiB"])
    static let sizes = Self.text(
        "\(Self.sizePattern)(\\.\\.\(Self.sizePattern))?", "a size or range",
        examples: ["200kB", "100kB..1MB"])
    /// YAML may read such a name as a number or as `true`.
    static let namePattern = "[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}"
    static let name = Self.text(
        Self.namePattern, "a name", examples: ["flaky-network"], types: Self.plainTypes)
    static let code = Self.text(
        "[A-Z0-9_]+", "text", examples: ["PROVIDER_TIMEOUT"], types: Self.plainTypes)
    /// Any text, also one that YAML reads as something else.
    static let anyText = Self(form: "text", types: Self.plainTypes)
    static let never = Self(isNever: true)

    /// `off`, which older YAML reads as `false`.
    static let durationOrOff = Self.text(
        "\(Self.time)|off", "a duration or `off`", examples: ["30s", "off"], types: ["string", "boolean"])
    static let quotaOrOff = Self.text(
        "\(Self.quotaPattern)|off", "a quota such as `10 per 20m` or `off`", examples: ["10 per 20m", "off"],
        types: ["string", "boolean"])
    static let bitRateOrOff = Self.text(
        "\(Self.bitRatePattern)|off", "a rate such as `780kbps` or `off`", examples: ["780kbps", "off"],
        types: ["string", "boolean"])

    static func integer(_ range: ClosedRange<Int>) -> Self { Self.integers(range, "[0-9]+", "") }

    /// A whole number or a range such as `3..8`.
    static func integers(_ range: ClosedRange<Int>) -> Self {
        Self.integers(range, #"[0-9]+(\.\.[0-9]+)?"#, " or a range such as `3..8`")
    }

    private static func integers(_ range: ClosedRange<Int>, _ pattern: String, _ more: String) -> Self {
        let isBounded = range.upperBound < Int(Int32.max)
        let limits = isBounded ? ", \(range.lowerBound) to \(range.upperBound)" : ""
        return Self(
            form: (range.lowerBound == range.upperBound ? "`\(range.lowerBound)`" : "a whole number\(limits)")
                + more,
            types: ["integer", "string"], pattern: Self.whole(pattern), minimum: range.lowerBound,
            maximum: range.upperBound < .max ? range.upperBound : nil)
    }

    // MARK: Words

    /// One of these words. A variable of the environment is tested first, so that a wrong word breaks the rule that lists the right
    /// ones.
    static func choice(_ words: [String]) -> Self {
        let literals = words.map { Literal(scalar: $0) }
        // In quotation marks, YAML reads them as texts.
        let quoted = zip(words, literals).filter { $0.1 != .text($0.0) }.map { $0.0 }
        return Self(
            form: Self.list(words.map { "`\($0)`" }),
            condition: Condition(
                Self(types: ["string"], pattern: "^(\((quoted + [Self.variable]).joined(separator: "|")))$"),
                otherwise: Self(values: literals)))
    }

    static let toggle: Self = {
        var schema = Self.choice(["on", "off", "true", "false"])
        schema.form = "`on` or `off`"
        return schema
    }()

    /// A text that is one of some words, or a value of other types.
    static func choice(_ words: Self, orTypes types: [String], _ form: String) -> Self {
        Self(
            form: form, types: ["string"] + types,
            condition: Condition(Self(types: ["string"]), then: words))
    }

    // MARK: Maps and lists

    static func list(of items: Self, max: Int, min: Int? = nil) -> Self {
        Self(form: "a list", types: ["array"], minItems: min, maxItems: max, items: [items])
    }

    /// A map of exactly these keys.
    static func map(_ properties: [String: Self], required: [String] = []) -> Self {
        Self(
            form: "a map", types: ["object"], properties: properties,
            required: required.isEmpty ? nil : required, isClosed: true)
    }

    func described(_ text: String) -> Self {
        var schema = self
        schema.description = text
        return schema
    }

    /// The schema in a file that extends another: what is required may be inherited, and a key without a value removes the
    /// inherited one.
    func inExtension() -> Self {
        var schema = self
        schema.required = nil
        schema.default = nil
        if let types = self.types, !types.contains("null") { schema.types = types + ["null"] }
        schema.values = self.values.map { $0 + [.null] }
        if let condition = self.condition {
            schema.condition = Condition(
                condition.test, then: condition.then, otherwise: condition.otherwise?.inExtension())
        }
        schema.properties = self.properties?.mapValues { $0.inExtension() }
        schema.patterns = self.patterns?.mapValues { $0.inExtension() }
        schema.others = self.others?.map { $0.inExtension() }
        return schema
    }

    /// The map with a default for each key that has one.
    func with(defaults: [String: String]) -> Self {
        var schema = self
        for (key, text) in defaults where self.properties?[key] != nil {
            schema.properties?[key]?.default = Literal(scalar: text)
        }
        return schema
    }

    static func list(_ forms: [String]) -> String {
        guard let last = forms.last, forms.count > 1 else { return forms.first ?? "text" }
        return forms.dropLast().joined(separator: ", ") + " or " + last
    }
}
