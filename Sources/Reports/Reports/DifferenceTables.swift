import Ledger
import Metrics
import RunArchive
import RunJudge
import SimBase
import Talaria

// Where the phone and the backend have different texts of a book, and which of them is right.
extension RunResult {
    /// How often, with what outcome.
    var differenceTable: DocumentTable {
        let differences = self.totals.texts.differences
        var table = DocumentTable(id: "differences", tableID: "difference-table", title: "Texts that differ")
        (table.hasMarks, table.isIndented) = (false, true)
        table.add(
            TextDifferences.Kind.allCases.filter { differences.counts[$0] > 0 },
            [
                .init("field", .name) { .init($0.field.rawValue) },
                .init("chosen", .text) { .init($0.chosen.words) },
                .init("right", .text) { .init($0.right.words) },
                .init("books", .number) { kind in
                    .init(
                        Figures.count(differences.counts[kind]),
                        kind.chosen.rawValue == kind.right.rawValue ? .plain : .warn)
                },
            ])
        return table
    }

    /// The first of them.
    var differenceExamples: DocumentTable {
        let differences = self.totals.texts.differences
        var table = DocumentTable(
            id: "different-texts", tableID: "different-text-table",
            title: "The first \(differences.first.count) of \(Figures.count(differences.counts.total))")
        table.hasMarks = false
        table.add(
            differences.first,
            [
                .init("phone", .number) { .init("\($0.device.raw)") },
                .init(self.noun.one, .number) { .init("\($0.scan.raw)") },
                .init("field", .text) { .init($0.kind.field.rawValue) },
                .init("the phone has read", .sentence) { .mono($0.read) },
                .init("the backend has found", .sentence) { .mono($0.verified) },
                .init("chosen", .text) { .init($0.kind.chosen.words) },
                .init("right", .text) { .init($0.kind.right.words) },
            ])
        return table
    }
}

extension Reconciliation.Source {
    /// Whose text it is.
    fileprivate var words: String {
        switch self {
        case .talaria: "backend"
        case .foundationModels: "phone"
        }
    }
}

extension TextDifferences.Right {
    fileprivate var words: String {
        switch self {
        case .talaria: Reconciliation.Source.talaria.words
        case .foundationModels: Reconciliation.Source.foundationModels.words
        case .neither: "neither"
        }
    }
}
