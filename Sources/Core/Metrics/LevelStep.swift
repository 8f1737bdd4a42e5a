/// A lasting change within a series of values, one for each run, as `trend` names it.
///
/// At the first run of a step, the median of the `runs` values before it and that of the `runs` values from it on differ by more
/// than a tenth of the former, and by more than the spread: the range of the five before or of the five from it on, whichever is
/// larger. A single odd run is no step. Of such runs less than `runs` apart, the one with the largest difference counts, and the largest of
/// all first.
package struct LevelStep: Hashable, Sendable {
    /// How many values each side needs. Docs/decisions/0226-steps-of-a-trend.md has the figures behind it.
    package static let runs = 5
    private static let shareMin = 0.1

    /// The index of the first value after it.
    package let index: Int
    /// The medians of the values before it and from it on.
    package let before: Double
    package let after: Double

    /// The steps in the order of the values; `nil` marks a run without a value. Is nil when there are too few values.
    package static func all(in values: [Double?]) -> [LevelStep]? {
        let known = values.indices.filter { values[$0] != nil }
        let numbers = values.compactMap { $0 }
        guard numbers.count >= 2 * Self.runs else { return nil }
        var candidates: [Candidate] = []
        for place in Self.runs...(numbers.count - Self.runs) {
            let (before, after) = (
                numbers[(place - Self.runs)..<place].sorted(), numbers[place..<(place + Self.runs)].sorted()
            )
            let step = LevelStep(
                index: known[place], before: before[Self.runs / 2], after: after[Self.runs / 2])
            let spread = max(
                before[Self.runs - 1] - before[0], after[Self.runs - 1] - after[0])
            guard step.height > step.before * Self.shareMin, step.height > spread else { continue }
            candidates.append(Candidate(step: step, place: place))
        }
        var kept: [Candidate] = []
        for candidate in candidates.sorted(by: { ($1.step.height, $0.place) < ($0.step.height, $1.place) })
        where kept.allSatisfy({ abs($0.place - candidate.place) >= Self.runs }) {
            kept.append(candidate)
        }
        return kept.sorted { $0.place < $1.place }.map(\.step)
    }

    /// A step, and the place of its first value among those that are known.
    private struct Candidate {
        let step: LevelStep
        let place: Int
    }

    private var height: Double { (self.after - self.before).magnitude }
}
