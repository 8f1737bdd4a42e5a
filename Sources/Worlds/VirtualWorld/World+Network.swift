import Faults
import HTTPServer
import Ledger
import Metrics
import Observations
import Phone
import Plan
import SimBase
import Talaria
import Wire

// Requests and answers between phones and the server. A phone's wires are its own: a request goes by one that is idle, or by
// a new one. What a phone sends takes a hop to its link; what comes out of the link is there at once.

extension WireState {
    /// The server's id of the connection, while it exists.
    var connection: ConnectionID? {
        switch self.serverSide {
        case .open(let connection), .silent(let connection, since: _): connection
        case .unknown, .over: nil
        }
    }

    var isOpenToPhone: Bool {
        if case .open = self.phoneSide { true } else { false }
    }

    /// The phone sends to its link, a hop away.
    mutating func send(_ bytes: Int) {
        self.up.sent += bytes
        self.upWaiting += bytes
    }

    /// What bytes out of the link were to the phone.
    fileprivate struct Received {
        let phone: Int
        let request: RequestID
        var isReadable = true
        /// The stream, if it had been silent for too long before them.
        var silent: StreamOnWire?
        /// The request whose answer begins with them, by a wire of its own.
        var first: RequestOnWire?
    }

    /// Reads bytes that came out of the link. Returns nil if no one reads them any more.
    fileprivate mutating func receive(
        _ bytes: ArraySlice<UInt8>, at now: Instant, silenceMax: Interval, into events: inout [ResponseEvent]
    ) -> Received? {
        guard case .open = self.phoneSide, let request = self.request else {
            self.down.destroyed += bytes.count
            return nil
        }
        var received = Received(phone: self.phone, request: request)
        self.down.delivered += bytes.count
        if !self.hasAnswer, !self.isReused { received.first = self.asked }
        self.hasAnswer = true
        if let stream = self.stream, stream.isOpen {
            if now - stream.lastByteAt > silenceMax { received.silent = stream }
            self.stream?.bytes += bytes.count
        }
        do throws(ResponseError) {
            try self.reader.receive(bytes, into: &events)
            // The frame of a chunk, and a part of a head, are no progress that an app can see.
            if !events.isEmpty {
                self.movedAt = now
                self.stream?.lastByteAt = now
            }
        } catch {
            received.isReadable = false
        }
        return received
    }
}

extension World {
    // MARK: From the phone

    mutating func start(_ request: AppRequest, of phone: Int) {
        let process = self.phones[phone].machine.process
        func fails(_ failure: TransportFailure) -> WorldEvent {
            .failed(phone: Int32(phone), process: process, request.id, failure)
        }
        guard let path = request.path(onServer: Self.base) else {
            return self.schedule(fails(.foreignURL), at: self.now)
        }
        var request = request
        request.target = path
        if self.refuse(request, of: phone) {
            return self.schedule(fails(.connectRefused), at: self.now + WorldTime.hop)
        }
        self.lookAtRecord(of: request, of: phone)
        let wire = self.wire(for: request, of: phone)
        let arrival = self.now + WorldTime.hop
        var headers = request.headers
        if let contentType = request.contentType {
            headers.append(HeaderField("Content-Type", contentType))
        }
        switch request.body {
        case .none:
            self.checkForm(of: request, headers, body: .none, of: phone)
            self.sendHead(request, headers, on: wire, at: arrival)
        case .document(let scan, let payload):
            if payload == .file { headers.append(HeaderField("Content-Type", Self.uploadType)) }
            self.checkForm(of: request, headers, body: .document(of: scan, payload), of: phone)
            let document = self.document(of: scan, of: phone).bytes
            let body = payload == .file ? Self.fileStart + document + Self.uploadEnd : document
            self.send(request, headers, body, on: wire, at: arrival)
        case .lookup(let scan, let lookup):
            self.checkForm(of: request, headers, body: .document(of: scan, .json), of: phone)
            self.send(request, headers, lookup.body, on: wire, at: arrival)
        case .text(let scan, let text):
            self.checkForm(of: request, headers, body: .document(of: scan, .json), of: phone)
            self.send(request, headers, text.body, on: wire, at: arrival)
        case .token(let refresh):
            self.checkForm(of: request, headers, body: .token, token: refresh, of: phone)
            self.send(request, headers, refresh.body, on: wire, at: arrival)
        case .photos(let scan, let count):
            headers.append(HeaderField("Content-Type", Self.uploadType))
            self.sendPhotos(request, headers, of: scan, count: count, of: phone, on: wire, at: arrival)
        }
    }

