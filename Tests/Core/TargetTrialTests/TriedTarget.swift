import Observations
import SimBase
import Talaria
import TargetTrial
import Wire

/// A target that says what a test has it say.
struct TriedTarget {
    private var trial: TargetTrial
    private var now = Instant.zero
    private var last: UInt64 = 0
    private(set) var broken: [(rule: TargetRule, text: String)] = []
    private(set) var tried: Set<TargetRule> = []
    private(set) var findings: [ContractFinding] = []
    private(set) var delays: [Interval] = []

    init(_ change: (inout TrialRules) -> Void = { _ in }) {
        var rules = TrialRules()
        change(&rules)
        self.trial = TargetTrial(rules)
    }

    var rules: [TargetRule] { self.broken.map(\.rule) }
    var notes: [TargetNote] {
        self.findings.compactMap { finding in TargetNote.allCases.first { $0.path == finding.path } }
    }

    mutating func wait(_ time: Interval) { self.now = self.now + time }

    private mutating func collect() {
        for observation in self.trial.takeFindings() {
            switch observation.what {
            case .backend(.targetBroke(let rule, _, let text)): self.broken.append((rule, text))
            case .backend(.targetTried(let rule)): self.tried.insert(rule)
            case .backend(.found(let finding)): self.findings.append(finding)
            case .backend(.targetEvent(let latency)): self.delays.append(latency)
            case .phone, .backend, .fault, .network, .control: break
            }
        }
    }

    mutating func ask(
        _ method: String, _ path: String, query: String? = nil, device: UInt32 = 1, scan: UInt32 = 1,
        token: String? = "t", lastEventID: String? = nil, subprotocols: [String] = [],
        refresh: TokenRefresh? = nil
    ) -> UInt64 {
        self.last += 1
        if let request = TrialRequest(
            method: method, path: path, query: query, device: DeviceNumber(device), scan: ScanNumber(scan),
            deviceID: "d\(device)", authorization: token.map { "Bearer \($0)" }, lastEventID: lastEventID,
            subprotocols: subprotocols, refresh: refresh)
        {
            self.trial.sent(self.last, request, at: self.now)
        }
        self.collect()
        return self.last
    }

    mutating func answer(
        _ id: UInt64, _ status: Int, _ body: String = "", type: String = "application/json",
        retryAfter: String? = nil, others: [HeaderField] = []
    ) {
        let wait = retryAfter.map { [HeaderField("Retry-After", $0)] } ?? []
        let fields = HeaderFields([HeaderField("Content-Type", type)] + wait + others)
        self.begin(id, status, fields)
        if !body.isEmpty { self.trial.received(id, Array(body.utf8), at: self.now) }
        if type != "text/event-stream" { self.trial.ended(id, isWhole: true, at: self.now) }
        self.collect()
    }

    /// A whole answer, in pieces.
    mutating func answer(
        _ id: UInt64, _ status: Int, _ fields: HeaderFields, pieces: [[UInt8]], isWhole: Bool
    ) {
        self.begin(id, status, fields)
        for piece in pieces where !piece.isEmpty { self.trial.received(id, piece, at: self.now) }
        self.close(id, isWhole: isWhole)
    }

    /// The head of an answer whose body is still to come.
    mutating func begin(_ id: UInt64, _ status: Int, _ fields: HeaderFields = HeaderFields([])) {
        self.trial.replied(id, TrialHead(status: status, fields), at: self.now)
        self.collect()
    }

    mutating func exchange(
        _ method: String, _ path: String, _ status: Int, _ body: String = "", device: UInt32 = 1,
        scan: UInt32 = 1, token: String? = "t", type: String = "application/json",
        retryAfter: String? = nil
    ) {
        let id = self.ask(method, path, device: device, scan: scan, token: token)
        self.answer(id, status, body, type: type, retryAfter: retryAfter)
    }

    mutating func upload(job: String = "j", device: UInt32 = 1, scan: UInt32 = 1, token: String = "t") {
        self.exchange(
            "POST", "/v3/jobs/scans", 202,
            #"{"success":true,"data":{"jobId":"\#(job)","authToken":"\#(token)"}}"#, device: device,
            scan: scan, token: nil)
    }

