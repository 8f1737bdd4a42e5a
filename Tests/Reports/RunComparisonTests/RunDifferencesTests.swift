import Metrics
import ReportSamples
import RunComparison
import RunJudge
import Testing

/// Several runs next to each other.
@Suite struct RunDifferencesTests {
    private func result(photo: Int64) -> RunResult {
        var result = Samples.passed()
        var prices = BookPrices()
        prices.photo = photo
        result.metrics.prices = prices
        result.metrics.add(PricedBooks(photo: 27), in: MetricGroup(index: 0))
        return result
    }

    @Test func `only what differs is a row, and so is a cost`() {
        let runs = [(name: "cheap", result: self.result(photo: 21_000))]
        #expect(
            RunDifferences.rows(runs + [(name: "dear", result: self.result(photo: 42_000))]) == [
                ["figure", "cheap", "dear"], ["cost.total", "$0.567", "$1.134"],
                ["cost.per-book", "$0.021", "$0.042"],
            ])
        #expect(RunDifferences.rows(runs + runs).count == 1)
        let free = RunDifferences.rows(runs + [(name: "free", result: Samples.passed())])
        #expect(free.contains(["cost.total", "$0.567", "n/a"]))
    }
}