    private mutating func sendHead(
        _ request: AppRequest, _ headers: [HeaderField], on wire: WireID, at arrival: Instant
    ) {
        let bytes = ByteBuilder.bytes { bytes in
            RequestWriter.head(
                method: request.method, target: request.target[...], host: Self.host[...], fields: headers,
                bodyBytes: nil, into: &bytes)
        }
        self.wires.update(wire) { $0.send(bytes.count) }
        self.schedule(.bytes(wire, bytes), at: arrival)
    }

    private mutating func sendPhotos(
        _ request: AppRequest, _ headers: [HeaderField], of scan: ScanNumber, count: Int, of phone: Int,
        on wire: WireID, at arrival: Instant
    ) {
        guard let photo = self.phones[phone].photos.first(where: { $0.scan == scan }) else {
            preconditionFailure("an upload of a photo that was not prepared")
        }
        let filler = max(0, photo.bytes - Self.photoStart.count)
        let part = UploadPart.photo(self.phones[phone].machine.profile)
        let start = Self.start(of: part)
        self.checkForm(
            of: request, headers,
            body: .photos(field: part.name, type: part.contentType, of: scan, count: count), of: phone)
        let bodyBytes =
            start.count + filler + (count - 1) * (Self.lineEnd.count + start.count + filler)
            + Self.uploadEnd.count
        let bytes = ByteBuilder.bytes { bytes in
            RequestWriter.head(
                method: request.method, target: request.target[...], host: Self.host[...], fields: headers,
                bodyBytes: bodyBytes, into: &bytes)
            bytes.append(contentsOf: start)
        }
        self.wires.update(wire) { state in
            state.send(bytes.count)
            state.upload = .init(photoFiller: filler, photos: count)
        }
        self.schedule(.bytes(wire, bytes), at: arrival)
        self.schedule(.upload(wire), at: arrival)
    }

    static let host = "talaria.invalid"
    private static let base = "http://\(host)"

    /// Refuses the request before anything of it leaves, if a `refuse` fault is due. Returns whether it is refused.
    private mutating func refuse(_ request: AppRequest, of phone: Int) -> Bool {
        guard self.refusals != nil else { return false }
        let key = ExchangeKey(
            device: self.phones[phone].machine.number, scan: request.scan, operation: request.operation,
            attempt: request.attempt)
        let group = self.plan.run.groups[self.phones[phone].group].spec.name
        var seen: [Observation] = []
        let refusal = self.refusals?.open(
            key, by: request.transport, group: group, at: self.now, into: &seen
        ).first
        for observation in seen { self.observe(observation) }
        guard let refusal else { return false }
        self.refusals?.fired(refusal.fault, key)
        self.observe(
            Observation(
                at: self.now, device: key.device, scan: key.scan,
                what: .fault(.fired(fault: refusal.fault, key.operation, attempt: key.attempt))))
        return true
    }

