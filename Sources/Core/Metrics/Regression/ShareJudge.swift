/// Parts of two runs, in blocks of their time: scans that were refused, and all scans.
package struct BlockedParts: Sendable {
    private var base: [(count: Int, of: Int)]
    private var new: [(count: Int, of: Int)]

    package init(blocks: Int) {
        self.base = Array(repeating: (0, 0), count: blocks)
        self.new = self.base
    }

    package mutating func addBase(_ count: Int, of whole: Int, block: Int) {
        self.base[block].count += count
        self.base[block].of += whole
    }

    package mutating func addNew(_ count: Int, of whole: Int, block: Int) {
        self.new[block].count += count
        self.new[block].of += whole
    }

    package var sums: (base: Part, new: Part) {
        (Self.sum(self.base, nil), Self.sum(self.new, nil))
    }

    package var blocks: Int { self.base.count }

    /// With each block as often as it was drawn.
    func sums(_ weights: [Int]) -> (base: Part, new: Part) {
        (Self.sum(self.base, weights), Self.sum(self.new, weights))
    }

    private static func sum(_ parts: [(count: Int, of: Int)], _ weights: [Int]?) -> Part {
        var (count, whole) = (0, 0)
        for (block, part) in parts.enumerated() {
            count += part.count * (weights?[block] ?? 1)
            whole += part.of * (weights?[block] ?? 1)
        }
        return Part(Int64(count), of: Int64(whole))
    }
}

/// Whether a part of the scans of a run changed, or what a scan brings. Where there is no chance, every change counts.
package struct ShareJudge: Sendable {
    package enum Measure: Sendable {
        /// The difference of two shares; one percentage point is tolerated.
        case share
        /// The ratio of two means; one in two hundred is tolerated.
        case mean
    }

    private static let shareTolerance = 0.01
    private static let meanTolerance = 0.005
    private static let level = (1 - LatencyJudge.confidence) / 2

    package var hasChance: Bool

    package init(hasChance: Bool) { self.hasChance = hasChance }

    package func change(_ parts: BlockedParts, _ measure: Measure, better: Better) -> Change {
        let (base, new) = parts.sums
        guard base.whole > 0 || new.whole > 0 else { return .same }
        guard base.whole > 0, new.whole > 0 else { return .notProven }
        let harm = Self.harm(base, new, measure, better)
        guard harm != 0 else { return .same }
        guard self.hasChance else { return harm > 0 ? .worse : .better }
        guard min(base.whole, new.whole) >= PartJudge.wholeMin else { return .notProven }
        let tolerated = measure == .share ? Self.shareTolerance : Self.meanTolerance
        let harms = BlockBootstrap(blocks: parts.blocks) { weights in
            let (base, new) = parts.sums(weights)
            return base.whole > 0 && new.whole > 0 ? Self.harm(base, new, measure, better) : .nan
        }
        if harms.notAbove(tolerated) <= Self.level { return .worse }
        guard harms.notBelow(tolerated) <= Self.level else { return .notProven }
        return harms.notBelow(-tolerated) <= Self.level ? .better : .same
    }

    /// By how much NEW is worse: a difference of shares, or a share of the mean.
    private static func harm(_ base: Part, _ new: Part, _ measure: Measure, _ better: Better) -> Double {
        let sign: Double = better == .lower ? 1 : -1
        switch measure {
        case .share: return (new.share - base.share) * sign
        case .mean:
            return base.count == new.count && base.whole == new.whole
                ? 0 : (BlockBootstrap.ratio(base.share, new.share) - 1) * sign
        }
    }
}
