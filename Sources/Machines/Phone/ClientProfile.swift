package import SimBase

/// Everything in which one client differs from another, as values (Docs/design.md section 6).
package struct ClientProfile: Hashable, Sendable {
    package var name: String
    /// Whether a lost stream is resumed with Last-Event-ID. Off: it is opened again, from wherever the server is.
    package var resume: Bool
    /// Whether a job is deleted after its books are durable.
    package var cleanup: Bool
    package var inlineBooks: Bool
    /// `format=` of the results request.
    package var resultsFormat: String
    package var streamsMax: Int
    /// The maximum silence of a stream.
    package var idleTimeout: Interval
    package var connectTimeout: Interval
    /// The time without a response after which an upload, results or cleanup request is given up.
    package var requestTimeout: Interval
    package var backoff: BackoffPolicy
    /// The time over which retries are jittered when the path returns.
    package var pathReturnJitter: Interval
    /// A 429 that names no time.
    package var rateLimitDefault: Interval
    /// The delay before the one automatic retry of a retryable stream error.
    package var retryableErrorDelay: Interval
    /// Uploads of one scan that a 401 or a vanished job may cause.
    package var tokenExpiriesMax: Int
    package var userAgent: String

    package init(
        name: String, resume: Bool, cleanup: Bool, inlineBooks: Bool, resultsFormat: String, streamsMax: Int,
        idleTimeout: Interval, connectTimeout: Interval, requestTimeout: Interval, backoff: BackoffPolicy,
        pathReturnJitter: Interval, rateLimitDefault: Interval, retryableErrorDelay: Interval,
        tokenExpiriesMax: Int, userAgent: String
    ) {
        self.name = name
        self.resume = resume
        self.cleanup = cleanup
        self.inlineBooks = inlineBooks
        self.resultsFormat = resultsFormat
        self.streamsMax = streamsMax
        self.idleTimeout = idleTimeout
        self.connectTimeout = connectTimeout
        self.requestTimeout = requestTimeout
        self.backoff = backoff
        self.pathReturnJitter = pathReturnJitter
        self.rateLimitDefault = rateLimitDefault
        self.retryableErrorDelay = retryableErrorDelay
        self.tokenExpiriesMax = tokenExpiriesMax
        self.userAgent = userAgent
    }

    /// The behavior in the design documents. `idleTimeout` is the value for a foreign target; with the
    /// embedded backend, the plan sets it to 2.5 pings.
    package static let contract = ClientProfile(
        name: "contract", resume: true, cleanup: true, inlineBooks: true, resultsFormat: "lite",
        streamsMax: 5,
        idleTimeout: .seconds(75), connectTimeout: .seconds(10), requestTimeout: .seconds(30),
        backoff: BackoffPolicy(base: .milliseconds(500), cap: .seconds(30)),
        pathReturnJitter: .milliseconds(500), rateLimitDefault: .seconds(60),
        retryableErrorDelay: .seconds(2),
        tokenExpiriesMax: 3, userAgent: "SwiftWing/1.0 iOS/26.0")
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
