import Ledger
import Metrics
import ReportSamples
import RunJudge
import RunMetrics
import SimBase
import Testing

@testable import Reports

/// The time to a first book, in the reports of a run.
@Suite struct FirstBookTests {
    /// A fleet whose first group shows so many books before the ends of their jobs.
    private static func result(shown: Int) -> RunResult {
        var result = Samples.passed()
        for (index, seconds) in [(0, Int64(4)), (1, 7)] {
            result.metrics.record(.firstBookTime, .seconds(seconds), in: MetricGroup(index: index))
        }
        result.totals.books.shown = shown
        result.groups[0].totals.books.shown = shown
        return result
    }

    private static func isShown(_ result: RunResult) -> Bool {
        result.latencyRows.contains { $0.metric == .firstBookTime }
    }

    @Test func `it has a row where books were shown early, or where it has an objective`() throws {
        #expect(Self.isShown(Self.result(shown: 3)) && !Self.isShown(Self.result(shown: 0)))
        var judged = Self.result(shown: 0)
        let slo = try #require(Samples.slo("first_book.time", "p(95) < 8s"))
        judged.slos.append(slo.evaluate(against: judged.metrics))
        #expect(Self.isShown(judged))
    }

    @Test func `a group that shows books early stands beside one that does not`() throws {
        func rows(_ result: RunResult) -> [String] {
            let table = result.groupTables.first { $0.id == "group-latencies" }
            return table?.rows.map { $0.cells.prefix(4).map(\.text).joined(separator: " ") }
                .filter { $0.hasPrefix("first_book.time") } ?? []
        }
        #expect(rows(Self.result(shown: 0)).isEmpty)
        #expect(rows(Self.result(shown: 3)).count == 2)
    }
}
