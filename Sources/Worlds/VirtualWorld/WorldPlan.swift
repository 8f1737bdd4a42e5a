package import Phone
package import Plan
package import SimBase

/// The plan of a virtual run: everything that happens is a function of it and of the build.
package struct WorldPlan: Hashable, Sendable {
    package var run: RunPlan
    /// The captures, in order; nil is what the run's schedule says. Closed groups think as they always do.
    package var captures: [Arrival]?
    /// Sizes of the photos, as they are uploaded.
    package var photoBytes: [Int]
    /// The photos of each group, by its index: indices in `photoBytes`.
    package var photos: [Range<Int>]
    /// The time that phones get to settle what they have after all faults have ended; nil is a run that ends in trouble, as
    /// live ones do.
    package var settle: Interval?
    /// Milliseconds since 1970 at `Instant.zero`.
    package var wallClockAtZero: Int64
    /// Whether what a server sends comes in pieces at drawn offsets.
    package var splits: Bool
    /// Leaves out the whole layer of faults: an empty list must come to the same.
    package var bypassesFaults: Bool
    package var limits: WorldLimits
    /// The share of phones that stay offline after all faults have ended.
    package var staysOffline: Odds
    /// Whether what is due at one time happens in a drawn order, and not in the order in which it was caused.
    package var shufflesTies: Bool
    /// Whether the stages of a load in steps come by `World.extendLoad`. Otherwise every step is made.
    package var stepsAreOrdered = false

    /// Creates the plan of a scenario, with photos of drawn sizes.
    package init(_ run: RunPlan) {
        self.run = run
        self.captures = nil
        self.photoBytes = []
        self.photos = []
        self.settle = nil
        self.wallClockAtZero = Self.wallClockUsual
        self.splits = true
        self.bypassesFaults = false
        self.staysOffline = .never
        self.shufflesTies = false
        self.limits = WorldLimits(phones: run.phones)
        self.photoSizes = run.groups.indices.map { group in
            (0..<Self.photosPerGroup).map { photo in
                let drawn = run.random.below(
                    UInt64(Self.photoBytesDrawn.count), .photoSize, UInt64(group), UInt64(photo))
                return Self.photoBytesDrawn.lowerBound + Int(drawn)
            }
        }
    }

    /// The sizes of each group's photos.
    package var photoSizes: [[Int]] {
        get { self.photos.map { Array(self.photoBytes[$0]) } }
        set {
            self.photoBytes = newValue.flatMap(\.self)
            var first = 0
            self.photos = newValue.map { sizes in
                defer { first += sizes.count }
                return first..<first + sizes.count
            }
        }
    }

    /// 2026-02-01T12:00:00Z: a run of the virtual world has no other date.
    package static let wallClockUsual: Int64 = 1_769_947_200_000
    private static let photosPerGroup = 8
    /// The sizes of shelf photos at 1,920 pixels and a quality of 0.85.
    private static let photoBytesDrawn = 120_000...380_000
}

/// The numbers that distinguish a run from a mistake of the program.
package struct WorldLimits: Hashable, Sendable {
    /// Events that may wait.
    package var heapMax: Int
    /// Events of one instant.
    package var eventsPerInstantMax: Int

    package init(phones: Int) {
        self.heapMax = 100_000 + phones * 200
        self.eventsPerInstantMax = 100_000 + phones * 200
    }
}

/// The times of the virtual world that no plan says.
enum WorldTime {
    /// The time from a phone to its link, so that nothing answers in the instant of the request.
    static let hop = Interval.microseconds(50)
    /// The time that the app needs to prepare a photo.
    static let photo = Interval.milliseconds(20)
    /// The time that the phone's storage needs to make a write durable; drawn from this range.
    static let storage = Interval.milliseconds(1)...Interval.milliseconds(4)
    /// The interval at which a server checks whether the peer of a half-open connection has given up.
    static let silencePoll = Interval.seconds(1)
    /// The time in which the server receives the last data of phones that have disconnected.
    static let closingTime = Interval.seconds(5)
    /// The size of the blocks in which a phone sends an upload before it checks the link again.
    static let uploadBlock = 64 * 1_024
    /// The interval at which open streams are counted.
    static let gauge = Interval.seconds(1)

    /// The full second at a time or before it.
    static func second(of moment: Instant) -> Instant {
        Instant(nanoseconds: moment.nanoseconds / Self.gauge.nanoseconds * Self.gauge.nanoseconds)
    }
}
