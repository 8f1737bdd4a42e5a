package import Phone
package import SimBase

/// What makes the phones of a group take photos.
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

/// How many arrivals there are by when.
package enum ArrivalCurve: Hashable, Sendable {
    /// Without an end.
    case constant(ArrivalRate)
    case staged(ArrivalStages)

    /// When that much has arrived: the last moment by which it is not more. Nil when it never has; saturates at the
    /// end of time.
    package func moment(of position: ArrivalPosition) -> Instant? {
        switch self {
        case .constant(let rate): rate.moment(ofPosition: position)
        case .staged(let stages): stages.moment(of: position)
        }
    }

    /// When arrival number `index` (from 0) is due at equal distances.
    package func moment(of index: Int) -> Instant? { self.moment(of: ArrivalPosition(index + 1) << 32) }

    /// Arrivals that are due before `moment` at equal distances.
    package func count(before moment: Instant) -> Int {
        switch self {
        case .constant(let rate): rate.count(before: moment)
        case .staged(let stages): stages.count(before: moment)
        }
    }

    /// All of its arrivals; nil is without end.
    package var total: Int? {
        switch self {
        case .constant: nil
        case .staged(let stages): stages.total
        }
    }

    func scaled(by numerator: Int64, over denominator: Int64) -> ArrivalCurve {
        switch self {
        case .constant(let rate): .constant(rate.scaled(by: numerator, over: denominator))
        case .staged(let stages): .staged(stages.scaled(by: numerator, over: denominator))
        }
    }
}

/// How the arrivals of a group follow each other; the rate is the same.
package enum ArrivalSpacing: Hashable, Sendable {
    /// At equal distances.
    case uniform
    /// Independently of each other: exponential distances.
    case poisson
    /// This number at the same moment.
    case burst(Int)
}

/// How long the phones of a closed group wait; both ranges are uniform.
package struct ThinkTime: Hashable, Sendable {
    /// From a scan that is settled to the next capture.
    package var think: ClosedRange<Interval>
    /// From the start of the run to a phone's first capture.
    package var start: ClosedRange<Interval>

    package init(think: ClosedRange<Interval>, start: ClosedRange<Interval>) {
        precondition(think.lowerBound >= .zero && start.lowerBound >= .zero, "nobody waits less than no time")
        self.think = think
        self.start = start
    }

    /// Where a scenario says nothing, phones start as if each had settled a scan some time before the run.
    package static func startDefault(think: ClosedRange<Interval>) -> ClosedRange<Interval> {
        .zero...think.upperBound
    }
}

/// When the phones of a closed group capture: a function of the seed, the phone and which capture it is.
package struct ThinkTimes: Hashable, Sendable {
    private let time: ThinkTime
    private let scans: Int
    private let until: Instant
    private let random: KeyedRandom

    /// `scans` are those of a phone; nothing is captured from `until` on.
    package init(_ time: ThinkTime, scans: Int, until: Instant, random: KeyedRandom) {
        self.time = time
        self.scans = scans
        self.until = until
        self.random = random
    }

    /// How long a phone waits before its capture of that number, from 1.
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
