import Ledger
import Metrics
import Reports
import RunArchive
import RunJudge
import SimBase
import Talaria

/// The tables of a comparison: the rows of some changes. All formats show these tables, in this order.
struct ComparisonTables {
    private typealias Cell = DocumentTable.Cell

    private let comparison: RunComparison
    private let isIn: (Change) -> Bool

    init(_ comparison: RunComparison, _ isIn: @escaping (Change) -> Bool) {
        self.comparison = comparison
        self.isIn = isIn
    }

    /// None if both runs are identical.
    var all: [DocumentTable] {
        self.comparison.isIdentical
            ? []
            : [self.objectives, self.invariants] + self.slowTimes
                + [self.latencies, self.shares, self.counts]
    }

    /// Beside what is news, never beside what did not change.
    private var slowTimes: [DocumentTable] {
        let (base, new) = (self.comparison.base.result, self.comparison.new.result)
        return self.isIn(.worse) ? [SlowTimeText.table(base: base, new: new)] : []
    }

    /// Both runs, above the tables.
    static func runs(_ comparison: RunComparison) -> DocumentTable {
        typealias Side = (label: String, run: ComparedRun)
        return DocumentTable(
            id: "runs", tableID: "runs", title: "Runs",
            rows: [("BASE", comparison.base), ("NEW", comparison.new)],
            [
                DocumentColumn<Side>("", .name) { Cell($0.label) },
                .init("folder", .text) {
                    .mono(([$0.run.folder] + $0.run.result.labels.words).joined(separator: " "))
                },
                .init("ended", .text) { .verdict(RunComparison.end($0.run), $0.run.result.exit.tone) },
                .init("seed", .number) { Cell("\($0.run.result.seed)") },
                .init("mode", .text) { Cell($0.run.result.world.mode) },
                .init("length", .number) { Cell(Figures.length($0.run.result.length)) },
                .init("phones", .number) { Cell(Figures.count($0.run.result.devices)) },
                .init(comparison.noun.many, .number) {
                    Cell(Figures.count($0.run.result.totals.scans.captured))
                },
                .init("started", .text) { Cell(Figures.date(iso8601: $0.run.result.startedText)) },
            ])
    }

    private var objectives: DocumentTable {
        typealias Objective = RunComparison.Objective
        func cell(_ result: SLOResult?) -> String {
            result == nil ? "–" : "\(Objective.word(result)): \(Objective.text(result))"
        }
        return DocumentTable(
            id: "objectives", tableID: "objective-table", title: "SLOs",
            rows: self.comparison.objectives.filter { self.isIn($0.change) },
            mark: { ($0.change.mark, $0.change == .worse && !$0.decides ? "warning only" : nil) },
            [
                .init("metric", .name) { .mono($0.slo.selector.description) },
                .init("limit", .name) { .mono($0.slo.condition.description) },
                .init("BASE", .text) { Cell(cell($0.base)) },
                .init("NEW", .text) { Cell(cell($0.new), $0.change.tone) },
            ])
    }

    private var invariants: DocumentTable {
        typealias Comparison = RunComparison.InvariantComparison
        var table = DocumentTable(id: "losses", tableID: "loss-table", title: "Losses and invariants")
        table.add(
            self.comparison.losses.filter { self.isIn($0.change) }, mark: { ($0.change.mark, nil) },
            [
                .init("what", .name) { .mono($0.name) },
                .init("BASE", .number) { Cell($0.text($0.base)) },
                .init("NEW", .number) { Cell($0.text($0.new), $0.change.tone) },
                .init("first", .sentence) { _ in Cell("") },
            ])
        table.add(
            self.comparison.invariants.filter { $0.isShown && self.isIn($0.change) },
            mark: { ($0.change.mark, $0.change == .worse && !$0.decides ? "as expected" : nil) },
            [
                .init("what", .name) { .mono($0.invariant.rawValue) },
                .init("BASE", .number) { Cell(Comparison.text($0.base)) },
                .init("NEW", .number) { Cell(Comparison.text($0.new), $0.change.tone) },
                .init("first", .sentence) { row in
                    let first = row.new?.examples.first ?? row.base?.examples.first
                    return Cell(first.map { self.comparison.told($0) } ?? "")
                },
            ])
        let held = self.comparison.invariants.count {
            $0.base?.standing == .held && $0.new?.standing == .held && self.isIn($0.change)
        }
        if held > 0 { table.note = "\(Figures.count(held, "invariant", "invariants")) held in both runs." }
        return table
    }