    /// Asks for a token in place of an old one.
    mutating func askForToken(_ old: String, job: String) -> UInt64 {
        self.ask(
            "POST", TokenRefresh.path, token: nil, refresh: TokenRefresh(jobId: job, oldToken: old))
    }

    mutating func open(job: String = "j", after id: String? = nil) -> UInt64 {
        let stream = self.ask("GET", "/v3/jobs/scans/\(job)/stream", lastEventID: id)
        self.answer(stream, 200, type: "text/event-stream")
        return stream
    }

    /// The stream of a job, and a second one of the trial's own.
    mutating func openBoth() -> (UInt64, UInt64) {
        let own = self.open()
        let witness = self.probes().first { $0.kind == "witness" }?.id ?? 0
        self.answer(witness, 200, type: "text/event-stream")
        return (own, witness)
    }

    /// The WebSocket of a job.
    mutating func openSocket(job: String, isReturn: Bool = false) -> UInt64 {
        let socket = self.askForSocket(job: job, isReturn: isReturn)
        self.upgrade(socket)
        return socket
    }

    mutating func askForSocket(job: String, isReturn: Bool = false, token: String = "t") -> UInt64 {
        self.ask(
            "GET", "/ws/progress", query: "jobId=\(job)" + (isReturn ? "&reconnect=true" : ""), token: nil,
            subprotocols: ["bookstrack-auth.\(token)"])
    }

    mutating func upgrade(_ socket: UInt64) {
        self.trial.replied(
            socket, TrialHead(status: 101, HeaderFields([HeaderField("Upgrade", "websocket")])), at: self.now)
        self.collect()
    }

    mutating func send(_ frame: WebSocketFrame, on socket: UInt64) {
        self.trial.received(
            socket, ByteBuilder.bytes { WebSocketWriter.frame(frame, into: &$0) }, at: self.now)
        self.collect()
    }

    mutating func send(_ stream: UInt64, _ name: String, id: String?, _ data: String) {
        let field = id.map { "id: \($0)\n" } ?? ""
        self.trial.received(
            stream, Array("\(field)event: \(name)\ndata: \(data)\n\n".utf8), at: self.now)
        self.collect()
    }

    mutating func close(_ stream: UInt64, isWhole: Bool = false) {
        self.trial.ended(stream, isWhole: isWhole, at: self.now)
        self.collect()
    }

    /// The probes that are due: their kind, their id and their target.
    mutating func probes() -> [Probe] {
        self.trial.takeProbes(at: self.now).compactMap { order in
            guard case .start(let request) = order,
                let kind = request.headers.first(where: { $0.name == ProbeRequest.header })
            else { return nil }
            let names = request.headers.map(\.name)
            return Probe(
                kind: kind.value, id: request.id, target: request.target,
                token: request.headers.first { $0.name == HeaderName.authorization }?.value,
                subprotocol: request.headers.first { $0.name == "Sec-WebSocket-Protocol" }?.value,
                isUpgrade: names.contains("Upgrade"), hasDevice: names.contains(HeaderName.deviceID))
        }
    }

    /// The probes that the trial has ended.
    mutating func canceled() -> [UInt64] {
        let ended: [UInt64] = self.trial.takeProbes(at: self.now).compactMap { order in
            if case .cancel(let id) = order { id } else { nil }
        }
        self.collect()
        return ended
    }

    struct Probe {
        let kind: String
        let id: UInt64
        let target: String
        let token: String?
        let subprotocol: String?
        let isUpgrade: Bool
        let hasDevice: Bool
    }

    mutating func end(_ id: UInt64, hasExcess: Bool = false) {
        self.trial.ended(id, isWhole: true, hasExcess: hasExcess, at: self.now)
        self.collect()
    }

    /// Five events of a job, one a second, from this one to that one.
    mutating func play(_ stream: UInt64, from first: Int = 1, to last: Int) {
        guard first <= last else { return }
        for number in first...last {
            self.send(
                stream, "progress", id: "\(number)000-progress", #"{"jobId":"j","processedCount":\#(number)}"#
            )
            self.wait(.seconds(1))
        }
    }

    mutating func complete(
        _ stream: UInt64, job: String = "j", books: String = "[]", id: String = "90000-completed"
    ) {
        self.send(stream, "completed", id: id, #"{"jobId":"\#(job)","resultsUrl":"/r","books":\#(books)}"#)
    }
}
