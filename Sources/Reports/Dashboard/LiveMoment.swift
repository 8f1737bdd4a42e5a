import Ledger
package import Reports
import RunArchive
package import RunControl
package import RunJudge
package import RunMetrics
package import SimBase

/// The state of a run in progress. It is taken once a second and must be cheap: measurements are read from the run's files
/// on the dashboard's thread.
package struct LiveMoment: Sendable {
    package var at: Instant
    /// All intervals that begin before this are in the files.
    package var measured: Instant
    /// The result so far. Its metrics are those that are not in the files yet, and it has no objectives.
    package var result: RunResult
    /// The timeline of the run, without the phones.
    package var timeline: RunTimeline
    /// Captures that the scenario plans; nil if that depends on the backend.
    package var scansPlanned: Int?
    package var lastArrival: Instant
    package var phonesOffline: Int
    /// The maximum timer lag of the phones.
    package var latenessMost: Interval?
    /// What the operator may do; nil if the run is not controlled.
    package var control: RunControl?
    /// Captures that the operator held back.
    package var heldBack = 0

    package init(
        at: Instant, measured: Instant, result: RunResult, timeline: RunTimeline, scansPlanned: Int?,
        lastArrival: Instant, phonesOffline: Int, latenessMost: Interval?
    ) {
        self.at = at
        self.measured = measured
        self.result = result
        self.timeline = timeline
        self.scansPlanned = scansPlanned
        self.lastArrival = lastArrival
        self.phonesOffline = phonesOffline
        self.latenessMost = latenessMost
    }
}

/// The content of a page at one time: its title, and its parts by id, as HTML.
package struct LiveFrame: Equatable, Sendable {
    package struct Part: Equatable, Sendable {
        package let id: String
        package let html: HTML
    }

    package let title: String
    package let parts: [Part]
}
