import Metrics
import SimBase
import Testing

@Suite struct GaugeSeriesTests {
    private func series(_ counts: [(least: Int, most: Int)]) -> GaugeSeries {
        var series = GaugeSeries()
        for (second, count) in counts.enumerated() {
            series.add(
                least: count.least, most: count.most, upTo: .zero + .seconds(1) * Int64(second + 1))
        }
        return series
    }

    @Test func `the peak is the most of any interval, at its first`() {
        let series = self.series([(0, 3), (3, 9), (9, 9), (2, 9)])
        #expect(series.peak?.count == 9)
        #expect(series.peak?.by == .zero + .seconds(2))
        #expect(GaugeSeries().peak == nil)
    }

    @Test func `time at a level counts only intervals that were never below it`() {
        let series = self.series([(0, 10), (10, 10), (10, 12), (9, 12)])
        #expect(series.time(atLeast: 10) == .seconds(2))
        #expect(series.time(atLeast: 9) == .seconds(3))
        #expect(series.time(atLeast: 13) == .zero)
    }

    @Test func `however long it counts, its memory is bounded and its peak kept`() {
        let series = self.series((0..<20_000).map { ($0 == 777 ? 1 : 5, $0 == 4_321 ? 99 : 6) })
        #expect(series.samples.count < GaugeSeries.samplesMax)
        #expect(series.peak?.count == 99)
        #expect(series.samples.map(\.least).min() == 1)
        #expect(series.samples.last?.to == .zero + .seconds(20_000))
    }
}
