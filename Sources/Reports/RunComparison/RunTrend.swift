import Metrics
import Reports
import SimBase

/// Several runs of one scenario over time, the oldest first.
package struct RunTrend: Sendable {
    package let runs: [Run]
    /// The last run against the one before it, by the judge of `compare`.
    package var comparison: RunComparison?

    /// `runs`: in any order.
    package init(_ runs: [Run]) {
        self.runs = runs.enumerated().sorted {
            ($0.element.started, $0.offset) < ($1.element.started, $1.offset)
        }.map(\.element)
    }

    /// The folders of the last run and of the one before it that was not killed; nil without one, and where only a summary is
    /// left of one of them.
    package var lastTwo: (base: String, new: String)? {
        guard let new = self.runs.last, let base = self.runs.dropLast().last(where: { !$0.wasCutOff }),
            new.isFolder, base.isFolder
        else { return nil }
        return (base.place, new.place)
    }

    var name: String { self.runs.last?.scenario ?? "" }

    /// The time of a scan first, then the others as reports have them.
    var metrics: [LatencyMetric] {
        let all = LatencyMetric.allCases.filter { metric in
            metric != .generatorLateness && self.runs.contains { $0.metric(metric.rawValue) != nil }
        }
        return all.filter { $0 == .scanTime } + all.filter { $0 != .scanTime }
    }

    /// Why the runs may not be comparable.
    var warnings: [String] {
        func several(_ what: String, _ values: [String]) -> String? {
            let different = Set(values).sorted()
            return different.count > 1
                ? "\(what): \(different.map { Printable.line($0) }.joined(separator: ", "))" : nil
        }
        return [
            several("the scenarios differ", self.runs.map(\.scenario)),
            several("the seeds differ", self.runs.map(\.seed)),
            several("the numbers of phones differ", self.runs.map { Figures.count($0.devices) }),
            several("the machines differ", self.runs.compactMap(\.machine)),
            several("the backends differ", self.runs.map { $0.target ?? "simulated backend" }),
        ].compactMap { $0 }
    }

    /// The last run against the one before it, with the worst of what is judged.
    var sentence: String? {
        self.comparison.map {
            "the last run against the one before: \($0.headline.lowercased()), \($0.reasons.first ?? $0.sentence)"
        }
    }

    /// A row for each run, in the terminal and on the page.
    var table: DocumentTable {
        typealias Cell = DocumentTable.Cell
        func time(_ value: Int64?, _ tone: Tone = .plain) -> Cell {
            Cell(value.map { Figures.time($0) } ?? "–", tone, key: value ?? -1)
        }
        func bad(_ count: Int) -> Cell {
            Cell(Figures.count(count), count > 0 ? .bad : .plain, key: Int64(count))
        }
        var table = DocumentTable(
            id: "runs", tableID: "runs-table", title: "Runs", lead: "The oldest first.", nameColumns: 16,
            rows: self.runs,
            // The last ones are left out first on a narrow terminal.
            [
                .init("run", .name) { Cell(Printable.line($0.label, bytesMax: 60)) },
                .init("scan.time p50", .number) { time($0.latency(.scanTime, "p50")) },
                .init("p95", .number) { time($0.latency(.scanTime, "p95")) },
                .init("completed", .number) { Cell($0.completed, key: Int64($0.scans("completed"))) },
                .init("verdict", .text) { .verdict($0.verdict, $0.tone) },
                .init("upload p95", .number) { time($0.latency(.uploadTime, "p95")) },
                .init("lost", .number) { bad($0.scans("lost")) },
                .init("violations", .number) { bad($0.violations) },
                .init("started", .text) {
                    Cell(Figures.date(iso8601: $0.startedText), .unknown, key: $0.started)
                },
                .init("upload failed", .number) {
                    let failed = $0.failed(.uploadFailed)
                    return Cell(
                        failed.map { Figures.share($0) } ?? "–", key: failed.map { Int64($0.failed) } ?? -1)
                },
                .init("folder", .sentence) { .mono(Printable.line($0.place)) },
            ])
        table.isSortable = true
        return table
    }
}
