internal import JSON
package import SimBase

/// A message on the WebSocket of a job (Docs/contract.md section 3.4): a text of JSON with an envelope around the payload.
package struct SocketMessage: Hashable, Sendable {
    /// The types of the contract.
    package enum Kind: String, CaseIterable, Hashable, Sendable {
        case jobStarted = "job_started"
        case jobProgress = "job_progress"
        case jobComplete = "job_complete"
        case error
        /// The state of a job, for a client that has come back.
        case reconnected
        case batchInit = "batch-init"
        case batchProgress = "batch-progress"
        case batchComplete = "batch-complete"
        case batchCanceling = "batch-canceling"
        case ready
        case readyAck = "ready_ack"
        case ping
        case pong
        case cancel
        case cancelBatch = "cancel_batch"
    }

    /// The type as it was sent, which may be none of the contract.
    package var type: String
    package var jobId: String?
    /// Milliseconds since 1970.
    package var timestamp: Int64?
    /// JSON; empty if there is none.
    package var payload: [UInt8]

    package init(type: String, jobId: String?, timestamp: Int64?, payload: [UInt8]) {
        self.type = type
        self.jobId = jobId
        self.timestamp = timestamp
        self.payload = payload
    }

    package init(_ kind: Kind, jobId: String? = nil, timestamp: Int64?, payload: [UInt8] = []) {
        self.init(type: kind.rawValue, jobId: jobId, timestamp: timestamp, payload: payload)
    }

    /// Reads a message; nil for bytes that are not an object with a `type`.
    package init?(_ bytes: [UInt8]) {
        guard let object = JSONObjectText(bytes), let type = object.text("type") else { return nil }
        self.init(
            type: type, jobId: object.text("jobId"),
            timestamp: object.value("timestamp").flatMap { Int64(String(decoding: $0, as: UTF8.self)) },
            payload: object.value("payload").map { Array($0) } ?? [])
    }

    /// Nil for a type that the contract does not have.
    package var kind: Kind? { Kind(rawValue: self.type) }

    /// The payload as the data of an event has it: with what a payload may leave to the envelope or to its type, and without what
    /// only a message has.
    package var eventData: [UInt8] {
        guard var object = JSONObjectText(self.payload) else { return self.payload }
        for name in self.kind?.ownMembers ?? [] where object.contains(name) { object.remove(name) }
        let known = object.bytes
        let implied = self.implied.filter { !object.contains($0.name) }
        guard !implied.isEmpty, let brace = known.firstIndex(of: UInt8(ascii: "{")) else { return known }
        let members = JSON.object { writer in for member in implied { member.write(&writer) } }
        let rest = known[(brace + 1)...].drop { $0 <= UInt8(ascii: " ") }
        return members.dropLast() + (rest.first == UInt8(ascii: "}") ? [] : [UInt8(ascii: ",")]) + rest
    }

    private typealias Implied = (name: String, write: (inout JSONWriter) -> Void)

    /// The members of an event that a message implies. One that a job has begun has the state of a new job.
    private var implied: [Implied] {
        var members: [Implied] = []
        if let jobId { members.append(("jobId", { $0.member("jobId", jobId) })) }
        guard self.kind == .jobStarted || self.kind == .batchInit else { return members }
        return members + [
            ("status", { $0.member("status", "processing") }), ("progress", { $0.member("progress", 0) }),
            ("processedCount", { $0.member("processedCount", 0) }),
        ]
    }

    /// The id of the event that an event stream would have for it; nil for a message that is no event, or has no time.
    package var eventID: String? {
        guard let kind, kind.eventName != nil, let timestamp else { return nil }
        return kind.eventID(timestamp)
    }

    /// The versions of the envelope that the contract has.
    package static let versions = ["1.0.0", "2.0.0"]
    private static let version: StaticString = "1.0.0"

    /// The message of a server, with the pipeline of the journey, or of a client, which names no job.
    package func bytes(pipeline: String?) -> [UInt8] {
        let head = JSON.object { writer in
            writer.member("type", self.type)
            if let jobId { writer.member("jobId", jobId) }
            if let pipeline { writer.member("pipeline", pipeline) }
            writer.member("timestamp", self.timestamp)
            if self.jobId != nil { writer.member("version", Self.version) }
        }
        // As it is: a fault may have made it something else than JSON.
        guard !self.payload.isEmpty else { return head }
        return head.dropLast() + Array(",\"payload\":".utf8) + self.payload + [UInt8(ascii: "}")]
    }
}

// What events of an event stream and messages of a WebSocket have in common: a kind, an id, and data.

extension SocketMessage.Kind {
    /// The message for an event of v2.
    package init(_ kind: EventKind, isFirst: Bool) {
        switch kind {
        case .completed: self = .jobComplete
        case .error: self = .error
        case .progress where isFirst: self = .jobStarted
        case .progress, .ping, .enrichmentDegraded, .segmented, .bookProgress, .result: self = .jobProgress
        }
    }

