import Metrics
import Plan
import Testing

@testable import ScenarioFile

/// `cost` of a scenario.
struct CostReaderTests {
    private static let prices = "cost: {photo: 0.021, text: 0.001}\n"

    @Test func `prices are read exactly and written as they were read`() throws {
        let scenario = try load(minimal + "cost: {photo: 0.021, text: 0.0000010, books-per-month: 100000}\n")
        let prices = try #require(scenario.prices)
        #expect(prices.photo == 21_000 && prices.text == 1 && prices.booksPerMonth == 100_000)
        let text = ScenarioWriter.resolved(scenario)
        #expect(text.contains("\ncost: {photo: 0.021, text: 0.000001, books-per-month: 100000}\n"))
        #expect(try load(text) == scenario)
        #expect(try load(minimal + "cost: {photo: 1000, text: 0}\n").prices?.photo == BookPrices.priceMax)
    }

    @Test func `without the key nothing has a price`() throws {
        let scenario = try load(minimal)
        #expect(scenario.prices == nil)
        #expect(!ScenarioWriter.resolved(scenario).contains("cost"))
    }

    @Test func `one price can be set for a run`() throws {
        let scenario = try load(minimal + Self.prices, set: ["cost.photo=0.042"])
        #expect(scenario.prices?.photo == 42_000 && scenario.prices?.text == 1_000)
        #expect(try load(minimal, set: ["cost={photo: 0.5, text: 0.1}"]).prices?.photo == 500_000)
    }

    @Test(arguments: [
        ("{photo: 0.021}", "a cost needs `text`", 1),
        ("{text: 0.001}", "a cost needs `photo`", 1),
        ("0.021", "a cost must be a map of keys and values, not the text `0.021`", 1),
        ("{photo: $0.021, text: 0}", "`photo` must be a number, without a sign", 9),
        ("{photo: -0.021, text: 0}", "`photo` must be an amount in dollars, such as `0.021`", 9),
        ("{photo: 0.021 USD, text: 0}", "unexpected ` USD`", 14),
        ("{photo: 0.0000001, text: 0}", "`photo` must be from 0 to 1000 dollars with at most 6 decimals", 9),
        (
            "{photo: 0, text: 1000.000001}", "`text` must be from 0 to 1000 dollars with at most 6 decimals",
            18
        ),
        ("{photo: 1, text: 1, books-per-month: 0}", "`books-per-month` must be a number from 1 to", 38),
        ("{photo: 1, text: 1, books-per-month: 1.5}", "`books-per-month` must be a whole number", 38),
        ("{photo: 1, text: 1, month: 5}", "unknown key `month` in a cost", 21),
    ])
    func `a mistake is reported where it is`(cost: String, message: String, column: Int) throws {
        let found = errors(minimal + "cost: \(cost)\n")
        let first = try #require(found.first)
        #expect(found.count == 1 && first.message.contains(message), "\(found)")
        #expect(first.line == 6 && first.column == column + 6)
    }

    // MARK: Objectives

    @Test func `an objective for a cost needs the prices, and that of a month its books`() {
        func rendered(_ text: String) -> String { ScenarioFileTests.rendered(minimal + text) }
        #expect(
            rendered("slo: {cost.total: value < 5}\n") == """
                test.scenario:6:7: `cost.total` needs the prices of books
                    slo: {cost.total: value < 5}
                          ^^^^^^^^^^
                help: add `cost: {photo: 0.021, text: 0.001}`
                """)
        #expect(
            rendered(Self.prices + "slo: {cost.per-month: value < 5}\n") == """
                test.scenario:7:7: `cost.per-month` needs the books of a month
                    slo: {cost.per-month: value < 5}
                          ^^^^^^^^^^^^^^
                help: add `books-per-month` to `cost`
                """)
        #expect(errors(minimal + Self.prices + "slo: {cost.per-book: value < 0.01}\n").isEmpty)
    }

    @Test(arguments: [
        ("cost.per-book: p(95) < 1s", "a cost has no `p(95)`: use value"),
        ("cost.per-book: value < 0.01 over 30s", "cost.per-book is available only for the whole run"),
        ("cost.per-bok: value < 0.01", "unknown metric `cost.per-bok`"),
    ])
    func `what no objective for a cost can have is reported`(slo: String, message: String) {
        let found = errors(minimal + Self.prices + "slo: {\(slo)}\n")
        #expect(found.count == 1 && found.allSatisfy { $0.message.contains(message) }, "\(found)")
    }

    @Test func `an objective for a cost is written as it was read`() throws {
        let scenario = try load(minimal + Self.prices + "slo: {cost.per-book: value <= 0.0105}\n")
        #expect(ScenarioWriter.resolved(scenario).contains("{expect: \"value <= 0.0105\", severity: error"))
        #expect(try load(ScenarioWriter.resolved(scenario)) == scenario)
    }
}
