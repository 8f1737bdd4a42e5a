/// One known deviation of a client from the contract, which a scenario can switch on or off for a group.
package protocol ProfileDeviation: CaseIterable, Hashable, RawRepresentable, Sendable where RawValue == Int {
    /// What the client does, in one sentence.
    var title: String { get }
    /// The section of Docs/contract.md that describes it.
    var source: String { get }
    /// Gives a profile the values of this deviation.
    func apply(to profile: inout ClientProfile)
}

/// A deviation of any kind, by the name that it has in scenario files.
package enum ProfileToggle: Hashable, Sendable {
    case gap(Gap)
    case quirk(Quirk)
    case inconsistency(Inconsistency)
    case booksQuirk(BooksQuirk)

    package static let all: [ProfileToggle] =
        Gap.allCases.map { .gap($0) } + Quirk.allCases.map { .quirk($0) }
        + Inconsistency.allCases.map { .inconsistency($0) } + BooksQuirk.allCases.map { .booksQuirk($0) }

    /// The beginnings of all keys.
    package static let families = ["gap", "quirk", "inconsistency", "books-quirk"]

    /// The toggle of a key such as `gap-5`; nil for any other text.
    package init?(key: String) {
        guard let toggle = Self.all.first(where: { $0.key == key }) else { return nil }
        self = toggle
    }

    package var key: String {
        switch self {
        case .gap(let gap): "gap-\(gap.rawValue)"
        case .quirk(let quirk): "quirk-\(quirk.rawValue)"
        case .inconsistency(let inconsistency): "inconsistency-\(inconsistency.rawValue)"
        case .booksQuirk(let quirk): "books-quirk-\(quirk.rawValue)"
        }
    }

    package var title: String { self.deviation.title }
    package var source: String { self.deviation.source }

    /// What it costs, if it is a defect of the app at HEAD.
    package var harm: QuirkHarm? {
        guard case .quirk(let quirk) = self else { return nil }
        return quirk.harm
    }

    package func apply(to profile: inout ClientProfile) { self.deviation.apply(to: &profile) }

    private var deviation: any ProfileDeviation {
        switch self {
        case .gap(let gap): gap
        case .quirk(let quirk): quirk
        case .inconsistency(let inconsistency): inconsistency
        case .booksQuirk(let quirk): quirk
        }
    }
}

/// A toggle as a scenario sets it.
package struct ToggleSetting: Hashable, Sendable {
    package var toggle: ProfileToggle
    package var isOn: Bool

    package init(_ toggle: ProfileToggle, isOn: Bool) {
        self.toggle = toggle
        self.isOn = isOn
    }
}
