package import CurlLoop
package import EventLoop
package import Faults
package import Imaging
package import Phone
package import Plan
package import SimBase
package import Talaria

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
    /// Numbered from 0; of one thread's plan, those of its shard. Without any at first, and in the order in which they are
    /// opened, where `phonesMax` is set.
    package var phones: [PhonePlan]
    /// The number of phones that may be open at once, for a fleet whose phones start and stop while it runs. It ends only when
    /// it is told to.
    package var phonesMax: Int?
    /// The schedule of the whole fleet, on every thread.
    package var arrivals: ArrivalSchedule
    /// The moment of the last capture: after it, unfinished scans get the time of `drain`.
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
    /// Whether what the HTTP client measured of each request is observed.
    package var observesNetwork = false
    /// Which of the phones a thread has; the plan of a whole fleet has the whole.
    var shard = Shard(index: 0, count: 1)

    package init(
        clock: LoopClock, wallClockAtZero: Int64, seed: UInt64, run: UInt64, phones: [PhonePlan],
        arrivals: ArrivalSchedule, lastArrival: Instant, photos: [SourcePhoto], target: CurlTarget,
        base: String, stateFolder: String, socketsKept: Int, drain: Interval
    ) {
        precondition(run != 0, "a trace id of zero means none")
        precondition(
            phones.enumerated().allSatisfy { $1.number.raw == UInt32($0) }, "phones are numbered from 0")
        self.clock = clock
        self.wallClockAtZero = wallClockAtZero
        self.seed = seed
        self.run = run
        self.phones = phones
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

/// Which of the fleet's phones a thread has: every so many-th one, so that each thread has its part of every group.
struct Shard: Hashable, Sendable {
    var index: Int
    var count: Int

    func has(_ device: DeviceNumber) -> Bool { Int(device.raw) % self.count == self.index }

    /// The index of one of its phones among them.
    func index(of device: DeviceNumber) -> Int { Int(device.raw) / self.count }
}

extension FleetPlan {
    func part(_ index: Int, of count: Int) -> FleetPlan {
        var part = self
        part.shard = Shard(index: index, count: count)
        part.phones.removeAll { !part.shard.has($0.number) }
        return part
    }
}

/// Numbers of the driver that bound its waiting.
package enum FleetLimits {
    /// The interval at which observations are sent to the main thread.
    package static let handOverInterval = Interval.milliseconds(20)
    /// The number of observations at which they are sent sooner.
    package static let handOverMost = 8_192
    /// The number of unjudged observations at which the fleet's threads wait for the main thread.
    package static let backlogMost = 65_536
    /// The interval at which phones that are about to close are looked at.
    package static let closingInterval = Interval.milliseconds(50)
    /// The number of reports per count of the phones.
    package static let handOversPerGauge = 10
    /// A capture that is passed to its phone later than this did not start in time.
    package static let arrivalLatenessMax = Interval.seconds(1)
}
