import JSON
import Ledger
import Metrics
import Observations
import ReportSamples
import RunJudge
import RunMetrics
import SimBase
import Talaria
import Testing

@testable import Reports
@testable import RunArchive

/// What a report says of a fleet that does not only scan by v3.
@Suite struct JourneyReportTests {
    /// The sample, whose second group has six batches.
    private func mixed() -> RunResult {
        var result = Samples.passed()
        result.groups[1].journey = .batchEnrichment
        return result
    }

    private func page(_ result: RunResult) -> String {
        HTMLPage(RunReport(result, RunTimeline(faults: 0), folders: [])).text
    }

    @Test func `jobs of v2 that are kept have a column`() {
        var result = mixed()
        #expect(TerminalSummary.text(result, style: .plain).contains("122 cleaned up, 0 kept, 4 abandoned"))
        result.totals.jobs.kept = 6
        result.groups[1].totals.jobs.kept = 6
        #expect(TerminalSummary.text(result, style: .plain).contains("122 cleaned up, 6 kept, 4 abandoned"))
        #expect(MarkdownReport.text(result).contains("122 cleaned up, 6 kept, 4 abandoned"))
        let summary = JSONNode(SummaryJSON.bytes(result))
        #expect(summary?["jobs"]?["kept"]?.integer == 6)
        #expect(summary?["groups"]?["readers"]?["jobs"]?["kept"]?.integer == 6)
        #expect(page(result).contains("<dt>kept</dt><dd>6</dd>"))
    }

    @Test func `no job of v3 is kept`() {
        let result = Samples.passed()
        #expect(!TerminalSummary.text(result, style: .plain).contains(" kept"))
        #expect(!MarkdownReport.text(result).contains(" kept"))
        #expect(JSONNode(SummaryJSON.bytes(result))?["jobs"]?["kept"] == nil)
    }

    // MARK: Cancels

