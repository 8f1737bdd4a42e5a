package import CurlLoop
package import Metrics
package import Observations
package import Plan
package import SimBase
import Talaria

/// A report of the fleet's threads to the main thread.
package enum FleetReport: Sendable {
    /// Everything that one thread's phones saw up to a time, nearly in order. After the end of time there is
    /// nothing.
    case observations([Observation], thread: Int, upTo: Instant)
    /// The counts of all threads together.
    case gauges(FleetGauges)
    /// Phones that were ordered to close and have closed.
    case closed([FleetClosing])
    /// A thread has failed at this time: what its phones leave undone from then on is not their failure.
    case failing(at: Instant)
    /// The last message, once every thread is done.
    case finished(FleetOutcome)
}

/// A phone that has closed.
package struct FleetClosing: Hashable, Sendable {
    package var device: DeviceNumber
    /// A later process continues behind it.
    package var lastScan: ScanNumber
}

/// A report of one thread.
struct ShardReport: Sendable {
    enum Payload: Sendable {
        /// `before`: how many observations its phones had made before the first of these.
        case observations([Observation], before: Int, upTo: Instant)
        case gauges(FleetGauges)
        case closed([FleetClosing])
        /// The thread has failed and is about to end: the others must end, too.
        case failing(at: Instant)
        /// The last word. `observations`: how many its phones made in all.
        case finished(FleetOutcome, observations: Int)
    }

    var thread: Int
    /// The number of this thread's report, from 1.
    var number: Int
    var payload: Payload
}

/// Compares the reports of one thread with its own numbers: a report or an observation that is lost, doubled
/// or moved between the threads is found directly, and not by its effect on the verdict.
struct ShardSequence: Sendable {
    private var reports = 0
    private var observations = 0

    /// Returns the sequence error of a report; nil if it is the expected one.
    mutating func check(_ report: ShardReport) -> String? {
        let due = self.reports + 1
        self.reports = report.number
        guard report.number == due else {
            return "received report \(report.number) instead of report \(due)"
        }
        switch report.payload {
        case .gauges, .closed, .failing: return nil
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

/// The state of the fleet, for the progress line.
package struct FleetGauges: Hashable, Sendable {
    package var captured = 0
    package var phonesBusy = 0
    package var phonesOffline = 0
    package var arrivalsLate = 0
    /// Captures that were due and that the operator held back.
    package var heldBack = 0
    /// The maximum timer lag.
    package var latenessMost = Interval.zero
    /// Timers that ran, and those that were later than `FleetLimits.timerLatenessMax`.
    package var timers: Int64 = 0
    package var timersLate: Int64 = 0
    /// Whether no captures are left and nothing is open.
    package var isIdle = true

    package init() {}

    mutating func add(_ other: FleetGauges) {
        self.captured += other.captured
        self.phonesBusy += other.phonesBusy
        self.phonesOffline += other.phonesOffline
        self.arrivalsLate += other.arrivalsLate
        self.heldBack += other.heldBack
        self.latenessMost = max(self.latenessMost, other.latenessMost)
        self.timers += other.timers
        self.timersLate += other.timersLate
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

/// The end of the fleet.
package struct FleetOutcome: Sendable {
    /// Why it ended before its time; nil when it did not.
    package var failure: FleetFailure?
    /// Captures that were made.
    package var captured: Int
    /// Captures that were due while their phone was away, and that it did not come back to make.
    package var capturesDeferred: Int
    /// Captures of closed groups that were due, and all of a fleet whose phones start and stop while it runs.
    package var closedDue: Int
    /// Captures that were made later than `FleetLimits.arrivalLatenessMax` after their time.
    package var arrivalsLate: Int
    /// Captures that were due and that the operator held back.
    package var heldBack: Int
    /// The time for which phones of closed groups were held.
    package var heldTime: PhoneTime
    /// Phones whose shutdown was cut off by its time limit.
    package var shutdownsTimedOut: Int
    /// The timer lag.
    package var lateness: HDRHistogram
    /// The time of each step of a phone that merged what it has read with what was found.
    package var reconcileTimes = HDRHistogram()
    /// The time for which captures waited for the thread that prepares photos.
    package var photoWaits = HDRHistogram()
    package var curl: CurlPoolCounts
    package var photosRejected: Int

    package init(
        failure: FleetFailure?, captured: Int, capturesDeferred: Int, closedDue: Int, arrivalsLate: Int,
        heldBack: Int, heldTime: PhoneTime, shutdownsTimedOut: Int, lateness: HDRHistogram,
        curl: CurlPoolCounts,
        photosRejected: Int
    ) {
        self.failure = failure
        self.captured = captured
        self.capturesDeferred = capturesDeferred
        self.closedDue = closedDue
        self.arrivalsLate = arrivalsLate
        self.heldBack = heldBack
        self.heldTime = heldTime
        self.shutdownsTimedOut = shutdownsTimedOut
        self.lateness = lateness
        self.curl = curl
        self.photosRejected = photosRejected
    }

    /// The outcome of phones that never started.
    init(failure: FleetFailure?) {
        self.init(
            failure: failure, captured: 0, capturesDeferred: 0, closedDue: 0, arrivalsLate: 0,
            heldBack: 0, heldTime: .zero, shutdownsTimedOut: 0, lateness: HDRHistogram(),
            curl: CurlPoolCounts(), photosRejected: 0)
    }

    mutating func add(_ other: FleetOutcome) {
        self.failure = self.failure ?? other.failure
        self.captured += other.captured
        self.capturesDeferred += other.capturesDeferred
        self.closedDue += other.closedDue
        self.arrivalsLate += other.arrivalsLate
        self.heldBack += other.heldBack
        self.heldTime += other.heldTime
        self.shutdownsTimedOut += other.shutdownsTimedOut
        self.lateness.add(other.lateness)
        self.reconcileTimes.add(other.reconcileTimes)
        self.photoWaits.add(other.photoWaits)
        self.curl.add(other.curl)
        self.photosRejected += other.photosRejected
    }
}

/// An order of the main thread to the fleet.
package enum FleetOrder: Sendable {
    /// Ends captures, suspends every phone and ends the thread.
    case stop
    /// Ends captures; unfinished scans get the time of the plan's drain.
    case drain
    /// A stage of a load in steps, behind those that are known; nil ends it.
    case extend(ArrivalStage?)
    /// New phones.
    case open([FleetPlan.PhonePlan])
    /// Phones that capture nothing more and shut down once their scans are settled.
    case close([DeviceNumber])
    case control(FleetControl)
    /// A photo from the preprocessing queue.
    case photo(PreprocessingQueue.Done)
}
