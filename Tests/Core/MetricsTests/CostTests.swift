import Metrics
import Testing

/// What books cost, and objectives for it.
@Suite struct CostTests {
    private static let commuters = MetricGroup(index: 0)
    private static let readers = MetricGroup(index: 1)

    private static func prices(
        photo: Int64 = 21_000, text: Int64 = 1_000, perMonth: Int? = 100_000
    ) -> BookPrices {
        var prices = BookPrices()
        (prices.photo, prices.text, prices.booksPerMonth) = (photo, text, perMonth)
        return prices
    }

    /// Five books by photo in the first group, five by text in the second.
    private static func table(_ prices: BookPrices? = Self.prices()) -> MetricTable {
        var table = MetricTable(groups: ["commuters", "readers"])
        table.prices = prices
        table.add(PricedBooks(photo: 5), in: Self.commuters)
        table.add(PricedBooks(text: 5), in: Self.readers)
        return table
    }

    private static func result(
        _ selector: String, _ condition: String, in table: MetricTable = Self.table()
    ) throws -> SLOResult {
        let selector = try MetricSelector(parsing: selector, vocabulary: nil)
        return SLO(
            selector: selector, condition: try SLOCondition(parsing: condition, for: selector.metric.kind),
            severity: .error, abort: true
        ).evaluate(against: table)
    }

    /// The figures of seed 002: $0.105 for five books by photo, $0.005 for five by text.
    @Test(arguments: [
        ("cost.total{group:commuters}", "value == 0.105", "$0.105", true),
        ("cost.total{group:readers}", "value == 0.005", "$0.005", true),
        ("cost.total", "value <= 0.11", "$0.11", true),
        ("cost.total", "value < 0.11", "$0.11", false),
        ("cost.per-book", "value == 0.011", "$0.011", true),
        ("cost.per-book", "value < 0.01", "$0.011", false),
        ("cost.per-book{group:readers}", "value <= 0.001", "$0.001", true),
        ("cost.per-month", "value == 1100", "$1100", true),
        ("cost.per-month", "value < 1099.999999", "$1100", false),
    ])
    func `an objective is judged by the prices of the books that came`(
        selector: String, condition: String, actual: String, passed: Bool
    ) throws {
        let result = try Self.result(selector, condition)
        #expect(result.passed == passed && result.actual == actual && !result.noData)
    }

    /// A third of 10 millionths of a dollar is no number of millionths.
    @Test func `a verdict does not depend on rounding`() throws {
        var table = MetricTable(groups: [])
        table.prices = Self.prices(photo: 10, text: 0)
        table.add(PricedBooks(photo: 1, text: 2), in: .none)
        #expect(try Self.result("cost.per-book", "value > 0.000003", in: table).passed == true)
        #expect(try Self.result("cost.per-book", "value < 0.000004", in: table).passed == true)
        let result = try Self.result("cost.per-book", "value == 0.000003", in: table)
        #expect(result.passed == false && result.actual == "$0.0000033")
        #expect(result.value == .money(microdollars: 3))
    }

    @Test func `a higher price fails the same objective`() throws {
        let table = Self.table(Self.prices(photo: 42_000))
        #expect(try Self.result("cost.total", "value <= 0.11", in: table).passed == false)
    }

    @Test(arguments: CostMetric.allCases)
    func `no books are no data, which fails`(metric: CostMetric) throws {
        var table = MetricTable(groups: ["commuters"])
        table.prices = Self.prices()
        let result = try Self.result(metric.rawValue, "value < 1", in: table)
        #expect(result.passed == false && result.noData && result.actual == "no data" && !result.endsRun)
    }

    @Test func `without prices no cost is known, and without the books of a month not that of one`() throws {
        for metric in CostMetric.allCases {
            let result = try Self.result(metric.rawValue, "value < 1", in: Self.table(nil))
            #expect(result.passed == nil && result.actual == "n/a")
        }
        let table = Self.table(Self.prices(perMonth: nil))
        #expect(try Self.result("cost.per-month", "value < 1", in: table).passed == nil)
        #expect(try Self.result("cost.per-book", "value < 1", in: table).passed == true)
    }

    @Test func `the cost of shards is that of their books together`() throws {
        var sum = Self.table(nil)
        for _ in 1...3 { sum.add(Self.table()) }
        #expect(sum.prices == Self.prices())
        #expect(try Self.result("cost.total", "value == 0.44", in: sum).passed == true)
        #expect(sum.set(in: Self.readers).books == PricedBooks(text: 20))
        let part = sum.part("readers")
        #expect(try Self.result("cost.per-book", "value == 0.001", in: part).passed == true)
        sum.reset()
        #expect(try Self.result("cost.total", "value < 1", in: sum).noData)
    }

    @Test func `the largest numbers do not overflow`() throws {
        var table = MetricTable(groups: [])
        table.prices = Self.prices(
            photo: BookPrices.priceMax, text: BookPrices.priceMax, perMonth: BookPrices.booksPerMonthMax)
        table.add(PricedBooks(photo: .max, text: .max), in: .none)
        table.add(PricedBooks(photo: .max, text: .max), in: .none)
        for metric in CostMetric.allCases {
            #expect(try Self.result(metric.rawValue, "value < 1", in: table).passed == false)
        }
    }

    @Test func `an upper limit can end a run, and a lower one waits for its end`() throws {
        #expect(try Self.result("cost.total", "value < 0.1").endsRun)
        #expect(try !Self.result("cost.total", "value > 1").endsRun)
    }
}