    /// A wire that is idle, or a new one.
    private mutating func wire(for request: AppRequest, of phone: Int) -> WireID {
        let asked = RequestOnWire(
            operation: request.operation, scan: request.scan, attempt: request.attempt, sentAt: self.now)
        if let idle = self.phones[phone].wires.first(where: { self.wires.ask($0) { $0.isIdle } ?? false }) {
            self.wires.update(idle) { state in
                state.request = request.id
                state.asked = asked
                state.movedAt = asked.sentAt
                state.stream = request.operation == .stream ? StreamOnWire(scan: request.scan) : nil
                state.isReused = true
                state.hasAnswer = false
                state.reader.isForUpgrade = request.asksForUpgrade
            }
            return idle
        }
        let wire = self.wires.make(phone: phone)
        self.wires.update(wire) {
            $0.request = request.id
            $0.asked = asked
            $0.movedAt = asked.sentAt
            $0.stream = request.operation == .stream ? StreamOnWire(scan: request.scan) : nil
            $0.reader.isForUpgrade = request.asksForUpgrade
        }
        self.phones[phone].wires.append(wire)
        self.schedule(.connect(wire), at: self.now + WorldTime.hop)
        return wire
    }

    /// Sends bytes behind a request whose answer switched to another protocol.
    mutating func transmit(_ bytes: [UInt8], on id: RequestID, of phone: Int) {
        guard let wire = self.phones[phone].wires.first(where: { self.request(on: $0) == id }) else {
            return
        }
        self.wires.update(wire) { $0.send(bytes.count) }
        self.schedule(.bytes(wire, bytes), at: self.now + WorldTime.hop)
    }

    mutating func abort(_ id: RequestID, of phone: Int) {
        guard let wire = self.phones[phone].wires.first(where: { self.request(on: $0) == id }) else {
            return
        }
        if self.wires.ask(wire, { $0.stream?.isOpen ?? false }) == true {
            self.endStream(on: wire, isGivenUp: true)
        } else {
            self.noteGivenUp(on: wire, of: phone)
        }
        self.close(wire)
    }

    /// The phone closes its side, with FIN.
    mutating func close(_ wire: WireID) {
        guard let phone = self.wires.ask(wire, { $0.phone }) else { return }
        self.phones[phone].wires.removeAll { $0 == wire }
        self.schedule(.fin(wire), at: self.now + WorldTime.hop)
        self.wires.update(wire) { state in
            state.phoneSide = .closed
            state.request = nil
            state.upload = nil
        }
    }

    /// Leaves every wire open and unread.
    mutating func park(_ phone: Int) {
        for wire in self.phones[phone].wires {
            self.endStream(on: wire, isGivenUp: false)
            self.wires.update(wire) { state in
                state.phoneSide = .parked
                state.request = nil
                state.upload = nil
            }
            if self.wires.exists(wire) { self.phones[phone].parked.append(wire) }
        }
        self.phones[phone].wires = []
    }

    /// Closes what was parked, with RST.
    mutating func hangUp(_ phone: Int) {
        for wire in self.phones[phone].parked {
            guard self.wires.exists(wire) else { continue }
            self.schedule(.reset(wire), at: self.now + WorldTime.hop)
            self.wires.update(wire) { $0.phoneSide = .closed }
        }
        self.phones[phone].parked = []
    }

    // MARK: To the server

    mutating func sendToServer(_ event: ServerEvent) {
        self.countStreams()
        var effects: [ServerEffect] = []
        swap(&effects, &self.serverEffects)
        self.server.handle(event, at: self.now, into: &effects)
        for index in effects.indices {
            self.carryOut(effects.take(index, leaving: .nothing))
        }
        effects.clear()
        swap(&effects, &self.serverEffects)
    }

    mutating func finArrives(_ wire: WireID) {
        switch self.wires.ask(wire, { $0.serverSide }) {
        case .open(let connection)?: self.sendToServer(.ended(connection))
        case .silent(_, let since)?:
            // Nothing passes any more: that its peer has given up shows when the server looks.
            let (poll, waited) = (WorldTime.silencePoll.nanoseconds, (self.now - since).nanoseconds)
            self.schedule(.givenUp(wire), at: since + .nanoseconds((waited / poll + 1) * poll))
        case .unknown?, .over?, nil: break
        }
    }

    mutating func resetArrives(_ wire: WireID) {
        guard let state = self.wires.ask(wire, { $0 }), let connection = state.connection else { return }
        self.wires.update(wire) { $0.serverSide = .over }
        self.sendToServer(.gone(connection))
        self.compare(state, with: connection)
    }

