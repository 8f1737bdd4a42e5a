import Ledger
import Metrics
import Reports
package import RunArchive
import RunJudge
import SimBase

/// A comparison for programs. A latency has the form that it has in `summary.json`.
package enum ComparisonJSON {
    package static func members(_ comparison: RunComparison) -> [String: JSONValue] {
        [
            "verdict": .string(comparison.headline),
            "regression": .bool(comparison.isRegression),
            "identical": .bool(comparison.isIdentical),
            "max_regression_share": .number(
                DecimalText.text(comparison.tolerance, decimals: 6, shown: 0...6)),
            "base": Self.run(comparison.base),
            "new": Self.run(comparison.new),
            "warnings": Self.texts(comparison.warnings),
            "regressions": Self.texts(comparison.regressions),
            "doubts": Self.texts(comparison.doubts),
            "pairs": Self.pairs(comparison),
            "slos": .array(comparison.objectives.map(Self.objective)),
            "invariants": .array(comparison.invariants.map(Self.invariant)),
            "latencies": .array(comparison.latencies.map(Self.latency)),
            "shares": .array(comparison.shares.map(Self.share)),
            "losses": .array(comparison.losses.map(Self.count)),
            "counts": .array(comparison.counts.map(Self.count)),
        ]
    }

    private static func texts(_ texts: [String]) -> JSONValue {
        .array(texts.map { .bounded($0, bytesMax: 1_000) })
    }

    private static func run(_ run: ComparedRun) -> JSONValue {
        .object([
            "folder": .string(run.folder),
            "scenario": .bounded(run.head.scenario.name),
            "seed": .integer(run.head.seed),
            "started": .string(run.result.startedText),
            "target": run.head.labels.target.map { .string($0) } ?? .null,
            "tags": run.head.labels.jsonTags,
            "exit": run.wasCutOff ? .null : .integer(run.result.exit.rawValue),
            "killed": .bool(run.wasCutOff),
        ])
    }

    // MARK: Rows

    /// A word for each change; it stays the same when the words of the other formats change.
    static func word(_ change: Change) -> JSONValue {
        switch change {
        case .worse: .string("worse")
        case .better: .string("better")
        case .same: .string("same")
        case .notProven: .string("not_proven")
        case .onlyBase: .string("only_base")
        case .onlyNew: .string("only_new")
        case .shown: .string("not_judged")
        }
    }

    private static func latency(_ row: RunComparison.Latency) -> JSONValue {
        .object([
            "metric": .string(row.name.name),
            "base": SummaryJSON.latency(row.base),
            "new": SummaryJSON.latency(row.new),
            "change": Self.word(row.change),
            "judged": .bool(row.isJudged),
            "percentiles": .array(row.findings.filter { $0.percentile != nil }.map(Self.finding)),
            "pairs": row.pairs.map(Self.finding) ?? .null,
        ])
    }

    private static func finding(_ finding: LatencyFinding) -> JSONValue {
        func milliseconds(_ value: Double) -> JSONValue {
            value.isFinite ? .number(Figures.milliseconds(Int64(nearest: value))) : .null
        }
        let measure: [String: JSONValue] =
            switch finding.measure {
            case .percentile(_, let base, let new):
                [
                    "percentile": .string(finding.name), "base_ms": milliseconds(base),
                    "new_ms": milliseconds(new),
                ]
            case .pairs(let count): ["count": .integer(count)]
            }
        let judged: [String: JSONValue] = [
            "ratio": Self.ratio(finding.ratio), "limit": Self.ratio(finding.limit),
            "ratio_from": finding.interval.map { Self.ratio($0.lowerBound) } ?? .null,
            "ratio_to": finding.interval.map { Self.ratio($0.upperBound) } ?? .null,
            "scans_needed": finding.scansNeeded.map { .integer($0) } ?? .null,
            "change": Self.word(finding.change),
        ]
        return .object(measure.merging(judged) { $1 })
    }

    private static func ratio(_ ratio: Double) -> JSONValue {
        ratio.isFinite
            ? .number(DecimalText.text(Int64(nearest: ratio * 1_000_000), decimals: 6, shown: 0...6)) : .null
    }

    private static func pairs(_ comparison: RunComparison) -> JSONValue {
        guard let pairs = comparison.pairs else { return .null }
        return .object([
            "paired": .bool(pairs.isPaired), "count": .integer(pairs.count),
            "chance": .bool(comparison.hasChance),
            "not_in_base": .integer(pairs.lacking.base), "not_in_new": .integer(pairs.lacking.new),
            "why_not": Self.texts(pairs.differences),
        ])
    }

    private static func share(_ row: RunComparison.Share) -> JSONValue {
        func part(_ part: Part?) -> JSONValue {
            guard let part else { return .notAvailable }
            return .object(["count": .integer(part.count), "of": .integer(part.whole)])
        }
        return .object([
            "metric": .string(row.name), "of": .string(row.of), "base": part(row.base), "new": part(row.new),
            "change": Self.word(row.change),
        ])
    }

    private static func count(_ row: RunComparison.Count) -> JSONValue {
        .object([
            "metric": .string(row.name), "base": .known(row.base), "new": .known(row.new),
            "change": Self.word(row.change),
        ])
    }

    private static func objective(_ row: RunComparison.Objective) -> JSONValue {
        func side(_ result: SLOResult?) -> JSONValue {
            guard let result else { return .null }
            return .object([
                "actual": .string(result.actual),
                "passed": result.passed.map { .bool($0) } ?? .notAvailable,
            ])
        }
        return .object([
            "metric": .string(row.slo.selector.description),
            "expression": .string(row.slo.condition.description),
            "severity": .string(row.slo.severity.rawValue),
            "base": side(row.base), "new": side(row.new),
            "change": Self.word(row.change),
        ])
    }

    private static func invariant(_ row: RunComparison.InvariantComparison) -> JSONValue {
        func violations(_ verdict: Verdict?) -> JSONValue {
            guard let verdict else { return .null }
            return verdict.standing == .notAvailable ? .notAvailable : .integer(verdict.violations)
        }
        return .object([
            "id": .string(row.invariant.rawValue),
            "base_violations": violations(row.base), "new_violations": violations(row.new),
            "change": Self.word(row.change),
        ])
    }
}
