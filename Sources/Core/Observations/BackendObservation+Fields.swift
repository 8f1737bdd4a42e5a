import SimBase
import Talaria

extension BackendObservation: DescribedObservation {
    static var side: Side { .backend }

    func coded(by codec: inout some FieldCodec & ~Copyable) throws(MalformedObservation) -> Self? {
        switch self {
        case .connected(let connection):
            try codec.row("connected", Self.connected, "connection", of: connection)
        case .requested(let operation, let attempt, let connection):
            try codec.row(
                "requested", Self.requested, "operation", "attempt", "connection", of: operation, attempt,
                connection)
        case .answered(let operation, let attempt, let status):
            try codec.row(
                "answered", Self.answered, "operation", "attempt", "status", of: operation, attempt, status)
        case .problem(let operation, let attempt, let status, let job, let retryable, let retryAfter):
            try codec.row(
                "problem", Self.problem, "operation", "attempt", "status", "job", "retryable",
                "retry_after_ns", of: operation, attempt, status, job, retryable, retryAfter)
        default: try self.codedJobs(by: &codec)
        }
    }

    private func codedJobs(by codec: inout some FieldCodec & ~Copyable) throws(MalformedObservation) -> Self?
    {
        switch self {
        case .accepted(let job, let books):
            try codec.row("accepted", Self.accepted, "job", "books", of: job, books)
        case .photosReceived(let job, let count):
            try codec.row("photos-received", Self.photosReceived, "job", "count", of: job, count)
        case .streamOpened(let job, let attempt, let after):
            try codec.row(
                "stream-opened", Self.streamOpened, "job", "attempt", "after", of: job, attempt, after)
        case .eventWritten(let job, let id, let position, let kind, let replayed):
            try codec.row(
                "event-written", Self.eventWritten, "job", "id", "position", "kind", "replayed", of: job, id,
                position, kind, replayed)
        case .pingWritten(let job): try codec.row("ping-written", Self.pingWritten, "job", of: job)
        case .streamEnded(let job, let attempt, let byPeer):
            try codec.row(
                "stream-ended", Self.streamEnded, "job", "attempt", "by_peer", of: job, attempt, byPeer)
        case .finished(let job, let kind, let books):
            try codec.row("finished", Self.finished, "job", "kind", "books", of: job, kind, books)
        case .rowsTaken(let job, let rows):
            try codec.row("rows-taken", Self.rowsTaken, "job", "", of: job, rows)
        case .bookLookedUp(let lookup): try codec.row("book-looked-up", Self.bookLookedUp, "", of: lookup)
        case .textLookedUp: codec.row("text-looked-up", self)
        case .failed(let job, let code, let retryable):
            try codec.row("failed", Self.failed, "job", "code", "retryable", of: job, code, retryable)
        case .tokenRevoked(let job): try codec.row("token-revoked", Self.tokenRevoked, "job", of: job)
        case .tokenExchanged(let job): try codec.row("token-exchanged", Self.tokenExchanged, "job", of: job)
        case .resultsServed(let job, let books):
            try codec.row("results-served", Self.resultsServed, "job", "books", of: job, books)
        case .cleaned(let job, let effective):
            try codec.row("cleaned", Self.cleaned, "job", "effective", of: job, effective)
        case .canceled(let job): try codec.row("canceled", Self.canceled, "job", of: job)
        case .expired(let job): try codec.row("expired", Self.expired, "job", of: job)
        case .vanished(let job): try codec.row("vanished", Self.vanished, "job", of: job)
        case .circuitOpened(let job): try codec.row("circuit-opened", Self.circuitOpened, "job", of: job)
        case .circuitClosed(let job): try codec.row("circuit-closed", Self.circuitClosed, "job", of: job)
        case .found(let finding): try codec.row("found", Self.found, "", of: finding)
        default: try self.codedTarget(by: &codec)
        }
    }

    private func codedTarget(by codec: inout some FieldCodec & ~Copyable) throws(MalformedObservation)
        -> Self?
    {
        switch self {
        case .upstreamFailed(let operation, let attempt, let failure):
            try codec.row(
                "upstream-failed", Self.upstreamFailed, "operation", "attempt", "failure", of: operation,
                attempt, failure)
        case .targetBroke(let rule, let job, let text):
            try codec.row("target-broke", Self.targetBroke, "rule", "job", "text", of: rule, job, text)
        case .targetTried(let rule): try codec.row("target-tried", Self.targetTried, "rule", of: rule)
        case .targetProbed(let probe, let status):
            try codec.row("target-probed", Self.targetProbed, "probe", "status", of: probe, status)
        case .targetEvent(let latency):
            try codec.row("target-event", Self.targetEvent, "latency_ns", of: latency)
        default: preconditionFailure("an observation without a description: \(self)")
        }
    }

    /// An older version wrote this for a problem: the wait alone, and only of uploads that were answered 429.
    static func limited(
        from codec: inout some FieldCodec & ~Copyable
    ) throws(MalformedObservation) -> Self {
        .problem(
            .upload, attempt: 0, status: 429, job: nil, retryable: true,
            retryAfter: try codec.field("retry_after_ns", .zero))
    }
}
