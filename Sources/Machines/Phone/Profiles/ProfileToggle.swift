/// One known deviation of a client from the contract, which a scenario can switch on or off for a group. The rows are in
/// `ProfileToggle+Quirks.swift`.
package struct ProfileToggle: Sendable {
    package let family: Family
    /// The number that the documents give it in its family.
    package let number: Int
    /// What the client does, in one sentence; of a deviation without an effect, why it has none.
    package let title: String
    /// What it costs, if it is a defect of the app at HEAD.
    package let harm: QuirkHarm?
    /// Gives a profile the values of this deviation. Nil for one that no scenario can switch, because it has no effect that can
    /// be seen, or none that the sources describe well enough.
    private let effect: (@Sendable (inout ClientProfile) -> Void)?

    /// The lists of deviations in the documents.
    package enum Family: String, CaseIterable, Sendable {
        /// The gaps between the app before its compliance plan and the contract.
        case gap
        /// The defects of the app at HEAD.
        case quirk
        /// The mistakes that the known inconsistencies of the contract invite.
        case inconsistency
        /// The defects of the stream client of books-v3 at HEAD.
        case booksQuirk = "books-quirk"

        fileprivate var source: String {
            switch self {
            case .gap: "Docs/apps.md section 5, GAP-"
            case .quirk: "Docs/apps.md section 4.11, Q"
            case .inconsistency: "Docs/contract.md section 2.7, "
            case .booksQuirk: "Docs/apps.md section 6.2, B"
            }
        }
    }

    init(
        _ family: Family, _ number: Int, _ title: String, _ harm: QuirkHarm? = nil,
        effect: (@Sendable (inout ClientProfile) -> Void)? = nil
    ) {
        self.family = family
        self.number = number
        self.title = title
        self.harm = harm
        self.effect = effect
    }

    /// Creates another name of a toggle, with the title that it has in another document.
    init(
        _ family: Family, _ number: Int, _ title: String, _ harm: QuirkHarm? = nil, aliasOf other: Self
    ) {
        self.init(family, number, title, harm, effect: other.effect)
    }

    /// Every toggle, in the order of the families and of their numbers.
    package static let all = Self.rows.filter { $0.effect != nil }
    /// The deviations that have a number in a document and no toggle, in the same order.
    package static let hidden = Self.rows.filter { $0.effect == nil }

    /// The toggle of a key such as `gap-5`; nil for any other text.
    package init?(key: String) {
        guard let toggle = Self.all.first(where: { $0.key == key }) else { return nil }
        self = toggle
    }

    /// The name in scenario files.
    package var key: String { "\(self.family.rawValue)-\(self.number)" }

    /// The section of a document that describes it.
    package var source: String { "\(self.family.source)\(self.number)" }

    package func apply(to profile: inout ClientProfile) { self.effect?(&profile) }
}

extension ProfileToggle: Hashable {
    package static func == (left: Self, right: Self) -> Bool {
        left.family == right.family && left.number == right.number
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(self.family)
        hasher.combine(self.number)
    }
}

/// The worst that a defect of the app does, as the runs of Docs/swiftwing-head.md show it. `Tests/Quirks/page.py` holds each
/// defect to its runs.
package enum QuirkHarm: String, CaseIterable, Sendable {
    /// The app completes fewer scans than without it.
    case losesScans = "loses scans"
    /// As many scans, but more time, requests or jobs left on the server, or events that are missed or come too early.
    case losesNoScan = "loses no scan"
    case unseen = "no run shows it"

    /// A heading for a list of such defects.
    package var title: String {
        switch self {
        case .losesScans: "Defects by which scans are not completed: lost, refused, or left waiting"
        case .losesNoScan:
            "Defects that lose no scan, but cost time, requests, events, or jobs left on the server"
        case .unseen: "Defects that no run shows"
        }
    }
}
