import Wire

/// The defects of the stream client of books-v3 at HEAD (Docs/apps.md section 6.2). The raw values are the numbers there.
///
/// Not included: what cannot be seen from outside or cannot be simulated (`HiddenToggle`).
package enum BooksQuirk: Int, ProfileDeviation {
    case lastEventID = 1
    case backoff = 3
    case streamStatuses = 4
    case transportErrors = 5
    case remainder = 7
    case dottedNames = 8

    package var title: String {
        switch self {
        case .lastEventID: "Last-Event-ID is never sent"
        case .backoff:
            "the backoff of a stream begins anew with each attempt, and never exceeds twice its base"
        case .streamStatuses:
            "the status of a stream is not looked at: a 401 or 404 is taken for a stream that ended, and it is opened again for ever"
        case .transportErrors:
            "a stream that fails below HTTP is told to the user as a failure, and opened again all the same"
        case .remainder:
            "behind an event with characters that are not ASCII, the rest of the buffer is cut short"
        case .dottedNames: "only events with dotted names are known, such as `photoscan.completed`"
        }
    }

    package var source: String { "Docs/apps.md section 6.2, B\(self.rawValue)" }

    package func apply(to profile: inout ClientProfile) {
        switch self {
        case .lastEventID: profile.stream.resumes = false
        case .backoff: profile.stream.doublingsMax = 1
        case .streamStatuses: profile.stream.statuses = .unchecked
        case .transportErrors: profile.stream.afterLoss = .reportsFailure
        case .remainder:
            // Another way to read lines goes first.
            if profile.stream.reader == .standard { profile.stream.reader = .shortRemainder }
        case .dottedNames: profile.events.names = .dotted
        }
    }
}
