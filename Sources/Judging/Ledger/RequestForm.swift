package import SimBase
package import Talaria

/// A request as it left a phone: what a server reads of it.
package struct RequestForm: Hashable, Sendable {
    /// The relation of a token to the request's job. Only the backend knows whose token it is.
    package enum Token: Hashable, Sendable {
        /// The bearer token of the job it requests, or of a job that is gone, for which it is not known.
        case own
        case foreign
        /// The token before an exchange, as long as it is good.
        case former
        /// Not a bearer token.
        case unreadable
    }

    package enum Body: Hashable, Sendable {
        case none
        /// Multipart with one part of that name and type: the photo of that scan.
        case photos(field: String, type: String, of: ScanNumber, count: Int)
        /// A document of that scan.
        case document(of: ScanNumber, Journey.Payload)
        /// The token of a job, which is to be exchanged.
        case token
    }

    package var device: DeviceNumber
    package var scan: ScanNumber
    package var operation: Operation
    package var attempt: UInt32
    package var at: Instant
    package var method: String
    package var target: String
    /// The headers in their order, without those that contain a token.
    package var headers: [HeaderField]
    package var tokens: [Token]
    package var body: Body

    package init(
        device: DeviceNumber, scan: ScanNumber, operation: Operation, attempt: UInt32, at: Instant,
        method: String, target: String, headers: [HeaderField], tokens: [Token], body: Body
    ) {
        self.device = device
        self.scan = scan
        self.operation = operation
        self.attempt = attempt
        self.at = at
        self.method = method
        self.target = target
        self.headers = headers
        self.tokens = tokens
        self.body = body
    }
}

/// request.well-formed: holds each request against the form that the contract names for its operation
/// (Docs/contract.md section 1.1, Docs/design.md section 6).
///
/// The job and the position to resume from are those that the phone has said it requests; whether these are right is judged
/// elsewhere (`stream.id-monotone`, `auth.no-leak`). The job must be one that the backend has accepted for the scan.
struct RequestFormCheck: Sendable {
    /// The phone's announcement of a request at this time.
    private struct Word: Sendable {
        let at: Instant
        let request: RequestKey
        let job: String?
        let lastEventID: String?
        /// Whether the job was followed before; nil if that is not known.
        let isReturn: Bool?
    }

    private struct KnownJob {
        let scan: ScanNumber
        /// The digest of its id.
        let job: UInt64
        /// Whether the phone has requested its stream; nil if a request that it had noted may not have been made.
        var isFollowed: Bool? = false
        var token = TokenState()
    }

    private static let jobsMax = 64

    /// The `format=` of its results.
    private let format: String
    private let journey: Journey
    /// Its identity, since the app was installed.
    private var identity: String?
    private var words: [Word] = []
    /// Jobs that the backend has accepted.
    private var jobs: [KnownJob] = []
    /// The highest scan number up to which scans may be forgotten.
    private var forgotten = ScanNumber.none

    init(format: String, journey: Journey) {
        self.format = format
        self.journey = journey
    }

    // MARK: What is seen

    mutating func sent(_ request: RequestKey, job: String?, lastEventID: String?, at: Instant) {
        self.words.removeAll { $0.at < at }
        let isReturn = request.operation == .stream ? job.flatMap { self.follows($0) } : false
        self.words.append(
            Word(at: at, request: request, job: job, lastEventID: lastEventID, isReturn: isReturn))
    }

    /// Notes that a job is followed. Returns whether it was before; nil if that is not known.
    private mutating func follows(_ job: String) -> Bool? {
        let digest = Digest.inWords(of: job)
        guard let index = self.jobs.lastIndex(where: { $0.job == digest }) else { return nil }
        defer { self.jobs[index].isFollowed = true }
        return self.jobs[index].isFollowed
    }

    mutating func accepted(_ job: String, scan: ScanNumber) {
        if self.jobs.count == Self.jobsMax {
            self.forgotten = max(self.forgotten, self.jobs.removeFirst().scan)
        }
        self.jobs.append(KnownJob(scan: scan, job: Digest.inWords(of: job)))
    }

