/// What texts call the unit of work of a journey, or of several: `scan`, `batches`, `scans and batches`.
package struct WorkNoun: Hashable, Sendable {
    package let one: String
    package let many: String

    package init(_ journey: Journey) {
        (self.one, self.many) =
            switch journey {
            case .scan, .bookshelfScan: ("scan", "scans")
            case .batchEnrichment: ("batch", "batches")
            }
    }

    /// The noun of a fleet: each of its nouns once, in the order of the journeys. That of a fleet without phones is `scan`.
    package init(_ journeys: some Sequence<Journey>) {
        let used = Set(journeys)
        var nouns: [WorkNoun] = []
        for noun in Journey.allCases.filter({ used.contains($0) }).map({ WorkNoun($0) })
        where !nouns.contains(noun) {
            nouns.append(noun)
        }
        if nouns.isEmpty { nouns = [WorkNoun(.scan)] }
        self.one = Self.list(nouns.map(\.one), "or")
        self.many = Self.list(nouns.map(\.many), "and")
    }

    /// `scans`, `scans and batches`, `a, b and c`.
    private static func list(_ words: [String], _ last: String) -> String {
        guard let final = words.last, words.count > 1 else { return words.joined() }
        return "\(words.dropLast().joined(separator: ", ")) \(last) \(final)"
    }

    /// The form that follows a number.
    package func after(_ count: some BinaryInteger) -> String { count == 1 ? self.one : self.many }

    /// At the beginning of a sentence or of a table.
    package var manyCapitalized: String { self.many.prefix(1).uppercased() + self.many.dropFirst() }
}
