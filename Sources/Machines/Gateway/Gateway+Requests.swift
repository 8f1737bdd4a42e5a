internal import Faults
import JSON
import Observations
internal import OriginServer
internal import SimBase
internal import Talaria

// Requests on their way to the upstream, the faults that answer in its place, and answers that pass.

extension Gateway {
    mutating func requested(
        _ id: ExchangeID, _ request: OriginRequest, _ caller: Caller, _ connection: UInt64,
        _ faults: [ArmedFault], into effects: inout [OriginEffect]
    ) {
        guard
            let path = self.configuration.paths.place(
                method: request.method, path: request.path, query: request.query),
            let operation = path.operation(method: request.method)
        else {
            self.passUnrouted(id, request, into: &effects)
            return
        }
        effects.append(
            self.payload(
                caller, .requested(operation, attempt: caller.attempt, connection: connection)))
        if path.foreignOperation == nil {
            self.observeDeviations(of: request, operation, at: path, caller, into: &effects)
        }
        let journey = path.journey
        let context = RequestContext(
            exchange: id, operation: operation, journey: journey, caller: caller,
            path: path.foreignOperation == nil ? path.path : request.path, faults: faults)
        let jobID = path.endpoint.jobID
        let relay = Relay(
            context: context, jobID: jobID, authority: request.authority, version: journey.version)
        if let job = jobID.flatMap({ self.jobs[$0] }), job.journey != journey {
            // The upstream does not know it by this path, and a fault meets a request that would be served.
            return self.forward(id, relay, request, caller, .asSent, into: &effects)
        }
        if let refusal = self.refusal(context, request, jobID, into: &effects) {
            self.refuse(context, refusal, into: &effects)
            return
        }
        if operation == .stream, !path.isSocket, let jobID,
            case .failed(let eventID, let name, let data)? = self.jobs[jobID]?.state
        {
            self.repeatFailure(context, eventID, name, data, into: &effects)
            return
        }
        let resume =
            operation == .stream ? self.resumePoint(context, request, jobID, into: &effects) : .asSent
        self.forward(id, relay, request, caller, resume, into: &effects)
    }

    private mutating func forward(
        _ id: ExchangeID, _ relay: Relay, _ request: OriginRequest, _ caller: Caller, _ resume: ResumePoint,
        into effects: inout [OriginEffect]
    ) {
        self.relays[id] = relay
        self.tryRequest(id, request, caller, resume, into: &effects)
        effects.append(.forward(id, resume))
    }

    /// Passes on a request that the contract does not define.
    private mutating func passUnrouted(
        _ id: ExchangeID, _ request: OriginRequest, into effects: inout [OriginEffect]
    ) {
        self.relays[id] = Relay(
            context: nil, jobID: nil, authority: request.authority, version: APIVersion(path: request.path))
        effects.append(.forward(id, .asSent))
    }

    /// The upstream may take it all the same. Of an upload's body nothing is read.
    private func observeDeviations(
        of request: OriginRequest, _ operation: Operation, at path: JourneyPath, _ caller: Caller,
        into effects: inout [OriginEffect]
    ) {
        let notes = request.deviations(for: operation, at: path)
        for finding in notes.findings(operation, ContractFinding.requestPart) {
            effects.append(self.payload(caller, .found(finding)))
        }
    }

    // MARK: In the upstream's place

    private mutating func refusal(
        _ context: RequestContext, _ request: OriginRequest, _ jobID: String?,
        into effects: inout [OriginEffect]
    ) -> Refusal? {
        guard let jobID else {
            guard context.operation == .upload else {
                return self.faults.refusal(ofJobRequest: context, at: self.now, into: &effects)?.0
            }
            let other =
                context.journey.version.needsDeviceID ? nil : DeviceKey(caller: context.caller.device)
            let device = request.deviceID.flatMap { DeviceKey(header: $0) } ?? other
            return self.faults.refusal(ofUpload: context, device: device, at: self.now, into: &effects)
        }
        switch self.jobs[jobID]?.state {
        case .revoked:
            if !Self.isOpen(context, request) { return .tokenExpired }
        // A DELETE reaches the upstream, where the job still is.
        case .gone(let status) where !context.operation.isDelete: return .removed(status)
        case .failed where context.operation == .results: return .noResults
        // A fault meets a request that would be served.
        case .cleaned: return nil
        case .open, .finished, .gone, .failed, nil: break
        }
        guard
            let (refusal, change) = self.faults.refusal(
                ofJobRequest: context, at: self.now, into: &effects)
        else { return nil }
        if let change {
            self.apply(change, to: jobID, context.journey, context.caller, into: &effects)
        }
        return refusal
    }

