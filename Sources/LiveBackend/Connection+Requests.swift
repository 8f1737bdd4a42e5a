import Backend
import EventLoop
import Faults
import SimBase
import Talaria
import Wire

// What the phone sends: read, carried over its link, and handed to the backend.

extension Connection {
    func readable() {
        switch self.state {
        case .open: break
        case .lingering, .ending: return self.discard()
        case .silent, .closed: return
        }
        let now = self.server.loop.now()
        guard !self.isReadingPaused(at: now) else { return self.updateInterest(at: now) }
        switch StreamSocket.receive(self.socket, into: &self.server.readBuffer) {
        case .bytes(let count): self.received(self.server.readBuffer[..<count], at: now)
        case .wouldBlock: break
        case .end:
            self.isPeerDone = true
            self.inbound.insert(.ended, at: self.arrival(of: 0, at: now))
            self.updateInterest(at: now)
        case .failed: self.close()
        }
    }

    /// A request waits for its answer with another one behind it.
    var isReaderFull: Bool { self.reader.hasLeftOver || !self.early.isEmpty }

    /// Also while the link is behind, so that the sender feels how slow it is.
    func isReadingPaused(at now: Instant) -> Bool {
        self.isPeerDone || self.isCut || self.isReaderFull
            || self.link.upResumes(at: now, self.exchange?.up) != nil
    }

    private func received(_ bytes: ArraySlice<UInt8>, at now: Instant) {
        if let exchange = self.exchange, exchange.isRead {
            // One request at a time; behind a stream there is nothing more.
            if case .streaming = exchange.answer { return }
            self.early.append(contentsOf: bytes)
            return self.updateInterest(at: now)
        }
        if !self.reader.isInsideRequest && !bytes.isEmpty { self.deadline = now + ServerLimits.headTime }
        var events: [RequestEvent] = []
        var failure: RequestError?
        do throws(RequestError) { try self.reader.receive(bytes, into: &events) } catch { failure = error }
        // A call of the reader ends where a request ends: there is one head at most.
        for case .head(let head) in events { self.begin(head, at: now) }
        for case .end in events { self.exchange?.isRead = true }
        if !self.cutsRequest(bytes.count, events, at: now) {
            let arrival = self.arrival(of: bytes.count, at: now)
            for event in events { self.admit(event, arrival: arrival) }
            if let failure { self.inbound.insert(.malformed(failure), at: arrival) }
        }
        self.requestBytes += bytes.count
        self.updateInterest(at: now)
    }

    private func admit(_ event: RequestEvent, arrival: Instant) {
        guard let id = self.exchange?.id else { return }
        switch event {
        case .head:
            self.inbound.insert(.head(id), at: arrival)
            guard let cut = self.exchange?.requestCut, let key = self.exchange?.key,
                case .after(let time) = cut.place
            else { return }
            let order = CutOrder(fault: cut.fault, key: key, ending: cut.ending)
            self.inbound.insert(.cut(id, order), at: arrival + time)
        case .body(let piece): self.exchange?.receive(piece)
        case .end: self.inbound.insert(.end(id), at: arrival)
        }
    }

    /// Whether a fault cuts the request off within these bytes: then what is behind the place never arrives.
    private func cutsRequest(_ count: Int, _ events: [RequestEvent], at now: Instant) -> Bool {
        guard let exchange = self.exchange, let cut = exchange.requestCut, let key = exchange.key,
            case .byte(let place) = cut.place
        else { return false }
        let left = place - self.requestBytes
        guard left < count || (left == count && !exchange.isRead) else { return false }
        let bodyBytes = events.reduce(0) { if case .body(let piece) = $1 { $0 + piece.count } else { $0 } }
        let headBytes = events.contains { if case .head = $0 { true } else { false } } ? count - bodyBytes : 0
        // Only the head tells whose request it is.
        let bytes = max(left, headBytes)
        let arrival = self.arrival(of: bytes, at: now)
        if headBytes > 0, bytes > headBytes { self.inbound.insert(.head(exchange.id), at: arrival) }
        let order = CutOrder(fault: cut.fault, key: key, ending: cut.ending)
        self.inbound.insert(.cut(exchange.id, order), at: arrival)
        self.exchange?.requestCut = nil
        return true
    }

    /// When bytes that were read now reach the backend.
    private func arrival(of count: Int, at now: Instant) -> Instant {
        var acted: [Int] = []
        var troubles = self.exchange?.up ?? LinkTroubles()
        let arrival = self.link.arrivalUp(of: count, at: now, &troubles, acted: &acted)
        self.exchange?.up = troubles
        self.acted(acted, at: now)
        return arrival
    }

