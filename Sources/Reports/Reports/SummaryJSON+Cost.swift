import Ledger
import Metrics
import RunArchive
import RunJudge

extension SummaryJSON {
    /// What books cost, in dollars, and what it is made up of. An amount is null where no book has a price. Nil for a run
    /// without prices.
    static func cost(_ totals: LedgerTotals, of scope: MetricScope, in result: RunResult) -> JSONValue? {
        guard let prices = result.metrics.prices,
            case .object(var members) = Self.counts(.cost, totals, of: result)
        else { return nil }
        members["photo_price"] = .number(BookPrices.text(prices.photo))
        members["text_price"] = .number(BookPrices.text(prices.text))
        let amounts = [(CostMetric.total, "total"), (.perBook, "per_book"), (.perMonth, "per_month")]
        for (metric, name) in amounts {
            guard case .measured(let cost) = result.metrics.cost(metric, of: scope) else { continue }
            members[name] = cost.map { .number($0.text(shown: 0...9)) } ?? .null
        }
        if let month = prices.booksPerMonth { members["books_per_month"] = .integer(month) }
        return .object(members)
    }
}
