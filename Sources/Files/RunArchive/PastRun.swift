import Foundation
package import Ledger
package import Metrics
import Observations
package import RunJudge
package import RunMetrics
import SimBase
import Talaria

/// A run as its folder tells it, whether it came to its end or was killed.
package struct PastRun: Sendable {
    package let folder: String
    package let head: RunHead
    package private(set) var result: RunResult
    package private(set) var timeline: RunTimeline
    /// Whether it was killed: nobody judged it.
    package let wasCutOff: Bool

    /// What is not one of our folders.
    package enum Problem: Error, Equatable, CustomStringConvertible {
        case missing(String)
        case notARun(String)
        /// Written by a version of this program whose files are of another kind.
        case otherFormat(String, Int)
        case unreadable(String)
        /// What became of scans and books is in it, and in no other file. It is written whole or not at all.
        case damagedSummary(String)
        case stillRunning(String)
        /// A folder, a device or a pipe, which may have no end.
        case notAFile(String)

        package var description: String {
            switch self {
            case .missing(let folder): "there is no folder \(folder)"
            case .notARun(let folder):
                "\(folder) is not the folder of a run: it has no \(RunDirectory.FileName.head)"
            case .otherFormat(let folder, let schema):
                "\(folder) has format \(schema); this program reads format \(RunHead.schema)"
            case .unreadable(let folder):
                "\(folder)/\(RunDirectory.FileName.head) is incomplete"
            case .notAFile(let path): "cannot read \(path): it is not a file"
            case .stillRunning(let folder): "a run is still writing to \(folder): wait until it ends"
            case .damagedSummary(let folder):
                "\(folder)/\(RunDirectory.FileName.summary) is damaged; remove it to report the run as killed"
            }
        }
    }

    /// What the folder says of itself.
    package static func head(of folder: String) throws(Problem) -> RunHead {
        guard FileManager.default.fileExists(atPath: folder) else { throw .missing(folder) }
        guard let head = RunReport.head(of: folder) else {
            let path = RunDirectory.joined(folder, RunDirectory.FileName.head)
            guard InputFile.exists(path) else { throw .notARun(folder) }
            let file = try? InputFile.contents(of: path, bytesMax: InputFile.documentBytesMax)
            let schema = file.flatMap { JSONValue(reading: $0) }?["schema"]?.integer
            guard let schema, schema != RunHead.schema else { throw .unreadable(folder) }
            throw .otherFormat(folder, schema)
        }
        return head
    }

    /// Nil where the run was killed before it was judged.
    private static func summary(of folder: String) throws(Problem) -> JSONValue? {
        let path = RunDirectory.joined(folder, RunDirectory.FileName.summary)
        guard InputFile.exists(path) else { return nil }
        let file = try? InputFile.contents(of: path, bytesMax: InputFile.documentBytesMax)
        // A seed has all 64 bits.
        guard let summary = file.flatMap({ JSONValue(reading: $0) }), summary["exit"]?.integer != nil,
            summary.holdsCounts(except: ["seed"])
        else { throw .damagedSummary(folder) }
        return summary
    }

    /// `slos`: of the scenario as it ran. `ledger`: for a run that nobody judged.
    package init(
        folder: String, head: RunHead, slos: [SLO], expectations: Expectations,
        ledger: @autoclosure () -> Ledger
    ) throws(Problem) {
        if FolderLock.isHeld(folder) { throw .stillRunning(folder) }
        self.folder = folder
        self.head = head
        for name in RunDirectory.FileName.growing {
            let path = RunDirectory.joined(folder, name)
            if InputFile.exists(path), InputFile.open(path) == nil { throw .notAFile(path) }
        }
        let summary = try Self.summary(of: folder)
        self.wasCutOff = summary == nil
        var judge = summary == nil ? ledger() : nil
        // Judges what the state folder has lost, and nothing else: that was known before the run began.
        var custodian = judge
        var lost = LostRecords()
        var tally = MetricsCollector(
            fleet: head.fleet, faultIDs: head.faults, hasBackendView: head.hasBackendView)
        self.timeline = RunTimeline(faults: head.faults.count)
        if var lines = LineReader(path: RunDirectory.joined(folder, RunDirectory.FileName.events)) {
            let reader = ObservationReader(faults: head.faults)
            while let line = lines.next() {
                guard lines.isWhole, let observation = reader.observation(line) else { continue }
                tally.record(observation)
                self.timeline.record(observation)
                if case .phone(.lostFromStorage) = observation.what {
                    lost.add(observation.scan, of: observation.device)
                    custodian?.record(observation)
                }
                judge?.record(observation)
            }
        }
        tally.finish()
        judge?.breakOff()
        custodian?.breakOff()
        var table = head.table
        var intervals = IntervalReader(folder: folder, head: head)
        while let moment = intervals.next() {
            table.add(moment.table)
            self.timeline.counted(RunTimeline.counts(moment.table), from: moment.from)
        }
        let past = Past(
            head: head, disconnections: tally.measured.disconnections, until: self.timeline.until)
        if let summary {
            self.result = past.finished(summary, table, slos)
        } else if let judge, let custodian {
            self.result = past.cutOff(judge, custodian, tally.measured.table, measured: table, slos)
            self.result.warnings += [lost.warning(hasBackendView: head.hasBackendView)].compactMap { $0 }
        } else {
            preconditionFailure("a run is judged, or there is somebody who judges it")
        }
        self.result.directory = folder
        self.result.take(self.timeline.impairments)
        self.result.expectations = expectations
        self.result.verdicts = expectations.applied(to: self.result.verdicts)
        self.result.findings =
            summary.map { FindingsTable(reading: $0["findings"]) } ?? tally.measured.findings
    }

    /// Every report of it, made from its files.
    package var report: RunReport { RunReport(self.result, self.timeline, folders: [self.folder]) }

    // MARK: Shards

    /// Shards of one run: what all of them saw together, in one verdict. Nil where they are not of one scenario.
    package static func merged(_ runs: [PastRun], slos: [SLO]) -> RunReport? {
        guard let first = runs.first,
            runs.allSatisfy({
                $0.head.groups.map(\.name) == first.head.groups.map(\.name)
                    && $0.head.faults == first.head.faults
                    && $0.head.scenario.name == first.head.scenario.name
            })
        else { return nil }
        var result = first.result
        var timeline = first.timeline
        for run in runs.dropFirst() {
            result.merge(run.result)
            timeline.add(run.timeline)
        }
        result.slos = slos.enumerated().map { index, slo in
            guard slo.condition.span != .wholeRun else { return slo.evaluate(against: result.metrics) }
            // Of parts of a run only each shard's own verdict is known: the merged one is the worst of them.
            let told = runs.map {
                $0.result.slos.indices.contains(index) ? $0.result.slos[index] : slo.notKnown
            }
            return told.first { $0.passed == false } ?? told.first { $0.passed != nil } ?? slo.notKnown
        }
        if result.isInterrupted { result.slos = result.slos.map(\.unjudged) }
        result.take(timeline.impairments)
        if runs.contains(where: { $0.result.drained == nil }) { result.drained = nil }
        let exits = runs.map(\.result.exit)
        result.exit =
            Judgement(
                verdicts: result.verdicts, totals: result.totals, slos: result.slos,
                hasInternalError: exits.contains(.internalError),
                hasOutputError: exits.contains(.cannotWrite),
                isUntrusted: !result.generator.isTrustworthy || !result.unreached.isEmpty,
                isInterrupted: result.isInterrupted,
                expectations: result.expectations
            ).exit
        let targets = Set(runs.map(\.head.labels.target)).count
        if targets > 1 { result.notes.insert("the runs used \(targets) different backends", at: 0) }
        result.notes.insert(
            "merged from \(runs.count) runs, seeds "
                + runs.map { String($0.head.seed) }.joined(separator: ", "),
            at: 0)
        return RunReport(result, timeline, folders: runs.map(\.folder))
    }
}

