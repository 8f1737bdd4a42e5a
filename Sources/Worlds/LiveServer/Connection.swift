import EventLoop
import Faults
import HTTPServer
import SimBase
import SystemIO
import TLS

/// The socket of one connection of the server: it reads, writes, and closes as ordered. With TLS, the server
/// reads and writes plaintext.
final class Connection {
    /// The state of the socket.
    enum State {
        case open
        /// Only waiting data is sent; received data is discarded until the peer closes or the time has
        /// passed.
        case lingering(until: Instant)
        /// Cut: waiting until what is before the cut has been sent.
        case cutting(CutEnding, since: Instant)
        /// Half-open: neither read nor written any more.
        case silent(until: Instant)
        case closed
    }

    let id: ConnectionID
    private unowned let server: SocketServer
    private let socket: Int32
    private var watch: Watch?
    private var timer: LoopTimer?
    private var state = State.open
    /// Nil without TLS.
    private var engine: TLSEngine?
    /// The bytes that the kernel has not accepted.
    private var unsent: [UInt8] = []
    private var unsentStart = 0
    private var backlogTold = 0
    private var isRead = true
    private var isPeerDone = false

    init(id: ConnectionID, socket: Int32, server: SocketServer) {
        self.id = id
        self.socket = socket
        self.server = server
        if let tls = server.tls { self.engine = TLSEngine(tls) }
        StreamSocket.setNoDelay(socket)
        StreamSocket.setReceiveBuffer(socket, bytes: ServerLimits.receiveBufferBytes)
        self.watch = server.loop.watch(socket, .read) { [unowned self] readiness in
            if readiness.contains(.read) { self.readable() }
            if readiness.contains(.write) {
                self.flush()
                self.reportBacklog()
            }
            self.turn()
        }
    }

    // MARK: What the server wants

    func send(_ bytes: [UInt8], apart: Bool) {
        switch self.state {
        case .open, .lingering: break
        case .cutting, .silent, .closed: return
        }
        if apart { self.flush() }
        if self.unsentStart > 0, self.unsentStart == self.unsent.count {
            self.unsent.removeAll(keepingCapacity: true)
            self.unsentStart = 0
        }
        if self.engine == nil {
            self.unsent.append(contentsOf: bytes)
        } else if self.engine?.send(bytes, into: &self.unsent) != true {
            return self.close()
        }
        self.flush()
        self.updateInterest()
        self.reportBacklog()
    }

    func read(_ isRead: Bool) {
        self.isRead = isRead
        self.updateInterest()
    }

    func finish() {
        switch self.state {
        case .open, .cutting: break
        case .lingering, .silent, .closed: return
        }
        self.engine?.close(into: &self.unsent)
        self.flush()
        if case .closed = self.state { return }
        self.state = .lingering(until: self.server.loop.now() + ServerLimits.lingerTime)
        if self.unsentCount == 0 { StreamSocket.endSending(self.socket) }
        self.turn()
    }

    func cut(_ ending: CutEnding) {
        self.flush()
        if case .closed = self.state { return }
        self.state = .cutting(ending, since: self.server.loop.now())
        self.turn()
    }

    /// Closes the connection at the end of the server.
    func shutDown() {
        switch self.state {
        case .open, .lingering:
            self.engine?.close(into: &self.unsent)
            self.flush()
        case .cutting, .silent, .closed: break
        }
        self.close()
    }

    // MARK: Turns

    /// Does whatever is due.
    private func turn() {
        let now = self.server.loop.now()
        switch self.state {
        case .open, .closed: break
        case .lingering(let until):
            if until <= now || (self.isPeerDone && self.unsentCount == 0) { self.close() }
        case .cutting(let ending, let since): self.checkCut(ending, since: since, at: now)
        case .silent(let until):
            // A peer that has given up sends no close; its socket here is of no more use.
            if until <= now || StreamSocket.isPeerGone(self.socket) { self.close() }
        }
        if case .closed = self.state { return }
        self.updateInterest()
        self.armTimer(at: now)
    }

    private func armTimer(at now: Instant) {
        let next: Instant
        switch self.state {
        case .open, .closed: return
        case .lingering(let until): next = until
        case .cutting(_, let since):
            // More and more patiently, where the peer does not read.
            next = now + min(max((now - since) / 4, ServerLimits.resetPoll), ServerLimits.resetPollMax)
        case .silent(let until): next = min(until, now + ServerLimits.silencePoll)
        }
        // Only the end of a connection takes a timer of its own.
        if self.timer == nil {
            self.timer = LoopTimer(loop: self.server.loop) { [unowned self] _ in self.turn() }
        }
        if self.timer?.armedFor != next { self.timer?.arm(at: next) }
    }

