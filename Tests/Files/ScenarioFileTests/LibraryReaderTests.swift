import CSV
import Plan
import SimBase
import Testing

@testable import ScenarioFile

/// `library` of a group.
struct LibraryReaderTests {
    private static func text(_ group: String) -> String {
        """
        scenario: 1
        name: files
        fleet:
          readers: {phones: 1, arrivals: 1/s, \(group)}

        """
    }

    @Test func `every key has its value, and is written as it was read`() throws {
        let scenario = try load(
            Self.text(
                "journey: csv-import, library: {rows: 5..9, duplicates: 1%, bad-isbns: 2%, without-isbn: 3%, "
                    + "line-breaks: 4%, quotes: 5%, notes: 0..70, separator: tab, line-ends: lf, quoting: all, "
                    + "byte-order-mark: on, unreadable: 6%}"))
        let files = try #require(scenario.groups.first?.library)
        #expect(files.rows == 5...9 && files.unreadable == .percent(6))
        #expect(files.spec.duplicates == .percent(1) && files.spec.badISBNs == .percent(2))
        #expect(files.spec.withoutISBN == .percent(3) && files.spec.lineBreaks == .percent(4))
        #expect(files.spec.quotes == .percent(5) && files.spec.noteBytes == 0...70)
        #expect(files.spec.format.separator == .tab && files.spec.format.lineEnd == .lf)
        #expect(files.spec.format.quoting == .all && files.spec.format.hasByteOrderMark)
        #expect(try load(ScenarioWriter.resolved(scenario)) == scenario)
    }

    @Test func `a journey without a library has the default, and another journey has none`() throws {
        #expect(try load(Self.text("journey: csv-import")).groups.first?.library == LibraryFiles())
        #expect(try load(Self.text("journey: scan")).groups.first?.library == nil)
    }

    @Test(arguments: [
        ("library: {rows: 5}", "the journey `scan` imports no files"),
        ("journey: csv-import, library: {rows: 5001}", "the number of rows of a file must be a number"),
        ("journey: csv-import, library: {separator: pipe}", "`separator`"),
        ("journey: csv-import, library: {row: 5}", "unknown key `row` in a library"),
        (
            "journey: csv-import, library: {rows: 5000, notes: 60000}",
            "may be larger than the 8 MB of an import"
        ),
    ])
    func `a mistake is told`(group: String, message: String) {
        let found = errors(Self.text(group))
        #expect(found.contains { $0.message.contains(message) }, "\(found)")
    }
}

/// `batch-form` and `repeats` of a group.
struct BatchFormReaderTests {
    private static func text(_ group: String) -> String {
        """
        scenario: 1
        name: batches
        fleet:
          readers: {phones: 1, arrivals: 1/s, \(group)}

        """
    }

    @Test func `a batch names its books by title, or by barcode`() throws {
        let plain = try load(Self.text("journey: batch-enrichment"))
        #expect(plain.groups.first?.batchForm == .books)
        for form in BatchForm.allCases {
            let scenario = try load(Self.text("journey: batch-enrichment, batch-form: \(form.rawValue)"))
            #expect(scenario.groups.first?.batchForm == form)
            #expect(try load(ScenarioWriter.resolved(scenario)) == scenario)
        }
        #expect(try load(Self.text("journey: book-enrichment")).groups.first?.batchForm == nil)
    }

    @Test func `a barcode may be scanned again`() throws {
        #expect(try load(Self.text("journey: book-enrichment")).groups.first?.repeats == .never)
        let scenario = try load(Self.text("journey: book-enrichment, repeats: 12.5%"))
        #expect(scenario.groups.first?.repeats == Odds(perMillion: 125_000))
        #expect(try load(ScenarioWriter.resolved(scenario)) == scenario)
    }

    @Test(arguments: [
        ("batch-form: books", "the journey `scan` sends no batches"),
        ("journey: book-enrichment, batch-form: barcodes", "the journey `book-enrichment` sends no batches"),
        ("journey: batch-enrichment, batch-form: isbns", "how a batch names its books"),
        ("repeats: 10%", "the journey `scan` looks up no single books"),
        (
            "journey: batch-enrichment, repeats: 10%",
            "the journey `batch-enrichment` looks up no single books"
        ),
        ("journey: book-enrichment, repeats: 0.1", "%"),
    ])
    func `a mistake is told`(group: String, message: String) {
        let found = errors(Self.text(group))
        #expect(found.contains { "\($0)".contains(message) }, "\(found)")
    }
}
