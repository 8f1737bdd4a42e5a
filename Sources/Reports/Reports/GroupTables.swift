import Ledger
import Metrics
import Observations
import RunJudge
import RunMetrics
import SimBase
import Talaria

extension RunResult {
    /// The tables of a fleet of several groups, without empty ones; none for a fleet of one.
    var groupTables: [DocumentTable] {
        guard self.groups.count > 1 else { return [] }
        let parts = self.groups.compactMap { group in
            self.part(group.name).map { (name: Printable.line(group.name), result: $0) }
        }
        return [
            self.latencies(parts), self.disconnections(parts), self.errorsByGroup, Self.findings(parts),
            Self.violations(parts),
        ].filter { !$0.rows.isEmpty }
    }

    /// The names of the rows and their groups are the first columns; the rest are figures.
    private static func table(
        id: String, title: String, header: [String], rows: [[String]], note: String? = nil
    ) -> DocumentTable {
        DocumentTable(
            id: id, tableID: id, title: title, note: note, rows: rows,
            header.indices.map { index in
                DocumentColumn(header[index], index < 2 ? .name : .number) { row in
                    index < 2 ? .mono(row[index]) : .init(row[index].isEmpty ? "–" : row[index])
                }
            })
    }

    private typealias Part = (name: String, result: RunResult)

    private func latencies(_ parts: [Part]) -> DocumentTable {
        // Groups that show books early stand beside those that do not.
        let hasFirstBook = self.judgesFirstBook
        let rows = parts.map { part in (part.name, part.result.latencyRows(hasFirstBook: hasFirstBook)) }
        let columns = LatencyRow.columns(rows.flatMap(\.1), none: ("", ""))
        return Self.table(
            id: "group-latencies", title: "Latencies by group",
            header: ["metric", "group"] + columns.map(\.column.title),
            rows: LatencyMetric.allCases.flatMap { metric in
                rows.compactMap { name, rows in
                    rows.first { $0.metric == metric }.map { row in
                        [metric.rawValue, name] + columns.map { $0.cell(row).text }
                    }
                }
            })
    }

    private func disconnections(_ parts: [Part]) -> DocumentTable {
        let hasOpen = parts.contains { $0.result.disconnections.losses.contains { $0.unresolved > 0 } }
        return Self.table(
            id: "group-disconnections", title: "Disconnections by group",
            header: ["cause", "group", "count", "resumed", "restarted", "gave up", "p95"]
                + (hasOpen ? ["open"] : []),
            rows: LossCause.allCases.flatMap { cause in
                parts.compactMap { part in
                    let loss = part.result.disconnections[cause]
                    guard loss.count > 0 else { return nil }
                    return [cause.rawValue, part.name]
                        + [loss.count, loss.resumed, loss.restarted, loss.gaveUp].map { Figures.count($0) }
                        + [loss.reconnectTime.value(at: .p95).map { Figures.time($0) } ?? ""]
                        + (hasOpen ? [Figures.count(loss.unresolved)] : [])
                }
            }, note: self.retryNote)
    }

    /// Why the phones of v2 reconnect later than those of v3; nil if not both versions lost streams.
    private var retryNote: String? {
        let lost = self.groups.filter { !$0.tables.disconnections.losses.isEmpty }
            .map(\.journey.version.retryField)
        guard self.hasBackendView, lost.contains(nil), let retry = lost.lazy.compactMap({ $0 }).first
        else { return nil }
        return
            "Reconnects of v2 take longer: unless the scenario sets `retry` of the server, its streams carry "
            + "`retry: \(retry.wholeMilliseconds)`, and a phone waits up to \(Figures.length(retry, short: true)) before its first attempt."
    }

    /// The most frequent errors of each group that have a row for every group that had them.
    private static let errorsMax = 8