extension RunHead {
    /// Phones are numbered group by group.
    package var fleet: FleetMap {
        FleetMap(
            groups: self.groups.map(\.name),
            groupOfDevice: self.groups.enumerated().flatMap { index, group in
                Array(repeating: UInt16(index), count: max(0, group.devices))
            })
    }
}

extension RunResult {
    mutating func merge(_ other: RunResult) {
        self.started = min(self.started, other.started)
        self.length = max(self.length, other.length)
        for index in self.groups.indices where index < other.groups.count {
            self.groups[index].devices += other.groups[index].devices
            self.groups[index].totals.add(other.groups[index].totals)
        }
        self.labels = self.labels.agreed(with: other.labels)
        self.isInterrupted = self.isInterrupted || other.isInterrupted
        if let others = other.machine, others != self.machine {
            self.machine = self.machine.map { "\($0); \(others)" } ?? others
        }
        self.failure = self.failure ?? other.failure
        self.endedEarly = self.endedEarly ?? other.endedEarly
        // What one of them came to, the run came to.
        self.unreached = self.unreached.filter { other.unreached.contains($0) }
        self.hasBackendView = self.hasBackendView && other.hasBackendView
        self.totals.add(other.totals)
        for index in self.verdicts.indices where index < other.verdicts.count {
            self.verdicts[index].add(other.verdicts[index])
        }
        self.disconnections = zip(self.disconnections, other.disconnections).map { mine, others in
            var row = mine
            row.count += others.count
            row.resumed += others.resumed
            row.restarted += others.restarted
            row.gaveUp += others.gaveUp
            row.reconnectTime.add(others.reconnectTime)
            return row
        }
        self.metrics.add(other.metrics)
        self.findings.add(other.findings)
        self.resources = Resources(
            client: Self.sum(self.resources.client, other.resources.client),
            backend: Self.sum(self.resources.backend, other.resources.backend))
        self.generator.complaints += other.generator.complaints
        self.streamsOpen = nil
        self.notes += other.notes
        self.warnings += other.warnings
    }

