import Metrics
import SimBase
import Testing

/// When a latency is worse than it was. Each rule has a pair that differs in it alone.
@Suite struct LatencyJudgeTests {
    private static let blocks = 20

    /// Values in milliseconds, in the order of their time.
    private func values(_ milliseconds: [Double]) -> BlockedValues {
        var values = BlockedValues()
        for (index, value) in milliseconds.enumerated() {
            values.add(value * 1_000_000, block: index * Self.blocks / milliseconds.count)
        }
        return values
    }

    private func findings(
        _ base: [Double], _ new: [Double], tolerance: Int64 = 100_000, hasChance: Bool = true,
        lateness: Int64 = 0
    ) -> [LatencyFinding] {
        let judge = LatencyJudge(
            tolerance: tolerance, hasChance: hasChance, lateness: lateness, blocks: Self.blocks)
        return judge.findings([.init(base: self.values(base), new: self.values(new))])[0]
    }

    private func change(
        _ base: [Double], _ new: [Double], tolerance: Int64 = 100_000, hasChance: Bool = true,
        lateness: Int64 = 0
    ) -> Change {
        LatencyJudge.change(
            self.findings(
                base, new, tolerance: tolerance, hasChance: hasChance, lateness: lateness))
    }

    /// A run that goes through as much as one in a tunnel.
    private let restless = (0..<200).map { index -> Double in
        let outage: Double = index / 10 % 7 == 0 ? 900 : 0
        return 100 + Double(index * 37 % 101) + outage
    }

    @Test func `what grew beyond the limit is worse, and the way back is better`() {
        let slow = self.restless.map { $0 * 1.3 }
        #expect(self.change(self.restless, slow) == .worse)
        #expect(self.change(slow, self.restless) == .better)
        #expect(self.change(self.restless, self.restless) == .same)
    }

    /// The two ranges of a run with an outage overlap, whatever happened to its scans.
    @Test func `pairs tell what ranges hide`() {
        let doubled = self.restless.enumerated().map { index, value -> Double in
            index / 10 % 7 == 0 ? value : value * 2
        }
        #expect(self.change(self.restless, doubled) == .worse)
    }

    @Test func `the limit is a share of the base`() {
        let base = [Double](repeating: 100, count: 200)
        func change(_ value: Double, _ tolerance: Int64 = 100_000) -> Change {
            self.change(base, [Double](repeating: value, count: 200), tolerance: tolerance)
        }
        #expect(change(109) == .same)
        #expect(change(112) == .worse)
        #expect(change(112, 200_000) == .same)
        #expect(change(103, 0) == .worse)
    }

    @Test func `two milliseconds are nothing, however large their share`() {
        let base = [Double](repeating: 3, count: 200)
        #expect(self.change(base, [Double](repeating: 4.9, count: 200)) == .same)
        #expect(self.change(base, [Double](repeating: 5.1, count: 200)) == .worse)
    }

    @Test func `the lateness of the phones' own timers is not the backend's`() {
        let (base, new) = ([Double](repeating: 100, count: 200), [Double](repeating: 130, count: 200))
        #expect(self.change(base, new, lateness: 29_000_000) == .same)
        #expect(self.change(base, new, lateness: 27_000_000) == .worse)
    }

    @Test func `without chance the ratio decides, of however few`() {
        let (base, slow) = ([Double](repeating: 100, count: 5), [Double](repeating: 111, count: 5))
        #expect(self.change(base, slow, hasChance: false) == .worse)
        #expect(self.change(slow, base, hasChance: false) == .better)
        #expect(self.change(base, [Double](repeating: 109, count: 5), hasChance: false) == .same)
        #expect(self.findings(base, slow, hasChance: false).allSatisfy { $0.interval == nil })
    }

    @Test func `fewer than twenty values prove nothing, and are said to be too few`() {
        let base = [Double](repeating: 100, count: 19)
        let few = self.findings(base, base)
        #expect(few.map(\.change) == [.notProven, .notProven])
        #expect(few.map(\.scansNeeded) == [20, 20])
        #expect(self.change(base + [100], base + [100]) == .same)
    }

