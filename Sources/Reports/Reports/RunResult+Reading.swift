package import Ledger
package import Metrics
import Observations
import RunJudge
package import RunMetrics
import SimBase
import Talaria

// What the formats ask of a result, so that none of them decides for itself.
extension RunResult {
    package var startedText: String { Timestamp.iso8601(unixMilliseconds: self.started) }

    /// The meaning of the exit code: that of the gravest reason.
    var meaning: String {
        guard let gravest = self.exitReasons.all.first else {
            return self.expectations.isEmpty
                ? Obligations(self).sentence : "exactly what `expect-broken` lists failed"
        }
        return gravest == .invariantBroken && self.harmlessViolations != nil
            ? "an invariant is broken, though no data was lost or duplicated" : gravest.meaning
    }

    /// `97: an invariant is broken`; without words for a run that simply passed.
    var exitWords: String {
        let isPlain = self.exitReasons.all.isEmpty && self.expectations.isEmpty
        return "\(self.exit.rawValue)" + (isPlain ? "" : ": \(self.meaning)")
    }

    /// Whether some phones import files.
    var importsRows: Bool { self.groups.contains { $0.journey == .csvImport } }

    /// Whether some phones find books.
    var findsBooks: Bool { self.groups.isEmpty || self.groups.contains { $0.journey.findsBooks } }

    /// Whether some phones look up single books.
    var looksUp: Bool { self.groups.contains { $0.journey == .bookEnrichment } }

    /// Whether some phones read books by themselves.
    var readsTexts: Bool { self.groups.contains { $0.journey == .textEnrichment } }

    /// What became of the books that phones have read, in words.
    var readings: String {
        let texts = self.totals.texts
        let known =
            self.hasBackendView
            ? "\(Figures.count(texts.right)) of \(Figures.count(texts.compared))" : "an unknown number"
        let photos = texts.photos > 0 ? ", \(Figures.count(texts.photos)) uploaded as photos" : ""
        return "\(Figures.count(texts.enriched, "book", "books")) enriched, "
            + "\(Figures.count(texts.kept)) kept as read\(photos); "
            + "\(known) of the final titles and authors are those of the book"
    }

    /// Whether uploads of some phones become jobs.
    var hasJobs: Bool {
        self.groups.isEmpty || self.groups.contains { $0.journey.hasJobs }
            || self.readsTexts && self.totals.jobs.accepted > 0
    }

    /// What the look-ups of single books cost, in words; nil if it is not known.
    var billing: String? {
        guard self.hasBackendView else { return nil }
        let lookups = self.totals.lookups
        return "\(Figures.count(lookups.billed, "look-up", "look-ups")) billed, "
            + "\(Figures.count(lookups.unknown)) of them for books that no provider has; "
            + "\(Figures.count(lookups.repeated, "repeated request", "repeated requests")) answered without a bill"
    }

    /// What the phones send or get: `books`, `rows`, or both.
    var contentNouns: [String] {
        (self.findsBooks ? ["books"] : []) + (self.importsRows ? ["rows"] : [])
    }

    /// Behind the title of what they do: ` and books`, `, books and rows`.
    var contents: String {
        let nouns = self.contentNouns
        return (nouns.count > 1 ? ", " : " and ") + nouns.joined(separator: " and ")
    }

    /// What a reader must know of the latencies; one sentence part for each thing.
    var latencyNotes: [String] {
        var notes: [String] = []
        let attempts: [(RateMetric, String)] = [
            (.uploadAttemptsFailed, "uploads"), (.sseConnectAttemptsFailed, "streams"),
            (.resultsAttemptsFailed, "results"), (.cleanupAttemptsFailed, "DELETEs"),
            (.statusAttemptsFailed, "statuses"), (.refreshAttemptsFailed, "token exchanges"),
        ]
        let failed = attempts.compactMap { metric, name -> String? in
            guard let rate = self.rate(metric), rate.failed > 0 else { return nil }
            return "\(Figures.count(rate.failed)) of \(Figures.count(rate.total)) \(name)"
        }
        if !failed.isEmpty {
            notes.append(
                "failed: operations, each with all its retries; single requests that failed: "
                    + failed.joined(separator: ", "))
        }
        if self.looksUp, self.groups.contains(where: { $0.journey != .bookEnrichment }) {
            notes.append("upload.time includes look-ups; the tables by group show each alone")
        }
        return notes
    }

    /// The names that a note has.
    private static let namesMax = 5

