package import SimBase

/// When a circuit opens and closes (Docs/contract.md section 2.5).
package struct CircuitBreakerRules: Hashable, Sendable {
    /// Jobs in a row that a provider has failed, which open it.
    package var failures = 5
    /// Jobs that complete after the cooldown, which close it.
    package var successes = 2
    /// The time for which nothing is taken.
    package var cooldown = Interval.seconds(60)

    package init() {}
}

/// The circuit breaker in front of the providers (Docs/contract.md section 2.5): after a number of jobs in a
/// row that a provider has failed, no job is accepted for a while.
///
/// It has no timer. Whoever asks says what time it is, and the time of an open circuit may be over since.
struct CircuitBreaker: Hashable, Sendable {
    private enum State: Hashable, Sendable {
        /// Everything is taken. Leaves to `open` with the last of the failures in a row.
        case closed(failures: Int)
        /// Nothing is accepted before this time. Leaves to `probing` with time.
        case open(until: Instant)
        /// Everything is taken, and watched: one failure leads to `open`, enough successes to `closed`.
        case probing(successes: Int)
    }

    /// What a job says of the providers when it ends.
    enum Outcome: Hashable, Sendable { case succeeded, failed }

    enum Change: Hashable, Sendable { case opened, closed }

    let rules: CircuitBreakerRules
    private var state = State.closed(failures: 0)

    init(_ rules: CircuitBreakerRules) {
        precondition(rules.failures > 0, "a breaker that opens without a failure")
        precondition(rules.successes > 0, "a breaker that closes without a success")
        precondition(rules.cooldown > .zero, "a breaker that is open for no time")
        self.rules = rules
    }

    /// Returns the time for which nothing is taken yet; nil if a job is taken now.
    func wait(at now: Instant) -> Interval? {
        guard case .open(let until) = self.state, now < until else { return nil }
        return until - now
    }

    /// A job has ended. What was taken before the circuit opened says nothing while it is open.
    mutating func ended(_ outcome: Outcome, at now: Instant) -> Change? {
        switch (self.state, outcome) {
        case (.closed, .succeeded):
            self.state = .closed(failures: 0)
            return nil
        case (.closed(let failures), .failed):
            guard failures + 1 < self.rules.failures else { return self.open(at: now) }
            self.state = .closed(failures: failures + 1)
            return nil
        case (.open(let until), _):
            guard until <= now else { return nil }
            self.state = .probing(successes: 0)
            return self.ended(outcome, at: now)
        case (.probing, .failed): return self.open(at: now)
        case (.probing(let successes), .succeeded):
            guard successes + 1 < self.rules.successes else {
                self.state = .closed(failures: 0)
                return .closed
            }
            self.state = .probing(successes: successes + 1)
            return nil
        }
    }

    private mutating func open(at now: Instant) -> Change {
        self.state = .open(until: now + self.rules.cooldown)
        return .opened
    }
}
