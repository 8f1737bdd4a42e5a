import Ledger
import Metrics
import Observations
import RunArchive
import RunJudge
import RunMetrics
import SimBase
import Talaria

// What was counted and measured.
extension SummaryWriter {
    // MARK: Scans, books, jobs

    mutating func conservation() {
        let scans = self.result.totals.scans
        self.page.gap()
        self.labeled(self.result.noun.heading, Self.sum(scans))
        if let kinds = self.result.kindsText { self.labeled("  of these", [Piece(kinds)]) }
        if let photos = self.result.photos {
            self.labeled("  photos", [Piece(self.result.text(photos: photos))])
        }
        let waiting = RunResult.waiting(scans)
        if !waiting.isEmpty {
            self.labeled(
                "  waiting",
                [Piece(waiting.map { "\(Figures.count($0.count)) \($0.words)" }.joined(separator: ", "))]
            )
        }
        let discarded = RunResult.discarded(scans)
        if !discarded.isEmpty {
            self.labeled(
                "  discarded",
                [
                    Piece(
                        discarded.map { "\($0.cause)\u{A0}\(Figures.count($0.count))" }
                            .joined(separator: ", "))
                ])
        }
        if !scans.isConserved {
            self.labeled("", [Piece("the counts do not add up: error in the ledger", .bad)])
        }
        if self.result.findsBooks { self.books() }
        if self.result.importsRows { self.rows() }
        if self.result.readsTexts { self.labeled("Reading", [Piece(self.result.readings)]) }
        if self.result.looksUp { self.labeled("Billing", [Piece(self.result.billing ?? "n/a")]) }
        if let cost = CostText(self.result) {
            self.labeled("Cost", [Piece(cost.sentence)])
            for way in cost.ways { self.labeled("  by \(way.name)", [Piece(way.value)]) }
        }
        if self.result.hasJobs { self.jobs() }
    }

    /// What was captured, and what became of it.
    private static func sum(_ scans: ScanTotals) -> [Piece] {
        var sum = [Piece(Figures.count(scans.captured), .bold), Piece(" captured")]
        if scans.restored > 0 { sum.append(Piece(" + \(Figures.count(scans.restored)) restored")) }
        sum += [
            Piece(" = "), Piece(Figures.count(scans.completed), scans.completed > 0 ? .good : .plain),
            Piece(" completed + "), Piece(Figures.count(scans.refused)), Piece(" refused + "),
        ]
        if scans.canceled > 0 { sum.append(Piece("\(Figures.count(scans.canceled)) canceled + ")) }
        sum += [
            Piece(Figures.count(scans.waiting), scans.waiting > 0 ? .warning : .plain),
            Piece(" waiting + "), Piece("\(Figures.count(scans.lost)) lost", scans.lost > 0 ? .bad : .plain),
        ]
        if scans.discarded > 0 {
            sum.append(Piece(" + \(Figures.count(scans.discarded)) discarded", .warning))
        }
        if scans.open > 0 { sum.append(Piece(" + \(Figures.count(scans.open)) unsettled")) }
        return sum
    }

    private mutating func rows() {
        let rows = self.result.totals.rows
        let counts = rows.counts
        var pieces = [
            Piece(Figures.count(rows.sent), .bold),
            Piece(
                " in files = \(Figures.count(counts.created)) created + \(Figures.count(counts.updated)) updated + "
                    + "\(Figures.count(counts.skipped)) skipped + \(Figures.count(counts.failed)) failed + "),
        ]
        if counts.pending > 0 {
            pieces += [Piece("\(Figures.count(counts.pending)) pending", .warning), Piece(" + ")]
        }
        pieces.append(Piece("\(Figures.count(rows.missing)) missing", rows.missing > 0 ? .bad : .plain))
        pieces += RunResult.notes(rows).map { Piece("; \($0)") }
        self.labeled("Rows", pieces)
    }

