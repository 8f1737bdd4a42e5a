package import CurlLoop
package import EventLoop
import SimBase
import SystemIO
import TLS
import Wire

/// HTTP exchanges of many phones on one loop; each phone with connections of its own.
///
/// A request whose body is in memory, or that has none, goes out on a connection of this module. libcurl makes all others: a
/// multipart body, a URL that is not sent as it stands, everything over TLS where the target speaks HTTP/2, but no upgrade to
/// another protocol, which is of HTTP/1.1 alone. Without TLS, a phone that makes one request at a time has one connection for both: what libcurl has opened stays among its idle
/// connections, and is used here while libcurl does not. With TLS it has one of each.
package final class ClientPool {
    /// Who makes the requests that do not need libcurl.
    package enum Client: Sendable, CaseIterable {
        case own
        case libcurl
    }

    /// Bytes that are read from a socket at a time.
    private static let receivedBytesMax = 64 * 1_024
    /// Tells the ids of this module's exchanges from those of libcurl's.
    private static let firstSlot: UInt32 = 1 << 31

    package weak var delegate: (any TransferDelegate)? {
        didSet { self.curl.delegate = self.delegate }
    }
    /// The number of open sockets above which exchanges other than streams close their connection at the end
    /// instead of keeping it for the phone's next.
    package var keepsIdleBelow = Int.max {
        didSet { self.curl.keepsIdleBelow = self.keepsIdleBelow }
    }

    /// Sockets that the pool may have, parked ones included; more are refused as the system would.
    package var socketsMax: Int {
        get { self.curl.socketsMax }
        set { self.curl.socketsMax = newValue }
    }

    let loop: Loop
    let target: CurlTarget
    let client: Client
    private let curl: CurlPool
    private let sockets: SocketTable
    /// What all connections with TLS share; nil before the first.
    var trust: Result<TLSContext, TLSIdentityError>?
    /// Of each phone's last connection with TLS.
    var sessionOfPhone: [Int: TLSSession] = [:]
    private var channels: [ClientChannel] = []
    private var free: [ClientChannel] = []
    private var channelsOfPhone: [[ClientChannel]]
    /// By descriptor. A socket that is lent has none.
    private var channelOfSocket: [ClientChannel?] = []
    var connects: WakeTable?
    /// Exchanges that failed before `start` returned.
    private var failed: [(channel: ClientChannel, id: TransferID, failure: TransferFailure)] = []
    private var soon: LoopTask?
    /// The exchange that is over and whose last bytes are being delivered. Nil also once the delegate has ended it.
    private var ending: (id: TransferID, phone: Int)?
    private var transfersStarted = 0
    private var streamBytes: (sent: Int64, received: Int64) = (0, 0)
    private var transfersRunning = 0
    private var resendsRefused = 0

    // Used again and again, so that a read and a write allocate nothing.
    var received = [UInt8](repeating: 0, count: ClientPool.receivedBytesMax)
    var events: [ResponseEvent] = []
    /// What was received over TLS, and what is to be sent; empty without it.
    var plaintext: [UInt8] = []
    var ciphertext: [UInt8] = []
    private var body: [UInt8] = []
    private var probe: [UInt8] = [0]
    var draft = ByteBuilder(reserving: 4_096)

    /// `phones` are numbered from 0.
    package init(loop: Loop, target: CurlTarget, phones: Int, client: Client) {
        self.loop = loop
        self.target = target
        self.client = client
        self.curl = CurlPool(loop: loop, target: target, phones: phones)
        self.sockets = self.curl.sockets
        self.channelsOfPhone = Array(repeating: [], count: phones)
        self.connects = WakeTable(loop: loop, keys: 0) { [unowned self] slot, _, _ in
            self.timePassed(self.channels[slot])
        }
        self.soon = LoopTask(loop: loop) { [unowned self] in self.deliverFailed() }
        guard client == .own else { return }
        self.curl.borrower = { [weak self] phone, line, socket, watch in
            self?.take(socket, of: phone, line: line, watch: watch)
        }
    }

    deinit {
        for channel in self.channels where channel.socket >= 0 { self.closeSocket(of: channel) }
    }

    package var counts: CurlPoolCounts {
        var counts = self.curl.counts
        counts.transfersStarted += self.transfersStarted
        counts.transfersRunningNow += self.transfersRunning
        counts.resendsRefused += self.resendsRefused
        counts.streamBytesSent += self.streamBytes.sent
        counts.streamBytesReceived += self.streamBytes.received
        return counts
    }

    // MARK: - Commands

    /// Begins an exchange; the delegate hears of it, never before this returns.
    package func start(_ request: TransferRequest) -> TransferID {
        guard let (parts, body) = self.own(request) else {
            guard request.asksForUpgrade else { return self.startByLibcurl(request) }
            return self.refuse(request, "an upgrade that cannot be sent as it stands")
        }
        if let flaw = request.flaw { return self.refuse(request, flaw) }
        let idle = request.connectPort == nil ? self.takeIdle(of: request.phone) : nil
        let channel = idle ?? self.freeChannel(for: request.phone)
        let now = self.begin(request, on: channel)
        let id = channel.id
        self.draft.shorten(to: 0)
        RequestWriter.head(
            method: request.method.rawValue, target: parts.target, host: parts.host, fields: request.headers,
            bodyBytes: body?.count, into: &self.draft)
        if let body { self.draft.append(contentsOf: body) }
        let terms = ClientConnection.Terms(
            isHead: request.method == .head,
            keepsConnection: request.connectPort == nil
                && (request.receiveBuffer == .stream || self.sockets.openNow < self.keepsIdleBelow),
            isUpgrade: request.asksForUpgrade)
        if idle == nil {
            channel.request = self.draft.bytes
            channel.server = parts.isSecure ? Self.server(of: parts.host) : nil
            self.followStart(
                channel, self.connect(channel, isSecure: parts.isSecure, terms, at: now))
        } else {
            self.followStart(channel, channel.machine.begin(terms))
        }
        return id
    }

    private func begin(_ request: TransferRequest, on channel: ClientChannel) -> Instant {
        self.transfersStarted += 1
        self.transfersRunning += 1
        let now = self.loop.now()
        channel.begin(request, at: now)
        return now
    }

    /// Fails a request that cannot be sent.
    private func refuse(_ request: TransferRequest, _ flaw: String) -> TransferID {
        let channel = self.freeChannel(for: request.phone)
        _ = self.begin(request, on: channel)
        self.deliverLater(
            TransferFailure(kind: .other, isResendRefused: false, code: 0, systemCode: 0, message: flaw),
            to: channel)
        return channel.id
    }

    /// Ends an exchange at once and closes its connection (FIN). The delegate hears nothing more of it. Nothing
    /// happens when it is over already.
    package func cancel(_ transfer: TransferID) {
        if self.ending?.id == transfer { self.ending = nil }
        guard let channel = self.running(transfer) else {
            if transfer.slot < Self.firstSlot { self.curl.cancel(transfer) }
            return
        }
        self.release(channel)
    }

    /// Runs libcurl's pending work now instead of at the end of the turn, and delivers the results.
    package func flushPending() { self.curl.flushPending() }

    /// Abandons all of a phone's exchanges and leaves its connections open and unread, without a word to the peer, until
    /// `unpark`. The delegate hears nothing of it. The phone may start new exchanges.
    package func park(phone: Int) {
        self.letGo(of: phone)
        self.curl.park(phone: phone)
    }

    /// Closes a phone's parked connections with RST.
    package func unpark(phone: Int) { self.curl.unpark(phone: phone) }

    /// Abandons all of a phone's exchanges and closes its connections, idle ones too. The delegate hears nothing.
    package func hangUp(phone: Int, by how: HangUp) {
        self.letGo(of: phone)
        // Whoever has its place next is another client to the server.
        self.sessionOfPhone[phone] = nil
        self.curl.hangUp(phone: phone, by: how)
    }

    /// The table has the phone's sockets after that, and libcurl all its lines.
    private func letGo(of phone: Int) {
        if self.ending?.phone == phone { self.ending = nil }
        for channel in self.channelsOfPhone[phone] {
            self.dropSocket(of: channel)
            self.release(channel)
        }
    }

    // MARK: - Queries

    package func isRunning(_ transfer: TransferID) -> Bool {
        guard transfer.slot >= Self.firstSlot else { return self.curl.isRunning(transfer) }
        return self.ending?.id == transfer || self.running(transfer) != nil
    }

    func running(_ id: TransferID) -> ClientChannel? {
        guard id.slot >= Self.firstSlot else { return nil }
        let channel = self.channels[Int(id.slot - Self.firstSlot)]
        return channel.has(id) ? channel : nil
    }
}

