import JSON
package import Observations
package import SimBase
import Talaria
import Wire

/// Holds a foreign backend to the contract, by what it answers and streams (Docs/design.md section 11.12). A value that receives
/// requests, heads, bytes and ends, and returns what it has found.
///
/// It reads what the target sent, before any fault of this program has changed it, and with a reader of its own: what a phone
/// makes of an answer has no part in it.
package struct TargetTrial: Sendable {
    /// The part of findings that are violations of lenient rules.
    package static let findingPart = "target"
    /// Bodies above this are not read.
    private static let bodyBytesMax = 8 << 20
    private static let problemBytesMax = 1 << 16

    let rules: TrialRules
    var exchanges = SlotMap<UInt64, TrialExchange>()
    var jobs = TrialJobs()
    var uploads = TrialUploads()
    var probes = TrialProbes()
    private var delays = EventDelays()
    private var tried: UInt64 = 0
    private var found: [Observation] = []

    package init(_ rules: TrialRules) { self.rules = rules }

    // MARK: Events

    /// A request goes to the target. `id`: unique among those under way.
    package mutating func sent(_ id: UInt64, _ request: TrialRequest, at now: Instant) {
        self.exchanges[id] = TrialExchange(request, sent: now)
        if request.operation == .upload, let limit = self.rules.limit {
            self.uploads.begin(request.device, at: now, window: limit.window)
        }
        guard let job = request.job else { return }
        if self.jobs[job] == nil {
            self.jobs.insert(job, TrialJob(device: request.device, scan: request.scan))
        }
        if request.operation == .stream { self.jobs.update(job) { $0.credentials = nil } }
        if request.isSocket, request.probe == nil { self.jobs.update(job) { $0.socketTries += 1 } }
        self.judgeLength(of: job, id, at: now)
        switch request.operation {
        case .cleanup, .cancel: self.jobs.update(job) { $0.isDeleting = true }
        case .refresh: self.jobs.update(job) { $0.refreshes += 1 }
        case .upload, .stream, .results, .status: break
        }
        self.probeStart(request, at: now)
    }

    package mutating func replied(_ id: UInt64, _ head: TrialHead, at now: Instant) {
        guard let exchange = self.exchanges[id] else { return }
        self.exchanges.update(id) { $0.head = head }
        self.judgeFields(head, exchange.request, at: now)
        self.noteReset(head, exchange.request, id, at: now)
        self.noteTime(exchange, id, at: now)
        self.probeReplied(exchange, head, id, at: now)
        guard exchange.request.probe?.isForbidden != true else { return }
        self.judgeDeleted(exchange, head, id, at: now)
        if head.status == 401 {
            self.judgeRefusal(exchange, id, at: now)
            self.judgeReturn(exchange, id, at: now)
        }
        self.judgeAbsence(exchange, head, id, at: now)
        if exchange.request.probe == .unknownID {
            self.judgeUnknownID(exchange, head, id, at: now)
            // A status without a stream takes the end of the job from a client that does not have it.
            guard (200...299).contains(head.status) else { return }
        }
        guard exchange.request.operation == .stream, let job = exchange.request.job else { return }
        if head.status == 101 { return self.openSocket(id, of: job, at: now) }
        guard (200...299).contains(head.status) else { return }
        guard head.status == 200, head.mediaType == "text/event-stream" else {
            return self.breaks(
                .terminal, exchange.request, id, at: now,
                "GET stream was answered with \(head.status) and \(head.mediaType.isEmpty ? "no type" : head.mediaType.bounded), which is no event stream"
            )
        }
        if exchange.request.probe == .witness { self.jobs.update(job) { $0.witness = id } }
        var stream = TrialStream(opened: now)
        if let last = exchange.request.lastEventID {
            stream.resume = self.jobs[job]?.resume(after: last, at: now, within: self.rules.buffer)
            // What it shows first comes behind the event that it goes on after.
            stream.last = stream.resume?.place
            if stream.resume != nil { self.attempt(.resume, exchange.request, at: now) }
        }
        self.exchanges.update(id) { $0.stream = stream }
    }

    package mutating func received(_ id: UInt64, _ bytes: [UInt8], at now: Instant) {
        let isStream = self.exchanges.update(id) { exchange -> Bool in
            guard exchange.stream == nil else { return true }
            let most = (exchange.head?.status ?? 0) >= 400 ? Self.problemBytesMax : Self.bodyBytesMax
            if exchange.body.count <= most { exchange.body += bytes }
            return false
        }
        guard isStream == true else { return }
        guard self.exchanges[id]?.stream?.socket == nil else {
            return self.socketReceived(id, bytes, at: now)
        }
        self.noteSilence(id, at: now)
        var blocks: [SSEBlock] = []
        self.exchanges.update(id) { $0.stream?.reader.receive(bytes, into: &blocks) }
        for block in blocks {
            if let event = block.event { self.streamed(event, id, at: now) }
        }
    }

    /// The exchange is over. `isWhole`: its answer came to its end; `hasExcess`: and bytes behind it.
    package mutating func ended(_ id: UInt64, isWhole: Bool, hasExcess: Bool = false, at now: Instant) {
        self.noteSilence(id, at: now)
        guard let exchange = self.exchanges[id] else { return }
        defer { self.exchanges[id] = nil }
        self.probes.ended(id)
        // The end of a WebSocket is its close frame.
        if isWhole, exchange.stream?.socket == nil { self.judgeEnd(exchange, id, at: now) }
        if !isWhole { self.noteCut(exchange, id, at: now) }
        if hasExcess { self.noteExcess(exchange, id, at: now) }
        guard isWhole, exchange.stream == nil, let head = exchange.head else { return }
        self.answered(exchange, head, id, at: now)
    }

    // MARK: Findings

    /// Hands over what was found since the last time.
    package mutating func takeFindings() -> [Observation] {
        guard !self.found.isEmpty else { return [] }
        defer { self.found = [] }
        return self.found
    }

    /// The target could have broken a rule here.
    mutating func attempt(_ rule: TargetRule, _ request: TrialRequest, at now: Instant) {
        let bit: UInt64 = 1 << UInt64(rule.ordinal)
        guard self.tried & bit == 0 else { return }
        self.tried |= bit
        self.observe(.targetTried(rule), request, at: now)
    }

    /// The target has broken a rule: once an exchange.
    mutating func breaks(
        _ rule: TargetRule, _ request: TrialRequest, _ id: UInt64, at now: Instant, _ text: String
    ) {
        self.attempt(rule, request, at: now)
        guard self.exchanges.update(id, { $0.breaks(rule) }) ?? true else { return }
        guard !self.rules.lenient.contains(rule) else {
            let finding = ContractFinding(
                operation: request.operation, part: Self.findingPart, path: rule.id,
                expected: rule.statement, seen: text, excerpt: nil, isDecisive: false, count: 1)
            return self.find(finding, request, at: now)
        }
        self.observe(.targetBroke(rule, job: request.job, text: text), request, at: now)
    }

    mutating func find(_ finding: ContractFinding, _ request: TrialRequest, at now: Instant) {
        self.observe(.found(finding), request, at: now)
    }

    /// `time`: the timestamp of the event, in milliseconds since 1970.
    mutating func measure(_ time: Int64, _ request: TrialRequest, at now: Instant) {
        let delay = self.rules.wallClockAtZero - time + now.milliseconds
        self.observe(.targetEvent(latency: self.delays.aboveLeast(delay, at: now)), request, at: now)
    }

    mutating func observeProbe(
        _ probe: TargetProbe, status: Int, _ request: TrialRequest, at now: Instant
    ) {
        self.observe(.targetProbed(probe, status: status), request, at: now)
    }

    private mutating func observe(_ what: BackendObservation, _ request: TrialRequest, at now: Instant) {
        self.found.append(
            Observation(at: now, device: request.device, scan: request.scan, what: .backend(what)))
    }
}

