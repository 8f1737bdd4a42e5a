import Ledger
import Metrics
import RunArchive
import SimBase
import Talaria

extension HTMLPage {
    // MARK: Disconnections

    package var disconnections: Section {
        let losses = self.result.losses
        guard !losses.isEmpty else {
            return Section(
                id: "disconnections", title: "Disconnections", lead: "No stream was lost.", body: " ")
        }
        let count = losses.reduce(0) { $0 + $1.count }
        let back = losses.reduce(0) { $0 + $1.resumed + $1.restarted }
        let rows = losses.map { loss in
            [loss.cause.rawValue]
                + [loss.count, loss.resumed, loss.restarted, loss.gaveUp, loss.unresolved].map {
                    Figures.count($0)
                }
                + [Percentile.p50, .p95, .p99].map { percentile in
                    loss.reconnectTime.value(at: percentile).map { HTMLText.time($0) } ?? "–"
                }
        }
        return Section(
            id: "disconnections", title: "Disconnections",
            lead: "\(Figures.count(back)) of \(Figures.count(count)) lost streams came back, "
                + "by going on where they were or from the start.",
            body: HTMLText.table(
                [
                    "cause", "count", "resumed", "restarted", "gave up",
                    self.isLive ? "open now" : "open at the end", "p50", "p95", "p99",
                ],
                rows, numbers: [1, 2, 3, 4, 5, 6, 7, 8], id: "losses") + self.herd)
    }

    /// Whether they came back all at once.
    private var herd: String {
        let windows = self.chronicle.windows
        let seconds = Double(self.chronicle.width.nanoseconds) / 1_000_000_000
        guard
            let most = windows.enumerated().max(by: {
                $0.element.reconnectAttempts < $1.element.reconnectAttempts
            }),
            most.element.reconnectAttempts > 0
        else { return "" }
        let moment = Int64(most.offset) * self.chronicle.width.nanoseconds
        func series(_ name: String, _ ink: Int, _ shape: TimeChart.Shape, _ value: (ChronicleWindow) -> Int)
            -> TimeChart.Series
        {
            TimeChart.Series(
                name: name, ink: ink, shape: shape, values: windows.map { Double(value($0)) / seconds },
                note: "")
        }
        return TimeChart(
            id: "herd", title: "The herd", unit: "per second; at its thickest at \(HTMLText.clock(moment))",
            description: "attempts to reconnect per second, and streams that came back",
            series: [
                series("lost", 7, .line(dashed: true)) { $0.losses },
                series("attempts", 2, .area) { $0.reconnectAttempts },
                series("back", 3, .line(dashed: false)) { $0.reconnected },
            ], width: self.chronicle.width.nanoseconds, axis: self.axis, bands: ""
        ).html
    }

    // MARK: Faults

    package var faults: Section {
        let faults = self.result.faults
        guard !faults.isEmpty else { return Section(id: "faults", title: "Faults", body: "") }
        let rows = faults.enumerated().map { place, fault -> [String] in
            let story =
                self.chronicle.faults.indices.contains(place) ? self.chronicle.faults[place] : nil
            return [
                "<span class=\"mono\">\(HTMLText.escaped(fault.id, bytesMax: 80))</span>",
                fault.count.map { Figures.count($0) } ?? "n/a",
                story?.first.map { HTMLText.clock($0.nanoseconds) } ?? "–",
                story?.last.map { HTMLText.clock($0.nanoseconds) } ?? "–",
                fault.count != 0
                    ? "" : self.isLive ? "not yet" : HTMLText.sign(.warn) + " never fired",
            ]
        }
        let silent = faults.filter { $0.count == 0 }.count
        return Section(
            id: "faults", title: "Faults fired",
            lead: silent == 0
                ? "Every fault of the scenario fired."
                : "\(Figures.count(silent, "fault", "faults")) of the scenario "
                    + (self.isLive
                        ? (silent == 1 ? "has not fired yet." : "have not fired yet.") : "never fired."),
            body: HTMLText.table(
                ["fault", "fired", "first", "last", ""], rows, numbers: [1, 2, 3], id: "fault-table"))
    }

    // MARK: Errors

    private static let errorsMax = 60

    package var errors: Section {
        let rows = self.chronicle.troubles.byCount.prefix(Self.errorsMax).map { row -> [String] in
            let scan = row.scan == .none ? "" : ", scan \(row.scan.raw)"
            return [
                "<span class=\"mono\">\(HTMLText.escaped(row.trouble.name, bytesMax: 120))</span>",
                row.trouble.family.rawValue, Figures.count(row.count),
                HTMLText.clock(row.first.nanoseconds), HTMLText.clock(row.last.nanoseconds),
                "phone \(row.device.raw)\(scan)",
            ]
        }
        guard !rows.isEmpty else {
            return Section(id: "errors", title: "Errors", lead: "No phone saw an error.", body: " ")
        }
        return Section(
            id: "errors", title: "Errors",
            lead: "As the phones saw them, faults that were meant to happen included.",
            body: "<p class=\"find\" hidden><input type=\"search\" data-find=\"error-table\" "
                + "placeholder=\"Find an error or a phone\" aria-label=\"Find an error or a phone\"></p>\n"
                + HTMLText.table(
                    ["error", "kind", "count", "first", "last", "first seen by"], rows, numbers: [2, 3, 4],
                    id: "error-table"))
    }

    // MARK: Phones