    private static func sum(_ mine: Resources.Usage?, _ others: Resources.Usage?) -> Resources.Usage? {
        guard let mine, let others else { return nil }
        return .init(
            processor: mine.processor + others.processor,
            residentBytes: mine.residentBytes + others.residentBytes)
    }
}

extension Verdict {
    mutating func add(_ other: Verdict) {
        self.violations += other.violations
        self.expected += other.expected
        self.examples += other.examples
        if self.standing == .notAvailable || other.standing == .notAvailable {
            // What one shard cannot know is not known of all, unless another has found it broken.
            self.standing = [self.standing, other.standing].contains(.broken) ? .broken : .notAvailable
        } else {
            self.standing =
                self.violations == 0 ? .held : self.violations == self.expected ? .brokenAsExpected : .broken
        }
    }
}

/// Builds the result of a run of the past.
private struct Past {
    let head: RunHead
    let disconnections: Disconnections
    let until: Instant

    private func result(
        groups: [GroupResult], totals: LedgerTotals, verdicts: [Verdict], slos: [SLOResult],
        metrics: MetricTable, exit: RunExit
    ) -> RunResult {
        var result = RunResult(
            tool: self.head.tool, machine: self.head.machine, scenario: self.head.scenario,
            seed: self.head.seed, world: self.head.world, started: self.head.started,
            length: self.until - .zero, groups: groups, isInterrupted: false,
            failure: nil, exit: exit, hasBackendView: self.head.hasBackendView, totals: totals,
            verdicts: verdicts, slos: slos, disconnections: self.disconnections.rows, metrics: metrics,
            resources: Resources(client: nil, backend: nil), generator: GeneratorHealth(complaints: []),
            notes: [], warnings: [], directory: nil, files: [], command: self.head.command)
        result.labels = self.head.labels
        return result
    }

    // MARK: It came to its end

