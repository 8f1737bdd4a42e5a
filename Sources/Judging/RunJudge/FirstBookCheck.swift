import Observations
import SimBase

/// The second source of `first_book.time`: the captures of one phone of which no book was seen yet.
/// `ScanOperations+FirstBookTime.swift` in RunMetrics makes the metric.
struct FirstBookCheck: Sendable {
    private var bookless: [(scan: ScanNumber, due: Instant)] = []

    /// Returns the time of the scan whose first book this observation shows.
    mutating func record(_ payload: PhoneObservation, _ scan: ScanNumber, at now: Instant) -> Interval? {
        switch payload {
        case .captured(let due): self.bookless.append((scan, due))
        case .bookShown, .bookAdded, .bookRepeated:
            let index = self.bookless.firstIndex { $0.scan == scan }
            return index.map { now - self.bookless.remove(at: $0).due }
        case .completed, .refused, .canceled: self.bookless.removeAll { $0.scan == scan }
        case .reinstalled: self.bookless = []
        default: break
        }
        return nil
    }
}
