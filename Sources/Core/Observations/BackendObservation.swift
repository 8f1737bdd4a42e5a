package import SimBase
package import Talaria

/// An event or an action of the simulated backend.
package enum BackendObservation: Hashable, Sendable {
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
    indirect case rowsTaken(job: String, RowCounts)
    /// A single barcode was looked up, or answered as before.
    indirect case bookLookedUp(BookLookup)
    /// The job ends with an `error` event that says this of a retry.
    case failed(job: String, code: String, retryable: Bool)
    case tokenRevoked(job: String)
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
    indirect case found(ContractFinding)
    /// Comes before `answered` at a gateway whose target has not answered: the gateway answers instead.
    case upstreamFailed(Operation, attempt: UInt32, TransportFailure)
    /// A foreign backend did what the contract rules out. `job`: of the request that showed it, if it has one.
    indirect case targetBroke(TargetRule, job: String?, text: String)
    /// The first occasion at which a foreign backend could have broken a rule.
    case targetTried(TargetRule)
    /// A foreign backend has answered a probe of its trial.
    case targetProbed(TargetProbe, status: Int)
    /// A new event of a foreign backend came so much later, after its own timestamp, than the fastest one.
    case targetEvent(latency: Interval)
}

extension BackendObservation {
    var level: ObservationLevel {
        switch self {
        case .pingWritten, .targetEvent: .routine
        case .eventWritten(_, _, _, let kind, let isReplayed):
            kind.level(isAsExpected: !isReplayed, otherwise: .always)
        case .found, .targetBroke: .limited
        default: .always
        }
    }

    func write(to fields: inout some FieldWriter & ~Copyable) {
        switch self {
        case .connected(let connection):
            fields.begin(.backend, "connected")
            fields.identifier("connection", connection)
        case .requested(let operation, let attempt, let connection):
            fields.begin(.backend, "requested")
            fields.exchange(operation, attempt)
            fields.identifier("connection", connection)
        case .answered(let operation, let attempt, let status):
            fields.begin(.backend, "answered")
            fields.exchange(operation, attempt)
            fields.number("status", status)
        case .problem(let operation, let attempt, let status, let job, let retryable, let retryAfter):
            fields.begin(.backend, "problem")
            fields.exchange(operation, attempt)
            fields.number("status", status)
            fields.text("job", job)
            fields.flag("retryable", retryable)
            fields.time("retry_after_ns", retryAfter)
        case .accepted(let job, let books):
            fields.begin(.backend, "accepted")
            fields.job(job)
            fields.number("books", books)
        case .photosReceived(let job, let count):
            fields.begin(.backend, "photos-received")
            fields.job(job)
            fields.number("count", count)
        case .streamOpened(let job, let attempt, let after):
            fields.begin(.backend, "stream-opened")
            fields.job(job)
            fields.attempt(attempt)
            fields.number("after", after)
        case .eventWritten(let job, let id, let position, let kind, let replayed):
            fields.begin(.backend, "event-written")
            fields.job(job)
            fields.text("id", id)
            fields.number("position", position)
            fields.name("kind", kind)
            fields.flag("replayed", replayed)
        case .pingWritten(let job):
            fields.begin(.backend, "ping-written")
            fields.job(job)
        case .streamEnded(let job, let attempt, let byPeer):
            fields.begin(.backend, "stream-ended")
            fields.job(job)
            fields.attempt(attempt)
            fields.flag("by_peer", byPeer)
        case .finished(let job, let kind, let books):
            fields.begin(.backend, "finished")
            fields.job(job)
            fields.name("kind", kind)
            fields.number("books", books)
        case .rowsTaken(let job, let rows):
            fields.begin(.backend, "rows-taken")
            fields.job(job)
            fields.rows(rows)
        case .bookLookedUp(let lookup):
            fields.begin(.backend, "book-looked-up")
            fields.text("key", lookup.key)
            fields.text("barcode", lookup.barcode)
            fields.flag("found", lookup.isFound)
            fields.flag("billed", lookup.isBilled)
        case .failed(let job, let code, let retryable):
            fields.begin(.backend, "failed")
            fields.job(job)
            fields.text("code", code)
            fields.flag("retryable", retryable)
        case .tokenRevoked(let job):
            fields.begin(.backend, "token-revoked")
            fields.job(job)
        case .resultsServed(let job, let books):
            fields.begin(.backend, "results-served")
            fields.job(job)
            fields.number("books", books)
        case .cleaned(let job, let effective):
            fields.begin(.backend, "cleaned")
            fields.job(job)
            fields.flag("effective", effective)
        case .canceled(let job):
            fields.begin(.backend, "canceled")
            fields.job(job)
        case .expired(let job):
            fields.begin(.backend, "expired")
            fields.job(job)
        case .vanished(let job):
            fields.begin(.backend, "vanished")
            fields.job(job)
        case .circuitOpened(let job):
            fields.begin(.backend, "circuit-opened")
            fields.job(job)
        case .circuitClosed(let job):
            fields.begin(.backend, "circuit-closed")
            fields.job(job)
        case .found(let finding):
            fields.begin(.backend, "found")
            finding.write(to: &fields)
        case .upstreamFailed(let operation, let attempt, let failure):
            fields.begin(.backend, "upstream-failed")
            fields.exchange(operation, attempt)
            fields.name("failure", failure)
        case .targetBroke(let rule, let job, let text):
            fields.begin(.backend, "target-broke")
            fields.name("rule", rule)
            fields.text("job", job)
            fields.text("text", text)
        case .targetTried(let rule):
            fields.begin(.backend, "target-tried")
            fields.name("rule", rule)
        case .targetProbed(let probe, let status):
            fields.begin(.backend, "target-probed")
            fields.name("probe", probe)
            fields.number("status", status)
        case .targetEvent(let latency):
            fields.begin(.backend, "target-event")
            fields.time("latency_ns", latency)
        }
    }

