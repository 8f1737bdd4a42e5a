import EventLoop
import SimBase
import SystemIO
import Wire

/// One connection of a client. It holds at most one frame that was not sent: a slow client skips frames.
final class DashboardConnection {
    private enum State {
        /// Leaves to `deciding`, `following` and `ending`.
        case asking(since: Instant)
        /// The run decides on an order. Leaves to `ending`.
        case deciding(since: Instant)
        /// `version`: what it has, or has before it. Leaves to `ending`.
        case following(version: Int, isChunked: Bool)
        /// Answered: its bytes are on their way, and then it is the other side's to end.
        case ending(since: Instant)
        case closed
    }

    private static let limits = RequestReader.Limits(
        requestLineBytesMax: 4_096, headBytesMax: 16_384, headerCountMax: 100, bodyBytesMax: 1 << 20,
        chunkLineBytesMax: 64, leftOverBytesMax: 16_384)
    private static let readBytesMax = 16 * 1_024

    private let socket: Int32
    private unowned let server: DashboardServer
    private var watch: Watch?
    private var state: State
    private var reader = RequestReader(limits: DashboardConnection.limits)
    private var unsent: ArraySlice<UInt8> = []
    /// The time since which no byte was taken.
    private var stalledSince: Instant?

    init(socket: Int32, server: DashboardServer) {
        self.socket = socket
        self.server = server
        self.state = .asking(since: server.now)
        StreamSocket.setNoDelay(socket)
        StreamSocket.setSendBuffer(socket, bytes: DashboardLimits.sendBufferBytes)
        self.watch = server.loop.watch(socket, .read) { [unowned self] readiness in
            if readiness.contains(.read) { self.readable() }
            if readiness.contains(.write) { self.flush() }
        }
    }

    var isFollowing: Bool { if case .following = self.state { true } else { false } }

    /// Whether bytes wait to be sent.
    var isBehind: Bool { !self.unsent.isEmpty }

    var unsentCount: Int { self.unsent.count }

    // MARK: Calls of the server

    /// Sends the newest frame if the client does not have it.
    func sendNewest() {
        guard case .following(let version, let isChunked) = self.state, self.unsent.isEmpty else { return }
        let (events, present) = self.server.events(after: version)
        guard present > version else { return }
        self.state = .following(version: present, isChunked: isChunked)
        self.send(Self.piece(events, isChunked: isChunked))
    }

    /// Ends the stream with these bytes. A stalled connection is closed instead, and so is one without a stream unless the
    /// server `stays`.
    func finish(_ last: [UInt8], stays: Bool) {
        guard case .following(let version, let isChunked) = self.state else {
            if !stays { self.close() }
            return
        }
        if let since = self.stalledSince, self.server.now - since >= DashboardLimits.flushMax {
            return self.close()
        }
        var bytes = Self.piece(self.server.events(after: version).events + last, isChunked: isChunked)
        if isChunked { ResponseWriter.lastChunk(into: &bytes) }
        self.state = .ending(since: self.server.now)
        self.send(bytes)
    }

    /// Closes the connection if it exceeded a time limit.
    func check(at now: Instant) {
        switch self.state {
        case .asking(let since), .deciding(let since), .ending(let since):
            if now - since >= DashboardLimits.requestTime { self.close() }
        case .following:
            if let since = self.stalledSince, now - since >= DashboardLimits.stallMax { self.close() }
        case .closed: return
        }
    }

    func close() {
        if case .closed = self.state { return }
        self.state = .closed
        self.unsent = []
        self.watch?.cancel()
        StreamSocket.close(self.socket)
        self.server.closed(self)
    }

    // MARK: Reading

    private func readable() {
        var bytes: [UInt8] = []
        switch StreamSocket.receive(self.socket, appendingTo: &bytes, limit: Self.readBytesMax) {
        case .bytes: self.received(bytes[...])
        case .wouldBlock: return
        // A browser that leaves a page closes its connection; no browser follows a stream on a half-closed
        // one.
        case .end, .failed: self.close()
        }
    }

    private func received(_ bytes: ArraySlice<UInt8>) {
        // Bytes after the request have no meaning, but unread they would turn the end of the connection into
        // a reset.
        guard case .asking = self.state else { return }
        var events: [RequestEvent] = []
        do throws(RequestError) {
            try self.reader.receive(bytes, into: &events)
        } catch {
            return self.end(with: self.server.router.refusal(of: error))
        }
        guard case .head(let head) = events.first else { return }
        switch self.server.router.answer(head, hasRoom: self.server.hasRoom) {
        case .reply(let bytes): self.end(with: bytes)
        case .follow(let head, let last, let isChunked):
            var hello: [UInt8] = []
            SSEWriter.retry(DashboardLimits.retry, into: &hello)
            self.state = .following(version: self.server.version(ofLast: last), isChunked: isChunked)
            self.send(head + Self.piece(hello, isChunked: isChunked))
            self.server.followerJoined()
            self.sendNewest()
            if let last = self.server.last { self.finish(last, stays: true) }
        case .metrics(let format, let isHead):
            self.end(with: self.server.metrics(as: format, isHead: isHead))
        case .control(let order):
            self.state = .deciding(since: self.server.now)
            self.server.ask(order, for: self)
        }
    }

    // MARK: Writing

    private static func piece(_ events: [UInt8], isChunked: Bool) -> [UInt8] {
        guard isChunked else { return events }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(events.count + 16)
        ResponseWriter.chunk(events, into: &bytes)
        return bytes
    }

    func end(with bytes: [UInt8]) {
        self.state = .ending(since: self.server.now)
        self.send(bytes)
    }

    private func send(_ bytes: [UInt8]) {
        if self.unsent.isEmpty { self.unsent = bytes[...] } else { self.unsent += bytes }
        self.flush()
    }

    /// Writes as much as the kernel takes.
    private func flush() {
        if case .closed = self.state { return }
        while !self.unsent.isEmpty {
            switch StreamSocket.send(self.socket, self.unsent) {
            case .bytes(let count):
                self.unsent = self.unsent.dropFirst(count)
                self.stalledSince = nil
            case .wouldBlock:
                self.stalledSince = self.stalledSince ?? self.server.now
                self.watch?.interest = [.read, .write]
                return
            case .end, .failed: return self.close()
            }
        }
        // Nothing of a frame is kept once it is gone.
        self.unsent = []
        self.stalledSince = nil
        self.watch?.interest = .read
        switch self.state {
        case .ending: StreamSocket.endSending(self.socket)
        case .following: self.sendNewest()
        case .asking, .deciding, .closed: break
        }
    }
}