    /// `change`: what happens to the token of the job.
    mutating func updateToken(of job: String, _ change: (inout TokenState) -> Void) {
        let digest = Digest.inWords(of: job)
        guard let index = self.jobs.lastIndex(where: { $0.job == digest }) else { return }
        change(&self.jobs[index].token)
    }

    /// A new token may not have been written down.
    mutating func killed() {
        for index in self.jobs.indices { self.jobs[index].token.killed() }
    }

    mutating func reinstalled() { self.identity = nil }

    /// A request that the phone has noted may never be made.
    mutating func interrupted() {
        for index in self.jobs.indices where self.jobs[index].isFollowed == false {
            self.jobs[index].isFollowed = nil
        }
    }

    // MARK: The form

    /// Returns what is wrong with a request. `owners`: the phone of every device id of the fleet, past and present.
    mutating func judge(_ form: RequestForm, owners: inout [String: DeviceNumber]) -> [String] {
        let request = RequestKey(form.operation, form.scan, form.attempt)
        let word = self.words.first { $0.at == form.at && $0.request == request }
        let wrong =
            self.identity(form, &owners) + self.address(form, word) + self.headers(form, word)
            + Self.body(form, self.journey)
        return wrong.map { "\(form.operation.name): \($0)" }
    }

    /// Checks the device id: one for all requests of an installation, another one after a reinstallation, and
    /// never that of another phone.
    private mutating func identity(
        _ form: RequestForm, _ owners: inout [String: DeviceNumber]
    ) -> [String] {
        let values = form.values(of: HeaderName.deviceID)
        guard let identity = values.first, values.count == 1 else {
            return ["\(values.count) times \(HeaderName.deviceID)"]
        }
        guard self.identity != identity else { return [] }
        guard Self.isIdentity(identity) else { return ["a device id that is not a UUID of version 4"] }
        guard self.identity == nil else { return ["another device id than the previous request"] }
        self.identity = identity
        guard let owner = owners.updateValue(form.device, forKey: identity) else { return [] }
        return [
            owner == form.device
                ? "the device id of the previous installation" : "the device id of another phone"
        ]
    }

    /// RFC 9562 section 4 and 5.4, in either case.
    private static func isIdentity(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        return bytes.count == 36
            && bytes.indices.allSatisfy { index in
                switch index {
                case 8, 13, 18, 23: bytes[index] == UInt8(ascii: "-")
                case 14: bytes[index] == UInt8(ascii: "4")
                case 19: "89abAB".utf8.contains(bytes[index])
                default: Hexadecimal.nibble(bytes[index]) != nil
                }
            }
    }

    private func address(_ form: RequestForm, _ word: Word?) -> [String] {
        if form.isSocket { return Self.socketAddress(form, word) }
        let path = Endpoint.path(ofTarget: form.target)
        let hasQuery = path.utf8.count < form.target.utf8.count
        var wrong: [String] = []
        let method =
            switch form.operation {
            case .upload, .refresh: "POST"
            case .stream, .results, .status: "GET"
            case .cleanup, .cancel: "DELETE"
            }
        if form.method != method { wrong.append("\(form.method.bounded) instead of \(method)") }
        if form.operation == .results, self.journey.version.hasResultsFormats {
            if form.target != path + "?format=\(self.format)" {
                wrong.append("a query other than format=\(self.format)")
            }
        } else if hasQuery {
            wrong.append("a query that is not in the contract")
        }
        switch self.journey.version {
        case .v2: return wrong + Self.v2Path(path, of: form, word, self.journey)
        case .v3: return wrong + self.path(path, of: form, word)
        }
    }

    /// Docs/contract.md section 3.4. The first connection of a job is no reconnect.
    private static func socketAddress(_ form: RequestForm, _ word: Word?) -> [String] {
        var wrong = form.method == "GET" ? [] : ["\(form.method.bounded) instead of GET"]
        guard let word, let job = word.job else { return wrong }
        let first = ProgressSocket.target(job)
        let again = ProgressSocket.returning(to: first)
        let allowed = word.isReturn.map { [$0 ? again : first] } ?? [first, again]
        if !allowed.contains(form.target) {
            wrong.append("a target that is not in the contract, or another job than the phone reported")
        }
        return wrong
    }

