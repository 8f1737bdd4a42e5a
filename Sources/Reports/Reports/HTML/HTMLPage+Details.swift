import Metrics
import Observations
import RunArchive
import RunJudge
import RunMetrics
import SimBase

extension HTMLPage {
    // MARK: Disconnections

    package var disconnections: Section {
        let losses = self.result.losses
        guard !losses.isEmpty else {
            return Section(
                id: "disconnections", title: "Disconnections", lead: "No streams were lost.", body: " ")
        }
        let count = losses.reduce(0) { $0 + $1.count }
        let resumed = losses.reduce(0) { $0 + $1.resumed }
        let restarted = losses.reduce(0) { $0 + $1.restarted }
        let recovered = resumed + restarted
        let share =
            recovered == count
            ? "All \(Figures.count(count))" : "\(Figures.count(recovered)) of \(Figures.count(count))"
        return Section(
            id: "disconnections", title: "Disconnections",
            lead: """
                \(share) lost streams recovered: \(Figures.count(resumed)) resumed, \
                \(Figures.count(restarted)) restarted.
                """,
            body: self.result.disconnectionTable(isLive: self.isLive).htmlBody(prefix: "") + self.surge)
    }

    /// The reconnects over time, which show whether they came all at once.
    private var surge: HTML {
        let windows = self.timeline.windows
        let attempts = windows.map(\.reconnectAttempts)
        guard let most = attempts.max(), most > 0, let place = attempts.firstIndex(of: most)
        else { return "" }
        let moment = Int64(place) * self.timeline.width.nanoseconds
        return TimeChart(
            id: "herd", title: "Reconnect surge", unit: "per second; peak at \(Figures.clock(moment))",
            description: "streams lost, reconnect attempts and reconnected streams per second",
            series: [
                self.series("lost", 7, .line(dashed: true)) { self.rate($0.losses) },
                self.series("attempts", 2, .area) { self.rate($0.reconnectAttempts) },
                // None of a run whose jobs all began again.
                windows.contains { $0.reconnected > 0 }
                    ? self.series("reconnected", 3, .line(dashed: false)) { self.rate($0.reconnected) } : nil,
            ].compactMap { $0 }, width: self.timeline.width.nanoseconds, axis: self.axis, bands: ""
        ).html
    }

    // MARK: Faults

    package var faults: Section {
        let faults = self.result.faults
        guard !faults.isEmpty else { return Section(id: "faults", title: "Faults", body: "") }
        let rows = faults.enumerated().map { index, fault -> [HTML] in
            let times =
                self.timeline.faults.indices.contains(index) ? self.timeline.faults[index] : nil
            let said = self.report.conditions.faults.first { $0.id == fault.id }
            return [
                HTML.mono(fault.id, bytesMax: 80),
                said.map { HTML(sentence: $0.text, bytesMax: 400) } ?? "",
                "\(fault.count.map { Figures.count($0) } ?? "n/a")",
                "\(said?.expected.map { Figures.count($0) } ?? "–")",
                "\(times?.first.map { Figures.clock($0.nanoseconds) } ?? "–")",
                "\(times?.last.map { Figures.clock($0.nanoseconds) } ?? "–")",
                fault.count != 0 ? "" : self.isLive ? "not yet" : "\(HTML.sign(.warn)) never fired",
            ]
        }
        let silent = faults.filter { $0.count == 0 }.count
        let unfired =
            !self.isLive ? "never fired" : silent == 1 ? "has not fired yet" : "have not fired yet"
        let expected: HTML =
            !self.report.conditions.faults.contains { $0.expected != nil }
            ? ""
            : """
            <p>Expected: what the plan counts for first attempts. Retries can raise the number; requests that end before \
            the fault acts lower it.</p>

            """
        return Section(
            id: "faults", title: "Faults fired",
            lead: silent == 0
                ? "Every fault of the scenario fired."
                : "\(Figures.count(silent, "fault", "faults")) of the scenario \(unfired).",
            body: HTML.table(
                ["fault", "what it does", "fired", "expected", "first", "last"] + (silent > 0 ? [""] : []),
                silent > 0 ? rows : rows.map { Array($0.dropLast()) },
                numbers: [2, 3, 4, 5], id: "fault-table")
                + expected)
    }

    // MARK: Errors and findings

    private static let errorsMax = 60

    package var errors: Section {
        let table = self.report.errorTable(rowsMax: Self.errorsMax)
        guard !table.isEmpty else {
            return Section(id: "errors", title: "Errors", lead: "No errors.", body: " ")
        }
        return Section(
            id: "errors", title: "Errors",
            lead: "Errors seen by the phones: \(self.timeline.errors.causes.countedWords).",
            body: """
                <p class="find" hidden><input type="search" data-find="#error-table tbody tr, article.phone" \
                placeholder="Find an error or a phone" aria-label="Find an error or a phone"> \
                <span class="found" role="status"></span></p>
                \(table.htmlBody(prefix: ""))
                """)
    }

