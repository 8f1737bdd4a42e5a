import OriginServer
import SimBase
import Talaria
import Wire

/// A job that probes ask for, and what they need for it.
struct ProbedJob: Sendable {
    let job: String
    let journey: Journey
    let device: DeviceNumber
    let scan: ScanNumber
    let token: UInt64
    let authorization: String
    let deviceID: String
    /// Its phone follows it by WebSocket.
    let isSocket: Bool

    /// Nil for a request without a job, a token or a device id.
    init?(_ request: TrialRequest) {
        guard let job = request.job, let token = request.token, let credentials = request.credentials,
            let deviceID = credentials.deviceID
        else { return nil }
        self.job = job
        self.journey = request.journey
        self.device = request.device
        self.scan = request.scan
        self.token = token
        self.authorization = credentials.authorization
        self.deviceID = deviceID
        self.isSocket = request.isSocket
    }

    /// Nil for a job that its phone has followed, and for one without a token or a device id.
    init?(_ id: String, _ job: TrialJob, _ journey: Journey) {
        guard let token = job.token, let credentials = job.credentials,
            let deviceID = credentials.deviceID
        else { return nil }
        self.job = id
        self.journey = journey
        self.device = job.device
        self.scan = job.scan
        self.token = token
        self.authorization = credentials.authorization
        self.deviceID = deviceID
        self.isSocket = false
    }

    func path(_ operation: Talaria.Operation) -> String {
        let endpoint: Endpoint =
            switch operation {
            case .stream: .stream(jobId: self.job)
            case .results: .results(jobId: self.job)
            case .upload, .cleanup, .cancel, .status, .refresh: .job(jobId: self.job)
            }
        return self.journey.path(endpoint)
    }
}

/// Which jobs are probed, and what is to be asked when.
struct TrialProbes: Sendable {
    /// So many jobs are probed, whatever the share is.
    private static let jobsMin = 20
    private static let jobsMax = 2_000
    private static let underWayMax = 64
    /// The most time for a probe's answer, and for a second stream.
    private static let answerTime = Interval.seconds(30)
    private static let streamTime = Interval.seconds(600)
    private static let idBit: UInt64 = 1 << 63

    private struct Due: Sendable {
        let probe: TargetProbe
        let operation: Talaria.Operation
        let job: ProbedJob
        /// The job before it, whose token and device id are foreign ones.
        let other: ProbedJob?
    }

    private enum Step: Sendable {
        case ask(Due)
        case giveUp(UInt64)
        case look(UInt64)
    }

    private var jobs = SlotMap<String, ProbedJob>()
    private var taken = 0
    private var steps = EventHeap<Step>()
    private var over: [UInt64] = []
    /// Those whose streams should have ended by now.
    private var looks: [UInt64] = []
    private var last: UInt64 = 0
    private var underWay: Set<UInt64> = []
    private var previous: ProbedJob?

    subscript(job: String) -> ProbedJob? { self.jobs[job] }

    /// Takes a job in, if its turn has come. Returns nil if it is not probed.
    mutating func take(_ request: TrialRequest, share: UInt32) -> ProbedJob? {
        guard let job = ProbedJob(request), self.jobs[job.job] == nil, self.jobs.count < Self.jobsMax else {
            return nil
        }
        let isDrawn = Digest.of(job.job) % 1_000_000 < UInt64(share)
        guard self.taken < Self.jobsMin || isDrawn else { return nil }
        self.taken += 1
        self.jobs[job.job] = job
        return job
    }

    /// Forgets a job about which nothing more is asked.
    mutating func leave(_ job: String) { self.jobs[job] = nil }

    /// Each job is the other one of the next.
    mutating func other(than job: ProbedJob) -> ProbedJob? {
        defer { self.previous = job }
        return self.previous.flatMap { $0.token == job.token || $0.deviceID == job.deviceID ? nil : $0 }
    }

    /// Beyond so many at a time a probe is left out.
    mutating func ask(
        _ probe: TargetProbe, _ operation: Talaria.Operation, of job: ProbedJob, other: ProbedJob? = nil,
        at moment: Instant
    ) {
        self.steps.insert(.ask(Due(probe: probe, operation: operation, job: job, other: other)), at: moment)
    }

    /// Ends a probe from this side.
    mutating func cancel(_ id: UInt64) { if self.underWay.remove(id) != nil { self.over.append(id) } }

    mutating func cancel(_ id: UInt64, at moment: Instant) { self.steps.insert(.giveUp(id), at: moment) }

    /// Asks at a time whether a stream is still open.
    mutating func look(at moment: Instant, for id: UInt64) { self.steps.insert(.look(id), at: moment) }

    mutating func takeLooks() -> [UInt64] {
        defer { self.looks = [] }
        return self.looks
    }

