import JSON
import Ledger
import Metrics
import ReportSamples
import RunJudge
import RunMetrics
import Testing

@testable import Reports
@testable import RunArchive

/// What a report says of the cost of books.
@Suite struct CostReportTests {
    private static let month = 100_000

    /// 26 books by photo of the first group, 21 by text of the second, and 3 that have no price.
    private func result(photo: Int64 = 21_000, perMonth: Int? = Self.month) -> RunResult {
        var result = Samples.passed()
        var prices = BookPrices()
        (prices.photo, prices.text, prices.booksPerMonth) = (photo, 1_000, perMonth)
        result.metrics.prices = prices
        var (first, second) = (CostTotals(), CostTotals())
        (first.photo.books, first.photo.requests, first.photo.bytes) = (26, 31, 7_812_345)
        (second.text.books, second.text.requests, second.text.bytes) = (21, 25, 9_321)
        second.otherBooks = 3
        result.groups[0].totals.costs = first
        result.groups[1].totals.costs = second
        result.totals.costs = first
        (result.totals.costs.text, result.totals.costs.otherBooks) = (second.text, second.otherBooks)
        for (index, costs) in [first, second].enumerated() {
            result.metrics.add(costs.priced, in: MetricGroup(index: index))
        }
        return result
    }

    private func flat(_ text: String) -> String {
        text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    private func page(_ result: RunResult) -> String {
        HTMLPage(RunReport(result, RunTimeline(faults: 0), folders: [])).text
    }

    @Test func `every format has the cost of the run, of a book and of a month`() throws {
        let result = self.result()
        let amounts = "$0.567 in total, $0.012064 per book, $1,206.38 per month of 100,000 books"
        let photo = "26 books at $0.021; 31 requests with 7,812,345 bytes"
        let text = "21 books at $0.001; 25 requests with 9,321 bytes"
        let terminal = self.flat(TerminalSummary.text(result, style: .plain))
        #expect(terminal.contains("Cost \(amounts); 3 books at no cost by photo \(photo) by text \(text)"))
        #expect(
            MarkdownReport.text(result).contains(
                "\nCost: \(amounts); 3 books at no cost. By photo: \(photo). By text: \(text).\n"))
        let page = self.page(result)
        #expect(page.contains("<dt>cost in total</dt><dd>$0.567</dd>"))
        #expect(page.contains("<dt>cost per month of 100,000 books</dt><dd>$1,206.38</dd>"))
        #expect(page.contains("By photo: \(photo). By text: \(text)."))
        let metrics = OpenMetrics.text(result)
        #expect(metrics.contains("\nswiftwing_cost_total_dollars 0.567000000\n"))
        #expect(metrics.contains("swiftwing_cost_per_book_dollars{group=\"readers\"} 0.001000000\n"))
    }

    @Test func `the summary has amounts, prices and counts, of the fleet and of each group`() throws {
        let summary = try #require(JSONNode(SummaryJSON.bytes(self.result())))
        let cost = try #require(summary["cost"])
        let numbers = [
            "photo_books": "26", "photo_requests": "31", "photo_bytes": "7812345", "photo_price": "0.021",
            "text_books": "21", "text_requests": "25", "text_bytes": "9321", "text_price": "0.001",
            "other_books": "3", "total": "0.567", "per_book": "0.012063829", "per_month": "1206.382978723",
            "books_per_month": "100000",
        ]
        #expect(Dictionary(uniqueKeysWithValues: cost.members.map { ($0.key, $0.value.digits) }) == numbers)
        let readers = summary["groups"]?["readers"]?["cost"]
        #expect(readers?["total"]?.digits == "0.021" && readers?["photo_books"]?.integer == 0)
    }

    @Test func `a run without prices says nothing of costs`() {
        let result = Samples.passed()
        for text in [
            TerminalSummary.text(result, style: .plain), MarkdownReport.text(result), self.page(result),
            OpenMetrics.text(result), String(decoding: SummaryJSON.bytes(result), as: UTF8.self),
        ] {
            #expect(!text.lowercased().contains("cost"))
        }
    }

    @Test func `without books with a price there is no amount`() {
        var result = Samples.passed()
        result.metrics.prices = BookPrices()
        let terminal = self.flat(TerminalSummary.text(result, style: .plain))
        #expect(
            terminal.contains("Cost no book came by a photo or was looked up by its text by photo 0 books"))
        let cost = JSONNode(SummaryJSON.bytes(result))?["cost"]
        #expect(cost?["total"]?.isNull == true && cost?["per_month"] == nil)
    }

    @Test func `a month is only there where its books are stated`() {
        let result = self.result(perMonth: nil)
        #expect(!TerminalSummary.text(result, style: .plain).contains("per month"))
        #expect(JSONNode(SummaryJSON.bytes(result))?["cost"]?["per_month"] == nil)
    }

    @Test func `a summary is read back with the same cost`() throws {
        let result = self.result()
        let summary = try #require(JSONNode(SummaryJSON.bytes(result)))
        let reader = SummaryReader(summary: summary, head: Samples.head(groups: ["commuters", "readers"]))
        let read = reader.result(
            instead: result, measured: MetricTable(groups: ["commuters", "readers"]), slos: [])
        #expect(read.totals.costs == result.totals.costs)
        #expect(read.metrics.cost(.perBook, of: .fleet) == result.metrics.cost(.perBook, of: .fleet))
    }
}
