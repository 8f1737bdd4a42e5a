import Metrics
import SimBase
import Testing

@testable import RunArchive

@Suite struct TrackFoldTests {
    private func track(perSecond: Int, seconds: Int) -> LatencyTrack? {
        var fold = TrackFold<HDRHistogram>(metric: .scanTime)
        for second in 0..<seconds {
            var histogram = HDRHistogram()
            for _ in 0..<perSecond { histogram.record(1_000_000) }
            fold.add(histogram, from: .zero + .seconds(Int64(second)))
        }
        return fold.track(width: .seconds(1))
    }

    @Test(
        arguments: [(100, 60, 1), (20, 60, 1), (10, 60, 2), (4, 60, 5), (3, 60, 10), (1, 60, 1), (4, 12, 1)])
    func `windows are as wide as a 95th percentile needs, while they show a course`(
        perSecond: Int, seconds: Int, width: Int
    ) throws {
        let track = try #require(self.track(perSecond: perSecond, seconds: seconds))
        #expect(track.width == .seconds(Int64(width)))
        #expect(track.windows.count == (seconds + width - 1) / width)
        #expect(track.windows.reduce(0) { $0 + $1.summary.count } == Int64(perSecond * seconds))
    }

    @Test func `a percentile needs as many samples as it leaves out one of`() {
        #expect(LatencyTrack.samplesMin(for: .p50) == 2)
        #expect(LatencyTrack.samplesMin(for: .p95) == 20)
        #expect(LatencyTrack.samplesMin(for: .p99) == 100)
        #expect(LatencyTrack.samplesMin(for: .p999) == 1_000)
    }
}
