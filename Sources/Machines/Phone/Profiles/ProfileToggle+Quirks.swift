import SimBase
import Talaria
import Wire

// One row for each deviation that has a number in a document: its key, what the client does, what it costs, and the values
// that it sets. A row without values has no toggle, and says why.

extension ProfileToggle {
    static let rows: [ProfileToggle] = [
        problemDetails, resultsEnvelope, inlineBooks, errorFields, lastEventID, enrichmentDegraded, ping,
        resultsFormat, statuses, scanDeviceIDs, tokenLifetime, resultsDeviceID, document, enrichmentStatus,
        lineReader, endOfStream, unfinishedEvent, dataLines, unknownEvents, progressWithoutMessage,
        nestedBooks, headLastEventID, lostStream, streamStatuses, relativeURL, retryableErrors, overlays,
        resultsOnce, deviceIDs, offlineQueue, background, leakedTokens, jitter, thrownErrors, errorTexts,
        otherVersions, cleanupOnce, retryAfter,
        errorFormats, strippedBooks, mixedStatuses, tokenReuse, eventTiming,
        booksLastEventID, endlessStreams, booksBackoff, booksStreamStatuses, transportErrors,
        unorderedPieces, remainder, dottedNames,
    ]
}

// MARK: Docs/apps.md section 5

extension ProfileToggle {
    package static let problemDetails = Self(.gap, 1, "the body of an HTTP error is not read") {
        $0.upload.problems = .ignored
    }
    package static let resultsEnvelope = Self(
        .gap, 2, "results are expected at the top level of the body"
    ) { $0.results.envelope = .topLevel }
    package static let inlineBooks = Self(
        .gap, 3, "the books in a completed event are ignored, and the results are always fetched"
    ) { $0.results.usesInlineBooks = false }
    package static let errorFields = Self(.gap, 4, "of an error event only the message is read") {
        $0.events.error = .messageOnly
    }
    package static let lastEventID = Self(.gap, 5, "a lost stream is opened without Last-Event-ID") {
        $0.stream.resumes = false
    }
    package static let enrichmentDegraded = Self(
        .gap, 6, "an enrichment_degraded event is taken for a failure of the job"
    ) { $0.events.enrichmentDegraded = .fails }
    package static let ping = Self(.gap, 7, "a ping is taken for a failure of the job") {
        $0.events.ping = .fails
    }
    package static let resultsFormat = Self(.gap, 8, "results are requested without `format=lite`") {
        $0.results.format = nil
    }
    package static let statuses = Self(.gap, 9, "the values of a status are not known") {
        $0.events.statuses = .opaque
    }
    package static let scanDeviceIDs = Self(.gap, 10, "each scan has device ids of its own") {
        $0.identity.upload = .perScan
        $0.identity.stream = .perScan
        $0.identity.results = .perService
        $0.identity.cleanup = .perService
    }
    package static let tokenLifetime = Self(.gap, 11, "a token is not known to expire") {
        $0.token.expiry = .unknown
    }
    package static let resultsDeviceID = Self(.gap, 12, "results are requested without X-Device-ID") {
        $0.identity.results = .absent
    }
    package static let document = Self(
        .gap, 13, "the client was written from the OpenAPI document 3.0.0"
    ) { $0.events.document = .v300 }
    package static let enrichmentStatus = Self(.gap, 14, "the enrichment status of a book is dropped") {
        $0.results.keepsEnrichmentStatus = false
    }
}

// MARK: Docs/apps.md section 4.11

