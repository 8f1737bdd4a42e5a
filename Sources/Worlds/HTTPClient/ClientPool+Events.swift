import CurlLoop
import EventLoop
import SimBase
import SystemIO
import TLS
import Wire

// What happens on sockets: bytes that can be sent or have come, ends, and times.

extension ClientPool {
    func ready(_ socket: Int32, _ readiness: Readiness) {
        // A socket that is lent is libcurl's to read.
        guard let channel = self.channelOfSocket[Int(socket)] else { return }
        // The delegate may let go of the pool.
        withExtendedLifetime(self) {
            if readiness == .write { self.readyToSend(channel) } else { self.readyToReceive(channel) }
        }
    }

    func readyToSend(_ channel: ClientChannel) {
        guard channel.machine.isConnecting else {
            self.sendRest(channel)
            if channel.machine.isSwitched { self.reportUnsent(channel) }
            return
        }
        let now = self.loop.now()
        let error = StreamSocket.takeError(channel.socket)
        if error != 0 { return self.follow(channel, channel.machine.connectFailed(error, at: now)) }
        channel.noteConnected(at: now)
        let outcome = channel.machine.connected()
        self.connects?.set(key: self.key(of: channel), at: channel.machine.deadline)
        channel.watch?.interest = .read
        self.follow(channel, outcome)
    }

    func timePassed(_ channel: ClientChannel) {
        self.follow(channel, channel.machine.timePassed(at: self.loop.now()))
    }

    /// Does what follows from an event, and from what that leads to.
    private func follow(_ channel: ClientChannel, _ outcome: ClientConnection.Outcome) {
        var outcome = outcome
        while case .connect(let address) = outcome { outcome = self.connect(channel, to: address) }
        if outcome == .secure { outcome = self.secure(channel) }
        switch outcome {
        case .nothing, .connect, .secure: break
        case .send: self.sendRequest(channel)
        case .ended(let failure, let isKept):
            self.end(channel, failure, isKept: isKept, nil, at: self.loop.now())
        case .close: self.release(channel)
        }
    }

    /// Like `follow`, for `start`: a failure is delivered after it has returned.
    func followStart(_ channel: ClientChannel, _ outcome: ClientConnection.Outcome) {
        var outcome = outcome
        while case .connect(let address) = outcome { outcome = self.connect(channel, to: address) }
        if case .ended(let failure?, _) = outcome {
            self.deliverLater(failure, to: channel)
        } else {
            self.follow(channel, outcome)
        }
    }

    func deliverLater(_ failure: TransferFailure, to channel: ClientChannel) {
        self.failed.append((channel, channel.id, failure))
        self.soon?.schedule()
    }

    func deliverFailed() {
        withExtendedLifetime(self) {
            var failed: [(channel: ClientChannel, id: TransferID, failure: TransferFailure)] = []
            swap(&failed, &self.failed)
            for (channel, id, failure) in failed where channel.has(id) {
                self.end(channel, failure, isKept: false, nil, at: self.loop.now())
            }
        }
    }

    func noteSent(_ count: Int, by channel: ClientChannel) {
        if channel.isStream { self.streamBytes.sent += Int64(count) }
    }

    // MARK: Receiving

    func readyToReceive(_ channel: ClientChannel) {
        let now = self.loop.now()
        let outcome: ClientConnection.Outcome
        let read = StreamSocket.receive(channel.socket, into: &self.received)
        if case .bytes(let count) = read, channel.isStream { self.streamBytes.received += Int64(count) }
        switch read {
        case .bytes(let count) where channel.tls == nil:
            outcome = channel.machine.received(self.received[..<count], into: &self.events)
        case .bytes(let count): outcome = self.receiveWithTLS(count, channel, at: now)
        case .end where self.isResetOfBorrowed(channel):
            outcome = channel.machine.failed(SystemCode.connectionReset)
        case .end: outcome = channel.machine.ended(into: &self.events)
        case .wouldBlock: return
        case .failed(let code): outcome = channel.machine.failed(code)
        }
        let head = self.takeEvents(of: channel, at: now)
        if case .ended(let failure, let isKept) = outcome {
            self.end(channel, failure, isKept: isKept, head, at: now)
        } else if outcome == .close {
            // An idle connection has no exchange. Left open, its end would be ready to be read for ever.
            self.release(channel)
        } else if self.deliver(channel.id, of: channel.phone, head, at: now) {
            self.follow(channel, outcome)
        }
    }

    /// Whether the end of a connection is a reset whose error libcurl has taken: it reads a byte of the connections that it keeps to
    /// see whether they live.
    private func isResetOfBorrowed(_ channel: ClientChannel) -> Bool {
        channel.line != nil && StreamSocket.isReset(channel.socket)
    }

    /// Puts the pieces of the body that were read together, and returns the head.
    private func takeEvents(of channel: ClientChannel, at now: Instant) -> ResponseHead? {
        guard !self.events.isEmpty else { return nil }
        var head: ResponseHead?
        for event in self.events {
            switch event {
            case .head(let status, let headers): head = ResponseHead(status: status, headers: headers)
            case .body(let piece): self.body.append(contentsOf: piece)
            case .end: break
            }
        }
        // The pieces are parts of the buffer that is read into next.
        self.events.removeAll(keepingCapacity: true)
        if head != nil { channel.noteHead(at: now) }
        channel.noteBody(self.body.count)
        return head
    }

    /// Passes on what was read; false once the delegate has ended the exchange.
    private func deliver(_ id: TransferID, of phone: Int, _ head: ResponseHead?, at now: Instant) -> Bool {
        var bytes: [UInt8] = []
        swap(&bytes, &self.body)
        if let head {
            self.delegate?.transfer(id, of: phone, replied: head, at: now)
            guard self.isRunning(id) else { return false }
        }
        if !bytes.isEmpty {
            self.delegate?.transfer(id, of: phone, received: bytes, at: now)
            bytes.removeAll(keepingCapacity: true)
        }
        swap(&bytes, &self.body)
        return self.isRunning(id)
    }

    /// Ends an exchange and delivers the last of it. Its connection is free before that: the delegate may have the next request
    /// for it.
    func end(
        _ channel: ClientChannel, _ failure: TransferFailure?, isKept: Bool, _ head: ResponseHead?,
        at now: Instant
    ) {
        let (id, phone) = (channel.id, channel.phone)
        let end = TransferEnd(failure: failure, stats: channel.stats)
        if failure?.isResendRefused == true { self.resendsRefused += 1 }
        if isKept {
            if channel.connected != nil { self.keepSession(of: channel) }
            self.transfersRunning -= 1
            channel.end()
        } else {
            self.release(channel)
        }
        self.ending = (id, phone)
        guard self.deliver(id, of: phone, head, at: now) else { return }
        self.ending = nil
        self.delegate?.transfer(id, of: phone, ended: end, at: self.loop.now())
    }
}
