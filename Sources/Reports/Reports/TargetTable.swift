import Ledger
import Metrics
import Observations
import RunArchive
import RunJudge
import RunMetrics
import SimBase
import Talaria

/// What a target did wrong, and how it coped with what the run injected, in words (Docs/design.md section 11.12).
struct TargetTable {
    /// One thing that the target did wrong.
    struct Wrong {
        enum Kind: String { case rule, answer, error }

        let kind: Kind
        /// `target.resume`, `upload 202: data.sseUrl`, `stream: HTTP 503`.
        let name: String
        let count: Int
        /// What the first one was; empty for an error, whose name says all.
        let text: String
        let device: DeviceNumber?
        let scan: ScanNumber
        let at: Instant
        /// `phone 3, scan 1, at 2.480 s`.
        let first: String
        /// Shows the phone of the first one; nil without a folder.
        let command: String?
        let tone: Tone
    }

    /// Whether the run held the target to the contract (`trial.judge`).
    let isJudged: Bool
    let wrong: [Wrong]
    /// What the faults of the scenario have done. `fired`: nil where it is not known. `errors`: those and the findings that it
    /// caused.
    let injected: [(fault: String, fired: Int64?, errors: Int)]
    /// How what the phones wanted ended: `given up: 0 of 135 uploads`.
    let ends: String
    /// The answers to probes: `results`, `200 ×20`.
    let probes: [(probe: String, answers: String)]

    /// Nil for a run without a target.
    init?(_ result: RunResult) {
        guard result.labels.target != nil else { return nil }
        self.isJudged = result.verdicts.contains {
            $0.invariant.targetRule != nil && $0.standing != .notAvailable
        }
        self.wrong = Self.broken(result) + Self.answers(result) + Self.errors(result)
        self.injected = result.faults.map { fault in
            let cause = Cause.injected(fault: fault.id)
            let errors =
                result.errors.reduce(0) { $0 + $1.causes[cause] } + result.findings.causes[cause]
            return (fault: fault.id, fired: fault.count, errors: errors)
        }
        self.ends = Self.ends(result).joined(separator: "; ")
        self.probes = TargetProbe.allCases.compactMap { probe in
            let answers = result.metrics.everything(of: .fleet).probes(probe)
            guard !answers.isEmpty else { return nil }
            let text = answers.map { "\(Self.status($0.status)) ×\(Figures.count($0.count))" }
            return (probe.rawValue, text.joined(separator: ", "))
        }
    }

    /// `2 kinds of errors, 17 in total`.
    var tally: String {
        guard !self.wrong.isEmpty else { return self.isJudged ? "no errors seen" : "not on trial" }
        let total = self.wrong.reduce(0) { $0.addingSaturating($1.count) }
        let kinds = Figures.count(self.wrong.count, "kind of error", "kinds of errors")
        return "\(kinds), \(Figures.count(total)) in total"
    }

    private static func status(_ status: Int) -> String { status == 0 ? "other" : String(status) }

    // MARK: What it did wrong

    private static func broken(_ result: RunResult) -> [Wrong] {
        result.verdicts.filter { verdict in
            verdict.violations > 0
                && (verdict.invariant.targetRule != nil || verdict.examples.first?.cause == .target)
        }.map { verdict in
            let first = verdict.examples.first
            return Wrong(
                kind: .rule, name: verdict.invariant.rawValue, count: verdict.violations,
                text: first?.text ?? verdict.invariant.statement, device: first?.device,
                scan: first?.scan ?? .none, at: first?.at ?? .zero,
                first: first.map { result.place(of: $0) } ?? "",
                command: result.command(inspecting: first?.device, first?.scan ?? .none),
                tone: verdict.standing == .broken ? .bad : .warn)
        }
    }

    private static func answers(_ result: RunResult) -> [Wrong] {
        result.findings.byWeight.filter { $0.finding.side == .target && $0.causes[.target] > 0 }.map { row in
            let text = FindingText(row, of: result)
            return Wrong(
                kind: .answer, name: "\(text.answer): \(row.finding.path)", count: row.causes[.target],
                text: text.difference, device: row.device, scan: row.scan, at: row.first, first: text.first,
                command: result.command(inspecting: row.device, row.scan),
                tone: row.finding.isAdditional ? .warn : .bad)
        }
    }

    /// A 4xx may be the right answer, and the rules say where it is not; a refused scan is the consequence of one.
    private static func errors(_ result: RunResult) -> [Wrong] {
        let families: [ErrorFamily] = [.transport, .serverError, .badAnswer, .streamLost]
        return result.errors.filter { $0.causes[.target] > 0 && families.contains($0.trouble.family) }.map {
            row in
            Wrong(
                kind: .error, name: row.trouble.name, count: row.causes[.target], text: "",
                device: row.device, scan: row.scan, at: row.first,
                first: result.place(row.device, row.scan, at: row.first),
                command: result.command(inspecting: row.device, row.scan), tone: .warn)
        }
    }

    // MARK: How it coped

