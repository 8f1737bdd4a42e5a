package import SimBase

/// The properties of a run that the invariants need.
package struct SimulationInvariantSettings: Hashable, Sendable {
    /// The maximum silence of a stream in the contract.
    package var idleTimeout: Interval
    /// The idle timeouts by the groups of the fleet map, for those of the scenario; empty for the contract's.
    package var idleTimeouts: [Interval]
    /// Whether the run ends with everything healed, settled and expired: only then nothing may be left.
    package var isSettled: Bool
    /// Whether the phones are a part of the fleet. What only the whole fleet can be held to is then kept, and not judged.
    package var isShard = false
    /// The time over which the contract spreads retries when the path returns, whatever the profile does.
    package var herdTime: Interval
    /// The maximum numbers of streams by the groups of the fleet map; empty for the contract's.
    package var streamsMax: [Int]
    /// The contract's backoff: full jitter below min(cap, base x 2^n).
    package var backoffBase: Interval
    package var backoffCap: Interval
    /// The `retry:` of the server's streams, which raises the base.
    package var retryField: Interval?
    /// The time without progress after which a request times out, by the groups of the fleet map if these
    /// have their own. A stream must be opened within the connection timeout.
    package var requestTimeout = Interval.seconds(30)
    package var requestTimeouts: [Interval] = []
    package var connectTimeout = Interval.seconds(10)
    /// The slowest link worth waiting for: an upload that is slower may time out although its bytes move.
    package var uploadBytesPerSecondMin: Int64 = 8_000
    /// The `retry:` of streams by the groups of the fleet map; empty for `retryField`.
    package var retryFields: [Interval?] = []
    /// The `format=` of results by the groups of the fleet map; empty for the contract's.
    package var resultsFormats: [String] = []
    /// Faults, by their indexes in the scenario's list, that request a wait in the header alone, where it is rounded up to whole
    /// seconds.
    package var faultsThatRound: [Int] = []
    /// What the contract's client tries again by itself.
    package var retryLimits = RetryLimits()

    package init(
        idleTimeout: Interval, isSettled: Bool, herdTime: Interval,
        backoffBase: Interval = .milliseconds(500), backoffCap: Interval = .seconds(30),
        retryField: Interval? = nil, idleTimeouts: [Interval] = [], streamsMax: [Int] = []
    ) {
        self.idleTimeouts = idleTimeouts
        self.streamsMax = streamsMax
        self.backoffBase = backoffBase
        self.backoffCap = backoffCap
        self.retryField = retryField
        self.idleTimeout = idleTimeout
        self.isSettled = isSettled
        self.herdTime = herdTime
    }
}

extension SimulationInvariantSettings {
    /// The longest wait after a number of consecutive failures: min(cap, base x 2^n). `base`: nil for that of the contract.
    func backoffCeiling(failures: Int, base: Interval? = nil) -> Interval {
        let base = base ?? self.backoffBase
        let doublings = Int64(min(max(0, failures - 1), 62))
        guard base.nanoseconds <= self.backoffCap.nanoseconds >> doublings else { return self.backoffCap }
        return .nanoseconds(base.nanoseconds << doublings)
    }
}

/// The state of a world at its end, beyond its observations.
package struct FinalWorldState: Hashable, Sendable {
    /// Phones that had something under way when their time to settle was over.
    package var stuck: [DeviceNumber]
    /// Phones whose app still wants to be woken, though nothing is left to do.
    package var restless: [DeviceNumber]
    /// Phones that stayed broken. Nothing is expected of them.
    package var broken: [DeviceNumber]
    /// Scans that wait in the storage of their phones, whether these are broken or not.
    package var waiting: [WaitingRecord] = []

    package init(stuck: [DeviceNumber], restless: [DeviceNumber], broken: [DeviceNumber]) {
        self.stuck = stuck
        self.restless = restless
        self.broken = broken
    }
}