    // MARK: From the server

    private mutating func carryOut(_ effect: consuming ServerEffect) {
        if self.isTracing { self.trace(copy effect) }
        switch consume effect {
        case .observe(let observation): self.observe(observation)
        case .upstream, .served:
            preconditionFailure("the virtual world's server has nobody behind it or beside it")
        case .send(let connection, let bytes):
            guard let wire = self.wires.wire(of: connection) else { return }
            self.deliver(bytes, on: wire)
        case .sendApart(let connection, let bytes):
            guard let wire = self.wires.wire(of: connection) else { return }
            let count = bytes.count
            self.wires.update(wire) { $0.down.sent += count }
            self.deliver(bytes[...], on: wire)
        case .read(let connection, let isRead):
            guard let wire = self.wires.wire(of: connection) else { return }
            self.wires.update(wire) { $0.isRead = isRead }
            if isRead, self.wires.ask(wire, { $0.upload != nil }) == true {
                self.schedule(.upload(wire), at: self.now)
            }
        case .finish(let connection):
            guard let wire = self.wires.wire(of: connection) else { return }
            self.compare(self.wires.ask(wire) { $0 }, with: connection)
            self.serverEnded(wire, by: .close)
        case .cut(let connection, let ending):
            var ended: WireState?
            if let wire = self.wires.wire(of: connection) {
                if ending == .silence {
                    let now = self.now
                    self.wires.update(wire) { $0.serverSide = .silent(connection, since: now) }
                } else {
                    ended = self.wires.ask(wire) { $0 }
                    self.serverEnded(wire, by: ending)
                }
            }
            self.sendToServerNow(.cutDone(connection))
            self.compare(ended, with: connection)
        }
    }

    /// Answers the server in the middle of its effects.
    private mutating func sendToServerNow(_ event: ServerEvent) {
        var effects: [ServerEffect] = []
        self.server.handle(event, at: self.now, into: &effects)
        for effect in effects { self.carryOut(effect) }
    }

    /// Bytes come out of the link, in pieces at drawn offsets.
    private mutating func deliver(_ bytes: [UInt8], on wire: WireID) {
        self.chain.absorb(bytes[...])
        let count = bytes.count
        let owner = self.wires.update(wire) { state in
            state.down.sent += count
            return state.phone
        }
        guard self.plan.splits, count > 1, let phone = owner else {
            return self.deliver(bytes[...], on: wire)
        }
        self.phones[phone].pieces += 1
        let draw = self.random.draw(
            .split, UInt64(self.phones[phone].machine.number.raw), self.phones[phone].pieces)
        // One in four comes in two pieces, one in sixteen in three.
        switch draw % 16 {
        case 0...3:
            let cut = 1 + Int((draw >> 8) % UInt64(bytes.count - 1))
            self.deliver(bytes[..<cut], on: wire)
            self.deliver(bytes[cut...], on: wire)
        case 4 where bytes.count > 2:
            let first = 1 + Int((draw >> 8) % UInt64(bytes.count - 2))
            let second = first + 1 + Int((draw >> 32) % UInt64(bytes.count - first - 1))
            self.deliver(bytes[..<first], on: wire)
            self.deliver(bytes[first..<second], on: wire)
            self.deliver(bytes[second...], on: wire)
        default: self.deliver(bytes[...], on: wire)
        }
    }

    private mutating func deliver(_ bytes: ArraySlice<UInt8>, on wire: WireID) {
        var events: [ResponseEvent] = []
        swap(&events, &self.responseEvents)
        defer {
            events.clear()
            swap(&events, &self.responseEvents)
        }
        let (now, limit) = (self.now, self.plan.run.idleTimeoutMin)
        let read = self.wires.update(wire) {
            $0.receive(bytes, at: now, silenceMax: limit, into: &events)
        }
        guard let read = read ?? nil else {
            return self.lose(bytes.count, on: wire)  // Nobody reads it.
        }
        let (phone, request) = (read.phone, read.request)
        if let silent = read.silent { self.fellSilent(phone, silent, isGivenUp: false) }
        if let first = read.first { self.lookAtLatency(of: first, of: phone) }
        for index in events.indices {
            // The phone may have given the request up meanwhile.
            guard self.request(on: wire) == request else { break }
            self.answer(events.take(index, leaving: .end), to: request, on: wire, of: phone)
        }
        if !read.isReadable, self.request(on: wire) == request {
            self.close(wire)
            self.send(.replyFailed(request, .malformed), toAppOf: phone)
        }
    }

