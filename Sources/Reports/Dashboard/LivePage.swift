import Ledger
package import Metrics
package import Reports
import RunArchive
import RunControl
package import RunJudge
package import RunMetrics
import SimBase
import Talaria

/// The page of a run in progress. It shows what is known of `report.html`, with the same renderer.
package struct LivePage {
    /// Observations reach the judge at most this much later.
    private static let observationLag = Interval.seconds(2)

    private var series: LiveSeries
    private let conditions: RunConditions
    private var processorBefore: (at: Instant, used: Interval)?
    private var processorShare: Double?

    /// `folders`: of the run, or of its shards, with their heads; at least one. `objectives`: of a run that has not begun.
    package init(folders: [(path: String, head: RunHead)], objectives: SLOParts) {
        self.conditions = folders[0].head.conditions
        self.series = LiveSeries(folders: folders, objectives: objectives)
    }

    /// Reads new measurements. Called for every moment, also while no browser follows, so that each call
    /// reads little.
    package mutating func read(_ moment: LiveMoment) {
        self.series.read(before: moment.measured)
        guard let used = moment.result.resources.client?.processor else { return }
        if let before = self.processorBefore, moment.at > before.at {
            self.processorShare =
                Double((used - before.used).nanoseconds) / Double((moment.at - before.at).nanoseconds)
        }
        self.processorBefore = (moment.at, used)
    }

    /// The result of a moment, with what was read from the files.
    private func result(_ moment: LiveMoment) -> RunResult {
        var result = moment.result
        result.metrics.add(self.series.table)
        result.slos = self.series.results(result.metrics).map(\.soFar)
        return result
    }

    /// The end of what the timeline of a moment tells.
    private static func told(_ moment: LiveMoment) -> Instant {
        max(moment.timeline.until, moment.at - Self.observationLag)
    }

    /// The numbers of a moment for a scraper.
    package func metrics(_ moment: LiveMoment, as format: MetricsText.Format) -> String {
        let timeline = moment.timeline.shown(at: Self.told(moment), windowsMax: LiveSeries.windowsMax)
        let last = timeline.windows.last
        var result = self.result(moment)
        result.take(moment.timeline.errors)
        return OpenMetrics.text(
            result,
            .init(
                scansPlanned: moment.scansPlanned, phonesConnected: last?.connectedMost,
                phonesReconnecting: last?.reconnectingMost, phonesOffline: moment.phonesOffline,
                latenessMost: moment.latenessMost), as: format)
    }

    package mutating func frame(_ moment: LiveMoment) -> LiveFrame {
        let result = self.result(moment)
        let told = Self.told(moment)
        var report = RunReport(
            live: result, moment.timeline.shown(at: told, windowsMax: LiveSeries.windowsMax),
            tracks: self.series.tracks(until: min(told, moment.measured)), width: self.series.width,
            conditions: self.conditions)
        report.latenessMost = moment.latenessMost
        let page = HTMLPage(live: report)
        let name = Printable.line(result.scenario.name, bytesMax: 80)
        return LiveFrame(
            title: "▶ \(Figures.clock(moment.at.nanoseconds)) \(name)",
            parts: [.init(id: Self.head, html: page.liveHead(moment, processor: self.processorShare))]
                + page.liveParts
                + [.init(id: ControlBar.id, html: moment.control.map { ControlBar.html($0) } ?? "")])
    }

    /// The whole run after its verdict.
    package mutating func lastFrame(_ result: RunResult, _ timeline: RunTimeline) -> LiveFrame {
        self.series.read(before: .distantFuture)
        let page = HTMLPage(
            RunReport(
                live: result, timeline.shown(windowsMax: LiveSeries.windowsMax),
                tracks: self.series.tracks(until: .distantFuture), width: self.series.width,
                conditions: self.conditions))
        let head = Self.lastHead(result)
        return LiveFrame(title: head.title, parts: head.parts + page.liveParts)
    }

    /// The head of the page after the end of the run, which may depend on whether its reports could be written.
    /// `stays`: whether the page can be closed by its viewer.
    package static func lastHead(_ result: RunResult, stays: Bool = false) -> LiveFrame {
        let report = RunReport(
            live: result, RunTimeline(faults: 0), tracks: [], width: RunTimeline.widthFirst)
        let page = HTMLPage(report)
        let name = Printable.line(result.scenario.name, bytesMax: 80)
        return LiveFrame(
            title: "\(page.tone.sign) \(page.headline): \(name)",
            parts: [
                .init(id: Self.head, html: page.header + page.whereItLies),
                .init(id: ControlBar.id, html: stays ? ControlBar.close : ""),
            ])
    }

    /// The page of a run without a verdict.
    package static func frame(failure: String) -> LiveFrame {
        LiveFrame(
            title: "✗ The run did not complete",
            parts: [
                .init(
                    id: Self.head,
                    html: """
                        <div class="verdict bad"><span class="word">No verdict</span></div>\
                        <p>\(failure, bytesMax: 600)</p>
                        """),
                .init(id: ControlBar.id, html: ""),
            ])
    }

    /// The end of the run in one line.
    package static func lastLine(_ result: RunResult) -> String {
        Printable.line(
            "\(result.headline), exit code \(result.exit.rawValue)"
                + (result.directory.map { "; report in \($0)" } ?? ""), bytesMax: 1_200)
    }

    // MARK: The document

    /// The element with the verdict.
    static let head = "head"

    /// The header of HTTP that lets the page load nothing but its own events.
    package static var policy: String {
        "default-src 'none'; style-src 'sha256-\(HTMLDocument.hash(Self.style))'; "
            + "script-src 'sha256-\(HTMLDocument.hash(Self.script))'; connect-src 'self'; img-src data:; "
            + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    }

    private static let style = HTMLStyle.text + LiveStyle.text
    private static let script = LiveScript.text + "\n" + ControlScript.text

    /// The page before its first event.
    package static func document(scenario: String, description: String) -> HTML {
        let name = HTML(scenario, bytesMax: 80)
        let nav: [HTML] = HTMLPage.liveSections.map { "<a href=\"#\($0.id)\">\($0.title)</a>" }
        let sections: [HTML] = HTMLPage.liveSections.map {
            "<section id=\"\($0.id)\" aria-labelledby=\"\($0.id)-title\"></section>"
        }
        return HTMLDocument.page(
            title: "▶ \(name)", policy: nil, style: Self.style,
            body: """
                <p id="link" role="status">connecting</p>
                <main>
                <div id="\(ControlBar.id)" class="control" role="group" aria-label="control of the run"></div>
                <p id="control-state" role="status"></p>
                <div id="\(Self.head)"><header>
                <h1>\(name)</h1>
                <div class="verdict going"><span class="word">Starting</span></div>
                <p>\(description, bytesMax: 600)</p>
                </header></div>
                <noscript><p class="callout">This page needs JavaScript to follow the run. \
                The final report does not.</p></noscript>
                <nav aria-label="sections">
                \(nav.joined(separator: "\n"))
                </nav>
                \(sections.joined(separator: "\n"))
                </main>
                """, script: Self.script)
    }
}

