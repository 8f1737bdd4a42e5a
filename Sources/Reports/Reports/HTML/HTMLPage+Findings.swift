import Ledger
import RunArchive
import RunJudge
import RunMetrics

extension HTMLPage {
    /// The deviations of answers, events and requests from the contract.
    package var findings: Section { self.result.findingTable.section(prefix: "") }
}