    init(_ name: String, from fields: inout some FieldReader & ~Copyable) throws(MalformedObservation) {
        self =
            switch name {
            case "connected": .connected(connection: try fields.identifier("connection"))
            case "requested":
                .requested(
                    try fields.operation(), attempt: try fields.attempt(),
                    connection: try fields.identifier("connection"))
            case "answered":
                .answered(
                    try fields.operation(), attempt: try fields.attempt(), status: try fields.count("status"))
            case "problem":
                .problem(
                    try fields.operation(), attempt: try fields.attempt(), status: try fields.count("status"),
                    job: try fields.text("job"), retryable: try fields.isTrue("retryable"),
                    retryAfter: try fields.optionalTime("retry_after_ns"))
            case "accepted": .accepted(job: try fields.job(), books: try fields.count("books"))
            case "photos-received":
                .photosReceived(job: try fields.job(), count: try fields.count("count"))
            case "stream-opened":
                .streamOpened(
                    job: try fields.job(), attempt: try fields.attempt(),
                    after: try fields.optionalCount("after"))
            case "event-written":
                .eventWritten(
                    job: try fields.job(), id: try fields.requiredText("id"),
                    position: try fields.optionalCount("position"), kind: try fields.value("kind"),
                    replayed: try fields.isTrue("replayed"))
            case "ping-written": .pingWritten(job: try fields.job())
            case "stream-ended":
                .streamEnded(
                    job: try fields.job(), attempt: try fields.attempt(), byPeer: try fields.isTrue("by_peer")
                )
            case "finished":
                .finished(
                    job: try fields.job(), kind: try fields.value("kind"), books: try fields.count("books"))
            case "rows-taken": .rowsTaken(job: try fields.job(), try fields.rows())
            case "book-looked-up":
                .bookLookedUp(
                    BookLookup(
                        key: try fields.text("key"), barcode: try fields.requiredText("barcode"),
                        isFound: try fields.isTrue("found"), isBilled: try fields.isTrue("billed")))
            case "failed":
                .failed(
                    job: try fields.job(), code: try fields.requiredText("code"),
                    retryable: try fields.isTrue("retryable"))
            case "token-revoked": .tokenRevoked(job: try fields.job())
            case "results-served": .resultsServed(job: try fields.job(), books: try fields.count("books"))
            case "cleaned": .cleaned(job: try fields.job(), effective: try fields.isTrue("effective"))
            case "canceled": .canceled(job: try fields.job())
            case "expired": .expired(job: try fields.job())
            case "vanished": .vanished(job: try fields.job())
            case "circuit-opened": .circuitOpened(job: try fields.job())
            case "circuit-closed": .circuitClosed(job: try fields.job())
            case "found": .found(try ContractFinding(from: &fields))
            case "upstream-failed":
                .upstreamFailed(
                    try fields.operation(), attempt: try fields.attempt(),
                    try fields.value("failure"))
            case "target-broke":
                .targetBroke(
                    try fields.value("rule"), job: try fields.text("job"),
                    text: try fields.requiredText("text"))
            case "target-tried": .targetTried(try fields.value("rule"))
            case "target-probed":
                .targetProbed(try fields.value("probe"), status: try fields.count("status"))
            case "target-event": .targetEvent(latency: try fields.time("latency_ns"))
            // An older version wrote only the wait, and only of uploads that were answered 429.
            case "limited":
                .problem(
                    .upload, attempt: 0, status: 429, job: nil, retryable: true,
                    retryAfter: try fields.time("retry_after_ns"))
            default: throw MalformedObservation()
            }
    }
}