    private mutating func books() {
        let books = self.result.totals.books
        let duplicated = Piece(
            "\(Figures.count(books.duplicated)) duplicated", books.duplicated > 0 ? .bad : .plain)
        let rest =
            [
                Piece("; "), duplicated,
                Piece(", \(Figures.count(books.repeated, "replay", "replays")) discarded"),
            ] + RunResult.notes(books).map { Piece("; \($0)", .warning) }
        guard self.result.hasBackendView else {
            self.labeled(
                "Books", [Piece("\(Figures.count(books.received)) received; expected and missing n/a")] + rest
            )
            return
        }
        let missing = Piece("\(Figures.count(books.missing)) missing", books.missing > 0 ? .bad : .plain)
        // A column only where there is something in it.
        let pending =
            books.pending > 0
            ? [Piece("\(Figures.count(books.pending)) pending", .warning), Piece(" + ")] : []
        self.labeled(
            "Books",
            [
                Piece(Figures.count(books.expected), .bold),
                Piece(" expected = \(Figures.count(books.received)) received + "),
            ] + pending + [missing] + rest)
    }

    private mutating func jobs() {
        let jobs = self.result.totals.jobs
        var text = "\(Figures.count(jobs.accepted)) accepted, \(Figures.count(jobs.cleaned)) cleaned up"
        if let kept = self.result.kept(jobs) { text += ", \(Figures.count(kept)) kept" }
        text += ", \(Figures.count(jobs.abandoned)) abandoned"
        let causes = jobs.abandonedByCause.entries.filter { $0.count > 0 }.map {
            "\(Printable.line($0.name))\u{A0}\(Figures.count($0.count))"
        }
        if !causes.isEmpty { text += " (\(causes.joined(separator: ", ")))" }
        text +=
            self.result.hasBackendView
            ? ", \(Figures.count(jobs.orphaned)) orphaned, \(Figures.count(jobs.expired)) expired"
            : ", \(Figures.count(jobs.undeleted)) not deleted; orphaned and expired n/a"
        self.labeled("Jobs", [Piece(text)])
        if jobs.circuitsOpened > 0 { self.labeled("", [Piece(RunResult.circuits(jobs))]) }
    }

    mutating func groups() {
        self.page.gap()
        if self.result.groups.count > 1 { self.groupTable() }
        for headline in self.result.groupHeadlines {
            self.marked(headline.isLoss ? .bad : .warn, [Piece("\(headline.group): \(headline.text)")])
        }
    }

    mutating func bookFlow() {
        guard let table = self.result.bookFlowTable else { return }
        self.page.table(table)
        self.page.table(self.result.differenceTable)
    }

    private mutating func groupTable() {
        // In the order of what may be left out last on a narrow terminal.
        let cancels = self.result.totals.scans.canceled > 0
        var table = Table(
            "Groups",
            ["captured", "completed", "lost", "waiting", "refused"] + (cancels ? ["canceled"] : [])
                + ["phones"])
        for group in self.result.groups {
            let scans = group.totals.scans
            table.rows.append(
                [
                    Piece("  " + Printable.line(group.title)), Piece(Figures.count(scans.captured)),
                    Piece(Figures.count(scans.completed)),
                    Piece(Figures.count(scans.lost), scans.lost > 0 ? .bad : .plain),
                ]
                    + ([scans.waiting, scans.refused] + (cancels ? [scans.canceled] : []) + [group.devices])
                    .map { Piece(Figures.count($0)) })
        }
        self.page.table(table)
    }

    // MARK: Streams and times

    mutating func disconnections() {
        let losses = self.result.losses
        self.page.gap()
        guard !losses.isEmpty else { return self.labeled("Disconnections", [Piece("none", .dim)]) }
        self.page.table(self.result.disconnectionTable(isLive: false))
    }