    /// Whether a job may be read without a token, and none is shown.
    private static func isOpen(_ context: RequestContext, _ request: OriginRequest) -> Bool {
        guard context.journey.isPublic, !context.operation.isDelete, request.authorization == nil else {
            return false
        }
        let fields = request.query?.split(separator: "&") ?? []
        return context.operation != .stream || !fields.contains { $0.hasPrefix("token=") }
    }

    private func refuse(_ context: RequestContext, _ refusal: Refusal, into effects: inout [OriginEffect]) {
        let reply = refusal.reply(
            metadata: self.metadata(context.exchange), instance: context.path, context.journey.version)
        effects.append(.reply(context.exchange, reply))
        self.observeAnswer(context, reply.status, into: &effects)
        effects.append(self.payload(context.caller, refusal.payload(context)))
    }

    func observeAnswer(_ context: RequestContext, _ status: Int, into effects: inout [OriginEffect]) {
        effects.append(
            self.payload(
                context.caller, .answered(context.operation, attempt: context.caller.attempt, status: status))
        )
    }

    // MARK: The upstream's answer

    /// Starts the upstream's response time: the phone's sending does not count.
    mutating func forwarded(_ id: ExchangeID) {
        let deadline = self.now + self.configuration.replyTime
        let isAsked = self.relays.update(id) { relay in
            guard case .asked = relay.phase else { return false }
            relay.phase = .asked(deadline: deadline)
            return true
        }
        if isAsked == true { self.deadlines.insert(.replyDeadline(id), at: deadline) }
    }

    mutating func replied(_ id: ExchangeID, _ head: UpstreamHead, into effects: inout [OriginEffect]) {
        guard let relay = self.relays[id], case .asked = relay.phase else { return }
        let head = self.relocated(head, relay)
        if head.status == 101, relay.context?.operation != .stream {
            self.relays.update(id) { $0.phase = .switched }
            effects.append(.openSocket(id, headers: head.headers))
            return
        }
        if let context = relay.context {
            self.observeAnswer(context, head.status, into: &effects)
            self.follow(context, relay.jobID, head.status, into: &effects)
            let isStream = head.status == 200 && head.mediaType == "text/event-stream"
            if context.operation == .stream, isStream || head.status == 101 {
                self.relays[id] = nil
                self.openStream(context, relay, head, into: &effects)
                return
            }
            if let rewriting = self.rewriting(context, relay.jobID, head, into: &effects) {
                self.rewrite(id, head, rewriting, into: &effects)
                return
            }
        }
        self.relays.update(id) { $0.phase = .passing }
        effects.append(.passHead(id, head))
    }

    /// Whatever the upstream answers passes as it is, but a redirect must not lead a client past the gateway.
    private func relocated(_ head: UpstreamHead, _ relay: Relay) -> UpstreamHead {
        guard relay.context != nil, (300...399).contains(head.status) else { return head }
        var head = head
        let links = self.links(of: relay)
        for index in head.headers.indices where head.headers[index].name.lowercased() == "location" {
            let link = head.headers[index].value
            head.headers[index].value = links.leadingBack(link) ?? link
        }
        return head
    }

    private func links(of relay: Relay) -> UpstreamLinks {
        UpstreamLinks(
            basePath: self.configuration.basePath, authority: relay.authority,
            isSecure: self.configuration.isSecure)
    }

    /// Tracks the job that a response names.
    private mutating func follow(
        _ context: RequestContext, _ jobID: String?, _ status: Int, into effects: inout [OriginEffect]
    ) {
        let isDone =
            (200...299).contains(status) || context.operation == .cleanup && status == 404
        guard context.operation.isDelete, let jobID, isDone else { return }
        let isNews = self.jobs.update(jobID) { job in
            defer {
                job.state = .cleaned
                job.forgetEvents()
            }
            return job.state != .cleaned
        }
        guard context.operation == .cleanup else {
            if isNews ?? true { effects.append(self.payload(context.caller, .canceled(job: jobID))) }
            return
        }
        effects.append(
            self.payload(context.caller, .cleaned(job: jobID, effective: isNews ?? (status != 404))))
    }