/// The uploads of devices lately, where a limit is stated.
struct TrialUploads: Sendable {
    private static let devicesMax = 200_000
    /// An upload without an answer is taken at the latest then.
    private static let answerTime = Interval.seconds(60)

    /// The target took it at some time from when it was sent to when its answer came.
    private struct Upload: Sendable {
        let sent: Instant
        /// When its 202 came; nil until then, and for good if its answer was lost.
        var taken: Instant?
    }

    private var devices: [UInt32: [Upload]] = [:]

    mutating func begin(_ device: DeviceNumber, at now: Instant, window: Interval) {
        guard self.devices[device.raw] != nil || self.devices.count < Self.devicesMax else { return }
        self.devices[device.raw, default: []].removeAll {
            ($0.taken ?? ($0.sent + Self.answerTime)) < now - window
        }
        self.devices[device.raw]?.append(Upload(sent: now))
    }

    /// Uploads that the target has certainly taken within a window, with this one.
    mutating func take(_ device: DeviceNumber, sent: Instant, at now: Instant, window: Interval) -> Int {
        guard let place = self.devices[device.raw]?.firstIndex(where: { $0.sent == sent && $0.taken == nil })
        else { return 0 }
        self.devices[device.raw]?[place].taken = now
        return self.devices[device.raw]?.count { $0.taken != nil && $0.sent > now - window } ?? 0
    }

    /// Uploads that the target can have taken within a window before this one, which it refused; and when it takes the next one
    /// at the latest, if that is known.
    mutating func refuse(_ device: DeviceNumber, sent: Instant, limit: Quota) -> (
        count: Int, opens: Instant?
    )? {
        guard let place = self.devices[device.raw]?.firstIndex(where: { $0.sent == sent && $0.taken == nil })
        else { return nil }
        self.devices[device.raw]?.remove(at: place)
        let uploads = self.devices[device.raw] ?? []
        let taken = uploads.compactMap(\.taken).sorted()
        guard taken.count == uploads.count, taken.count >= limit.requests, limit.requests > 0 else {
            return (uploads.count, nil)
        }
        return (uploads.count, taken[taken.count - limit.requests] + limit.window)
    }
}