    /// Books that were asked for by name and never came, and why that is not a violation; a sentence part for
    /// each reason.
    static func notes(_ books: BookTotals) -> [String] {
        func absent(_ count: Int, _ why: String) -> [String] {
            count > 0
                ? [
                    "\(Figures.count(count)) of the \(Figures.count(books.asked, "book", "books")) "
                        + "that batches asked for by name never came: \(why)"
                ] : []
        }
        var notes =
            absent(books.unknown, "the backend counts \(books.unknown == 1 ? "it" : "them") as not found")
            + absent(
                books.unjudged,
                "whether the backend counts \(books.unjudged == 1 ? "it" : "them") as not found is not known, "
                    + "because a fault of the run made its last event unreadable")
        if let last = notes.indices.last {
            let named = books.absent.entries.filter { $0.name != BookTotals.others }
                .sorted { ($1.count, $0.name) < ($0.count, $1.name) }
            let shown = named.prefix(Self.namesMax)
            let more = Int64(books.unknown + books.unjudged) - shown.reduce(0) { $0 + $1.count }
            let names = shown.map {
                Printable.line($0.name) + ($0.count > 1 ? "\u{A0}×\(Figures.count($0.count))" : "")
            }
            notes[last] +=
                ". Never came: \(names.joined(separator: ", "))"
                + (more > 0 ? " and \(Figures.count(more)) more" : "")
        }
        return notes
    }

    /// Rows that are in none of the numbers that add up; a sentence part for each kind that counts any.
    static func notes(_ rows: RowTotals) -> [String] {
        let updated =
            rows.counts.updated > 0 ? ["updated: an earlier import of the phone had brought the book"] : []
        func besides(_ count: Int, _ what: String) -> [String] {
            count > 0 ? ["besides, \(Figures.count(count, "row", "rows")) \(what)"] : []
        }
        return updated + besides(rows.withdrawn, "in files of refused or discarded imports")
            + besides(rows.canceled, "in files of canceled imports")
            + besides(rows.unsettled, "in files of imports that had not settled when the run ended")
            + besides(
                rows.unread,
                "were stored by imports whose results no phone has read, because the import failed, was canceled or "
                    + "was not answered to the end; a later import of the same file counts them as updated")
    }

    /// What the words for jobs mean whose DELETE did not come to a good end; one sentence for each that counts any.
    var jobNotes: [String] {
        let jobs = self.totals.jobs
        let causes = Self.abandonedWords(jobs).joined(separator: ", ")
        let notes = [
            (jobs.kept, "Kept: the backend keeps the results until they expire."),
            (
                jobs.abandoned,
                "Abandoned: the phone did not delete the job\(causes.isEmpty ? "" : " (\(causes))")."
            ),
            (
                jobs.orphaned,
                "Orphaned: the backend accepted the upload, and the phone never learned of the job."
            ),
            (jobs.expired, "Expired: the backend removed the job itself, when its time was over."),
        ]
        return notes.filter { $0.0 > 0 }.map(\.1)
    }

    /// Why jobs were not deleted, with the number of each cause.
    static func abandonedWords(_ jobs: JobTotals) -> [String] {
        jobs.abandonedByCause.entries.filter { $0.count > 0 }
            .map { "\(Printable.line($0.name)) \(Figures.count($0.count))" }
    }

    /// What became of the jobs; `n/a` is what only the backend knows.
    var jobFigures: [(name: String, value: String)] {
        let jobs = self.totals.jobs
        func observed(_ count: Int) -> String { self.hasBackendView ? Figures.count(count) : "n/a" }
        return [("accepted", Figures.count(jobs.accepted)), ("cleaned up", Figures.count(jobs.cleaned))]
            + (self.kept(jobs).map { [("kept", Figures.count($0))] } ?? [])
            + [("abandoned", Figures.count(jobs.abandoned))]
            + (self.hasBackendView ? [] : [("not deleted", Figures.count(jobs.undeleted))])
            + [("orphaned", observed(jobs.orphaned)), ("expired", observed(jobs.expired))]
    }

    /// Why uploads of v2 were refused for a while.
    static func circuits(_ jobs: JobTotals) -> String {
        "Circuit opened \(Figures.count(jobs.circuitsOpened, "time", "times")): jobs that a provider had failed; uploads of v2 were refused meanwhile"
    }

    /// The invariants that were not broken, by what became of them. `isOver`: false while they may still have an occasion.
    func unbroken(isOver: Bool = true) -> [(tone: Tone, words: String, verdicts: [Verdict])] {
        let held = self.verdicts.filter { $0.standing == .held }
        let open = self.verdicts.filter { $0.standing == .notAvailable }
        let kinds: [(Tone, String, [Verdict])] =
            [
                (.good, "held", held.filter { $0.hadOccasion || !isOver }),
                (.plain, "had no occasion", held.filter { !$0.hadOccasion && isOver }),
            ]
            + OpenReason.allCases.map { reason in
                (.unknown, reason.remark, open.filter { self.whyOpen($0) == reason })
            }
        return kinds.filter { !$0.2.isEmpty }
    }

