import Observations
import RunMetrics
import SimBase

/// The observations from an error on, for as long as the fault that caused it may still be observed: in the
/// virtual world for the same instant, live for a short time in which a busy server reports it.
struct UndecidedObservations: Sendable {
    private static let countMax = 100_000
    /// Judged ones are removed together, when they are half of all.
    private static let removedMin = 256

    private let delay: Interval
    private var observations: [Observation] = []
    private var head = 0
    /// What fired before this index is known.
    private var known = 0

    init(delay: Interval) { self.delay = delay }

    var isEmpty: Bool { self.head == self.observations.count }

    mutating func append(_ observation: consuming Observation) { self.observations.append(observation) }

    /// Returns whether the first can be judged: it needs no fault, or none can be observed for it any more.
    /// `time`: of the latest observation; nil at the end of the run.
    func isReady(at moment: Instant?) -> Bool {
        guard !self.isEmpty else { return false }
        guard let moment, CauseAccount.isBlamed(self.observations[self.head]),
            self.observations.count - self.head < Self.countMax
        else { return true }
        // A damaged log may have any times, in any order.
        let age = moment.nanoseconds.subtractingReportingOverflow(
            self.observations[self.head].at.nanoseconds)
        return age.overflow || age.partialValue > self.delay.nanoseconds
    }

    /// Returns what has fired until now and was not returned before, if the first is an error.
    mutating func takeFired() -> [Observation] {
        guard CauseAccount.isBlamed(self.observations[self.head]) else { return [] }
        defer { self.known = self.observations.count }
        return self.observations[max(self.known, self.head)...].filter(\.isFiring)
    }

    /// Takes the first, and whether `takeFired` has returned it.
    mutating func removeFirst() -> (observation: Observation, isKnown: Bool) {
        let isKnown = self.head < self.known && self.observations[self.head].isFiring
        let observation = self.observations.take(self.head, leaving: .nothing)
        self.head += 1
        if self.isEmpty || self.head >= max(Self.removedMin, self.observations.count / 2) { self.compact() }
        return (observation, isKnown)
    }

    private mutating func compact() {
        self.observations.removeSubrange(..<self.head)
        self.known = max(0, self.known - self.head)
        self.head = 0
    }
}

extension Observation {
    fileprivate var isFiring: Bool {
        guard self.side == .fault, case .fault(.fired) = self.what else { return false }
        return true
    }
}