    private mutating func rewriting(
        _ context: RequestContext, _ jobID: String?, _ head: UpstreamHead, into effects: inout [OriginEffect]
    ) -> Relay.Rewriting? {
        switch context.operation {
        case .upload where context.journey.hasJobs && (200...299).contains(head.status): return .accepted
        case .results where head.status == 200:
            if let fault = context.fault(where: { $0 == .truncateResults }), head.length ?? 2 > 1 {
                effects.append(context.fired(fault, at: self.now))
                return .truncated(draw: fault.draw)
            }
            let degradation = jobID.flatMap { self.jobs[$0]?.degradation }
            let order = context.journey.findsBooks ? context.fault(where: { $0 == .reorderResults }) : nil
            return degradation == nil && order == nil ? nil : .books(degradation, order: order)
        case .status where head.status == 200:
            if case .failed? = jobID.flatMap({ self.jobs[$0]?.state }) { return .failed }
            return nil
        case .upload, .results, .stream, .cleanup, .status, .cancel, .refresh: return nil
        }
    }

    private mutating func rewrite(
        _ id: ExchangeID, _ head: UpstreamHead, _ rewriting: Relay.Rewriting,
        into effects: inout [OriginEffect]
    ) {
        if case .truncated(let draw) = rewriting, let length = head.length {
            // Of a known length only what passes is needed.
            var shorter = head
            let count = EventDistortion.truncatedCount(of: length, draw)
            shorter.length = count
            self.relays.update(id) { $0.phase = .cutting(left: count) }
            effects.append(.passHead(id, shorter))
            return
        }
        self.relays.update(id) { $0.phase = .holding(head, rewriting) }
    }

    mutating func received(_ id: ExchangeID, _ bytes: [UInt8], into effects: inout [OriginEffect]) {
        if self.streams[id] != nil {
            self.streamReceived(id, bytes, into: &effects)
            return
        }
        switch self.relays[id]?.phase {
        case .passing: effects.append(.passBody(id, bytes))
        case .switched: effects.append(.stream(id, bytes: bytes, .extra))
        case .cutting(let left):
            let piece = Array(bytes.prefix(left))
            effects.append(.passBody(id, piece))
            guard piece.count == left else {
                self.relays.update(id) { $0.phase = .cutting(left: left - piece.count) }
                return
            }
            self.relays[id] = nil
            effects.append(.passEnd(id))
            effects.append(.releaseUpstream(id))
        case .holding:
            let count = self.relays.update(id) { relay in
                relay.held += bytes
                return relay.held.count
            }
            if count ?? 0 > Self.heldBytesMax { self.passHeld(id, into: &effects) }
        case .asked, nil: break
        }
    }

    /// What was read of an answer passes unchanged, and so does the rest of it.
    private mutating func passHeld(_ id: ExchangeID, into effects: inout [OriginEffect]) {
        guard case .holding(let head, _)? = self.relays[id]?.phase else { return }
        let held = self.relays.update(id) { relay in
            defer { relay.held = [] }
            relay.phase = .passing
            return relay.held
        }
        effects.append(.passHead(id, head))
        effects.append(.passBody(id, held ?? []))
    }

    mutating func completed(_ id: ExchangeID, into effects: inout [OriginEffect]) {
        if self.streams[id] != nil {
            self.streamCompleted(id, into: &effects)
            return
        }
        guard let relay = self.relays[id] else { return }
        self.relays[id] = nil
        switch relay.phase {
        case .asked: self.answer(relay, id, .transport(.closedBeforeReply), into: &effects)
        case .passing, .cutting: effects.append(.passEnd(id))
        case .switched: effects += [.endStream(id), .releaseUpstream(id)]
        case .holding(let head, let rewriting):
            let body = self.rewritten(relay, rewriting, into: &effects)
            effects.append(
                .reply(id, OriginReply(status: head.status, headers: head.headers, body: body)))
        }
    }