    /// Docs/contract.md section 3.2.
    private static func v2Path(
        _ path: String, of form: RequestForm, _ word: Word?, _ journey: Journey
    ) -> [String] {
        let endpoint: Endpoint
        switch (form.operation, word?.job) {
        case (.upload, _): endpoint = .upload
        case (.stream, let job?): endpoint = .stream(jobId: job)
        case (.results, let job?): endpoint = .results(jobId: job)
        case (.status, let job?): endpoint = .job(jobId: job)
        case (.cleanup, let job?), (.cancel, let job?): endpoint = .cleanup(jobId: job)
        case (.refresh, _): endpoint = .refresh
        case (.stream, nil), (.results, nil), (.status, nil), (.cleanup, nil), (.cancel, nil): return []
        }
        let isOther = form.operation == .upload && path == journey.otherUploadPath
        return path == journey.path(endpoint) || isOther
            ? [] : ["a path that is not in the contract, or another job than the phone reported"]
    }

    private func path(_ path: String, of form: RequestForm, _ word: Word?) -> [String] {
        var folder = "/v3/jobs/scans/"
        let ending: String
        switch form.operation {
        case .upload:
            // A book that the phone has read may go up as a photo.
            let isText = self.journey == .textEnrichment && path == "/v3/jobs/enrich"
            return path == "/v3/jobs/scans" || isText ? [] : ["a path that is not in the contract"]
        case .stream: ending = "/stream"
        case .results: ending = "/results"
        case .cleanup: ending = "/cleanup"
        case .status, .cancel: ending = ""
        case .refresh: return ["a request that only v2 has"]
        }
        // The live backend gives this address of its results (Docs/contract.md section 2.4).
        let other = "/v3/jobs/ai_scan/scans/"
        if form.operation == .results, path.hasPrefix(other) { folder = other }
        guard path.hasPrefix(folder), path.hasSuffix(ending) else {
            return ["a path that is not in the contract"]
        }
        let rest = path.utf8.dropFirst(folder.utf8.count).dropLast(ending.utf8.count)
        guard !rest.isEmpty, !rest.contains(UInt8(ascii: "/")) else {
            return ["a path that is not in the contract"]
        }
        let job = String(Substring(rest))
        if let word, word.job != job { return ["another job than the phone reported"] }
        guard self.forgotten < form.scan else { return [] }
        let jobs = self.jobs.filter { $0.scan == form.scan }
        let known = Digest.inWords(of: job)
        return jobs.isEmpty || jobs.contains { $0.job == known } ? [] : ["a job of another scan"]
    }

    /// Whether the phone has the token that the backend has. It may not know yet that its token was exchanged.
    private func hasNewToken(_ word: Word?) -> Bool {
        guard let digest = word?.job.map({ Digest.inWords(of: $0) }),
            let token = self.jobs.last(where: { $0.job == digest })?.token
        else { return false }
        return token.count > 0 && !token.isReplaced && !token.mayBeFormer
    }

    private func headers(_ form: RequestForm, _ word: Word?) -> [String] {
        var wrong: [String] = []
        let tokens: [RequestForm.Token] = form.operation == .upload ? [] : [.own]
        if form.tokens == [.former], self.hasNewToken(word) {
            wrong.append("a token that was exchanged for a new one")
        } else if form.tokens != tokens, form.tokens != [.former] {
            wrong.append(
                tokens.isEmpty ? "a token, although it has no job" : "not exactly one bearer token of its job"
            )
        }
        if form.isSocket {
            wrong += Self.handshake(form)
        } else if form.operation == .stream, form.values(of: "Accept") != ["text/event-stream"] {
            wrong.append("not exactly one Accept: text/event-stream")
        }
        let lastEventIDs = form.values(of: HeaderName.lastEventID)
        if form.isSocket, !lastEventIDs.isEmpty {
            wrong.append("\(HeaderName.lastEventID) on a WebSocket")
        } else if let word, lastEventIDs != (word.lastEventID.map { [$0] } ?? []) {
            wrong.append(
                word.lastEventID == nil
                    ? "\(HeaderName.lastEventID), although there is no event to resume from"
                    : "not exactly one \(HeaderName.lastEventID) with the last event")
        }
        let traces = form.values(of: TraceContext.headerName)
        let trace = traces.count == 1 ? traces.first.flatMap(TraceContext.init(headerValue:)) : nil
        if trace?.device != form.device || trace?.scan != form.scan || trace?.operation != form.operation
            || trace?.attempt != form.attempt
        {
            wrong.append("not exactly one \(TraceContext.headerName) of its own")
        }
        return wrong
    }

