import Ledger
import Metrics
import Observations
import RunArchive
import RunJudge
import RunMetrics
import SimBase
import Talaria

extension RunResult {
    /// How streams were lost, and what became of them. The last row adds up several causes.
    func disconnectionTable(isLive: Bool) -> DocumentTable {
        typealias Cell = DocumentTable.Cell
        typealias Row = (name: String, losses: [Disconnection])
        let losses = self.losses
        // What the end of the run cut short has a column only where there is some.
        let hasOpen = isLive || losses.contains { $0.unresolved > 0 }
        func sum(_ count: @escaping (Disconnection) -> Int64, _ tone: Tone = .plain) -> (Row) -> Cell {
            { row in
                let sum = row.losses.reduce(0) { $0 + count($1) }
                return Cell(Figures.count(sum), sum > 0 ? tone : .plain)
            }
        }
        func time(_ percentile: Percentile) -> (Row) -> Cell {
            { row in
                let times = row.losses.reduce(into: HDRHistogram()) { $0.add($1.reconnectTime) }
                return Cell(times.value(at: percentile).map { Figures.time($0) } ?? "–")
            }
        }
        let note =
            "resumed: a new stream went on after the last event; restarted: it began again; "
            + "p95: from the loss (after a kill: from the next launch) to the new stream"
            + (hasOpen && !isLive ? "; open: neither, when the run ended." : ".")
        return DocumentTable(
            id: "disconnections", tableID: "losses", title: "Disconnections", isIndented: true,
            note: losses.isEmpty ? nil : note,
            rows: losses.map { ($0.cause.rawValue, [$0]) } + (losses.count > 1 ? [("all", losses)] : []),
            [
                .init("cause", .name) { Cell($0.name) },
                .init("count", .number, sum(\.count)),
                .init("resumed", .number, sum(\.resumed)),
                .init("restarted", .number, sum(\.restarted)),
                .init("gave up", .number, sum(\.gaveUp, .warn)),
                .init("p50", .detail, time(.p50)),
                .init("p95", .number, time(.p95)),
                .init("p99", .detail, time(.p99)),
            ] + (hasOpen ? [.init(isLive ? "open now" : "open", .number, sum(\.unresolved))] : []))
    }
}

extension RunReport {
    /// The most frequent errors of the phones. A phone with a timeline on the page is a link to it.
    func errorTable(rowsMax: Int) -> DocumentTable {
        DocumentTable(
            id: "errors", tableID: "error-table", title: "Errors",
            rows: Array(self.timeline.errors.byCount.prefix(rowsMax)),
            [
                .init("error", .name) { .mono($0.trouble.name) },
                .init("kind", .text) { .init($0.trouble.family.rawValue) },
                .init("count", .number) { .init(Figures.count($0.count)) },
                .init("first", .number) { .init(Figures.clock($0.first.nanoseconds)) },
                .init("last", .number) { .init(Figures.clock($0.last.nanoseconds)) },
                .init("first seen by", .text) { row in
                    let hasTimeline = self.timelines.contains { $0.mark.device == row.device }
                    return .init(
                        self.result.place(row.device, row.scan),
                        anchor: hasTimeline ? "phone-\(row.device.raw)" : nil)
                },
                .init("cause", .text) { .init($0.causes.words) },
            ])
    }
}

// Where the phone and the backend have different texts of a book, and which of them is right.
extension RunResult {
    /// How often, with what outcome.
    var differenceTable: DocumentTable {
        let differences = self.totals.texts.differences
        return DocumentTable(
            id: "differences", tableID: "difference-table", title: "Texts that differ", isIndented: true,
            rows: TextDifferences.Kind.allCases.filter { differences.counts[$0] > 0 },
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
    }

    /// The first of them.
    var differenceExamples: DocumentTable {
        let differences = self.totals.texts.differences
        return DocumentTable(
            id: "different-texts", tableID: "different-text-table",
            title: "The first \(differences.first.count) of \(Figures.count(differences.counts.total))",
            rows: differences.first,
            [
                .init("phone", .number) { .init("\($0.device.raw)") },
                .init(self.noun.one, .number) { .init("\($0.scan.raw)") },
                .init("field", .text) { .init($0.kind.field.rawValue) },
                .init("the phone has read", .sentence) { .mono($0.read) },
                .init("the backend has found", .sentence) { .mono($0.verified) },
                .init("chosen", .text) { .init($0.kind.chosen.words) },
                .init("right", .text) { .init($0.kind.right.words) },
            ])
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
