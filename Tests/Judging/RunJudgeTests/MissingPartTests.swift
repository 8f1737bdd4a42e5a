import Ledger
import Metrics
import RunJudge
import RunMetrics
import SimBase
import Testing

@Suite struct MissingPartTests {
    private static func result(_ standings: [Verdict.Standing]) -> RunResult {
        var totals = LedgerTotals()
        totals.scans.captured = 1
        totals.scans.completed = 1
        let head = RunHead.small(groups: [.init(name: "all", devices: 2)])
        return RunResult(
            head, length: .seconds(1), exit: .success, totals: totals, groups: [totals],
            verdicts: zip(Invariant.allCases, standings).map {
                Verdict(
                    invariant: $0, standing: $1, violations: $1 == .broken ? 1 : 0, expected: 0, examples: [])
            },
            tables: GroupTables(), metrics: MetricTable(groups: ["all"]))
    }

    @Test func `what held for the others is not known of all, and the run is not trusted`() {
        var result = Self.result([.held, .notAvailable])
        result.lack(["worker 2: phones 4-7"])
        #expect(result.verdicts.map(\.standing) == [.notAvailable, .notAvailable])
        #expect(
            result.generator.complaints
                == ["no evidence of worker 2: phones 4-7: what these phones did is not known"])
        #expect(result.exit == .untrusted)
    }

    @Test func `what was broken stays broken`() {
        var result = Self.result([.broken, .held])
        result.lack(["worker 2"])
        #expect(result.verdicts.map(\.standing) == [.broken, .notAvailable])
        #expect(result.exit == .invariantBroken)
    }

    @Test func `nothing changes where nothing is missing`() {
        var result = Self.result([.held])
        result.lack([])
        #expect(result.verdicts.map(\.standing) == [.held])
        #expect(result.exit == .success)
    }
}