    func finished(_ summary: JSONValue, _ measured: MetricTable, _ slos: [SLO]) -> RunResult {
        var table = measured
        let groups = self.head.groups.map { group in
            GroupResult(
                name: group.name, devices: group.devices,
                totals: Self.totals(summary["groups"]?[Printable.bounded(group.name)]))
        }
        for (index, group) in groups.enumerated() {
            group.totals.record(into: &table, group: MetricGroup(index: index))
        }
        self.readUnfinished(summary, into: &table)
        for member in (summary["metrics"]?.members ?? []) + (summary["counters"]?.members ?? [])
        where member.value.text == "n/a" {
            if let metric = Metric(name: member.key) { table.cannotKnow(metric) }
        }
        for member in summary["faults"]?.members ?? [] where member.value.text == "n/a" {
            table.cannotKnow(.fault(id: member.key))
        }
        let told = summary["slos"]?.elements ?? []
        let results = slos.enumerated().map { index, slo -> SLOResult in
            let found = slo.evaluate(against: table)
            guard told.indices.contains(index), told[index]["metric"]?.text == slo.selector.description,
                let actual = told[index]["actual"]?.text
            else { return found }
            return found.recorded(actual: actual, passed: told[index]["passed"]?.flag)
        }
        var result = self.result(
            groups: groups, totals: Self.totals(summary), verdicts: Self.verdicts(summary), slos: results,
            metrics: table,
            exit: summary["exit"]?.integer(Int32.self).flatMap { RunExit(rawValue: $0) } ?? .internalError)
        result.length = Interval(nanoseconds: summary["seconds"]?.nanoseconds(9) ?? 0)
        result.isInterrupted = summary["interrupted"]?.flag ?? false
        // Of a backend that died what it had not told is not known.
        result.hasBackendView =
            self.head.hasBackendView && summary["books"]?["expected"]?.text != "n/a"
        result.failure = summary["failure"]?.text
        result.endedEarly = summary["ended_early"]?.text
        result.unreached = (summary["unreached"]?.elements ?? []).compactMap(\.text)
        result.drained = summary["drained_s"]?.nanoseconds(9).map { Interval(nanoseconds: $0) }
        result.generator.complaints = (summary["complaints"]?.elements ?? []).compactMap(\.text)
        result.warnings = (summary["warnings"]?.elements ?? []).compactMap(\.text)
        result.notes = (summary["notes"]?.elements ?? []).compactMap(\.text)
        result.resources = Self.resources(summary["resources"])
        if let gauge = summary["gauges"]?["server.streams.open"], let peak = gauge["peak"]?.count,
            let by = gauge["peak_by_s"]?.nanoseconds(9)
        {
            var series = GaugeSeries()
            series.add(least: 0, most: peak, upTo: Instant(nanoseconds: by))
            result.streamsOpen = series
        }
        return result
    }

    /// What no log holds. Every phone is of a group, unless there is none.
    private func readUnfinished(_ summary: JSONValue, into table: inout MetricTable) {
        for index in -1..<self.head.groups.count {
            guard index >= 0 || self.head.groups.isEmpty else { continue }
            let part =
                index < 0 ? summary : summary["groups"]?[Printable.bounded(self.head.groups[index].name)]
            var set = MetricSet()
            for metric in LatencyMetric.allCases where metric.countsUnfinished {
                let value = part?["metrics"]?[metric.rawValue]?["unfinished"]
                guard let count = value?["count"]?.count, count > 0 else { continue }
                let oldest = Interval(nanoseconds: value?["oldest_ms"]?.nanoseconds(6) ?? 0)
                set.add(Unfinished(count: Int64(count), oldest: oldest), to: metric)
            }
            table.add(set, in: index < 0 ? .none : MetricGroup(index: index))
        }
    }

    private static func totals(_ value: JSONValue?) -> LedgerTotals {
        func number(_ part: String, _ name: String) -> Int { value?[part]?[name]?.count ?? 0 }
        var totals = LedgerTotals()
        totals.scans.captured = number("scans", "captured")
        totals.scans.restored = number("scans", "restored")
        totals.scans.completed = number("scans", "completed")
        totals.scans.refused = number("scans", "refused")
        totals.scans.refusedUnexplained = number("scans", "refused_unexplained")
        totals.scans.lost = number("scans", "lost")
        totals.scans.open = number("scans", "open")
        totals.scans.restore(
            waiting: WaitingCause.allCases.map {
                ($0, value?["scans"]?["waiting_by_cause"]?[$0.rawValue]?.count ?? 0)
            },
            discarded: DiscardCause.allCases.map {
                ($0, value?["scans"]?["discarded_by_cause"]?[$0.rawValue]?.count ?? 0)
            })
        totals.books.expected = number("books", "expected")
        totals.books.received = number("books", "received")
        totals.books.pending = number("books", "pending")
        totals.books.missing = number("books", "missing")
        totals.books.duplicated = number("books", "duplicated")
        totals.books.repeated = number("books", "repeated")
        totals.jobs.accepted = number("jobs", "accepted")
        totals.jobs.cleaned = number("jobs", "cleaned")
        totals.jobs.abandoned = number("jobs", "abandoned")
        totals.jobs.orphaned = number("jobs", "orphaned")
        totals.jobs.expired = number("jobs", "expired")
        totals.jobs.unfinishedCleanups = number("jobs", "cleanup_unfinished")
        for member in value?["jobs"]?["abandoned_by_cause"]?.members ?? [] {
            totals.jobs.abandonedByCause.add(Int64(member.value.count ?? 0), to: member.key)
        }
        return totals
    }

