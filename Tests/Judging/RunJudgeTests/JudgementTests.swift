import Ledger
import Metrics
import RunJudge
import RunMetrics
import SimBase
import Testing

@Suite struct JudgementTests {
    private enum RunError: CaseIterable {
        case invariant, internalError, outputError, interrupted, countObjective, untrusted, timeObjective

        var failure: ExitReason? {
            switch self {
            case .internalError: .internalError
            case .outputError: .cannotWrite
            case .invariant, .interrupted, .countObjective, .untrusted, .timeObjective: nil
            }
        }

        var exit: ExitCode {
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

    private func judgement(_ errors: [RunError]) throws -> Judgement {
        var totals = LedgerTotals()
        totals.scans.captured = 1
        totals.scans.completed = 1
        return Judgement(
            verdicts: [self.verdict(errors.contains(.invariant) ? .broken : .held)],
            totals: totals,
            slos: [
                try self.slo(severity: .error, lost: errors.contains(.countObjective) ? 1 : 0),
                try self.slo(took: errors.contains(.timeObjective) ? .seconds(2) : .milliseconds(2)),
            ],
            failures: ExitReasons(errors.compactMap(\.failure)),
            isLoadComplete: !errors.contains(.untrusted), isInterrupted: errors.contains(.interrupted))
    }

    @Test func `a run without trouble exits with 0`() throws {
        #expect(try self.judgement([]).reasons.exit == .success)
    }

    @Test func `of two errors the graver one decides`() throws {
        // In the order of Docs/design.md section 11.10. A late generator spoils latencies, not counts: hence
        // 99 on both sides of 98.
        let order = RunError.allCases
        #expect(order.map(\.exit.rawValue) == [97, 70, 74, 105, 99, 98, 99])
        for (index, grave) in order.enumerated() {
            for lesser in order[index...] {
                #expect(try self.judgement([lesser, grave]).reasons.exit == grave.exit)
            }
        }
    }

    @Test func `violations that a profile is known for, and what cannot be known, break nothing`() throws {
        var judgement = try self.judgement([])
        judgement.verdicts = [self.verdict(.brokenAsExpected), self.verdict(.notAvailable)]
        #expect(judgement.reasons.exit == .success)
    }

    @Test func `an objective that only warns fails nothing`() throws {
        var judgement = try self.judgement([])
        judgement.slos = [try self.slo(severity: .warn, lost: 1)]
        #expect(judgement.reasons.exit == .success)
    }

    @Test func `a sum that does not hold is an error of our own`() throws {
        var judgement = try self.judgement([])
        judgement.totals.scans.captured = 2
        #expect(judgement.reasons.exit == .internalError)
    }

    // MARK: What was left open

    /// An objective that no run against a target can judge.
    private func open(
        severity: SLO.Severity = .error, mayStayOpen: Bool = false, origin: SLO.Origin = .stated
    ) throws -> SLOResult {
        SLO(
            selector: try MetricSelector(parsing: "sse.event.latency", vocabulary: nil),
            condition: try SLOCondition(parsing: "max < 1s", for: .latency), severity: severity, abort: false,
            mayStayOpen: mayStayOpen, origin: origin
        ).notKnown
    }

    @Test func `a run that could not judge what its scenario states is not trustworthy`() throws {
        var judgement = try self.judgement([])
        judgement.slos.append(try self.open())
        #expect(judgement.reasons == [.objectiveNotJudged])
        #expect(judgement.reasons.exit == .untrusted)
        for excused in [
            try self.open(severity: .warn), try self.open(mayStayOpen: true),
            try self.open(origin: .implicit),
        ] {
            judgement.slos[judgement.slos.count - 1] = excused
            #expect(judgement.reasons == [])
        }
    }

    @Test func `an objective that ended the run is the only reason`() throws {
        var judgement = try self.judgement([.countObjective, .timeObjective, .untrusted])
        judgement.slos.append(try self.open())
        judgement.totals.scans.completed = 0
        judgement.totals.scans.open = 1
        judgement.isEndedByObjective = true
        #expect(judgement.reasons == [.endedByObjective])
        #expect(judgement.reasons.exit == .sloFailed)
        // Not even one that is expected to fail ends a run with 0.
        judgement.expectations = Expectations([try self.objectives("scans.lost")])
        #expect(judgement.reasons.exit == .sloFailed)
        judgement.verdicts = [self.verdict(.broken)]
        #expect(judgement.reasons.exit == .invariantBroken)
    }

    @Test func `an interrupted run owes nothing`() throws {
        var judgement = try self.judgement([.interrupted])
        judgement.slos.append(try self.open())
        #expect(judgement.reasons == [.interrupted])
    }

    // MARK: Runs that measured nothing

    @Test func `a run without a capture cannot be trusted`() throws {
        var judgement = try self.judgement([])
        judgement.totals = LedgerTotals()
        #expect(judgement.reasons.exit == .untrusted)
    }

    @Test func `a run that completed nothing has failed, though no objective says so`() throws {
        var judgement = try self.judgement([])
        judgement.totals.scans.completed = 0
        judgement.totals.scans.refused = 1
        #expect(judgement.reasons.exit == .sloFailed)
        judgement.expectations = Expectations([try self.objectives("scans.completed")])
        #expect(judgement.reasons.exit == .success)
    }

    // MARK: expect-broken

    private func objectives(_ selector: String) throws -> ExpectedBreak {
        .objectives(try MetricSelector(parsing: selector, vocabulary: nil))
    }

    @Test func `a run that breaks exactly what its scenario expects has passed`() throws {
        let custody = ExpectedBreak.invariant(id: "scan.custody", scope: .fleet)
        let lost = try self.objectives("scans.lost")
        func exit(_ expected: [ExpectedBreak], _ errors: [RunError]) throws -> ExitCode {
            var judgement = try self.judgement(errors)
            judgement.expectations = Expectations(expected)
            return judgement.reasons.exit
        }
        #expect(try exit([custody], [.invariant]) == .success)
        #expect(try exit([lost], [.countObjective]) == .success)
        #expect(try exit([custody, lost], [.invariant, .countObjective]) == .success)
        // One of them holds.
        #expect(try exit([custody], []) == .invariantBroken)
        #expect(try exit([custody, lost], [.invariant]) == .invariantBroken)
        // Another breaks.
        #expect(try exit([custody], [.invariant, .countObjective]) == .invariantBroken)
        #expect(try exit([lost], [.invariant, .countObjective]) == .invariantBroken)
        // A run that was cut short had no time to break.
        #expect(try exit([custody], [.interrupted]) == .interrupted)
        #expect(try exit([custody], [.internalError]) == .internalError)
    }

    @Test func `a run in which no book came is no pass, unless an objective says how many are enough`() throws
    {
        func exit(finds: Int = 2, emptyPromises: Int = 0, received: Int = 0, isStated: Bool = false) throws
            -> ExitCode
        {
            var totals = LedgerTotals()
            totals.scans.captured = 2
            totals.scans.completed = 2
            totals.books.finds = finds
            totals.books.emptyPromises = emptyPromises
            totals.books.received = received
            let slo = SLO(
                selector: MetricSelector(metric: .count(.booksReceived), scope: .fleet),
                condition: try SLOCondition(parsing: "count >= 0", for: .count), severity: .error,
                abort: false)
            return Judgement(
                verdicts: [], totals: totals,
                slos: isStated ? [slo.evaluate(against: MetricTable(groups: []))] : []
            ).reasons.exit
        }
        #expect(try exit() == .sloFailed)
        #expect(try exit(emptyPromises: 1) == .sloFailed)
        #expect(try exit(emptyPromises: 2) == .success)
        #expect(try exit(received: 1) == .success)
        #expect(try exit(finds: 0) == .success)
        #expect(try exit(isStated: true) == .success)
    }

    @Test func `a run in which every row failed is no pass, unless an objective is on rows`() throws {
        func exit(failed: Int, stated: CountMetric? = nil) throws -> ExitCode {
            var totals = LedgerTotals()
            totals.scans.captured = 2
            totals.scans.completed = 2
            totals.rows.imports = 2
            totals.rows.failedWhole = failed
            let slos = try stated.map { metric in
                SLO(
                    selector: MetricSelector(metric: .count(metric), scope: .fleet),
                    condition: try SLOCondition(parsing: "count >= 0", for: .count), severity: .error,
                    abort: false
                ).evaluate(against: MetricTable(groups: []))
            }
            return Judgement(
                verdicts: [], totals: totals, slos: slos.map { [$0] } ?? []
            ).reasons.exit
        }
        #expect(try exit(failed: 2) == .sloFailed)
        #expect(try exit(failed: 1) == .success)
        #expect(try exit(failed: 2, stated: .rowsFailed) == .success)
        #expect(try exit(failed: 2, stated: .booksReceived) == .sloFailed)
    }

    @Test func `a run whose backend has found none of the books is no pass`() {
        var totals = LedgerTotals()
        totals.scans.captured = 1
        totals.scans.completed = 1
        totals.books.asked = 3
        func exit(unknown: Int, unjudged: Int = 0) -> ExitCode {
            totals.books.unknown = unknown
            totals.books.unjudged = unjudged
            return Judgement(verdicts: [], totals: totals, slos: []).reasons.exit
        }
        #expect(exit(unknown: 2) == .success)
        #expect(exit(unknown: 3) == .sloFailed)
        #expect(exit(unknown: 2, unjudged: 1) == .sloFailed)
    }
}
