package import SimBase

/// The shares of the books of photos by the outcome of their look-up (Docs/contract.md section 1.6). The rest has the
/// outcome that its dialect gives it.
package struct StatusShares: Hashable, Sendable {
    package var success = Odds.never
    package var pending = Odds.never
    package var notFound = Odds.never
    package var error = Odds.never
    package var reviewNeeded = Odds.never
    package var circuitOpen = Odds.never

    package init() {}

    private static let none = StatusShares()

    private var all: [(EnrichmentStatus, Odds)] {
        [
            (.success, self.success), (.pending, self.pending), (.notFound, self.notFound),
            (.error, self.error), (.reviewNeeded, self.reviewNeeded), (.circuitOpen, self.circuitOpen),
        ]
    }

    /// The sum of the shares, which must not exceed a million.
    package var perMillion: Int { self.all.reduce(0) { $0 + Int($1.1.perMillion) } }

    /// Returns the status of a book, given 64 uniform bits; nil for one of the rest.
    package func status(_ draw: UInt64) -> EnrichmentStatus? {
        guard self != Self.none else { return nil }
        var left = draw.multipliedFullWidth(by: 1_000_000).high
        for (status, share) in self.all {
            if left < share.perMillion { return status }
            left -= UInt64(share.perMillion)
        }
        return nil
    }
}
