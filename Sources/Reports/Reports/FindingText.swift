import Observations
import RunArchive
import RunJudge
import RunMetrics
import SimBase
import Talaria

/// A finding in words. What a server wrote is in `excerpt` and perhaps in the names next to it: every format
/// escapes all of them in its own way.
struct FindingText {
    private let row: FindingsTable.Row
    /// `phone 3, scan 1 at 0:02`.
    let first: String

    init(_ row: FindingsTable.Row, of result: RunResult) {
        self.row = row
        self.first = result.place(row.device, row.scan, at: row.first)
    }

    var finding: ContractFinding { self.row.finding }
    /// `upload 202`.
    var answer: String { "\(self.finding.operation.name) \(self.finding.part)" }
    /// `response` or `request`.
    var message: String { self.finding.side == .client ? "request" : "response" }
    var count: String { Figures.count(self.finding.count) }
    /// `expected a string, was missing`.
    var difference: String {
        let shown = self.finding.excerpt.map { " (\($0))" } ?? ""
        return "expected \(self.finding.expected), was \(self.finding.seen)\(shown)"
    }
    /// `upload 202: data.sseUrl: expected a string, was missing`.
    var sentence: String { "\(self.answer): \(self.finding.path): \(self.difference)" }
    var use: String { (self.finding.isDecisive ? "rejected" : "accepted") + self.suffix }
    /// `, injected by strip-books-1`: who is to blame; empty where it is not known.
    var suffix: String { self.row.causes.words.isEmpty ? "" : ", \(self.row.causes.words)" }

    /// The maximum number of rows in a report; the others are counted.
    static let rowsMax = 20
}

extension RunResult {
    /// The deviations of answers, events and requests from the contract.
    var findingTable: DocumentTable {
        let hidden = self.findings.hidden(beyond: FindingText.rowsMax)
        return DocumentTable(
            id: "findings", tableID: "finding-table", title: "Findings",
            lead: "Messages that deviate from the API contract: "
                + "\(Figures.count(self.findings.kinds, "kind", "kinds")), \(Figures.count(self.findings.count)) in total"
                + "\(self.findings.originText).",
            note: hidden > 0 ? "\(Figures.count(hidden)) more of other kinds." : nil,
            rows: self.findings.shown(FindingText.rowsMax, of: self),
            [
                .init("message", .name) { .mono($0.answer) },
                .init("field", .name) { .mono($0.finding.path) },
                .init("expected", .text) { .init($0.finding.expected) },
                .init("actual", .text) { .init($0.finding.seen) },
                .init("excerpt", .text) { $0.finding.excerpt.map { .mono($0) } ?? .init("–") },
                .init("handling", .text) { $0.finding.isDecisive ? .verdict($0.use, .bad) : .init($0.use) },
                .init("count", .number) { .init($0.count) },
                .init("first", .text) { .init($0.first) },
            ])
    }
}

extension FindingsTable {
    /// `; 12 of them injected by faults of the scenario`; empty where none is.
    var originText: String {
        let injected = self.causes.injected
        return injected == 0
            ? "" : "; \(Figures.count(injected)) of them injected by faults of the scenario"
    }

    /// Kinds, and those that could no longer be distinguished as one.
    var kinds: Int { self.rows.count + (self.other > 0 ? 1 : 0) }

    func shown(_ most: Int, of result: RunResult) -> [FindingText] {
        self.byWeight.prefix(most).map { FindingText($0, of: result) }
    }

    /// Findings that are not among the first of them; 0 where all are shown.
    func hidden(beyond most: Int) -> Int {
        self.byWeight.dropFirst(most).reduce(self.other) { sum, row in
            let (total, overflow) = sum.addingReportingOverflow(row.finding.count)
            return overflow ? .max : total
        }
    }

    var json: JSONValue {
        var values = self.rows.map { row in
            let finding = row.finding
            return JSONValue.object([
                // Whose deviation it is.
                "side": .string(finding.side == .client ? "phone" : "target"),
                "operation": .string(finding.operation.name),
                "part": .bounded(finding.part),
                "path": .bounded(finding.path),
                "expected": .bounded(finding.expected),
                "seen": .bounded(finding.seen),
                "excerpt": finding.excerpt.map { .bounded($0) } ?? .null,
                "used": .bool(!finding.isDecisive),
                "count": .integer(finding.count),
                "injected": .integer(row.causes.injected),
                "causes": row.causes.json,
                "first": .object(JSONValue.place(row.device, row.scan, at: row.first)),
            ])
        }
        if self.other > 0 { values.append(.object(["other": .integer(self.other)])) }
        return .array(values)
    }
}
