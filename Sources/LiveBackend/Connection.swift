import Backend
import EventLoop
import Faults
import SimBase
import Talaria
import Wire

/// One accepted connection, with the link of the phone behind it.
///
/// Bytes that are read count as sent by the phone now and arrive at the backend when the link lets them; what the
/// backend answers goes the same way back. Faults cut here, on exact bytes.
final class Connection {
    private enum Inbound {
        case head(ExchangeID)
        case end(ExchangeID)
        case malformed(RequestError)
        /// FIN from the peer.
        case ended
    }

    private enum Outbound {
        case bytes([UInt8])
        /// FIN after everything before.
        case finish
        /// RST as soon as the kernel has sent everything before; with what is to be observed then.
        case reset(fault: Int, ExchangeKey)
    }

    /// Where the connection stands.
    private enum State {
        case open
        /// Answered for the last time: what still comes is thrown away until the peer closes or the time is over.
        case lingering(until: Instant)
        /// Waiting for the kernel to send before RST.
        case resetting(since: Instant, fault: Int, ExchangeKey)
        case closed
    }

    let id: UInt64
    private unowned let server: BackendServer
    private let socket: Int32
    private let acceptedAt: Instant
    private var watch: Watch?
    private var timer: LoopTimer?
    private var state = State.open

    private var reader = RequestReader(limits: .standard)
    private var link: (up: LinkQueue, down: LinkQueue)?
    /// Bytes read before it was known whose link they came by.
    private var bytesBeforeLink = 0
    private var inbound = EventHeap<Inbound>()
    private var outbound = EventHeap<Outbound>()
    private var unsent: [UInt8] = []
    private var unsentStart = 0
    private var exchange: Exchange?
    /// When the peer must have done its next thing.
    private var deadline: Instant
    private var isPeerDone = false
    private var hasCaller = false

    init(id: UInt64, socket: Int32, server: BackendServer) {
        self.id = id
        self.socket = socket
        self.server = server
        self.acceptedAt = server.loop.now()
        self.deadline = self.acceptedAt + ServerLimits.keepAliveTime
        StreamSocket.setNoDelay(socket)
        StreamSocket.setReceiveBuffer(socket, bytes: ServerLimits.receiveBufferBytes)
        self.timer = LoopTimer(loop: server.loop) { [unowned self] _ in self.turn() }
        self.watch = server.loop.watch(socket, .read) { [unowned self] readiness in
            if readiness.contains(.read) { self.readable() }
            if readiness.contains(.write) { self.flush() }
            self.turn()
        }
        self.armTimer()
    }

    // MARK: Reading

