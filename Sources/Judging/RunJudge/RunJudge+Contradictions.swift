import Ledger
import Metrics
import RunMetrics

// The judge is judged too: what it has seen and what it says are compared with what was counted a second time
// (Docs/decisions/0118-the-harness-is-judged-too.md).

extension RunJudge {
    /// Why nothing of the run can be relied on; nil when it can. `table`: of the whole run.
    func contradiction(in table: MetricTable, made: Int) -> String? {
        guard self.observations == made else {
            return "only \(self.observations) of \(made) observations were judged"
        }
        let effects = self.ledger.harnessErrors
        if let first = effects.texts.first {
            return Self.text("a check of the harness failed", first, of: effects.count)
        }
        if let differences = self.schedule?.differences {
            return Self.text(
                "the captures do not match the schedule", differences.first, of: differences.count)
        }
        var differences = self.samples.differences(from: table)
        differences += self.samples.differences(from: self.ledger)
        differences += self.sums.differences(from: self.past.table)
        differences += TotalsCrossCheck.differences(in: table, self.past.whole.disconnections)
        differences += TotalsCrossCheck.differences(
            in: self.scans, self.ledger.totals.scans, table,
            isSound: self.ledger.verdicts.allSatisfy { $0.violations == 0 })
        differences += TotalsCrossCheck.differences(
            in: self.ledger.totals,
            isInventive: self.ledger.verdicts.contains {
                $0.invariant == .rowsConserved && $0.violations > 0
            })
        if self.ledger.hasPrices {
            differences += TotalsCrossCheck.differences(inCostsOf: self.ledger.totals)
        }
        guard let first = differences.first else { return nil }
        return Self.text("the measurements do not match the observations", first, of: differences.count)
    }

    private static func text(_ what: String, _ first: String, of count: Int) -> String {
        "\(what): \(first)" + (count > 1 ? ", and \(count - 1) more" : "")
    }
}
