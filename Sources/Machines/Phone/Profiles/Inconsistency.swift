/// The mistakes that the known inconsistencies of the contract invite (Docs/contract.md section 2.7). The raw values are the
/// numbers there. Inconsistency 4 is about WebSocket tokens, which no profile has.
package enum Inconsistency: Int, ProfileDeviation {
    case errorFormats = 1
    case strippedBooks = 2
    case statuses = 3
    case eventTiming = 5

    package var title: String {
        switch self {
        case .errorFormats: "an error event is read as a problem document"
        case .strippedBooks: "a completed event without books is taken for a photo without books"
        case .statuses: "stages and enrichment statuses are read as job statuses"
        case .eventTiming: "events are ordered by their data.timestamp"
        }
    }

    package var source: String { "Docs/contract.md section 2.7, \(self.rawValue)" }

    package func apply(to profile: inout ClientProfile) {
        switch self {
        case .errorFormats: profile.events.error = .problem
        case .strippedBooks: profile.results.isFallback = false
        case .statuses: profile.events.statuses = .jobStatus
        case .eventTiming: profile.events.order = .byTimestamp
        }
    }
}
