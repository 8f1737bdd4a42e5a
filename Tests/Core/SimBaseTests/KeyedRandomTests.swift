import SimBase
import Testing

@Suite struct KeyedRandomTests {
    private let random = KeyedRandom(seed: 42)

    @Test func `the same key gives the same draw, whatever was drawn before`() {
        let first = self.random.draw(.arrival, 7, 3, 1)
        _ = self.random.draw(.arrival, 7, 4)
        #expect(self.random.draw(.arrival, 7, 3, 1) == first)
    }

    @Test func `draws are part of what a seed means and never change`() {
        #expect(KeyedRandom(seed: 0).draw(.test, 0) == 1_882_951_714_431_407_339)
        #expect(KeyedRandom(seed: 42).draw(.backoff, 1, 2, 3) == 46_723_165_905_096_290)
    }

    @Test func `every part of the key matters`() {
        let draws: Set<UInt64> = [
            self.random.draw(.arrival, 1, 1, 1), self.random.draw(.backoff, 1, 1, 1),
            self.random.draw(.arrival, 2, 1, 1), self.random.draw(.arrival, 1, 2, 1),
            self.random.draw(.arrival, 1, 1, 2), KeyedRandom(seed: 43).draw(.arrival, 1, 1, 1),
        ]
        #expect(draws.count == 6)
    }

    @Test(arguments: [2, 3, 6, 1_000] as [UInt64])
    func `draws below a bound are uniform within four standard deviations`(bound: UInt64) {
        let count: UInt64 = 60_000
        var seen = [UInt64](repeating: 0, count: Int(bound))
        for index in 0..<count { seen[Int(self.random.below(bound, .test, index))] += 1 }
        let expected = Double(count) / Double(bound)
        let slack = 5 * expected.squareRoot()
        #expect(seen.allSatisfy { abs(Double($0) - expected) < slack })
    }

    @Test func `odds of zero never happen and odds of a hundred percent always do`() {
        for draw in [0, 1, UInt64.max / 2, UInt64.max] {
            #expect(Odds.never.happens(draw) == false)
            #expect(Odds.always.happens(draw) == true)
        }
    }

    @Test func `odds of thirty percent happen three times in ten`() {
        let hits = (0..<100_000 as Range<UInt64>).count {
            Odds.percent(30).happens(self.random.draw(.test, $0))
        }
        #expect((29_400...30_600).contains(hits))
    }
}
