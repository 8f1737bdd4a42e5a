package import CurlLoop
package import EventLoop
package import Faults
package import Imaging
package import Phone
package import Plan
package import SimBase
package import Talaria
package import TargetTrial

/// Everything that a fleet on real sockets needs to know, as values.
package struct FleetPlan: Sendable {
    /// One phone.
    package struct PhonePlan: Sendable {
        package var number: DeviceNumber
        /// The name of its group, for the scope of faults.
        package var group = ""
        package var profile: ClientProfile
        /// The photos that it takes, by their indices in `FleetPlan.photos`.
        package var photos: Range<Int>
        package var preprocess: Preprocessing
        /// What it imports; nil for one that imports nothing.
        package var library: LibraryFiles?
        /// The scenario's faults for this phone.
        package var faults: [PhoneWindow]
        /// Set for a phone of a closed group, which captures again once its last scan was settled.
        package var think: ThinkTimes?
        /// Its way: where it leads without a path. Nil is one path all along.
        package var network: Itinerary?
        /// The last scan that it made in another process.
        package var lastScan = ScanNumber.none

        package init(
            number: DeviceNumber, profile: ClientProfile, photos: Range<Int>, preprocess: Preprocessing,
            faults: [PhoneWindow], think: ThinkTimes?
        ) {
            precondition(!photos.isEmpty, "a phone without a photo to take")
            self.number = number
            self.profile = profile
            self.photos = photos
            self.preprocess = preprocess
            self.faults = faults
            self.think = think
        }
    }

    package var clock: LoopClock
    /// Milliseconds since 1970 at the clock's zero.
    package var wallClockAtZero: Int64
    package var seed: UInt64
    /// The trace id's run, never 0.
    package var run: UInt64
    /// Those of the shard, in the order of their numbers. Without any at first, and in the order in which they are opened, where
    /// `phonesMax` is set.
    package var phones: [PhonePlan]
    /// The number of phones that may be open at once, for a fleet whose phones start and stop while it runs.
    /// It ends only when it is ordered to.
    package var phonesMax: Int?
    /// The schedule of the phones of the process, on every thread.
    package var arrivals: ArrivalSchedule
    /// The time of the last capture: after it, unfinished scans get the time of `drain`.
    package var lastArrival: Instant
    package var photos: [SourcePhoto]
    package var target: CurlTarget
    /// Scheme, host, port and base path, without a slash at the end.
    package var base: String
    package var stateFolder: String
    /// The number of open sockets in the whole fleet above which connections are not kept for a phone's next
    /// request.
    package var socketsKept: Int
    /// The time that unfinished scans have after the last arrival.
    package var drain: Interval
    /// The scenario's whole list; the phones' side meets what is `FaultTraits.isHandledByPhone`.
    package var faults: [FaultSpec] = []
    /// The headers of every request in addition to the phone's own.
    package var headers: [HeaderField] = []
    /// What phones without photos ask for.
    package var shelf = Shelf(seed: 0, booksMin: 0, booksMax: 0)
    /// The salt of the phones' device ids; nil for ids of the seed alone.
    package var deviceSalt: DeviceSalt?
    /// The flag of a rollout that phones begin with; nil without a rollout.
    package var rollout: RolloutFlag?
    /// Whether what the HTTP client measured of each request is observed.
    package var observesNetwork = false
    /// Whether the stamps of events are of this machine's clock: those of the simulated backend of this run.
    package var readsStamps = true
    /// What the target is held to; nil if it is not judged here.
    package var trial: TrialRules?
    /// The part of the fleet that the plan is for: of one process, or of one thread.
    private(set) var shard: FleetShard
    /// The thread that a plan is for, and the number of threads.
    private(set) var thread = 0
    private(set) var threads = 1

    package init(
        clock: LoopClock, wallClockAtZero: Int64, seed: UInt64, run: UInt64, phones: [PhonePlan],
        shard: FleetShard = .whole, arrivals: ArrivalSchedule, lastArrival: Instant, photos: [SourcePhoto],
        target: CurlTarget,
        base: String, stateFolder: String, socketsKept: Int, drain: Interval
    ) {
        precondition(run != 0, "a trace id of zero means none")
        precondition(
            phones.enumerated().allSatisfy { shard.has($1.number) && shard.index(of: $1.number) == $0 },
            "phones are numbered without a gap")
        self.clock = clock
        self.wallClockAtZero = wallClockAtZero
        self.seed = seed
        self.run = run
        self.phones = phones
        self.shard = shard
        self.arrivals = arrivals
        self.lastArrival = lastArrival
        self.photos = photos
        self.target = target
        self.base = base
        self.stateFolder = stateFolder
        self.socketsKept = socketsKept
        self.drain = drain
    }
}

extension FleetPlan {
    /// The plan of one thread of the process: every so many-th of its phones, so that each thread has its part of every group.
    func part(_ index: Int, of count: Int) -> FleetPlan {
        var part = self
        part.thread = index
        part.threads = count
        part.shard = FleetShard(
            index: self.shard.index + index * self.shard.count, count: self.shard.count * count)
        part.phones.removeAll { !part.shard.has($0.number) }
        return part
    }
}
