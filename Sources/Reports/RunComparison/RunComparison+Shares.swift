import Ledger
import Metrics
import Observations
import Reports
import RunJudge
import RunMetrics
import SimBase
import Talaria

// What became of scans, jobs and operations, and what was lost.
extension RunComparison {
    // MARK: Shares

    mutating func compareShares() {
        self.compareRates()
        self.compareScans()
        self.compareBooks()
        self.compareJobsAndRows()
        self.compareLostStreams()
        self.compareRatios()
    }

    private mutating func compareRates() {
        for metric in RateMetric.allCases {
            self.share(metric.rawValue, of: "operations", .share, metric.better) {
                $0.result.metrics.rate(metric, of: .fleet).known.map { Part($0) }
            }
        }
    }

    /// What became of scans and jobs is known of a run that came to its end, and of no other.
    private var areWhole: Bool { self.base.cameToItsEnd && self.new.cameToItsEnd }

    private mutating func compareScans() {
        let areWhole = self.areWhole
        let scans: [(CountMetric, ScanEnd?, @Sendable (ScanTotals) -> Int)] = [
            (.scansCompleted, .completed, { $0.completed }), (.scansRefused, .refused, { $0.refused }),
            (.scansCanceled, nil, { $0.canceled }), (.scansWaiting, .unfinished, { $0.waiting }),
            (.scansDiscarded, nil, { $0.discarded }),
        ]
        let cancels = [self.base, self.new].contains { $0.result.totals.scans.canceled > 0 }
        for (metric, end, count) in scans where metric != .scansCanceled || cancels {
            let isThere = self.share(
                metric.rawValue, of: self.noun.many, .share, areWhole ? metric.better : .neither
            ) { run in
                let scans = run.result.totals.scans
                return Part(clamping: count(scans), of: scans.captured + scans.restored)
            }
            if let end, areWhole, isThere {
                self.judgeByScans(self.pairs?.outcomes(end), .share, metric.better)
            }
        }
    }

    private mutating func compareBooks() {
        let areBooks = self.share(
            CountMetric.booksReceived.rawValue, of: "completed \(self.noun.many)", .ratio, .neither
        ) { run in
            Part(clamping: run.result.totals.books.received, of: run.result.totals.scans.completed)
        }
        if areBooks { self.judgeByScans(self.pairs?.books, .mean, .higher) }
    }

    private mutating func compareJobsAndRows() {
        let areWhole = self.areWhole
        let parts: [(CountMetric, of: String, @Sendable (LedgerTotals) -> (part: Int, whole: Int))] = [
            (.jobsCleaned, "jobs", { ($0.jobs.cleaned, $0.jobs.accepted) }),
            (.jobsAbandoned, "jobs", { ($0.jobs.abandoned, $0.jobs.accepted) }),
            (.jobsOrphaned, "jobs", { ($0.jobs.orphaned, $0.jobs.accepted) }),
            (.rowsCreated, "rows", { ($0.rows.counts.created, $0.rows.sent) }),
            (.rowsUpdated, "rows", { ($0.rows.counts.updated, $0.rows.sent) }),
            (.rowsSkipped, "rows", { ($0.rows.counts.skipped, $0.rows.sent) }),
            (.rowsFailed, "rows", { ($0.rows.counts.failed, $0.rows.sent) }),
        ]
        for (metric, of, count) in parts {
            self.share(metric.rawValue, of: of, .share, areWhole ? metric.better : .neither) { run in
                guard !metric.needsBackend || run.result.hasBackendView else { return nil }
                let (part, whole) = count(run.result.totals)
                return Part(clamping: part, of: whole)
            }
        }
    }

    private mutating func compareLostStreams() {
        let ends: [(String, Better, @Sendable (Disconnection) -> Int64)] = [
            ("streams.resumed", .higher, { $0.resumed }), ("streams.gave-up", .lower, { $0.gaveUp }),
        ]
        for (name, better, count) in ends {
            self.share(name, of: "lost streams", .share, better) { run in
                let rows = run.result.disconnections.rows
                return Part(clamping: rows.reduce(0) { $0 + count($1) }, of: rows.reduce(0) { $0 + $1.count })
            }
        }
    }

    private mutating func compareRatios() {
        let attempts: [CountMetric] = [
            .uploadAttempts, .sseReconnectAttempts, .resultsAttempts, .cleanupAttempts, .sseResumes,
            .sseRestarts,
        ]
        let events: [CountMetric] = [.sseUnknown, .sseUndecodable]
        let ratios =
            attempts.map { ($0, CountMetric.scansCaptured, self.noun.many) }
            + events.map { ($0, CountMetric.sseEvents, "events") }
        for (metric, whole, of) in ratios {
            self.share(metric.rawValue, of: of, .ratio, .lower) { run in
                guard let count = run.result.metrics.count(metric, of: .fleet).known,
                    let all = run.result.metrics.count(whole, of: .fleet).known
                else { return nil }
                return Part(clamping: count, of: all)
            }
        }
    }

