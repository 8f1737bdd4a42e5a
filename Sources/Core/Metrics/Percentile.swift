/// A share of all values, in parts per million: p(99.9) is 999,000. Whole numbers, because a verdict hangs on it.
package struct Percentile: Hashable, Comparable, Sendable {
    /// The percentile in parts per million, from 0 to 1,000,000.
    package let perMillion: UInt32

    package init(perMillion: UInt32) {
        precondition(perMillion <= 1_000_000, "a percentile is at most 100")
        self.perMillion = perMillion
    }

    package static let p50 = Percentile(perMillion: 500_000)
    package static let p90 = Percentile(perMillion: 900_000)
    package static let p95 = Percentile(perMillion: 950_000)
    package static let p99 = Percentile(perMillion: 990_000)
    package static let p999 = Percentile(perMillion: 999_000)

    package static func < (left: Percentile, right: Percentile) -> Bool { left.perMillion < right.perMillion }
}

extension Percentile: CustomStringConvertible {
    /// The text in the SLO grammar: `p(99.9)`.
    package var description: String {
        "p(\(DecimalText.text(Int64(self.perMillion), decimals: 4, shown: 0...4)))"
    }
}
