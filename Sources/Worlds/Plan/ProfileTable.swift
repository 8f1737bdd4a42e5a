package import Phone

/// The clients that a scenario may name.
package enum ProfileTable {
    package static let all: [NamedProfile] = [
        .contract, .swiftwingHead, .swiftwingLegacy, .swiftwingPolling, .wingtip, .books, .booksOld,
        .booksMigrating,
        .booksHandler,
    ]

    package static func named(_ name: String) -> NamedProfile? {
        self.all.first { $0.name == name }
    }
}