    /// Members that no event has (Docs/contract.md section 3.4).
    fileprivate var ownMembers: [String] {
        switch self {
        case .jobStarted: ["estimatedDuration"]
        case .jobProgress: ["currentItem", "keepAlive"]
        case .reconnected: ["lastUpdate", "message"]
        case .jobComplete, .error, .batchInit, .batchProgress, .batchComplete, .batchCanceling, .ready,
            .readyAck, .ping, .pong, .cancel, .cancelBatch:
            []
        }
    }

    /// The name that an event stream of v2 has for it; nil for a message that is no event.
    package var eventName: String? {
        switch self {
        case .jobStarted, .batchInit: V2EventName.initialized
        case .jobProgress, .batchProgress, .reconnected: V2EventName.processing
        case .jobComplete, .batchComplete: V2EventName.completed
        case .error: V2EventName.failed
        case .ready, .readyAck, .ping, .pong, .cancel, .cancelBatch, .batchCanceling: nil
        }
    }

    /// The last part of the id that the event has there.
    private var idSuffix: String {
        switch self {
        case .jobStarted, .batchInit, .reconnected: V2EventName.initialSuffix
        case .jobComplete, .batchComplete, .error: V2EventName.terminalSuffix
        case .jobProgress, .batchProgress, .ready, .readyAck, .ping, .pong, .cancel, .cancelBatch,
            .batchCanceling:
            EventKind.progress.rawValue
        }
    }

    /// The id of an event at that time, in milliseconds since 1970.
    package func eventID(_ timestamp: Int64) -> String { "\(timestamp)-\(self.idSuffix)" }
}

/// The address of the WebSockets of all jobs (Docs/contract.md section 3.4).
package enum ProgressSocket {
    package static let path = "/ws/progress"
    /// What comes before the token in the subprotocol.
    package static let subprotocolPrefix = "bookstrack-auth."
    /// The time that a server waits for `ready`.
    package static let readyTime = Interval.seconds(5)
    /// The time between `job_complete` and the close.
    package static let closeDelay = Interval.seconds(1)
    /// The time for which a server keeps the state of a lost connection.
    private static let stateTime = Interval.seconds(60)
    /// The longest message of a client.
    package static let clientBytesMax = 10 << 10
    /// The longest message of a server.
    package static let serverBytesMax = 32 << 20
    /// Connections of one job at once.
    package static let connectionsMax = 5
    /// The code and the status of a connection beyond that.
    package static let limitCode = "CONNECTION_LIMIT_EXCEEDED"

    /// The target of a job's socket.
    package static func target(_ jobId: String) -> String { "\(Self.path)?jobId=\(jobId)" }

    /// The job of such a target, or of a URL with one; nil if it names none.
    package static func job(of link: String) -> String? {
        let query = link.prefix { $0 != "#" }.split(separator: "?", maxSplits: 1).dropFirst().first
        return Self.field("jobId", in: query.map(String.init)).map(String.init)
    }

    /// Whether a server has forgotten a connection that was lost then.
    package static func isStateOver(lostAt: Instant, at moment: Instant) -> Bool {
        moment - lostAt > Self.stateTime
    }

    /// The header with the token that a client shows: in a subprotocol, or in the query; nil without one.
    package static func authorization(offered subprotocols: [String], query: String?) -> String? {
        let offered = subprotocols.first { $0.hasPrefix(Self.subprotocolPrefix) }
        let token = offered?.dropFirst(Self.subprotocolPrefix.count) ?? Self.field("token", in: query)
        return token.map { "Bearer \($0)" }
    }

    private static let returnField = "reconnect"

    /// The target for a client that has lost the socket.
    package static func returning(to target: String) -> String {
        target + (target.utf8.contains(UInt8(ascii: "?")) ? "&" : "?") + "\(Self.returnField)=true"
    }

    /// Whether the query is that of a client that has lost the socket.
    package static func isReturn(_ query: String?) -> Bool {
        Self.field(Self.returnField, in: query) == "true"
    }

    /// The value of a field of a query; nil without it.
    package static func field(_ name: String, in query: String?) -> Substring? {
        query?.split(separator: "&").first { $0.hasPrefix(name + "=") }.map { $0.dropFirst(name.count + 1) }
    }
}

extension Journey {
    /// The name of its jobs in messages and in the data of `completed` (Docs/contract.md sections 3.3 and 3.4); nil without jobs.
    package var pipeline: String? {
        switch self {
        case .bookshelfScan: "ai_scan"
        case .batchEnrichment: "batch_enrichment"
        case .csvImport: "csv_import"
        case .scan, .bookEnrichment, .textEnrichment: nil
        }
    }
}
