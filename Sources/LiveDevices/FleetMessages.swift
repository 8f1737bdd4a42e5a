package import CurlLoop
package import Metrics
package import SimBase
package import Talaria

/// What the fleet's thread tells the main thread.
package enum FleetReport: Sendable {
    /// Everything that the phones saw up to a moment, in order.
    case observations([Observation], upTo: Instant)
    case gauges(FleetGauges)
    /// The last message.
    case finished(FleetOutcome)
}

/// How it stands, for the progress line.
package struct FleetGauges: Hashable, Sendable {
    package var captured = 0
    package var arrivalsLeft = 0
    package var phonesBusy = 0
    package var phonesOffline = 0

    package init() {}
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
    /// Captures that were left out because the run was stopped.
    package var arrivalsSkipped: Int
    /// Phones that were still saying goodbye when their time was over.
    package var farewellsCut: Int
    /// How late timers ran.
    package var lateness: HDRHistogram
    package var curl: CurlPoolCounts
    package var photosRejected: Int

    package init(
        failure: FleetFailure?, arrivalsSkipped: Int, farewellsCut: Int, lateness: HDRHistogram,
        curl: CurlPoolCounts,
        photosRejected: Int
    ) {
        self.failure = failure
        self.arrivalsSkipped = arrivalsSkipped
        self.farewellsCut = farewellsCut
        self.lateness = lateness
        self.curl = curl
        self.photosRejected = photosRejected
    }

    /// Of a fleet that never started.
    package init(failure: FleetFailure) {
        self.init(
            failure: failure, arrivalsSkipped: 0, farewellsCut: 0, lateness: HDRHistogram(),
            curl: CurlPoolCounts(), photosRejected: 0)
    }
}

/// What the main thread wants of the fleet.
package enum FleetOrder: Sendable {
    /// No more captures; suspend every phone and end.
    case stop
    /// From the photo desk.
    case photo(PhotoDesk.Done)
}
