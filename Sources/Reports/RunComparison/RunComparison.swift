package import Ledger
package import Metrics
import Observations
import Reports
package import RunArchive
import RunJudge
import RunMetrics
package import SimBase
import Talaria

/// A comparison of two runs: what got worse from BASE to NEW, what got better, and what cannot be judged.
/// When a value is worse: `LatencyJudge`, `PartJudge`, `ShareJudge`.
package struct RunComparison: Sendable {
    package struct Latency: Sendable {
        package var name: LatencyScope
        /// Nil if there is no sample.
        package var base: LatencySummary?
        package var new: LatencySummary?
        package var findings: [LatencyFinding]
        package var change: Change
        /// Whether the exit code depends on it; the others are only shown.
        package var isJudged: Bool
    }

    package struct Share: Sendable {
        package var name: String
        /// The whole that it is a part of: `operations`, `settled scans`.
        package var of: String
        package var kind: PartJudge.Kind
        package var better: Better
        package var base: Part?
        package var new: Part?
        package var change: Change
        /// Whether a change that is not proven keeps the comparison from being a success.
        package var mustBeProven = false
    }

    /// A number that is 0 in a good run, or that is shown and not judged.
    package struct Count: Sendable {
        package var name: String
        /// Nil if it cannot be known, or where there is no such thing.
        package var base: Int64?
        package var new: Int64?
        package var change: Change
    }

    package struct Objective: Sendable {
        package var slo: SLO
        package var base: SLOResult?
        package var new: SLOResult?
        package var change: Change
        /// Whether it is more than a warning.
        package var decides: Bool
    }

    package struct InvariantComparison: Sendable {
        package var invariant: Invariant
        package var base: Verdict?
        package var new: Verdict?
        package var change: Change
        /// Whether it is more than what the profile is known for.
        package var decides: Bool
    }

    package let base: ComparedRun
    package let new: ComparedRun
    /// `--max-regression`, in parts per million.
    package let tolerance: Int64
    /// `--judge`: latencies that are judged in addition to `scan.time` and those with a stated objective.
    package let judged: [LatencyMetric]
    /// The width of a window of the runs' tracks.
    package let width: Interval
    /// The scans of both; nil if one of the runs does not have them.
    let pairs: ScanPairs?
    /// Whether they are identical, bit for bit.
    package let isIdentical: Bool
    /// Whether they are known to differ.
    package let isDifferent: Bool
    package private(set) var latencies: [Latency] = []
    package internal(set) var shares: [Share] = []
    package internal(set) var losses: [Count] = []
    package private(set) var objectives: [Objective] = []
    package private(set) var invariants: [InvariantComparison] = []
    /// Shown and not judged.
    package private(set) var counts: [Count] = []

    /// `sameLog`: whether what both runs observed is the same to the byte; nil where one of them has no log, as a merged run.
    package init(
        base: ComparedRun, new: ComparedRun, tolerance: Int64, judged: [LatencyMetric] = [], width: Interval,
        sameLog: Bool?
    ) {
        self.base = base
        self.new = new
        self.tolerance = tolerance
        self.judged = judged
        self.width = width
        self.pairs = ScanPairs(base, new)
        let isIdentical = sameLog.map { $0 && base.isSame(as: new) }
        self.isIdentical = isIdentical == true
        self.isDifferent = isIdentical == false
        self.compareLatencies()
        self.compareShares()
        self.compareErrors()
        self.compareLosses()
        self.compareFindings()
        self.compareObjectives()
        self.compareInvariants()
        self.compareCounts()
    }

    /// Reads both runs, in windows of one width.
    package init(base: PastRun, new: PastRun, tolerance: Int64, judged: [LatencyMetric] = []) {
        let seconds = max(1, max(base.result.length, new.result.length).nanoseconds / 1_000_000_000)
        let most = Int64(RunReport.trackWindowsMax)
        let width = Interval.seconds((seconds + most - 1) / most)
        self.init(
            base: ComparedRun(base, width: width), new: ComparedRun(new, width: width), tolerance: tolerance,
            judged: judged, width: width,
            sameLog: SameBytes.inFiles(
                RunDirectory.joined(base.folder, RunDirectory.FileName.events),
                RunDirectory.joined(new.folder, RunDirectory.FileName.events)))
    }

    // MARK: The verdict

    /// Everything that got worse and counts, in one sentence each; the exit code hangs on it.
    package var regressions: [String] {
        (self.endedWorse ? [self.endSentence] : [])
            + self.invariants.filter { $0.change == .worse && $0.decides }.map {
                $0.sentence(of: self.new.result)
            }
            + self.losses.filter { $0.change == .worse }.map(\.sentence)
            + self.objectives.filter { $0.change == .worse && $0.decides }.map(\.sentence)
            + self.latencies(.worse).map(\.sentence)
            + self.shares.filter { $0.change == .worse }.map(\.sentence)
    }

    /// NEW broke off, so that what it would have come to is not known. Whoever interrupts a run knows.
    var endedWorse: Bool {
        self.new.brokeOff && !self.base.brokeOff
    }

    /// Returns the number of invariants, objectives and metrics with this change as a phrase; nil if there
    /// are none.
    func count(of change: Change) -> String? {
        let invariants = self.invariants.count { $0.change == change && $0.decides }
        let objectives = self.objectives.count { $0.change == change && $0.decides }
        let metrics =
            self.losses.count { $0.change == change }
            + Set(self.latenciesShown.filter { $0.change == change }.map(\.name.metric)).count
            + self.shares.count { $0.change == change }
        return Figures.listed(
            Figures.counts([
                (invariants, "invariant", "invariants"), (objectives, "SLO", "SLOs"),
                (metrics, "metric", "metrics"),
            ]) + (change == .worse && self.endedWorse ? ["the run itself"] : []))
    }

    /// The judged latencies with this change, the time of a scan first, then what grew most.
    func latencies(_ change: Change) -> [Latency] {
        func growth(_ row: Latency) -> Double {
            row.name == LatencyScope(.scanTime, .fleet)
                ? .infinity : row.findings.filter { $0.change == change }.map(\.ratio).max() ?? 0
        }
        return self.latencies.filter { $0.isJudged && $0.change == change }.sorted { growth($0) > growth($1) }
    }

    /// Latencies as tables show them: of a group only what is judged by itself.
    var latenciesShown: [Latency] {
        self.latencies.filter { $0.name.scope == .fleet || $0.isJudged }
    }

    /// Rows that are not shown.
    var latenciesLeftOut: Int { self.latencies.count - self.latenciesShown.count }

    // MARK: Latencies

    /// Whether the two differ in nothing but what is compared: then there is no chance in them.
    var hasChance: Bool {
        !(self.base.head.world == .virtual && self.new.head.world == .virtual && self.pairs?.isPaired == true)
    }

    private var latencyJudge: LatencyJudge {
        LatencyJudge(
            tolerance: self.tolerance, hasChance: self.hasChance,
            lateness: max(self.base.lateness, self.new.lateness), blocks: self.pairs?.blocks ?? 1)
    }

    /// Whether the exit code depends on a latency.
    private func isJudged(_ name: LatencyScope) -> Bool {
        guard name.metric.isJudged else { return false }
        if name.scope == .fleet, name.metric == .scanTime || self.judged.contains(name.metric) { return true }
        return [self.base, self.new].contains { run in
            run.result.slos.contains {
                $0.slo.origin == .stated && $0.slo.selector.metric == .latency(name.metric)
                    && $0.slo.selector.scope == name.scope
            }
        }
    }

    private mutating func compareLatencies() {
        let groups = self.base.head.groups.map(\.name)
        let isOneFleet = groups == self.new.head.groups.map(\.name)
        let scopes: [MetricScope] =
            [.fleet] + (isOneFleet && groups.count > 1 ? groups.map { .group($0) } : [])
        let names = LatencyMetric.allCases.flatMap { metric in scopes.map { LatencyScope(metric, $0) } }
        self.latencies = names.compactMap { self.latency($0) }
        let open = self.latencies.indices.filter { self.latencies[$0].change == .notProven }
        guard let pairs = self.pairs else { return }
        let findings = self.latencyJudge.findings(open.map { self.sides(self.latencies[$0].name, pairs) })
        for (index, findings) in zip(open, findings) {
            self.latencies[index].findings = findings
            self.latencies[index].change = LatencyJudge.change(findings)
        }
    }

    /// One row, not proven if it is still to be judged; nil if neither run has values.
    private func latency(_ name: LatencyScope) -> Latency? {
        let (base, new) = (self.base.histogram(name), self.new.histogram(name))
        let (before, after) = (base.flatMap { LatencySummary($0) }, new.flatMap { LatencySummary($0) })
        guard before != nil || after != nil else { return nil }
        let isJudged = self.isJudged(name)
        var row = Latency(
            name: name, base: before, new: after, findings: [], change: isJudged ? .notProven : .shown,
            isJudged: isJudged)
        if base == nil || new == nil || !name.metric.isJudged {
            row.change = .shown
        } else if before == nil {
            row.change = .onlyNew
        } else if after == nil, !isJudged {
            row.change = .onlyBase
        }
        return row
    }

    /// The values of both runs: of their scans, else of the windows of their time.
    private func sides(_ name: LatencyScope, _ pairs: ScanPairs) -> LatencyJudge.Sides {
        guard !ScanTable.isOfScans(name.metric) else { return pairs.sides(name) }
        func values(_ run: ComparedRun) -> BlockedValues {
            var values = BlockedValues()
            for (from, histogram) in run.series[name] ?? [] {
                histogram.eachValue {
                    values.add(Double($0), block: pairs.block(of: from), count: Int($1))
                }
            }
            return values
        }
        return LatencyJudge.Sides(base: values(self.base), new: values(self.new))
    }

    // MARK: Objectives and invariants

    private mutating func compareObjectives() {
        var rest = self.new.result.slos
        for before in self.base.result.slos {
            // With its limit: the same metric with another limit is another objective.
            let index = rest.firstIndex {
                $0.slo.selector == before.slo.selector && $0.slo.condition == before.slo.condition
            }
            let after = index.map { rest.remove(at: $0) }
            var row = Objective(slo: before.slo, base: before, new: after, change: .onlyBase, decides: false)
            if let after {
                row.decides = after.slo.severity == .error
                row.change =
                    switch (before.passed, after.passed) {
                    case (true?, false?): self.isBeyondChance(before, after) ? .worse : .notProven
                    case (false?, true?): self.isBeyondChance(before, after) ? .better : .notProven
                    case (true?, true?), (false?, false?): .same
                    case (nil, _), (_, nil): .shown
                    }
            }
            self.objectives.append(row)
        }
        self.objectives += rest.map {
            Objective(slo: $0.slo, base: nil, new: $0, change: .onlyNew, decides: false)
        }
    }

    /// Whether the value behind an objective changed, and not only the side of the limit that chance put it on. Where
    /// the limit is nothing, or a count, one more is one too many.
    private func isBeyondChance(_ base: SLOResult, _ new: SLOResult) -> Bool {
        switch (base.value, new.value) {
        case (.share(let before)?, .share(let after)?):
            guard case .share(let limit) = base.slo.condition.threshold, limit > 0, limit < 1_000_000 else {
                return true
            }
            return PartJudge.isBeyondChance(Part(before), Part(after), .share)
        case (.time(let before)?, .time(let after)?):
            guard case .latency(let metric) = base.slo.selector.metric, self.hasChance else { return true }
            let name = LatencyScope(metric, base.slo.selector.scope)
            let percentile = base.slo.condition.span == .wholeRun ? base.slo.condition.percentile : nil
            let finding = percentile.flatMap { percentile in
                self.latencies.first { $0.name == name }?.findings.first { $0.percentile == percentile }
            }
            if let finding { return finding.change == .worse || finding.change == .better }
            return Double(max(before, after)) / Double(max(1, min(before, after)))
                > self.latencyJudge.limit(from: Double(min(before, after)))
        // With no data on one side, a count, or a cost.
        case (.number?, _), (.money?, _), (.time?, _), (.share?, _), (nil, _): return true
        }
    }

    private mutating func compareInvariants() {
        for invariant in Invariant.allCases {
            let base = self.base.result.verdicts.first { $0.invariant == invariant }
            let new = self.new.result.verdicts.first { $0.invariant == invariant }
            guard base != nil || new != nil else { continue }
            let (before, after) = (base?.standing, new?.standing)
            let change: Change =
                switch (before, after) {
                case (.broken?, .broken?): .same
                case (_, .broken?), (.held?, .brokenAsExpected?): .worse
                case (.broken?, .held?), (.broken?, .brokenAsExpected?), (.brokenAsExpected?, .held?): .better
                case (.held?, .held?), (.brokenAsExpected?, .brokenAsExpected?): .same
                case (.notAvailable?, .notAvailable?): .same
                case (nil, _): .onlyNew
                case (_, nil): .onlyBase
                case (.notAvailable?, _), (_, .notAvailable?): .shown
                }
            self.invariants.append(
                InvariantComparison(
                    invariant: invariant, base: base, new: new, change: change,
                    decides: after != .brokenAsExpected))
        }
    }

    // MARK: Counts

    private static let judgedElsewhere: Set<CountMetric> = [
        .scansCompleted, .scansRefused, .scansCanceled, .scansWaiting, .scansDiscarded, .scansLost,
        .booksMissing, .booksDuplicated, .jobsCleaned, .jobsAbandoned, .jobsOrphaned, .sseResumes,
        .sseRestarts, .sseUnknown, .sseUndecodable, .booksReceived, .uploadAttempts, .sseReconnectAttempts,
        .resultsAttempts, .cleanupAttempts, .rowsCreated, .rowsUpdated, .rowsSkipped, .rowsFailed,
        .rowsMissing,
    ]

    private mutating func compareCounts() {
        func count(_ metric: Metric, _ run: ComparedRun) -> Int64? {
            switch metric {
            case .count(let metric): run.result.metrics.count(metric, of: .fleet).known
            case .http(let metric): run.result.metrics.rate(metric, of: .fleet).known?.failed
            case .fault(let id): run.result.metrics.count(fault: id, of: .fleet).known
            case .latency, .rate, .cost: nil
            }
        }
        let sets = [self.base, self.new].map { $0.result.metrics.everything(of: .fleet) }
        let statuses = Set(sets.flatMap { $0.replies.map(\.status) }).sorted()
        let known = CountMetric.allCases.filter { !Self.judgedElsewhere.contains($0) }
        for metric in known.map({ Metric.count($0) }) + statuses.map({ .http(AnswerMetric(status: $0)) }) {
            let (base, new) = (count(metric, self.base), count(metric, self.new))
            guard (base ?? 0) > 0 || (new ?? 0) > 0 else { continue }
            var change = Change.shown
            if base == 0 { change = .onlyNew }
            if new == 0 { change = .onlyBase }
            self.counts.append(Count(name: metric.name, base: base, new: new, change: change))
        }
        let (before, after) = (self.base.result.faults.map(\.id), self.new.result.faults.map(\.id))
        for id in before + after.filter({ !before.contains($0) }) {
            let metric = Metric.fault(id: id)
            self.counts.append(
                Count(
                    name: metric.name, base: before.contains(id) ? count(metric, self.base) : nil,
                    new: after.contains(id) ? count(metric, self.new) : nil,
                    change: !before.contains(id) ? .onlyNew : !after.contains(id) ? .onlyBase : .shown))
        }
    }
}

