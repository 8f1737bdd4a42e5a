import Faults
package import HTTPServer
package import Ledger
import Phone
import Plan
import SimBase
import Talaria
import Wire

// What the world can say of itself: whether every byte that was sent is accounted for. It changes nothing of what happens.

extension World {
    /// Hands on what only links, wires and storages can see.
    package mutating func report(to invariants: inout SimulationInvariants) {
        for finding in self.takeFindings() { invariants.record(finding) }
        for silence in self.takeSilences() { invariants.record(silence) }
        for form in self.takeForms() { invariants.record(form) }
        for request in self.takeGivenUp() { invariants.record(request) }
    }

    /// Returns and removes the new findings.
    package mutating func takeFindings() -> [AuditFinding] {
        for leak in self.wires.takeLeaks() {
            self.find(.leak(leak.leg, leak.bytes), of: leak.phone)
        }
        defer { self.findings = [] }
        return self.findings
    }

    /// Silences of open streams since the last time.
    package mutating func takeSilences() -> [SilentStream] {
        defer { if !self.silences.isEmpty { self.silences = [] } }
        return self.silences
    }

    /// Requests that left a phone since the last time.
    package mutating func takeForms() -> [RequestForm] {
        defer { if !self.forms.isEmpty { self.forms = [] } }
        return self.forms
    }

    /// Requests without a whole answer that their phones gave up since the last time.
    package mutating func takeGivenUp() -> [RequestGivenUp] {
        defer { if !self.givenUp.isEmpty { self.givenUp = [] } }
        return self.givenUp
    }

    /// A stream is over for its phone, or continues after a silence.
    mutating func fellSilent(_ phone: Int, _ stream: StreamOnWire, isGivenUp: Bool) {
        self.silences.append(
            SilentStream(
                device: self.phones[phone].machine.number, scan: stream.scan, from: stream.lastByteAt,
                to: self.now, isGivenUp: isGivenUp, openedAt: stream.openedAt, bytes: stream.bytes))
    }

    /// The wire carries no stream from here on.
    mutating func endStream(on wire: WireID, isGivenUp: Bool) {
        let ended = self.wires.update(wire) { state -> (phone: Int, stream: StreamOnWire)? in
            guard let stream = state.stream else { return nil }
            state.stream = nil
            return stream.isOpen ? (state.phone, stream) : nil
        }
        guard let (phone, stream) = ended ?? nil else { return }
        guard isGivenUp || self.now - stream.lastByteAt > self.plan.run.idleTimeoutMin else { return }
        self.fellSilent(phone, stream, isGivenUp: isGivenUp)
    }

    /// The phone gives up what the wire carries.
    mutating func noteGivenUp(on wire: WireID, of phone: Int) {
        guard let state = self.wires.ask(wire, { $0 }), let asked = state.asked else { return }
        let ready = state.connection.flatMap { self.server.linkReady(of: $0) } ?? asked.sentAt
        var movedAt = state.movedAt
        // A photo whose link takes no more just now is on its way.
        if state.upload != nil, !state.isRead, case .open = state.serverSide { movedAt = self.now }
        self.givenUp.append(
            RequestGivenUp(
                device: self.phones[phone].machine.number, scan: asked.scan, operation: asked.operation,
                attempt: asked.attempt, at: self.now, readyAt: max(asked.sentAt, min(ready, self.now)),
                movedAt: max(asked.sentAt, movedAt),
                photoBytes: asked.operation == .upload
                    ? self.phones[state.phone].photos.first { $0.scan == asked.scan }?.bytes ?? 0 : 0))
    }

    /// Bytes that did not arrive, by their causes.
    package var lostBytes: LostBytes { self.lost + self.server.lostBytes }

    mutating func find(_ what: AuditFinding.What, of phone: Int?) {
        self.findings.append(
            AuditFinding(
                device: phone.map { self.phones[$0].machine.number }, scan: .none, at: self.now,
                what: what))
    }

    // MARK: Bytes

    /// Returns the connection for bytes from the phone that have reached the link; nil if they are lost
    /// there.
    mutating func arrived(_ bytes: Int, on wire: WireID) -> ConnectionID? {
        let connection = self.wires.update(wire) { $0.arrived(bytes) }
        if connection == nil { self.wires.straggled(bytes) }
        guard let connection = connection ?? nil else {
            self.lost.add(bytes, .serverClosed)
            return nil
        }
        return connection
    }

