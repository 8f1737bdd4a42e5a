import SimBase

/// An amount of money, as an exact fraction.
package struct Cost: Hashable, Sendable {
    /// Millionths of a dollar, to be divided by `parts`.
    private let amount: UInt128
    private let parts: UInt128

    /// Nil without books: that is no data. Also nil for a month whose books the prices do not state.
    package init?(_ metric: CostMetric, of books: PricedBooks, at prices: BookPrices) {
        let count = UInt128(books.photo) + UInt128(books.text)
        guard count > 0 else { return nil }
        let total =
            UInt128(books.photo) * UInt128(prices.photo) + UInt128(books.text) * UInt128(prices.text)
        switch metric {
        case .total: (self.amount, self.parts) = (total, 1)
        case .perBook: (self.amount, self.parts) = (total, count)
        case .perMonth:
            guard let month = prices.booksPerMonth else { return nil }
            (self.amount, self.parts) = (total.multipliedSaturating(by: UInt128(month)), count)
        }
    }

    /// The amount in millionths of a dollar, rounded down.
    var microdollars: Int64 { Int64(clamping: self.amount / self.parts) }

    /// Compares the exact amount with a limit in millionths of a dollar.
    func compares(_ comparison: Comparison, to limit: Int64) -> Bool {
        comparison.holds(self.amount, UInt128(limit).multipliedSaturating(by: self.parts))
    }

    // MARK: Text

    private static let textDecimals = 9

    /// Dollars, as far as a text shows them.
    private var nanodollars: Int64 {
        Int64(clamping: self.amount.multipliedSaturating(by: 1_000) / self.parts)
    }

    /// Dollars with as many digits after the point as needed but within `shown`: `0.0105`.
    package func text(shown: ClosedRange<Int>) -> String {
        DecimalText.text(self.nanodollars, decimals: Self.textDecimals, shown: shown)
    }

    /// Dollars with as many digits as show on which side of a limit the amount is: `$0.0105`.
    func text(beside limit: Int64) -> String {
        let digits = (BookPrices.decimals...Self.textDecimals).first { digits in
            let shown = UInt128(
                DecimalText.rounded(UInt64(self.nanodollars), decimals: Self.textDecimals, to: digits))
            let edge = UInt128(limit) * 1_000
            return (shown < edge) == self.compares(.less, to: limit)
                && (shown == edge) == self.compares(.equal, to: limit)
        }
        return "$" + self.text(shown: 0...(digits ?? Self.textDecimals))
    }
}
