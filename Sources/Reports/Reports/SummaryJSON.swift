import Ledger
package import Metrics
import Observations
package import RunArchive
package import RunJudge
import RunMetrics
import SimBase
import Talaria

/// `summary.json`, schema version 1 (Docs/design.md section 8). The same result makes the same bytes.
///
/// Times are milliseconds with three digits after the point. What the run cannot know is the string `n/a`; a latency
/// without samples has a count of 0 and no other numbers. A rate has the unit `share`: `count` operations, of which
/// `failed`, as the `rate`. `causes` of an error or a finding say who is to blame for how many of them, `by` and, where it was
/// injected, `fault`. `failure` says what cut the run short and is there only when something did, and so does
/// `ended_early` of an objective with `abort`. `control` is there only where the run was controlled while it ran,
/// `book_flow` and `differences` of `texts` where books are read or reviewed, `capacity` where the load went up in steps, `rollout` where the scenario has one, `cost` where books have prices, and `partial` where phones of the fleet
/// are missing. `otlp` is there only with a collector: how many spans it has taken, how many were dropped, and whether it has the
/// metrics. `target` is null where the backend was the simulated one, and `trial` is there only with one: what it
/// did wrong, with the command that shows the first, and what was injected; the answers to probes are `probes.*` of the counters. The `peak` of a gauge of several shards is what was reached for certain, and
/// `peak_at_most` is there only for these.
package enum SummaryJSON {
    package static let schema = 1

    package static func bytes(_ result: RunResult) -> [UInt8] { Self.document(result).document }

    private static func document(_ result: RunResult) -> JSONValue {
        var members = Self.head(result)
        let work = Self.work(
            result.totals, result.disconnections, result.findings, of: .fleet,
            journeys: result.groups.map(\.journey), flow: result.bookFlow, in: result)
        for part in [work, Self.measurements(result), Self.verdict(result)] {
            members.merge(part) { first, _ in first }
        }
        if let failure = result.failure { members["failure"] = .bounded(failure) }
        if !result.unreached.isEmpty {
            members["unreached"] = .array(result.unreached.map { .string($0.rawValue) })
        }
        if result.isPartial { members["partial"] = .bool(true) }
        if let http = result.labels.http { members["http"] = http.json }
        if let target = TargetTable(result) { members["trial"] = target.json }
        if let capacity = result.capacity { members["capacity"] = Self.capacity(capacity) }
        if let rollout = result.rollout { members["rollout"] = Self.rollout(rollout) }
        if !result.controls.isEmpty { members["control"] = Self.control(result) }
        if let export = result.export {
            members["otlp"] = .object([
                "url": .bounded(export.url), "spans": .integer(export.exported),
                "dropped": .integer(export.dropped), "metrics": .bool(export.hasMetrics),
            ])
        }
        if let reason = result.endedEarly { members["ended_early"] = .bounded(reason) }
        return .object(members)
    }

    /// The run.
    private static func head(_ result: RunResult) -> [String: JSONValue] {
        [
            "schema": .integer(Self.schema),
            "tool": .bounded(result.tool),
            "scenario": .object([
                "name": .bounded(result.scenario.name), "sha256": .string(result.scenario.sha256),
            ]),
            "target": result.labels.target.map { .string($0) } ?? .null,
            "tags": result.labels.jsonTags,
            "seed": .integer(result.seed),
            "world": .string(result.world.rawValue),
            "started": .string(result.startedText),
            "seconds": .seconds(result.length),
            "devices": .integer(result.devices),
        ]
    }

    /// What the fleet or one group did and met.
    private static func work(
        _ totals: LedgerTotals, _ disconnections: Disconnections, _ findings: FindingsTable,
        of scope: MetricScope, journeys: [Journey], flow: BookFlow, in result: RunResult
    ) -> [String: JSONValue] {
        var members: [String: JSONValue] = [
            "scans": Self.counts(.scans, totals, of: result),
            "books": Self.counts(.books, totals, of: result),
            "jobs": Self.counts(.jobs, totals, of: result),
            "disconnections": .array(disconnections.losses.map(Self.disconnection)),
            "metrics": Self.metrics(result.metrics, of: scope),
            "counters": Self.counters(result.metrics, of: scope),
            "findings": findings.json,
        ]
        members["cost"] = Self.cost(totals, of: scope, in: result)
        if result.hasBookFlow { members["book_flow"] = Self.bookFlow(flow, of: result) }
        let rare: [(Journey, String, LedgerCount.Section)] = [
            (.csvImport, "rows", .rows), (.textEnrichment, "texts", .texts),
            (.bookEnrichment, "lookups", .lookups),
        ]
        for (journey, name, section) in rare where journeys.contains(journey) {
            members[name] = Self.counts(section, totals, of: result)
        }
        return members
    }

    private static func measurements(_ result: RunResult) -> [String: JSONValue] {
        [
            "errors": .array(result.errors.map(Self.error)),
            "faults": .members(result.faults.map { (Printable.bounded($0.id), .known($0.count)) }),
            "groups": .members(
                result.groups.map { (Printable.bounded($0.name), Self.group($0, of: result)) }),
            "gauges": .object(["server.streams.open": Self.gauge(result.streamsOpen)]),
            "resources": Self.resources(result.resources),
            "slow_scans": result.slow.map(Self.slow) ?? .null,
        ]
    }

    private static func verdict(_ result: RunResult) -> [String: JSONValue] {
        [
            "slos": .array(result.slos.map { Self.slo($0, of: result) }),
            "expect_broken": .array(
                result.expected.map {
                    .object(["name": .bounded($0.expected.name), "broken": .bool($0.isBroken)])
                }),
            "outcome": result.outcome.map { .bounded($0, bytesMax: 600) } ?? .null,
            "drained_s": .seconds(result.drained),
            "invariants": .array(result.verdicts.map { Self.invariant($0, of: result) }),
            "obligations": Self.obligations(Obligations(result)),
            "passed": .bool(result.exit == .success),
            "exit": .integer(result.exit.rawValue),
            "exit_reasons": .array(result.exitReasons.all.map { .string($0.rawValue) }),
            "interrupted": .bool(result.isInterrupted),
            "complaints": .array(result.complaints.map { .string($0) }),
            "warnings": .array(result.warnings.map { .bounded($0, bytesMax: 1_000) }),
            "notes": .array(result.notes.map { .bounded($0, bytesMax: 1_000) }),
        ]
    }

    /// What the operator did to the run; there only where he did something.
    private static func control(_ result: RunResult) -> JSONValue {
        .object([
            "held_back": .integer(result.heldBack),
            "held_phone_ms": .integer(result.heldTime.milliseconds),
            "actions": .array(
                result.controls.map { record in
                    .object([
                        "at": .milliseconds(record.at - .zero), "by": .string("dashboard"),
                        "action": .string(record.name), "text": .bounded(record.text),
                    ])
                }),
        ])
    }

    /// The counts of one section (`LedgerCount`), with what they are made up of.
    static func counts(
        _ section: LedgerCount.Section, _ totals: LedgerTotals, of result: RunResult
    ) -> JSONValue {
        var members: [String: JSONValue] = [:]
        for count in LedgerCount.all where count.section == section {
            let value = JSONValue.integer(totals[keyPath: count.path])
            switch count.presence {
            case .always: members[count.name] = value
            case .observed: members[count.name] = result.hasBackendView ? value : .notAvailable
            case .ifAny(let path): if totals[keyPath: path] > 0 { members[count.name] = value }
            case .withFlow: if result.hasBookFlow { members[count.name] = value }
            case .ifKept: if result.kept(totals.jobs) != nil { members[count.name] = value }
            }
        }
        switch section {
        case .scans: Self.addCauses(totals.scans, to: &members)
        case .books: if totals.books.asked > 0 { members["absent"] = Self.named(totals.books.absent) }
        case .jobs: members["abandoned_by_cause"] = Self.named(totals.jobs.abandonedByCause)
        case .rows, .cost: break
        case .texts:
            members["differences"] =
                result.hasBackendView ? Self.differences(totals.texts.differences) : .notAvailable
        case .lookups: if !result.hasBackendView { return .notAvailable }
        }
        return .object(members)
    }

    private static func addCauses(_ scans: ScanTotals, to members: inout [String: JSONValue]) {
        members["discarded"] = .integer(scans.discarded)
        members["waiting"] = .integer(scans.waiting)
        members["discarded_by_cause"] = .members(
            RunResult.discarded(scans).map { ($0.cause, .integer($0.count)) })
        members["waiting_by_cause"] = .members(
            RunResult.waiting(scans).map { ($0.cause, .integer($0.count)) })
    }

    /// The way of the books, with all of its steps.
    private static func bookFlow(_ flow: BookFlow, of result: RunResult) -> JSONValue {
        .members(
            BookFlowStep.all.map {
                ($0.id, .known($0.count(in: flow, hasBackendView: result.hasBackendView)))
            })
    }

    private static func differences(_ differences: TextDifferences) -> JSONValue {
        func kind(_ kind: TextDifferences.Kind) -> [String: JSONValue] {
            [
                "field": .string(kind.field.rawValue), "chosen": .string(kind.chosen.rawValue),
                "right": .string(kind.right.rawValue),
            ]
        }
        let kinds = TextDifferences.Kind.allCases.filter { differences.counts[$0] > 0 }
        return .object([
            "counts": .array(
                kinds.map {
                    .object(kind($0).merging(["count": .integer(differences.counts[$0])]) { $1 })
                }),
            "first": .array(
                differences.first.map { example in
                    let texts: [String: JSONValue] = [
                        "device": .integer(example.device.raw), "scan": .integer(example.scan.raw),
                        "read": .bounded(example.read), "verified": .bounded(example.verified),
                    ]
                    return .object(kind(example.kind).merging(texts) { $1 })
                }),
        ])
    }

    private static func named(_ counters: Counters) -> JSONValue {
        .members(counters.entries.map { (Printable.bounded($0.name), .integer($0.count)) })
    }

    private static func error(_ row: ErrorSummary.Row) -> JSONValue {
        .object([
            "error": .bounded(row.trouble.name),
            "family": .string(row.trouble.family.rawValue),
            "count": .integer(row.count),
            "causes": row.causes.json,
            "first": .object(JSONValue.place(row.device, row.scan, at: row.first)),
            "last": .milliseconds(row.last - .zero),
        ])
    }

    private static func disconnection(_ loss: Disconnection) -> JSONValue {
        .object([
            "cause": .string(loss.cause.rawValue),
            "count": .integer(loss.count),
            "resumed": .integer(loss.resumed),
            "restarted": .integer(loss.restarted),
            "gave_up": .integer(loss.gaveUp),
            "p95": loss.reconnectTime.value(at: .p95).map { .number(Figures.milliseconds($0)) } ?? .null,
        ])
    }

    /// What had to be judged, by its outcome. `open` has a number for each reason.
    private static func obligations(_ obligations: Obligations) -> JSONValue {
        func tally(_ tally: Obligations.Tally) -> JSONValue {
            .object([
                "held": .integer(tally.held), "without_occasion": .integer(tally.withoutOccasion),
                "broken": .integer(tally.broken), "excused": .integer(tally.excused),
                "open": .members(tally.open.map { ($0.key.rawValue, .integer($0.value)) }),
            ])
        }
        return .object([
            "slos": tally(obligations.objectives), "invariants": tally(obligations.invariants),
            "text": .string(obligations.sentence),
        ])
    }

    /// `why_open` is there only where it could not be judged.
    private static func slo(_ slo: SLOResult, of result: RunResult) -> JSONValue {
        var members: [String: JSONValue] = [
            "metric": .string(slo.slo.selector.description),
            "expression": .string(slo.slo.condition.description),
            "actual": .string(slo.actual),
            "passed": slo.passed.map { .bool($0) } ?? .notAvailable,
            "severity": .string(slo.slo.severity.rawValue),
            "stated": .bool(slo.slo.origin == .stated),
        ]
        if slo.passed == nil { members["why_open"] = .string(result.whyOpen(slo).rawValue) }
        return .object(members)
    }

    private static func invariant(_ verdict: Verdict, of result: RunResult) -> JSONValue {
        let isKnown = verdict.standing != .notAvailable
        var members: [String: JSONValue] = [
            "id": .string(verdict.invariant.rawValue),
            "kind": .string(verdict.invariant.kind.rawValue),
            "violations": isKnown ? .integer(verdict.violations) : .notAvailable,
            "expected": isKnown ? .integer(verdict.expected) : .notAvailable,
            "had_occasion": .bool(verdict.hadOccasion),
            "first": verdict.examples.first.map { first in
                let place = JSONValue.place(first.device, first.scan, at: first.at)
                return .object(
                    place.merging(["text": .bounded(first.text), "cause": first.cause.json]) { $1 })
            } ?? .null,
        ]
        if !isKnown { members["why_open"] = .string(result.whyOpen(verdict).rawValue) }
        return .object(members)
    }

    private static func group(_ group: GroupResult, of result: RunResult) -> JSONValue {
        let work = Self.work(
            group.totals, group.tables.disconnections, group.tables.findings, of: .group(group.name),
            journeys: [group.journey], flow: BookFlow(group.totals), in: result)
        let members: [String: JSONValue] = [
            "devices": .integer(group.devices), "journey": .string(group.journey.rawValue),
            "headline": result.headline(of: group).map { .string($0.text) } ?? .null,
            "invariants": .array(
                group.verdicts.filter { $0.violations > 0 }.map { Self.invariant($0, of: result) }),
        ]
        return .object(members.merging(work) { $1 })
    }

    /// `at_peak_s` and `near_peak_s`: how long it was at its peak, and within 1 % of it.
    private static func gauge(_ series: GaugeSeries?) -> JSONValue {
        guard let series, let peak = series.peak else { return .notAvailable }
        var members: [String: JSONValue] = [
            "peak": .integer(peak.count),
            "peak_by_s": .seconds(peak.by - .zero),
            "at_peak_s": .seconds(series.time(atLeast: peak.count)),
            "near_peak_s": .seconds(series.time(atLeast: RunResult.nearPeak(peak.count))),
        ]
        if series.isSum { members["peak_at_most"] = .integer(series.ceiling) }
        return .object(members)
    }

    private static func slow(_ slow: SlowTime) -> JSONValue {
        .object([
            "from_ms": .milliseconds(slow.least),
            "is_limit": .bool(slow.isLimit),
            "scans": .integer(slow.scans),
            "unfinished": .integer(slow.unfinished),
            "of": .integer(slow.known),
            "ms": .members(slow.parts.map { ($0.activity.rawValue, .milliseconds($0.time)) }),
        ])
    }

    private static func resources(_ resources: Resources) -> JSONValue {
        .object([
            "client_cpu_s": .seconds(resources.client?.processor, none: .notAvailable),
            "client_rss_kb": .known(resources.client.map { $0.residentBytes / 1_024 }),
            "backend_cpu_s": .seconds(resources.backend?.processor, none: .notAvailable),
            "backend_rss_kb": .known(resources.backend.map { $0.residentBytes / 1_024 }),
            "stream_bytes_sent": .known(resources.streamBytes?.sent),
            "stream_bytes_received": .known(resources.streamBytes?.received),
        ])
    }

    private static func metrics(_ table: MetricTable, of scope: MetricScope) -> JSONValue {
        var members: [String: JSONValue] = [:]
        for metric in LatencyMetric.allCases {
            let unfinished = metric.countsUnfinished ? table.unfinished(metric, of: scope) : nil
            members[metric.rawValue] =
                table.histogram(metric, of: scope).known.map { Self.latency(LatencySummary($0), unfinished) }
                ?? .notAvailable
        }
        for metric in RateMetric.allCases {
            members[metric.rawValue] =
                table.rate(metric, of: scope).known.map { rate in
                    .object([
                        "unit": .string("share"), "count": .integer(rate.total),
                        "failed": .integer(rate.failed), "rate": .number(Figures.ratio(rate)),
                    ])
                } ?? .notAvailable
        }
        return .object(members)
    }

    /// The numbers of a latency in milliseconds; without samples, a count of 0 and nulls.
    package static func latency(_ summary: LatencySummary?, _ unfinished: Unfinished? = nil) -> JSONValue {
        var members: [String: JSONValue] = ["unit": .string("ms"), "count": .integer(summary?.count ?? 0)]
        let numbers: [(String, Int64?)] = [
            ("min", summary?.minimum), ("mean", summary?.mean), ("p50", summary?.p50),
            ("p90", summary?.p90), ("p95", summary?.p95), ("p99", summary?.p99),
            ("p999", summary?.p999), ("max", summary?.maximum),
        ]
        for (name, nanoseconds) in numbers {
            members[name] = nanoseconds.map { .number(Figures.milliseconds($0)) } ?? .null
        }
        if let unfinished {
            members["unfinished"] = .object([
                "count": .integer(unfinished.count),
                "oldest_ms": .milliseconds(unfinished.isEmpty ? nil : unfinished.oldest),
            ])
        }
        return .object(members)
    }

    private static func counters(_ table: MetricTable, of scope: MetricScope) -> JSONValue {
        var members: [String: JSONValue] = [:]
        for metric in CountMetric.allCases {
            members[metric.rawValue] = .known(table.count(metric, of: scope).known)
        }
        for reply in table.everything(of: scope).replies {
            members[AnswerMetric(status: reply.status).name] = .integer(reply.count)
        }
        for (name, count) in table.everything(of: scope).probes.entries {
            members[MetricSet.probePrefix + name] = .integer(count)
        }
        for answer in table.everything(of: scope).answersByOperation where answer.operation != nil {
            members[AnswerMetric(answer.operation, status: answer.status).name] = .integer(answer.count)
        }
        return .object(members)
    }
}