    /// Whether the few slow scans of a run are slow again is chance, until there are many.
    @Test func `what chance can do is not proven, and it is said how many scans would tell`() throws {
        func run(_ count: Int, slow: (Int) -> Bool) -> [Double] {
            (0..<count).map { index -> Double in slow(index) ? 300 : 100 }
        }
        let few = self.findings(run(60) { $0 % 30 == 7 }, run(60) { $0 % 15 == 4 })
        let edge = try #require(few.last)
        #expect(edge.measure == .percentile(.p95, base: 100_000_000, new: 300_000_000))
        #expect(edge.change == .notProven)
        #expect(try #require(edge.scansNeeded) > 60)
        let many = self.findings(run(6_000) { $0 % 30 == 7 }, run(6_000) { $0 % 15 == 4 })
        #expect(many.last?.change == .worse)
    }

    @Test func `what did not end is slower than everything that did`() {
        var new = self.restless
        for index in stride(from: 0, to: 200, by: 10) { new[index] = Double.infinity }
        let findings = self.findings(self.restless, new)
        #expect(findings.last?.ratio == .infinity)
        #expect(findings.last?.change == .worse)
        #expect(self.findings(new, new).map(\.change) == [.same, .same])
        #expect(self.findings(new, self.restless).last?.change == .better)
    }

    @Test func `a better middle does not make up for a worse edge`() {
        let base = (0..<400).map { index -> Double in index % 10 == 0 ? 200 : 100 }
        let new = (0..<400).map { index -> Double in index % 10 == 0 ? 400 : 50 }
        #expect(self.findings(base, new).map(\.change) == [.better, .worse])
        #expect(self.change(base, new) == .worse)
        #expect(self.findings(base, new).allSatisfy { $0.scansNeeded == nil })
    }

    /// With many latencies one of them is beyond the limit by chance.
    @Test func `the more is judged, the more it takes to be called worse`() {
        let base = (0..<200).map { index -> Double in 100 + Double(index * 37 % 101) }
        // Seven and a half blocks of twenty did not grow, and may be drawn often enough to hold the middle.
        let some = base.enumerated().map { $0 < 75 ? $1 : $1 * 1.5 }
        func judged(_ new: [Double], _ others: Int) -> Change {
            let (base, new) = (self.values(base), self.values(new))
            let same = LatencyJudge.Sides(base: base, new: base)
            let judge = LatencyJudge(tolerance: 100_000, hasChance: true, lateness: 0, blocks: Self.blocks)
            let all = [.init(base: base, new: new)] + Array(repeating: same, count: others)
            return judge.findings(all)[0][0].change
        }
        #expect(judged(some, 0) == .worse)
        #expect(judged(some, 30) == .notProven)
        #expect(judged(base.map { $0 * 1.5 }, 30) == .worse, "there are as many resamples as it takes")
    }
}

/// The growth within pairs of scans. Each rule has a pair of runs that differs in it alone.
@Suite struct PairGrowthTests {
    private static let blocks = 20

    /// Runs scan by scan, in milliseconds.
    private func findings(
        _ base: [Double], _ new: [Double], tolerance: Int64 = 100_000, hasChance: Bool = true,
        lateness: Int64 = 0
    ) -> [LatencyFinding] {
        var sides = LatencyJudge.Sides()
        let count = base.count
        for (index, (base, new)) in zip(base, new).enumerated() {
            let block = index * Self.blocks / count
            sides.base.add(base * 1_000_000, block: block)
            sides.new.add(new * 1_000_000, block: block)
            sides.pairs.add(base: base * 1_000_000, new: new * 1_000_000, block: block)
        }
        let judge = LatencyJudge(
            tolerance: tolerance, hasChance: hasChance, lateness: lateness, blocks: Self.blocks)
        return judge.findings([sides])[0]
    }

