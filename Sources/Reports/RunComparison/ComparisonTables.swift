import Ledger
import Metrics
import Reports
import RunArchive
import RunJudge
import SimBase
import Talaria

/// The tables of a comparison on a page, each as a section: the rows of some changes. A table without rows has an empty body.
struct ComparisonTables {
    typealias Section = HTMLDocument.Section

    private let comparison: RunComparison
    /// Before the ids of the sections and tables, which a page has once.
    private let id: String
    private let isIn: (Change) -> Bool

    init(_ comparison: RunComparison, id: String, _ isIn: @escaping (Change) -> Bool) {
        self.comparison = comparison
        self.id = id
        self.isIn = isIn
    }

    static func sign(_ change: Change) -> String {
        let tone: Tone =
            switch change {
            case .worse: .bad
            case .better: .good
            case .notProven, .onlyBase, .onlyNew: .warn
            case .same, .shown: .unknown
            }
        return "\(HTMLText.sign(tone, RunComparison.sign(change), isHidden: true)) \(change.rawValue)"
    }

    private func section(
        _ name: String, _ title: String, lead: String = "", _ header: [String], _ rows: [[String]],
        numbers: Set<Int>, table: String
    ) -> Section {
        Section(
            id: self.id + name, title: title, lead: lead,
            body: rows.isEmpty
                ? "" : HTMLText.table(header, rows, numbers: numbers, id: self.id + table))
    }

    var objectives: Section {
        let rows = self.comparison.objectives.filter { self.isIn($0.change) }.map { row -> [String] in
            func cell(_ result: SLOResult?) -> String {
                guard let result else { return "–" }
                return HTMLText.sentence(
                    ("\(RunComparison.Objective.word(result)): \(RunComparison.Objective.text(result))"))
            }
            return [
                Self.sign(row.change) + (row.change == .worse && !row.decides ? " (warning only)" : ""),
                HTMLText.mono(row.slo.selector.description),
                HTMLText.sentence(row.slo.condition.description),
                cell(row.base), cell(row.new),
            ]
        }
        return self.section(
            "objectives", "Objectives", ["", "metric", "limit", "BASE", "NEW"], rows, numbers: [],
            table: "objective-table")
    }

    var invariants: Section {
        var rows = self.comparison.losses.filter { self.isIn($0.change) }.map { row in
            [
                Self.sign(row.change), HTMLText.mono(row.name),
                row.text(row.base), row.text(row.new), "",
            ]
        }
        rows += self.comparison.invariants.filter { $0.isShown && self.isIn($0.change) }.map { row in
            let first = row.new?.examples.first ?? row.base?.examples.first
            return [
                Self.sign(row.change) + (row.change == .worse && !row.decides ? " (as expected)" : ""),
                HTMLText.mono(row.invariant.rawValue),
                RunComparison.InvariantComparison.text(row.base),
                RunComparison.InvariantComparison.text(row.new),
                first.map { HTMLText.escaped(self.comparison.told($0)) } ?? "",
            ]
        }
        let held = self.comparison.invariants.count {
            $0.base?.standing == .held && $0.new?.standing == .held
        }
        return self.section(
            "losses", "Losses and invariants",
            lead: "\(Figures.count(held, "invariant", "invariants")) held in both runs.",
            ["", "what", "BASE", "NEW", "first"], rows, numbers: [2, 3], table: "loss-table")
    }

    var latencies: Section {
        let rows = self.comparison.latenciesShown.filter { self.isIn($0.change) }.map { row -> [String] in
            func times(_ percentile: Percentile, _ value: (LatencySummary) -> Int64) -> [String] {
                row.cells(percentile, value).map { HTMLText.sentence($0) }
            }
            return [
                Self.sign(row.change), HTMLText.mono(row.name.name),
            ] + times(.p50) { $0.p50 } + times(.p95) { $0.p95 } + [HTMLText.sentence(row.pairsText)]
                + times(.p99) { $0.p99 }.prefix(2)
                + [row.base, row.new].map { Figures.count($0?.count ?? 0) }
        }
        let more = self.isIn(.same) ? self.comparison.latenciesLeftOut : 0
        let rest =
            more > 0
            ? " \(Figures.count(more, "row", "rows")) of single groups, which are not judged, omitted." : ""
        return self.section(
            "latency", "Latency",
            lead: HTMLText.escaped(self.comparison.latencyLead, bytesMax: 1_000) + rest,
            [
                "", "metric", "p50 BASE", "NEW", "", "p95 BASE", "NEW", "", "pairs", "p99 BASE", "NEW",
                "samples", "NEW",
            ], rows, numbers: Set(2...12), table: "latency-table")
    }

    var shares: Section {
        let rows = self.comparison.shares.filter { self.isIn($0.change) }.map { row in
            [
                Self.sign(row.change), HTMLText.mono(row.name),
                row.of, row.text(row.base), row.text(row.new), row.difference,
            ]
        }
        return self.section(
            "shares", "Shares",
            lead:
                "Outcomes and books are judged scan by scan; the others if the difference exceeds one percentage point and three standard errors. "
                + "Outcomes of \(self.comparison.noun.listed) and jobs are judged only if both runs completed.",
            ["", "what", "of", "BASE", "NEW", ""], rows, numbers: [3, 4, 5], table: "share-table")
    }

    var counts: Section {
        let rows = self.comparison.counts.filter { self.isIn($0.change) }.map { row in
            [
                row.change == .shown ? "" : Self.sign(row.change),
                HTMLText.mono(row.name), row.text(row.base),
                row.text(row.new), row.difference,
            ]
        }
        return self.section(
            "counts", "Counts",
            lead: "Not judged: neither a higher nor a lower count is better.",
            ["", "what", "BASE", "NEW", ""], rows, numbers: [2, 3, 4], table: "count-table")
    }
}
