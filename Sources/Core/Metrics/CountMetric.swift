/// The counts of a run (Docs/design.md section 7). The open family `faults.<id>` is a
/// case of `Metric`.
package enum CountMetric: String, CaseIterable, Sendable {
    case scansCaptured = "scans.captured"
    case scansCompleted = "scans.completed"
    case scansRefused = "scans.refused"
    case scansWaiting = "scans.waiting"
    case scansLost = "scans.lost"
    case booksExpected = "books.expected"
    case booksReceived = "books.received"
    case booksMissing = "books.missing"
    case booksDuplicated = "books.duplicated"
    case jobsAccepted = "jobs.accepted"
    case jobsCleaned = "jobs.cleaned"
    case jobsAbandoned = "jobs.abandoned"
    case jobsOrphaned = "jobs.orphaned"
    case sseEvents = "sse.events"
    case ssePings = "sse.pings"
    case sseResumes = "sse.resumes"
    case sseRestarts = "sse.restarts"
    case sseUnknown = "sse.unknown"
    case sseUndecodable = "sse.undecodable"
    case uploadAttempts = "upload.attempts"
    case sseConnectAttempts = "sse.connect.attempts"
    case sseReconnectAttempts = "sse.reconnect.attempts"
    case resultsAttempts = "results.attempts"
    case cleanupAttempts = "cleanup.attempts"
    case descriptorsRefused = "descriptors.refused"
    case scansDiscarded = "scans.discarded"
    case arrivalsPlanned = "arrivals.planned"
    case arrivalsAchieved = "arrivals.achieved"
    case arrivalsLate = "arrivals.late"
    case scansRefusedUnexplained = "scans.refused.unexplained"
    case cleanupUnfinished = "cleanup.unfinished"
    case booksPending = "books.pending"
    case contractFindings = "contract.findings"
    case statusAttempts = "status.attempts"
    case photosTaken = "photos.taken"
    case rowsCreated = "rows.created"
    case rowsUpdated = "rows.updated"
    case rowsSkipped = "rows.skipped"
    case rowsFailed = "rows.failed"
    case rowsMissing = "rows.missing"
    case lookupsBilled = "lookups.billed"
    case lookupsRepeated = "lookups.repeated"
    case scansCanceled = "scans.canceled"
    case booksUnknown = "books.unknown"
    case contractBreaking = "contract.breaking"
    case textsEnriched = "texts.enriched"
    case textsKept = "texts.kept"
    case textsPhotos = "texts.photos"
    case reviewPending = "review.pending"
    case reviewLost = "review.lost"
    case refreshAttempts = "refresh.attempts"
}

extension CountMetric: MetricCase {
    /// Who counts: the ledger or the driver of the run, the ledger with a simulated backend that it can observe, or
    /// the collector at each event.
    private enum Source { case run, backend, events }

    private typealias Row = (ordinal: Int, source: Source, better: Better, meaning: String)

    /// The index, from 0, in the order of `allCases`.
    package var ordinal: Int { self.row.ordinal }

    package var better: Better { self.row.better }

    /// Whether only the simulated backend can provide the metric.
    package var needsBackend: Bool { self.row.source == .backend }

    /// Counted as it happens, and not by the ledger or the driver.
    var isMeasured: Bool { self.row.source == .events }

    /// What is counted, as text.
    package var meaning: String { self.row.meaning }

