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

/// How the fleet ended.
package struct FleetOutcome: Sendable {
    /// Why it ended before its time; nil when it did not.
    package var failure: String?
    /// Whether arrivals were left out because the run was stopped.
    package var arrivalsSkipped: Int
    /// Phones that were still saying goodbye when their time was over.
    package var farewellsCut: Int
    /// How late timers ran.
    package var lateness: HDRHistogram
    package var curl: CurlPoolCounts
    package var photosRejected: Int

    package init(
        failure: String?, arrivalsSkipped: Int, farewellsCut: Int, lateness: HDRHistogram,
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
}

/// What the main thread wants of the fleet.
package enum FleetOrder: Sendable {
    /// No more captures; suspend every phone and end.
    case stop
    /// From the photo desk.
    case photo(PhotoDesk.Done)
}
