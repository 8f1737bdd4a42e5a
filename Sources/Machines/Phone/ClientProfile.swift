package import SimBase

/// Everything in which one client differs from another, as values (Docs/design.md section 6). The defaults are the
/// behavior of the contract; another profile states its differences.
package struct ClientProfile: Hashable, Sendable {
    package var name = "contract"
    /// Whether a lost stream is resumed with Last-Event-ID. Off: it is opened again, from wherever the server is.
    package var resume = true
    /// Whether a job is deleted after its books are durable.
    package var cleanup = true
    package var inlineBooks = true
    /// `format=` of the results request.
    package var resultsFormat = "lite"
    package var streamsMax = 5
    /// The maximum silence of a stream. The default is for a foreign target; with the embedded backend, the plan
    /// sets it to 2.5 pings.
    package var idleTimeout = Interval.seconds(75)
    package var connectTimeout = Interval.seconds(10)
    /// The time without a response after which an upload, results or cleanup request is given up.
    package var requestTimeout = Interval.seconds(30)
    package var backoff = BackoffPolicy(base: .milliseconds(500), cap: .seconds(30))
    /// The time over which retries are jittered when the path returns.
    package var pathReturnJitter = Interval.milliseconds(500)
    /// A 429 that names no time.
    package var rateLimitDefault = Interval.seconds(60)
    /// The delay before the one automatic retry of a retryable stream error.
    package var retryableErrorDelay = Interval.seconds(2)
    /// Uploads of one scan that a 401 or a vanished job may cause.
    package var tokenExpiriesMax = 3
    package var userAgent = "SwiftWing/1.0 iOS/26.0"

    package init() {}

    /// The behavior in the design documents. `idleTimeout` is the value for a foreign target; with the
    /// embedded backend, the plan sets it to 2.5 pings.
    package static let contract = ClientProfile()
}

/// Exponential backoff with full jitter: a delay is drawn uniformly from 0 to min(cap, base x 2^n).
package struct BackoffPolicy: Hashable, Sendable {
    package var base: Interval
    package var cap: Interval

    package init(base: Interval, cap: Interval) {
        self.base = base
        self.cap = cap
    }
}
