import Metrics
import SimBase

// `first_book.time`: the time from the scheduled capture until the user sees a first book of the scan. `ScanTimes` in
// `OpenOperations.swift` has the start. `RunJudge/FirstBookCheck.swift` measures it a second time.

extension ScanOperations {
    /// The user sees a book.
    mutating func bookSeen(at: Instant, into measured: inout Measurements, _ group: MetricGroup) {
        guard let since = self.times.awaitsBookSince else { return }
        self.times.awaitsBookSince = nil
        measured.record(.firstBookTime, at - since, in: group)
    }
}
