import SimBase
import Talaria
import Wire

// How long an answer, such as a 429 or a 503, makes the phone wait: a floor under `Backoff`, and for all uploads after a 429 of one
// (`RateGate`).

extension Answer {
    /// The wait that the server requests: `retryAfterMs` of the body, then the header in seconds or as a date, or the header
    /// first (`prefersHeader`). Zero means at once. A wait that is negative, unreadable or past is ignored, and the next source is used.
    var serverWait: Interval? {
        self.statedWait ?? (self.problem.code == ProblemCode.circuitOpen.rawValue ? self.circuitDefault : nil)
    }

    private var statedWait: Interval? {
        let asked = self.problem.retryAfterMs.map { min($0, AppLimits.serverWaitMax.wholeMilliseconds) }
        if self.prefersHeader, let wait = self.headerWait { return wait }
        if let asked, asked >= 0 { return .milliseconds(asked) }
        guard self.usesHeader || self.problem.code == nil else { return nil }
        return self.headerWait
    }

    private var headerWait: Interval? {
        switch self.head.retryAfter.flatMap(RetryAfter.init) {
        case .none:
            return nil
        case .delay(let delay):
            return delay >= .zero ? min(delay, AppLimits.serverWaitMax) : nil
        case .date(let date):
            // The date names a whole second: wait to its very beginning, not to the millisecond before.
            let (seconds, rest) = self.wallNanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
            let wait = min(.seconds(date - seconds), AppLimits.serverWaitMax) - .nanoseconds(rest)
            return wait > .zero ? wait : nil
        }
    }
}