    private func readable() {
        switch self.state {
        case .open: break
        case .lingering, .resetting:
            return self.discard()
        case .closed: return
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

    /// While the link is behind, or a request waits for its answer with another one behind it.
    private func isReadingPaused(at now: Instant) -> Bool {
        self.isPeerDone || self.reader.hasLeftOver
            || (self.link.map { $0.up.backlog(at: now) > ServerLimits.linkBacklogMax } ?? false)
    }

    private func received(_ bytes: ArraySlice<UInt8>, at now: Instant) {
        if !self.reader.isInsideRequest && !bytes.isEmpty { self.deadline = now + ServerLimits.headTime }
        var events: [RequestEvent] = []
        var failure: RequestError?
        do throws(RequestError) { try self.reader.receive(bytes, into: &events) } catch { failure = error }
        for case .head(let head) in events where self.link == nil { self.identify(head) }
        let arrival = self.arrival(of: bytes.count, at: now)
        for event in events {
            switch event {
            case .head(let head): self.begin(head, arrival: arrival, at: now)
            case .body(let piece): self.exchange?.receive(piece)
            case .end:
                if let id = self.exchange?.id { self.inbound.insert(.end(id), at: arrival) }
            }
        }
        if let failure { self.inbound.insert(.malformed(failure), at: arrival) }
        self.updateInterest(at: now)
    }

    /// When bytes that were read now reach the backend.
    private func arrival(of count: Int, at now: Instant) -> Instant {
        guard self.link != nil else {
            self.bytesBeforeLink += count
            return now
        }
        defer { self.bytesBeforeLink = 0 }
        return self.link?.up.admit(bytes: count + self.bytesBeforeLink, at: now) ?? now
    }

    private func identify(_ head: RequestHead) {
        let device = head.headers[TraceContext.headerName].flatMap(TraceContext.init(headerValue:))?.device
        let link = device.map { self.server.links.group(of: $0).link } ?? .perfect
        self.link = link.connection(acceptedAt: self.acceptedAt)
    }

    private func begin(_ head: RequestHead, arrival: Instant, at now: Instant) {
        let (id, key) = self.server.nextExchange(head, connection: self)
        var exchange = Exchange(id: id, head: head, key: key, upload: .none)
        if let type = head.headers["Content-Type"],
            let boundary = try? MultipartReader.boundary(contentType: type),
            let reader = try? MultipartReader(boundary: boundary, limits: ServerLimits.multipart)
        {
            exchange.upload = .reading(reader)
        }
        self.exchange = exchange
        self.deadline = now + ServerLimits.bodyTime
        self.inbound.insert(.head(id), at: arrival)
    }

    /// Reads and throws away.
    private func discard() {
        switch StreamSocket.receive(self.socket, into: &self.server.readBuffer) {
        case .bytes, .wouldBlock: break
        case .end, .failed:
            if case .lingering = self.state { self.close() } else { self.watch?.interest.remove(.read) }
        }
    }

    // MARK: Turns

    /// Does whatever is due.
    private func turn() {
        let now = self.server.loop.now()
        while case .open = self.state, let due = self.inbound.popDue(at: now) {
            self.deliver(due.element, at: now)
        }
        self.checkCutters(at: now)
        self.sendDue(at: now)
        self.checkEnds(at: now)
        if case .closed = self.state { return }
        self.updateInterest(at: now)
        self.armTimer()
    }

    private func deliver(_ inbound: Inbound, at now: Instant) {
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
        case .malformed(let error):
            self.abandonExchange(at: now)
            self.write(self.server.refusal(of: error), closing: true, at: now)
        case .ended:
            self.abandonExchange(at: now)
            if self.outbound.isEmpty && self.unsent.isEmpty { self.close() } else { self.linger(at: now) }
        }
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

    private func checkCutters(at now: Instant) {
        guard case .open = self.state, let answeredAt = self.exchange?.answeredAt else { return }
        for index in (self.exchange?.cutters ?? []).indices {
            guard let due = self.exchange?.cutters[index].dueAfter, answeredAt + due <= now else { continue }
            if self.exchange?.cutters[index].triggerTimePassed() == true, let key = self.exchange?.key,
                let fault = self.exchange?.cutters[index].fault
            {
                self.cut(fault: fault, key, at: now)
                return
            }
        }
    }

    private func checkEnds(at now: Instant) {
        switch self.state {
        case .open:
            guard self.deadline <= now else { return }
            self.peerIsTooSlow(at: now)
        case .lingering(let until):
            if until <= now || (self.isPeerDone && self.outbound.isEmpty && self.unsent.isEmpty) {
                self.close()
            }
        case .resetting(let since, let fault, let key):
            let unsent = StreamSocket.unsentBytes(self.socket) ?? 0
            guard (unsent == 0 && self.unsent.isEmpty) || now - since >= ServerLimits.resetWaitMax else {
                return
            }
            StreamSocket.resetOnClose(self.socket)
            self.server.faultFired(fault, key, at: now)
            self.close()
        case .closed: break
        }
    }

    private func peerIsTooSlow(at now: Instant) {
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

    private func armTimer() {
        var next = self.deadline
        if let moment = self.inbound.nextAt { next = min(next, moment) }
        if let moment = self.outbound.nextAt { next = min(next, moment) }
        if let answeredAt = self.exchange?.answeredAt {
            for cutter in self.exchange?.cutters ?? [] {
                if let due = cutter.dueAfter { next = min(next, answeredAt + due) }
            }
        }
        switch self.state {
        case .open:
            let now = self.server.loop.now()
            if let up = self.link?.up, !self.isPeerDone, !self.reader.hasLeftOver,
                up.backlog(at: now) > ServerLimits.linkBacklogMax
            {
                next = min(next, up.idleAt - ServerLimits.linkBacklogMax)
            }
        case .lingering(let until): next = min(next, until)
        case .resetting: next = min(next, self.server.loop.now() + ServerLimits.resetPoll)
        case .closed: return
        }
        if next == .distantFuture {
            self.timer?.disarm()
        } else if self.timer?.armedFor != next {
            self.timer?.arm(at: next)
        }
    }

    private func updateInterest(at now: Instant) {
        var interest: Readiness = []
        switch self.state {
        case .open: if !self.isReadingPaused(at: now) { interest.insert(.read) }
        case .lingering: if !self.isPeerDone { interest.insert(.read) }
        case .resetting: break
        case .closed: return
        }
        if !self.unsent.isEmpty { interest.insert(.write) }
        if self.watch?.interest != interest { self.watch?.interest = interest }
    }

    // MARK: Answers

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

    func reply(_ id: ExchangeID, _ reply: BackendReply, at now: Instant) {
        guard let exchange = self.exchange, exchange.id == id, case .pending = exchange.answer else { return }
        if exchange.isComplete {
            self.write(reply, at: now)
            self.endIfAnswered(at: now)
        } else if self.isWorthDraining(exchange, reply) {
            self.exchange?.answer = .held(reply)
        } else {
            self.write(reply, closing: true, at: now)
        }
    }

    /// Whether the rest of a refused body is read before the answer, so that the connection can be used again.
    private func isWorthDraining(_ exchange: Exchange, _ reply: BackendReply) -> Bool {
        guard reply.status != 413, !exchange.head.expectsContinue else { return false }
        switch exchange.head.body {
        case .none, .chunked: return true
        case .length(let length): return length <= ServerLimits.drainBytesMax
        }
    }

    private func write(_ reply: BackendReply, closing: Bool = false, at now: Instant) {
        let keepsAlive = !closing && (self.exchange?.head.keepsAlive ?? false)
        var headers = HeaderFields()
        for line in reply.headers { headers.append(line.name, line.value) }
        if !keepsAlive { headers.append("Connection", "close") }
        var bytes: [UInt8] = []
        ResponseWriter.reply(status: reply.status, headers: headers, body: reply.body, into: &bytes)
        self.exchange?.answer = .answered
        self.exchange?.answeredAt = now
        self.send(bytes, at: now)
        if !keepsAlive { self.finish(at: now) }
    }

    /// Makes room for the next request once both directions of this one are done.
    private func endIfAnswered(at now: Instant) {
        guard let exchange = self.exchange, exchange.isComplete, case .answered = exchange.answer else {
            return
        }
        self.server.forget(exchange.id)
        self.exchange = nil
        self.deadline = now + ServerLimits.keepAliveTime
        if case .open = self.state, self.reader.hasLeftOver { self.received([], at: now) }
    }

    func openStream(_ id: ExchangeID, headers lines: [HeaderLine], at now: Instant) {
        guard let exchange = self.exchange, exchange.id == id, case .pending = exchange.answer else { return }
        var headers = HeaderFields()
        for line in lines { headers.append(line.name, line.value) }
        var bytes: [UInt8] = []
        switch exchange.head.version {
        case .http11:
            headers.append("Connection", "close")
            ResponseWriter.head(status: 200, headers: headers, framing: .chunked, into: &bytes)
        case .http10:
            ResponseWriter.head(status: 200, headers: headers, framing: .untilClose, into: &bytes)
        }
        self.exchange?.answer = .streaming
        self.exchange?.answeredAt = now
        self.deadline = .distantFuture
        self.send(bytes, at: now)
    }

    /// One piece of an event stream; events get their stamp here, where they are handed to the link.
    func stream(_ id: ExchangeID, _ bytes: [UInt8], _ mark: StreamMark, at now: Instant) {
        guard let exchange = self.exchange, exchange.id == id, case .streaming = exchange.answer else {
            return
        }
        var piece: [UInt8] = []
        piece.reserveCapacity(bytes.count + 48)
        let kind: StreamPiece
        switch mark {
        case .preamble: kind = .preamble
        case .ping, .extra: kind = .ping
        case .event(_, _, let replayed, let emitted):
            kind = replayed ? .replay : .event
            let stamp = self.server.loop.clock.zero + (replayed ? emitted : now).nanoseconds
            SSEWriter.comment(replayed ? "t=\(stamp) replayed" : "t=\(stamp)", into: &piece)
        }
        piece.append(contentsOf: bytes)
        for index in exchange.cutters.indices {
            guard case .cut(let count)? = self.exchange?.cutters[index].admit(piece, kind),
                let key = exchange.key
            else { continue }
            self.sendChunk(piece, cutAfter: count, at: now)
            self.cut(fault: exchange.cutters[index].fault, key, at: now)
            return
        }
        self.sendChunk(piece, cutAfter: nil, at: now)
    }

    /// A chunk's frame states the whole length even where only a part of it is sent: the peer then sees exactly so
    /// many bytes of the body, and a connection that died inside a chunk.
    private func sendChunk(_ piece: [UInt8], cutAfter count: Int?, at now: Instant) {
        if self.exchange?.head.version == .http10 {
            self.send(count.map { Array(piece.prefix($0)) } ?? piece, at: now)
            return
        }
        var framed: [UInt8] = []
        ResponseWriter.chunk(piece, into: &framed)
        if let count {
            let frame = framed.count - piece.count - 2  // The size line; the data ends with CRLF.
            framed.removeLast(framed.count - frame - count)
        }
        self.send(framed, at: now)
    }

    func endStream(_ id: ExchangeID, at now: Instant) {
        guard let exchange = self.exchange, exchange.id == id, case .streaming = exchange.answer else {
            return
        }
        if exchange.head.version == .http11 {
            var bytes: [UInt8] = []
            ResponseWriter.lastChunk(into: &bytes)
            self.send(bytes, at: now)
        }
        self.exchange?.answer = .answered
        self.server.forget(id)
        self.finish(at: now)
    }

    /// Arms what a `reset` of the scenario does to this stream.
    func arm(_ faults: [ArmedFault]) {
        self.exchange?.cutters = faults.compactMap { StreamCutter($0) }
    }

    /// True once, for the first request that comes through.
    func isFirstRequest() -> Bool {
        defer { self.hasCaller = true }
        return !self.hasCaller
    }

    // MARK: Sending

    private func send(_ bytes: [UInt8], at now: Instant) {
        guard case .open = self.state else { return }
        let arrival = self.link?.down.admit(bytes: bytes.count, at: now) ?? now
        self.outbound.insert(.bytes(bytes), at: arrival)
        self.settle(at: now)
    }

    private func finish(at now: Instant) {
        guard case .open = self.state else { return }
        self.outbound.insert(.finish, at: self.link?.down.admit(bytes: 0, at: now) ?? now)
        self.settle(at: now)
    }

    private func cut(fault: Int, _ key: ExchangeKey, at now: Instant) {
        self.server.faultConsumed(fault, key)
        self.outbound.insert(.reset(fault: fault, key), at: self.link?.down.admit(bytes: 0, at: now) ?? now)
        self.abandonExchange(at: now)
        self.settle(at: now)
    }

    /// What is due at once does not wait for the timer; what is not, arms it.
    private func settle(at now: Instant) {
        self.sendDue(at: now)
        self.updateInterest(at: now)
        self.armTimer()
    }

    private func sendDue(at now: Instant) {
        while let due = self.outbound.popDue(at: now) {
            switch due.element {
            case .bytes(let bytes):
                if self.unsentStart > 0 && self.unsentStart == self.unsent.count {
                    self.unsent.removeAll(keepingCapacity: true)
                    self.unsentStart = 0
                }
                self.unsent.append(contentsOf: bytes)
            case .finish:
                self.flush()
                self.linger(at: now)
            case .reset(let fault, let key):
                self.flush()
                if case .closed = self.state { return }
                self.state = .resetting(since: now, fault: fault, key)
                self.checkEnds(at: now)
            }
        }
        self.flush()
    }

    private func flush() {
        while self.unsentStart < self.unsent.count {
            if case .closed = self.state { return }
            switch StreamSocket.send(self.socket, self.unsent[self.unsentStart...]) {
            case .bytes(let count): self.unsentStart += count
            case .wouldBlock:
                if self.unsent.count - self.unsentStart > ServerLimits.unsentBytesMax {
                    StreamSocket.resetOnClose(self.socket)
                    self.close()
                }
                return
            case .end, .failed:
                self.close()
                return
            }
        }
        self.unsent.removeAll(keepingCapacity: self.unsent.count <= 4_096)
        self.unsentStart = 0
        if case .lingering = self.state, self.outbound.isEmpty { StreamSocket.endSending(self.socket) }
    }

    // MARK: Ends

    private func linger(at now: Instant) {
        guard case .open = self.state else { return }
        self.state = .lingering(until: now + ServerLimits.lingerTime)
        if self.unsent.isEmpty && self.outbound.isEmpty { StreamSocket.endSending(self.socket) }
    }

    /// The backend hears that nothing more can be written, unless it has already ended the exchange itself.
    private func abandonExchange(at now: Instant) {
        guard let exchange = self.exchange else { return }
        self.exchange = nil
        self.server.abandon(exchange.id, at: now)
    }

    private func close() {
        if case .closed = self.state { return }
        self.state = .closed
        self.watch?.cancel()
        self.timer?.disarm()
        StreamSocket.close(self.socket)
        self.abandonExchange(at: self.server.loop.now())
        self.server.closed(self)
    }

    /// For the end of the server.
    func shutDown() { self.close() }
}
