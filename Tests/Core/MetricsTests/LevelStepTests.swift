import Metrics
import Testing

@Suite struct LevelStepTests {
    private static func steps(_ values: [Double?]) -> [Int]? { LevelStep.all(in: values)?.map(\.index) }

    @Test func `a step is at the first run of the new level, with the medians of both sides`() throws {
        let steps = try #require(LevelStep.all(in: [100, 102, 99, 101, 100, 130, 131, 129, 130, 132]))
        #expect(steps.map(\.index) == [5])
        #expect(steps[0].before == 100 && steps[0].after == 130)
        // Also downwards, and from 0.
        #expect(Self.steps([9, 9, 9, 9, 9, 9, 5, 5, 5, 5, 5]) == [6])
        #expect(Self.steps([0, 0, 0, 0, 0, 2, 2, 2, 2, 2]) == [5])
    }

    @Test func `neither an odd run, nor a tenth, nor a difference within the spread is a step`() {
        #expect(Self.steps([100, 100, 100, 100, 100, 900, 100, 100, 100, 100, 100, 100]) == [])
        #expect(Self.steps([100, 100, 100, 100, 100, 110, 110, 110, 110, 110]) == [])
        #expect(Self.steps([100, 100, 100, 100, 100, 111, 111, 111, 111, 111]) == [5])
        #expect(Self.steps([100, 80, 120, 100, 100, 130, 110, 150, 130, 130]) == [])
    }

    @Test func `two steps are two, and one that is approached in two runs is one`() {
        let level = { (value: Double) in [Double?](repeating: value, count: 6) }
        #expect(Self.steps(level(10) + level(20) + level(10)) == [6, 12])
        #expect(Self.steps(level(100) + [131] + level(160))?.count == 1)
    }

    @Test func `no step hides another that is far from it`() throws {
        let level = { (value: Double, runs: Int) in [Double?](repeating: value, count: runs) }
        let rising = level(100, 5) + level(150, 4) + level(210, 4) + level(280, 4) + level(350, 20)
        let steps = try #require(Self.steps(rising))
        #expect(steps.contains { $0 < 10 } && steps.contains { $0 > 10 })
        #expect(zip(steps, steps.dropFirst()).allSatisfy { $1 - $0 >= LevelStep.runs })
    }

    @Test func `runs without a value do not count, and too few are no answer`() {
        #expect(Self.steps([1, 1, 1, 1, 1, 2, 2, 2, 2]) == nil)
        #expect(Self.steps([1, 1, nil, 1, 1, 1, nil, 2, 2, 2, 2, nil, 2]) == [7])
        #expect(Self.steps([1, 1, nil, 1, 1, 1, nil, 2, 2, 2, 2, nil]) == nil)
    }
}
