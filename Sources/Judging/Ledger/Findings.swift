import Metrics
import SimBase

/// The findings of the ledger so far: totals by group, and the violations of each invariant.
struct Findings: Sendable {
    private struct ViolationCount: Sendable {
        var violations = 0
        var expected = 0
        /// Violations beyond the bounds of the judgement.
        var uncounted = 0
        var examples: [Violation] = []
        var expectedExamples: [Violation] = []
    }

    private let settings: LedgerSettings
    /// The totals by group; the last ones are those of phones without a group.
    private(set) var totals: [LedgerTotals]
    private var tallies = [ViolationCount](repeating: ViolationCount(), count: Invariant.allCases.count)

    var bounds = JudgementBounds()

    init(settings: LedgerSettings) {
        self.settings = settings
        self.totals = [LedgerTotals](repeating: LedgerTotals(), count: settings.fleet.groups.count + 1)
    }

    mutating func violate(
        _ invariant: Invariant, device: DeviceNumber?, scan: ScanNumber, at: Instant, _ text: String
    ) {
        // No profile excuses what is about no one phone.
        let isExpected = device.map { self.settings.profile(of: $0).breaks.contains(invariant) } ?? false
        let violation = Violation(
            invariant: invariant, device: device, scan: scan, at: at, text: text, isExpected: isExpected)
        let index = invariant.ordinal
        guard self.bounds.counts(invariant, at: at) else {
            self.tallies[index].uncounted += 1
            return
        }
        self.tallies[index].violations += 1
        if isExpected {
            self.tallies[index].expected += 1
            if self.tallies[index].expectedExamples.count < self.settings.examplesMax {
                self.tallies[index].expectedExamples.append(violation)
            }
        } else if self.tallies[index].examples.count < self.settings.examplesMax {
            self.tallies[index].examples.append(violation)
        }
    }

    /// `index` is that of the group; see `totals`.
    mutating func count(in index: Int, _ change: (inout LedgerTotals) -> Void) {
        change(&self.totals[index])
    }

    func verdicts(of invariants: [Invariant]) -> [Verdict] {
        invariants.map { invariant in
            let tally = self.tallies[invariant.ordinal]
            let standing: Verdict.Standing =
                if invariant.needsBackend && !self.settings.hasBackendView {
                    .notAvailable
                } else if tally.violations == 0 {
                    tally.uncounted == 0 && self.bounds.letsHold(invariant) ? .held : .notAvailable
                } else if tally.violations == tally.expected {
                    .brokenAsExpected
                } else {
                    .broken
                }
            return Verdict(
                invariant: invariant, standing: standing, violations: tally.violations,
                expected: tally.expected,
                examples: Array((tally.examples + tally.expectedExamples).prefix(self.settings.examplesMax)))
        }
    }
}
