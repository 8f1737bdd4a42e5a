package import CurlLoop
package import Metrics
package import Observations
package import SimBase
import Talaria

/// What the fleet's threads tell the main thread.
package enum FleetReport: Sendable {
    /// Everything that one thread's phones saw up to a moment, nearly in order. After the end of time there is nothing.
    case observations([Observation], thread: Int, upTo: Instant)
    /// The counts of all threads together.
    case gauges(FleetGauges)
    /// The last message, once every thread is done.
    case finished(FleetOutcome)
}

/// What one thread tells.
struct ShardReport: Sendable {
    enum Payload: Sendable {
        /// `before`: how many observations its phones had made before the first of these.
        case observations([Observation], before: Int, upTo: Instant)
        case gauges(FleetGauges)
        /// It cannot go on and is about to end: so must the others.
        case failing
        /// The last word. `observations`: how many its phones made in all.
        case finished(FleetOutcome, observations: Int)
    }

    var thread: Int
    /// The number of this thread's report, from 1.
    var number: Int
    var payload: Payload
}

/// Holds what one thread tells against its own numbers: a report or an observation that is lost, doubled or moved between the
/// threads is known by what it is, and not by what it makes of the verdict.
struct ShardSequence: Sendable {
    private var reports = 0
    private var observations = 0

    /// What is wrong with a report; nil when it is the one that was due.
    mutating func check(_ report: ShardReport) -> String? {
        let due = self.reports + 1
        self.reports = report.number
        guard report.number == due else {
            return "received report \(report.number) instead of report \(due)"
        }
        switch report.payload {
        case .gauges, .failing: return nil
        case .finished(_, let observations):
            guard observations != self.observations else { return nil }
            return "received \(self.observations) of \(observations) observations"
        case .observations(let observations, let before, _):
            let expected = self.observations
            self.observations = before + observations.count
            guard before != expected else { return nil }
            return "received observation \(before + 1) instead of observation \(expected + 1)"
        }
    }
}

/// How it stands, for the progress line.
package struct FleetGauges: Hashable, Sendable {
    package var captured = 0
    package var phonesBusy = 0
    package var phonesOffline = 0
    package var arrivalsLate = 0
    /// How late any timer ran.
    package var latenessMost = Interval.zero
    /// No captures are left, and nothing is under way.
    package var isIdle = true

    package init() {}

    mutating func add(_ other: FleetGauges) {
        self.captured += other.captured
        self.phonesBusy += other.phonesBusy
        self.phonesOffline += other.phonesOffline
        self.arrivalsLate += other.arrivalsLate
        self.latenessMost = max(self.latenessMost, other.latenessMost)
        self.isIdle = self.isIdle && other.isIdle
    }
}

/// Why a fleet ended before its time.
package enum FleetFailure: Error, Hashable, Sendable {
    /// The state folder cannot be written: nothing more would be durable.
    case storage(String)
    case other(String)

    package var text: String {
        switch self {
        case .storage(let text), .other(let text): text
        }
    }
}

/// How the fleet ended.
package struct FleetOutcome: Sendable {
    /// Why it ended before its time; nil when it did not.
    package var failure: FleetFailure?
    /// Captures that were made.
    package var captured: Int
    /// Captures that were due while their phone was away, and that it did not come back to make.
    package var capturesDeferred: Int
    /// Captures of closed groups that were due.
    package var closedDue: Int
    /// Captures that were made later than `FleetLimits.arrivalLatenessMax` after their moment.
    package var arrivalsLate: Int
    /// Phones whose shutdown was cut off by its time limit.
    package var shutdownsTimedOut: Int
    /// How late timers ran.
    package var lateness: HDRHistogram
    package var curl: CurlPoolCounts
    package var photosRejected: Int

    package init(
        failure: FleetFailure?, captured: Int, capturesDeferred: Int, closedDue: Int, arrivalsLate: Int,
        shutdownsTimedOut: Int, lateness: HDRHistogram, curl: CurlPoolCounts,
        photosRejected: Int
    ) {
        self.failure = failure
        self.captured = captured
        self.capturesDeferred = capturesDeferred
        self.closedDue = closedDue
        self.arrivalsLate = arrivalsLate
        self.shutdownsTimedOut = shutdownsTimedOut
        self.lateness = lateness
        self.curl = curl
        self.photosRejected = photosRejected
    }

    /// The outcome of phones that never started.
    init(failure: FleetFailure?) {
        self.init(
            failure: failure, captured: 0, capturesDeferred: 0, closedDue: 0, arrivalsLate: 0,
            shutdownsTimedOut: 0, lateness: HDRHistogram(),
            curl: CurlPoolCounts(), photosRejected: 0)
    }

    mutating func add(_ other: FleetOutcome) {
        self.failure = self.failure ?? other.failure
        self.captured += other.captured
        self.capturesDeferred += other.capturesDeferred
        self.closedDue += other.closedDue
        self.arrivalsLate += other.arrivalsLate
        self.shutdownsTimedOut += other.shutdownsTimedOut
        self.lateness.add(other.lateness)
        self.curl.add(other.curl)
        self.photosRejected += other.photosRejected
    }
}

/// What the main thread wants of the fleet.
package enum FleetOrder: Sendable {
    /// No more captures; suspend every phone and end.
    case stop
    /// From the preprocessing queue.
    case photo(PreprocessingQueue.Done)
}