extension HTMLPage {
    /// The sections in the order of the page.
    static let liveSections = [
        (id: "time", title: "Over time"), (id: "latencies", title: "Latencies"),
        (id: "objectives", title: "Objectives"), (id: "conservation", title: "Scans and books"),
        (id: "invariants", title: "Invariants"), (id: "latency", title: "Latency charts"),
        (id: "disconnections", title: "Disconnections"), (id: "findings", title: "Findings"),
        (id: "faults", title: "Faults"),
        (id: "errors", title: "Errors"), (id: "generator", title: "Load generator"),
    ]

    /// The parts of the page. A part without data is empty.
    var liveParts: [LiveFrame.Part] {
        [
            self.overTime, self.latencyTable, self.objectives, self.conservation, self.invariants,
            self.latencies, self.disconnections, self.findings, self.faults, self.errors, self.generator,
        ].map { .init(id: $0.id, html: $0.body.isEmpty ? "" : $0.inner) }
    }

    // MARK: While it runs

    func liveHead(_ moment: LiveMoment, processor: Double?) -> HTML {
        let result = self.result
        let broken = !result.brokenInvariants.isEmpty
        let missed = !result.breaches.isEmpty
        let tone: Tone = broken || missed ? .bad : .running
        let word = broken ? "Running, invariant broken" : missed ? "Running, SLO missed" : "Running"
        let reasons = HTML.items(
            result.reasons.map { $0.replacing(" failed: ", with: " missed so far: ") }, bytesMax: 600)
        let callouts = HTML.callouts(result.warnings.prefix(20), bytesMax: 600)
        return """
            <header>
            <h1>\(result.scenario.name, bytesMax: 80)</h1>
            <div class="verdict \(tone.rawValue)">\(HTMLDocument.badge(tone))<span class="word">\(word)</span>\
            <span class="clock">\(Figures.clock(moment.at.nanoseconds))</span></div>
            <p>\(self.liveSentence(moment), bytesMax: 400)</p>
            \(self.labels)
            \(reasons.isEmpty ? "" : "<ul class=\"reasons\">\(reasons)</ul>")
            \(callouts)\(self.progress(moment))\(self.tiles(moment, processor: processor))
            </header>
            """
    }

