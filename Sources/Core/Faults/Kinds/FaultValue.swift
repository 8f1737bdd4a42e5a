package import SimBase

/// The type of a value of a fault's own key.
package enum FaultFieldType: Hashable, Sendable {
    case duration
    /// `50ms..200ms`, or one duration for both ends.
    case durations
    /// A duration with an optional sign.
    case offset
    /// `N per DURATION`.
    case quota
    case integer(ClosedRange<Int>)
    case integers(ClosedRange<Int>)
    case share
    /// `780kbps`.
    case bitRate
    case toggle
    /// A choice of words.
    case choice([String])
    /// A code as problem documents have it: capital letters, digits and underscores.
    case code
    /// A position to cut, or `after-bytes: N`.
    case cut

    /// The name in the documentation.
    package var text: String {
        switch self {
        case .duration: "a duration"
        case .durations: "a duration or a range of them"
        case .offset: "a duration, negative for the past"
        case .quota: "`N per DURATION`"
        case .integer(let range): "a number from \(range.lowerBound) to \(range.upperBound)"
        case .integers(let range): "a number or a range, from \(range.lowerBound) to \(range.upperBound)"
        case .share: "a share"
        case .bitRate: "a rate in bits, as `780kbps`"
        case .toggle: "`on` or `off`"
        case .choice(let words): words.map { "`\($0)`" }.joined(separator: ", ")
        case .code: "an error code"
        case .cut: (FaultTable.cutWords + ["after-bytes(N)"]).map { "`\($0)`" }.joined(separator: ", ")
        }
    }
}

/// The value of a fault's own key, read.
package enum FaultValue: Hashable, Sendable {
    case durations(ClosedRange<Interval>)
    case quota(Quota)
    case integers(ClosedRange<Int>)
    case share(Odds)
    case bitRate(Int64)
    case toggle(Bool)
    /// The word of a choice, or a code.
    case word(String)
    case cut(Cut)
}

/// The values of a fault's own keys by their names, in the order of its table entry.
package struct FaultValues: Hashable, Sendable {
    package struct Entry: Hashable, Sendable {
        package var name: String
        package var value: FaultValue
    }

    package private(set) var entries: [Entry] = []

    package init() {}

    package subscript(name: String) -> FaultValue? {
        get { self.entries.first { $0.name == name }?.value }
        set {
            self.entries.removeAll { $0.name == name }
            if let newValue { self.entries.append(Entry(name: name, value: newValue)) }
        }
    }

    func durations(_ name: String) -> ClosedRange<Interval>? {
        if case .durations(let range)? = self[name] { range } else { nil }
    }

    func duration(_ name: String) -> Interval? { self.durations(name)?.lowerBound }

    func integers(_ name: String) -> ClosedRange<Int>? {
        if case .integers(let range)? = self[name] { range } else { nil }
    }

    func integer(_ name: String) -> Int? { self.integers(name)?.lowerBound }

    func word(_ name: String) -> String? {
        if case .word(let word)? = self[name] { word } else { nil }
    }

    func choice<Choice: RawRepresentable<String>>(_ name: String) -> Choice? {
        self.word(name).flatMap(Choice.init(rawValue:))
    }

    func share(_ name: String) -> Odds? {
        if case .share(let share)? = self[name] { share } else { nil }
    }

    func toggle(_ name: String) -> Bool? {
        if case .toggle(let isOn)? = self[name] { isOn } else { nil }
    }

    var quota: Quota? {
        if case .quota(let quota)? = self["quota"] { quota } else { nil }
    }

    var bitRate: Int64? {
        if case .bitRate(let rate)? = self["rate"] { rate } else { nil }
    }

    var cut: Cut? {
        if case .cut(let cut)? = self["cut"] { cut } else { nil }
    }
}
