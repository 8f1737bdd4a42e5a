import SimBase
import Testing

@testable import Backend

/// When the circuit breaker opens and closes (Docs/contract.md section 2.5).
struct CircuitBreakerTests {
    private static func breaker(
        failures: Int = 5, successes: Int = 2, cooldown: Interval = .seconds(60)
    ) -> CircuitBreaker {
        var rules = CircuitBreakerRules()
        rules.failures = failures
        rules.successes = successes
        rules.cooldown = cooldown
        return CircuitBreaker(rules)
    }

    private static func moment(_ seconds: Int64) -> Instant { .zero + .seconds(seconds) }

    /// An open one, whose cooldown ends at 65 s.
    private static func opened() -> CircuitBreaker {
        var breaker = Self.breaker()
        for second in 1...5 { _ = breaker.ended(.failed, at: Self.moment(Int64(second))) }
        return breaker
    }

    @Test func `the defaults are those of the contract`() {
        let rules = CircuitBreakerRules()
        #expect(rules.failures == 5 && rules.successes == 2 && rules.cooldown == .seconds(60))
    }

    @Test func `the fifth failure in a row opens it, and nothing is taken for a minute`() {
        var breaker = Self.breaker()
        for second in 1...4 {
            let change = breaker.ended(.failed, at: Self.moment(Int64(second)))
            #expect(change == nil)
            #expect(breaker.wait(at: Self.moment(Int64(second))) == nil)
        }
        let change = breaker.ended(.failed, at: Self.moment(5))
        #expect(change == .opened)
        #expect(breaker.wait(at: Self.moment(5)) == .seconds(60))
        #expect(breaker.wait(at: Self.moment(20)) == .seconds(45))
        #expect(breaker.wait(at: Self.moment(65) - .nanoseconds(1)) == .nanoseconds(1))
        #expect(breaker.wait(at: Self.moment(65)) == nil)
    }

    @Test func `a success in between begins the count again`() {
        var breaker = Self.breaker()
        for outcome in [CircuitBreaker.Outcome.failed, .failed, .failed, .failed, .succeeded] {
            _ = breaker.ended(outcome, at: .zero)
        }
        for _ in 1...4 {
            let change = breaker.ended(.failed, at: .zero)
            #expect(change == nil)
        }
        let change = breaker.ended(.failed, at: .zero)
        #expect(change == .opened)
    }

    @Test func `jobs that end while it is open change nothing`() {
        var breaker = Self.opened()
        for outcome in [CircuitBreaker.Outcome.failed, .succeeded, .succeeded, .succeeded] {
            let change = breaker.ended(outcome, at: Self.moment(64))
            #expect(change == nil)
        }
        #expect(breaker.wait(at: Self.moment(64)) == .seconds(1))
        let change = breaker.ended(.succeeded, at: Self.moment(66))
        #expect(change == nil)  // The first of two.
    }

    @Test func `after the cooldown two successes close it`() {
        var breaker = Self.opened()
        let first = breaker.ended(.succeeded, at: Self.moment(66))
        #expect(first == nil)
        let second = breaker.ended(.succeeded, at: Self.moment(67))
        #expect(second == .closed)
        // Closed as at the beginning: four failures are not enough.
        for _ in 1...4 {
            let change = breaker.ended(.failed, at: Self.moment(68))
            #expect(change == nil)
        }
    }

    @Test(arguments: [0, 1]) func `after the cooldown one failure opens it again`(successes: Int) {
        var breaker = Self.opened()
        for _ in 0..<successes { _ = breaker.ended(.succeeded, at: Self.moment(66)) }
        let change = breaker.ended(.failed, at: Self.moment(70))
        #expect(change == .opened)
        #expect(breaker.wait(at: Self.moment(100)) == .seconds(30))
        // Successes before it do not count.
        let success = breaker.ended(.succeeded, at: Self.moment(131))
        #expect(success == nil)
    }

    @Test func `a breaker of one failure and one success does both at once`() {
        var breaker = Self.breaker(failures: 1, successes: 1, cooldown: .seconds(1))
        let opened = breaker.ended(.failed, at: .zero)
        #expect(opened == .opened)
        let closed = breaker.ended(.succeeded, at: Self.moment(1))
        #expect(closed == .closed)
    }
}
