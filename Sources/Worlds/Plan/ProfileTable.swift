package import Phone

/// The clients that a scenario may name.
package enum ProfileTable {
    package static let all: [ClientProfile] = [.contract]

    /// Clients that are designed but not built yet.
    package static let planned = ["swiftwing-head", "swiftwing-legacy", "wingtip", "books-v3"]

    package static func named(_ name: String) -> ClientProfile? {
        self.all.first { $0.name == name }
    }
}
