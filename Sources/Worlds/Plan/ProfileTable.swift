package import Phone

/// The clients that a scenario may name.
package enum ProfileTable {
    package static let all: [NamedProfile] = [.contract, .swiftwingHead, .swiftwingLegacy]

    /// Clients that are designed but not built yet.
    package static let planned = ["wingtip", "books-v3"]

    /// Toggles that are designed but not built yet.
    package static let plannedToggles =
        [1, 3, 4, 7, 13, 16, 17, 18, 20, 21, 23].map { "quirk-\($0)" } + ["inconsistency-4"]

    package static func named(_ name: String) -> NamedProfile? {
        self.all.first { $0.name == name }
    }
}
