package import CSV
package import Metrics
package import SimBase
internal import Talaria

/// The properties of a run that `HarnessChecks` needs.
package struct HarnessSettings: Hashable, Sendable {
    /// The server that answers the phones.
    package enum Server: Hashable, Sendable {
        /// A target that reports no observations.
        case none
        /// A target behind the gateway. The gateway reports its faults only.
        case gateway
        /// The simulated backend, which reports everything that it does.
        case simulated(SimulatedServer)
    }

    package var server: Server
    /// The effect of each fault, in the order of the scenario.
    package var faults: [FaultEffect]
    /// The rule of each fault in `faults`, in the same order; empty if rules are not judged.
    package var rules: [FaultRule]
    package var fleet: PhoneGroups
    /// The number of phones that run. A shard runs fewer than `fleet` has.
    package var phones: Int
    /// Whether phones also lose their paths without a fault, for example in a tunnel.
    package var hasTunnels: Bool
    /// Whether the phones of a rollout stay in their cohorts; nil without one.
    package var rolloutIsSticky: Bool?
    /// Whether the phones of each group of `fleet` deviate from the contract on purpose; empty if none do. Their errors and the
    /// refusals of their requests need no fault.
    package var deviations: [Bool]
    /// The library files of each group of `fleet`, without the number of rows; nil for a group that imports none.
    package var libraries: [LibrarySpec?] = []

    package init(
        server: Server, faults: [FaultEffect], rules: [FaultRule] = [], fleet: PhoneGroups,
        hasTunnels: Bool = false, deviations: [Bool] = []
    ) {
        self.server = server
        self.faults = faults
        self.rules = rules
        self.fleet = fleet
        self.phones = fleet.count
        self.hasTunnels = hasTunnels
        self.deviations = deviations
    }
}

/// The properties of the simulated backend.
package struct SimulatedServer: Hashable, Sendable {
    /// The upload quota per device; nil for no limit.
    package var quota: Quota?
    /// Quotas of uploads that several phones share.
    package var sharedQuotas: [SharedQuota] = []
    /// Whether further limits refuse uploads, and requests for the status.
    package var hasOtherUploadLimits = false
    package var hasStatusLimits = false
    package var tokenLifetime: Interval
    package var resultsLifetime: Interval
    /// The results lifetime of jobs of v2.
    package var v2ResultsLifetime: Interval
    /// Whether streams of v2 poll their jobs. They then skip events or send them late.
    package var v2IsPolled = false
    /// The time for which events can be replayed; nil if it is not judged.
    package var replayTime: Interval?
    /// The number of imported books of all devices. Beyond it, the backend may not recognize a book that was imported before.
    package var libraryBooksMax = Int.max
    /// Is nil without a circuit breaker.
    package var breaker: Breaker?
    /// The number of jobs at which the backend answers an upload with 503.
    package var jobsMax: Int
    /// Whether the documents of the fleet can exceed the storage of the backend, which then answers an upload with 503.
    package var documentsMayFill = false
    /// Default: the dialect of the contract.
    package var dialect = Dialect()

    package struct SharedQuota: Hashable, Sendable {
        package var quota: Quota
        /// The number of phones that share it: those from 0, and so on; nil for all.
        package var phones: Int?
        /// Whether the uploads of each group count.
        package var groups: [Bool]

        package init(quota: Quota, phones: Int?, groups: [Bool]) {
            self.quota = quota
            self.phones = phones
            self.groups = groups
        }

        /// Phones with equal numbers share the quota.
        func share(of device: DeviceNumber) -> UInt32 {
            self.phones.map { device.raw / UInt32(clamping: $0) } ?? 0
        }
    }

    /// When the circuit breaker opens and closes.
    package struct Breaker: Hashable, Sendable {
        package var failures: Int
        package var successes: Int
        package var cooldown: Interval

        package init(failures: Int, successes: Int, cooldown: Interval) {
            self.failures = failures
            self.successes = successes
            self.cooldown = cooldown
        }
    }

    /// The properties of a dialect that concern the checks.
    package struct Dialect: Hashable, Sendable {
        /// The names of its events that are not in the contract.
        package var otherEvents: Set<String> = []
        package var hasIncreasingIDs = true
        /// Whether a deleted job continues on its open streams.
        package var cleanupLeavesStreams = false
        /// Whether the completion of a job is reported only once.
        package var completesOnce = true
        /// Whether answers to uploads and to requests for results have the form of the contract.
        package var answersAsContract = true
        /// Whether requests need a token.
        package var hasAuthorization = true

        package init() {}
    }

    package init(quota: Quota?, tokenLifetime: Interval, resultsLifetime: Interval, jobsMax: Int) {
        self.quota = quota
        self.tokenLifetime = tokenLifetime
        self.resultsLifetime = resultsLifetime
        self.v2ResultsLifetime = resultsLifetime
        self.jobsMax = jobsMax
    }

    func resultsLifetime(of version: APIVersion) -> Interval {
        switch version {
        case .v2: self.v2ResultsLifetime
        case .v3: self.resultsLifetime
        }
    }
}

/// An effect of a fault that another side observes.
package enum FaultEffect: Hashable, Sendable {
    // Instead of an answer.
    /// 429 beyond the quota. `isRecounted`: whether observations show the requests that it counts. `from`, `to`: when it is
    /// active.
    case limit(Quota, retryAfter: Interval?, isRecounted: Bool, from: Instant, to: Instant)
    case status(Int)
    case tokenRevoked
    case jobGone(status: Int)

    // To a job.
    case jobFailed
    case degraded
    case slowed(by: Interval)

    // To what is written.
    case booksStripped
    case resultsTruncated
    case resultsReordered
    case eventAdded
    case eventGarbled
    case secondTerminal
    case noTerminal
    case socketClosed
    case replayFromStart
    /// Streams that open later can lack their first events.
    case eventsForgotten
    case noPings
    case latePings(by: Interval)

    // To a connection.
    case cut(CutEffect)
    case delayed(by: Interval)
    case refused

    /// An event in the lifecycle of a phone.
    case ofPhone(PhoneLifecycleEvent)

    /// An effect that is not observed: the rate and the losses of a link, the size of pieces, the text of an
    /// event.
    case unobserved
}

/// An event of a phone's lifecycle, apart from its requests.
package enum PhoneLifecycleEvent: Hashable, Sendable {
    case offline, handover, background, kill, reinstall, clockSkew, storageFull
}

/// The way in which a fault ends a connection.
package enum CutEffect: Hashable, Sendable { case reset, close, silence }