    private func request(on wire: WireID) -> RequestID? { self.wires.ask(wire) { $0.request } ?? nil }

    /// Returns the server's id of a wire, while it exists.
    func connection(of wire: WireID) -> ConnectionID? { self.wires.ask(wire) { $0.connection } ?? nil }

    /// Whether the head is that of an event stream, as anybody can read it.
    private static func isStream(_ headers: HeaderFields) -> Bool {
        let type = headers["Content-Type"]?.lowercased() ?? ""
        return type.hasPrefix("text/event-stream") && headers["Content-Encoding"] == nil
    }

    private mutating func answer(
        _ event: consuming ResponseEvent, to request: RequestID, on wire: WireID, of phone: Int
    ) {
        switch event {
        case .head(let status, let headers):
            if status == 101 || status == 200 && Self.isStream(headers) {
                let now = self.now
                self.wires.update(wire) { state in
                    state.stream?.isOpen = true
                    state.stream?.openedAt = now
                    state.stream?.lastByteAt = now
                }
            }
            self.send(.replyHead(request, ReplyHead(status: status, headers)), toAppOf: phone)
        case .body(let piece): self.send(.replyBytes(request, piece), toAppOf: phone)
        case .end:
            self.endStream(on: wire, isGivenUp: false)
            // As libcurl does, an answer that comes before its request is sent ends the connection.
            if self.wires.ask(wire, { $0.reader.keepsAlive && $0.upload == nil }) ?? false {
                self.wires.update(wire) { $0.request = nil }
            } else {
                self.close(wire)
            }
            self.send(.replyEnded(request), toAppOf: phone)
        }
    }

    /// The server is done with a wire: FIN or RST.
    private mutating func serverEnded(_ wire: WireID, by ending: CutEnding) {
        self.endStream(on: wire, isGivenUp: false)
        self.wires.update(wire) { $0.serverSide = .over }
        guard let phone = self.wires.ask(wire, { $0.isOpenToPhone ? $0.phone : nil }) ?? nil else { return }
        let request = self.request(on: wire)
        let answer = self.wires.ask(wire) { $0.hasAnswer ? $0.reader : nil } ?? nil
        // Closing is all that is left for the phone to do, and the server would not notice.
        self.phones[phone].wires.removeAll { $0 == wire }
        self.wires.update(wire) { $0.phoneSide = .closed }
        guard let request else { return }
        guard ending == .close, var reader = answer else {
            // Also of a reused connection: libcurl's own second try is refused.
            self.send(.replyFailed(request, .reset), toAppOf: phone)
            return
        }
        var events: [ResponseEvent] = []
        do throws(ResponseError) {
            try reader.finish(into: &events)
            self.send(events.isEmpty ? .replyFailed(request, .reset) : .replyEnded(request), toAppOf: phone)
        } catch {
            self.send(.replyFailed(request, .closedEarly), toAppOf: phone)
        }
    }

    // MARK: The gauge

    /// Counts the open streams of the seconds that are over, and checks the server's limits. Both change by events of the
    /// server only: it is called before each, and the seconds since the last one are a single interval.
    mutating func countStreams() {
        guard self.nextCount <= self.now else { return }
        let second = WorldTime.second(of: self.now)
        for end in [self.nextCount, second] {
            let streams = self.server.takeStreamsOpen()
            self.streams.add(least: streams.least, most: streams.most, upTo: end)
        }
        self.nextCount = second + WorldTime.gauge
        self.checkBoundsOfServer()
    }
}