    private static func ends(_ result: RunResult) -> [String] {
        let operations: [(RateMetric, String)] = [
            (.uploadFailed, "uploads"), (.sseConnectFailed, "first streams"),
            (.sseReconnectFailed, "reconnects"), (.resultsFailed, "results"), (.cleanupFailed, "DELETEs"),
        ]
        let givenUp = operations.compactMap { metric, words in
            result.rate(metric).map { "\(Figures.count($0.failed)) of \(Figures.count($0.total)) \(words)" }
        }
        var texts = givenUp.isEmpty ? [] : ["given up: " + givenUp.joined(separator: ", ")]
        let all = result.metrics.everything(of: .fleet)
        let (resumed, restarted) = (all.count(.sseResumes), all.count(.sseRestarts))
        if resumed + restarted > 0 {
            texts.append(
                "lost streams: \(Figures.count(resumed)) resumed, \(Figures.count(restarted)) begun again")
        }
        return texts
    }

    // MARK: Formats

    private static let rowsMax = 20

    /// What the target did wrong, with the command that shows the first of each.
    private var wrongTable: DocumentTable {
        DocumentTable(
            id: "errors", tableID: "target-errors", title: "Errors of the target",
            rows: Array(self.wrong.prefix(Self.rowsMax)), mark: { (.init($0.tone), nil) },
            [
                .init("what", .name) { .mono($0.name) },
                .init("count", .number) { .init(Figures.count($0.count)) },
                .init("first", .text) { .init($0.first) },
                .init("example", .sentence) { .init($0.text) },
            ]
                + (self.wrong.contains { $0.command != nil }
                    ? [.init("command", .sentence) { .mono($0.command ?? "") }] : []))
    }

    private var injectedTable: DocumentTable {
        DocumentTable(
            id: "injected", tableID: "target-faults", title: "Injected faults", rows: self.injected,
            [
                .init("fault", .name) { .mono($0.fault) },
                .init("fired", .number) { .init($0.fired.map { Figures.count($0) } ?? "n/a") },
                .init("errors of phones", .number) { .init(Figures.count($0.errors)) },
            ])
    }

    private var probeTable: DocumentTable {
        DocumentTable(
            id: "probes", tableID: "target-probes", title: "Probes", rows: self.probes,
            [.init("probe", .name) { .mono($0.probe) }, .init("answers", .text) { .init($0.answers) }])
    }

    var json: JSONValue {
        .object([
            "wrong": .array(
                self.wrong.map { row in
                    .object([
                        "kind": .string(row.kind.rawValue), "name": .bounded(row.name),
                        "count": .integer(row.count), "text": .bounded(row.text),
                        "command": row.command.map { .string($0) } ?? .null,
                        "first": .object(JSONValue.place(row.device, row.scan, at: row.at)),
                    ])
                }),
            "injected": .array(
                self.injected.map { row in
                    .object([
                        "fault": .bounded(row.fault), "fired": .known(row.fired),
                        "errors": .integer(row.errors),
                    ])
                }),
        ])
    }

    var markdown: String {
        var text = "### Target\n\nErrors of the target: \(self.tally).\n"
        for table in [self.wrongTable, self.injectedTable] where !table.isEmpty {
            text += "\n\(table.markdownBody)"
        }
        for line in self.lines { text += "\n\(line.label): \(line.text).\n" }
        return text
    }

    var html: HTMLPage.Section {
        func body(_ table: DocumentTable) -> HTML {
            table.isEmpty ? "" : "<h3>\(table.title)</h3>\n\(table.htmlBody(prefix: ""))"
        }
        let coped: HTML = self.ends.isEmpty ? "" : "<p>In the end: \(self.ends, bytesMax: 1_000).</p>\n"
        return HTMLPage.Section(
            id: "target", title: "Target",
            lead: "What the target did wrong, and how it coped with what the run injected: \(self.tally).",
            body: "\(body(self.wrongTable))\(body(self.injectedTable))\(coped)\(body(self.probeTable))")
    }

    /// How it coped, and what it answered to probes.
    fileprivate var lines: [(label: String, text: String)] {
        var lines: [(label: String, text: String)] = []
        if !self.ends.isEmpty { lines.append(("In the end", self.ends)) }
        if !self.probes.isEmpty {
            let texts = self.probes.map { "\($0.probe) \($0.answers)" }
            lines.append(("Answers to probes", texts.joined(separator: "; ")))
        }
        return lines
    }
}

extension SummaryWriter {
    private static let targetErrorsMax = 8

    /// What the target did wrong, each with the command that shows it.
    mutating func target() {
        guard let target = TargetTable(self.result) else { return }
        self.section("Target", target.tally)
        for row in target.wrong.prefix(Self.targetErrorsMax) {
            let text = row.text.isEmpty ? "" : ": " + row.text
            self.marked(
                row.tone,
                [
                    Piece("\(row.name) \(Figures.count(row.count))\u{A0}×"),
                    Piece(Printable.line(" \(row.first)\(text)", bytesMax: 300), .dim),
                ])
            if let command = row.command { self.below(command, .dim) }
        }
        let hidden = target.wrong.count - Self.targetErrorsMax
        if hidden > 0 { self.below("and \(Figures.count(hidden)) more in the report", .dim) }
        for line in target.lines {
            self.page.paragraph(
                Piece("  \(line.label)  ", .dim), indent: self.markColumns, [Piece(line.text)])
        }
    }
}