    private func updateInterest() {
        var interest: Readiness = []
        switch self.state {
        case .open: if self.isRead, !self.isPeerDone { interest.insert(.read) }
        case .lingering: if !self.isPeerDone { interest.insert(.read) }
        case .cutting: break
        case .silent:
            if self.watch?.interest != [] { self.watch?.interest = [] }
            return
        case .closed: return
        }
        if self.unsentCount > 0 { interest.insert(.write) }
        if self.watch?.interest != interest { self.watch?.interest = interest }
    }

    // MARK: Reading

    private func readable() {
        switch self.state {
        case .open: break
        case .lingering, .cutting: return self.discard()
        case .silent, .closed: return
        }
        guard self.isRead, !self.isPeerDone else { return self.updateInterest() }
        switch StreamSocket.receive(self.socket, into: &self.server.readBuffer) {
        case .bytes(let count):
            if self.engine == nil { self.server.received(count, on: self) } else { self.decrypt(count) }
        case .wouldBlock: break
        case .end:
            if self.engine?.isHandshaking == true { self.server.failed(.handshakeAbandoned) }
            self.isPeerDone = true
            self.server.handle(.ended(self.id))
        case .failed:
            if self.engine?.isHandshaking == true { self.server.failed(.handshakeAbandoned) }
            self.close()
        }
    }

    /// Reads and throws away.
    private func discard() {
        switch StreamSocket.receive(self.socket, into: &self.server.readBuffer) {
        case .bytes, .wouldBlock: break
        case .end, .failed:
            if case .lingering = self.state { self.close() } else { self.watch?.interest.remove(.read) }
        }
    }

    /// Decrypts what was read, passes it on, and sends the engine's part of a handshake.
    private func decrypt(_ count: Int) {
        let received = self.engine?.receive(
            self.server.readBuffer[..<count], into: &self.server.plaintextBuffer, ciphertext: &self.unsent)
        guard let received else { return }
        self.flush()
        if case .open = self.state, received.count > 0 { self.server.decrypted(received.count, on: self) }
        guard case .open = self.state else { return }
        switch received.end {
        case nil: break
        case .closed:
            self.isPeerDone = true
            self.server.handle(.ended(self.id))
        case .failed(let failure): self.fail(failure)
        }
    }

    /// Ends the connection for the server, and for the peer after what is to be sent: an alert, or an answer without TLS.
    private func fail(_ failure: TLSFailure) {
        self.server.failed(failure)
        if failure == .plainHTTP { self.unsent.append(contentsOf: PlainHTTPAnswer.bytes) }
        self.server.handle(.gone(self.id))
        self.finish()
    }

    // MARK: Writing

    /// Bytes that left the link and that the kernel has not taken.
    private var unsentCount: Int { self.unsent.count - self.unsentStart }

    /// Writes as much as the kernel accepts.
    private func flush() {
        switch self.state {
        case .closed, .silent: return
        case .open, .lingering, .cutting: break
        }
        while self.unsentCount > 0 {
            switch StreamSocket.send(self.socket, self.unsent[self.unsentStart...]) {
            case .bytes(let count): self.unsentStart += count
            case .wouldBlock:
                guard self.unsentCount > ServerLimits.unsentBytesMax else { return }
                StreamSocket.resetOnClose(self.socket)
                return self.close()
            case .end, .failed: return self.close()
            }
        }
        self.dropUnsent()
        if case .lingering = self.state { StreamSocket.endSending(self.socket) }
    }

    /// Reports the backlog when it becomes large, and when it is gone.
    private func reportBacklog() {
        guard self.server.wantsBacklogs, case .open = self.state else { return }
        let isMuch = self.unsentCount > ServerLimits.backlogToldMin
        guard isMuch || self.backlogTold > 0 && self.unsentCount == 0, self.unsentCount != self.backlogTold
        else { return }
        self.backlogTold = self.unsentCount
        self.server.handle(.backlog(self.id, bytes: self.unsentCount))
    }

    private func dropUnsent() {
        self.unsent.removeAll(keepingCapacity: self.unsent.count <= 4_096)
        self.unsentStart = 0
    }

    // MARK: Ends

    /// Ends the connection once everything before the cut is out, or the peer has had its time to take it.
    private func checkCut(_ ending: CutEnding, since: Instant, at now: Instant) {
        let isOut: Bool
        switch ending {
        // An RST throws away what the peer has not acknowledged.
        case .reset:
            isOut = self.unsentCount == 0 && (StreamSocket.unsentBytes(self.socket) ?? 0) == 0
        case .close, .silence: isOut = self.unsentCount == 0
        }
        guard isOut || now - since >= ServerLimits.cutWaitMax else { return }
        self.dropUnsent()
        self.server.handle(.cutDone(self.id))
        switch ending {
        case .reset:
            StreamSocket.resetOnClose(self.socket)
            self.close()
        case .close: self.finish()
        case .silence: self.state = .silent(until: now + ServerLimits.silenceTime)
        }
    }

    private func close() {
        if case .closed = self.state { return }
        self.state = .closed
        self.watch?.cancel()
        self.timer?.disarm()
        StreamSocket.close(self.socket)
        self.server.closed(self)
    }
}
