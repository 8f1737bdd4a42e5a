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

    @Test func `of a sum the peak is what is certain, and the ceiling what is possible`() {
        var sum = self.series([(0, 3), (3, 9), (9, 9), (9, 9)])
        sum.add(self.series([(1, 4), (4, 8), (7, 8)]))
        #expect(sum.isSum)
        #expect(sum.samples.map(\.least) == [1, 7, 16, 9] && sum.samples.map(\.most) == [7, 17, 17, 9])
        #expect(sum.peak?.count == 16 && sum.peak?.by == .zero + .seconds(3))
        #expect(sum.ceiling == 17)
        #expect(sum.time(atLeast: 16) == .seconds(1))
    }

    @Test func `samples of different lengths are summed where they overlap`() {
        var sum = GaugeSeries()
        sum.add(least: 1, most: 2, upTo: .zero + .milliseconds(1_500))
        sum.add(least: 3, most: 3, upTo: .zero + .milliseconds(3_000))
        sum.add(self.series([(10, 20), (30, 40)]))
        #expect(
            sum.samples.map(\.to.nanoseconds)
                == [1_000_000_000, 1_500_000_000, 2_000_000_000, 3_000_000_000])
        #expect(sum.samples.map(\.least) == [11, 31, 33, 3])
        #expect(sum.samples.map(\.most) == [22, 42, 43, 3])
    }

    @Test func `a sum of many samples is bounded and covers all of the time`() {
        var sum = self.series((0..<8_000).map { _ in (1, 2) })
        var other = GaugeSeries()
        for number in 0..<8_001 {
            other.add(least: 3, most: 4, upTo: .zero + .milliseconds(500 + Int64(number) * 1_000))
        }
        sum.add(other)
        #expect(sum.samples.count < GaugeSeries.samplesMax)
        #expect(sum.samples.last?.to == other.samples.last?.to)
        #expect(sum.peak?.count == 4 && sum.ceiling == 6)
    }
}