    private static func verdicts(_ summary: JSONValue) -> [Verdict] {
        (summary["invariants"]?.elements ?? []).compactMap { value in
            guard let invariant = value["id"]?.text.flatMap(Invariant.init) else { return nil }
            guard let violations = value["violations"]?.count, let expected = value["expected"]?.count
            else {
                return Verdict(
                    invariant: invariant, standing: .notAvailable, violations: 0, expected: 0, examples: [])
            }
            let first = value["first"].flatMap { first -> Violation? in
                guard let at = first["at"]?.nanoseconds(6), let text = first["text"]?.text else { return nil }
                return Violation(
                    invariant: invariant,
                    device: first["device"]?.integer(UInt32.self).map { DeviceNumber($0) },
                    scan: first["scan"]?.integer(UInt32.self).map { ScanNumber($0) } ?? .none,
                    at: Instant(nanoseconds: at), text: text, isExpected: violations == expected)
            }
            return Verdict(
                invariant: invariant,
                standing: violations == 0 ? .held : violations == expected ? .brokenAsExpected : .broken,
                violations: violations, expected: expected, examples: [first].compactMap { $0 })
        }
    }

    private static func resources(_ value: JSONValue?) -> Resources {
        func usage(_ name: String) -> Resources.Usage? {
            guard let processor = value?[name + "_cpu_s"]?.nanoseconds(9),
                let memory = value?[name + "_rss_kb"]?.count
            else { return nil }
            return .init(processor: Interval(nanoseconds: processor), residentBytes: Int64(memory) * 1_024)
        }
        return Resources(client: usage("client"), backend: usage("backend"))
    }

    // MARK: It was killed

    /// Invariants that the log can show broken although it leaves out progress events, and books' small print, and although
    /// the run has no end.
    private static let visible: Set<Invariant> = [
        .scanRefusedForCause, .bookNeverDoubleAdded, .jobNotCleanedEarly, .limitHonoured, .slotsBounded,
    ]

    /// `custodian`: has seen what the state folder lost, and nothing else. `counted` is what the log's observations come to:
    /// of what they leave out `measured` knows.
    func cutOff(
        _ ledger: Ledger, _ custodian: Ledger, _ counted: MetricTable, measured: MetricTable, _ slos: [SLO]
    ) -> RunResult {
        var table = self.table(counted, measured)
        ledger.record(into: &table)
        let totals = ledger.totalsByGroup
        let verdicts = ledger.verdicts.map { verdict in
            guard !Self.visible.contains(verdict.invariant) else { return verdict }
            let lost = custodian.verdicts.first {
                $0.invariant == verdict.invariant && $0.invariant == .scanCustody && $0.violations > 0
            }
            return lost
                ?? Verdict(
                    invariant: verdict.invariant, standing: .notAvailable, violations: 0, expected: 0,
                    examples: [])
        }
        let broken = verdicts.contains { $0.standing == .broken }
        var result = self.result(
            groups: self.head.groups.enumerated().map { index, group in
                GroupResult(
                    name: group.name, devices: group.devices,
                    totals: index < totals.count ? totals[index] : LedgerTotals())
            }, totals: ledger.totals, verdicts: verdicts,
            // Parts of a run are judged while it goes on.
            slos: slos.map {
                ($0.condition.span == .wholeRun ? $0.evaluate(against: table) : $0.notKnown).unjudged
            },
            metrics: table, exit: broken ? .invariantBroken : .interrupted)
        result.isInterrupted = true
        result.failure = "the run was killed before its verdict: these are the results in its files"
        return result
    }

    private func table(_ counted: MetricTable, _ measured: MetricTable) -> MetricTable {
        var table = self.head.table
        for index in -1..<counted.groups.count {
            let group = index < 0 ? MetricGroup.none : MetricGroup(index: index)
            let (log, series) = (counted.set(in: group), measured.set(in: group))
            var set = MetricSet()
            for metric in LatencyMetric.allCases {
                // Of pings, progress and the network the log may hold nothing: whoever saw more knows better.
                let more = log.histogram(metric).total >= series.histogram(metric).total
                set.add(more ? log.histogram(metric) : series.histogram(metric), to: metric)
                set.add(log.unfinished(metric), to: metric)
            }
            for metric in RateMetric.allCases { set.add(log.rate(metric), to: metric) }
            for metric in CountMetric.allCases {
                set.add(max(log.count(metric), series.count(metric)), to: metric)
            }
            for reply in log.replies { set.replied(status: reply.status, times: reply.count) }
            for fault in log.faults.entries { set.fired(fault: fault.name, times: fault.count) }
            table.add(set, in: group)
        }
        return table
    }
}
