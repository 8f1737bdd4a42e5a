import CZeroMQ
package import EventLoop
package import LocustWorker
import SimBase
package import SystemIO

/// The connection to a Locust master: a DEALER socket of ZeroMQ on the event loop.
///
/// libzmq connects by itself, and again after a connection was lost; messages wait until then. Its descriptor
/// signals only once that something may have changed: after every wake-up and after every send libzmq must be
/// asked what has changed, until nothing is left (zmq_getsockopt(3), ZMQ_FD).
package final class MasterSocket {
    /// Messages that may wait in each direction.
    private static let messagesMax: Int32 = 20_000
    /// The largest frame. The scenario is the largest that a master has reason to send, and a value takes many times its bytes.
    private static let frameBytesMax: Int64 = 4 << 20
    /// The time that unsent messages have when the socket is closed, in milliseconds.
    private static let linger: Int32 = 2_000
    /// Messages that are handled in one turn of the loop.
    private static let messagesPerTurnMax = 64

    /// The version of libzmq, for example `4.3.4`.
    package static var libraryVersion: String {
        var (major, minor, patch): (Int32, Int32, Int32) = (0, 0, 0)
        unsafe shim_zmq_version(&major, &minor, &patch)
        return "\(major).\(minor).\(patch)"
    }

    /// The name by which the master knows this worker.
    package let identity: String
    private let endpoint: String
    private let loop: Loop
    /// Nil: something that is not a message.
    private let receive: (MasterMessage?) -> Void
    private var dealer: Dealer?
    private var watch: Watch?
    private var reading: LoopTask?

    /// `host`: a name or a numeric address.
    package init(
        host: String, port: UInt16, identity: String, loop: Loop, receive: @escaping (MasterMessage?) -> Void
    ) throws(SystemError) {
        self.identity = identity
        self.endpoint = "tcp://\(host.contains(":") ? "[\(host)]" : host):\(port)"
        self.loop = loop
        self.receive = receive
        self.reading = LoopTask(loop: loop) { [unowned self] in self.readAll() }
        try self.connect()
    }

    deinit { self.watch?.cancel() }

    private func connect() throws(SystemError) {
        let dealer = try Dealer(identity: self.identity, endpoint: self.endpoint)
        let descriptor = dealer.descriptor
        self.dealer = consume dealer
        self.watch = self.loop.watch(descriptor, .read) { [unowned self] _ in self.readAll() }
        self.reading?.schedule()
    }

    /// Closes the connection and opens a new one with the same name.
    package func reset() throws(SystemError) {
        self.watch?.cancel()
        self.watch = nil
        self.dealer = nil
        try self.connect()
    }

    /// Sends what was queued, or as much as goes within the linger time.
    package func close() {
        self.watch?.cancel()
        self.watch = nil
        self.dealer = nil
    }

    /// False when too many messages wait for a master that is not there: then it is lost.
    @discardableResult
    package func send(_ message: WorkerMessage) -> Bool {
        guard self.dealer != nil else { return false }
        let bytes = MessagePack.bytes(message.value(from: self.identity))
        let isSent = self.dealer?.send(bytes) ?? false
        // To send may have taken the wake-up of a message that has arrived.
        self.reading?.schedule()
        return isSent
    }

    private func readAll() {
        var count = 0
        while self.dealer?.isReadable ?? false {
            guard count < Self.messagesPerTurnMax else {
                self.reading?.schedule()
                return
            }
            count += 1
            guard let bytes = self.dealer?.receive() else { return }
            self.receive(MessagePack.value(bytes).flatMap { MasterMessage($0) })
        }
    }
}

/// libzmq's socket with its context; closed with this value.
@safe private struct Dealer: ~Copyable {
    private let raw: UnsafeMutablePointer<shim_dealer>

    init(identity: String, endpoint: String) throws(SystemError) {
        let raw = unsafe identity.withCString { name in
            unsafe endpoint.withCString { address in
                unsafe shim_dealer_new(
                    name, identity.utf8.count, address, MasterSocket.limits.messages,
                    MasterSocket.limits.frameBytes, MasterSocket.limits.linger)
            }
        }
        guard let raw = unsafe raw else {
            throw SystemError(call: "zmq_connect \(endpoint)", code: zmq_errno())
        }
        unsafe self.raw = raw
    }

    deinit { unsafe shim_dealer_free(self.raw) }

    var descriptor: Int32 { unsafe shim_dealer_descriptor(self.raw) }

    var isReadable: Bool { unsafe shim_dealer_is_readable(self.raw) != 0 }

    func send(_ bytes: [UInt8]) -> Bool {
        unsafe bytes.withUnsafeBytes { unsafe shim_dealer_send(self.raw, $0.baseAddress, $0.count) } == 0
    }

    /// Nil where there is no message.
    func receive() -> [UInt8]? {
        var frame = shim_frame()
        // The bytes of a short message are inside of the frame, so that it must not move until they are copied.
        return unsafe withUnsafeMutablePointer(to: &frame) { frame in
            guard unsafe shim_dealer_receive(self.raw, frame) == 0 else { return nil }
            defer { unsafe shim_frame_close(frame) }
            guard let start = unsafe shim_frame_bytes(frame) else { return [] }
            return unsafe Array(UnsafeRawBufferPointer(start: start, count: shim_frame_count(frame)))
        }
    }
}

extension MasterSocket {
    fileprivate static var limits: (messages: Int32, frameBytes: Int64, linger: Int32) {
        (Self.messagesMax, Self.frameBytesMax, Self.linger)
    }
}
