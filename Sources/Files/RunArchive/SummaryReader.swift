import JSON
import Ledger
import Metrics
import Observations
import RunJudge
import RunMetrics
import SimBase
import Talaria

/// Reads back the verdict of a run from its `summary.json`.
struct SummaryReader {
    let summary: JSONNode
    let head: RunHead

    /// `killed`: the result of the same files without a verdict. `measured`: what the files hold of its intervals; `isExact`: also of
    /// the operations that were open at its end.
    func result(
        instead killed: RunResult, measured: MetricTable, slos: [SLO], isExact: Bool = false
    ) -> RunResult {
        let groups = self.head.groups.map {
            Self.totals(self.summary["groups"]?[Printable.bounded($0.name)])
        }
        var table = self.table(measured, groups, isExact: isExact)
        table.prices = killed.metrics.prices
        var result = RunResult(
            self.head, length: Interval(nanoseconds: self.summary["seconds"]?.nanoseconds(9) ?? 0),
            exitReasons: Self.exitReasons(self.summary),
            totals: Self.totals(self.summary), groups: groups,
            verdicts: Self.verdicts(self.summary),
            tables: Self.tables(self.summary, killed.disconnections), metrics: table)
        for index in result.groups.indices where killed.groups.indices.contains(index) {
            let told = self.summary["groups"]?[Printable.bounded(result.groups[index].name)]
            result.groups[index].verdicts = Self.verdicts(told, within: result.verdicts)
            result.groups[index].tables = Self.tables(told, killed.groups[index].tables.disconnections)
            result.groups[index].errors = killed.groups[index].errors
        }
        result.slos = self.results(of: slos, table)
        result.expect(killed.expectations)
        result.errors = killed.errors
        result.controls = killed.controls
        self.readEnd(of: &result)
        self.readLoad(of: &result)
        return result
    }

    /// The metrics of the files, with the counts of the summary.
    private func table(
        _ measured: MetricTable, _ groups: [LedgerTotals], isExact: Bool
    ) -> MetricTable {
        var table = measured
        for (index, totals) in groups.enumerated() {
            totals.record(into: &table, group: MetricGroup(index: index))
        }
        if !isExact { self.readUnfinished(into: &table) }
        let metrics = (self.summary["metrics"]?.members ?? []) + (self.summary["counters"]?.members ?? [])
        for member in metrics where member.value.text == "n/a" {
            if let metric = Metric(name: member.key) { table.cannotKnow(metric) }
        }
        for member in self.summary["faults"]?.members ?? [] where member.value.text == "n/a" {
            table.cannotKnow(.fault(id: member.key))
        }
        return table
    }

    /// The results of objectives as the summary has them; those that it does not have are evaluated.
    private func results(of slos: [SLO], _ table: MetricTable) -> [SLOResult] {
        let told = self.summary["slos"]?.elements ?? []
        return slos.enumerated().map { index, slo in
            let found = slo.evaluate(against: table)
            guard told.indices.contains(index), told[index]["metric"]?.text == slo.selector.description,
                let actual = told[index]["actual"]?.text
            else { return found }
            return found.recorded(actual: actual, passed: told[index]["passed"]?.flag)
        }
    }

    /// How the run ended, and what it says about itself.
    private func readEnd(of result: inout RunResult) {
        let summary = self.summary
        result.isInterrupted = summary["interrupted"]?.flag ?? false
        result.isPartial = summary["partial"]?.flag ?? false
        // What a backend that died had not handed over is not known.
        result.hasBackendView =
            self.head.hasBackendView && summary["books"]?["expected"]?.text != "n/a"
        result.failure = summary["failure"]?.text
        result.endedEarly = summary["ended_early"]?.text
        result.unreached = (summary["unreached"]?.elements ?? []).compactMap {
            $0.text.flatMap(CoverageGoal.init)
        }
        result.drained = summary["drained_s"]?.nanoseconds(9).map { Interval(nanoseconds: $0) }
        let sentences: [(key: String, kind: Remark.Kind)] = [
            ("complaints", .complaint), ("warnings", .warning), ("notes", .note),
        ]
        result.remarks = sentences.flatMap { key, kind in
            (summary[key]?.elements ?? []).compactMap(\.text).map { .quoted(kind, $0) }
        }
    }

    /// What the load was, and what it took.
    private func readLoad(of result: inout RunResult) {
        let control = self.summary["control"]
        result.heldBack = control?["held_back"]?.count ?? 0
        result.heldTime = PhoneTime(milliseconds: Int64(control?["held_phone_ms"]?.count ?? 0))
        result.capacity = Self.capacity(self.summary["capacity"])
        result.rollout = Self.rollout(self.summary["rollout"])
        result.resources = Self.resources(self.summary["resources"])
        result.slow = Self.slow(self.summary["slow_scans"])
        if let gauge = self.summary["gauges"]?["server.streams.open"], let peak = gauge["peak"]?.count,
            let by = gauge["peak_by_s"]?.nanoseconds(9)
        {
            var series = GaugeSeries()
            series.add(least: 0, most: peak, upTo: Instant(nanoseconds: by))
            result.streamsOpen = series
        }
    }

    /// The first invariant or metric that this program does not know: another version wrote the file, and what it means cannot be
    /// merged with anything.
    static func unknownID(_ summary: JSONNode) -> String? {
        let parts = [summary] + (summary["groups"]?.members ?? []).map(\.value)
        for part in parts {
            for id in (part["invariants"]?.elements ?? []).compactMap({ $0["id"]?.text })
            where Invariant(rawValue: id) == nil {
                return id
            }
            for member in (part["metrics"]?.members ?? []) + (part["counters"]?.members ?? [])
            where Metric(name: member.key) == nil && !member.key.hasPrefix(MetricSet.probePrefix) {
                return member.key
            }
        }
        return nil
    }

