package import SimBase
package import VirtualWorld

/// How likely a failure is when a run goes on with other draws from a time on: the cause is where it rises.
package struct Likelihood: Hashable, Sendable {
    package struct Point: Hashable, Sendable {
        package var at: Instant
        /// Events before that time.
        package var events: Int
        /// The number of runs that fail, of `Likelihood.forks`.
        package var failures: Int
    }

    /// Runs that go on from each time.
    package static let forks = 16
    /// Times at equal distances; more are added to narrow the cause.
    package static let pointsMax = 12

    package var points: [Point] = []

    /// The first time from which on every run fails; nil if there is none.
    package var certainFrom: Point? {
        guard let last = self.points.lastIndex(where: { $0.failures < Self.forks }) else {
            return self.points.first
        }
        return last + 1 < self.points.count ? self.points[last + 1] : nil
    }

    /// Returns the number of events until a time.
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
            self.points.append(Self.point(trial, kind, seed: seed))
            guard trial.advance(by: min(step, end - trial.events)) else { break }
        }
        self.narrow(plan, kind, seed: seed)
    }

    /// Adds points between the last time from which not every run fails and the next, until these are one
    /// event apart.
    private mutating func narrow(_ plan: WorldPlan, _ kind: FailureKind, seed: UInt64) {
        guard let certain = self.certainFrom, let place = self.points.firstIndex(of: certain), place > 0
        else { return }
        var (low, high) = (self.points[place - 1].events, certain.events)
        var found: [Point] = []
        while high - low > 1 {
            var trial = Trial(plan)
            guard trial.advance(by: (low + high) / 2) else { break }
            let point = Self.point(trial, kind, seed: seed)
            found.append(point)
            if point.failures == Self.forks { high = point.events } else { low = point.events }
        }
        self.points = (self.points + found).sorted { $0.events < $1.events }
    }

    /// Lets a run go on with other draws, several times.
    private static func point(_ trial: Trial, _ kind: FailureKind, seed: UInt64) -> Point {
        let failures = (1...Self.forks).count { fork in
            var other = trial
            var digest = Digest()
            digest.absorb(seed)
            digest.absorb(UInt64(fork))
            other.redraw(seed: digest.value)
            return other.outcome().fails(as: kind)
        }
        return Point(at: trial.now, events: trial.events, failures: failures)
    }
}
