package import SimBase
package import VirtualWorld

/// How likely a failure is when a run goes on with other draws from a moment on: where it rises, the cause lies.
package struct Likelihood: Hashable, Sendable {
    package struct Point: Hashable, Sendable {
        package var at: Instant
        /// Events before that moment.
        package var events: Int
        /// The number of runs that fail, of `Likelihood.forks`.
        package var failures: Int
    }

    /// Runs that go on from each moment.
    package static let forks = 16
    package static let pointsMax = 12

    package var points: [Point] = []

    /// The first moment from which on every run fails; nil if there is none.
    package var certainFrom: Point? {
        guard let last = self.points.lastIndex(where: { $0.failures < Self.forks }) else {
            return self.points.first
        }
        return last + 1 < self.points.count ? self.points[last + 1] : nil
    }

    /// Returns the number of events until a moment.
    static func events(of plan: WorldPlan, until moment: Instant) -> Int {
        var trial = Trial(plan)
        while trial.now < moment, trial.advance(by: 1) {}
        return trial.events
    }

    /// - Parameter end: The number of events at the violation.
    /// - Parameter seed: The seed of the plan; the forks draw from seeds that follow from it.
    package init(of plan: WorldPlan, _ kind: FailureKind, until end: Int, seed: UInt64) {
        var trial = Trial(plan)
        let step = max(1, (end + Self.pointsMax - 1) / Self.pointsMax)
        while trial.events < end {
            let failures = (1...Self.forks).count { fork in
                var other = trial
                var digest = Digest()
                digest.absorb(seed)
                digest.absorb(UInt64(fork))
                other.redraw(seed: digest.value)
                return other.outcome().fails(as: kind)
            }
            self.points.append(Point(at: trial.now, events: trial.events, failures: failures))
            guard trial.advance(by: min(step, end - trial.events)) else { return }
        }
    }
}