    /// The invariants that were broken, also as expected.
    var violated: [Verdict] {
        self.verdicts.filter { $0.standing == .broken || $0.standing == .brokenAsExpected }
    }

    package var brokenInvariants: [Verdict] { self.verdicts.filter { $0.standing == .broken } }

    /// Objectives that failed, and that the scenario does not expect to fail.
    package var breaches: [SLOResult] { self.slos.filter { $0.isBreach && !self.expectations.covers($0) } }

    /// The checks that the scenario expects to break, and whether they broke.
    var expected: [Expectations.Outcome] {
        self.expectations.outcomes(
            verdicts: self.verdicts, groups: self.groupVerdicts, slos: self.slos, totals: self.totals)
    }

    /// All reasons against the run, the worst first. The exit code names only one.
    package var reasons: [String] {
        var reasons: [String] = []
        let broken = self.brokenInvariants
        if !broken.isEmpty {
            reasons.append(
                Figures.count(broken.count, "invariant", "invariants") + " broken: "
                    + broken.map(\.invariant.rawValue).joined(separator: ", "))
        }
        if let failure { reasons.append(failure) }
        // An objective that ended the run is the headline.
        if self.isInterrupted, let endedEarly { reasons.append(endedEarly) }
        let breaches = self.breaches
        if let slo = breaches.first, breaches.count == 1, self.endedEarly == nil {
            reasons.append("SLO failed: " + slo.sentence)
        } else if !breaches.isEmpty, self.endedEarly == nil {
            reasons.append(
                Figures.count(breaches.count, "SLO", "SLOs") + " failed: "
                    + breaches.map(\.slo.selector.description).joined(separator: ", "))
        }
        let held = self.expected.filter { !$0.isBroken }.map(\.expected.name)
        if !held.isEmpty, !self.isInterrupted, !self.isPartial, self.failure == nil {
            reasons.append("expected to break but held: " + held.joined(separator: ", "))
        }
        if self.isPartial {
            reasons.append("phones of the fleet are missing: what they did is not known")
        } else if !self.isTrustworthy {
            reasons.append(
                self.isHeldBack
                    ? HoldReason(self.controls).text + ": the load was not the requested load"
                    : "the load generator did not keep up")
        }
        if self.exitReasons.contains(.objectiveNotJudged) {
            reasons += self.slos.filter { $0.isOwed && !self.expectations.covers($0) }
                .map { "\($0.slo.selector) `\($0.slo.condition)` \(self.whyOpen($0).remark)" }
        }
        if !self.unreached.isEmpty, !self.isInterrupted {
            reasons.append(
                "target situations not reached: " + self.unreached.map(\.rawValue).joined(separator: ", "))
        }
        if self.isInterrupted, self.exit != .interrupted { reasons.append("the run was interrupted") }
        return reasons
    }

    /// The photos of all captured scans; nil where each scan has one. A batch has none.
    var photos: Int64? {
        let photos = self.metrics.everything(of: .fleet).count(.photosTaken)
        return photos > Int64(self.scansWithPhotos) ? photos : nil
    }

    private var scansWithPhotos: Int {
        self.groups.filter { !$0.journey.hasPhotos }.reduce(self.totals.scans.captured) {
            $0 - $1.totals.scans.captured
        }
    }

    /// `272 for 180 scans; the photos of a scan are one upload`.
    func text(photos: Int64) -> String {
        "\(Figures.count(photos)) for \(Figures.count(self.scansWithPhotos, "scan", "scans")); "
            + "the photos of a scan are one upload"
    }

    /// The jobs that are kept until they expire; nil where no phone keeps any.
    func kept(_ jobs: JobTotals) -> Int? {
        jobs.kept > 0 || self.groups.contains { $0.journey.version.isJobKept && $0.journey.hasJobs }
            ? jobs.kept : nil
    }

    /// The waiting scans by cause, in the order of `WaitingCause`, without empty causes.
    package static func waiting(_ scans: ScanTotals) -> [(cause: String, words: String, count: Int)] {
        WaitingCause.allCases.map { (cause: $0.rawValue, words: $0.words, count: scans.waitingByCause[$0]) }
            .filter { $0.count > 0 }
    }

    /// `3 offline`, for each cause.
    static func waitingWords(_ scans: ScanTotals) -> [String] {
        Self.waiting(scans).map { "\(Figures.count($0.count)) \($0.words)" }
    }

    /// `reinstalled 3`, for each cause.
    static func discardedWords(_ scans: ScanTotals) -> [String] {
        Self.discarded(scans).map { "\($0.cause) \(Figures.count($0.count))" }
    }

