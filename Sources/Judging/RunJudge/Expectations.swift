package import Ledger
package import Metrics

/// The failures that a scenario expects, compared with the actual ones: exactly these must fail. What a profile is known to break is no
/// failure (`ProfileExpectation`).
package struct Expectations: Hashable, Sendable {
    /// One expected failure, and whether it occurred.
    package struct Outcome: Hashable, Sendable {
        package var expected: ExpectedBreak
        package var isBroken: Bool
    }

    package var breaks: [ExpectedBreak]
    /// The groups that an entry without a group is about; nil for all.
    package var groups: [String]?

    package init(_ breaks: [ExpectedBreak], groups: [String]? = nil) {
        self.breaks = breaks
        self.groups = groups
    }

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

    package func covers(_ result: SLOResult) -> Bool {
        self.breaks.contains { $0.covers(result.slo.selector, groups: self.groups) }
    }

    /// Whether violations of an invariant by the phones of a group are expected; of no single phone if that is nil.
    package func covers(_ invariant: Invariant, of group: String?) -> Bool {
        self.breaks.contains {
            $0.covers(invariant: invariant.rawValue, group: group, groups: self.groups)
        }
    }

    /// Returns the verdicts without the expected violations: each group by its own, and the fleet by those of its groups.
    ///
    /// What was applied before stays as it is: merges and readers of files apply expectations again.
    package func applied(
        to verdicts: [Verdict], _ groups: [GroupVerdicts]
    ) -> (fleet: [Verdict], groups: [GroupVerdicts]) {
        guard !self.isEmpty else { return (verdicts, groups) }
        let applied = groups.map { group in
            GroupVerdicts(
                group.name,
                group.verdicts.map { self.covers($0.invariant, of: group.name) ? $0.asExpected : $0 })
        }
        let fleet = verdicts.map { verdict in
            guard verdict.standing == .broken else { return verdict }
            let isOfFleetCovered = self.covers(verdict.invariant, of: nil)
            return verdict.taking(
                groups.compactMap { $0[verdict.invariant] }, applied.compactMap { $0[verdict.invariant] },
                isRestExpected: isOfFleetCovered)
        }
        return (fleet, applied)
    }

    /// Returns the outcomes in the scenario's order. A value that the run cannot know has not failed.
    package func outcomes(
        verdicts: [Verdict], groups: [GroupVerdicts], slos: [SLOResult], totals: LedgerTotals
    ) -> [Outcome] {
        self.breaks.map { expected in
            let isBroken =
                switch expected {
                case .invariant(let id, _): self.isBroken(id, by: expected, verdicts, groups)
                case .objectives(let selector):
                    slos.contains {
                        expected.covers($0.slo.selector, groups: self.groups) && $0.passed == false
                    } || selector.metric == .count(.scansCompleted) && totals.scans.isNothingCompleted
                }
            return Outcome(expected: expected, isBroken: isBroken)
        }
    }

    private func isBroken(
        _ id: String, by expected: ExpectedBreak, _ verdicts: [Verdict], _ groups: [GroupVerdicts]
    ) -> Bool {
        guard let fleet = verdicts.first(where: { $0.invariant.rawValue == id }), fleet.isBroken else {
            return false
        }
        let broken = groups.filter { $0[fleet.invariant]?.isBroken == true }
        let isOfNoGroup =
            broken.reduce(0) { $0 + ($1[fleet.invariant]?.violations ?? 0) } < fleet.violations
        return broken.contains { expected.covers(invariant: id, group: $0.name, groups: self.groups) }
            || isOfNoGroup && expected.covers(invariant: id, group: nil, groups: self.groups)
    }
}

/// The verdicts on the phones of one group.
package struct GroupVerdicts: Hashable, Sendable {
    package var name: String
    package var verdicts: [Verdict]

    package init(_ name: String, _ verdicts: [Verdict]) {
        self.name = name
        self.verdicts = verdicts
    }

    subscript(invariant: Invariant) -> Verdict? { self.verdicts.first { $0.invariant == invariant } }
}

extension Verdict {
    fileprivate var isBroken: Bool { self.standing == .broken || self.standing == .brokenAsExpected }
    private var unexpected: Int { self.violations - self.expected }

    /// The verdict with all of its violations expected.
    fileprivate var asExpected: Verdict {
        guard self.standing == .broken else { return self }
        var verdict = self
        verdict.standing = .brokenAsExpected
        verdict.expected = self.violations
        return verdict
    }

    /// The verdict on the fleet with what is expected of its groups. `isRestExpected`: of what no group did.
    fileprivate func taking(
        _ before: [Verdict], _ after: [Verdict], isRestExpected: Bool
    ) -> Verdict {
        let rest = self.unexpected - before.reduce(0) { $0 + $1.unexpected }
        let left = after.reduce(isRestExpected ? 0 : rest) { $0 + $1.unexpected }
        guard left > 0 else { return self.asExpected }
        guard left < self.unexpected else { return self }
        var verdict = self
        verdict.expected = self.violations - left
        // Those that count come first: the fleet's own may all be expected ones.
        let excused = after.filter { $0.standing == .brokenAsExpected }.flatMap(\.examples)
        let counting =
            after.filter { $0.standing == .broken }.flatMap { $0.examples.filter { !$0.isExpected } }
            + self.examples.filter { !$0.isExpected && $0.device == nil && !isRestExpected }
        let others = self.examples.filter { !counting.contains($0) }.map { violation in
            var violation = violation
            violation.isExpected = violation.isExpected || excused.contains(violation)
            return violation
        }
        verdict.examples = Array((counting + others).prefix(self.examples.count))
        return verdict
    }
}

extension ScanTotals {
    /// Captured by this run, or taken over from an earlier one.
    package var begun: Int { self.captured + self.restored }

    /// Whether there were scans, but none was completed.
    package var isNothingCompleted: Bool { self.begun > 0 && self.completed == 0 }
}