    /// Judges the last share by the scans of both runs, one by one.
    private mutating func judgeByScans(
        _ parts: BlockedParts?, _ measure: ShareJudge.Measure, _ better: Better
    ) {
        guard let parts, let last = self.shares.indices.last else { return }
        self.shares[last].change = ShareJudge(hasChance: self.hasChance).change(
            parts, measure, better: better)
        self.shares[last].mustBeProven = true
    }

    /// Errors that no fault has injected, by who is to blame.
    mutating func compareErrors() {
        for cause in [Cause.target, .path, .phone, .harness] {
            self.share("errors by \(cause.by)", of: self.noun.many, .ratio, .lower) { run in
                let count = run.result.errors.reduce(0) { $0.addingSaturating($1.causes[cause]) }
                return Part(clamping: count, of: run.result.totals.scans.captured)
            }
        }
    }

    /// Adds a share. Returns whether the runs have it.
    @discardableResult private mutating func share(
        _ name: String, of: String, _ kind: PartJudge.Kind, _ better: Better, _ part: (ComparedRun) -> Part?
    ) -> Bool {
        let (base, new) = (part(self.base), part(self.new))
        var change = Change.shown
        // A job may be cleaned up twice: then it is no share.
        let isShare = [base, new].compactMap { $0 }.allSatisfy { $0.count <= $0.whole }
        let kind = isShare ? kind : .ratio
        if let base, let new {
            guard base.whole > 0 || new.whole > 0 else { return false }
            change = PartJudge(tolerance: self.tolerance, hasChance: self.hasChance)
                .change(from: base, to: new, better: better, kind)
        } else if base == nil, new == nil {
            return false
        }
        self.shares.append(
            Share(name: name, of: of, kind: kind, better: better, base: base, new: new, change: change))
        return true
    }

    // MARK: Losses

    /// Compares losses: every additional loss is worse, however many scans there were.
    mutating func compareLosses() {
        let losses: [(String, @Sendable (RunResult) -> Int?)] = [
            (CountMetric.scansLost.rawValue, { $0.totals.scans.lost }),
            ("scans.unaccounted", { $0.totals.scans.unaccounted }),
            (CountMetric.booksMissing.rawValue, { $0.hasBackendView ? $0.totals.books.missing : nil }),
            (CountMetric.booksDuplicated.rawValue, { $0.totals.books.duplicated }),
            (CountMetric.rowsMissing.rawValue, { $0.totals.rows.missing }),
        ]
        let haveRows = [self.base, self.new].contains { $0.result.totals.rows.sent > 0 }
        for (name, count) in haveRows ? losses : losses.dropLast() {
            let (base, new) = (count(self.base.result), count(self.new.result))
            var change = Change.shown
            if let base, let new { change = new == base ? .same : new > base ? .worse : .better }
            self.losses.append(
                Count(name: name, base: base.map { Int64($0) }, new: new.map { Int64($0) }, change: change))
        }
    }

    /// Findings by kind: one that BASE did not have is worse, but for those that a fault has injected.
    mutating func compareFindings() {
        func kinds(_ run: ComparedRun) -> [String: Int64] {
            run.result.findings.rows.reduce(into: [:]) { kinds, row in
                let finding = row.finding
                let kind = Printable.line(
                    "finding: \(finding.operation.name) \(finding.part) \(finding.path), \(finding.seen)",
                    bytesMax: 200)
                let count = Int64(finding.count - min(finding.count, row.causes.injected))
                kinds[kind, default: 0] = kinds[kind, default: 0].addingSaturating(count)
            }
        }
        let (base, new) = (kinds(self.base), kinds(self.new))
        for kind in Set(base.keys).union(new.keys).sorted() {
            let (before, after) = (base[kind] ?? 0, new[kind] ?? 0)
            guard before > 0 || after > 0 else { continue }
            let change: Change = before == 0 ? .worse : after == 0 ? .better : .same
            self.losses.append(Count(name: kind, base: before, new: after, change: change))
        }
    }
}

extension Part {
    /// The part of a whole, for counts from files that may have been edited.
    fileprivate init(clamping count: some BinaryInteger, of whole: some BinaryInteger) {
        self.init(max(0, Int64(clamping: count)), of: max(0, Int64(clamping: whole)))
    }
}

extension ScanTotals {
    /// Scans that are in no class, or in several.
    fileprivate var unaccounted: Int {
        let classes =
            self.completed + self.refused + self.canceled + self.waiting + self.discarded + self.lost
            + self.open
        return abs(self.captured + self.restored - classes)
    }
}