    /// `timer lag p99 1.2ms, max 8.0ms`; nil where it was not measured.
    var timerLag: String? {
        self.latency(.generatorLateness).map {
            "timer lag p99 \(Figures.time($0.p99)), max \(Figures.time($0.maximum))"
        }
    }

    /// What the processes of this program used: `3.204 s CPU, 48 MiB`.
    var used: [(name: String, figures: String)] {
        [("phones", self.resources.client), ("backend", self.resources.backend)].map { name, usage in
            let figures = usage.map {
                "\(Figures.seconds($0.processor.nanoseconds)) s CPU, \(Figures.memory($0.residentBytes))"
            }
            return (name, figures ?? "n/a")
        }
    }

    /// The discarded scans by cause, without empty causes.
    package static func discarded(_ scans: ScanTotals) -> [(cause: String, count: Int)] {
        let counts = DiscardCause.allCases.map { (cause: $0.rawValue, count: scans.discardedByCause[$0]) }
        return counts.filter { $0.count > 0 }
    }

    /// Causes with losses.
    package var losses: [Disconnection] { self.disconnections.losses }

    /// Faults in the order of the scenario; nil if it was not observed whether they fired.
    package var faults: [(id: String, count: Int64?)] {
        self.metrics.everything(of: .fleet).faults.names.map {
            (id: $0, count: self.metrics.count(fault: $0, of: .fleet).known)
        }
    }

    package func latency(_ metric: LatencyMetric) -> LatencySummary? {
        self.metrics.histogram(metric, of: .fleet).known.flatMap { LatencySummary($0) }
    }

    /// Nil if nothing of the kind was begun.
    package func rate(_ metric: RateMetric) -> FailureRate? {
        self.metrics.rate(metric, of: .fleet).known.flatMap { $0.total > 0 ? $0 : nil }
    }

    /// Latencies that this run cannot know.
    var unknownLatencies: [LatencyMetric] {
        LatencyMetric.allCases.filter { !self.metrics.isAvailable(.latency($0)) }
    }

    /// Returns the failure rate that belongs to an operation's latency.
    static func rate(beside metric: LatencyMetric) -> RateMetric? {
        switch metric {
        case .preprocessTime: .preprocessFailed
        case .uploadTime: .uploadFailed
        case .sseConnectTime: .sseConnectFailed
        case .sseReconnectTime: .sseReconnectFailed
        case .resultsTime: .resultsFailed
        case .cleanupTime: .cleanupFailed
        case .statusTime: .statusFailed
        case .uploadServiceTime, .sseFirstEventTime, .sseEventLatency, .sseEventDelay, .ssePingGap,
            .sseDetectTime, .scanTime, .generatorLateness, .netDNSTime, .netConnectTime, .netTLSTime,
            .netFirstByteTime, .cancelTime, .jobFirstEventTime, .jobTime, .feedbackTime, .enrichTime,
            .enrichedTime, .firstBookTime, .reconcileTime:
            nil
        }
    }

    /// The rows of a table of latencies, in the order of the metrics. The generator's own lateness is shown
    /// elsewhere, and the service time of uploads only if it differs from the response time.
    var latencyRows: [LatencyRow] { self.latencyRows(hasFirstBook: self.judgesFirstBook) }

    func latencyRows(hasFirstBook: Bool) -> [LatencyRow] {
        LatencyMetric.allCases.compactMap { metric in
            let summary = self.latency(metric)
            let failures = Self.rate(beside: metric).flatMap { self.rate($0) }
            let unfinished = self.metrics.unfinished(metric, of: .fleet)
            guard summary != nil || failures != nil || !unfinished.isEmpty, metric != .generatorLateness,
                metric != .uploadServiceTime || self.serviceTimeDiffers,
                metric != .firstBookTime || hasFirstBook
            else { return nil }
            return LatencyRow(
                metric: metric, summary: summary, failures: failures, unfinished: unfinished)
        }
    }

    /// Where no book was shown before the end of its job, the time to the first is hardly less than that of the scan.
    var judgesFirstBook: Bool {
        self.totals.books.shown > 0
            || self.slos.contains { $0.slo.selector.metric == .latency(.firstBookTime) }
    }

    /// Whether p50 or p95 differ by more than a tenth.
    private var serviceTimeDiffers: Bool {
        guard let response = self.latency(.uploadTime), let service = self.latency(.uploadServiceTime)
        else { return false }
        func differ(_ left: Int64, _ right: Int64) -> Bool {
            UInt128((left - right).magnitude) * 10 > UInt128(left.magnitude)
        }
        return differ(response.p50, service.p50) || differ(response.p95, service.p95)
    }
}

extension Reading {
    /// Nil for what the run cannot know.
    package var known: Value? {
        switch self {
        case .measured(let value): value
        case .notAvailable: nil
        }
    }
}
