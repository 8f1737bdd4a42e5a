import Ledger
import Metrics
import RunArchive
package import RunJudge
import RunMetrics
import SimBase
import Talaria

/// `report.md`: the same numbers as the terminal's, for a pull request.
package enum MarkdownReport {
    /// The report of a result without its files: no worst windows and no errors.
    package static func text(_ result: RunResult) -> String {
        Self.text(RunReport(live: result, RunTimeline(faults: 0), tracks: [], width: RunTimeline.widthFirst))
    }

    /// The report of a run with its files.
    static func text(_ report: RunReport) -> String {
        let result = report.result
        return [
            Self.verdict(result), Self.capacity(result), Self.objectives(result, report.worstWindows),
            Self.invariants(result), SlowTimeText(result)?.table.markdown ?? "",
            TargetTable(result)?.markdown ?? "",
            (RolloutTables(result)?.all ?? []).map(\.markdown).joined(separator: "\n"),
            Self.scans(result), Self.bookFlow(result), result.findingTable.markdown,
            result.disconnectionTable(isLive: false).markdown, Self.latencies(result),
            Self.errors(report), Self.byGroup(result), Self.details(result),
        ].filter { !$0.isEmpty }.joined(separator: "\n")
    }

    /// Errors that a pull request needs to see.
    private static let errorsMax = 10

    private static func errors(_ report: RunReport) -> String {
        let table = report.errorTable(rowsMax: Self.errorsMax)
        let count = report.timeline.errors.byCount.count
        guard count > 0 else { return "" }
        let more = count > table.rows.count ? " (first \(table.rows.count) of \(count))" : ""
        return MarkdownText.folded("Errors seen by the phones\(more)", table.markdownBody)
    }

    private static func verdict(_ result: RunResult) -> String {
        var text =
            "## \(result.exit.tone.emoji) \(MarkdownText.escaped(result.scenario.name)): \(result.headline)\n\n"
        if let outcome = result.outcome { text += "**\(MarkdownText.escaped(outcome))**\n\n" }
        for explanation in result.explanations { text += "\(MarkdownText.escaped(explanation)).\n\n" }
        if !result.scenario.description.isEmpty {
            text += MarkdownText.escaped(result.scenario.description) + "\n\n"
        }
        let labels = result.labels.words.map { MarkdownText.code($0, bytesMax: 400) }
        if !labels.isEmpty { text += labels.joined(separator: ", ") + "\n\n" }
        text += MarkdownText.escaped(Obligations(result).sentence) + ".\n\n"
        text += MarkdownText.items(result.reasons, bytesMax: 600)
        if !result.reasons.isEmpty { text += "\n" }
        let row = [
            Figures.count(result.devices), "\(result.seed)", Figures.length(result.length), result.world.mode,
            Figures.date(iso8601: result.startedText), "\(result.exit.rawValue): \(result.meaning)",
        ]
        text += MarkdownText.table(
            ["phones", "seed", "length", "mode", "started", "exit code"], [row], textColumns: 6)
        let page = RunDirectory.FileName.page
        return text + "\n[\(page)](\(page)) in the folder of the run has the charts and the phones.\n"
    }

    /// The steps of the load; empty for a load without steps.
    private static func capacity(_ result: RunResult) -> String {
        guard let capacity = result.capacity, !capacity.rows.isEmpty else { return "" }
        func time(_ time: Interval?) -> String { time.map { Figures.time($0.nanoseconds) } ?? "" }
        let rows = capacity.rows.map { row in
            [
                row.held.map { $0 ? "✅" : "❌" } ?? "not judged", row.rate.description, time(row.p50),
                time(row.p95), row.throughput, Figures.count(Int(clamping: row.unfinished)),
                MarkdownText.escaped(row.reasons.joined(separator: "; ")),
            ]
        }
        let header = ["", "rate", "scan.time p50", "p95", "completed", "unfinished", "why"]
        return "### Capacity\n\n" + MarkdownText.table(header, rows)
    }

    private static func objectives(_ result: RunResult, _ worst: [SLOWindow?]) -> String {
        guard !result.slos.isEmpty else { return "" }
        let hasWorst = worst.contains { $0?.isMeaningful == true }
        let rows = result.slos.enumerated().map { index, slo in
            let remark = slo.passed == false && result.expectations.covers(slo) ? " as expected" : ""
            let sign = slo.passed == nil ? result.whyOpen(slo).remark : result.tone(of: slo).emoji + remark
            return [
                sign, MarkdownText.code(slo.slo.selector.description),
                MarkdownText.code(slo.slo.condition.description), MarkdownText.code(slo.shown),
            ] + (hasWorst ? [Self.window(worst.indices.contains(index) ? worst[index] : nil)] : [])
        }
        let header = ["", "metric", "limit", "actual"] + (hasWorst ? ["worst window"] : [])
        return "### SLOs\n\n" + MarkdownText.table(header, rows, textColumns: 5)
    }

    private static func window(_ window: SLOWindow?) -> String {
        guard let window, window.isMeaningful else { return "" }
        return MarkdownText.code(window.result.shown)
            + " at \(Figures.clock(window.from.nanoseconds)), \(Figures.length(window.length, short: true))"
    }

    private static func invariants(_ result: RunResult) -> String {
        guard !result.verdicts.isEmpty else { return "" }
        var text = "### Invariants\n\n"
        if !result.violated.isEmpty {
            let rows = result.violated.map { verdict in
                let first = verdict.examples.first
                return [
                    verdict.standing == .broken ? "❌" : "⚠️ as expected",
                    MarkdownText.code(verdict.invariant.rawValue), Figures.count(verdict.violations),
                    first.map { result.place(of: $0) } ?? "",
                    first.map { MarkdownText.code($0.text) } ?? "",
                ]
            }
            let header = ["", "invariant", "violations", "first", "description"]
            text += MarkdownText.table(header, rows, textColumns: 5) + "\n"
        }
        for (tone, words, verdicts) in result.unbroken() {
            let ids = verdicts.map { MarkdownText.code($0.invariant.rawValue) }.joined(separator: ", ")
            let sign = tone == .good ? tone.emoji : tone == .plain ? "–" : "n/a"
            text += "\(sign) \(ids)\(tone == .good ? "" : " (\(words))")\n\n"
        }
        return String(text.dropLast())
    }

    private static func scans(_ result: RunResult) -> String {
        var text = "### \(result.noun.heading), books\(result.hasJobs ? ", jobs" : "")\n\n"
        text += Self.scanTable(result)
        if let kinds = result.kindsText { text += "\nOf these: \(kinds).\n" }
        for headline in result.groupHeadlines {
            text += "\n**\(MarkdownText.escaped(headline.group))**: \(MarkdownText.escaped(headline.text)).\n"
        }
        let waiting = RunResult.waitingWords(result.totals.scans)
        if !waiting.isEmpty { text += "\nWaiting: \(waiting.joined(separator: ", ")).\n" }
        let discarded = RunResult.discardedWords(result.totals.scans)
        if !discarded.isEmpty { text += "\nDiscarded: \(discarded.joined(separator: ", ")).\n" }
        if let photos = result.photos { text += "\nPhotos: \(result.text(photos: photos)).\n" }
        if result.importsRows { text += Self.rows(result.totals.rows) }
        text += Self.books(result)
        if result.readsTexts { text += "\nReading: \(result.readings).\n" }
        if result.looksUp { text += "\nBilling: \(result.billing ?? "n/a").\n" }
        if let cost = CostText(result) { text += "\nCost: \(cost.sentence). \(cost.notes)\n" }
        if result.hasJobs { text += Self.jobs(result) }
        return text
    }

    private static func bookFlow(_ result: RunResult) -> String {
        guard let table = result.bookFlowTable else { return "" }
        let first = result.differenceExamples
        let examples = MarkdownText.folded(first.title, first.markdownBody)
        return [table.markdown, result.differenceTable.markdown, examples].filter { !$0.isEmpty }
            .joined(separator: "\n")
    }

    private static func scanTable(_ result: RunResult) -> String {
        var rows = [("all phones", result.devices, result.totals.scans)]
        if result.groups.count > 1 {
            rows += result.groups.map { (MarkdownText.escaped($0.title), $0.devices, $0.totals.scans) }
        }
        let cancels = result.totals.scans.canceled > 0
        return MarkdownText.table(
            ["", "phones", "captured", "restored", "completed", "refused"]
                + (cancels ? ["canceled"] : []) + ["waiting", "lost"],
            rows.map { name, devices, scans in
                [name]
                    + ([devices, scans.captured, scans.restored, scans.completed, scans.refused]
                    + (cancels ? [scans.canceled] : []) + [scans.waiting])
                    .map { Figures.count($0) }
                    + [scans.lost > 0 ? "**\(Figures.count(scans.lost))**" : "0"]
            })
    }

    private static func books(_ result: RunResult) -> String {
        let books = result.totals.books
        let known = result.hasBackendView
        var text = "\nBooks: \(known ? Figures.count(books.expected) : "n/a") expected, "
        text += "\(Figures.count(books.received)) received, "
        if books.pending > 0 { text += "\(Figures.count(books.pending)) pending, " }
        text += "\(known ? Figures.count(books.missing) : "n/a") missing, "
        text += "\(Figures.count(books.duplicated)) duplicated, "
        text += "\(Figures.count(books.repeated, "replay", "replays")) discarded.\n"
        for note in RunResult.notes(books) { text += "\n\(MarkdownText.escaped(note)).\n" }
        return text
    }

    private static func jobs(_ result: RunResult) -> String {
        let jobs = result.totals.jobs
        let figures = result.jobFigures.map { "\($0.value) \($0.name)" }
        var text = "\nJobs: \(figures.joined(separator: ", ")).\n"
        let notes = result.jobNotes
        if !notes.isEmpty { text += "\n\(notes.joined(separator: " "))\n" }
        if jobs.circuitsOpened > 0 { text += "\n\(RunResult.circuits(jobs)).\n" }
        return text
    }

    private static func rows(_ rows: RowTotals) -> String {
        let counts = rows.counts
        var text = "\nRows: \(Figures.count(rows.sent)) in files, \(Figures.count(counts.created)) created, "
        text += "\(Figures.count(counts.updated)) updated, \(Figures.count(counts.skipped)) skipped, "
        text += "\(Figures.count(counts.failed)) failed, \(Figures.count(counts.pending)) pending, "
        text += "\(Figures.count(rows.missing)) missing"
        return text + RunResult.notes(rows).map { "; \($0)" }.joined() + ".\n"
    }

    private static func latencies(_ result: RunResult) -> String {
        var table = result.latencyTable
        table.add(
            result.unknownLatencies,
            table.columns.map { column in
                let isMeasured = !["failed", "open"].contains(column.title)
                return DocumentColumn(column.title, column.kind) {
                    column.kind == .name ? .mono($0.rawValue) : .init(isMeasured ? "n/a" : "")
                }
            })
        let notes = result.latencyNotes.map { "\n\(MarkdownText.escaped($0)).\n" }.joined()
        return table.isEmpty ? "" : table.markdown + notes
    }

    private static func byGroup(_ result: RunResult) -> String {
        let tables = result.groupTables.map { "**\($0.title)**\n\n\($0.markdownBody)" }
        return MarkdownText.folded("By group", tables.joined(separator: "\n"))
    }

    private static func details(_ result: RunResult) -> String {
        var text = ""
        if !result.faults.isEmpty {
            let rows = result.faults.map {
                [MarkdownText.code($0.id), $0.count.map { Figures.count($0) } ?? "n/a"]
            }
            text += MarkdownText.table(["fault", "fired"], rows) + "\n"
        }
        if let changes = result.linkChanges { text += "- links: \(MarkdownText.escaped(changes))\n" }
        text += MarkdownText.items(result.complaints, bytesMax: Printable.bytesMax, as: "load generator: ")
        if let lag = result.timerLag { text += "- \(lag)\n" }
        for (name, figures) in result.used { text += "- \(name): \(figures)\n" }
        text += MarkdownText.items(result.warnings, bytesMax: 600, as: "warning: ")
        for note in result.notes { text += "- \(MarkdownText.escaped(note))\n" }
        text += "- \(MarkdownText.code(result.tool)), scenario SHA-256 `\(result.scenario.sha256)`\n"
        if let machine = result.machine { text += "- machine \(MarkdownText.code(machine))\n" }
        let steps = result.commands.map { "\($0.line)  # \($0.label)" }
        if !steps.isEmpty { text += "\n" + MarkdownText.block("sh", steps.joined(separator: "\n")) }
        return MarkdownText.folded("Faults, load generator, how to reproduce", text)
    }
}
