import CCurl
import CSystem
import EventLoop
import SimBase
import SystemIO

/// One exchange as libcurl's callbacks see it. Kept and reused for later exchanges, each with a handle of its own.
///
/// A handle is not used twice: libcurl 7.83 to 8.0 keep a pointer to the last header field of a handle's last exchange, and
/// a folded line right behind the next status line writes through it, into memory that was freed (curl issue 11101).
///
/// Callbacks only append and note; the pool looks at them after libcurl has returned.
final class Transfer {
    /// A response head longer than this ends the exchange.
    static let headBytesMax = 128 * 1_024
    /// Most heads are below.
    private static let headBytesUsual = 480
    /// A body of which more than this comes before it is delivered ends the exchange. What libcurl reads from a socket in
    /// one call is below 2 MB, and a turn has at most three calls for a socket; more comes only of a transfer coding that
    /// libcurl undoes by itself, such as a bomb of gzip.
    static let undeliveredBytesMax = 8 << 20

    let slot: UInt32
    var generation: UInt32 = 0
    private(set) var easy: EasyHandle
    private let clock: LoopClock
    private let sockets: SocketTable
    private let inbox: Inbox

    // The request.
    var request: TransferRequest?
    var phone = 0
    var headers = HeaderLines()
    var resolve = TextList()
    var connectTo = TextList()
    var multipart: MultipartBody?
    /// What it has of `SendBufferBudget`.
    var sendBufferBytes = SendBufferBudget.least
    var upload: UploadQueue?
    /// Whether receiving is paused.
    private(set) var isPaused = false

    // Its course.
    var started = Instant.zero
    private(set) var sent: Instant?
    private(set) var replied: Instant?
    private(set) var hasOpenedSocket = false
    /// The sockets that libcurl was given for it: several where an address did not answer.
    private var opened: [(socket: Int32, serial: Int)] = []
    private(set) var isResendRefused = false
    private(set) var socketError: Int32 = 0
    private(set) var isHeadTooLong = false
    /// Which of the phone's lines it is on; its connection is the line's.
    var line = 0
    /// A connected socket that becomes the line's connection.
    var lent: Int32?
    private var hasReceived = false

    // What waits to be delivered.
    var isQueued = false
    var head: [UInt8] = []
    private(set) var isHeadComplete = false
    var isHeadDelivered = false
    var body: [UInt8] = []
    private(set) var bodyMoment = Instant.zero
    /// libcurl has taken of the streamed body since this was last told.
    var hasTakenBody = false
    var result: CURLcode?
    /// Why libcurl was never given the exchange.
    var refusal: String?

    init(slot: UInt32, clock: LoopClock, sockets: SocketTable, inbox: Inbox) {
        self.slot = slot
        self.clock = clock
        self.sockets = sockets
        self.inbox = inbox
        self.easy = EasyHandle()
        self.installCallbacks()
    }

    var id: TransferID { TransferID(slot: self.slot, generation: self.generation) }

    /// Ready for another exchange, under another id and with another handle. libcurl must not have the handle any more.
    func renew(for target: CurlTarget) {
        self.easy.renew()
        self.reset()
        self.installCallbacks()
        self.configure(for: target)
    }

    /// The transfer that has the handle; nil for one of libcurl's own.
    @unsafe static func of(_ easy: UnsafeMutableRawPointer?) -> Transfer? {
        guard let easy = unsafe easy, let context = unsafe shim_easy_private(easy) else { return nil }
        return unsafe Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
    }

    /// Forgets the exchange; whoever knows its id is told nothing more.
    func reset() {
        self.generation &+= 1
        self.request = nil
        self.multipart = nil
        self.upload = nil
        self.headers = HeaderLines()
        self.resolve = TextList()
        self.connectTo = TextList()
        self.sent = nil
        self.replied = nil
        self.hasOpenedSocket = false
        self.opened.removeAll(keepingCapacity: true)
        self.isResendRefused = false
        self.socketError = 0
        self.isHeadTooLong = false
        self.line = 0
        self.lent = nil
        self.hasReceived = false
        self.head = []
        self.isHeadComplete = false
        self.isHeadDelivered = false
        self.inbox.giveBack(&self.body)
        self.hasTakenBody = false
        self.isPaused = false
        self.result = nil
        self.refusal = nil
    }

    // MARK: - To libcurl

    func pause(_ isPaused: Bool) {
        guard self.isPaused != isPaused else { return }
        self.isPaused = isPaused
        self.applyPauses()
    }

    /// Resumes sending when there is more data than when libcurl asked.
    func wakeUpload() {
        self.upload?.wake()
        self.applyPauses()
    }

