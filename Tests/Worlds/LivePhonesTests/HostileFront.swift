import EventLoop
import SimBase
import SystemIO
import Talaria
import Wire

/// A proxy between phones and a real backend that answers some requests itself, as no backend should.
final class HostileFront {
    /// The outcome of one request.
    enum Hostility {
        /// The backend's answer up to this byte, then the end of the connection.
        case cut(after: Int)
        /// Never reaches the backend.
        case instead([Act])
    }

    enum Act {
        case send([UInt8])
        case repeatedly([UInt8], times: Int)
        /// A byte at a time.
        case drip([UInt8], every: Interval)
        case close
        case reset

        static func text(_ text: String) -> Act { .send(Array(text.utf8)) }
    }

    /// Answers that were cut: how many bytes the phone got, and whether there was more.
    struct Cut { var sent: [UInt8] }

    let port: UInt16
    private(set) var cuts: [DeviceNumber: Cut] = [:]
    /// Requests that were answered with something else.
    private(set) var replaced: Set<DeviceNumber> = []
    fileprivate let loop: Loop
    fileprivate let upstream: UInt16
    fileprivate let plan: (TraceContext) -> Hostility?
    private let listener: Descriptor
    private var watch: Watch?
    private var connections: [FrontConnection] = []

    init(loop: Loop, upstream: UInt16, plan: @escaping (TraceContext) -> Hostility?) throws {
        self.loop = loop
        self.upstream = upstream
        self.plan = plan
        self.listener = try StreamSocket.listen(host: "127.0.0.1", port: 0)
        self.port = try StreamSocket.localPort(of: self.listener.number)
        self.watch = loop.watch(self.listener.number, .read) { [unowned self] _ in self.accept() }
    }

    deinit {
        self.watch?.cancel()
        for connection in self.connections { connection.end() }
    }

    private func accept() {
        self.connections.removeAll { $0.isOver }
        while case .connection(let socket) = StreamSocket.accept(self.listener.number) {
            self.connections.append(FrontConnection(front: self, phone: socket))
        }
    }

    fileprivate func noteCut(_ device: DeviceNumber, _ sent: [UInt8]) { self.cuts[device] = Cut(sent: sent) }

    fileprivate func noteReplaced(_ device: DeviceNumber) { self.replaced.insert(device) }
}

/// One connection of a phone, with its own to the backend.
private final class FrontConnection {
    private unowned let front: HostileFront
    private var phone: Peer?
    private var backend: Peer?
    private var reader = RequestReader(limits: .standard)
    private var trace: TraceContext?
    private var hostility: HostileFront.Hostility?
    private var answered: [UInt8] = []
    private var acts: [HostileFront.Act] = []
    private var timer: LoopTimer?
    /// The next byte waits for its time.
    private var isDripping = false
    private(set) var isOver = false

    init(front: HostileFront, phone: Int32) {
        self.front = front
        self.phone = Peer(loop: front.loop, socket: phone) { [unowned self] in self.phoneSent($0) }
        self.phone?.drained = { [unowned self] in self.act() }
        self.timer = LoopTimer(loop: front.loop) { [unowned self] _ in
            self.isDripping = false
            self.act()
        }
    }

    func end() {
        guard !self.isOver else { return }
        self.isOver = true
        self.timer?.disarm()
        self.phone?.close()
        self.backend?.close()
    }

    /// Nil is the end of the connection.
    private func phoneSent(_ bytes: [UInt8]?) {
        guard let bytes else { return self.end() }
        var events: [RequestEvent] = []
        try? self.reader.receive(bytes, into: &events)
        var isEnd = false
        for event in events {
            switch event {
            case .head(let head):
                self.answered = []
                self.trace = head.headers[TraceContext.headerName].flatMap { TraceContext(headerValue: $0) }
                self.hostility = self.trace.flatMap(self.front.plan)
            case .body: break
            case .end: isEnd = true
            }
        }
        if case .instead(let acts) = self.hostility {
            guard isEnd, let trace = self.trace else { return }
            self.front.noteReplaced(trace.device)
            self.acts = acts
            self.act()
            return
        }
        if self.backend == nil {
            let socket = try? StreamSocket.connect(host: "127.0.0.1", port: self.front.upstream).release()
            guard let socket else { return self.end() }
            self.backend = Peer(loop: self.front.loop, socket: socket) { [unowned self] in
                self.backendSent($0)
            }
        }
        self.backend?.send(bytes)
    }

    private func backendSent(_ bytes: [UInt8]?) {
        guard let bytes else { return self.finishSending() }
        guard case .cut(let after) = self.hostility, let trace = self.trace else {
            self.phone?.send(bytes)
            return
        }
        let room = after - self.answered.count
        self.answered += bytes.prefix(room)
        self.phone?.send(Array(bytes.prefix(room)))
        guard bytes.count > room else { return }
        self.front.noteCut(trace.device, self.answered)
        self.finishSending()
    }

    private func finishSending() {
        self.backend?.close()
        self.acts = [.close]
        self.act()
    }

    /// Does what is next, once everything before is in the kernel's hands.
    private func act() {
        guard !self.isOver, !self.isDripping, let phone = self.phone, phone.isDrained, !self.acts.isEmpty
        else { return }
        switch self.acts.removeFirst() {
        case .send(let bytes): phone.send(bytes)
        case .repeatedly(let bytes, let times):
            if times > 1 { self.acts.insert(.repeatedly(bytes, times: times - 1), at: 0) }
            phone.send(bytes)
        case .drip(let bytes, let every):
            guard let first = bytes.first else { return self.act() }
            self.acts.insert(.drip(Array(bytes.dropFirst()), every: every), at: 0)
            phone.send([first])
            self.isDripping = true
            self.timer?.arm(after: every)
        case .close: self.end()
        case .reset:
            phone.resetsOnClose()
            self.end()
        }
    }
}

/// A socket with what waits to be sent on it.
private final class Peer {
    private let socket: Int32
    private var watch: Watch?
    private var unsent: [UInt8] = []
    private var isClosed = false
    private let received: ([UInt8]?) -> Void
    var drained: () -> Void = {}

    init(loop: Loop, socket: Int32, received: @escaping ([UInt8]?) -> Void) {
        self.socket = socket
        self.received = received
        self.watch = loop.watch(socket, .read) { [unowned self] readiness in
            if readiness.contains(.write) { self.flush() }
            if readiness.contains(.read), !self.isClosed { self.read() }
        }
    }

    deinit { self.close() }

    var isDrained: Bool { self.unsent.isEmpty }

    func send(_ bytes: [UInt8]) {
        self.unsent += bytes
        self.watch?.interest.insert(.write)
    }

    func resetsOnClose() { StreamSocket.resetOnClose(self.socket) }

    func close() {
        guard !self.isClosed else { return }
        self.isClosed = true
        self.watch?.cancel()
        StreamSocket.close(self.socket)
    }

    private func flush() {
        if !self.unsent.isEmpty {
            switch StreamSocket.send(self.socket, self.unsent[...]) {
            case .bytes(let count): self.unsent.removeFirst(count)
            case .wouldBlock: return
            case .end, .failed: return self.received(nil)
            }
        }
        guard self.unsent.isEmpty else { return }
        self.watch?.interest.remove(.write)
        self.drained()
    }

    private func read() {
        var bytes: [UInt8] = []
        switch StreamSocket.receive(self.socket, appendingTo: &bytes, limit: 65_536) {
        case .bytes: self.received(bytes)
        case .wouldBlock: break
        case .end, .failed: self.received(nil)
        }
    }
}
