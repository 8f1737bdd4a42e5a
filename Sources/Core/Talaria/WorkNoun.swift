/// What texts call the unit of work of a journey, or of several: `scan`, `batches`, `scans and batches`.
package struct WorkNoun: Hashable, Sendable {
    private let ones: [String]
    private let manys: [String]

    package init(_ journey: Journey) {
        let (one, many) =
            switch journey {
            case .scan, .bookshelfScan: ("scan", "scans")
            case .batchEnrichment: ("batch", "batches")
            case .csvImport: ("import", "imports")
            case .bookEnrichment: ("look-up", "look-ups")
            case .textEnrichment: ("reading", "readings")
            }
        (self.ones, self.manys) = ([one], [many])
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
        (self.ones, self.manys) = (nouns.flatMap(\.ones), nouns.flatMap(\.manys))
    }

    /// `scan`, `scan or batch`.
    package var one: String { Self.joined(self.ones, "or") }

    /// `scans`, `scans and batches`.
    package var many: String { Self.joined(self.manys, "and") }

    /// The form that follows a number.
    package func after(_ count: some BinaryInteger) -> String { count == 1 ? self.one : self.many }

    /// Before an "and" or an "or": `scans`, `scans, batches`.
    package var listed: String { self.manys.joined(separator: ", ") }

    /// The title of a table or a line: `Scans`, `Scans, batches`.
    package var heading: String { Self.capitalized(self.listed) }

    /// The subject at the beginning of a sentence: `Scans and batches`.
    package var subject: String { Self.capitalized(self.many) }

    /// Before an "and", at the beginning of a sentence: `Every scan`, `Every scan, every batch`.
    package var every: String {
        Self.capitalized(self.ones.map { "every \($0)" }.joined(separator: ", "))
    }

    private static func joined(_ words: [String], _ last: String) -> String {
        guard let final = words.last, words.count > 1 else { return words.joined() }
        return "\(words.dropLast().joined(separator: ", ")) \(last) \(final)"
    }

    private static func capitalized(_ text: String) -> String {
        text.prefix(1).uppercased() + text.dropFirst()
    }
}
