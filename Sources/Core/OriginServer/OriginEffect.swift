package import Faults
package import Observations
package import SimBase
package import Talaria
package import Wire

/// An effect of an origin server.
package enum OriginEffect: Hashable, Sendable {
    /// The head is acceptable: read the body as multipart with the boundary of the Content-Type.
    case readUpload(ExchangeID)
    /// Answers and ends the exchange. The server refuses or drains an unread body.
    case reply(ExchangeID, OriginReply)
    /// Answers with the head of an event stream (chunked). The pieces that follow end their lines in LF; the server gives
    /// them these ends.
    case openStream(ExchangeID, headers: [HeaderField], lineEnd: SSELineEnd = .lf)
    /// Answers with 101 and these fields. The pieces that follow are frames of WebSocket as they stand.
    case openSocket(ExchangeID, headers: [HeaderField])
    /// One whole piece of an event stream. The server puts its time stamp comment before an event.
    case stream(ExchangeID, bytes: [UInt8], StreamPieceKind)
    /// Ends a stream cleanly, with FIN.
    case endStream(ExchangeID)
    case observe(Observation)
    /// Forwards the request to the upstream, its body as it comes.
    case forward(ExchangeID, ResumePoint)
    /// Bytes for the upstream, behind a request that it answered with 101.
    case feedUpstream(ExchangeID, [UInt8])
    /// The head of an answer that passes; without a length it goes out in chunks.
    case passHead(ExchangeID, UpstreamHead)
    case passBody(ExchangeID, [UInt8])
    case passEnd(ExchangeID)
    /// Ends the answer towards the phone as it ended at the upstream: incomplete.
    case breakOff(ExchangeID, CutEnding)
    /// The rest of the upstream's answer is not needed.
    case releaseUpstream(ExchangeID)
    /// A request of the trial of the upstream, which no fault meets.
    case probe(ProbeOrder)
    /// The upstream failed, for the log.
    case upstreamFailed(ExchangeID, UpstreamFailure)
}

/// The kind of a piece of a stream, for the placement of faults and for the ledger.
package enum StreamPieceKind: Hashable, Sendable {
    /// The opening comment and `retry:`.
    case preamble
    case ping
    /// An event that is not in the job's log: a fault made it up.
    case extra
    /// An event of the job's log. `emitted`: when it was first emitted, which differs from now for a replay.
    case event(position: Int, kind: EventKind, replayed: Bool, emitted: Instant)

    /// Whether the piece is an event that no stream has carried before.
    package var isNewEvent: Bool {
        switch self {
        case .event(_, _, let replayed, _): !replayed
        case .preamble, .ping, .extra: false
        }
    }
}

/// An answer with a whole body.
package struct OriginReply: Hashable, Sendable {
    package var status: Int
    /// The headers without Content-Length, Date and Connection, which the server adds.
    package var headers: [HeaderField]
    package var body: [UInt8]

    package init(status: Int, headers: [HeaderField], body: [UInt8]) {
        self.status = status
        self.headers = headers
        self.body = body
    }
}

/// A change of `Last-Event-ID` on the way to the upstream.
package enum ResumePoint: Hashable, Sendable {
    case asSent
    case replaced(String)
    case removed
}