    /// Records bytes from the link that have no reader.
    mutating func lose(_ bytes: Int, on wire: WireID) {
        switch self.wires.ask(wire, { $0.phoneSide }) {
        case .parked?: self.lost.add(bytes, .parked)
        // Open, and requesting nothing: the rest of an answer that was given up.
        case .open?, .closed?: self.lost.add(bytes, .phoneClosed)
        case nil:
            self.find(.leak(.linkToPhone, .init(sent: bytes, delivered: 0, destroyed: 0, underway: 0)), of: 0)
        }
    }

    /// Compares what both sides of a link say once the server is done with a connection. `wire` is how it was before it
    /// may have ended.
    mutating func compare(_ wire: WireState?, with connection: ConnectionID) {
        guard let wire, let account = self.server.account(of: connection) else { return }
        self.judge(account.up, underway: account.upWaiting, .linkUp, of: wire.phone)
        self.judge(account.down, underway: account.downWaiting, .linkDown, of: wire.phone)
        if account.downWaitingMost > HTTPServerLimits.underwayMax {
            self.find(
                .overLimit(
                    Bound(
                        "HTTPServerLimits.underwayMax", account.downWaitingMost,
                        max: HTTPServerLimits.underwayMax)),
                of: wire.phone)
        }
        if account.up.sent != wire.up.delivered {
            self.find(
                .leak(
                    .intoLink,
                    .init(sent: wire.up.delivered, delivered: account.up.sent, destroyed: 0, underway: 0)),
                of: wire.phone)
        }
        if account.down.delivered != wire.down.sent {
            self.find(
                .leak(
                    .outOfLink,
                    .init(
                        sent: account.down.delivered, delivered: wire.down.sent, destroyed: 0, underway: 0)),
                of: wire.phone)
        }
    }

    private mutating func judge(_ flow: LinkFlow, underway: Int, _ leg: LinkLeg, of phone: Int) {
        guard !flow.isConserved(underway: underway) else { return }
        self.find(.leak(leg, LeakedBytes(flow, underway: underway)), of: phone)
    }

    /// Checks the bytes at the end of a run: of the remaining wires, and those on the way to the link.
    package mutating func checkConservation() {
        self.countStreams()
        for phone in self.phones.indices {
            for wire in self.phones[phone].wires { self.endStream(on: wire, isGivenUp: false) }
        }
        for wire in self.wires.all {
            for (leg, flow, underway) in wire.legs where !flow.isConserved(underway: underway) {
                self.find(.leak(leg, LeakedBytes(flow, underway: underway)), of: wire.phone)
            }
            if let connection = wire.connection { self.compare(wire, with: connection) }
        }
        var waiting = 0
        var queue = self.queue
        while let (_, event) = queue.popFirst() {
            if case .bytes(_, let bytes) = event { waiting += bytes.count }
        }
        let underway = self.wires.underway
        guard waiting != underway else { return }
        self.find(
            .leak(.everywhere, .init(sent: underway, delivered: 0, destroyed: 0, underway: waiting)), of: nil)
    }
}

extension World {
    // MARK: Queues

    /// A phone after something that may have left it with more than it had.
    mutating func lookAtBounds(of phone: Int) {
        var exceeded: Bound?
        // In place: to read a phone of an array copies it.
        self.phones.update(phone) { state in
            state.machine.eachBound { if $0.isExceeded { exceeded = $0 } }
        }
        if let exceeded { self.find(.overLimit(exceeded), of: phone) }
    }

    /// Checks the server's limits.
    mutating func checkBoundsOfServer() {
        var exceeded: Bound?
        self.server.eachBound { if $0.isExceeded { exceeded = $0 } }
        if let exceeded { self.find(.overLimit(exceeded), of: nil) }
    }

    // MARK: Requests

    /// The token that a target has in its query, and the target without it. The tokens of the simulated backend need no escapes.
    private static func tokenOfQuery(_ target: String) -> (token: Substring, target: String)? {
        let path = Endpoint.path(ofTarget: target)
        guard path.utf8.count < target.utf8.count else { return nil }
        let fields = Substring(target.utf8.dropFirst(path.utf8.count + 1)).split(separator: "&")
        guard let field = fields.first(where: { $0.hasPrefix("token=") }) else { return nil }
        let rest = fields.filter { $0 != field }.joined(separator: "&")
        let bare = path + (rest.isEmpty ? "" : "?" + rest)
        return (field.dropFirst("token=".count), bare)
    }

