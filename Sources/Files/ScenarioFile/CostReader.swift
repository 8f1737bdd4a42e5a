import Metrics
import SimBase

/// Reads `cost`: what the backend charges for a book, in dollars.
struct CostReader {
    static let keys = ScenarioKeys<BookPrices>(
        what: "a cost",
        rows: [
            Self.price(
                "photo", \.photo, example: "0.021", "price of a book that came by a photo, in dollars"),
            Self.price(
                "text", \.text, example: "0.001", "price of a book whose text was looked up, in dollars"),
            .init(
                "books-per-month", \.booksPerMonth,
                ValueForm.integer(1...BookPrices.booksPerMonthMax).optional(),
                "books of a month, for `cost.per-month`"),
        ])

    let findings: Findings

    func prices(_ node: Node?) -> BookPrices? {
        guard let node, let map = Self.keys.map(node, self.findings) else { return nil }
        var prices = BookPrices()
        Self.keys.read(map, into: &prices)
        return prices
    }

    /// Neither price has a default: that a book costs nothing has to be stated.
    private static func price(
        _ name: String, _ path: any WritableKeyPath<BookPrices, Int64> & Sendable, example: String,
        _ description: String
    ) -> ScenarioKey<BookPrices> {
        .init(
            name, .amount, description,
            read: { map, prices in
                let price = map.required(name, example: example) { text throws(ValueError) in
                    try Values.dollars(text, name)
                }
                if let price { prices[keyPath: path] = price }
            },
            write: { BookPrices.text($0[keyPath: path]) })
    }
}