    /// The deviations of answers, events and requests from the contract.
    package var findings: Section { self.result.findingTable.section(prefix: "") }

    // MARK: Groups

    /// The figures of a fleet of several groups, next to each other.
    var byGroup: Section {
        let tables: [HTML] = self.result.groupTables.map { table in
            "<h3>\(table.title)</h3>\(table.htmlBody(prefix: ""))"
        }
        return Section(id: "by-group", title: "By group", body: tables.joined())
    }

    // MARK: Generator

    package var generator: Section {
        let result = self.result
        var stats: [(String, String)] = []
        if let lateness = self.report.latenessMost {
            stats.append(("timer lag, max", Figures.time(lateness.nanoseconds)))
        } else if let lateness = result.latency(.generatorLateness) {
            stats.append(("timer lag, p50", Figures.time(lateness.p50)))
            stats.append(("timer lag, p99", Figures.time(lateness.p99)))
            stats.append(("timer lag, max", Figures.time(lateness.maximum)))
        }
        func count(_ metric: CountMetric) -> String {
            result.metrics.count(metric, of: .fleet).known.map { Figures.count($0) } ?? "n/a"
        }
        stats.append(("arrivals planned", count(.arrivalsPlanned)))
        stats.append(("arrivals achieved", count(.arrivalsAchieved)))
        stats.append(("more than 1 s late", count(.arrivalsLate)))
        for (name, usage) in [("phones", result.resources.client), ("backend", result.resources.backend)] {
            let processor = usage.map {
                DecimalText.text($0.processor.nanoseconds, decimals: 9, shown: 1...1)
            }
            stats.append(("CPU, \(name)", processor.map { "\($0) s" } ?? "n/a"))
            stats.append(("memory, \(name)", usage.map { Figures.memory($0.residentBytes) } ?? "n/a"))
        }
        if let streams = result.streamsOpen, let peak = streams.peak {
            let least = streams.isSum ? "at least " : ""
            stats.append(("peak streams at the server", least + Figures.count(peak.count)))
        }
        stats.append(("sockets refused", count(.descriptorsRefused)))
        let complaints: [HTML] = result.complaints.prefix(20).map {
            "<p class=\"callout bad\">✗ \($0, bytesMax: 400)</p>\n"
        }
        return Section(
            id: "generator", title: "Load generator",
            lead: self.isLive
                ? "Its health is judged at the end of the run."
                : result.isTrustworthy
                    ? "The load generator kept up, so the numbers are valid."
                    : result.isPartial
                        ? "Phones of the fleet are missing, so the numbers are those of the others."
                        : result.isHeldBack
                            ? "The load was not the requested load, so the numbers are not those of the scenario."
                            : "The load generator did not keep up, so the latencies are not valid.",
            body: "\(complaints.joined())\(HTML.definitions("stats", stats))\n")
    }

    // MARK: Environment

    var environment: Section {
        let result = self.result
        var rows: [[HTML]] = [
            ["tool", HTML(result.tool)],
            ["scenario", HTML(result.scenario.name)],
            ["scenario SHA-256", HTML.mono(result.scenario.sha256)],
            ["seed", "\(result.seed)"], ["mode", "\(result.world.mode)"],
            ["started", HTML(Figures.date(iso8601: result.startedText))],
            ["lines in events.ndjson", "\(Figures.count(self.report.logLines))"],
        ]
        if let machine = result.machine { rows.append(["machine", HTML(machine)]) }
        if let target = result.labels.target { rows.append(["target", HTML(target)]) }
        if let http = result.labels.http { rows.append(["HTTP", HTML(http.text)]) }
        for tag in result.labels.tags { rows.append(["tag \(tag.key)", HTML(tag.value)]) }
        let notes = HTML.items(result.notes.prefix(40), bytesMax: 400)
        var body = HTML.table(["property", "value"], rows, numbers: [], id: "environment-table")
        if !notes.isEmpty { body += "<h3>Notes</h3><ul>\(notes)</ul>\n" }
        if let step = result.reproduction {
            body += """
                <h3>\(step.label)</h3><pre class="story" tabindex="0">\(step.line, bytesMax: 4_000)</pre>

                """
        }
        if !self.report.scenarioText.isEmpty {
            body += """
                <details class="long"><summary>Resolved scenario with all defaults</summary>\
                <pre tabindex="0">\(HTML.block(self.report.scenarioText, linesMax: 1_000))</pre></details>

                """
        }
        return Section(id: "environment", title: "Environment", body: body)
    }
}
