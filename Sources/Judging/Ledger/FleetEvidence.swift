import Metrics
package import SimBase

/// What the phones of a shard contribute to the checks that only the whole fleet can be held to: whether phones come at once
/// (`herd.bounded`), and whether their waits are distributed as draws are (`retry.budget`). A shard alone is not judged by
/// them. The sum of the evidence of all shards is that of one process.
package struct FleetEvidence: Equatable, Sendable {
    /// The waits of phones that are judged together.
    package struct Waits: Equatable, Sendable {
        package var samples = BackoffSamples()
        package var retries = SurgeRecord()

        package init() {}
    }

    /// Invariants with such a check.
    package static let invariants: [Invariant] = [.herdBounded, .retryBudget]
    /// Windows of all records together that a shard hands over.
    package static let windowsMax = SurgeRecord.windowsMax

    /// Phones whose path returned, and their first requests since.
    package var returns = SurgeRecord()
    /// The waits of phones that draw them.
    package var drawn = Waits()
    /// The waits of phones whose profile is known not to draw them.
    package var fixed = Waits()
    /// A phone of those.
    package var firstFixed: DeviceNumber?

    package init() {}

    /// Those of `invariants` that the phones of the shard hold, each for itself. The shard does not say that they are held:
    /// what only the whole fleet can break is not judged yet.
    package var held: [Invariant] = []

    /// Whether all windows were kept.
    package var isComplete: Bool {
        [self.returns, self.drawn.retries, self.fixed.retries].allSatisfy { $0.incompleteFrom == nil }
    }

    package mutating func add(_ other: FleetEvidence) {
        self.returns.add(other.returns)
        self.drawn.add(other.drawn)
        self.fixed.add(other.fixed)
        self.firstFixed = [self.firstFixed, other.firstFixed].compactMap { $0 }.min()
    }

    /// The evidence with no more windows than a shard hands over: the earliest ones.
    package var bounded: FleetEvidence {
        let records = [self.returns, self.drawn.retries, self.fixed.retries]
        let numbers = records.flatMap { $0.windows.map(\.number) }.sorted()
        guard numbers.count > Self.windowsMax else { return self }
        let end = numbers[Self.windowsMax]
        var bounded = self
        bounded.returns.cut(from: end)
        bounded.drawn.retries.cut(from: end)
        bounded.fixed.retries.cut(from: end)
        return bounded
    }

    /// The time up to which herds are judged; nil where that is the whole run.
    package func judgedUntil(_ settings: SimulationInvariantSettings, ledger: LedgerSettings) -> Instant? {
        let detector = ThunderingHerdDetector(time: settings.herdTime, slots: ledger.slotsMax)
        let retries = [self.drawn.retries.incompleteFrom, self.fixed.retries.incompleteFrom].compactMap { $0 }
            .map { Instant.zero + RetryStormDetector.window * $0 }
        let returns = self.returns.incompleteFrom.map { detector.start(ofWindow: $0) }
        return (retries + [returns].compactMap { $0 }).min()
    }

    /// Returns the verdicts of these checks on the fleet, and on each of its groups: what they find in
    /// addition to the findings about single phones. If windows are missing, herds are judged by the other
    /// windows only. The counts of waits are always complete.
    package func verdicts(
        _ settings: SimulationInvariantSettings, ledger: LedgerSettings, endedAt: Instant
    ) -> (fleet: [Verdict], groups: [[Verdict]]) {
        var findings = LedgerFindings(settings: ledger)
        self.judgeReturns(settings, slots: ledger.slotsMax, into: &findings)
        self.drawn.judge(nil, endedAt: endedAt, into: &findings)
        self.fixed.judge(self.firstFixed, endedAt: endedAt, into: &findings)
        return (
            findings.verdicts(of: Self.invariants).map(self.asFarAsKnown),
            ledger.fleet.groups.indices.map {
                findings.verdicts(of: Self.invariants, group: $0).map(self.asFarAsKnown)
            }
        )
    }

    private func asFarAsKnown(_ verdict: Verdict) -> Verdict {
        guard !self.isComplete, verdict.invariant == .herdBounded, verdict.standing == .held else {
            return verdict
        }
        var verdict = verdict
        verdict.standing = .notAvailable
        return verdict
    }

    private func judgeReturns(
        _ settings: SimulationInvariantSettings, slots: Int, into findings: inout LedgerFindings
    ) {
        var detector = ThunderingHerdDetector(time: settings.herdTime, slots: slots)
        for window in self.returns.windows {
            let at = detector.start(ofWindow: window.number)
            for _ in 0..<window.begins { _ = detector.pathReturned(at: at) }
            for _ in 0..<window.came { _ = detector.asked(at: at) }
            guard let herd = detector.end() else { continue }
            findings.violate(
                .herdBounded, device: window.lastCame, scan: .none, at: at, herd.text(settings))
        }
    }
}

extension FleetEvidence.Waits {
    fileprivate mutating func add(_ other: Self) {
        self.samples.add(other.samples)
        self.retries.add(other.retries)
    }

    /// `device`: one of the phones, where all of them have a profile that is known for what is found.
    fileprivate func judge(_ device: DeviceNumber?, endedAt: Instant, into findings: inout LedgerFindings) {
        var expected: Int64 = 0
        for window in self.retries.windows {
            expected += window.begins - window.ends
            guard let herd = RetryStormDetector.herd(of: Int(window.came), expected: expected) else {
                continue
            }
            findings.violate(
                .herdBounded, device: device ?? window.lastCame, scan: .none,
                at: .zero + RetryStormDetector.window * window.number, herd.text)
        }
        for finding in self.samples.findings {
            findings.violate(.retryBudget, device: device, scan: .none, at: endedAt, finding.text)
        }
    }
}
