package import CSV
package import Metrics
package import SimBase

/// The properties of a run that `HarnessChecks` needs.
package struct HarnessSettings: Hashable, Sendable {
    /// The server that answers the phones.
    package enum Server: Hashable, Sendable {
        /// A target that reports nothing.
        case none
        /// A target behind the gateway, which reports nothing but its faults.
        case gateway
        /// The simulated backend, which does nothing without a reason.
        case simulated(SimulatedServer)
    }

    package var server: Server
    /// The effects by index in the scenario's list.
    package var faults: [FaultEffect]
    /// The rule of each fault in `faults`, in the same order; empty if rules are not judged.
    package var rules: [FaultRule]
    package var fleet: FleetMap
    /// The number of phones that run: those of a shard.
    package var phones: Int
    /// Phones lose their paths by the ways they take, too.
    package var hasTunnels: Bool
    /// Whether the phones of a group deviate from the contract on purpose, by the groups of `fleet`; empty if none do. What
    /// they misread, and what the backend refuses because of how they ask, needs no fault.
    package var deviations: [Bool]
    /// The library files of each group, without their numbers of rows, by the groups of `fleet`; nil for one that imports none.
    package var libraries: [LibrarySpec?] = []

    package init(
        server: Server, faults: [FaultEffect], rules: [FaultRule] = [], fleet: FleetMap,
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
    package var tokenLifetime: Interval
    package var resultsLifetime: Interval
    /// The results lifetime of jobs of v2.
    package var v2ResultsLifetime: Interval
    /// Streams of v2 look for changes of their jobs: they pass events over, and bring them late.
    package var v2IsPolled = false
    /// The time for which events can be replayed; nil if it is not judged.
    package var replayTime: Interval?
    /// The number of books that imports have brought, of all devices, beyond which it may not know one again.
    package var libraryBooksMax = Int.max
    /// Nil without a circuit breaker.
    package var breaker: Breaker?
    /// The number of jobs at which an upload is answered with 503.
    package var jobsMax: Int
    /// Whether the documents of the fleet can be more than it holds, so that an upload is answered with 503 as well.
    package var documentsMayFill = false
    /// Its dialect. By default, that of the contract.
    package var dialect = Dialect()

    /// When its circuit breaker opens and closes.
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

    /// The properties of its dialect that concern the checks.
    package struct Dialect: Hashable, Sendable {
        /// The names of the events that the contract does not have.
        package var otherEvents: Set<String> = []
        package var hasIncreasingIDs = true
        /// A job that was deleted may go on on its open streams.
        package var cleanupLeavesStreams = false
        /// A job that completes says so once, and not again later.
        package var completesOnce = true
        /// Uploads and requests for results are answered in the form of the contract.
        package var answersAsContract = true
        /// Requests need a token.
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
}

/// An effect of a fault that another side observes.
package enum FaultEffect: Hashable, Sendable {
    // Instead of an answer.
    /// 429 beyond the quota. `isRecounted`: whether the requests that it counts are known from observations. `from`, `to`: when
    /// it is awake.
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
    case replayFromStart
    /// From then on, a stream can begin with events left out.
    case eventsForgotten
    case noPings
    case latePings(by: Interval)

    // To a connection.
    case cut(CutEffect)
    case delayed(by: Interval)
    case refused

    /// Something happens to a phone.
    case ofPhone(PhoneLifecycleEvent)

    /// An effect without an observation: the link's rate and its losses, the size of its pieces, the text of
    /// an event.
    case unobserved
}

/// An event of a phone's lifecycle, apart from its requests.
package enum PhoneLifecycleEvent: Hashable, Sendable {
    case offline, handover, background, kill, reinstall, clockSkew, storageFull
}

/// The way in which a fault ends a connection.
package enum CutEffect: Hashable, Sendable { case reset, close, silence }
