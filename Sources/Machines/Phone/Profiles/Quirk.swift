import SimBase
import Wire

/// The defects of the app at HEAD (Docs/apps.md section 4.11). The raw values are the numbers there.
///
/// Not included: what cannot be seen from outside (`HiddenToggle`).
package enum Quirk: Int, ProfileDeviation {
    case lineReader = 1
    case endOfStream = 2
    case dataLines = 4
    case unknownEvents = 5
    case progressWithoutMessage = 6
    case nestedBooks = 7
    case lastEventID = 8
    case lostStream = 9
    case streamStatuses = 10
    case relativeURL = 11
    case retryableErrors = 12
    case overlays = 13
    case results = 14
    case deviceIDs = 15
    case offlineQueue = 16
    case background = 17
    case jitter = 19
    case thrownErrors = 20
    case errorTexts = 21
    case otherVersions = 22
    case cleanupOnce = 23
    case retryAfter = 24

    package var title: String {
        switch self {
        case .endOfStream:
            "a stream that ends without a terminal event is taken for finished, and its scan forgotten"
        case .lineReader: "the lines of a stream lack the empty ones, so that no event is ever read"
        case .dataLines:
            "of several data lines the last counts, an event without a name is dropped, and values are trimmed"
        case .unknownEvents: "an unknown event is taken for a failure of the job"
        case .progressWithoutMessage: "progress without a message is taken for a failure of the job"
        case .nestedBooks: "a result event with a nested book is taken for a failure of the job"
        case .lastEventID: "Last-Event-ID is never sent"
        case .lostStream: "a stream that fails below HTTP is not opened again"
        case .streamStatuses:
            "every status of a stream other than 200 is tried again alike, also 401, 404 and 410"
        case .relativeURL: "a relative sseUrl is not resolved, and its request fails"
        case .retryableErrors: "retryable error events are retried without limit"
        case .overlays:
            "a slot is held for 5 s after a scan, and no event is read while a warning or an error is shown for 5.2 s"
        case .results: "a job is deleted when its results could not be fetched once"
        case .deviceIDs: "results and cleanup have a device id of their own for each scan"
        case .offlineQueue:
            "only photos taken offline are stored: each is removed after one upload, whatever comes of it, or uploaded twice if the network flaps"
        case .background: "in the background streams stay open, and the scans under way are given up"
        case .jitter: "nothing has jitter"
        case .thrownErrors: "a scan that fails is removed with its photo, and its job deleted after 5.2 s"
        case .errorTexts: "the user is shown one text for every refused upload"
        case .otherVersions:
            "the events `failed`, `timeout`, `initialized` and `processing` of other backend versions are taken for a failure of the job"
        case .cleanupOnce: "a DELETE is sent once, whatever its answer"
        case .retryAfter: "Retry-After is ignored where a problem document has no retryAfterMs"
        }
    }

    package var source: String { "Docs/apps.md section 4.11, Q\(self.rawValue)" }

    package func apply(to profile: inout ClientProfile) {
        switch self {
        case .endOfStream: profile.stream.afterEnd = .finishes
        case .lineReader: profile.stream.reader = .withoutEmptyLines
        case .dataLines:
            // A reader without empty lines has no event whose data could differ.
            if profile.stream.reader == .standard { profile.stream.reader = .lastDataLine }
        case .unknownEvents: profile.events.unknown = .fails
        case .progressWithoutMessage: profile.events.progressWithoutMessage = .fails
        case .nestedBooks: profile.events.result = .topLevel
        case .lastEventID: profile.stream.resumes = false
        case .lostStream: profile.stream.afterLoss = .fails
        case .streamStatuses: profile.stream.statuses = .retried
        case .relativeURL: profile.stream.resolvesRelativeAddress = false
        case .retryableErrors: profile.events.errorRetriesMax = nil
        case .overlays:
            profile.stream.slotHold = .seconds(5)
            profile.events.overlay = .milliseconds(5_200)
        case .results: profile.results.isRepeated = false
        case .deviceIDs:
            profile.identity.results = .perService
            profile.identity.cleanup = .perService
        case .offlineQueue: profile.queue = QueuePolicy(storage: .offlineOnly, drain: .once)
        case .background: profile.background = .leavesStreams
        case .jitter:
            profile.backoff.hasJitter = false
            profile.pathReturnJitter = .zero
        case .thrownErrors:
            profile.failedScans = .removed
            profile.failureOverlay = .milliseconds(5_200)
        case .errorTexts: profile.upload.showsCode = false
        case .otherVersions:
            // An unknown event of any other name may fail as well.
            if profile.events.unknown == .ignored { profile.events.unknown = .otherVersionsFail }
        case .cleanupOnce: profile.cleanup.requestsMax = 1
        case .retryAfter: profile.waits.usesHeader = false
        }
    }
}

/// The worst that a defect of the app does, as the runs of Docs/swiftwing-head.md show it. `Tests/Quirks/page.py` holds each
/// defect to its runs.
package enum QuirkHarm: String, CaseIterable, Sendable {
    /// The app completes fewer scans than without it.
    case losesScans = "loses scans"
    /// As many scans, but more time, requests or jobs left on the server, or events that are missed or come too early.
    case losesNoScan = "loses no scan"
    case unseen = "no run shows it"

    /// A heading for a list of such defects.
    package var title: String {
        switch self {
        case .losesScans: "Defects by which scans are not completed: lost, refused, or left waiting"
        case .losesNoScan:
            "Defects that lose no scan, but cost time, requests, events, or jobs left on the server"
        case .unseen: "Defects that no run shows"
        }
    }
}

extension Quirk {
    package var harm: QuirkHarm {
        switch self {
        case .lineReader, .endOfStream, .dataLines, .unknownEvents, .progressWithoutMessage, .nestedBooks,
            .lostStream,
            .streamStatuses, .relativeURL, .results, .deviceIDs, .offlineQueue, .background, .thrownErrors,
            .otherVersions:
            .losesScans
        case .lastEventID, .retryableErrors, .overlays, .jitter, .cleanupOnce, .retryAfter:
            .losesNoScan
        case .errorTexts: .unseen
        }
    }
}
