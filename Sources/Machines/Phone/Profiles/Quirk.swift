import SimBase

/// The defects of the app at HEAD (Docs/contract.md section 4.11). The raw values are the numbers there.
///
/// Not here: what cannot be told from outside (Q3, which the standard requires, Q18, Q21 and Q23), and what is not built
/// (`ProfileTable.plannedToggles`).
package enum Quirk: Int, ProfileDeviation {
    case endOfStream = 2
    case unknownEvents = 5
    case progressWithoutMessage = 6
    case lastEventID = 8
    case lostStream = 9
    case streamStatuses = 10
    case relativeURL = 11
    case retryableErrors = 12
    case results = 14
    case deviceIDs = 15
    case jitter = 19
    case otherVersions = 22
    case retryAfter = 24

    package var title: String {
        switch self {
        case .endOfStream:
            "a stream that ends without a terminal event is taken for finished, and its scan forgotten"
        case .unknownEvents: "an unknown event is taken for a failure of the job"
        case .progressWithoutMessage: "progress without a message is taken for a failure of the job"
        case .lastEventID: "Last-Event-ID is never sent"
        case .lostStream: "a stream that fails below HTTP is not opened again"
        case .streamStatuses: "every status of a stream other than 200 is tried again alike"
        case .relativeURL: "a relative sseUrl is not resolved, and its request fails"
        case .retryableErrors: "retryable error events are retried without limit"
        case .results: "a job is deleted when its results could not be fetched once"
        case .deviceIDs: "results and cleanup have a device id of their own for each scan"
        case .jitter: "nothing has jitter"
        case .otherVersions: "the events of other versions of the backend are taken for a failure of the job"
        case .retryAfter: "Retry-After is ignored where a problem document has no retryAfterMs"
        }
    }

    package var source: String { "section 4.11, Q\(self.rawValue)" }

    package func apply(to profile: inout ClientProfile) {
        switch self {
        case .endOfStream: profile.stream.afterEnd = .finishes
        case .unknownEvents: profile.events.unknown = .fails
        case .progressWithoutMessage: profile.events.progressWithoutMessage = .fails
        case .lastEventID: profile.stream.resumes = false
        case .lostStream: profile.stream.afterLoss = .fails
        case .streamStatuses: profile.stream.statuses = .retried
        case .relativeURL: profile.stream.resolvesRelativeAddress = false
        case .retryableErrors: profile.events.errorRetriesMax = nil
        case .results: profile.results.isRepeated = false
        case .deviceIDs:
            profile.identity.results = .perService
            profile.identity.cleanup = .perService
        case .jitter:
            profile.backoff.hasJitter = false
            profile.pathReturnJitter = .zero
        case .otherVersions:
            // An unknown event of any other name may fail as well.
            if profile.events.unknown == .ignored { profile.events.unknown = .otherVersionsFail }
        case .retryAfter: profile.waits.usesHeader = false
        }
    }
}
