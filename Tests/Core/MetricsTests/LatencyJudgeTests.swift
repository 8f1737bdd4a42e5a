import Metrics
import SimBase
import Testing

/// When a latency is worse than it was. Each rule has a pair that differs in it alone.
@Suite struct LatencyJudgeTests {
    private let judge = LatencyJudge(tolerance: 100_000)

    /// A run whose samples, in microseconds, came one after the other, a hundred an interval.
    private func run(_ samples: [Int64], lateness: Int64 = 0) -> LatencySide {
        var side = LatencySide(
            whole: HDRHistogram(), windows: LatencyWindows(), lateness: HDRHistogram())
        for sample in samples {
            side.whole.record(sample * 1_000)
            var one = HDRHistogram()
            one.record(sample * 1_000)
            side.windows.add(one)
        }
        side.lateness.record(lateness * 1_000)
        return side
    }

    private func run(_ sample: Int64, times: Int, lateness: Int64 = 0) -> LatencySide {
        self.run([Int64](repeating: sample, count: times), lateness: lateness)
    }

    private func change(_ base: LatencySide, _ new: LatencySide, _ tolerance: Int64 = 100_000) -> Change {
        LatencyJudge.change(LatencyJudge(tolerance: tolerance).findings(base: base, new: new))
    }

    @Test func `what grew beyond every limit is worse, and the way back is better`() {
        let (fast, slow) = (self.run(100_000, times: 200), self.run(150_000, times: 200))
        #expect(self.change(fast, slow) == .worse)
        #expect(self.change(slow, fast) == .better)
        #expect(self.change(fast, fast) == .same)
    }

    @Test func `the limit is a share of the base`() {
        let base = self.run(100_000, times: 200)
        #expect(self.change(base, self.run(109_000, times: 200)) == .same)
        #expect(self.change(base, self.run(112_000, times: 200)) == .worse)
        #expect(self.change(base, self.run(112_000, times: 200), 200_000) == .same)
        #expect(self.change(base, self.run(103_000, times: 200), 0) == .worse)
    }

    @Test func `two milliseconds are nothing, however large their share`() {
        let base = self.run(3_000, times: 200)
        #expect(self.change(base, self.run(4_900, times: 200)) == .same)
        #expect(self.change(base, self.run(5_100, times: 200)) == .worse)
    }

    @Test func `what a run went through itself is no change`() {
        let calm = self.run(100_000, times: 200)
        let restless = self.run(
            (0..<200).map { $0 / 20 % 2 == 0 ? 90_000 : 140_000 })
        let new = self.run(130_000, times: 200)
        #expect(self.change(calm, new) == .worse)
        #expect(self.change(restless, new) == .withinSpread)
    }

    /// One window of ten may be anything.
    @Test func `a single window that went astray does not widen the spread`() {
        let samples = (0..<400).map { Int64($0 / 20 == 7 ? 400_000 : 100_000) }
        #expect(
            self.judge.finding(.p50, base: self.run(samples), new: self.run(200_000, times: 400))?.change
                == .worse)
    }

    @Test func `fewer than twenty samples tell nothing`() {
        let base = self.run(100_000, times: 200)
        #expect(self.change(base, self.run(300_000, times: 19)) == .tooFew)
        #expect(self.change(base, self.run(300_000, times: 20)) == .worse)
    }

    /// Of fifty samples three decide on p95: whether they are slow is chance.
    @Test func `what chance can do to a percentile is no change`() {
        func run(every: Int, of count: Int) -> LatencySide {
            self.run((0..<count).map { $0 % every == every / 2 ? 300_000 : 100_000 })
        }
        let few = self.judge.finding(.p95, base: run(every: 50, of: 50), new: run(every: 10, of: 50))
        #expect(few?.base ?? 0 < 101_000_000 && few?.new ?? 0 > 299_000_000)
        #expect(few?.change == .withinSpread)
        let many = self.judge.finding(.p95, base: run(every: 50, of: 4_000), new: run(every: 10, of: 4_000))
        #expect(many?.change == .worse)
    }

    @Test func `the lateness of the phones' own timers is not the backend's`() {
        let base = self.run(100_000, times: 200)
        #expect(self.change(base, self.run(130_000, times: 200, lateness: 29_000)) == .same)
        #expect(self.change(base, self.run(130_000, times: 200, lateness: 27_000)) == .worse)
    }

    @Test func `a better middle does not make up for a worse edge`() {
        let base = self.run((0..<400).map { $0 % 10 == 0 ? 200_000 : 100_000 })
        let new = self.run((0..<400).map { $0 % 10 == 0 ? 400_000 : 50_000 })
        #expect(self.judge.findings(base: base, new: new).map(\.change) == [.better, .worse])
        #expect(self.change(base, new) == .worse)
    }
}

/// When a share is worse than it was.
@Suite struct PartJudgeTests {
    private func change(
        _ base: Part, _ new: Part, _ better: Better = .lower, _ kind: PartJudge.Kind = .share
    ) -> Change {
        PartJudge(tolerance: 100_000).change(from: base, to: new, better: better, kind)
    }

    @Test func `a point of a percent is nothing, however sure`() {
        let base = Part(1_000, of: 100_000)
        #expect(self.change(base, Part(1_900, of: 100_000)) == .same)
        #expect(self.change(base, Part(2_100, of: 100_000)) == .worse)
    }

    @Test func `what chance can do is no change`() {
        let base = Part(1, of: 100)
        #expect(self.change(base, Part(5, of: 100)) == .withinSpread)
        #expect(self.change(base, Part(15, of: 100)) == .worse)
    }

    @Test func `of a few no share can be told, unless it is the same`() {
        #expect(self.change(Part(0, of: 19), Part(19, of: 19)) == .tooFew)
        #expect(self.change(Part(0, of: 20), Part(20, of: 20)) == .worse)
        #expect(self.change(Part(1, of: 2), Part(2, of: 4)) == .same)
    }

    @Test func `which way is better is the metric's to say`() {
        let (low, high) = (Part(100, of: 1_000), Part(900, of: 1_000))
        #expect(self.change(low, high, .lower) == .worse)
        #expect(self.change(low, high, .higher) == .better)
        #expect(self.change(high, low, .higher) == .worse)
        #expect(self.change(low, high, .neither) == .shown)
    }

    @Test func `what only one run has is said`() {
        #expect(self.change(Part(1, of: 30), Part(0, of: 0)) == .onlyBase)
        #expect(self.change(Part(0, of: 0), Part(1, of: 30)) == .onlyNew)
        #expect(self.change(Part(0, of: 0), Part(0, of: 0)) == .same)
    }

    @Test func `a ratio may grow by as much as a latency`() {
        let base = Part(50_000, of: 100_000)
        #expect(self.change(base, Part(54_000, of: 100_000), .lower, .ratio) == .same)
        #expect(self.change(base, Part(56_000, of: 100_000), .lower, .ratio) == .worse)
        #expect(self.change(Part(150, of: 100), Part(300, of: 100), .lower, .ratio) == .worse)
    }
}
