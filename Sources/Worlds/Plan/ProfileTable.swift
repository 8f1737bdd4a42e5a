package import Phone

/// The clients that a scenario may name.
package enum ProfileTable {
    package static let all: [NamedProfile] = [.contract, .swiftwingLegacy]

    /// Clients that are designed but not built yet.
    package static let planned = ["swiftwing-head", "wingtip", "books-v3"]

    /// Toggles that are designed but not built yet.
    package static let plannedToggles = (1...24).map { "quirk-\($0)" } + ["inconsistency-4"]

    package static func named(_ name: String) -> NamedProfile? {
        self.all.first { $0.name == name }
    }
}
