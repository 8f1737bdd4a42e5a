/// Some of a number of things: operations that failed, streams that came back.
package struct Part: Hashable, Sendable {
    package var count: Int64
    package var whole: Int64

    package init(_ count: Int64, of whole: Int64) {
        precondition(count >= 0 && whole >= 0, "nothing is counted below zero")
        self.count = count
        self.whole = whole
    }

    package init(_ rate: FailureRate) { self.init(rate.failed, of: rate.total) }
}

/// Whether a part of a whole changed, by more than chance explains.
package struct PartJudge: Sendable {
    package enum Kind: Sendable {
        /// Each of the whole is in the part, or is not.
        case share
        /// Each of the whole may have caused several.
        case ratio
    }

    /// The smallest total for which a share is judged.
    package static let wholeMin: Int64 = 20
    /// A smaller difference is none.
    package static let differenceMin = 0.01
    /// Standard errors that chance alone hardly ever makes: one time of 370.
    package static let errorsMin = 3.0

    /// The allowed growth of a ratio, in parts per million. The limit of a share is one percentage point.
    package var tolerance: Int64
    /// False between two simulated runs of one seed.
    package var hasChance: Bool

    package init(tolerance: Int64, hasChance: Bool) {
        self.tolerance = tolerance
        self.hasChance = hasChance
    }

    package func change(from base: Part, to new: Part, better: Better, _ kind: Kind) -> Change {
        guard better != .neither else { return .shown }
        guard base.whole > 0 || new.whole > 0 else { return .same }
        guard new.whole > 0 else { return .onlyBase }
        guard base.whole > 0 else { return .onlyNew }
        // Cross-multiplied: equal shares are equal however few they are of.
        guard UInt128(base.count) * UInt128(new.whole) != UInt128(new.count) * UInt128(base.whole) else {
            return .same
        }
        guard !self.hasChance || min(base.whole, new.whole) >= Self.wholeMin else { return .shown }
        let (before, after) = (base.share, new.share)
        let difference = after - before
        guard difference.magnitude > Self.differenceMin else { return .same }
        if case .ratio = kind, difference.magnitude <= before * Double(self.tolerance) / 1_000_000 {
            return .same
        }
        guard !self.hasChance || Self.isBeyondChance(base, new, kind) else { return .shown }
        return (difference < 0) == (better == .lower) ? .better : .worse
    }

    /// Whether one true share would hardly ever show itself as these two.
    package static func isBeyondChance(_ base: Part, _ new: Part, _ kind: Kind) -> Bool {
        guard base.whole > 0, new.whole > 0 else { return false }
        let difference = new.share - base.share
        let pooled = Double(base.count + new.count) / Double(base.whole + new.whole)
        let spread = kind == .share ? pooled * (1 - pooled) : pooled
        let variance = spread * (1 / Double(base.whole) + 1 / Double(new.whole))
        return difference * difference > Self.errorsMin * Self.errorsMin * variance
    }
}

extension Part {
    package var share: Double { self.whole == 0 ? 0 : Double(self.count) / Double(self.whole) }
}