    private func begin(_ head: RequestHead, at now: Instant) {
        if !self.link.isKnown {
            let device = head.headers[TraceContext.headerName].flatMap(TraceContext.init(headerValue:))?
                .device
            self.link.identify(
                device.map { self.server.links.group(of: $0).link } ?? FleetLinks.perfect,
                random: self.server.nextLinkRandom(of: device))
        }
        let (id, key) = self.server.nextExchange(head, connection: self)
        var exchange = Exchange(id: id, head: head, key: key, upload: .none)
        if let type = head.headers["Content-Type"],
            let boundary = try? MultipartReader.boundary(contentType: type),
            let reader = try? MultipartReader(boundary: boundary, limits: ServerLimits.multipart)
        {
            exchange.upload = .reading(reader)
        }
        if let key {
            exchange.arm(self.server.openFaults(key, at: now), roundTrip: self.link.roundTrip)
        }
        self.exchange = exchange
        self.deadline = now + ServerLimits.bodyTime
    }

    /// Reads and throws away.
    private func discard() {
        switch StreamSocket.receive(self.socket, into: &self.server.readBuffer) {
        case .bytes, .wouldBlock: break
        case .end, .failed:
            if case .lingering = self.state { self.close() } else { self.watch?.interest.remove(.read) }
        }
    }

    // MARK: Through the link

    func deliver(_ inbound: Inbound, at now: Instant) {
        switch inbound {
        case .head(let id):
            guard let exchange = self.exchange, exchange.id == id else { return }
            self.server.requested(exchange, connection: self, at: now)
        case .end(let id):
            guard self.exchange?.id == id else { return }
            self.exchange?.isComplete = true
            self.deadline = .distantFuture
            self.uploadArrived(at: now)
            if case .held(let reply)? = self.exchange?.answer { self.write(reply, at: now) }
            self.endIfAnswered(at: now)
        case .cut(let id, let order):
            guard let exchange = self.exchange, exchange.id == id, !exchange.isComplete,
                !exchange.isOvertaken(order.fault)
            else { return }
            self.cut(order, at: now)
        case .malformed(let error):
            self.abandonExchange(at: now)
            self.write(self.server.refusal(of: error), closing: true, at: now)
        case .ended:
            self.abandonExchange(at: now)
            if self.outbox.isEmpty { self.close() } else { self.linger(at: now) }
        }
    }

    /// The backend wants the body.
    func readUpload(_ id: ExchangeID, at now: Instant) {
        guard let exchange = self.exchange, exchange.id == id else { return }
        self.exchange?.wantsUpload = true
        if exchange.head.expectsContinue && !exchange.isComplete {
            var bytes: [UInt8] = []
            ResponseWriter.goOn(into: &bytes)
            self.send(bytes, at: now)
        }
        self.uploadArrived(at: now)
    }

    private func uploadArrived(at now: Instant) {
        guard let exchange = self.exchange, exchange.wantsUpload, exchange.isComplete else { return }
        self.exchange?.wantsUpload = false
        switch self.exchange?.finishUpload() {
        case .success(let parts)?: self.server.tell(.uploaded(exchange.id, parts), at: now)
        case .failure(let failure)?: self.server.tell(.uploadFailed(exchange.id, failure.fault), at: now)
        case nil: break
        }
    }

    func peerIsTooSlow(at now: Instant) {
        self.deadline = .distantFuture
        guard let exchange = self.exchange, !exchange.isComplete else {
            // Between requests, or in the middle of a head.
            if self.reader.isInsideRequest {
                self.write(
                    self.server.refusal(.timeout, "the request head took too long"), closing: true, at: now)
            } else {
                self.close()
            }
            return
        }
        guard exchange.wantsUpload else {
            self.abandonExchange(at: now)
            self.write(
                self.server.refusal(.timeout, "the request body took too long"), closing: true, at: now)
            return
        }
        self.exchange?.wantsUpload = false
        self.server.tell(.uploadFailed(exchange.id, .timedOut), at: now)
    }

    /// Makes room for the next request once both directions of this one are done.
    func endIfAnswered(at now: Instant) {
        guard let exchange = self.exchange, exchange.isComplete, !self.isCut,
            case .answered = exchange.answer
        else { return }
        self.server.forget(exchange.id)
        self.exchange = nil
        self.requestBytes = 0
        self.deadline = now + ServerLimits.keepAliveTime
        guard case .open = self.state, self.isReaderFull else { return }
        var bytes: [UInt8] = []
        swap(&bytes, &self.early)
        self.received(bytes[...], at: now)
    }
}