    private var row: Row {
        switch self {
        case .scansCaptured: (0, .run, .neither, "photos that were taken, each the beginning of a scan")
        case .scansCompleted:
            (1, .run, .higher, "scans whose books are all in the library, or wait for their review, once")
        case .scansRefused:
            (
                2, .run, .lower,
                "scans with a final answer of the server, which was shown to the user"
            )
        case .scansWaiting: (3, .run, .lower, "scans in the durable queue when the run was over")
        case .scansLost: (4, .run, .lower, "scans that are in no other class: the app forgot them")
        case .booksExpected:
            (
                5, .backend, .neither,
                "books that the backend found, of scans neither refused, canceled nor discarded"
            )
        case .booksReceived: (6, .run, .higher, "books in the libraries of the phones")
        case .booksMissing:
            (
                7, .backend, .lower,
                "expected books of scans that do not wait, which are not in the library"
            )
        case .booksDuplicated: (8, .run, .lower, "books that are in a library twice")
        case .jobsAccepted: (9, .run, .neither, "uploads that the backend accepted (202), each with a job")
        case .jobsCleaned: (10, .run, .higher, "jobs that a phone deleted")
        case .jobsAbandoned: (11, .run, .lower, "jobs that a phone gave up without deleting them")
        case .jobsOrphaned: (12, .backend, .lower, "jobs that no phone knows, because the 202 was lost")
        case .sseEvents: (13, .events, .neither, "events that phones read, without pings")
        case .ssePings: (14, .events, .neither, "pings that phones read")
        case .sseResumes:
            (15, .events, .neither, "streams that went on after the last event (`Last-Event-ID`)")
        case .sseRestarts: (16, .events, .lower, "streams that began again after a loss")
        case .sseUnknown: (17, .events, .lower, "events of a name that the client does not know; ignored")
        case .sseUndecodable:
            (
                18, .events, .lower,
                "events whose data the client could not decode; ignored, but that a terminal one still ends its job"
            )
        case .uploadAttempts: (19, .events, .neither, "uploads that were sent, retries included")
        case .sseConnectAttempts: (20, .events, .neither, "first requests for the stream of a job")
        case .sseReconnectAttempts: (21, .events, .neither, "requests for a stream after a loss")
        case .resultsAttempts: (22, .events, .neither, "requests for results, retries included")
        case .cleanupAttempts: (23, .events, .neither, "DELETEs, retries included")
        case .descriptorsRefused:
            (
                24, .events, .lower,
                "sockets that could not be opened for lack of descriptors"
            )
        case .scansDiscarded:
            (
                25, .run, .lower,
                "scans that a reinstallation took, or a kill before they were durable"
            )
        case .arrivalsPlanned: (26, .run, .neither, "captures that were due")
        case .arrivalsAchieved: (27, .run, .higher, "captures that were made")
        case .arrivalsLate: (28, .run, .lower, "captures that were made more than a second late")
        case .scansRefusedUnexplained:
            (
                29, .run, .lower,
                "refused scans whose refusal neither a fired fault delivered nor a full storage explains"
            )
        case .cleanupUnfinished:
            (
                30, .run, .lower,
                "completed scans whose job was not deleted, and is not gone either"
            )
        case .booksPending: (31, .backend, .lower, "expected books of scans that still wait")
        case .contractFindings:
            (
                32, .events, .lower,
                "deviations from the API contract in answers and events"
            )
        case .statusAttempts: (33, .events, .neither, "requests for the status of a job, retries included")
        case .photosTaken: (34, .events, .neither, "photos of captured scans")
        case .rowsCreated: (35, .run, .higher, "rows of imported files that became a book")
        case .rowsUpdated: (36, .run, .neither, "rows of imported files that changed a book")
        case .rowsSkipped: (37, .run, .neither, "rows of imported files that were there already")
        case .rowsFailed: (38, .run, .lower, "rows of imported files that could not be imported")
        case .rowsMissing: (39, .run, .lower, "rows of imported files with an unknown outcome")
        case .lookupsBilled: (40, .backend, .neither, "times that a provider was asked for a single book")
        case .lookupsRepeated:
            (
                41, .backend, .neither,
                "look-ups that were answered as an earlier one with the same idempotency key"
            )
        case .scansCanceled: (42, .run, .neither, "scans that their users canceled")
        case .booksUnknown:
            (
                43, .run, .lower,
                "books that batches asked for by name, that never came and that the backend counts as failures"
            )
        case .contractBreaking:
            (
                44, .events, .lower,
                "deviations from the API contract that no fault has made, and by which a client may break: a member that is missing or of another type"
            )
        case .textsEnriched: (45, .run, .higher, "books that a phone has read, and whose text was looked up")
        case .textsPhotos:
            (47, .run, .neither, "books that a phone has read, and whose photo was uploaded instead")
        case .textsKept:
            (46, .run, .lower, "books that stayed as a phone has read them, because their look-up failed")
        case .reviewPending: (48, .run, .neither, "books that waited for a review when the run was over")
        case .reviewLost:
            (49, .run, .lower, "books that waited for a review when their app was killed, and are gone")
        case .refreshAttempts:
            (50, .events, .neither, "exchanges of a token for a new one, retries included")
        }
    }
}
