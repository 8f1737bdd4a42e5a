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
    /// Events of a name that the client does not know; ignored.
    case sseUnknown = "sse.unknown"
    /// Events whose data the client could not decode; ignored, unless they are terminal.
    case sseUndecodable = "sse.undecodable"
    case uploadAttempts = "upload.attempts"
    case sseConnectAttempts = "sse.connect.attempts"
    case sseReconnectAttempts = "sse.reconnect.attempts"
    case resultsAttempts = "results.attempts"
    case cleanupAttempts = "cleanup.attempts"
    /// Sockets that this process could not open for lack of a descriptor (`EMFILE`).
    case descriptorsRefused = "descriptors.refused"
    /// Scans that a reinstallation took, or a kill before they were durable.
    case scansDiscarded = "scans.discarded"
    /// Captures that were due: by the schedule, and after thinking.
    case arrivalsPlanned = "arrivals.planned"
    /// Captures that were made.
    case arrivalsAchieved = "arrivals.achieved"
    /// Captures that were made more than a second after their moment.
    case arrivalsLate = "arrivals.late"
    /// Refused scans whose refusal neither a fired fault delivered nor a full storage explains.
    case scansRefusedUnexplained = "scans.refused.unexplained"
    /// Completed scans whose job was not deleted, and not gone either.
    case cleanupUnfinished = "cleanup.unfinished"
    /// Books of scans that still wait.
    case booksPending = "books.pending"
    /// Deviations from the contract in responses and events.
    case contractFindings = "contract.findings"
    case statusAttempts = "status.attempts"
    /// Photos of captured scans.
    case photosTaken = "photos.taken"
    /// What became of the rows of imported files, as the phones read it.
    case rowsCreated = "rows.created"
    case rowsUpdated = "rows.updated"
    case rowsSkipped = "rows.skipped"
    case rowsFailed = "rows.failed"
    /// Rows of which nobody knows what became of them.
    case rowsMissing = "rows.missing"
    /// Times that a provider was asked for a single book.
    case lookupsBilled = "lookups.billed"
    /// Requests for a single book that were answered as an earlier one with the same idempotency key.
    case lookupsRepeated = "lookups.repeated"
    /// Scans that their users canceled.
    case scansCanceled = "scans.canceled"
    /// Books that batches asked for, that never came and that the backend counts as failures.
    case booksUnknown = "books.unknown"
    /// Deviations of a backend by which a client of the contract may break, other than by a fault.
    case contractBreaking = "contract.breaking"
}

extension CountMetric: MetricCase {
    /// The index, from 0, in the order of `allCases`.
    package var ordinal: Int { self.traits.ordinal }

    package var better: Better { self.traits.better }

    /// Whether only the simulated backend can provide the metric: the books of a photo and the abandoned
    /// jobs.
    package var needsBackend: Bool { self.traits.needsBackend }

    /// Counted as it happens, and not by the ledger or the driver.
    var isMeasured: Bool { self.traits.isMeasured }

    private var traits: (ordinal: Int, better: Better, needsBackend: Bool, isMeasured: Bool) {
        switch self {
        case .scansCaptured: (0, .neither, needsBackend: false, isMeasured: false)
        case .scansCompleted: (1, .higher, needsBackend: false, isMeasured: false)
        case .scansRefused: (2, .lower, needsBackend: false, isMeasured: false)
        case .scansWaiting: (3, .lower, needsBackend: false, isMeasured: false)
        case .scansLost: (4, .lower, needsBackend: false, isMeasured: false)
        case .booksExpected: (5, .neither, needsBackend: true, isMeasured: false)
        case .booksReceived: (6, .higher, needsBackend: false, isMeasured: false)
        case .booksMissing: (7, .lower, needsBackend: true, isMeasured: false)
        case .booksDuplicated: (8, .lower, needsBackend: false, isMeasured: false)
        case .jobsAccepted: (9, .neither, needsBackend: false, isMeasured: false)
        case .jobsCleaned: (10, .higher, needsBackend: false, isMeasured: false)
        case .jobsAbandoned: (11, .lower, needsBackend: false, isMeasured: false)
        case .jobsOrphaned: (12, .lower, needsBackend: true, isMeasured: false)
        case .sseEvents: (13, .neither, needsBackend: false, isMeasured: true)
        case .ssePings: (14, .neither, needsBackend: false, isMeasured: true)
        case .sseResumes: (15, .lower, needsBackend: false, isMeasured: true)
        case .sseRestarts: (16, .lower, needsBackend: false, isMeasured: true)
        case .sseUnknown: (17, .lower, needsBackend: false, isMeasured: true)
        case .sseUndecodable: (18, .lower, needsBackend: false, isMeasured: true)
        case .uploadAttempts: (19, .neither, needsBackend: false, isMeasured: true)
        case .sseConnectAttempts: (20, .neither, needsBackend: false, isMeasured: true)
        case .sseReconnectAttempts: (21, .neither, needsBackend: false, isMeasured: true)
        case .resultsAttempts: (22, .neither, needsBackend: false, isMeasured: true)
        case .cleanupAttempts: (23, .neither, needsBackend: false, isMeasured: true)
        case .descriptorsRefused: (24, .lower, needsBackend: false, isMeasured: true)
        case .scansDiscarded: (25, .lower, needsBackend: false, isMeasured: false)
        case .arrivalsPlanned: (26, .neither, needsBackend: false, isMeasured: false)
        case .arrivalsAchieved: (27, .higher, needsBackend: false, isMeasured: false)
        case .arrivalsLate: (28, .lower, needsBackend: false, isMeasured: false)
        case .scansRefusedUnexplained: (29, .lower, needsBackend: false, isMeasured: false)
        case .cleanupUnfinished: (30, .lower, needsBackend: false, isMeasured: false)
        case .booksPending: (31, .lower, needsBackend: true, isMeasured: false)
        case .contractFindings: (32, .lower, needsBackend: false, isMeasured: true)
        case .statusAttempts: (33, .neither, needsBackend: false, isMeasured: true)
        case .photosTaken: (34, .neither, needsBackend: false, isMeasured: true)
        case .rowsCreated: (35, .higher, needsBackend: false, isMeasured: false)
        case .rowsUpdated: (36, .neither, needsBackend: false, isMeasured: false)
        case .rowsSkipped: (37, .neither, needsBackend: false, isMeasured: false)
        case .rowsFailed: (38, .lower, needsBackend: false, isMeasured: false)
        case .rowsMissing: (39, .lower, needsBackend: false, isMeasured: false)
        case .lookupsBilled: (40, .neither, needsBackend: true, isMeasured: false)
        case .lookupsRepeated: (41, .neither, needsBackend: true, isMeasured: false)
        case .scansCanceled: (42, .neither, needsBackend: false, isMeasured: false)
        case .booksUnknown: (43, .lower, needsBackend: false, isMeasured: false)
        case .contractBreaking: (44, .lower, needsBackend: false, isMeasured: true)
        }
    }
}