    mutating func ended(_ id: UInt64) { self.underWay.remove(id) }

    var nextAt: Instant? { self.over.isEmpty ? self.steps.nextAt : .zero }

    /// What is to be done by now, with the exchange of each probe that begins.
    mutating func take(at now: Instant) -> [(order: ProbeOrder, exchange: TrialRequest?)] {
        var orders: [(order: ProbeOrder, exchange: TrialRequest?)] = []
        while let step = self.steps.popDue(at: now)?.element {
            switch step {
            case .giveUp(let id): self.cancel(id)
            case .look(let id): self.looks.append(id)
            case .ask(let due):
                let isLate = due.probe == .status && self.jobs[due.job.job] == nil
                guard self.underWay.count < Self.underWayMax, !isLate else { continue }
                self.last += 1
                let request = Self.request(Self.idBit | self.last, due, due.other)
                self.underWay.insert(request.id)
                self.steps.insert(
                    .giveUp(request.id), at: now + (request.isStream ? Self.streamTime : Self.answerTime))
                orders.append((.start(request), TrialRequest(due.probe, due.operation, of: due.job)))
            }
        }
        orders += self.over.map { (.cancel($0), nil) }
        self.over = []
        return orders
    }

    private static func request(_ id: UInt64, _ due: Due, _ other: ProbedJob?) -> ProbeRequest {
        guard !due.job.isSocket || due.operation != .stream else { return Self.socket(id, due, other) }
        let isStream = due.operation == .stream
        var headers = [
            HeaderField("Accept", isStream ? "text/event-stream" : "application/json"),
            HeaderField(ProbeRequest.header, due.probe.rawValue),
        ]
        var (authorization, deviceID): (String?, String?) = (due.job.authorization, due.job.deviceID)
        switch due.probe {
        case .withoutToken: authorization = nil
        case .foreignToken: authorization = other?.authorization
        case .withoutDevice: deviceID = nil
        case .otherDevice: deviceID = other?.deviceID
        case .unknownID: headers.append(HeaderField(HeaderName.lastEventID, "1-progress"))
        case .witness, .status, .results, .fullResults, .deleted, .withoutUpgrade, .usedToken, .reconnect:
            break
        }
        if let authorization { headers.append(HeaderField(HeaderName.authorization, authorization)) }
        if let deviceID { headers.append(HeaderField(HeaderName.deviceID, deviceID)) }
        let format =
            switch due.operation {
            case .results where due.job.journey.version.hasResultsFormats:
                due.probe == .fullResults ? "?format=full" : "?format=lite"
            case .upload, .stream, .results, .cleanup, .cancel, .status, .refresh: ""
            }
        return ProbeRequest(
            id: id, target: due.job.path(due.operation) + format, headers: headers, isStream: isStream)
    }

    /// A request for the WebSocket of a job (Docs/contract.md section 3.4).
    private static func socket(_ id: UInt64, _ due: Due, _ other: ProbedJob?) -> ProbeRequest {
        let authorization =
            switch due.probe {
            case .withoutToken, .withoutUpgrade: String?.none
            case .foreignToken: other?.authorization
            case .witness, .status, .results, .fullResults, .withoutDevice, .otherDevice, .unknownID,
                .deleted, .usedToken, .reconnect:
                due.job.authorization
            }
        let protocols = authorization.flatMap { Self.subprotocol(of: $0) }.map { [$0] } ?? []
        let draw = Digest.of("probe \(id)")
        let handshake = WebSocketRequest(drawn: (draw, ~draw), subprotocols: protocols)
        var headers = due.probe == .withoutUpgrade ? [] : handshake.fields.fields
        headers.append(HeaderField(ProbeRequest.header, due.probe.rawValue))
        headers.append(HeaderField(HeaderName.deviceID, due.job.deviceID))
        let target = ProgressSocket.target(due.job.job)
        return ProbeRequest(
            id: id, target: due.probe.isReturn ? ProgressSocket.returning(to: target) : target,
            headers: headers, isStream: true,
            opening: due.probe == .reconnect ? Self.ready(maskedBy: UInt32(truncatingIfNeeded: draw)) : [])
    }

    private static func subprotocol(of authorization: String) -> String? {
        guard let token = authorization.split(separator: " ", maxSplits: 1).last else { return nil }
        let name = ProgressSocket.subprotocolPrefix + token
        return WebSocketRequest.isSubprotocol(name) ? name : nil
    }

    /// The first message of a client.
    private static func ready(maskedBy key: UInt32) -> [UInt8] {
        var frame = WebSocketFrame(.text, SocketMessage(.ready, timestamp: nil).bytes(pipeline: nil))
        frame.maskingKey = key
        var bytes = ByteBuilder(reserving: 64)
        WebSocketWriter.frame(frame, into: &bytes)
        return bytes.bytes
    }
}