// MARK: - Sockets

extension ClientPool {
    private func startByLibcurl(_ request: TransferRequest) -> TransferID {
        // libcurl cannot go on with the TLS of another.
        guard request.connectPort == nil, request.flaw == nil, request.url.hasPrefix("http:"),
            let idle = self.takeIdle(of: request.phone), let watch = idle.watch
        else { return self.curl.start(request) }
        let socket = idle.socket
        guard let line = idle.line else {
            self.letGo(of: idle)
            return self.curl.start(request, lent: socket, watch: watch)
        }
        guard self.sockets.giveBack(socket, watch: watch) else {
            // libcurl has closed its connection of this socket, and cannot be given it again: see `CurlPool.start`.
            self.release(idle)
            return self.curl.start(request)
        }
        self.letGo(of: idle)
        return self.curl.start(request, line: line)
    }

    /// The socket is libcurl's now, and its watch goes on.
    private func letGo(of channel: ClientChannel) {
        self.channelOfSocket[Int(channel.socket)] = nil
        (channel.socket, channel.watch, channel.line) = (-1, nil, nil)
        self.release(channel)
    }

    /// A connection that libcurl has kept is the phone's next one.
    private func take(_ socket: Int32, of phone: Int, line: Int, watch: Watch?) {
        let channel = self.freeChannel(for: phone)
        channel.machine = .idle
        channel.line = line
        self.adopt(socket, by: channel)
        channel.watch = watch ?? self.watch(socket, .read)
    }

