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
/// another protocol, which is of HTTP/1.1 alone. Without TLS, a phone that makes one request at a time has one connection for
/// both: what libcurl has opened stays among its idle connections, and is used here while libcurl does not. With TLS it has one
/// of each.
package final class ClientPool {
    /// Who makes the requests that do not need libcurl.
    package enum Client: Sendable, CaseIterable {
        case own
        case libcurl
    }

    /// Bytes that are read from a socket at a time.
    private static let receivedBytesMax = 64 * 1_024
    /// Tells the ids of this module's exchanges from those of libcurl's.
    static let firstSlot: UInt32 = 1 << 31

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
    let curl: CurlPool
    let sockets: SocketTable
    /// What all connections with TLS share; nil before the first.
    var trust: Result<TLSContext, TLSIdentityError>?
    /// Of each phone's last connection with TLS.
    var sessionOfPhone: [Int: TLSSession] = [:]
    var channels: [ClientChannel] = []
    var free: [ClientChannel] = []
    var channelsOfPhone: [[ClientChannel]]
    /// By descriptor. A socket that is lent has none.
    var channelOfSocket: [ClientChannel?] = []
    var connects: WakeTable?
    /// Exchanges that failed before `start` returned.
    var failed: [(channel: ClientChannel, id: TransferID, failure: TransferFailure)] = []
    var soon: LoopTask?
    /// The exchange that is over and whose last bytes are being delivered. Nil also once the delegate has ended it.
    var ending: (id: TransferID, phone: Int)?
    private var transfersStarted = 0
    var streamBytes: (sent: Int64, received: Int64) = (0, 0)
    var transfersRunning = 0
    var resendsRefused = 0

    // Used again and again, so that a read and a write allocate nothing.
    var received = [UInt8](repeating: 0, count: ClientPool.receivedBytesMax)
    var events: [ResponseEvent] = []
    /// What was received over TLS, and what is to be sent; empty without it.
    var plaintext: [UInt8] = []
    var ciphertext: [UInt8] = []
    var body: [UInt8] = []
    var probe: [UInt8] = [0]
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
    func letGo(of phone: Int) {
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
