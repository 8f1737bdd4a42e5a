import Ledger
import Metrics
import Reports
package import RunArchive
package import RunJudge
import SimBase
import Talaria

/// Several runs of one scenario over time, the oldest first.
package struct RunTrend: Sendable {
    package struct Run: Sendable {
        package var folder: String
        package var result: RunResult
        package var wasCutOff: Bool

        package init(folder: String, result: RunResult, wasCutOff: Bool) {
            self.folder = folder
            self.result = result
            self.wasCutOff = wasCutOff
        }

        package init(_ run: PastRun) {
            self.init(folder: run.folder, result: run.result, wasCutOff: run.wasCutOff)
        }

        /// The tag `build`, else the day and time of the start.
        var label: String {
            self.result.labels.tags.first { $0.key == "build" }?.value
                ?? String(Figures.date(iso8601: self.result.startedText).dropLast(" UTC".utf8.count + 3))
        }

        var verdict: String { self.wasCutOff ? "killed" : self.result.headline.lowercased() }
        var tone: Tone { self.wasCutOff ? .warn : self.result.exit.tone }

        var completed: String {
            "\(Figures.count(self.result.totals.scans.completed)) of \(Figures.count(self.result.totals.scans.begun))"
        }

        var violations: Int { self.result.brokenInvariants.reduce(0) { $0 + $1.violations } }

        func failed(_ metric: RateMetric) -> FailureRate? {
            guard case .measured(let rate) = self.result.metrics.rate(metric, of: .fleet), rate.total > 0
            else { return nil }
            return rate
        }
    }

    package let runs: [Run]
    /// The last run against the one before it, by the judge of `compare`.
    package var comparison: RunComparison?

    /// `runs`: in any order.
    package init(_ runs: [Run]) {
        self.runs = runs.enumerated().sorted {
            ($0.element.result.started, $0.offset) < ($1.element.result.started, $1.offset)
        }.map(\.element)
    }

    /// The folders of the last run and of the one before it that was not killed; nil without one.
    package var lastTwo: (base: String, new: String)? {
        guard let new = self.runs.last, let base = self.runs.dropLast().last(where: { !$0.wasCutOff }) else {
            return nil
        }
        return (base.folder, new.folder)
    }

    var name: String { self.runs.last?.result.scenario.name ?? "" }

    /// The time of a scan first, then the others as reports have them.
    var metrics: [LatencyMetric] {
        let all = LatencyMetric.allCases.filter { metric in
            metric != .generatorLateness && self.runs.contains { $0.result.latency(metric) != nil }
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
        let results = self.runs.map(\.result)
        return [
            several("the scenarios differ", results.map(\.scenario.name)),
            several("the seeds differ", results.map { "\($0.seed)" }),
            several("the numbers of phones differ", results.map { Figures.count($0.devices) }),
            several("the machines differ", results.compactMap(\.machine)),
            several(
                "the backends differ", results.map { $0.labels.target ?? "simulated backend" }),
        ].compactMap { $0 }
    }

    /// The last run against the one before it, with the worst of what is judged.
    var sentence: String? {
        self.comparison.map {
            "the last run against the one before: \($0.headline.lowercased()), \($0.reasons.first ?? $0.sentence)"
        }
    }
}

extension RunTrend {
    /// A row for each run, in the terminal and on the page.
    var table: DocumentTable {
        typealias Cell = DocumentTable.Cell
        func time(_ value: Int64?, _ tone: Tone = .plain) -> Cell {
            Cell(value.map { Figures.time($0) } ?? "–", tone, key: value ?? -1)
        }
        func bad(_ count: Int) -> Cell {
            Cell(Figures.count(count), count > 0 ? .bad : .plain, key: Int64(count))
        }
        var table = DocumentTable(id: "runs", tableID: "runs-table", title: "Runs")
        table.lead = "The oldest first."
        table.hasMarks = false
        table.isSortable = true
        table.nameColumns = 16
        // The last ones are left out first on a narrow terminal.
        table.add(
            self.runs,
            [
                .init("run", .name) { Cell(Printable.line($0.label, bytesMax: 60)) },
                .init("scan.time p50", .number) { time($0.result.latency(.scanTime)?.p50) },
                .init("p95", .number) { time($0.result.latency(.scanTime)?.p95) },
                .init("completed", .number) {
                    Cell($0.completed, key: Int64($0.result.totals.scans.completed))
                },
                .init("verdict", .text) { .verdict($0.verdict, $0.tone) },
                .init("upload p95", .number) { time($0.result.latency(.uploadTime)?.p95) },
                .init("lost", .number) { bad($0.result.totals.scans.lost) },
                .init("violations", .number) { bad($0.violations) },
                .init("started", .text) {
                    Cell(
                        Figures.date(iso8601: $0.result.startedText), .unknown, key: Int64($0.result.started))
                },
                .init("upload failed", .number) {
                    let failed = $0.failed(.uploadFailed)
                    return Cell(
                        failed.map { Figures.share($0) } ?? "–", key: failed.map { Int64($0.failed) } ?? -1)
                },
                .init("folder", .sentence) { .mono($0.folder) },
            ])
        return table
    }
}
