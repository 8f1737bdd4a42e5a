import Ledger
package import RunArchive
package import RunJudge
package import RunMetrics
import SimBase
import Talaria

/// `report.html`: one page that holds everything it needs. No script is needed for what it says, nothing is loaded, and by
/// the policy in its head nothing could be: text of others that got through every escape would still not run.
package struct HTMLPage {
    package let report: RunReport
    package var result: RunResult { self.report.result }
    package var timeline: RunTimeline { self.report.timeline }
    package let axis: TimeAxis
    var faultIDs: [String] { self.result.faults.map(\.id) }
    /// Whether the run is in progress.
    let isLive: Bool
    /// The end of the data. Open spans end there.
    let until: Int64
    /// The times that are shaded in every chart over time.
    let bands: ChartBands
    /// A comparison with another run; nil for none.
    private var comparison: Section?

    package init(_ report: RunReport, comparison: Section? = nil) {
        self.comparison = comparison
        self.report = report
        self.axis = TimeAxis(
            end: max(report.result.length.nanoseconds, report.timeline.until.nanoseconds))
        self.isLive = false
        self.until = self.axis.end
        self.bands = ChartBands(report, axis: self.axis, until: self.until)
    }

    /// The page of a run in progress. Its axis grows in steps, so that the curves grow and do not slide.
    package init(live report: RunReport) {
        self.report = report
        self.axis = .holding(report.result.length.nanoseconds)
        self.isLive = true
        self.until = report.result.length.nanoseconds
        self.bands = ChartBands(report, axis: self.axis, until: self.until)
    }

    /// The page as the bytes of its file.
    package var text: String {
        // What is broken comes before what held.
        let isBroken = !self.result.brokenInvariants.isEmpty
        let why: [Section?] = [
            isBroken ? self.invariants : nil, SlowTimeText(self.result)?.section, self.capacity,
        ]
        let rollout = RolloutTables(self.result)?.all.map { $0.section(prefix: "") } ?? []
        let rest: [Section?] = [
            self.overTime, self.objectives, self.comparison, self.latencyTable, self.conservation,
            self.bookFlow, isBroken ? nil : self.invariants, TargetTable(self.result)?.html, self.latencies,
            self.disconnections, self.findings, self.faults, self.errors, self.byGroup, self.phones,
            self.generator, self.environment,
        ]
        let sections = (why + rollout + rest).compactMap(\.self).filter { !$0.body.isEmpty }
        let name = HTML(self.result.scenario.name, bytesMax: 80)
        return HTMLDocument(
            title: "\(self.tone.sign) \(self.headline): \(name), seed \(self.result.seed)",
            header: self.header, sections: sections.map(self.folded)
        ).html.text
    }

    package typealias Section = HTMLDocument.Section

    /// What a reader looks up, and what shows why a run has passed.
    private static let lookedUp: Set<String> = [
        "conservation", "book-flow", "latency", "disconnections", "faults", "by-group", "generator",
        "environment",
    ]
    private static let heldBack: Set<String> = ["invariants", "findings", "errors", "worst"]

    private func folded(_ section: Section) -> Section {
        var section = section
        section.isFolded =
            Self.lookedUp.contains(section.id) || self.tone == .good && Self.heldBack.contains(section.id)
            || section.id == "why" && self.tone == .bad && !self.result.isWhySlowSaid
        return section
    }

    // MARK: The verdict

    package var tone: Tone { self.result.exit.tone }

    package var headline: String { Figures.capitalized(self.result.headline.lowercased()) }

    package var header: HTML {
        let result = self.result
        let kinds = result.kindsBegun.map { ($0.noun.many, Figures.count($0.count)) }
        let all = [(result.noun.many, Figures.count(result.totals.scans.captured))]
        var facts = [("phones", Figures.count(result.devices)), ("length", Figures.length(result.length))]
        facts +=
            (kinds.count > 1 ? kinds : all) + [
                ("seed", String(result.seed)), ("mode", result.world.mode),
                ("started", Figures.date(iso8601: result.startedText)),
                ("exit code", result.exitWords),
            ]
        if result.groups.count > 1 { facts.insert(("groups", Figures.count(result.groups.count)), at: 1) }
        if let photos = result.photos { facts.append(("photos", Figures.count(photos))) }
        let reasons = HTML.items(result.reasons, bytesMax: 600)
        let outcome: HTML? = result.outcome.map {
            "<p class=\"outcome\">\(sentence: Figures.capitalized($0) + ".", bytesMax: 600)</p>"
        }
        let why: [HTML] = result.explanations.map { "<p>\(sentence: $0 + ".", bytesMax: 1_000)</p>" }
        let about = result.scenario.description
        return """
            <header>
            <h1>\(result.scenario.name, bytesMax: 80)</h1>
            <div class="verdict \(self.tone.rawValue)">\(HTMLDocument.badge(self.tone))<span class="word">\(self.headline)</span></div>
            \(outcome ?? "")\(why.joined())
            <p>\(self.sentence, bytesMax: 400)</p>
            \(about.isEmpty ? "" : "<p class=\"about\">\(about, bytesMax: 600)</p>")
            \(self.labels)\(self.changes)
            \(reasons.isEmpty ? "" : "<ul class=\"reasons\">\(reasons)</ul>")\(self.nextSteps)
            \(self.headlineRow)\(self.callouts)\(HTML.definitions("facts", facts))
            </header>
            """
    }

    /// What to run after a verdict that is not green. The command that makes the run again is below, as for any run.
    private var nextSteps: HTML {
        let steps = self.result.exit == .success ? [] : self.result.nextSteps
        return steps.map { step in
            "<p class=\"next\"><b>\(step.label)</b> \(step.purpose): <code>\(step.line, bytesMax: 1_000)</code></p>\n"
        }.joined()
    }

    /// What the command changes in the scenario.
    private var changes: HTML {
        let said = self.result.changesAtFault
        let values: [HTML] = self.result.changes.filter { !said.contains($0) }
            .map { "<code>\($0, bytesMax: 200)</code>" }
        guard !values.isEmpty else { return "" }
        return
            "<p class=\"about\">\(said.isEmpty ? "Changed" : "Also changed") for this run: \(values.prefix(8).joined(separator: " "))</p>"
    }

    /// The target and the tags.
    package var labels: HTML {
        let words = self.result.labels.words.map { HTML($0, bytesMax: 400) }
        return words.isEmpty ? "" : "<p class=\"about\">\(words.joined(separator: " · "))</p>"
    }

    /// The verdict in one sentence.
    var sentence: String {
        let scans = self.result.totals.scans
        var text = Figures.capitalized(Obligations(self.result).sentence) + "; "
        text +=
            scans.lost == 0
            ? "no \(self.result.noun.one) was lost"
            : "\(Figures.count(scans.lost, self.result.noun)) \(scans.lost == 1 ? "was" : "were") lost"
        text +=
            ", \(Figures.count(scans.completed)) of \(Figures.count(scans.captured + scans.restored)) completed"
        return text + (self.result.isTrustworthy ? "; the load generator kept up." : ".")
    }

    var callouts: HTML {
        var texts = self.result.warnings
        let skipped = Figures.count(self.report.skippedLines, "incomplete line", "incomplete lines")
        if self.report.skippedLines > 0 { texts.append("skipped \(skipped) of the logs") }
        return HTML.callouts(texts.prefix(20), bytesMax: 600)
    }

    // MARK: Conservation

    package var conservation: Section {
        let known = self.result.hasBackendView
        let lookups = self.result.totals.lookups
        let bills = [("look-ups billed", lookups.billed), ("repeated, not billed", lookups.repeated)]
        let billing = self.result.looksUp ? bills.map { ($0, known ? Figures.count($1) : "n/a") } : []
        let cost = CostText(self.result)
        let costs = cost?.amounts.map { ("cost \($0.name)", $0.value) } ?? []
        let rows = self.result.importsRows ? self.rows : ""
        // Rows that are in no number of the flow.
        let rowNotes: HTML = RunResult.notes(self.result.totals.rows)
            .map { "<p>Rows: \($0, bytesMax: 1_000).</p>" }.joined()
        return Section(
            id: "conservation", title: "\(self.result.noun.heading)\(self.result.contents)",
            lead: HTML(self.conservationLead),
            body: """
                <div class="pair">\(self.scans)\(self.books)\(rows)</div>\(rowNotes)\
                \(HTML.definitions("stats", billing + costs + self.jobs))
                \(cost.map { "<p>\($0.notes)</p>" } ?? "")\(self.jobNotes)\(self.groups)
                """)
    }

    private var scans: HTML {
        let scans = self.result.totals.scans
        let waiting = RunResult.waitingWords(scans).joined(separator: ", ")
        let discarded = RunResult.discardedWords(scans).joined(separator: ", ")
        let always: [Flow.Branch] = [
            .init(name: "completed", count: scans.completed, tone: .good),
            .init(name: "refused", count: scans.refused, tone: .warn),
            .init(name: "waiting", count: scans.waiting, tone: .warn, note: waiting),
        ]
        let rare: [Flow.Branch] = [
            .init(name: "canceled", count: scans.canceled, tone: .plain, note: "by their users"),
            .init(name: "discarded", count: scans.discarded, tone: .plain, note: discarded),
            self.isLive
                ? .init(name: "in progress", count: scans.open, tone: .plain)
                : .init(name: "open", count: scans.open, tone: .warn, note: "unfinished when the run ended"),
        ]
        let lost = Flow.Branch(name: "lost", count: scans.lost, tone: .bad)
        return Flow(
            title: self.result.noun.heading,
            origin: scans.restored > 0 ? "captured or restored" : "captured",
            total: scans.captured + scans.restored, branches: always + rare.filter { $0.count > 0 } + [lost]
        ).html
    }

    /// Empty for phones that find none: their files have rows.
    private var books: HTML {
        let books = self.result.totals.books
        let notes: HTML = RunResult.notes(books).map { "<p>\($0, bytesMax: 1_000).</p>" }.joined()
        guard self.result.findsBooks else { return notes }
        guard self.result.hasBackendView else {
            return """
                <p>\(Figures.count(books.received, "book", "books")) received; the expected number is unknown \
                with --target.</p>\(notes)
                """
        }
        let pending = books.pending > 0 ? "of waiting \(self.result.noun.many)" : ""
        let replays = Figures.count(books.repeated, "replay", "replays")
        return Flow(
            title: "Books", origin: "expected", total: books.expected,
            branches: [
                .init(
                    name: books.review.came > 0 ? "received" : "in the library", count: books.received,
                    tone: .good),
                .init(name: "pending", count: books.pending, tone: .warn, note: pending),
                .init(name: "missing", count: books.missing, tone: .bad),
                .init(
                    name: "duplicated", count: books.duplicated, tone: .bad,
                    note: books.repeated > 0 ? "\(replays) discarded" : ""),
            ]
        ).html + notes
    }

    private var jobs: [(String, String)] {
        guard self.result.hasJobs else { return [] }
        let figures = self.result.jobFigures.map {
            ($0.name == "accepted" ? "jobs accepted" : $0.name, $0.value)
        }
        let opened = self.result.totals.jobs.circuitsOpened
        let undeleted = "not deleted"
        return figures.filter { $0.0 != undeleted }
            + (opened > 0 ? [("circuit openings", Figures.count(opened))] : [])
            + figures.filter { $0.0 == undeleted }
    }

    /// The steps of the books behind their photographs; nil where they have none but to come.
    private var bookFlow: Section? {
        guard let table = self.result.bookFlowTable else { return nil }
        let (differences, first) = (self.result.differenceTable, self.result.differenceExamples)
        let reading: HTML =
            self.result.readsTexts ? "<p>Reading: \(self.result.readings, bytesMax: 1_000).</p>" : ""
        let texts: HTML =
            differences.isEmpty ? "" : "<h3>\(differences.title)</h3>\(differences.htmlBody(prefix: ""))"
        let examples: HTML =
            first.isEmpty
            ? "" : "<details><summary>\(first.title)</summary>\(first.htmlBody(prefix: ""))</details>"
        return Section(
            id: table.id, title: table.title,
            body: """
                <div class="pair">\(self.result.bookFlowCharts)</div>\(table.htmlBody(prefix: ""))
                \(reading)\(texts)\(examples)
                """)
    }

    private var rows: HTML {
        let (rows, counts) = (self.result.totals.rows, self.result.totals.rows.counts)
        let pending = counts.pending > 0 ? "of waiting imports" : ""
        return Flow(
            title: "Rows", origin: "in files", total: rows.sent,
            branches: [
                .init(name: "created", count: counts.created, tone: .good),
                .init(name: "updated", count: counts.updated, tone: .good),
                .init(name: "skipped", count: counts.skipped, tone: .plain, note: "duplicates"),
                .init(name: "failed", count: counts.failed, tone: .plain, note: "rows with a flaw"),
                .init(name: "pending", count: counts.pending, tone: .warn, note: pending),
                .init(name: "missing", count: rows.missing, tone: .bad),
            ]
        ).html
    }

    private var jobNotes: HTML {
        let notes = self.result.jobNotes
        guard !notes.isEmpty else { return "" }
        return "<p>\(notes.joined(separator: " "), bytesMax: 1_000)</p>\n"
    }

    private var everythingIsThere: String {
        let what = self.result.contentNouns.map { "every \($0.dropLast())" }
        let comma = what.count > 1 ? ", " : " and "
        let books = self.result.totals.books
        let absent = books.unknown + books.unjudged
        return "\(self.result.noun.every)\(comma)\(what.joined(separator: " and ")) is accounted for"
            + (absent > 0 ? ", apart from \(Figures.count(absent, "book", "books")) that never came." : ".")
    }

    private var conservationLead: String {
        let (scans, books) = (self.result.totals.scans, self.result.totals.books)
        if scans.lost > 0 || books.missing > 0 || books.review.lost > 0
            || self.result.totals.rows.missing > 0
        {
            let what = self.result.contentNouns.joined(separator: " or ")
            return "\(self.result.noun.heading) or \(what) were lost. See the broken invariants."
        }
        let unfinished = scans.waiting + scans.open
        guard unfinished == 0 else {
            return self.isLive
                ? "Nothing has been lost so far."
                : "Nothing was lost, but \(Figures.count(unfinished, self.result.noun)) did not finish."
        }
        return scans.captured + scans.restored == 0
            ? "No \(self.result.noun.one) was captured."
            : self.everythingIsThere
    }

    private var groups: HTML {
        let headlines: [HTML] = self.result.groupHeadlines.prefix(100).map {
            "<p class=\"group-headline\"><strong>\($0.group)</strong>: \($0.text)</p>"
        }
        return self.groupTable + headlines.joined()
    }

    private var groupTable: HTML {
        guard self.result.groups.count > 1 else { return "" }
        let cancels = self.result.totals.scans.canceled > 0
        let rows = self.result.groups.prefix(100).map { group -> [HTML] in
            let scans = group.totals.scans
            return [HTML(group.title)]
                + ([group.devices, scans.captured, scans.completed, scans.refused]
                + (cancels ? [scans.canceled] : []) + [scans.waiting, scans.lost])
                .map { "\(Figures.count($0))" }
        }
        return HTML.table(
            ["group", "phones", "captured", "completed", "refused"] + (cancels ? ["canceled"] : [])
                + ["waiting", "lost"], rows, numbers: Set(1...(cancels ? 7 : 6)), id: "groups")
    }
}