    var phones: Section {
        let stories = self.report.stories.filter { !$0.moments.isEmpty }
        guard !stories.isEmpty else { return Section(id: "worst", title: "Phones", body: "") }
        let body = stories.map { story -> String in
            let mark = story.mark
            var facts = [
                Figures.count(mark.captured, "scan", "scans"), "\(Figures.count(mark.completed)) completed",
            ]
            if mark.refused > 0 { facts.append("\(Figures.count(mark.refused)) refused") }
            if mark.unsettled > 0 { facts.append("\(Figures.count(mark.unsettled)) not settled") }
            facts.append(Figures.count(mark.losses, "stream lost", "streams lost"))
            if mark.kills > 0 { facts.append("killed \(Figures.count(mark.kills, "time", "times"))") }
            if mark.longestReconnect > .zero {
                facts.append("longest way back \(HTMLText.time(mark.longestReconnect.nanoseconds))")
            }
            if mark.longestScan > .zero {
                facts.append("longest scan \(HTMLText.time(mark.longestScan.nanoseconds))")
            }
            if story.leftOut > 0 {
                facts.append("\(Figures.count(story.leftOut)) later observations left out")
            }
            return
                "<article class=\"phone\"><h3>Phone \(mark.device.raw)</h3><p>\(facts.joined(separator: " · "))</p>"
                + PhoneLanes(story, axis: self.axis, faults: self.faultIDs).html + "</article>\n"
        }.joined()
        let key =
            "<p class=\"lead\">\(HTMLText.sign(.bad, "×")) lost, refused or a fault; "
            + "\(HTMLText.sign(.good, "◆")) event applied; "
            + "| asked with a Last-Event-ID. Point at a shape to read what it was.</p>\n"
        return Section(
            id: "worst", title: "Phones that had the hardest time",
            lead: "What the app, the link and the streams of each did, on one clock.", body: key + body)
    }

    // MARK: Generator

    package var generator: Section {
        let result = self.result
        var stats: [(String, String)] = []
        if let lateness = self.report.latenessMost {
            stats.append(("timers late, at most", HTMLText.time(lateness.nanoseconds)))
        } else if let lateness = result.latency(.generatorLateness) {
            stats.append(("timers late, p50", HTMLText.time(lateness.p50)))
            stats.append(("p99", HTMLText.time(lateness.p99)))
            stats.append(("max", HTMLText.time(lateness.maximum)))
        }
        func count(_ metric: CountMetric) -> String {
            guard case .measured(let count) = result.metrics.count(metric, of: .fleet) else { return "n/a" }
            return Figures.count(count)
        }
        stats.append(("arrivals planned", count(.arrivalsPlanned)))
        stats.append(("achieved", count(.arrivalsAchieved)))
        stats.append(("more than 1 s late", count(.arrivalsLate)))
        for (name, usage) in [("phones", result.resources.client), ("backend", result.resources.backend)] {
            stats.append(
                (
                    "CPU, \(name)",
                    usage.map { "\(DecimalText.text($0.processor.nanoseconds, decimals: 9, shown: 1...1)) s" }
                        ?? "n/a"
                ))
            stats.append(("memory, \(name)", usage.map { Figures.memory($0.residentBytes) } ?? "n/a"))
        }
        if let peak = result.streamsOpen?.peak {
            stats.append(("most streams at the server", Figures.count(peak.count)))
        }
        stats.append(("sockets refused", count(.descriptorsRefused)))
        let list = stats.map { "<div><dt>\($0.0)</dt><dd>\($0.1)</dd></div>" }.joined()
        let complaints = result.generator.complaints.prefix(20).map {
            "<p class=\"callout bad\">✗ \(HTMLText.escaped($0, bytesMax: 400))</p>\n"
        }.joined()
        return Section(
            id: "generator", title: "Generator health",
            lead: self.isLive
                ? "Whether the phones’ side keeps up is judged at the end."
                : result.generator.isTrustworthy
                    ? "The phones’ side kept up: what was measured is the backend and the network."
                    : "The phones’ side did not keep up: do not trust the latencies.",
            body: complaints + "<dl class=\"stats\">\(list)</dl>\n")
    }

    // MARK: Environment

    var environment: Section {
        let result = self.result
        var rows = [
            ["tool", HTMLText.escaped(result.tool)],
            ["scenario", HTMLText.escaped(result.scenario.name)],
            ["scenario SHA-256", "<span class=\"mono\">\(HTMLText.escaped(result.scenario.sha256))</span>"],
            ["seed", String(result.seed)], ["world", result.world.rawValue],
            ["started", HTMLText.escaped(Figures.date(iso8601: result.startedText))],
            ["lines in events.ndjson", Figures.count(self.report.logLines)],
        ]
        if let machine = result.machine { rows.append(["measured on", HTMLText.escaped(machine)]) }
        if let target = result.labels.target { rows.append(["target", HTMLText.escaped(target)]) }
        for tag in result.labels.tags { rows.append(["tag \(tag.key)", HTMLText.escaped(tag.value)]) }
        let notes = result.notes.prefix(40).map { "<li>\(HTMLText.escaped($0, bytesMax: 400))</li>" }.joined()
        var body = HTMLText.table(["what", "value"], rows, numbers: [], id: "environment-table")
        if !notes.isEmpty { body += "<h3>Notes</h3><ul>\(notes)</ul>\n" }
        if !result.command.isEmpty {
            body += "<h3>Run it again</h3><pre tabindex=\"0\">"
            body += "\(HTMLText.escaped(ShellWords.line(result.command), bytesMax: 4_000))</pre>\n"
        }
        if !self.report.scenarioText.isEmpty {
            body += "<details><summary>The scenario as it ran, with every default</summary>"
            body +=
                "<pre tabindex=\"0\">\(HTMLText.block(self.report.scenarioText, linesMax: 1_000))</pre></details>\n"
        }
        return Section(id: "environment", title: "Environment", body: body)
    }
}