    private func pairs(
        _ base: [Double], _ new: [Double], tolerance: Int64 = 100_000, hasChance: Bool = true,
        lateness: Int64 = 0
    ) throws -> LatencyFinding {
        try #require(
            self.findings(base, new, tolerance: tolerance, hasChance: hasChance, lateness: lateness)
                .first { $0.percentile == nil })
    }

    private func all(_ value: Double) -> [Double] { [Double](repeating: value, count: 200) }

    /// Fast scans, and slow ones for another reason, about as many.
    private let heaps = (0..<200).map { index -> Double in
        index * 7_919 % 1_009 < 545 ? 100 + Double(index * 37 % 101) : 3_000
    }

    /// The middle is in one heap or in the other, depending on the scans that are drawn.
    @Test func `pairs tell what no percentile does where values come in two heaps`() {
        let slower = self.heaps.map { $0 < 1_000 ? $0 * 1.3 : $0 }
        let findings = self.findings(self.heaps, slower)
        #expect(findings.map(\.change) == [.notProven, .same, .worse], "\(findings)")
        #expect(LatencyJudge.change(findings) == .worse)
        #expect(self.findings(slower, self.heaps).map(\.change) == [.same, .same, .better])
        #expect(self.findings(self.heaps, self.heaps).map(\.change) == [.same, .same, .same])
    }

    @Test func `two runs that change places change the sign of the growth`() throws {
        let slower = self.heaps.enumerated().map { $1 * (1 + Double($0 * 31 % 83) / 100) }
        let (worse, better) = (try self.pairs(self.heaps, slower), try self.pairs(slower, self.heaps))
        #expect(worse.change == .worse && better.change == .better)
        #expect(abs(worse.ratio * better.ratio - 1) < 1e-9)
        let (up, down) = (try #require(worse.interval), try #require(better.interval))
        #expect(abs(up.lowerBound * down.upperBound - 1) < 1e-9)
    }

    @Test func `noise that goes both ways is no growth, however much`() throws {
        let restless = self.heaps.enumerated().map { $0 % 2 == 0 ? $1 * 1.6 : $1 / 1.6 }
        let found = try self.pairs(self.heaps, restless, tolerance: 300_000)
        #expect(abs(found.ratio - 1) < 0.05)
    }

    @Test func `the fifth that grew least and the fifth that grew most count for nothing`() throws {
        func growth(of share: Int) throws -> Double {
            try self.pairs(self.all(100), (0..<200).map { $0 % 100 < share ? 900 : 100 }).ratio
        }
        #expect(try growth(of: 20) == 1)
        #expect(abs(try growth(of: 50) - 5) < 1e-9)
        #expect(abs(try growth(of: 80) - 9) < 1e-9)
    }

    @Test func `two milliseconds of each pair are nothing, whatever the others take`() throws {
        func change(_ grown: Double, lateness: Int64 = 0) throws -> Change {
            try self.pairs(
                (0..<200).map { $0 % 10 == 0 ? 9_000 : 3 }, (0..<200).map { $0 % 10 == 0 ? 9_000 : grown },
                lateness: lateness
            ).change
        }
        #expect(try change(4.9) == .same)
        #expect(try change(5.9) == .worse)
        #expect(try change(5.9, lateness: 1_000_000) == .same)
        #expect(try self.pairs(self.all(3), self.all(4.9), hasChance: false).change == .same)
        #expect(try self.pairs(self.all(3), self.all(5.1), hasChance: false).change == .worse)
        #expect(try self.pairs(self.all(100), self.all(109)).change == .same)
        #expect(try self.pairs(self.all(100), self.all(111)).change == .worse)
    }

    @Test func `without a tolerance, two milliseconds are still nothing`() throws {
        func change(_ new: Double) throws -> Change {
            try self.pairs(self.all(100), self.all(new), tolerance: 0).change
        }
        #expect(try change(101.9) == .same)
        #expect(try change(102.1) == .worse)
    }

    @Test func `a pair that ended in one run only grew more than all others`() throws {
        func run(_ unended: Int) -> [Double] { (0..<200).map { $0 % 10 < unended ? .infinity : 100 } }
        let lost = try self.pairs(run(0), run(3))
        #expect(lost.ratio == .infinity && lost.change == .worse)
        let found = try self.pairs(run(3), run(0))
        #expect(found.ratio == 0 && found.change == .better)
        #expect(try self.pairs(run(0), run(1)).change == .same, "the p95 has them")
        let same = try self.pairs(run(9), run(9))
        #expect(same.ratio == 1 && same.change == .same)
        let without = try self.pairs(run(0), run(3), hasChance: false)
        #expect(without.ratio == .infinity && without.change == .worse)
    }

    @Test func `fewer than twenty pairs are not judged, unless there is no chance`() {
        let few = [Double](repeating: 100, count: 19)
        #expect(self.findings(few, few).count == 2)
        #expect(self.findings(few + [100], few + [100]).map(\.measure).last == .pairs(count: 20))
        let without = self.findings(few, few.map { $0 * 1.2 }, hasChance: false)
        #expect(without.map(\.change) == [.worse, .worse, .worse])
        #expect(without.allSatisfy { $0.interval == nil })
    }

    @Test func `the growth of two recorded runs is that of scipy`() throws {
        let found = try self.pairs(RecordedPairs.base, RecordedPairs.new)
        let interval = try #require(found.interval)
        #expect(abs(found.ratio - RecordedPairs.pairs.0) < 1e-5)
        #expect(abs(interval.lowerBound - RecordedPairs.pairs.1) < 0.005, "\(interval)")
        #expect(abs(interval.upperBound - RecordedPairs.pairs.2) < 0.005, "\(interval)")
    }
}