    private var errorsByGroup: DocumentTable {
        let counted = self.groups.map { group in
            (Printable.line(group.name), group.errors.byCount.map { ($0.trouble.name, $0.count) })
        }
        let rows = Self.sideBySide(counted, namesMax: Self.errorsMax)
        let hidden = counted.reduce(0) { $0 + $1.1.count } - rows.count
        return Self.table(
            id: "group-errors", title: "Errors by group", header: ["error", "group", "count"], rows: rows,
            note: hidden == 0
                ? nil
                : "\(Figures.count(hidden, "rarer error is", "rarer errors are")) left out. "
                    + "`swiftwing-sim report RUNDIR --group NAME --output DIR` writes a report with all errors of one group."
        )
    }

    private static func findings(_ parts: [Part]) -> DocumentTable {
        Self.table(
            id: "group-findings", title: "Findings by group", header: ["finding", "group", "count"],
            rows: Self.sideBySide(
                parts.map { part in
                    (part.name, part.result.findings.byWeight.map { Self.named($0.finding) })
                }, namesMax: .max))
    }

    private static func named(_ finding: ContractFinding) -> (name: String, count: Int) {
        (
            "\(finding.operation.name), \(finding.part) \(finding.path): expected \(finding.expected), "
                + "was \(finding.seen)", finding.count
        )
    }

    /// The rows of all groups that have the same name, one below the other. `namesMax`: the first names of each group that
    /// are used.
    private static func sideBySide(
        _ counted: [(group: String, rows: [(name: String, count: Int)])], namesMax: Int
    ) -> [[String]] {
        var names: [String] = []
        for (_, rows) in counted {
            for row in rows.prefix(namesMax) where !names.contains(row.name) { names.append(row.name) }
        }
        return names.flatMap { name in
            counted.compactMap { group, rows in
                rows.first { $0.name == name }.map {
                    [Printable.bounded(name), group, Figures.count($0.count)]
                }
            }
        }
    }

    private static func violations(_ parts: [Part]) -> DocumentTable {
        Self.table(
            id: "group-invariants", title: "Violations by group",
            header: ["invariant", "group", "violations", "expected"],
            rows: Invariant.allCases.flatMap { invariant in
                parts.compactMap { part in
                    part.result.verdicts.first { $0.invariant == invariant && $0.violations > 0 }.map {
                        [
                            invariant.rawValue, part.name, Figures.count($0.violations),
                            Figures.count($0.expected),
                        ]
                    }
                }
            })
    }

    // MARK: Headlines

    /// What the phones of one group cost their users, in one sentence; for a group with something to report.
    struct GroupHeadline {
        let group: String
        let text: String
        /// Whether scans or books were lost or doubled.
        let isLoss: Bool
        /// Whether the profile broke what it is known for.
        let isKnown: Bool
    }

    /// The only group of a run has one where its profile broke what it is known for; the rest is the headline of the run.
    var groupHeadlines: [GroupHeadline] {
        let headlines = self.groups.compactMap(self.headline)
        return self.groups.count > 1 ? headlines : headlines.filter(\.isKnown)
    }

    /// Nil for a group that lost nothing and whose profile broke nothing that it is known for.
    func headline(of group: GroupResult) -> GroupHeadline? {
        let loss = self.part(group.name)?.lossSentence
        let known = self.knownViolations(group)
        guard loss != nil || known != nil else { return nil }
        return GroupHeadline(
            group: Printable.line(group.name), text: [loss, known].compactMap { $0 }.joined(separator: "; "),
            isLoss: loss != nil, isKnown: known != nil)
    }

    /// `25 violations of 5 invariants are expected for this profile`. What the scenario expects is not the profile's.
    private func knownViolations(_ group: GroupResult) -> String? {
        let known = group.verdicts.filter {
            $0.expected > 0 && !self.expectations.covers($0.invariant, of: group.name)
        }
        guard !known.isEmpty else { return nil }
        let count = known.reduce(0) { $0 + $1.expected }
        return "\(Figures.count(count, "violation", "violations")) of "
            + "\(Figures.count(known.count, "invariant", "invariants")) \(count == 1 ? "is" : "are") expected for this profile"
    }
}
