import Ledger
import Metrics
import RunJudge
import SimBase

/// What the books of a run cost, in words.
struct CostText {
    /// `in total` and `$0.0470`; empty where no book has a price.
    let amounts: [(name: String, value: String)]
    /// `photo` and `24 books at $0.021; 26 requests with 6,812,345 bytes`.
    let ways: [(name: String, value: String)]
    private let others: String?

    /// Nil for a run without prices.
    init?(_ result: RunResult) {
        guard let prices = result.metrics.prices else { return nil }
        self.amounts = CostMetric.allCases.compactMap { metric in
            guard case .measured(let cost?) = result.metrics.cost(metric, of: .fleet) else { return nil }
            return (Self.name(metric, prices), Figures.cost(cost, metric))
        }
        let costs = result.totals.costs
        self.ways = [("photo", costs.photo, prices.photo), ("text", costs.text, prices.text)].map {
            name, way, price in
            let requests = Figures.count(way.requests, "request", "requests")
            let books = Figures.count(way.books, "book", "books")
            return (
                name,
                "\(books) at \(Figures.price(price)); \(requests) with \(Figures.count(way.bytes)) bytes"
            )
        }
        self.others =
            costs.otherBooks > 0
            ? "\(Figures.count(costs.otherBooks, "book", "books")) at no cost" : nil
    }

    private static func name(_ metric: CostMetric, _ prices: BookPrices) -> String {
        switch metric {
        case .total: "in total"
        case .perBook: "per book"
        case .perMonth: "per month of \(Figures.count(prices.booksPerMonth ?? 0, "book", "books"))"
        }
    }

    /// `$0.047 in total, $0.001 per book`.
    var sentence: String {
        let amounts =
            self.amounts.isEmpty
            ? "no book came by a photo or was looked up by its text"
            : self.amounts.map { "\($0.value) \($0.name)" }.joined(separator: ", ")
        return amounts + (self.others.map { "; \($0)" } ?? "")
    }

    /// `By photo: 24 books at $0.021; ...`
    var notes: String { self.ways.map { "By \($0.name): \($0.value)." }.joined(separator: " ") }
}
