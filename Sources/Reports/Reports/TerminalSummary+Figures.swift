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
        if let kinds = self.result.kindsText { self.labeled("  of these", kinds) }
        if let photos = self.result.photos { self.labeled("  photos", self.result.text(photos: photos)) }
        let waiting = RunResult.waitingWords(scans)
        if !waiting.isEmpty { self.labeled("  waiting", waiting.joined(separator: ", ")) }
        let discarded = RunResult.discardedWords(scans).map(Printable.tied)
        if !discarded.isEmpty { self.labeled("  discarded", discarded.joined(separator: ", ")) }
        if !scans.isConserved { self.labeled("", "the counts do not add up: error in the ledger", .bad) }
        if self.result.findsBooks { self.books() }
        if self.result.importsRows { self.rows() }
        if self.result.readsTexts { self.labeled("Reading", self.result.readings) }
        if self.result.looksUp { self.labeled("Billing", self.result.billing ?? "n/a") }
        if let cost = CostText(self.result) {
            self.labeled("Cost", cost.sentence)
            for way in cost.ways { self.labeled("  by \(way.name)", way.value) }
        }
        if self.result.hasJobs { self.jobs() }
    }

    /// What was captured, and what became of it.
    private static func sum(_ scans: ScanTotals) -> [Piece] {
        let sum: [Piece?] = [
            Piece(Figures.count(scans.captured), .bold), Piece(" captured"),
            scans.restored > 0 ? Piece(" + \(Figures.count(scans.restored)) restored") : nil,
            Piece(" = "), Piece(Figures.count(scans.completed), scans.completed > 0 ? .good : .plain),
            Piece(" completed + \(Figures.count(scans.refused)) refused + "),
            scans.canceled > 0 ? Piece("\(Figures.count(scans.canceled)) canceled + ") : nil,
            Piece(Figures.count(scans.waiting), scans.waiting > 0 ? .warning : .plain),
            Piece(" waiting + "), Piece("\(Figures.count(scans.lost)) lost", scans.lost > 0 ? .bad : .plain),
            scans.discarded > 0 ? Piece(" + \(Figures.count(scans.discarded)) discarded", .warning) : nil,
            scans.open > 0 ? Piece(" + \(Figures.count(scans.open)) unsettled") : nil,
        ]
        return sum.compactMap(\.self)
    }

    private mutating func rows() {
        let rows = self.result.totals.rows
        let counts = rows.counts
        let pieces: [Piece?] = [
            Piece(Figures.count(rows.sent), .bold),
            Piece(" in files = \(Figures.count(counts.created)) created + "),
            Piece("\(Figures.count(counts.updated)) updated + \(Figures.count(counts.skipped)) skipped + "),
            Piece("\(Figures.count(counts.failed)) failed + "),
            counts.pending > 0 ? Piece("\(Figures.count(counts.pending)) pending", .warning) : nil,
            counts.pending > 0 ? Piece(" + ") : nil,
            Piece("\(Figures.count(rows.missing)) missing", rows.missing > 0 ? .bad : .plain),
        ]
        self.labeled("Rows", pieces.compactMap(\.self) + RunResult.notes(rows).map { Piece("; \($0)") })
    }

    private mutating func books() {
        let books = self.result.totals.books
        let duplicated = Piece(
            "\(Figures.count(books.duplicated)) duplicated", books.duplicated > 0 ? .bad : .plain)
        let replays = Piece(", \(Figures.count(books.repeated, "replay", "replays")) discarded")
        let rest =
            [Piece("; "), duplicated, replays] + RunResult.notes(books).map { Piece("; \($0)", .warning) }
        let received = Figures.count(books.received)
        guard self.result.hasBackendView else {
            return self.labeled("Books", [Piece("\(received) received; expected and missing n/a")] + rest)
        }
        let missing = Piece("\(Figures.count(books.missing)) missing", books.missing > 0 ? .bad : .plain)
        // A column only where there is something in it.
        let pending =
            books.pending > 0
            ? [Piece("\(Figures.count(books.pending)) pending", .warning), Piece(" + ")] : []
        let expected = [
            Piece(Figures.count(books.expected), .bold), Piece(" expected = \(received) received + "),
        ]
        self.labeled("Books", expected + pending + [missing] + rest)
    }

    private mutating func jobs() {
        let jobs = self.result.totals.jobs
        let causes = RunResult.abandonedWords(jobs).map(Printable.tied).joined(separator: ", ")
        let known = self.result.jobFigures.filter { $0.value != "n/a" }.map { name, value in
            "\(value) \(name)" + (name == "abandoned" && !causes.isEmpty ? " (\(causes))" : "")
        }
        let rest = self.result.hasBackendView ? "" : "; orphaned and expired n/a"
        self.labeled("Jobs", known.joined(separator: ", ") + rest)
        if jobs.circuitsOpened > 0 { self.labeled("", RunResult.circuits(jobs)) }
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
            let name = Piece("  " + Printable.line(group.title))
            let lost = Piece(Figures.count(scans.lost), scans.lost > 0 ? .bad : .plain)
            let first = [scans.captured, scans.completed].map { Piece(Figures.count($0)) }
            let rest = [scans.waiting, scans.refused] + (cancels ? [scans.canceled] : []) + [group.devices]
            table.rows.append([name] + first + [lost] + rest.map { Piece(Figures.count($0)) })
        }
        self.page.table(table)
    }

    // MARK: Streams and times

    mutating func disconnections() {
        let losses = self.result.losses
        self.page.gap()
        guard !losses.isEmpty else { return self.labeled("Disconnections", "none", .dim) }
        self.page.table(self.result.disconnectionTable(isLive: false))
    }

    mutating func latencies() {
        let table = self.result.latencyTable
        self.page.table(table)
        for note in table.isEmpty ? [] : self.result.latencyNotes { self.page.text(note, .dim, indent: 2) }
        let unknown = self.result.unknownLatencies
        if !unknown.isEmpty {
            self.page.paragraph(
                Piece("  n/a", .dim), indent: 7,
                [Piece(unknown.map(\.rawValue).joined(separator: ", "), .dim)])
        }
    }

    // MARK: Traffic and faults

    mutating func traffic() {
        self.page.gap()
        let all = self.result.metrics.everything(of: .fleet)
        if !all.replies.isEmpty {
            let replies = all.replies.map {
                "\($0.status == 0 ? "other" : String($0.status))\u{A0}×\(Figures.count($0.count))"
            }
            self.labeled("HTTP responses", replies.joined(separator: ", "))
        }
        var stream =
            "\(Figures.count(all.count(.sseEvents))) events, \(Figures.count(all.count(.ssePings))) pings, "
            + "\(Figures.count(all.count(.sseResumes))) resumed, \(Figures.count(all.count(.sseRestarts))) restarted"
        for (metric, word) in [(CountMetric.sseUnknown, "unknown"), (.sseUndecodable, "undecodable")]
        where all.count(metric) > 0 {
            stream += ", \(Figures.count(all.count(metric))) \(word)"
        }
        self.labeled("Streams", stream)
        if let series = self.result.streamsOpen, let peak = series.peak {
            let time = series.time(atLeast: RunResult.nearPeak(peak.count))
            let near = time < .seconds(1) ? "" : " (within 1 % for \(Figures.length(time)))"
            let open = Figures.count(peak.count, "open stream", "open streams")
            let peak = series.isSum ? "peak at least" : "peak"
            self.labeled("", "\(peak) \(open)\(near), measured at the server")
        }
        self.faults()
        if let changes = self.result.linkChanges {
            self.labeled("Links", Printable.line(changes, bytesMax: 400))
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
        self.labeled("Errors", causes.countedWords)
        let others = errors.filter { $0.causes.injected < $0.count }.prefix(Self.errorsMax)
        guard causes.injected > 0 || others.count > 1 else { return }
        for row in others {
            let name = Printable.line(row.trouble.name, bytesMax: 120)
            self.labeled("", "\(name)\u{A0}×\(Figures.count(row.count)): \(row.causes.words)", .dim)
        }
    }

    private mutating func faults() {
        let faults = self.result.faults
        guard !faults.isEmpty else { return self.labeled("Faults", "none in this scenario", .dim) }
        let pieces = faults.map { fault in
            let id = Printable.line(fault.id)
            return switch fault.count {
            case nil: [Piece("\(id)\u{A0}n/a", .dim)]
            case 0: [Piece("\(id) never\u{A0}fired", .warning)]
            case let count?: [Piece("\(id)\u{A0}×\(Figures.count(count))")]
            }
        }
        self.labeled("Faults", Array(pieces.joined(separator: [Piece(", ")])))
    }

    // MARK: Findings

    private static let findingsMax = 8

    /// Prints the deviations of answers, events and requests from the contract.
    mutating func findings() {
        let findings = self.result.findings
        guard !findings.isEmpty else { return }
        let kinds = Figures.count(findings.kinds, "kind", "kinds")
        self.section(
            "Findings",
            "\(kinds), \(Figures.count(findings.count)) in total, not in the API contract\(findings.originText)"
        )
        for text in findings.shown(Self.findingsMax, of: self.result) {
            let isDecisive = text.finding.isDecisive
            self.marked(
                isDecisive ? .bad : .warn,
                [Piece(Printable.line(text.sentence, bytesMax: 300), isDecisive ? .bad : .plain)])
            let used = (isDecisive ? "; \(text.message) rejected" : "") + text.suffix
            self.below("\(text.count)\u{A0}×, first \(text.first)\(used)", .dim)
        }
        let hidden = findings.hidden(beyond: Self.findingsMax)
        if hidden > 0 { self.below("and \(Figures.count(hidden)) more in the report", .dim) }
    }

    // MARK: The end

    mutating func remarks() {
        self.page.gap()
        self.generator()
        for warning in self.result.warnings {
            self.labeled("Warning", Printable.line(warning, bytesMax: 600), .warning)
        }
        for note in self.result.notes { self.labeled("Note", Printable.line(note, bytesMax: 600)) }
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
        if let lag = self.result.timerLag { pieces.append(Piece(", " + lag)) }
        let counts = self.result.metrics.everything(of: .fleet)
        let planned = counts.count(.arrivalsPlanned)
        if planned > 0 {
            let until = self.result.isInterrupted ? " until the interruption" : ""
            let captured = "\(planned) planned \(self.result.noun.many) captured\(until)"
            pieces.append(Piece(", \(counts.count(.arrivalsAchieved)) of \(captured)"))
        }
        let late = counts.count(.arrivalsLate)
        if late > 0 { pieces.append(Piece(", \(late) late", .warning)) }
        let refused = counts.count(.descriptorsRefused)
        if refused > 0 {
            let sockets = Figures.count(refused, "socket", "sockets")
            pieces += [Piece(", "), Piece("\(sockets) refused (descriptor limit)", .warning)]
        }
        self.labeled("Load generator", pieces)
        for complaint in self.result.complaints { self.labeled("", Printable.line(complaint), .bad) }
        let used = self.result.used.map { "\($0.name) \($0.figures)" }
        self.labeled("Resources", used.joined(separator: "; "))
    }

    mutating func files() {
        self.page.gap()
        if let directory = self.result.directory {
            // A path that opens, alone on its line and whole however long it is.
            let page = RunDirectory.FileName.page
            let path = self.result.files.contains(page) ? RunDirectory.joined(directory, page) : directory
            self.page.row([Piece("Report", .bold)], indent: Self.labelColumns, [(Piece(path, .bold), 0)])
            let others = self.result.files.filter { $0 != page }
            if !others.isEmpty { self.labeled("", others.joined(separator: " "), .dim) }
        }
        for step in self.result.commands {
            self.page.command(Piece(step.label, .bold), indent: Self.labelColumns, step.words)
        }
    }
}
