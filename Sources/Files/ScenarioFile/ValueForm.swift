import Plan
import SimBase

/// How a single value is written in a scenario: its schema, and the way from and to its text.
struct ValueForm<Value>: Sendable {
    let schema: JSONSchema
    /// Takes the name of the key, for error messages, and the text.
    let read: @Sendable (_ key: String, _ text: String) throws(ValueError) -> Value
    /// Nil if the key is left out.
    let write: @Sendable (Value) -> String?

    init(
        _ schema: JSONSchema,
        read: @escaping @Sendable (_ key: String, _ text: String) throws(ValueError) -> Value,
        write: @escaping @Sendable (Value) -> String?
    ) {
        self.schema = schema
        self.read = read
        self.write = write
    }

    /// The values that satisfy a test; others are reported with this error.
    func checked(_ error: ValueError, _ isValid: @escaping @Sendable (Value) -> Bool) -> Self {
        Self(
            self.schema,
            read: { key, text throws(ValueError) in
                let value = try self.read(key, text)
                guard isValid(value) else { throw error }
                return value
            }, write: self.write)
    }

    /// A value that a word stands for the absence of, or that is left out.
    func optional(_ word: String? = nil, _ schema: JSONSchema? = nil) -> ValueForm<Value?> {
        ValueForm<Value?>(
            schema ?? self.schema,
            read: { key, text throws(ValueError) in text == word ? nil : try self.read(key, text) },
            write: { $0.map(self.write) ?? word })
    }
}

extension ValueForm where Value: Equatable & Sendable {
    /// One of some words, each with its value.
    static func words(_ words: [(word: String, value: Value)], what: String? = nil) -> Self {
        let names = words.map(\.word)
        return Self(
            .choice(names),
            read: { key, text throws(ValueError) in
                let word = try Values.choice(text, of: names, what: what ?? "`\(key)`")
                guard let place = names.firstIndex(of: word) else { preconditionFailure("an unknown word") }
                return words[place].value
            },
            write: { value in words.first { $0.value == value }?.word })
    }
}

extension ValueForm
where Value: CaseIterable & RawRepresentable & Equatable & Sendable, Value.RawValue == String {
    /// One of the words of an enum.
    static var word: Self { .word() }

    static func word(what: String? = nil) -> Self {
        .words(Value.allCases.map { ($0.rawValue, $0) }, what: what)
    }
}

extension ValueForm where Value == Bool {
    static var toggle: Self {
        Self(
            .toggle, read: { _, text throws(ValueError) in try Values.boolean(text) },
            write: ScenarioWriter.text)
    }
}

extension ValueForm where Value == Int {
    static func integer(_ range: ClosedRange<Int>, what: String? = nil) -> Self {
        Self(
            .integer(range),
            read: { key, text throws(ValueError) in
                try Values.integer(text, range, what: what ?? "`\(key)`")
            }, write: { String($0) })
    }

    static var size: Self {
        // Sizes are held in memory or counted against it.
        let max = 1 << 40
        return Self(
            .size, read: { _, text throws(ValueError) in try Values.bytes(text) }, write: Units.text(bytes:)
        ).checked(ValueError("a size must be from 1B to \(Units.text(bytes: max))")) {
            (1...max).contains($0)
        }
    }
}

extension ValueForm where Value == ClosedRange<Int> {
    static func integers(_ range: ClosedRange<Int>, what: String) -> Self {
        Self(
            .integers(range),
            read: { _, text throws(ValueError) in try Values.integers(text, range, what: what) },
            write: ScenarioWriter.text)
    }
}

extension ValueForm where Value == ClosedRange<Int> {
    static var sizes: Self {
        Self(
            .sizes, read: { _, text throws(ValueError) in try Values.byteRange(text) },
            write: Units.text(byteRange:))
    }
}

extension ValueForm where Value == Interval {
    static func duration(max: Interval = ScenarioLimit.timeMax) -> Self {
        Self(
            .duration, read: { _, text throws(ValueError) in try Values.duration(text, max: max) },
            write: { Units.text($0) })
    }

    /// - Parameter what: What the time is, for the error message.
    static func positive(_ what: String, max: Interval = ScenarioLimit.timeMax) -> Self {
        Self.duration(max: max).checked(ValueError("\(what) must be above zero")) { $0 > .zero }
    }
}

extension ValueForm where Value == Interval? {
    static func durationOrOff(max: Interval = ScenarioLimit.timeMax) -> Self {
        ValueForm<Interval>.duration(max: max).optional("off", .durationOrOff)
    }
}

extension ValueForm where Value == ClosedRange<Interval> {
    static func durations(max: Interval) -> Self {
        Self(
            .durations, read: { _, text throws(ValueError) in try Values.durations(text, max: max) },
            write: { Units.text($0) })
    }
}

extension ValueForm where Value == Odds {
    static var share: Self {
        Self(
            .share, read: { _, text throws(ValueError) in try Values.share(text) },
            write: { Units.percent(Int64($0.perMillion)) })
    }

    /// A share whose key is left out where it is nothing.
    static var shareOrNone: Self {
        let share = Self.share
        return Self(share.schema, read: share.read, write: { $0 == .never ? nil : share.write($0) })
    }
}

extension ValueForm where Value == ClosedRange<Int>? {
    /// A number from 0 to 1 or a range of such numbers, in thousandths.
    static var thousandthsOrAuto: Self {
        ValueForm<ClosedRange<Int>>(
            .fractionsOrAuto, read: { key, text throws(ValueError) in try Values.thousandths(text, key) },
            write: { Units.text(thousandths: $0) }
        ).optional("auto", .fractionsOrAuto)
    }
}

extension ValueForm where Value == Int64? {
    static var bitRateOrOff: Self {
        ValueForm<Int64>(
            .bitRate, read: { _, text throws(ValueError) in try Values.bitRate(text) },
            write: { Units.text(bitsPerSecond: $0) }
        ).optional("off", .bitRateOrOff)
    }
}

extension ValueForm where Value == Quota {
    static var quota: Self {
        Self(
            .quota, read: { _, text throws(ValueError) in try Values.quota(text) }, write: ScenarioWriter.text
        )
    }
}

extension ValueForm where Value == Quota? {
    static var quotaOrOff: Self { ValueForm<Quota>.quota.optional("off", .quotaOrOff) }
}
