import Ledger
import Metrics
import SimBase
import Testing

@Suite struct JudgementTests {
    private enum Trouble: CaseIterable {
        case invariant, internalError, outputError, interrupted, countObjective, untrusted, timeObjective

        var exit: RunExit {
            switch self {
            case .invariant: .invariantBroken
            case .internalError: .internalError
            case .outputError: .cannotWrite
            case .countObjective, .timeObjective: .sloFailed
            case .untrusted: .untrusted
            case .interrupted: .interrupted
            }
        }
    }

    private func slo(severity: SLO.Severity, lost: Int64) throws -> SLOResult {
        var table = MetricTable(groups: [])
        table.add(lost, to: .scansLost, in: .none)
        let slo = SLO(
            selector: MetricSelector(metric: .count(.scansLost), scope: .fleet),
            condition: try SLOCondition(parsing: "count == 0", for: .count), severity: severity,
            abort: false)
        return slo.evaluate(against: table)
    }

    /// An objective on the slowest upload.
    private func slo(took: Interval) throws -> SLOResult {
        var table = MetricTable(groups: [])
        table.record(.uploadTime, took, in: .none)
        let slo = SLO(
            selector: MetricSelector(metric: .latency(.uploadTime), scope: .fleet),
            condition: try SLOCondition(parsing: "max < 1s", for: .latency), severity: .error, abort: false)
        return slo.evaluate(against: table)
    }

    private func verdict(_ standing: Verdict.Standing) -> Verdict {
        Verdict(invariant: .scanCustody, standing: standing, violations: 1, expected: 0, examples: [])
    }

    private func judgement(_ troubles: [Trouble]) throws -> Judgement {
        Judgement(
            verdicts: [self.verdict(troubles.contains(.invariant) ? .broken : .held)],
            totals: LedgerTotals(),
            slos: [
                try self.slo(severity: .error, lost: troubles.contains(.countObjective) ? 1 : 0),
                try self.slo(took: troubles.contains(.timeObjective) ? .seconds(2) : .milliseconds(2)),
            ],
            hasInternalError: troubles.contains(.internalError),
            hasOutputError: troubles.contains(.outputError),
            isUntrusted: troubles.contains(.untrusted), isInterrupted: troubles.contains(.interrupted))
    }

    @Test func `a run without trouble exits with 0`() throws {
        let judgement = try self.judgement([])
        #expect(judgement.exit == .success)
        #expect(judgement.isPassed)
    }

    @Test func `of two troubles the graver one decides`() throws {
        // In the order of DESIGN.md 11.10. A late generator spoils latencies, not counts: hence 99 on both sides of 98.
        let order = Trouble.allCases
        #expect(order.map(\.exit.rawValue) == [97, 70, 74, 105, 99, 98, 99])
        for (index, grave) in order.enumerated() {
            for lesser in order[index...] {
                #expect(try self.judgement([lesser, grave]).exit == grave.exit)
            }
        }
    }

    @Test func `violations that a profile is known for, and what cannot be known, break nothing`() throws {
        var judgement = try self.judgement([])
        judgement.verdicts = [self.verdict(.brokenAsExpected), self.verdict(.notAvailable)]
        #expect(judgement.exit == .success)
    }

    @Test func `an objective that only warns fails nothing`() throws {
        var judgement = try self.judgement([])
        judgement.slos = [try self.slo(severity: .warn, lost: 1)]
        #expect(judgement.exit == .success)
    }

    @Test func `a sum that does not hold is an error of our own`() throws {
        var judgement = try self.judgement([])
        judgement.totals.scans.captured = 1
        #expect(judgement.exit == .internalError)
    }
}
