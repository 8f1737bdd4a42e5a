package import Phone
package import Plan
package import SimBase

/// What a virtual run is made of: everything that happens is a function of this and of the build.
package struct WorldPlan: Sendable {
    package var run: RunPlan
    /// The captures, in order; nil is what the run's schedule says. Closed groups think as they always do.
    package var captures: [Arrival]?
    /// Sizes of the photos, as they are uploaded.
    package var photoBytes: [Int]
    /// The photos of each group, by its index: indices in `photoBytes`.
    package var photos: [Range<Int>]
    /// The time that phones get to settle what they have once all trouble is over; nil is a run that ends in trouble, as
    /// live ones do.
    package var settle: Interval?
    /// Milliseconds since 1970 at `Instant.zero`.
    package var wallClockAtZero: Int64
    /// Whether what a server sends comes in pieces at drawn offsets.
    package var splits: Bool
    /// Leaves out the whole layer of faults: an empty list must come to the same.
    package var bypassesFaults: Bool
    package var limits: WorldLimits
    /// How many of the phones are left without a path when all trouble is over, for good.
    package var staysOffline: Odds
    /// Whether what is due at one moment happens in a drawn order, and not in that in which it was brought about.
    package var shufflesTies: Bool

    /// As a scenario says, with photos of drawn sizes.
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
        self.limits = WorldLimits(phones: run.devices)
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
    /// What photographs of shelves weigh at 1,920 pixels and a quality of 0.85.
    private static let photoBytesDrawn = 120_000...380_000
}

/// The numbers that tell a run from a mistake of ours.
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
    /// From a phone to what its link begins with, so that nothing answers in the instant that asks.
    static let hop = Interval.microseconds(50)
    /// What the app takes to prepare a photo.
    static let photo = Interval.milliseconds(20)
    /// What the phone's storage takes to make a write durable; drawn from it.
    static let storage = Interval.milliseconds(1)...Interval.milliseconds(4)
    /// How often a server looks whether the peer of a half-open connection has given up.
    static let silencePoll = Interval.seconds(1)
    /// What the server gets to hear the last words of phones that have hung up.
    static let lastWords = Interval.seconds(5)
    /// What one phone hands over of an upload before it looks again whether the link takes more.
    static let uploadBlock = 64 * 1_024
    /// How often open streams are counted.
    static let gauge = Interval.seconds(1)
}