extension ProfileToggle {
    package static let lineReader = Self(
        .quirk, 1, "the lines of a stream lack the empty ones, so that no event is ever read", .losesScans
    ) { $0.stream.reader = .withoutEmptyLines }
    package static let endOfStream = Self(
        .quirk, 2,
        "a stream that ends without a terminal event is taken for finished, and its scan forgotten",
        .losesScans
    ) { $0.stream.afterEnd = .finishes }
    package static let unfinishedEvent = Self(
        .quirk, 3,
        """
        every simulated client drops an event without its blank line, as the standard requires; nothing more to do once \
        `quirk-2` is mended
        """)
    package static let dataLines = Self(
        .quirk, 4,
        "of several data lines the last counts, an event without a name is dropped, and values are trimmed",
        .losesScans
    ) {
        // A reader without empty lines has no event whose data could differ.
        if $0.stream.reader == .standard { $0.stream.reader = .lastDataLine }
    }
    package static let unknownEvents = Self(
        .quirk, 5, "an unknown event is taken for a failure of the job", .losesScans
    ) { $0.events.unknown = .fails }
    package static let progressWithoutMessage = Self(
        .quirk, 6, "progress without a message is taken for a failure of the job", .losesScans
    ) { $0.events.progressWithoutMessage = .fails }
    package static let nestedBooks = Self(
        .quirk, 7, "a result event with a nested book is taken for a failure of the job", .losesScans
    ) { $0.events.result = .topLevel }
    package static let headLastEventID = Self(
        .quirk, 8, "Last-Event-ID is never sent", .losesNoScan, aliasOf: lastEventID)
    package static let lostStream = Self(
        .quirk, 9, "a stream that fails below HTTP is not opened again", .losesScans
    ) { $0.stream.afterLoss = .fails }
    package static let streamStatuses = Self(
        .quirk, 10, "every status of a stream other than 200 is tried again alike, also 401, 404 and 410",
        .losesScans
    ) { $0.stream.statuses = .retried }
    package static let relativeURL = Self(
        .quirk, 11, "a relative sseUrl is not resolved, and its request fails", .losesScans
    ) { $0.stream.resolvesRelativeAddress = false }
    package static let retryableErrors = Self(
        .quirk, 12, "retryable error events are retried without limit", .losesNoScan
    ) { $0.events.errorRetriesMax = nil }
    package static let overlays = Self(
        .quirk, 13,
        "a slot is held for 5 s after a scan, and no event is read while a warning or an error is shown for 5.2 s",
        .losesNoScan
    ) {
        $0.stream.slotHold = .seconds(5)
        $0.events.overlay = .milliseconds(5_200)
    }
    package static let resultsOnce = Self(
        .quirk, 14, "a job is deleted when its results could not be fetched once", .losesScans
    ) { $0.results.isRepeated = false }
    package static let deviceIDs = Self(
        .quirk, 15, "results and cleanup have a device id of their own for each scan", .losesScans
    ) {
        $0.identity.results = .perService
        $0.identity.cleanup = .perService
    }
    package static let offlineQueue = Self(
        .quirk, 16,
        "only photos taken offline are stored: each is removed after one upload, whatever comes of it, or uploaded twice if the network flaps",
        .losesScans
    ) { $0.queue = QueuePolicy(storage: .offlineOnly, drain: .once) }
    package static let background = Self(
        .quirk, 17, "in the background streams stay open, and the scans under way are given up", .losesScans
    ) { $0.background = .leavesStreams }
    package static let leakedTokens = Self(
        .quirk, 18,
        "a token that stays in memory after an error has no effect outside of the app; drop it with its job")
    package static let jitter = Self(.quirk, 19, "nothing has jitter", .losesNoScan) {
        $0.backoff.hasJitter = false
        $0.pathReturnJitter = .zero
    }
    package static let thrownErrors = Self(
        .quirk, 20, "a scan that fails is removed with its photo, and its job deleted after 5.2 s",
        .losesScans
    ) {
        $0.failedScans = .removed
        $0.failureOverlay = .milliseconds(5_200)
    }
    package static let errorTexts = Self(
        .quirk, 21, "the user is shown one text for every refused upload", .unseen
    ) { $0.upload.showsCode = false }
    package static let otherVersions = Self(
        .quirk, 22,
        "the events `failed`, `timeout`, `initialized` and `processing` of other backend versions are taken for a failure of the job",
        .losesScans
    ) {
        // An unknown event of any other name may fail as well.
        if $0.events.unknown == .ignored { $0.events.unknown = .otherVersionsFail }
    }
    package static let cleanupOnce = Self(
        .quirk, 23, "a DELETE is sent once, whatever its answer", .losesNoScan
    ) { $0.cleanup.requestsMax = 1 }
    package static let retryAfter = Self(
        .quirk, 24, "Retry-After is ignored where a problem document has no retryAfterMs", .losesNoScan
    ) { $0.waits.usesHeader = false }
}

// MARK: Docs/contract.md section 2.7

extension ProfileToggle {
    package static let errorFormats = Self(
        .inconsistency, 1, "an error event is read as a problem document"
    ) { $0.events.error = .problem }
    package static let strippedBooks = Self(
        .inconsistency, 2, "a completed event without books is taken for a photo without books"
    ) { $0.results.isFallback = false }
    package static let mixedStatuses = Self(
        .inconsistency, 3, "stages and enrichment statuses are read as job statuses"
    ) { $0.events.statuses = .jobStatus }
    package static let tokenReuse = Self(
        .inconsistency, 4,
        "the token of a WebSocket is taken for one that opens another, as that of an event stream does"
    ) { $0.stream.returns = false }
    package static let eventTiming = Self(
        .inconsistency, 5, "events are ordered by their data.timestamp"
    ) { $0.events.order = .byTimestamp }
}

// MARK: Docs/apps.md section 6.2

extension ProfileToggle {
    package static let booksLastEventID = Self(
        .booksQuirk, 1, "Last-Event-ID is never sent", aliasOf: lastEventID)
    package static let endlessStreams = Self(
        .booksQuirk, 2,
        """
        every simulated client opens a stream again, as often as it ends without a terminal event, unless its profile sets \
        a limit; what never ends by it is shown by `books-quirk-4`
        """)
    package static let booksBackoff = Self(
        .booksQuirk, 3,
        "the backoff of a stream starts again with each attempt, and never exceeds twice its base"
    ) { $0.stream.doublingsMax = 1 }
    package static let booksStreamStatuses = Self(
        .booksQuirk, 4,
        "the status of a stream is not looked at: a 401 or 404 is taken for a stream that ended, and it is opened again for ever"
    ) { $0.stream.statuses = .unchecked }
    package static let transportErrors = Self(
        .booksQuirk, 5,
        "a stream that fails below HTTP is told to the user as a failure, and opened again all the same"
    ) { $0.stream.afterLoss = .reportsFailure }
    package static let unorderedPieces = Self(
        .booksQuirk, 6,
        """
        how often the pieces of a stream pass one another in unordered tasks depends on the app's scheduler, and no source \
        says it; a share that is drawn would be invented
        """)
    package static let remainder = Self(
        .booksQuirk, 7,
        "behind an event with characters that are not ASCII, the rest of the buffer is cut short"
    ) {
        // A reader that another toggle has set stays.
        if $0.stream.reader == .standard { $0.stream.reader = .shortRemainder }
    }
    package static let dottedNames = Self(
        .booksQuirk, 8, "only events with dotted names are known, such as `photoscan.completed`"
    ) { $0.events.names = .dotted }
}
