/// A lasting change within a series of values, one for each run, as `trend` names it.
///
/// At the first run of a step, the median of the `runs` values before it and that of the `runs` values from it on differ by more
/// than a tenth of the former, and by more than the spread: the range of the five before or of the five from it on, whichever is
/// larger. A single odd run is no step. Of such runs less than `runs` apart, the one with the largest difference counts.
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
        var found: [LevelStep] = []
        // The last of these, among the values that are known.
        var last = 0
        for place in Self.runs...(numbers.count - Self.runs) {
            let (before, after) = (
                numbers[(place - Self.runs)..<place].sorted(), numbers[place..<(place + Self.runs)].sorted()
            )
            let step = LevelStep(
                index: known[place], before: before[Self.runs / 2], after: after[Self.runs / 2])
            let spread = max(
                before[Self.runs - 1] - before[0], after[Self.runs - 1] - after[0])
            guard step.height > step.before * Self.shareMin, step.height > spread else { continue }
            if found.isEmpty || place - last >= Self.runs {
                found.append(step)
            } else if step.height > found[found.count - 1].height {
                found[found.count - 1] = step
            } else {
                continue
            }
            last = place
        }
        return found
    }

    private var height: Double { (self.after - self.before).magnitude }
}