    /// Checks the parts of a request that a server reads.
    mutating func checkForm(
        of request: AppRequest, _ headers: [HeaderField], body: RequestForm.Body,
        token refresh: TokenRefresh? = nil, of phone: Int
    ) {
        var lines = headers
        var tokens: [RequestForm.Token] = []
        while let index = lines.indices.first(where: { lines[$0].isNamed(HeaderName.authorization) }) {
            let value = lines.remove(at: index).value
            let isBearer = value.hasPrefix("Bearer ") && value.utf8.count > 7
            let kind = self.kind(of: value, request.target, request, of: phone)
            tokens.append(isBearer ? kind : .unreadable)
        }
        while let index = lines.indices.first(where: { lines[$0].isNamed("Sec-WebSocket-Protocol") }) {
            let value = lines.remove(at: index).value
            let isOurs = value.hasPrefix(ProgressSocket.subprotocolPrefix)
            let token = value.dropFirst(ProgressSocket.subprotocolPrefix.utf8.count)
            tokens.append(
                isOurs ? self.kind(of: "Bearer \(token)", request.target, request, of: phone) : .unreadable)
        }
        let inQuery = Self.tokenOfQuery(request.target)
        if let token = inQuery?.token {
            tokens.append(self.kind(of: "Bearer \(token)", request.target, request, of: phone))
        }
        if let refresh {
            let target = ProgressSocket.target(refresh.jobId)
            tokens.append(self.kind(of: "Bearer \(refresh.oldToken)", target, request, of: phone))
        }
        self.forms.append(
            RequestForm(
                device: self.phones[phone].machine.number, scan: request.scan,
                operation: request.operation, attempt: request.attempt, at: self.now, method: request.method,
                target: inQuery?.target ?? request.target, headers: lines, tokens: tokens, body: body))
    }

    /// Whose token a request for this target shows. One of another job is a finding.
    private mutating func kind(
        of authorization: String, _ target: String, _ request: AppRequest, of phone: Int
    ) -> RequestForm.Token {
        switch self.server.owner(ofToken: authorization, target: target) {
        case .thisJob: return .own
        case .thisJobBefore: return .former
        case .otherJob:
            self.find(.strayToken(request.operation), of: phone)
            return .foreign
        }
    }

    /// A stream is requested: a process that starts now must find its job.
    mutating func lookAtRecord(of request: AppRequest, of phone: Int) {
        // In place, as above.
        guard request.operation == .stream, self.phones.update(phone, { $0.machine.hasRoom }) else { return }
        guard case .stream(let job)? = JourneyPath(target: request.target)?.endpoint,
            self.phones.update(phone, { $0.machine.holds(job: job, of: request.scan) }) == false
        else { return }
        self.findings.append(
            AuditFinding(
                device: self.phones[phone].machine.number, scan: request.scan, at: self.now,
                what: .unrecordedJob))
    }

    // MARK: Latency

    /// The first byte of an answer has come on a wire that was made for it.
    mutating func lookAtLatency(of asked: RequestOnWire, of phone: Int) {
        let least = self.leastLatency(of: phone, since: asked.sentAt)
        let took = self.now - asked.sentAt
        guard took < least else { return }
        self.findings.append(
            AuditFinding(
                device: self.phones[phone].machine.number, scan: asked.scan, at: self.now,
                what: .tooSoon(asked.operation, took: took, least: least)))
    }

    /// A handshake, then a request and the beginning of its answer: two round trips behind the lookup of the name, over the
    /// best link that the plan has for the phone in that time.
    private func leastLatency(of phone: Int, since sent: Instant) -> Interval {
        let network = self.plan.run.groups[self.phones[phone].group].spec.network
        func least(_ profile: LinkProfile) -> Interval {
            profile.nameLookup + (profile.up.delay + profile.down.delay) * 2
        }
        var best = least(network.profile(at: sent))
        var moment = sent
        while let next = network.nextChange(after: moment), next <= self.now {
            best = min(best, least(network.profile(at: next)))
            moment = next
        }
        // When all trouble is over, every phone has the link that its way begins with.
        if self.progress.faultsHaveEnded, let first = network.first { best = min(best, least(first.profile)) }
        return best
    }
}

extension LeakedBytes {
    init(_ flow: LinkFlow, underway: Int) {
        self.init(sent: flow.sent, delivered: flow.delivered, destroyed: flow.destroyed, underway: underway)
    }
}

extension WireState {
    /// - Returns: The server's connection, if there is one that takes them.
    mutating func arrived(_ bytes: Int) -> ConnectionID? {
        self.upWaiting -= bytes
        guard let connection = self.connection else {
            self.up.destroyed += bytes
            return nil
        }
        self.up.delivered += bytes
        return connection
    }

    var legs: [(leg: LinkLeg, flow: LinkFlow, underway: Int)] {
        [(.phoneToLink, self.up, self.upWaiting), (.linkToPhone, self.down, 0)]
    }
}