    /// Whether the request has a connection to wait for.
    var isConnecting: Bool { self.request != nil && self.sent == nil }

    /// Has libcurl called again. When an address has not answered in time, libcurl 7.88 turns to the next one, but opens its socket only
    /// at the next call, which it does not ask for.
    func goOnConnecting() {
        _ = unsafe curl_easy_pause(self.easy.raw, CURLPAUSE_RECV | CURLPAUSE_SEND)
        self.applyPauses()
    }

    private func applyPauses() {
        let sending = self.upload?.isStarved == true ? CURLPAUSE_SEND : 0
        _ = unsafe curl_easy_pause(self.easy.raw, (self.isPaused ? CURLPAUSE_RECV : 0) | sending)
    }

    // MARK: - From libcurl

    private func readBody(into room: UnsafeMutableRawBufferPointer) -> Int {
        guard let upload = self.upload else { return 0 }
        guard let count = unsafe upload.read(into: room) else { return Int(CURL_READFUNC_PAUSE) }
        if count > 0 {
            self.hasTakenBody = true
            self.inbox.queue(self)
        }
        return count
    }

    /// Whether nothing has come of a socket that was lent.
    var isLentSocketSilent: Bool { self.lent != nil && !self.hasReceived }

    private func receivedHeaderLine(_ line: UnsafeRawBufferPointer) -> Bool {
        self.hasReceived = true
        // After the head there are only trailers, which no one here requests.
        guard !self.isHeadComplete else { return true }
        guard self.head.count + line.count <= Self.headBytesMax else {
            self.isHeadTooLong = true
            return false
        }
        if self.head.isEmpty { self.head.reserveCapacity(Self.headBytesUsual) }
        unsafe self.head.append(contentsOf: line)
        guard line.count <= 2, unsafe line.first == UInt8(ascii: "\r") || line.first == UInt8(ascii: "\n")
        else { return true }
        // A 101 is the end of HTTP on this connection, and no one here requested that.
        guard !ResponseHead.isSwitching(self.head) else { return false }
        guard !ResponseHead.isInterim(self.head) else {
            self.head.removeAll(keepingCapacity: true)
            return true
        }
        self.isHeadComplete = true
        self.replied = self.clock.now()
        self.inbox.queue(self)
        return true
    }

    private func receivedBody(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard self.isHeadComplete, self.body.count + bytes.count <= Self.undeliveredBytesMax else {
            return false
        }
        if self.body.isEmpty {
            self.bodyMoment = self.clock.now()
            self.inbox.lend(&self.body)
        }
        unsafe self.body.append(contentsOf: bytes)
        self.inbox.queue(self)
        return true
    }

    /// Called when a connection stands and the request is about to be sent, also when libcurl by itself sends it
    /// again because a reused connection died: that would hide a fault and double a job.
    private func mayBeSent() -> Bool {
        guard self.sent == nil else {
            self.isResendRefused = true
            return false
        }
        self.sent = self.clock.now()
        return true
    }

    private func openSocket(family: Int32, type: Int32, proto: Int32) -> Int32 {
        guard self.sent == nil else {
            self.isResendRefused = true
            return -1
        }
        if let lent = self.lent {
            // Another attempt, because this one is dead, would be another connection.
            guard !self.hasOpenedSocket else { return -1 }
            self.hasOpenedSocket = true
            self.noteOpened(lent)
            return lent
        }
        self.hasOpenedSocket = true
        let socket = self.sockets.open(
            for: self.phone, line: self.line, family: family, type: type, proto: proto)
        if socket < 0 { self.socketError = -socket } else { self.noteOpened(socket) }
        return socket
    }

    private func noteOpened(_ socket: Int32) {
        if let serial = self.sockets.serial(of: socket) { self.opened.append((socket, serial)) }
    }

    /// Makes the table forget the sockets that libcurl closes without a word: all of a request that was never sent, and those of
    /// addresses that others were faster than.
    func forgetUnusedSockets() {
        guard self.sent == nil || self.opened.count > 1 else { return }
        let port = self.easy.number(CURLINFO_LOCAL_PORT)
        // Which one carries the request is known by its port.
        guard self.sent == nil || port > 0 else { return }
        for (socket, serial) in self.opened {
            let local = self.sent == nil ? nil : try? StreamSocket.localPort(of: socket)
            if let local, Int(local) == port { continue }
            self.sockets.forget(socket, serial: serial)
        }
        self.opened.removeAll(keepingCapacity: true)
    }

    private func installCallbacks() {
        self.installContext()
        self.installReaders()
        self.installSocketCallbacks()
    }