    /// Reads the values that no log contains. Every phone belongs to a group, unless there are no groups.
    private func readUnfinished(into table: inout MetricTable) {
        for index in -1..<self.head.groups.count {
            guard index >= 0 || self.head.groups.isEmpty else { continue }
            let part =
                index < 0
                ? self.summary : self.summary["groups"]?[Printable.bounded(self.head.groups[index].name)]
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

    /// A file of an older version has the code only.
    private static func exitReasons(_ summary: JSONNode) -> ExitReasons {
        if let reasons = summary["exit_reasons"]?.elements {
            return ExitReasons(reasons.compactMap { $0.text.flatMap(ExitReason.init) })
        }
        let exit = summary["exit"]?.integer(Int32.self).flatMap { ExitCode(rawValue: $0) } ?? .internalError
        return ExitReasons(of: exit.isOfRun ? exit : .internalError)
    }

    private static func totals(_ value: JSONNode?) -> LedgerTotals {
        var totals = LedgerTotals()
        for count in LedgerCount.all {
            totals[keyPath: count.path] = value?[count.section.rawValue]?[count.name]?.count ?? 0
        }
        let scans = value?["scans"]
        for cause in WaitingCause.allCases {
            totals.scans.waitingByCause[cause] = scans?["waiting_by_cause"]?[cause.rawValue]?.count ?? 0
        }
        for cause in DiscardCause.allCases {
            totals.scans.discardedByCause[cause] = scans?["discarded_by_cause"]?[cause.rawValue]?.count ?? 0
        }
        totals.texts.differences = Self.differences(value?["texts"]?["differences"])
        for member in value?["books"]?["absent"]?.members ?? [] {
            totals.books.name(absent: member.key, member.value.count ?? 0)
        }
        for member in value?["jobs"]?["abandoned_by_cause"]?.members ?? [] {
            totals.jobs.abandonedByCause.add(Int64(member.value.count ?? 0), to: member.key)
        }
        return totals
    }

    private static func tables(_ value: JSONNode?, _ disconnections: Disconnections) -> MeasuredTables {
        var tables = MeasuredTables()
        tables.disconnections = disconnections
        tables.findings = FindingsTable(reading: value?["findings"])
        return tables
    }

    /// The verdicts on a group, of which the file has those with violations; `whole`: those on the fleet.
    private static func verdicts(_ group: JSONNode?, within whole: [Verdict]) -> [Verdict] {
        let violated = group.map(Self.verdicts) ?? []
        let isKnown = group?["invariants"] != nil
        return whole.map { verdict in
            violated.first { $0.invariant == verdict.invariant }
                ?? Verdict(
                    invariant: verdict.invariant,
                    standing: isKnown && verdict.standing != .notAvailable ? .held : .notAvailable,
                    violations: 0, expected: 0, examples: [])
        }
    }

    private static func verdicts(_ summary: JSONNode) -> [Verdict] {
        (summary["invariants"]?.elements ?? []).compactMap { value in
            guard let invariant = value["id"]?.text.flatMap(Invariant.init) else { return nil }
            let hadOccasion = value["had_occasion"]?.flag ?? true
            guard let violations = value["violations"]?.count, let expected = value["expected"]?.count
            else {
                return Verdict(
                    invariant: invariant, standing: .notAvailable, violations: 0, expected: 0, examples: [],
                    hadOccasion: hadOccasion)
            }
            let first = value["first"].flatMap { first -> Violation? in
                guard let at = first["at"]?.nanoseconds(6), let text = first["text"]?.text else { return nil }
                return Violation(
                    invariant: invariant,
                    device: first["device"]?.integer(UInt32.self).map { DeviceNumber($0) },
                    scan: first["scan"]?.integer(UInt32.self).map { ScanNumber($0) } ?? .none,
                    at: Instant(nanoseconds: at), text: text, isExpected: violations == expected,
                    cause: first["cause"]?["by"]?.text.flatMap {
                        Cause(by: $0, fault: first["cause"]?["fault"]?.text)
                    } ?? .phone)
            }
            return Verdict(
                invariant: invariant,
                standing: violations == 0 ? .held : violations == expected ? .brokenAsExpected : .broken,
                violations: violations, expected: expected, examples: [first].compactMap { $0 },
                hadOccasion: hadOccasion)
        }
    }

    private static func slow(_ value: JSONNode?) -> SlowTime? {
        guard let value, let least = value["from_ms"]?.nanoseconds(6), let isLimit = value["is_limit"]?.flag,
            let scans = value["scans"]?.count, let unfinished = value["unfinished"]?.count,
            let known = value["of"]?.count
        else { return nil }
        return SlowTime(
            least: Interval(nanoseconds: least), isLimit: isLimit, scans: scans, unfinished: unfinished,
            known: known,
            parts: SlowTime.parts { activity in
                value["ms"]?[activity.rawValue]?.nanoseconds(6).map { .nanoseconds($0) } ?? .zero
            })
    }

    private static func resources(_ value: JSONNode?) -> Resources {
        func usage(_ name: String) -> Resources.Usage? {
            guard let processor = value?[name + "_cpu_s"]?.nanoseconds(9),
                let memory = value?[name + "_rss_kb"]?.count
            else { return nil }
            return .init(processor: Interval(nanoseconds: processor), residentBytes: Int64(memory) * 1_024)
        }
        var resources = Resources(client: usage("client"), backend: usage("backend"))
        if let sent = value?["stream_bytes_sent"]?.count,
            let received = value?["stream_bytes_received"]?.count
        {
            resources.streamBytes = .init(sent: Int64(sent), received: Int64(received))
        }
        return resources
    }
}
