/// The counts of a run (Docs/design.md section 7). The open families `http.<status>` and `faults.<id>` are
/// cases of `Metric`.
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
    /// Events whose data the client could not decode; ignored.
    case sseUndecodable = "sse.undecodable"
    case uploadAttempts = "upload.attempts"
    case sseConnectAttempts = "sse.connect.attempts"
    case sseReconnectAttempts = "sse.reconnect.attempts"
    case resultsAttempts = "results.attempts"
    case cleanupAttempts = "cleanup.attempts"
    /// Sockets that this process could not open for want of a descriptor (`EMFILE`).
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
}

extension CountMetric: MetricCase {
    /// The index, from 0, in the order of `allCases`.
    package var ordinal: Int {
        switch self {
        case .scansCaptured: 0
        case .scansCompleted: 1
        case .scansRefused: 2
        case .scansWaiting: 3
        case .scansLost: 4
        case .booksExpected: 5
        case .booksReceived: 6
        case .booksMissing: 7
        case .booksDuplicated: 8
        case .jobsAccepted: 9
        case .jobsCleaned: 10
        case .jobsAbandoned: 11
        case .jobsOrphaned: 12
        case .sseEvents: 13
        case .ssePings: 14
        case .sseResumes: 15
        case .sseRestarts: 16
        case .sseUnknown: 17
        case .sseUndecodable: 18
        case .uploadAttempts: 19
        case .sseConnectAttempts: 20
        case .sseReconnectAttempts: 21
        case .resultsAttempts: 22
        case .cleanupAttempts: 23
        case .descriptorsRefused: 24
        case .scansDiscarded: 25
        case .arrivalsPlanned: 26
        case .arrivalsAchieved: 27
        case .arrivalsLate: 28
        case .scansRefusedUnexplained: 29
        case .cleanupUnfinished: 30
        case .booksPending: 31
        case .contractFindings: 32
        }
    }

    package var better: Better {
        switch self {
        case .scansCompleted, .booksReceived, .jobsCleaned, .arrivalsAchieved: .higher
        case .contractFindings, .scansRefused, .scansWaiting, .scansLost, .scansDiscarded, .booksMissing,
            .booksDuplicated,
            .jobsAbandoned, .jobsOrphaned, .sseResumes, .sseRestarts, .sseUnknown, .sseUndecodable,
            .descriptorsRefused, .arrivalsLate, .scansRefusedUnexplained, .cleanupUnfinished, .booksPending:
            .lower
        case .scansCaptured, .booksExpected, .jobsAccepted, .sseEvents, .ssePings, .uploadAttempts,
            .sseConnectAttempts, .sseReconnectAttempts, .resultsAttempts, .cleanupAttempts, .arrivalsPlanned:
            .neither
        }
    }

    /// Whether only the simulated backend can provide the metric: the books of a photo and the abandoned
    /// jobs.
    package var needsBackend: Bool {
        switch self {
        case .booksExpected, .booksMissing, .booksPending, .jobsOrphaned: true
        case .contractFindings, .scansCaptured, .scansCompleted, .scansRefused, .scansWaiting, .scansLost,
            .scansDiscarded,
            .booksReceived,
            .booksDuplicated, .jobsAccepted, .jobsCleaned, .jobsAbandoned, .sseEvents, .ssePings, .sseResumes,
            .sseRestarts, .sseUnknown, .sseUndecodable, .uploadAttempts, .sseConnectAttempts,
            .sseReconnectAttempts, .resultsAttempts, .cleanupAttempts, .descriptorsRefused,
            .arrivalsPlanned, .arrivalsAchieved, .arrivalsLate, .scansRefusedUnexplained, .cleanupUnfinished:
            false
        }
    }
}