    mutating func latencies() {
        let rows = self.result.latencyRows
        if !rows.isEmpty {
            self.page.gap()
            let hasOpen = rows.contains { !$0.unfinished.isEmpty }
            var table = Table(
                "Latencies",
                ["count", "p50", "p95", "p99", "max", "failed"] + (hasOpen ? ["open"] : []))
            for row in rows {
                let isInner = row.metric == .uploadServiceTime
                table.rows.append(
                    [Piece((isInner ? "    " : "  ") + row.metric.rawValue)] + Self.cells(row)
                        + (hasOpen ? [Self.unfinished(row)] : []))
            }
            self.page.table(table)
            for note in self.result.latencyNotes {
                self.page.paragraph(Piece(""), indent: 2, [Piece(note, .dim)])
            }
        }
        let unknown = self.result.unknownLatencies
        if !unknown.isEmpty {
            self.page.paragraph(
                Piece("  n/a", .dim), indent: 7,
                [Piece(unknown.map(\.rawValue).joined(separator: ", "), .dim)])
        }
    }

    private static func unfinished(_ row: LatencyRow) -> Piece {
        row.unfinished.isEmpty ? Piece("") : Piece(Figures.count(row.unfinished.count), .warning)
    }

    private static func cells(_ row: LatencyRow) -> [Piece] {
        let times = [row.summary?.p50, row.summary?.p95, row.summary?.p99, row.summary?.maximum]
        var failed = Piece("")
        if let failures = row.failures {
            failed =
                failures.failed == 0
                ? Piece("0")
                : Piece("\(Figures.count(failures.failed)) (\(Figures.share(failures)))", .warning)
        }
        return [Piece(Figures.count(row.summary?.count ?? 0))]
            + times.map { Piece($0.map { Figures.time($0) } ?? "-") } + [failed]
    }

    // MARK: Traffic and faults

    mutating func traffic() {
        self.page.gap()
        let all = self.result.metrics.everything(of: .fleet)
        if !all.replies.isEmpty {
            let replies = all.replies.map {
                "\($0.status == 0 ? "other" : String($0.status))\u{A0}×\(Figures.count($0.count))"
            }
            self.labeled("HTTP responses", [Piece(replies.joined(separator: ", "))])
        }
        var stream =
            "\(Figures.count(all.count(.sseEvents))) events, \(Figures.count(all.count(.ssePings))) pings, "
            + "\(Figures.count(all.count(.sseResumes))) resumed, \(Figures.count(all.count(.sseRestarts))) restarted"
        for (metric, word) in [(CountMetric.sseUnknown, "unknown"), (.sseUndecodable, "undecodable")]
        where all.count(metric) > 0 {
            stream += ", \(Figures.count(all.count(metric))) \(word)"
        }
        self.labeled("Streams", [Piece(stream)])
        if let series = self.result.streamsOpen, let peak = series.peak {
            let time = series.time(atLeast: RunResult.nearPeak(peak.count))
            let near = time < .seconds(1) ? "" : " (within 1 % for \(Figures.length(time)))"
            let open = Figures.count(peak.count, "open stream", "open streams")
            let peak = series.isSum ? "peak at least" : "peak"
            self.labeled("", [Piece("\(peak) \(open)\(near), measured at the server")])
        }
        self.faults()
        if let changes = self.result.linkChanges {
            self.labeled("Links", [Piece(Printable.line(changes, bytesMax: 400))])
        }
        self.errors()
    }

    /// Errors that no fault has injected, beside the sum.
    private static let errorsMax = 3

    /// Who is to blame for the errors of the phones, and the most frequent of those that no fault has injected.
    private mutating func errors() {
        let errors = self.result.errors
        guard !errors.isEmpty else { return }
        let causes = errors.reduce(into: CauseCounts()) { $0.add($1.causes) }
        self.labeled("Errors", [Piece(causes.countedWords)])
        let others = errors.filter { $0.causes.injected < $0.count }.prefix(Self.errorsMax)
        guard causes.injected > 0 || others.count > 1 else { return }
        for row in others {
            let name = Printable.line(row.trouble.name, bytesMax: 120)
            self.labeled(
                "",
                [
                    Piece("\(name)\u{A0}×\(Figures.count(row.count))", .dim),
                    Piece(": \(row.causes.words)", .dim),
                ])
        }
    }