    /// Says what the callbacks get as their context.
    private func installContext() {
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe self.easy.set(CURLOPT_PRIVATE, pointer: context)
        unsafe self.easy.set(CURLOPT_HEADERDATA, pointer: context)
        unsafe self.easy.set(CURLOPT_WRITEDATA, pointer: context)
        unsafe self.easy.set(CURLOPT_READDATA, pointer: context)
        unsafe self.easy.set(CURLOPT_PREREQDATA, pointer: context)
        unsafe self.easy.set(CURLOPT_OPENSOCKETDATA, pointer: context)
        unsafe self.easy.set(CURLOPT_SOCKOPTDATA, pointer: context)
        // A connection outlives the transfer that opened it, so closing is the table's.
        unsafe self.easy.set(
            CURLOPT_CLOSESOCKETDATA, pointer: Unmanaged.passUnretained(self.sockets).toOpaque())
    }

    /// For the bytes of requests and answers.
    private func installReaders() {
        let raw = unsafe self.easy.raw
        _ = unsafe shim_easy_set_receiver(raw, CURLOPT_HEADERFUNCTION) { bytes, size, count, context in
            guard let context = unsafe context, let bytes = unsafe bytes else { return 0 }
            let transfer = unsafe Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
            let line = unsafe UnsafeRawBufferPointer(start: bytes, count: size * count)
            return unsafe transfer.receivedHeaderLine(line) ? size * count : 0
        }
        _ = unsafe shim_easy_set_receiver(raw, CURLOPT_WRITEFUNCTION) { bytes, size, count, context in
            guard let context = unsafe context, let bytes = unsafe bytes else { return 0 }
            let transfer = unsafe Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
            let piece = unsafe UnsafeRawBufferPointer(start: bytes, count: size * count)
            return unsafe transfer.receivedBody(piece) ? size * count : 0
        }
        _ = unsafe shim_easy_set_reader(raw) { room, size, count, context in
            guard let context = unsafe context, let room = unsafe room else { return 0 }
            let transfer = unsafe Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
            return unsafe transfer.readBody(
                into: UnsafeMutableRawBufferPointer(start: room, count: size * count))
        }
    }

    private func installSocketCallbacks() {
        let raw = unsafe self.easy.raw
        _ = unsafe shim_easy_set_before_send(raw) { context, _, _, _, _ in
            guard let context = unsafe context else { return CURL_PREREQFUNC_ABORT }
            let transfer = unsafe Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
            return transfer.mayBeSent() ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
        }
        _ = unsafe shim_easy_set_open_socket(raw) { context, _, address in
            guard let context = unsafe context, let address = unsafe address else { return CURL_SOCKET_BAD }
            let transfer = unsafe Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
            let socket = transfer.openSocket(
                family: unsafe address.pointee.family, type: unsafe address.pointee.socktype,
                proto: unsafe address.pointee.protocol)
            return socket >= 0 ? socket : CURL_SOCKET_BAD
        }
        _ = unsafe shim_easy_set_connected(raw) { context, _, _ in
            guard let context = unsafe context else { return CURL_SOCKOPT_OK }
            let transfer = unsafe Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
            return transfer.lent == nil ? CURL_SOCKOPT_OK : CURL_SOCKOPT_ALREADY_CONNECTED
        }
        _ = unsafe shim_easy_set_close_socket(raw) { context, socket in
            guard let context = unsafe context else { return 1 }
            unsafe Unmanaged<SocketTable>.fromOpaque(context).takeUnretainedValue().close(socket)
            return 0
        }
    }
}

/// The queue of transfers with data for the pool, and the source of their buffers: an idle stream has none.
final class Inbox {
    /// Buffers kept for later, and the largest that is worth keeping.
    private static let sparesMax = 64
    private static let spareBytesMax = 64 * 1_024

    private var waiting: [Transfer] = []
    private var spares: [[UInt8]] = []

    func queue(_ transfer: Transfer) {
        guard !transfer.isQueued else { return }
        transfer.isQueued = true
        self.waiting.append(transfer)
    }

    var isEmpty: Bool { self.waiting.isEmpty }

    /// Everything that waits now; `emptied` is the array of an earlier call.
    func take(_ emptied: inout [Transfer]) {
        swap(&self.waiting, &emptied)
    }

    func lend(_ buffer: inout [UInt8]) {
        if let spare = self.spares.popLast() { buffer = spare }
    }

    func giveBack(_ buffer: inout [UInt8]) {
        guard buffer.capacity > 0 else { return }
        if buffer.capacity <= Self.spareBytesMax, self.spares.count < Self.sparesMax {
            buffer.removeAll(keepingCapacity: true)
            self.spares.append(buffer)
        }
        buffer = []
    }
}
