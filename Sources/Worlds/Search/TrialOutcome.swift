package import Ledger
package import RunJudge
package import SimBase

/// The outcome of a trial.
package struct TrialOutcome: Hashable, Sendable {
    /// An invariant that does not hold.
    package struct Break: Hashable, Sendable {
        package var kind: FailureKind
        /// Whether the profile of the phone, or the scenario, expects it.
        package var isExpected: Bool
        /// Those that no profile and no scenario expects, if there are any.
        package var violations: Int
        package var first: Violation
        /// The phones of the first violations, each once.
        package var phones: [DeviceNumber]
    }

    /// The digest of all events.
    package var digest: UInt64
    package var events: Int
    package var endedAt: Instant
    /// The invariants that were broken, in their order.
    package var breaks: [Break] = []
    /// An error of the simulation itself; nil if there was none.
    package var failure: String?
    /// The goals of coverage that it reached.
    package var reached: [CoverageGoal] = []
    /// How often each fault fired, by its index in the scenario.
    package var firings: [Int] = []
    package var scans = 0

    init(digest: UInt64, events: Int, endedAt: Instant) {
        self.digest = digest
        self.events = events
        self.endedAt = endedAt
    }

    /// Whether an invariant was broken although nothing expects it, or the simulation failed.
    package var isFailing: Bool { !self.kinds.isEmpty }

    /// The kinds of failures that nothing expects, in the order of the invariants.
    package var kinds: [FailureKind] { self.kinds { !$0.isExpected } }

    /// The kinds of all failures, also of those that a profile is known for.
    package var allKinds: [FailureKind] { self.kinds { _ in true } }

    private func kinds(_ isIncluded: (Break) -> Bool) -> [FailureKind] {
        self.breaks.filter(isIncluded).map(\.kind) + (self.failure == nil ? [] : [.simulation])
    }

    /// Whether it fails in this way, expected or not.
    package func fails(as kind: FailureKind) -> Bool { self.allKinds.contains(kind) }

    /// The first violation of a kind; nil if there is none, or if the simulation failed.
    package func violation(_ kind: FailureKind) -> Violation? {
        self.breaks.first { $0.kind == kind }?.first
    }
}