    /// RFC 6455 section 4.1.
    private static func handshake(_ form: RequestForm) -> [String] {
        let fields = [("Upgrade", "websocket"), ("Connection", "Upgrade"), ("Sec-WebSocket-Version", "13")]
        let wrong = fields.filter { form.values(of: $0.0) != [$0.1] }
            .map { "not exactly one \($0.0): \($0.1)" }
        let keys = form.values(of: "Sec-WebSocket-Key")
        return wrong + (keys.count == 1 ? [] : ["not exactly one Sec-WebSocket-Key"])
    }

    private static func body(_ form: RequestForm, _ journey: Journey) -> [String] {
        let types = form.values(of: "Content-Type")
        guard form.operation != .refresh else {
            return form.body == .token && types == ["application/json"] ? [] : ["no token to exchange"]
        }
        guard form.operation == .upload else {
            return form.body == .none && types.isEmpty ? [] : ["a body that is not in the contract"]
        }
        guard journey.payload != .json || form.target == "/v3/jobs/scans" else {
            return types == ["application/json"] && form.body == .document(of: form.scan, .json)
                ? [] : ["no JSON document of its scan"]
        }
        var wrong: [String] = []
        if types.count != 1 || !types[0].hasPrefix("multipart/form-data; boundary=") {
            wrong.append("not exactly one Content-Type: multipart/form-data with a boundary")
        }
        guard journey.payload != .file else {
            return form.body == .document(of: form.scan, .file) ? wrong : wrong + ["no file of its scan"]
        }
        let part = journey == .bookshelfScan ? "photos" : "photos[]"
        guard case .photos(field: part, type: let type, of: form.scan, count: let count) = form.body,
            ["image/jpeg", "image/png"].contains(type), (1...ContractLimit.photosMax).contains(count)
        else { return wrong + ["no photos of its scan in \(part), or too many"] }
        return wrong
    }
}

extension RequestForm {
    /// Whether a WebSocket is requested.
    fileprivate var isSocket: Bool {
        self.operation == .stream && Endpoint.path(ofTarget: self.target) == ProgressSocket.path
    }

    /// Names are compared without case (RFC 9110 section 5.1).
    fileprivate func values(of name: String) -> [String] {
        // By index: a loop would copy each field.
        var values: [String] = []
        for index in self.headers.indices where self.headers[index].isNamed(name) {
            values.append(self.headers[index].value)
        }
        return values
    }
}

/// A request that its phone gave up before its answer was whole, as its link saw it.
package struct RequestGivenUp: Hashable, Sendable {
    package var device: DeviceNumber
    package var scan: ScanNumber
    package var operation: Operation
    package var attempt: UInt32
    package var at: Instant
    /// The time at which its first byte passed the link: on an existing connection, when it was sent.
    package var readyAt: Instant
    /// The time at which the last byte moved, in either direction.
    package var movedAt: Instant
    /// The size of its photo; 0 without one.
    package var photoBytes: Int

    package init(
        device: DeviceNumber, scan: ScanNumber, operation: Operation, attempt: UInt32, at: Instant,
        readyAt: Instant, movedAt: Instant, photoBytes: Int = 0
    ) {
        self.device = device
        self.scan = scan
        self.operation = operation
        self.attempt = attempt
        self.at = at
        self.readyAt = readyAt
        self.movedAt = movedAt
        self.photoBytes = photoBytes
    }
}