    /// The phone's newest idle connection. The end of a connection may not have been reported yet: a read finds
    /// it, as well as bytes that answer no request.
    private func takeIdle(of phone: Int) -> ClientChannel? {
        while let channel = self.channelsOfPhone[phone].last(where: { $0.machine.isIdle }) {
            if self.isStillIdle(channel) { return channel }
            self.release(channel)
        }
        return nil
    }

    private func isStillIdle(_ channel: ClientChannel) -> Bool {
        guard channel.tls == nil else { return self.isStillIdleWithTLS(channel) }
        if case .wouldBlock = StreamSocket.receive(channel.socket, into: &self.probe) { return true }
        return false
    }

    private func freeChannel(for phone: Int) -> ClientChannel {
        let channel: ClientChannel
        if let free = self.free.popLast() {
            channel = free
        } else {
            channel = ClientChannel(slot: Self.firstSlot + UInt32(self.channels.count))
            self.channels.append(channel)
        }
        channel.open(for: phone)
        self.channelsOfPhone[phone].append(channel)
        return channel
    }

    private func adopt(_ socket: Int32, by channel: ClientChannel) {
        while Int(socket) >= self.channelOfSocket.count { self.channelOfSocket.append(nil) }
        self.channelOfSocket[Int(socket)] = channel
        channel.socket = socket
    }

    private func watch(_ socket: Int32, _ interest: Readiness) -> Watch {
        self.loop.watch(socket, interest) { [unowned self] readiness in self.ready(socket, readiness) }
    }

