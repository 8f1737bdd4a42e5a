package import SimBase

/// The numbers of the enrichment of single books (Docs/contract.md section 3.2).
package struct EnrichmentRules: Hashable, Sendable {
    /// Requests of a device.
    package var requests = Quota(requests: 5, window: .minutes(1))
    /// Books that no provider has.
    package var unknown = Odds.percent(5)
    /// The time for which a key gives the same answer.
    package var keyLifetime = Interval.hours(24)
    package var keysMax = 10_000
    /// Requests whose body is being read; with more they get 503.
    package var pendingMax = 256
    /// Devices whose requests are counted; a further one is admitted and not counted.
    package var devicesMax = 10_000

    package init() {}
}
