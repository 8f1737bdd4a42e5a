internal import OriginServer
package import SimBase
package import Talaria
package import Wire

/// A request to a target, as far as a trial needs it.
package struct TrialRequest: Sendable {
    package let operation: Talaria.Operation
    package let journey: Journey
    /// The job of its path or, to exchange a token, of its body; nil for an upload.
    package let job: String?
    package let device: DeviceNumber
    package let scan: ScanNumber
    /// The digest of the token; nil without one.
    package let token: UInt64?
    package let lastEventID: String?
    let deviceID: String?
    /// It asks for a WebSocket.
    let isSocket: Bool
    /// The client joins a WebSocket again that it has lost.
    let isReturn: Bool
    /// What the client has shown; nil without a token.
    let credentials: Credentials?
    /// Set for a request of the trial's own.
    let probe: TargetProbe?

    struct Credentials: Sendable {
        let authorization: String
        let deviceID: String?
    }

    /// Nil for a path of no operation. `path`: behind the target's base; only that of a WebSocket needs its query, and the
    /// subprotocols that are offered. `refresh`: the body of a request for a new token.
    package init?(
        method: String, path: String, query: String? = nil, device: DeviceNumber, scan: ScanNumber,
        deviceID: String?, authorization: String?, lastEventID: String?, subprotocols: [String] = [],
        refresh: TokenRefresh? = nil
    ) {
        guard let place = JourneyPath(path: path, query: query),
            let operation = place.operation(method: method)
        else { return nil }
        self.operation = operation
        self.journey = place.journey
        self.job = place.endpoint.jobID ?? refresh?.jobId
        self.device = device
        self.scan = scan
        self.isSocket = place.isSocket
        let inHandshake =
            place.isSocket ? ProgressSocket.authorization(offered: subprotocols, query: query) : nil
        let authorization = refresh.map { "Bearer \($0.oldToken)" } ?? authorization ?? inHandshake
        self.token = authorization.flatMap { Self.digest(ofBearer: $0) }
        self.lastEventID = lastEventID.flatMap { $0.isEmpty ? nil : $0 }
        self.deviceID = deviceID
        self.isReturn = ProgressSocket.isReturn(query)
        self.credentials =
            self.token == nil
            ? nil : authorization.map { Credentials(authorization: $0, deviceID: deviceID) }
        self.probe = nil
    }

    /// A probe of a job.
    init(_ probe: TargetProbe, _ operation: Talaria.Operation, of job: ProbedJob) {
        self.operation = operation
        self.journey = job.journey
        self.job = job.job
        self.device = job.device
        self.scan = job.scan
        self.token = job.token
        self.lastEventID = nil
        self.deviceID = nil
        self.isSocket = job.isSocket && operation == .stream
        self.isReturn = probe.isReturn
        self.credentials = nil
        self.probe = probe
    }

    /// `GET status`, or what it is for a WebSocket.
    var name: String { self.isSocket ? "the opening of a WebSocket" : "GET \(self.operation.name)" }

    private static func digest(ofBearer authorization: String) -> UInt64? {
        let parts = authorization.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else { return nil }
        return Digest.of(String(parts[1]))
    }
}

/// The head of an answer of a target, as far as a trial needs it.
package struct TrialHead: Sendable {
    package let status: Int
    /// In lower case, without parameters; empty without one.
    package let mediaType: String
    package let retryAfter: String?
    let limitReset: String?
    /// The values of Content-Type, one is expected (RFC 9110 section 5.3).
    package let types: [String]

    /// Whether the target gives what was asked for.
    var isGranted: Bool { self.status == 101 || (200...299).contains(self.status) }

    package init(status: Int, _ fields: HeaderFields) {
        self.status = status
        self.types = fields.values("Content-Type")
        let type = self.types.first?.prefix { $0 != ";" } ?? ""
        self.mediaType = type.filter { $0 != " " }.lowercased()
        self.retryAfter = fields[HeaderName.retryAfter]
        self.limitReset = fields["X-RateLimit-Reset"]
    }
}

/// A request under way, and what has come of its answer.
struct TrialExchange: Sendable {
    static let eventBytesMax = 1 << 20

    let request: TrialRequest
    let sent: Instant
    var head: TrialHead?
    /// The body, where it is read whole.
    var body: [UInt8] = []
    var stream: TrialStream?
    /// The rules that it has broken: each counts once.
    private var broken: UInt64 = 0
    private var notes: [TargetNote] = []

    init(_ request: TrialRequest, sent: Instant) {
        self.request = request
        self.sent = sent
    }

    /// Returns whether it is the first time.
    mutating func breaks(_ rule: TargetRule) -> Bool {
        let bit: UInt64 = 1 << UInt64(rule.ordinal)
        defer { self.broken |= bit }
        return self.broken & bit == 0
    }

    /// Returns whether it is the first time.
    mutating func notes(_ note: TargetNote) -> Bool {
        guard !self.notes.contains(note) else { return false }
        self.notes.append(note)
        return true
    }
}

/// An open stream of a target.
struct TrialStream: Sendable {
    var reader = SSEBlockReader(bytesMax: TrialExchange.eventBytesMax)
    /// Set for a WebSocket.
    var socket: TrialSocket?
    /// What its Last-Event-ID asks for; nil if it cannot be judged.
    var resume: TrialResume?
    /// The time in the last id, in milliseconds.
    var lastTime: Int64?
    /// The terminal event that came on it.
    var terminal: TrialEvent?
    var terminals = 0
    /// When its head came, and its last bytes.
    let opened: Instant
    var heard: Instant
    /// The last one that an event named, in millionths of a whole job.
    var progress: Int?
    /// The indexes of its events among those of the job.
    var shown: Set<Int> = []
    /// The index of its last event.
    var last: Int?

    init(opened: Instant) {
        self.opened = opened
        self.heard = opened
    }
}

/// What a WebSocket has beside an event stream.
struct TrialSocket: Sendable {
    var reader = WebSocketBlockReader(bytesMax: TrialExchange.eventBytesMax)
    let opened: Instant
    /// Whether the client has had another one of this job, and has said so.
    let isReturn: Bool
    /// The target has said that it knows of a client that is ready.
    var isAcknowledged = false
    /// A message about the job has come.
    var hasState = false
    /// The target has closed it.
    var isClosed = false
    /// The timestamp of the last message about the job, in milliseconds.
    var lastTime: Int64?
}

/// A point from which a stream goes on.
struct TrialResume: Sendable {
    /// The index of the last event that the client has.
    let place: Int
    /// The indexes of later events that are known from other streams, in the order of those streams.
    var pending: [Int]
}
