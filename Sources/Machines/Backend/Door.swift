package import Faults
package import SimBase
package import Talaria
package import Wire

// The door of the simulated Talaria: events come in, effects go out, nothing else (Docs/style.md rule 2). The
// driver owns sockets, links and clocks; `Backend` owns every decision.

/// One request with its answer, on whatever connection; unique within a run.
package struct ExchangeID: Hashable, Sendable {
    package let raw: UInt64
    package init(_ raw: UInt64) { self.raw = raw }
}

/// Who calls, as far as the simulation knows: from `traceparent`, or, for clients without it, the hash of their device
/// id and a counter of their uploads. Never used to decide what the contract decides by device id and token.
package struct Caller: Hashable, Sendable {
    package var device: DeviceNumber
    /// For a foreign client's upload: the driver's count of its uploads, from 1.
    package var scan: ScanNumber
    package var attempt: UInt32

    package init(device: DeviceNumber, scan: ScanNumber, attempt: UInt32) {
        self.device = device
        self.scan = scan
        self.attempt = attempt
    }
}

/// The head of a request, parsed.
package struct BackendRequest: Hashable, Sendable {
    package var method: String
    package var path: String
    /// Without the question mark; nil when there is none.
    package var query: String?
    package var deviceID: String?
    package var authorization: String?
    package var accept: String?
    package var contentType: String?
    package var contentLength: Int?
    package var lastEventID: String?

    package init(
        method: String, path: String, query: String?, deviceID: String?, authorization: String?,
        accept: String?,
        contentType: String?, contentLength: Int?, lastEventID: String?
    ) {
        self.method = method
        self.path = path
        self.query = query
        self.deviceID = deviceID
        self.authorization = authorization
        self.accept = accept
        self.contentType = contentType
        self.contentLength = contentLength
        self.lastEventID = lastEventID
    }
}

/// One part of an upload, as the driver's multipart reader saw it.
package struct UploadPart: Hashable, Sendable {
    package var name: String
    package var filename: String?
    package var contentType: String?
    package var bytes: Int
    /// The first bytes, at most 64, for the magic number.
    package var prefix: [UInt8]

    package init(name: String, filename: String?, contentType: String?, bytes: Int, prefix: [UInt8]) {
        self.name = name
        self.filename = filename
        self.contentType = contentType
        self.bytes = bytes
        self.prefix = prefix
    }
}

/// Why the body of an upload could not be read.
package enum UploadFault: Hashable, Sendable {
    case malformed(String)
    /// A part, or the whole body, is over its limit. The driver stops reading.
    case tooLarge
    /// The sender was slower than the deadline for a body.
    case timedOut
}

/// What happens to the backend.
package enum BackendEvent: Sendable {
    indirect case requested(ExchangeID, BackendRequest, Caller, connection: UInt64, faults: [ArmedFault])
    /// The body of an upload that `.readUpload` asked for is complete.
    case uploaded(ExchangeID, [UploadPart])
    case uploadFailed(ExchangeID, UploadFault)
    /// The peer is gone, or a fault ended the exchange: nothing more can be written.
    case aborted(ExchangeID)
    /// The moment that `nextWake` asked for has come, or another.
    case woke
}

/// What a piece of a stream is, so that faults can be placed on it and the ledger can follow.
package enum StreamMark: Hashable, Sendable {
    /// The opening comment and `retry:`.
    case preamble
    case ping
    /// An event that is not of the job's log: a fault made it up.
    case extra
    /// An event of the job's log. `emitted`: when it was first emitted, which differs from now for a replay.
    case event(position: Int, kind: EventKind, replayed: Bool, emitted: Instant)
}

/// An answer with a whole body.
package struct BackendReply: Hashable, Sendable {
    package var status: Int
    /// Without Content-Length, Date and Connection, which are the driver's.
    package var headers: [HeaderLine]
    package var body: [UInt8]

    package init(status: Int, headers: [HeaderLine], body: [UInt8]) {
        self.status = status
        self.headers = headers
        self.body = body
    }
}

/// What the backend wants done.
package enum BackendEffect: Hashable, Sendable {
    /// The head is acceptable: read the body as multipart with this boundary source (the Content-Type value).
    case readUpload(ExchangeID)
    /// Answers and ends the exchange; an unread body is the driver's to refuse or to drain.
    case reply(ExchangeID, BackendReply)
    /// Answers with the head of an event stream (chunked). The pieces that follow end their lines in LF; the driver gives
    /// them these ends.
    case openStream(ExchangeID, headers: [HeaderLine], lineEnd: SSELineEnd = .lf)
    /// One whole piece of an event stream. The driver puts its time stamp comment before an event.
    case stream(ExchangeID, bytes: [UInt8], StreamMark)
    /// Ends a stream cleanly, with FIN.
    case endStream(ExchangeID)
    case observe(Observation)
}
