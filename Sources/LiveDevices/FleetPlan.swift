package import CurlLoop
package import Device
package import EventLoop
package import Imaging
package import Plan
package import SimBase

/// Everything that a fleet on real sockets needs to know, as values.
package struct FleetPlan: Sendable {
    /// One phone.
    package struct Phone: Sendable {
        package var number: DeviceNumber
        package var profile: ClientProfile
        /// The photos that it takes, by their places in `FleetPlan.photos`.
        package var photos: Range<Int>
        /// When it has no path, in order.
        package var offline: [OfflineWindow]

        package init(
            number: DeviceNumber, profile: ClientProfile, photos: Range<Int>, offline: [OfflineWindow]
        ) {
            precondition(!photos.isEmpty, "a phone without a photo to take")
            self.number = number
            self.profile = profile
            self.photos = photos
            self.offline = offline
        }
    }

    package struct OfflineWindow: Sendable {
        /// The fault's place in the scenario's list.
        package var fault: Int
        package var from: Instant
        package var to: Instant

        package init(fault: Int, from: Instant, to: Instant) {
            self.fault = fault
            self.from = from
            self.to = to
        }
    }

    package var clock: LoopClock
    /// Milliseconds since 1970 at the clock's zero.
    package var wallClockAtZero: Int64
    package var seed: UInt64
    /// The trace id's run, never 0.
    package var run: UInt64
    /// Numbered in one piece.
    package var phones: [Phone]
    package var arrivals: ArrivalSchedule
    /// How many captures `arrivals` will give.
    package var arrivalsCount: Int
    package var photos: [SourcePhoto]
    package var target: CurlTarget
    /// Scheme, host, port and base path, without a slash at the end.
    package var base: String
    package var stateFolder: String
    /// How long unfinished scans get after the last arrival.
    package var drain: Interval

    package init(
        clock: LoopClock, wallClockAtZero: Int64, seed: UInt64, run: UInt64, phones: [Phone],
        arrivals: ArrivalSchedule, arrivalsCount: Int, photos: [SourcePhoto], target: CurlTarget,
        base: String,
        stateFolder: String, drain: Interval
    ) {
        precondition(run != 0, "a trace id of zero means none")
        self.clock = clock
        self.wallClockAtZero = wallClockAtZero
        self.seed = seed
        self.run = run
        self.phones = phones
        self.arrivals = arrivals
        self.arrivalsCount = arrivalsCount
        self.photos = photos
        self.target = target
        self.base = base
        self.stateFolder = stateFolder
        self.drain = drain
    }
}

/// Numbers of the driver that bound its waiting.
package enum FleetLimits {
    /// How often observations are handed to the main thread.
    package static let handOverInterval = Interval.milliseconds(50)
    /// What a suspended phone gets to say goodbye to the backend.
    package static let farewellTime = Interval.seconds(3)
}
