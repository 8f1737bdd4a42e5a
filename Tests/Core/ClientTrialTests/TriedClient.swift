import ClientTrial
import SimBase
import Talaria
import Wire

/// A client on trial, and the server that answers it, each by what passes between them.
struct TriedClient {
    static let device = "5f0c1a52-9c1b-4c3e-8b9a-0123456789ab"
    static let otherDevice = "6f0c1a52-9c1b-4c3e-8b9a-0123456789ab"
    static let books = #"[{"title":"A","author":"B"}]"#

    private(set) var trial: ClientTrial
    private(set) var now = Instant.zero + .seconds(1)
    private var requestsMade: UInt64 = 0
    private var jobsMade = 0
    /// Added to each request, or replaces what it has.
    var device: String? = Self.device
    var userAgent = "App/1"
    var connection: UInt64 = 1

    init(_ rules: ClientTrialSettings = ClientTrialSettings()) { self.trial = ClientTrial(rules) }

    mutating func wait(_ time: Interval) { self.now = self.now + time }

    var report: ClientReport { self.trial.report(at: self.now) }
    var broken: [ClientRule] { self.report.broken }

    // MARK: Requests

    @discardableResult
    mutating func ask(
        _ method: String, _ target: String, token: String? = nil, _ headers: [HeaderField] = []
    ) -> UInt64 {
        self.requestsMade += 1
        let parts = target.split(separator: "?", maxSplits: 1)
        var fields = HeaderFields(headers)
        if let device { fields.append("X-Device-ID", device) }
        fields.append("User-Agent", self.userAgent)
        if let token { fields.append("Authorization", "Bearer \(token)") }
        let head = RequestHead(
            method: method, target: target, path: String(parts[0]),
            query: parts.count > 1 ? String(parts[1]) : nil, version: .http11, headers: fields, body: .none,
            expectsContinue: false, keepsAlive: true)
        self.trial.requested(
            self.requestsMade, ClientRequest(head), on: self.connection, at: self.now)
        return self.requestsMade
    }

    mutating func answer(
        _ id: UInt64, _ status: Int, _ body: String = "", retryAfter: String? = nil
    ) {
        self.trial.answered(
            id, ClientAnswer(status: status, mediaType: "application/json", retryAfter: retryAfter),
            at: self.now)
        self.trial.ended(id, .whole, body: Array(body.utf8), at: self.now)
    }

    /// A connection that breaks before the answer.
    mutating func lose(_ id: UInt64, _ end: ClientEnd = .closed) {
        self.trial.ended(id, end, body: [], at: self.now)
    }

    // MARK: Uploads

    static func part(_ photo: UInt8, name: String = "photos[]", bytes: Int = 1_000) -> ClientUpload.Part {
        ClientUpload.Part(name: name, bytes: bytes, prefix: [0xFF, 0xD8, 0xFF, photo])
    }

    mutating func upload(_ parts: [ClientUpload.Part]) -> UInt64 {
        let id = self.ask("POST", "/v3/jobs/scans")
        self.trial.uploaded(id, ClientUpload(parts: parts), at: self.now)
        return id
    }

    mutating func upload(_ photo: UInt8) -> UInt64 { self.upload([Self.part(photo)]) }

    /// An upload that is taken: its job, whose token is `token-` and the job.
    mutating func job(_ photo: UInt8 = 1) -> String {
        self.jobsMade += 1
        let job = "job-\(self.jobsMade)"
        let id = self.upload(photo)
        self.answer(id, 202, #"{"data":{"jobId":"\#(job)","authToken":"token-\#(job)"}}"#)
        return job
    }

    // MARK: Streams

    mutating func askStream(
        _ job: String, after id: String? = nil, accept: String? = "text/event-stream"
    ) -> UInt64 {
        var headers: [HeaderField] = []
        if let accept { headers.append(HeaderField("Accept", accept)) }
        if let id { headers.append(HeaderField("Last-Event-ID", id)) }
        return self.ask("GET", "/v3/jobs/scans/\(job)/stream", token: "token-\(job)", headers)
    }

    mutating func stream(_ job: String, after last: String? = nil) -> UInt64 {
        let id = self.askStream(job, after: last)
        self.open(id)
        return id
    }

    mutating func open(_ id: UInt64) {
        self.trial.answered(
            id, ClientAnswer(status: 200, mediaType: "text/event-stream", retryAfter: nil), at: self.now)
    }

    mutating func send(_ id: UInt64, _ name: String, id eventID: String?, _ data: String = "{}") {
        let event = SSEEvent(type: name, data: data, id: eventID ?? "", hasOwnID: eventID != nil)
        self.trial.streamed(id, event, at: self.now)
    }

    mutating func progress(_ id: UInt64, _ number: Int) {
        self.send(id, "progress", id: "\(number)-progress")
    }

    /// The completed event, and the end of its stream. `books`: nil without any.
    mutating func complete(_ id: UInt64, books: String? = Self.books) {
        let member = books.map { #","books":\#($0)"# } ?? ""
        self.send(id, "completed", id: "9-completed", #"{"type":"completed"\#(member)}"#)
        self.end(id)
    }

    mutating func fail(_ id: UInt64, retryable: Bool) {
        self.send(id, "error", id: "9-error", #"{"type":"error","retryable":\#(retryable)}"#)
        self.end(id)
    }

    /// The server ends a stream.
    mutating func end(_ id: UInt64) { self.trial.ended(id, .whole, body: [], at: self.now) }

    // MARK: Jobs

    mutating func results(_ job: String, query: String = "?format=lite") -> UInt64 {
        self.ask("GET", "/v3/jobs/scans/\(job)/results\(query)", token: "token-\(job)")
    }

    mutating func fetch(_ job: String) {
        let id = self.results(job)
        self.answer(id, 200, #"{"data":{"results":\#(Self.books)}}"#)
    }

    mutating func poll(_ job: String, says status: String = "processing") {
        let id = self.ask("GET", "/v3/jobs/scans/\(job)", token: "token-\(job)")
        self.answer(id, 200, #"{"data":{"status":"\#(status)"}}"#)
    }

    mutating func askDelete(_ job: String) -> UInt64 {
        self.ask("DELETE", "/v3/jobs/scans/\(job)/cleanup", token: "token-\(job)")
    }

    mutating func delete(_ job: String) {
        let id = self.askDelete(job)
        self.answer(id, 204)
    }

    /// A whole scan, without any flaw.
    mutating func scan(_ photo: UInt8 = 1) {
        let job = self.job(photo)
        let stream = self.stream(job)
        self.progress(stream, 1)
        self.wait(.seconds(1))
        self.complete(stream)
        self.delete(job)
    }
}
