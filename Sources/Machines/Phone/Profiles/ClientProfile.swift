package import SimBase

/// Everything in which one client differs from another, as values (Docs/design.md section 6).
///
/// The default of each value is that of the `contract` client. The phone asks for values only: it knows neither the name of its
/// profile nor the toggles that changed it.
package struct ClientProfile: Hashable, Sendable {
    package var name = "contract"
    package var identity = IdentityPolicy()
    package var upload = UploadPolicy()
    package var waits = WaitPolicy()
    package var stream = StreamPolicy()
    package var events = EventPolicy()
    package var results = ResultsPolicy()
    package var token = TokenPolicy()
    package var cleanup = CleanupPolicy()
    package var failedScans = FailedScanPolicy.wait
    /// The time without a response after which an upload, results or cleanup request is given up.
    package var requestTimeout = Interval.seconds(30)
    package var backoff = BackoffPolicy(base: .milliseconds(500), cap: .seconds(30))
    /// The time over which retries are jittered when the path returns.
    package var pathReturnJitter = Interval.milliseconds(500)

    package init() {}

    /// The behavior in the design documents.
    package static let contract = ClientProfile()
}

/// What becomes of a scan that the client does not try to finish any more.
package enum FailedScanPolicy: String, CaseIterable, Hashable, Sendable {
    /// It waits in the durable queue for the next launch.
    case wait
    /// It is shown as failed and removed.
    case removed
}

/// Exponential backoff: after n failures, a delay below min(cap, base x 2^n).
package struct BackoffPolicy: Hashable, Sendable {
    package var base: Interval
    package var cap: Interval
    /// Full jitter: the delay is drawn uniformly from 0. Off: it is the ceiling itself.
    package var hasJitter = true

    package init(base: Interval, cap: Interval) {
        self.base = base
        self.cap = cap
    }
}
