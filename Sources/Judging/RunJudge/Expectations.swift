package import Ledger
package import Metrics

/// The failures that a scenario expects, compared with the actual ones: exactly these must fail.
package struct Expectations: Hashable, Sendable {
    /// One expected failure, and whether it occurred.
    package struct Outcome: Hashable, Sendable {
        package var expected: ExpectedBreak
        package var isBroken: Bool
    }

    package var breaks: [ExpectedBreak]

    package init(_ breaks: [ExpectedBreak]) { self.breaks = breaks }

    package static let none = Expectations([])

    package var isEmpty: Bool { self.breaks.isEmpty }

    /// Whether a run in which nothing was completed is what the scenario is about.
    package var includesNothingCompleted: Bool {
        self.breaks.contains {
            if case .objectives(let selector) = $0 {
                selector.metric == .count(.scansCompleted)
            } else {
                false
            }
        }
    }

    package func covers(_ verdict: Verdict) -> Bool {
        self.breaks.contains(.invariant(id: verdict.invariant.rawValue))
    }

    package func covers(_ result: SLOResult) -> Bool {
        self.breaks.contains { $0.covers(result.slo.selector) }
    }

    /// Returns the verdicts without the expected violations.
    package func applied(to verdicts: [Verdict]) -> [Verdict] {
        verdicts.map { verdict in
            guard self.covers(verdict), verdict.standing == .broken else { return verdict }
            var expected = verdict
            expected.standing = .brokenAsExpected
            expected.expected = verdict.violations
            return expected
        }
    }

    /// Returns the outcomes in the scenario's order. A value that the run cannot know has not failed.
    package func outcomes(verdicts: [Verdict], slos: [SLOResult], totals: LedgerTotals) -> [Outcome] {
        self.breaks.map { expected in
            let isBroken =
                switch expected {
                case .invariant(let id):
                    verdicts.contains {
                        $0.invariant.rawValue == id
                            && ($0.standing == .broken || $0.standing == .brokenAsExpected)
                    }
                case .objectives(let selector):
                    slos.contains { expected.covers($0.slo.selector) && $0.passed == false }
                        || selector.metric == .count(.scansCompleted) && totals.scans.isNothingCompleted
                }
            return Outcome(expected: expected, isBroken: isBroken)
        }
    }
}

extension ScanTotals {
    /// Captured by this run, or taken over from an earlier one.
    package var begun: Int { self.captured + self.restored }

    /// Whether there were scans, but none was completed.
    package var isNothingCompleted: Bool { self.begun > 0 && self.completed == 0 }
}