    private mutating func faults() {
        let faults = self.result.faults
        guard !faults.isEmpty else { return self.labeled("Faults", [Piece("none in this scenario", .dim)]) }
        var pieces: [Piece] = []
        for fault in faults {
            if !pieces.isEmpty { pieces.append(Piece(", ")) }
            let id = Printable.line(fault.id)
            switch fault.count {
            case nil: pieces.append(Piece("\(id)\u{A0}n/a", .dim))
            case 0: pieces.append(Piece("\(id) never\u{A0}fired", .warning))
            case let count?: pieces.append(Piece("\(id)\u{A0}×\(Figures.count(count))"))
            }
        }
        self.labeled("Faults", pieces)
    }

    // MARK: The end

    mutating func remarks() {
        self.page.gap()
        self.generator()
        for warning in self.result.warnings {
            self.labeled("Warning", [Piece(Printable.line(warning, bytesMax: 600), .warning)])
        }
        for note in self.result.notes {
            self.labeled("Note", [Piece(Printable.line(note, bytesMax: 600))])
        }
    }

    private mutating func generator() {
        var pieces = [
            Piece(
                self.result.isTrustworthy
                    ? "healthy"
                    : self.result.isPartial
                        ? "phones are missing" : self.result.isHeldBack ? "held back" : "did not keep up",
                self.result.isTrustworthy ? .good : .bad)
        ]
        if let lateness = self.result.latency(.generatorLateness) {
            pieces.append(
                Piece(
                    ", timer lag p99 \(Figures.time(lateness.p99)), max \(Figures.time(lateness.maximum))"
                ))
        }
        let counts = self.result.metrics.everything(of: .fleet)
        let planned = counts.count(.arrivalsPlanned)
        if planned > 0 {
            let until = self.result.isInterrupted ? " until the interruption" : ""
            pieces.append(
                Piece(
                    ", \(counts.count(.arrivalsAchieved)) of \(planned) planned \(self.result.noun.many) captured\(until)"
                ))
        }
        let late = counts.count(.arrivalsLate)
        if late > 0 { pieces.append(Piece(", \(late) late", .warning)) }
        let refused = counts.count(.descriptorsRefused)
        if refused > 0 {
            pieces.append(Piece(", "))
            pieces.append(
                Piece(
                    "\(Figures.count(refused, "socket", "sockets")) refused (descriptor limit)", .warning
                ))
        }
        self.labeled("Load generator", pieces)
        for complaint in self.result.complaints {
            self.labeled("", [Piece(Printable.line(complaint), .bad)])
        }
        self.resources()
    }

    private mutating func resources() {
        func usage(_ name: String, _ usage: Resources.Usage?) -> String {
            guard let usage else { return "\(name) n/a" }
            return
                "\(name) \(Figures.seconds(usage.processor.nanoseconds)) s CPU, \(Figures.memory(usage.residentBytes))"
        }
        self.labeled(
            "Resources",
            [
                Piece(
                    usage("phones", self.result.resources.client) + "; "
                        + usage("backend", self.result.resources.backend))
            ])
    }

    mutating func files() {
        self.page.gap()
        if let directory = self.result.directory {
            // A path that opens, alone on its line and whole however long it is.
            let page = RunDirectory.FileName.page
            let path =
                self.result.files.contains(page) ? RunDirectory.joined(directory, page) : directory
            self.page.row(
                [Piece("Report", .bold)], indent: Self.labelColumns, [(Piece(path, .bold), 0)])
            let others = self.result.files.filter { $0 != page }
            if !others.isEmpty { self.labeled("", [Piece(others.joined(separator: " "), .dim)]) }
        }
        for step in self.result.commands {
            self.page.command(Piece(step.label, .bold), indent: Self.labelColumns, step.words)
        }
    }
}
