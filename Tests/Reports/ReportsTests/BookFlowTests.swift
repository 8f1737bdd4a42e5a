import JSON
import Ledger
import ReportSamples
import RunJudge
import RunMetrics
import SimBase
import Talaria
import Testing

@testable import Reports
@testable import RunArchive

/// The way of the books from the photographs into the libraries, in every format.
@Suite struct BookFlowTests {
    private static let kind = TextDifferences.Kind(field: .title, chosen: .foundationModels, right: .talaria)

    /// Two groups: one reads spines, the other reviews its books.
    private static func sample(differs: Bool = true) -> RunResult {
        var texts = LedgerTotals()
        texts.scans.completed = 12
        texts.books.expected = 14
        texts.books.received = 12
        texts.books.missing = 2
        texts.books.refused = 3
        texts.texts.enriched = 9
        texts.texts.kept = 1
        texts.texts.photos = 2
        texts.texts.right = 23
        texts.texts.wrong = 1
        if differs {
            texts.texts.differences.counts[Self.kind] = 31
            texts.texts.differences.keep(
                TextDifferences.Example(
                    device: DeviceNumber(4), scan: ScanNumber(2), kind: Self.kind, read: "Ernma <b>",
                    verified: "Emma"))
        }
        var reviewed = LedgerTotals()
        reviewed.scans.completed = 10
        reviewed.books.expected = 50
        reviewed.books.received = 50
        reviewed.books.review.came = 50
        reviewed.books.review.approved = 30
        reviewed.books.review.edited = 8
        reviewed.books.review.pending = 5
        reviewed.books.review.rejected = 4
        reviewed.books.review.merged = 6
        reviewed.books.review.lost = 5
        var result = Samples.passed()
        result.groups[0].journey = .textEnrichment
        result.groups[0].totals = texts
        result.groups[1].totals = reviewed
        result.totals = texts
        result.totals.add(reviewed)
        return result
    }

    private static func page(_ result: RunResult) -> String {
        HTMLPage(RunReport(result, RunTimeline(faults: 0), folders: [])).text
    }

    private static func formats(_ result: RunResult) -> [String] {
        [TerminalSummary.text(result, style: .plain), MarkdownReport.text(result), Self.page(result)]
    }

    @Test func `a run whose books have no more steps is as before`() {
        for text in Self.formats(Samples.passed()) { #expect(!text.contains("photo to library")) }
        let summary = JSONNode(SummaryJSON.bytes(Samples.passed()))
        #expect(summary?["book_flow"] == nil && summary?["books"]?["refused"] == nil)
        #expect(summary?["groups"]?["readers"]?["book_flow"] == nil)
    }

    @Test func `the books in the library are those that were approved, and those that nobody reviews`() {
        let flow = Self.sample().bookFlow
        #expect(flow.library == 42 && flow.photographed == 67 && flow.read == 12)
        #expect(flow.besides == 0)
    }

    @Test func `what the formats show as the ends of the books adds up to where they come from`() {
        let flow = Self.sample().bookFlow
        func sum(_ isMeant: (BookFlowStep.Kind) -> Bool) -> Int {
            BookFlowStep.all.filter { isMeant($0.kind) }.reduce(0) { $0 + flow[keyPath: $1.path] }
        }
        let ends = sum { if case .end = $0 { true } else { false } }
        #expect(ends == 67 && sum { $0 == .origin } == ends)
    }

    @Test func `the terminal has a column for each group`() {
        let text = TerminalSummary.text(Self.sample(), style: .plain)
        let rows = text.split(separator: "\n").map { $0.split(separator: " ").joined(separator: " ") }
        for row in [
            "From photo to library all commuters readers", "on the photographs 67 17 50",
            "read by the phone 12 12 0", "came to be reviewed 50 0 50", "edited 8 0 8",
            "in the library 42 12 30", "merged as duplicates 6 0 6", "lost with a killed process 5 0 5",
            "refused 3 3 0", "missing 2 2 0", "title phone backend 31",
        ] { #expect(rows.contains(row), "\(row)") }
        #expect(!text.contains("not there yet") && !text.contains("discarded scans"))
    }

    @Test func `Markdown and the page have the steps and the first texts that differ`() {
        let markdown = MarkdownReport.text(Self.sample())
        #expect(
            markdown.contains("### From photo to library")
                && markdown.contains("| in the library | 42 | 12 | 30 |"))
        #expect(markdown.contains("| 4 | 2 | title | `Ernma <b>` | `Emma` | phone | backend |"))
        let page = Self.page(Self.sample())
        #expect(page.contains("Reading: 9 books enriched, 1 kept as read, 2 uploaded as photos; 23 of 24"))
        #expect(
            page.contains("aria-label=\"67 on the photographs: 42 in the library, 5 waiting for a review"))
        #expect(page.contains("aria-label=\"50 on the photographs: 30 in the library"))
        #expect(page.contains("in the library: 50 came to be reviewed, 30 approved, 8 edited"))
        #expect(page.contains("The first 1 of 31") && markdown.contains("The first 1 of 31"))
        #expect(page.contains("Ernma &lt;b&gt;") && !page.contains("Ernma <b>"))
        #expect(!Self.page(Self.sample(differs: false)).contains("Texts that differ"))
    }

    @Test func `a summary has the steps of the run and of each group`() {
        let summary = JSONNode(SummaryJSON.bytes(Self.sample()))
        let (flow, group) = (summary?["book_flow"], summary?["groups"]?["readers"]?["book_flow"])
        #expect(flow?["photographed"]?.integer == 67 && flow?["library"]?.integer == 42)
        #expect(flow?["pending"]?.integer == 0 && flow?["review_lost"]?.integer == 5)
        #expect(group?["library"]?.integer == 30 && group?["read"]?.integer == 0)
        let differences = summary?["texts"]?["differences"]
        #expect(differences?["counts"]?.elements.first?["count"]?.integer == 31)
        #expect(differences?["first"]?.elements.first?["read"]?.text == "Ernma <b>")
        #expect(differences?["first"]?.elements.first?["right"]?.text == "talaria")
    }

    @Test func `what only the backend knows is not available without it`() {
        var result = Self.sample(differs: false)
        result.hasBackendView = false
        let rows = TerminalSummary.text(result, style: .plain).split(separator: "\n")
            .map { $0.split(separator: " ").joined(separator: " ") }
        #expect(rows.contains("on the photographs n/a n/a n/a") && rows.contains("missing n/a n/a n/a"))
        let summary = JSONNode(SummaryJSON.bytes(result))
        #expect(summary?["book_flow"]?["photographed"]?.text == "n/a")
        #expect(summary?["texts"]?["differences"]?.text == "n/a")
        #expect(Self.page(result).contains("came: 42 in the library"))
    }
}
