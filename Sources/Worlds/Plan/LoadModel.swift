import Metrics
package import Phone
package import SimBase

/// The load model of a group: what starts its captures.
package enum LoadModel: Hashable, Sendable {
    /// Captures come on schedule, whatever the backend does.
    case open(ArrivalCurve, ArrivalSpacing)
    /// A phone captures again a while after its last scan was settled: a slow backend slows the load down.
    case closed(ThinkTime)

    func scaled(by numerator: Int64, over denominator: Int64) -> LoadModel {
        switch self {
        case .open(let curve, let spacing):
            .open(curve.scaled(by: numerator, over: denominator), spacing)
        case .closed: self  // The load of a phone is its own: so many phones, so much load.
        }
    }
}

/// The number of arrivals over time.
package enum ArrivalCurve: Hashable, Sendable {
    /// A constant rate without an end.
    case constant(ArrivalRate)
    case staged(ArrivalStages)
    /// Steps that go up until an objective fails: what comes after the first is decided while the run goes on. Everything that is
    /// computed from the curve holds if every step holds, and is over after so much time.
    case stepped(SteppedArrivals)

    /// Returns the last time at which the position is not exceeded. Nil if it is never reached; saturates at
    /// the end of time.
    package func moment(of position: ArrivalPosition) -> Instant? {
        switch self {
        case .constant(let rate): rate.moment(ofPosition: position)
        case .staged(let stages): stages.moment(of: position)
        case .stepped(let arrivals): arrivals.stairs.moment(of: position)
        }
    }

    /// Returns the time of arrival number `index` (from 0) at equal distances.
    package func moment(of index: Int) -> Instant? { self.moment(of: ArrivalPosition(index + 1) << 32) }

    /// Arrivals that are due before `time` at equal distances.
    package func count(before moment: Instant) -> Int {
        switch self {
        case .constant(let rate): rate.count(before: moment)
        case .staged(let stages): stages.count(before: moment)
        case .stepped(let arrivals): arrivals.stairs.count(before: moment)
        }
    }

    /// All of its arrivals; nil is without end.
    package var total: Int? {
        switch self {
        case .constant: nil
        case .staged(let stages): stages.total
        case .stepped(let arrivals): arrivals.stairs.total
        }
    }

    func scaled(by numerator: Int64, over denominator: Int64) -> ArrivalCurve {
        switch self {
        case .constant(let rate): .constant(rate.scaled(by: numerator, over: denominator))
        case .staged(let stages): .staged(stages.scaled(by: numerator, over: denominator))
        case .stepped(let arrivals):
            .stepped(SteppedArrivals(arrivals.steps.scaled(by: numerator, over: denominator)))
        }
    }
}

/// The spacing of a group's arrivals; the rate is the same.
package enum ArrivalSpacing: Hashable, Sendable {
    /// Equal distances.
    case uniform
    /// Independently of each other: exponential distances.
    case poisson
    /// This number at the same time.
    case burst(Int)
}

/// The waits of the phones of a closed group; both ranges are uniform.
package struct ThinkTime: Hashable, Sendable {
    /// The time from a settled scan to the next capture.
    package var think: ClosedRange<Interval>
    /// The time from the start of the run to a phone's first capture.
    package var start: ClosedRange<Interval>

    package init(think: ClosedRange<Interval>, start: ClosedRange<Interval>) {
        precondition(think.lowerBound >= .zero && start.lowerBound >= .zero, "nobody waits less than no time")
        self.think = think
        self.start = start
    }

    /// Returns the default start: phones start as if each had settled a scan some time before the run.
    package static func startDefault(think: ClosedRange<Interval>) -> ClosedRange<Interval> {
        .zero...think.upperBound
    }
}

/// The times of the captures of a closed group: a function of the seed, the phone and the number of the
/// capture.
package struct ThinkTimes: Hashable, Sendable {
    private let time: ThinkTime
    package let scans: Int
    package let until: Instant
    private let random: KeyedRandom

    /// `scans` are those of a phone; nothing is captured from `until` on.
    package init(_ time: ThinkTime, scans: Int, until: Instant, random: KeyedRandom) {
        self.time = time
        self.scans = scans
        self.until = until
        self.random = random
    }

    /// Returns the wait of a phone before its capture of this number, from 1.
    package func wait(before ordinal: Int, of device: DeviceNumber) -> Interval {
        precondition(ordinal > 0, "captures count from 1")
        let range = ordinal == 1 ? self.time.start : self.time.think
        let span = UInt64((range.upperBound - range.lowerBound).nanoseconds) + 1
        let drawn = self.random.below(span, .think, UInt64(device.raw), UInt64(ordinal))
        return range.lowerBound + Interval(nanoseconds: Int64(drawn))
    }

    /// The capture of that number, once the one before was settled; of the first, once the run has begun. Nil when the
    /// phone has no more of them, or not in time.
    package func arrival(_ ordinal: Int, of device: DeviceNumber, settled: Instant) -> Arrival? {
        guard ordinal <= self.scans else { return nil }
        let wait = self.wait(before: ordinal, of: device)
        let (due, overflow) = settled.nanoseconds.addingReportingOverflow(wait.nanoseconds)
        guard !overflow, due < self.until.nanoseconds else { return nil }
        return Arrival(
            scheduled: Instant(nanoseconds: due), device: device, ordinal: ordinal,
            photoDraw: Arrival.photoDraw(self.random, device, ordinal))
    }
}