    @Test func `canceled scans are a class in every format, where there are any`() {
        var result = Samples.passed()
        let whole = result.totals.scans
        for text in [
            TerminalSummary.text(result, style: .plain), MarkdownReport.text(result), page(result),
        ] { #expect(!text.contains("canceled")) }
        #expect(JSONNode(SummaryJSON.bytes(result))?["scans"]?["canceled"] == nil)
        result.totals.scans.canceled = 7
        result.totals.scans.captured = whole.captured + 7
        result.groups[0].totals.scans.canceled = 7
        result.totals.rows.canceled = 30
        result.groups[1].journey = .csvImport
        let text = TerminalSummary.text(result, style: .plain).split(whereSeparator: \.isWhitespace)
            .joined(separator: " ")
        #expect(text.contains("refused + 7 canceled + "))
        #expect(text.contains("besides, 30 rows in files of canceled imports"))
        #expect(!text.contains("do not add up"))
        #expect(MarkdownReport.text(result).contains("| refused | canceled | waiting |"))
        #expect(page(result).contains("canceled"))
        let summary = JSONNode(SummaryJSON.bytes(result))
        #expect(summary?["scans"]?["canceled"]?.integer == 7 && summary?["rows"]?["canceled"]?.integer == 30)
    }

    // MARK: Rows

    /// The sample, whose second group imports files.
    private func imports(missing: Int = 0) -> RunResult {
        var result = Samples.passed()
        result.groups[1].journey = .csvImport
        result.totals.rows.sent = 50
        result.totals.rows.counts.created = 40 - missing
        result.totals.rows.counts.skipped = 6
        result.totals.rows.counts.failed = 4
        result.totals.rows.missing = missing
        result.totals.rows.unread = 12
        result.totals.rows.withdrawn = 9
        return result
    }

    @Test func `rows add up in every format, with what is beside them`() {
        let result = imports()
        let text = TerminalSummary.text(result, style: .plain).split(whereSeparator: \.isWhitespace)
            .joined(separator: " ")
        #expect(
            text.contains(
                "Rows 50 in files = 40 created + 0 updated + 6 skipped + 4 failed + 0 missing; besides, 9 rows in "
                    + "files of refused or discarded imports; besides, 12 rows were stored by imports whose results "
                    + "no phone has read"))
        #expect(MarkdownReport.text(result).contains("Rows: 50 in files, 40 created, 0 updated, 6 skipped"))
        let rows = JSONNode(SummaryJSON.bytes(result))?["rows"]
        #expect(rows?["sent"]?.integer == 50 && rows?["unread"]?.integer == 12)
        #expect(rows?["withdrawn"]?.integer == 9)
        var settled = result
        settled.totals.scans = ScanTotals()
        settled.totals.scans.captured = 2
        settled.totals.scans.completed = 2
        #expect(
            page(settled).contains("Every scan, every import, every book and every row is accounted for."))
        #expect(page(result).contains("<p>Rows: besides, 12 rows were stored"))
    }

    @Test func `a report says what updated rows are where there are any`() {
        var result = self.imports()
        #expect(!MarkdownReport.text(result).contains("an earlier import"))
        result.totals.rows.counts.updated = 3
        #expect(
            MarkdownReport.text(result).contains(
                "updated: an earlier import of the phone had brought the book"))
    }

    // MARK: Books that were asked for

    /// A foreign backend that has not found 7 of 60 books.
    private func unanswered(_ change: (inout RunResult) -> Void = { _ in }) -> RunResult {
        var result = Samples.foreign()
        result.groups[1].journey = .batchEnrichment
        result.totals.books.asked = 60
        result.totals.books.unknown = 7
        result.totals.books.name(absent: "\"Emma\" (9780141439587)", 3)
        for number in 1...4 { result.totals.books.name(absent: "\"Other \(number)\"") }
        change(&result)
        return result
    }

    @Test func `books that a backend counts as not found are in every report, with their number and names`() {
        let result = self.unanswered()
        let note =
            "7 of the 60 books that batches asked for by name never came: the backend counts them as not found"
        let text = TerminalSummary.text(result, style: .plain).split(whereSeparator: \.isWhitespace)
            .joined(separator: " ")
        #expect(text.contains(note))
        #expect(text.contains("\"Emma\" (9780141439587) ×3"))
        #expect(MarkdownReport.text(result).contains(note))
        #expect(page(result).contains(note))
        let books = JSONNode(SummaryJSON.bytes(result))?["books"]
        #expect(books?["asked"]?.integer == 60 && books?["unknown"]?.integer == 7)
        #expect(books?["absent"]?["\"Emma\" (9780141439587)"]?.integer == 3)
        #expect(JSONNode(SummaryJSON.bytes(Samples.passed()))?["books"]?["asked"] == nil)
    }

    @Test func `books that nobody can judge have their reason`() {
        let result = self.unanswered {
            $0.totals.books.unknown = 6
            $0.totals.books.unjudged = 1
        }
        #expect(
            MarkdownReport.text(result).contains(
                "1 of the 60 books that batches asked for by name never came: whether the backend counts it as not found"
            ))
    }

    @Test func `a backend that has found no book at all is the headline`() {
        let result = self.unanswered { $0.totals.books.unknown = 60 }
        #expect(result.outcome == "the backend found none of the 60 books that batches asked for")
        #expect(self.unanswered().outcome == nil)
    }

    @Test func `missing rows are said where everything would be accounted for`() {
        let result = imports(missing: 3)
        #expect(page(result).contains("books or rows were lost. See the broken invariants."))
        #expect(!page(result).contains("is accounted for"))
        #expect(result.outcome == "3 rows are missing")
    }

    @Test func `a fleet without imports has no rows, and one of imports no books`() {
        #expect(!TerminalSummary.text(Samples.passed(), style: .plain).contains("\nRows"))
        #expect(JSONNode(SummaryJSON.bytes(Samples.passed()))?["rows"] == nil)
        var result = imports()
        result.groups[0].journey = .csvImport
        #expect(!TerminalSummary.text(result, style: .plain).contains("\nBooks"))
        #expect(page(result).contains("Imports and rows"))
    }

    // MARK: Look-ups

    /// The sample, whose second group looks up single books.
    private func lookUps() -> RunResult {
        var result = Samples.passed()
        result.groups[1].journey = .bookEnrichment
        result.totals.lookups.billed = 6
        result.totals.lookups.unknown = 1
        result.totals.lookups.repeated = 2
        result.groups[1].totals.lookups = result.totals.lookups
        return result
    }

    @Test func `every format says what look-ups cost`() {
        let result = lookUps()
        let words =
            "6 look-ups billed, 1 of them for books that no provider has; 2 repeated requests answered without a bill"
        let text = TerminalSummary.text(result, style: .plain).split(whereSeparator: \.isWhitespace)
            .joined(separator: " ")
        #expect(text.contains("Billing \(words)"))
        #expect(MarkdownReport.text(result).contains("Billing: \(words)."))
        #expect(page(result).contains("<dt>look-ups billed</dt><dd>6</dd>"))
        let summary = JSONNode(SummaryJSON.bytes(result))
        #expect(summary?["lookups"]?["billed"]?.integer == 6)
        #expect(summary?["groups"]?["readers"]?["lookups"]?["repeated"]?.integer == 2)
        #expect(text.contains("Scans, look-ups 126 captured") && text.contains("120 scans, 6 look-ups"))
    }

    @Test func `a fleet of look-ups has no jobs, and one without has no billing`() {
        var result = lookUps()
        #expect(TerminalSummary.text(result, style: .plain).contains("\nJobs"))
        result.groups[0].journey = .bookEnrichment
        #expect(!TerminalSummary.text(result, style: .plain).contains("\nJobs"))
        #expect(!MarkdownReport.text(result).contains("Jobs:") && !page(result).contains("jobs accepted"))
        #expect(MarkdownReport.text(result).contains("### Look-ups, books\n"))
        #expect(page(result).contains("Look-ups and books"))
        let others = Samples.passed()
        #expect(!TerminalSummary.text(others, style: .plain).contains("Billing"))
        #expect(JSONNode(SummaryJSON.bytes(others))?["lookups"] == nil)
    }

    @Test func `a look-up is told step by step`() {
        func text(_ what: ObservationPayload) -> String? {
            StoryText.text(
                Observation(at: .zero, device: DeviceNumber(0), scan: ScanNumber(1), what: what),
                .bookEnrichment, faults: [])
        }
        #expect(
            text(.phone(.requestSent(.upload, attempt: 1, job: nil, lastEventID: nil)))
                == "-> POST look-ups, attempt 1")
        #expect(text(.phone(.keySent(attempt: 1, key: "scan_1"))) == "with the idempotency key scan_1")
        let asked = BookLookup(key: "scan_1", barcode: "1", isFound: false, isBilled: true)
        #expect(text(.backend(.bookLookedUp(asked))) == "asks a provider for 1: no provider has it")
        let again = BookLookup(key: "scan_1", barcode: "1", isFound: true, isBilled: false)
        #expect(text(.backend(.bookLookedUp(again))) == "answers for 1 as before: found")
        #expect(
            text(
                .phone(.lookupAnswered(found: true, repeated: true, took: .zero, service: .zero)))
                == "the book was found, as answered before")
        let remains = ScanRemains(
            [
                ObservationPayload.backend(.bookLookedUp(again)),
                .phone(.refused(code: "NOT_FOUND", cause: nil)),
            ]
            .map { Observation(at: .zero, device: DeviceNumber(0), scan: ScanNumber(1), what: $0) })
        #expect(
            remains.text(ScanNumber(1), WorkNoun(.bookEnrichment))
                == "look-up 1 is refused (NOT_FOUND); 0 of 1 book in the library; 0 look-ups billed")
    }

    @Test func `a batch has no photo`() {
        var result = mixed()
        result.metrics.add(120, to: .photosTaken, in: MetricGroup(index: 0))
        #expect(result.photos == nil, "one for each scan of the first group")
        result.metrics.add(1, to: .photosTaken, in: MetricGroup(index: 0))
        #expect(result.photos == 121)
    }

    // MARK: Words

    /// The sample, whose scans are batches.
    private func batches() -> RunResult {
        var result = mixed()
        result.groups[0].journey = .batchEnrichment
        return result
    }

    @Test func `a mixed fleet has scans and batches, and says how many of each`() {
        let result = mixed()
        let text = TerminalSummary.text(result, style: .plain)
        #expect(text.contains("\nScans, batches  126 captured"))
        #expect(text.contains("\n  of these      120 scans, 6 batches\n"))
        let markdown = MarkdownReport.text(result)
        #expect(markdown.contains("### Scans, batches, books, jobs"))
        #expect(markdown.contains("Of these: 120 scans, 6 batches."))
        let page = page(result)
        #expect(page.contains("no scan or batch was lost"))
        #expect(page.contains("<dt>scans</dt><dd>120</dd>") && page.contains("<dt>batches</dt><dd>6</dd>"))
        #expect(page.contains("but 5 scans and batches did not finish"))
    }

    @Test func `a fleet of batches has no scans`() {
        var result = batches()
        let texts = [
            TerminalSummary.text(result, style: .plain), MarkdownReport.text(result),
            page(result).replacing("scans.", with: ""),
        ]
        #expect(texts[0].contains("\nBatches         126 captured") && !texts[0].contains("of these"))
        #expect(texts[1].contains("### Batches, books, jobs") && !texts[1].contains("Of these"))
        #expect(texts[2].contains("Batches and books") && texts[2].contains("no batch was lost"))
        result.totals.scans.lost = 2
        #expect(result.outcome == "2 batches were lost")
        #expect(
            JUnitReport.text(result)
                .contains("completed at least one batch"))
    }

    @Test func `each group is told of in its own words`() {
        var result = mixed()
        for index in result.groups.indices { result.groups[index].totals.scans.lost = 6 }
        #expect(result.groupHeadlines.map(\.text) == ["6 scans were lost", "6 batches were lost"])
        result.totals.scans.lost = 12
        #expect(result.outcome == "12 scans and batches were lost")
    }

    @Test func `a place names what its phone does`() {
        let result = mixed()
        #expect(result.place(DeviceNumber(39), ScanNumber(2)) == "phone 39, scan 2")
        #expect(result.place(DeviceNumber(40), ScanNumber(2)) == "phone 40, batch 2")
        #expect(result.place(DeviceNumber(99), .none) == "phone 99")
        #expect(result.part("readers")?.place(DeviceNumber(40), ScanNumber(2)) == "phone 40, batch 2")
        let violation = Violation(
            invariant: .bookNeverLost, device: DeviceNumber(41), scan: ScanNumber(1), at: .zero + .seconds(2),
            text: "", isExpected: false)
        #expect(result.place(of: violation) == "phone 41, batch 1, at 2.000 s")
    }

    @Test func `the story of a batch has no photo`() {
        let observations = [PhoneObservation.captured(scheduled: .zero), .completed(took: .seconds(2))].map {
            Observation(at: .zero, device: DeviceNumber(40), scan: ScanNumber(1), what: .phone($0))
        }
        let accepted = Observation(
            at: .zero, device: DeviceNumber(40), scan: ScanNumber(1),
            what: .backend(.accepted(job: "enrichment_0123456789abcdef", books: 3)))
        let told = (observations + [accepted]).map { StoryText.text($0, .batchEnrichment, faults: []) }
        #expect(told == ["batch begun", "batch completed", "creates job 01234567 with 3 books"])
        #expect(
            ScanRemains(observations).text(ScanNumber(1), WorkNoun(.batchEnrichment))
                .hasPrefix("batch 1 is completed"))
    }

    // MARK: Tables of groups

    /// Returns an error summary of so many kinds; the first is the most frequent.
    private func errors(_ kinds: Int) -> ErrorSummary {
        var timeline = ErrorSummary()
        for kind in 0..<kinds {
            var one = GroupErrors(fleet: PhoneGroups([("g", 1)]))
            for _ in 0..<(kinds - kind) {
                one.record(
                    Observation(
                        at: .zero, device: DeviceNumber(0), scan: ScanNumber(1),
                        what: .phone(
                            .replied(.upload, attempt: 1, status: 500 + kind, took: .milliseconds(1)))))
            }
            timeline.add(one[0])
        }
        return timeline
    }

    @Test func `a table of errors says how many it leaves out`() throws {
        var result = mixed()
        func table() throws -> DocumentTable {
            try #require(result.groupTables.first { $0.id == "group-errors" })
        }
        result.groups[0].errors = errors(8)
        #expect(try table().rows.count == 8 && table().note == nil)
        result.groups[0].errors = errors(11)
        // The rarest of eleven is the first of one: it has a row of each.
        var rare = GroupErrors(fleet: PhoneGroups([("g", 1)]))
        rare.record(
            Observation(
                at: .zero, device: DeviceNumber(0), scan: ScanNumber(1),
                what: .phone(.replied(.upload, attempt: 1, status: 510, took: .milliseconds(1)))))
        result.groups[1].errors = rare[0]
        #expect(try table().rows.suffix(2).map { $0.cells[1].text } == ["commuters", "readers"])
        let note = try #require(try table().note)
        #expect(note.hasPrefix("2 rarer errors are left out. `swiftwing-sim report RUNDIR --group NAME"))
        #expect(MarkdownReport.text(result).contains("\n\(note)\n"))
        #expect(page(result).contains("<p>2 rarer errors are left out. "))
    }

    @Test func `slower reconnects of v2 are explained beside those of v3`() {
        var result = mixed()
        let lost = Disconnections([
            Disconnection(
                cause: .reset, count: 1, resumed: 1, restarted: 0, gaveUp: 0, reconnectTime: HDRHistogram())
        ])
        result.groups[0].tables.disconnections = lost
        func note() -> String? { result.groupTables.first { $0.id == "group-disconnections" }?.note }
        #expect(note() == nil, "only streams of v3 were lost")
        result.groups[1].tables.disconnections = lost
        #expect(note()?.contains("`retry: 5000`, and a phone waits up to 5 s") == true)
        result.groups[1].journey = .scan
        #expect(note() == nil)
    }

    @Test func `the words of disconnections are explained once, where they stand`() {
        var result = Samples.passed()
        let plain = TerminalSummary.text(result, style: .plain)
        #expect(plain.ranges(of: "resumed: ").count == 1 && !plain.contains("open: "))
        result.disconnections = Disconnections([
            Disconnection(
                cause: .reset, count: 3, resumed: 1, restarted: 1, gaveUp: 0, reconnectTime: HDRHistogram())
        ])
        #expect(TerminalSummary.text(result, style: .plain).contains("open: neither, when the run ended"))
    }
}