/// The resamples, against published implementations.
@Suite struct BlockBootstrapTests {
    private static let blocks = 20

    private func values(_ milliseconds: [Double]) -> BlockedValues {
        milliseconds.enumerated().reduce(into: BlockedValues()) { values, next in
            values.add(next.element, block: next.offset * Self.blocks / milliseconds.count)
        }
    }

    @Test func `the intervals of two recorded runs are those of scipy`() throws {
        let found = BlockBootstrap.percentiles(
            [.p50, .p95], base: self.values(RecordedPairs.base), new: self.values(RecordedPairs.new),
            blocks: Self.blocks, resamples: BlockBootstrap.resamples)
        for (resamples, theirs) in zip(found, [RecordedPairs.p50, RecordedPairs.p95]) {
            let ours = try #require(resamples.interval(0.99))
            #expect(abs(ours.lowerBound - theirs.0) < 0.03, "\(ours) and \(theirs)")
            #expect(abs(ours.upperBound - theirs.1) < 0.03, "\(ours) and \(theirs)")
        }
    }

    @Test func `the corrected probabilities are those of statsmodels`() {
        let ours = HolmCorrection.adjusted(RecordedPairs.probabilities)
        for (ours, theirs) in zip(ours, RecordedPairs.adjusted) { #expect(abs(ours - theirs) < 1e-6) }
        #expect(HolmCorrection.adjusted([]) == [])
    }

    @Test func `every block is drawn as often as any other`() {
        var sums = [Int](repeating: 0, count: 7)
        for weights in BlockDraws(blocks: 7, resamples: 2_000) {
            #expect(weights.reduce(0, +) == 7)
            for (block, weight) in weights.enumerated() { sums[block] += weight }
        }
        for sum in sums { #expect(abs(sum - 2_000) < 200) }
    }

    @Test func `a percentile is the value of its nearest rank, however often it is there`() {
        var values = BlockedValues()
        #expect(values.value(at: .p50) == nil)
        values.add(5, block: 0, count: 19)
        values.add(7, block: 1)
        #expect(values.count == 20)
        #expect(values.value(at: .p95) == 5)
        values.add(7, block: 0)
        #expect(values.value(at: .p95) == 7)
    }

    @Test func `many values have about the interval of few that are like them`() throws {
        let few = (0..<1_000).map { index -> Double in 100 + Double(index * 389 % 1_000) }
        let many = (0..<20_000).map { few[$0 / 20] }
        func interval(_ base: [Double]) -> ClosedRange<Double>? {
            let new = base.enumerated().map { index, value -> Double in
                index * Self.blocks / base.count % 2 == 0 ? value * 1.1 : value * 1.3
            }
            return BlockBootstrap.percentiles(
                [.p50], base: self.values(base), new: self.values(new), blocks: Self.blocks,
                resamples: BlockBootstrap.resamples)[0].interval(0.99)
        }
        let (one, other) = (try #require(interval(few)), try #require(interval(many)))
        #expect(
            abs(one.lowerBound - other.lowerBound) < 0.01 && abs(one.upperBound - other.upperBound) < 0.01)
    }
}

/// When what scans come to is worse than it was.
@Suite struct ShareJudgeTests {
    private func change(
        _ base: (Int) -> Int, _ new: (Int) -> Int, _ measure: ShareJudge.Measure = .share,
        better: Better = .lower, of count: Int = 200, hasChance: Bool = true
    ) -> Change {
        var parts = BlockedParts(blocks: 20)
        for index in 0..<count {
            parts.addBase(base(index), of: 1, block: index * 20 / count)
            parts.addNew(new(index), of: 1, block: index * 20 / count)
        }
        return ShareJudge(hasChance: hasChance).change(parts, measure, better: better)
    }

    private func every(_ step: Int) -> (Int) -> Int { { $0 % step == 3 ? 1 : 0 } }
    private let never: (Int) -> Int = { _ in 0 }

    @Test func `a tenth that is refused is worse, and one scan is not proven`() {
        #expect(self.change(self.never, self.every(10)) == .worse)
        #expect(self.change(self.every(10), self.never) == .better)
        #expect(self.change(self.never, self.every(150)) == .notProven)
        #expect(self.change(self.every(10), self.every(10)) == .same)
        #expect(self.change(self.every(10), self.never, better: .higher) == .worse)
    }

    @Test func `without chance one scan is enough`() {
        #expect(self.change(self.never, self.every(150), hasChance: false) == .worse)
        #expect(self.change(self.never, self.never, hasChance: false) == .same)
    }

    @Test func `a book in a hundred is never the same`() {
        let six: (Int) -> Int = { _ in 6 }
        let fewer: (Int) -> Int = { $0 % 17 == 0 ? 5 : 6 }
        #expect(self.change(six, fewer, .mean, better: .higher) != .same)
        #expect(self.change(six, fewer, .mean, better: .higher, of: 20_000) == .worse)
        #expect(self.change(six, { _ in 5 }, .mean, better: .higher) == .worse)
        #expect(self.change(six, six, .mean, better: .higher) == .same)
        #expect(self.change(six, fewer, .mean, better: .higher, hasChance: false) == .worse)
    }

    @Test func `of a few nothing is proven`() {
        #expect(self.change(self.never, { _ in 1 }, of: 19) == .notProven)
        #expect(self.change(self.never, { _ in 1 }, of: 20) == .worse)
    }
}

/// When a share is worse than it was.
@Suite struct PartJudgeTests {
    private func change(
        _ base: Part, _ new: Part, _ better: Better = .lower, _ kind: PartJudge.Kind = .share
    ) -> Change {
        PartJudge(tolerance: 100_000, hasChance: true).change(from: base, to: new, better: better, kind)
    }

    @Test func `a point of a percent is nothing, however sure`() {
        let base = Part(1_000, of: 100_000)
        #expect(self.change(base, Part(1_900, of: 100_000)) == .same)
        #expect(self.change(base, Part(2_100, of: 100_000)) == .worse)
    }

    @Test func `what chance can do is no change`() {
        let base = Part(1, of: 100)
        #expect(self.change(base, Part(5, of: 100)) == .shown)
        #expect(self.change(base, Part(15, of: 100)) == .worse)
    }

    @Test func `of a few no share can be told, unless it is the same`() {
        #expect(self.change(Part(0, of: 19), Part(19, of: 19)) == .shown)
        #expect(self.change(Part(0, of: 20), Part(20, of: 20)) == .worse)
        #expect(self.change(Part(1, of: 2), Part(2, of: 4)) == .same)
    }

    @Test func `without chance every difference beyond a point is real`() {
        let judge = PartJudge(tolerance: 100_000, hasChance: false)
        #expect(judge.change(from: Part(1, of: 10), to: Part(2, of: 10), better: .lower, .share) == .worse)
        #expect(
            judge.change(from: Part(100, of: 10_000), to: Part(101, of: 10_000), better: .lower, .share)
                == .same)
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
