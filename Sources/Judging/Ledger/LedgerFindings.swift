import Metrics
import Observations
import SimBase

/// The findings of the ledger so far: totals by group, and the violations of each invariant.
struct LedgerFindings: Sendable {
    /// The violations of one invariant by the phones of one group, or by the whole fleet.
    private struct ViolationCount: Sendable {
        var violations = 0
        var expected = 0
        var examples: [Violation] = []
        var expectedExamples: [Violation] = []

        mutating func add(_ violation: Violation, examplesMax: Int) {
            self.violations += 1
            if violation.isExpected {
                self.expected += 1
                if self.expectedExamples.count < examplesMax { self.expectedExamples.append(violation) }
            } else if self.examples.count < examplesMax {
                self.examples.append(violation)
            }
        }
    }

    /// All that was found about one invariant.
    private struct Tally: Sendable {
        var fleet = ViolationCount()
        /// By group; empty until a phone of a group violates the invariant.
        var groups: [ViolationCount] = []
        /// Violations beyond the bounds of the judgement.
        var uncounted = 0
    }

    private let settings: LedgerSettings
    /// The totals by group; the last ones are those of phones without a group.
    private(set) var totals: [LedgerTotals]
    private var tallies = [Tally](repeating: Tally(), count: Invariant.allCases.count)
    /// The phones of the newest violations, of which a caller may want to hear.
    private var violators: [DeviceNumber] = []
    private static let violatorsMax = 100

    var bounds = JudgementBounds()
    /// Whose the imports and batches of a foreign backend were.
    var jobOwners = JobOwners()

    init(settings: LedgerSettings) {
        self.settings = settings
        self.totals = [LedgerTotals](repeating: LedgerTotals(), count: settings.fleet.groups.count + 1)
    }

    mutating func violate(
        _ invariant: Invariant, device: DeviceNumber?, scan: ScanNumber, at: Instant, _ text: String,
        cause: Cause? = nil
    ) {
        // No profile excuses what is about no one phone.
        let isExpected = device.map { self.isKnown(invariant, of: $0) } ?? false
        let violation = Violation(
            invariant: invariant, device: device, scan: scan, at: at, text: text, isExpected: isExpected,
            // Of books that no phone has, a foreign target has sent less than it said.
            cause: cause
                ?? (invariant == .bookNeverLost && !self.settings.hasBackendView ? .target : .phone))
        let index = invariant.ordinal
        guard self.bounds.counts(invariant, at: at) else {
            self.tallies[index].uncounted += 1
            return
        }
        self.tallies[index].fleet.add(violation, examplesMax: self.settings.examplesMax)
        if let device, self.violators.count < Self.violatorsMax, !self.violators.contains(device) {
            self.violators.append(device)
        }
        guard let group = device.flatMap({ self.settings.fleet.group(of: $0) }) else { return }
        if self.tallies[index].groups.isEmpty {
            self.tallies[index].groups = Array(
                repeating: ViolationCount(), count: self.settings.fleet.groups.count)
        }
        self.tallies[index].groups[group].add(violation, examplesMax: self.settings.examplesMax)
    }

    /// The phones of the violations since the last call; at most `violatorsMax`.
    mutating func takeViolators() -> [DeviceNumber] {
        guard !self.violators.isEmpty else { return [] }
        let violators = self.violators
        self.violators.removeAll(keepingCapacity: true)
        return violators
    }

    /// Whether the profile of a phone is known to break an invariant.
    func isKnown(_ invariant: Invariant, of device: DeviceNumber) -> Bool {
        self.settings.profile(of: device).breaks.contains(invariant)
    }

    /// `index` is that of the group; see `totals`.
    mutating func count(in index: Int, _ change: (inout LedgerTotals) -> Void) {
        change(&self.totals[index])
    }

    func verdicts(of invariants: [Invariant]) -> [Verdict] {
        let promises = self.totals.reduce(0) { $0 + $1.books.promises }
        return invariants.map {
            self.verdict(of: $0, self.tallies[$0.ordinal].fleet, hasPromises: promises > 0)
        }
    }

    /// The verdicts on the phones of one group. What is about no one phone is in none of them.
    func verdicts(of invariants: [Invariant], group: Int) -> [Verdict] {
        invariants.map { invariant in
            let groups = self.tallies[invariant.ordinal].groups
            return self.verdict(
                of: invariant, groups.isEmpty ? ViolationCount() : groups[group],
                hasPromises: self.totals[group].books.promises > 0)
        }
    }

    private func verdict(
        of invariant: Invariant, _ count: ViolationCount, hasPromises: Bool
    ) -> Verdict {
        Verdict(
            invariant: invariant, standing: self.standing(of: invariant, count, hasPromises: hasPromises),
            violations: count.violations,
            expected: count.expected,
            examples: Array((count.examples + count.expectedExamples).prefix(self.settings.examplesMax)),
            hadOccasion: count.violations > 0)
    }

    private func standing(
        of invariant: Invariant, _ count: ViolationCount, hasPromises: Bool
    ) -> Verdict.Standing {
        if invariant.needsBackend && !self.settings.hasBackendView && !(hasPromises && invariant.isPromised) {
            .notAvailable
        } else if count.violations == 0 {
            self.tallies[invariant.ordinal].uncounted == 0 && self.bounds.letsHold(invariant)
                ? .held : .notAvailable
        } else if count.violations == count.expected {
            .brokenAsExpected
        } else {
            .broken
        }
    }
}
