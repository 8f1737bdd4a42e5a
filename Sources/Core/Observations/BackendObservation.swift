package import SimBase
package import Talaria

/// An event or an action of the simulated backend.
package indirect enum BackendObservation: Hashable, Sendable {
    /// A connection carried its first request; ids are unique within a run.
    case connected(connection: UInt64)
    case requested(Operation, attempt: UInt32, connection: UInt64)
    case answered(Operation, attempt: UInt32, status: Int)
    /// Follows `answered` for a response with a problem document: whether it allows a retry, and the wait
    /// that it requests in any field, before rounding. `job`: the job of the request, nil for an upload.
    case problem(
        Operation, attempt: UInt32, status: Int, job: String?, retryable: Bool, retryAfter: Interval?)
    case accepted(job: String, books: Int)
    /// Follows `accepted` for an upload of several photos.
    case photosReceived(job: String, count: Int)
    /// `after`: the position of the event that the stream continues after, nil without a usable Last-Event-ID.
    case streamOpened(job: String, attempt: UInt32, after: Int?)
    /// `position`: the event's index in the job's log, from 0; nil for one that gives the state of the job
    /// and is not in a log.
    case eventWritten(job: String, id: String, position: Int?, kind: EventKind, replayed: Bool)
    case pingWritten(job: String)
    case streamEnded(job: String, attempt: UInt32, byPeer: Bool)
    /// The job reached its terminal event with this many books.
    case finished(job: String, kind: EventKind, books: Int)
    /// An import is over, with this outcome of its rows.
    case rowsTaken(job: String, RowCounts)
    /// A single barcode was looked up, or answered as before.
    case bookLookedUp(BookLookup)
    /// A book was looked up by its text.
    case textLookedUp
    /// The job ends with an `error` event that says this of a retry.
    case failed(job: String, code: String, retryable: Bool)
    case tokenRevoked(job: String)
    /// Its token was replaced by a new one, and is good for a while.
    case tokenExchanged(job: String)
    case resultsServed(job: String, books: Int)
    /// `effective`: this DELETE removed the job; otherwise it was gone already.
    case cleaned(job: String, effective: Bool)
    case canceled(job: String)
    case expired(job: String)
    /// A fault took the job away, with all that it had.
    case vanished(job: String)
    /// The circuit breaker has opened with the failure of this job: for a while, no upload of v2 is taken.
    case circuitOpened(job: String)
    /// The circuit breaker has closed with the success of this job.
    case circuitClosed(job: String)
    /// Something in a request that the contract does not define.
    case found(ContractFinding)
    /// Comes before `answered` at a gateway whose target has not answered: the gateway answers instead.
    case upstreamFailed(Operation, attempt: UInt32, TransportFailure)
    /// A foreign backend did what the contract rules out. `job`: of the request that showed it, if it has one.
    case targetBroke(TargetRule, job: String?, text: String)
    /// The first occasion at which a foreign backend could have broken a rule.
    case targetTried(TargetRule)
    /// A foreign backend has answered a probe of its trial.
    case targetProbed(TargetProbe, status: Int)
    /// A new event of a foreign backend came so much later, after its own timestamp, than the fastest one.
    case targetEvent(latency: Interval)
}

extension BackendObservation {
    static let byName = named([
        blank(connected), blank(requested), blank(answered), blank(problem), blank(accepted),
        blank(photosReceived), blank(streamOpened), blank(eventWritten), blank(pingWritten),
        blank(streamEnded), blank(finished), blank(rowsTaken), blank(bookLookedUp), textLookedUp,
        blank(failed),
        blank(tokenRevoked), blank(tokenExchanged), blank(resultsServed), blank(cleaned), blank(canceled),
        blank(expired),
        blank(vanished), blank(circuitOpened), blank(circuitClosed), blank(found), blank(upstreamFailed),
        blank(targetBroke), blank(targetTried), blank(targetProbed), blank(targetEvent),
    ])

    var level: ObservationLevel {
        switch self {
        case .pingWritten, .targetEvent: .routine
        case .eventWritten(_, _, _, let kind, let isReplayed):
            kind.level(isAsExpected: !isReplayed, otherwise: .always)
        case .found, .targetBroke: .limited
        default: .always
        }
    }
}