    private func connect(
        _ channel: ClientChannel, isSecure: Bool, _ terms: ClientConnection.Terms, at now: Instant
    ) -> ClientConnection.Outcome {
        let addresses = channel.connectPort == nil ? self.target.addresses.count : 1
        return channel.machine.connect(
            addresses: addresses, isSecure: isSecure, within: self.target.connectTimeout, terms, at: now)
    }

    /// Begins to connect to an address; what follows if that fails at once.
    private func connect(_ channel: ClientChannel, to address: Int) -> ClientConnection.Outcome {
        self.closeSocket(of: channel)
        // A closed port is certain to be closed on this host only.
        let host = channel.connectPort == nil ? self.target.addresses[address] : "127.0.0.1"
        // libcurl's connection went to the target, without TLS.
        let isLikeLibcurls = channel.connectPort == nil && channel.server == nil
        let dead = isLikeLibcurls ? self.curl.takeDeadSocket(of: channel.phone) : nil
        channel.line = dead?.line
        do throws(SystemError) {
            let socket = try self.sockets.connect(
                for: channel.phone, to: host, port: channel.connectPort ?? self.target.port,
                inPlaceOf: dead?.socket)
            self.adopt(socket, by: channel)
            channel.watch = self.watch(socket, .write)
            self.connects?.set(key: self.key(of: channel), at: channel.machine.deadline)
            return .nothing
        } catch {
            self.freeLine(of: channel)
            return channel.machine.connectFailed(error.code, at: self.loop.now())
        }
    }

    func key(of channel: ClientChannel) -> Int { Int(channel.slot - Self.firstSlot) }

    private func dropSocket(of channel: ClientChannel) {
        guard channel.socket >= 0 else { return }
        channel.watch?.cancel()
        channel.watch = nil
        channel.tls = nil
        self.channelOfSocket[Int(channel.socket)] = nil
        channel.socket = -1
    }

    private func closeSocket(of channel: ClientChannel) {
        let socket = channel.socket
        self.endTLS(of: channel)
        self.dropSocket(of: channel)
        if socket >= 0 { self.sockets.closeOwn(socket) }
        self.freeLine(of: channel)
    }

    private func freeLine(of channel: ClientChannel) {
        guard let line = channel.line else { return }
        channel.line = nil
        self.curl.freeLine(line, of: channel.phone)
    }

    /// Closes the connection and gives its place away.
    private func release(_ channel: ClientChannel) {
        self.closeSocket(of: channel)
        if channel.machine.deadline != nil { self.connects?.set(key: self.key(of: channel), at: nil) }
        channel.machine = .closed
        if channel.hasExchange {
            self.transfersRunning -= 1
            channel.end()
        }
        self.channelsOfPhone[channel.phone].removeAll { $0 === channel }
        self.free.append(channel)
    }
}

// MARK: - Events

extension ClientPool {
    private func ready(_ socket: Int32, _ readiness: Readiness) {
        // A socket that is lent is libcurl's to read.
        guard let channel = self.channelOfSocket[Int(socket)] else { return }
        // The delegate may let go of the pool.
        withExtendedLifetime(self) {
            if readiness == .write { self.readyToSend(channel) } else { self.readyToReceive(channel) }
        }
    }

    private func readyToSend(_ channel: ClientChannel) {
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

    private func timePassed(_ channel: ClientChannel) {
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
    private func followStart(_ channel: ClientChannel, _ outcome: ClientConnection.Outcome) {
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

    private func deliverFailed() {
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

    private func readyToReceive(_ channel: ClientChannel) {
        let now = self.loop.now()
        let outcome: ClientConnection.Outcome
        let read = StreamSocket.receive(channel.socket, into: &self.received)
        if case .bytes(let count) = read, channel.isStream { self.streamBytes.received += Int64(count) }
        switch read {
        case .bytes(let count) where channel.tls == nil:
            outcome = channel.machine.received(self.received[..<count], into: &self.events)
        case .bytes(let count): outcome = self.receiveWithTLS(count, channel, at: now)
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
    private func end(
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