    private var latencies: DocumentTable {
        typealias Row = RunComparison.Latency
        typealias Column = DocumentColumn<Row>
        func tone(_ row: Row, _ percentile: Percentile) -> Tone {
            row.findings.first { $0.percentile == percentile }?.change.tone ?? .unknown
        }
        func time(_ percentile: Percentile, _ side: Int, _ value: @escaping (LatencySummary) -> Int64)
            -> (Row) -> Cell
        {
            { row in
                let isJudged = row.base != nil && row.new != nil
                let plain: Tone = isJudged ? .plain : .unknown
                return Cell(row.cells(percentile, value)[side], side == 0 ? plain : tone(row, percentile))
            }
        }
        func p99(_ summary: LatencySummary?) -> Cell {
            Cell(summary.map { Figures.time($0.p99) } ?? "–", .unknown)
        }
        func samples(_ summary: LatencySummary?) -> Cell {
            Cell(Figures.count(summary?.count ?? 0), .unknown)
        }
        let more = self.isIn(.same) ? self.comparison.latenciesLeftOut : 0
        let omitted = "\(Figures.count(more, "row", "rows")) of single groups, which are not judged, omitted."
        return DocumentTable(
            id: "latency", tableID: "latency-table", title: "Latencies", lead: self.comparison.latencyLead,
            note: more > 0 ? omitted : nil, nameColumns: Self.nameColumns,
            rows: self.comparison.latenciesShown.filter { self.isIn($0.change) },
            mark: { ($0.change.mark, nil) },
            // The last ones are left out first on a narrow terminal.
            [
                Column("metric", .name) { .mono($0.name.name) },
                Column("p50 BASE", .number, time(.p50, 0) { $0.p50 }),
                Column("NEW", .number, time(.p50, 1) { $0.p50 }),
                Column("", .number, time(.p50, 2) { $0.p50 }),
                Column("p95 BASE", .number, time(.p95, 0) { $0.p95 }),
                Column("NEW", .number, time(.p95, 1) { $0.p95 }),
                Column("", .number, time(.p95, 2) { $0.p95 }),
                Column("pairs", .number) {
                    Cell($0.pairsText, short: $0.pairs?.growthText, $0.pairs?.change.tone ?? .plain)
                },
                Column("p99 BASE", .number) { p99($0.base) },
                Column("NEW", .number) { p99($0.new) },
                Column("samples", .number) { samples($0.base) },
                Column("NEW", .number) { samples($0.new) },
            ])
    }

    private var shares: DocumentTable {
        DocumentTable(
            id: "shares", tableID: "share-table", title: "Shares",
            lead:
                "Outcomes and books are judged scan by scan; the others if the difference exceeds one percentage point and three standard errors. "
                + "Outcomes of \(self.comparison.noun.listed) and jobs are judged only if both runs completed.",
            nameColumns: Self.nameColumns, rows: self.comparison.shares.filter { self.isIn($0.change) },
            mark: { ($0.change.mark, nil) },
            [
                .init("what", .name) { .mono($0.name) },
                .init("BASE", .number) { Cell($0.text($0.base)) },
                .init("NEW", .number) { Cell($0.text($0.new), $0.change.tone) },
                .init("", .number) { Cell($0.difference, $0.change.tone) },
                .init("of", .text) { Cell($0.of, .unknown) },
            ])
    }

    private var counts: DocumentTable {
        DocumentTable(
            id: "counts", tableID: "count-table", title: "Counts",
            lead: "Not judged: neither a higher nor a lower count is better.",
            rows: self.comparison.counts.filter { self.isIn($0.change) },
            mark: { ($0.change == .shown ? nil : $0.change.mark, nil) },
            [
                .init("what", .name) { .mono($0.name) },
                .init("BASE", .number) { Cell($0.text($0.base)) },
                .init("NEW", .number) { Cell($0.text($0.new)) },
                .init("", .number) { Cell($0.difference) },
            ])
    }

    /// The width of a metric's name.
    private static let nameColumns = 24
}

extension Change {
    private var look: (sign: String, ascii: String, emoji: String, tone: Tone) {
        switch self {
        case .worse: ("✗", "X", "❌", .bad)
        case .better: ("✓", "*", "✅", .good)
        case .same: ("=", "=", "", .plain)
        case .notProven: ("?", "?", "❓", .warn)
        case .onlyBase: ("-", "-", "⚠️", .warn)
        case .onlyNew: ("+", "+", "⚠️", .warn)
        case .shown: ("·", " ", "", .plain)
        }
    }

    /// The sign in front of a row.
    var mark: DocumentTable.Mark {
        let (sign, ascii, emoji, tone) = self.look
        return .init(
            word: self.rawValue, sign: sign, ascii: ascii, emoji: emoji,
            tone: tone == .plain ? .unknown : tone, ink: tone.ink)
    }

    var tone: Tone { self.look.tone }
}