extension LatencyMetric {
    /// Whether a change counts. The lateness of the load generator is not a property of the backend.
    var isJudged: Bool { self.better != .neither && !self.isOfDriver }
}

extension SLOCondition {
    /// Nil if it judges no rank of the samples.
    fileprivate var percentile: Percentile? {
        switch self.aggregation {
        case .median: .p50
        case .percentile(let percentile): percentile
        case .average, .minimum, .maximum, .count, .rate, .value: nil
        }
    }
}

extension ComparedRun {
    /// Whether both found the same, but for when and where they ran and what they cost.
    fileprivate func isSame(as other: ComparedRun) -> Bool {
        self.head.scenario == other.head.scenario && self.head.seed == other.head.seed
            && self.head.world == other.head.world && self.scenarioText == other.scenarioText
            && self.wasCutOff == other.wasCutOff && self.result.length == other.result.length
            && self.result.groups == other.result.groups && self.result.totals == other.result.totals
            && self.result.verdicts == other.result.verdicts && self.result.slos == other.result.slos
            && self.result.disconnections.counts == other.result.disconnections.counts
            && self.result.metrics == other.result.metrics && self.scans == other.scans
            && (self.digest == nil || other.digest == nil || self.digest == other.digest)
    }

    /// That of a simulated run; nil for one that was merged from shards.
    private var digest: String? { self.result.notes.first { $0.hasPrefix("digest ") } }
}