    private func liveSentence(_ moment: LiveMoment) -> String {
        let judged = self.result.slos.filter { $0.passed != nil }
        let held = judged.filter { $0.passed == true }.count
        let invariants = self.result.verdicts.filter { $0.standing != .notAvailable }
        let kept = invariants.filter { $0.standing == .held }.count
        let phase =
            moment.at < moment.lastArrival
            ? "\(self.result.noun.subject) arrive until \(Figures.clock(moment.lastArrival.nanoseconds))."
            : "All \(self.result.noun.many) have arrived; waiting for the phones to finish."
        let paused = moment.control?.isPaused == true ? "Arrivals are paused. " : ""
        return paused + phase + " So far "
            + (judged.isEmpty ? "" : "\(held) of \(Figures.count(judged.count, "SLO", "SLOs")) and ")
            + "\(kept) of \(Figures.count(invariants.count, "invariant", "invariants")) hold."
    }

    /// The progress bar: planned, captured and settled scans.
    private func progress(_ moment: LiveMoment) -> HTML {
        guard let planned = moment.scansPlanned, planned > 0 else { return "" }
        let scans = self.result.totals.scans
        let settled = scans.captured + scans.restored - scans.open
        let told = "\(scans.captured) of \(planned) \(self.result.noun.many) captured, \(settled) settled"
        return """
            <svg class="going-bar" width="100%" height="8" role="img" aria-label="\(told)">
            <rect class="track" width="100%" height="8" rx="4"/>\
            <rect class="captured" width="\(HTML.share(Double(scans.captured), of: Double(planned)))" height="8" rx="4"/>\
            <rect class="settled" width="\(HTML.share(Double(settled), of: Double(planned)))" height="8" rx="4"/>\
            </svg>

            """
    }

    private func tiles(_ moment: LiveMoment, processor: Double?) -> HTML {
        let scans = self.result.totals.scans
        let last = self.timeline.windows.last
        let seconds = Double(self.timeline.width.nanoseconds) / 1_000_000_000
        func rate(_ count: Int?) -> String {
            count.map { TimeChart.plain((Double($0) / seconds * 10).rounded() / 10) } ?? "–"
        }
        func count(_ count: Int?) -> String { count.map { Figures.count($0) } ?? "–" }
        let errors = last.map { $0.errors.reduce(0, +) }
        let of: HTML? = moment.scansPlanned.map { " <small>of \(Figures.count($0))</small>" }
        let waiting = Figures.count(scans.open + scans.waiting)
        var tiles: [(name: String, value: HTML, tone: Tone?)] = [
            ("captured", "\(Figures.count(scans.captured))\(of ?? "")", nil),
            ("completed", "\(Figures.count(scans.completed))", nil),
            ("in progress or waiting", "\(waiting)", nil),
            ("refused", "\(Figures.count(scans.refused))", scans.refused > 0 ? .warn : nil),
            ("lost", "\(Figures.count(scans.lost))", scans.lost > 0 ? .bad : nil),
        ]
        if scans.canceled > 0 { tiles.append(("canceled", "\(Figures.count(scans.canceled))", nil)) }
        if moment.heldBack > 0 { tiles.append(("held back", "\(Figures.count(moment.heldBack))", .warn)) }
        tiles += [
            ("phones connected", "\(count(last?.connectedMost))", nil),
            ("reconnecting", "\(count(last?.reconnectingMost))", nil),
            ("offline", "\(Figures.count(moment.phonesOffline))", nil),
            ("events per second", "\(rate(last?.events))", nil),
            ("errors per second", "\(rate(errors))", (errors ?? 0) > 0 ? .warn : nil),
        ]
        if let processor {
            tiles.append(("CPU, phones", "\(Int(nearest: processor * 100))%", nil))
        }
        let shown: [HTML] = tiles.map {
            "<div class=\"\($0.tone?.rawValue ?? "")\"><dt>\($0.name)</dt><dd>\($0.value)</dd></div>"
        }
        return "<dl class=\"tiles\">\(shown.joined())</dl>"
    }

    // MARK: At the end

    var whereItLies: HTML {
        guard let folder = self.result.directory else { return "" }
        return "<p class=\"lies\">Report: <code>\(folder, bytesMax: 1_000)</code></p>"
    }
}

extension SLOResult {
    /// The result while the run is in progress. An objective without data, or with a count that may still grow, is not judged.
    var soFar: SLOResult {
        guard !self.noData else { return self.recorded(actual: "–", passed: nil) }
        guard self.passed == false, case .number(let value) = self.value,
            case .number(let limit) = self.slo.condition.threshold
        else { return self }
        let mayStillHold =
            switch self.slo.condition.comparison {
            case .less, .lessOrEqual: false
            case .equal: value < limit
            case .greater, .greaterOrEqual, .notEqual: true
            }
        return mayStillHold ? self.recorded(actual: self.actual, passed: nil) : self
    }
}