    private mutating func rewritten(
        _ relay: Relay, _ rewriting: Relay.Rewriting, into effects: inout [OriginEffect]
    ) -> [UInt8] {
        switch rewriting {
        case .accepted: return self.accepted(relay, into: &effects)
        case .truncated(let draw):
            return Array(relay.held.prefix(EventDistortion.truncatedCount(of: relay.held.count, draw)))
        case .books(let degradation, let order):
            let body = degradation.flatMap { DegradedBooks(results: relay.held, by: $0)?.body } ?? relay.held
            guard let order, let reordered = ResultsText(body)?.reordered(order.draw) else { return body }
            if let context = relay.context { effects.append(context.fired(order, at: self.now)) }
            return reordered
        case .failed:
            guard var body = JSONObjectText(relay.held) else { return relay.held }
            _ = body.changeStrings(under: ["status"]) { _ in JobStatus.failed.rawValue }
            return body.bytes
        }
    }

    /// The job is known from here on, and its links lead back to the gateway.
    private mutating func accepted(_ relay: Relay, into effects: inout [OriginEffect]) -> [UInt8] {
        guard let context = relay.context, var body = JSONObjectText(relay.held) else { return relay.held }
        if let jobID = Self.jobID(in: body) {
            self.know(jobID, context.journey, context.caller, into: &effects)
            effects.append(self.payload(context.caller, .accepted(job: jobID, books: 0)))
        }
        let links = self.links(of: relay)
        _ = body.changeStrings(under: UpstreamLinks.keys) { links.leadingBack($0) }
        return body.bytes
    }

    /// A job is known from now on; the oldest may have to make room.
    mutating func know(
        _ jobID: String, _ journey: Journey, _ owner: Caller, into effects: inout [OriginEffect]
    ) {
        let job = ProxiedJob(id: jobID, journey: journey, owner: owner, accepted: self.now)
        if let oldest = self.jobs.insert(job) {
            effects.append(self.payload(oldest.owner, .expired(job: oldest.id)))
        }
    }

    private static func jobID(in body: JSONObjectText) -> String? {
        let data = body.value("data").flatMap { JSONObjectText(Array($0)) }
        let id = data?.text("jobId") ?? body.text("jobId")
        return id.flatMap { Endpoint.isJobID($0) ? $0 : nil }
    }

    // MARK: Ends

    mutating func failed(_ id: ExchangeID, _ failure: UpstreamFailure, into effects: inout [OriginEffect]) {
        effects.append(.upstreamFailed(id, failure))
        if self.streams[id] != nil {
            self.streamFailed(id, failure, into: &effects)
            return
        }
        self.passHeld(id, into: &effects)
        guard let relay = self.relays[id] else { return }
        self.relays[id] = nil
        switch relay.phase {
        case .asked, .holding: self.answer(relay, id, failure, into: &effects)
        case .passing, .cutting, .switched: effects.append(.breakOff(id, failure.ending))
        }
    }

    private func answer(
        _ relay: Relay, _ id: ExchangeID, _ failure: UpstreamFailure, into effects: inout [OriginEffect]
    ) {
        var refusal = Refusal(failure.code, failure.text)
        refusal.headers = [HeaderField(Self.failureHeader, failure.name)]
        let reply = refusal.reply(
            metadata: self.metadata(id), instance: relay.context?.path, relay.version)
        effects.append(.reply(id, reply))
        guard let context = relay.context else { return }
        effects.append(
            self.payload(
                context.caller,
                .upstreamFailed(context.operation, attempt: context.caller.attempt, failure.transport)))
        self.observeAnswer(context, reply.status, into: &effects)
    }

    /// Names how the upstream failed.
    package static let failureHeader = "X-Gateway-Error"

    mutating func aborted(_ id: ExchangeID, into effects: inout [OriginEffect]) {
        self.relays[id] = nil
        if let stream = self.streams[id] {
            self.forget(id, stream)
            effects.append(
                self.payload(
                    stream.caller,
                    .streamEnded(job: stream.job, attempt: stream.caller.attempt, byPeer: true)))
        }
        effects.append(.releaseUpstream(id))
    }
}

extension UpstreamFailure {
    /// The end of a started response towards the phone.
    var ending: CutEnding { self == .transport(.reset) ? .reset : .close }
}
