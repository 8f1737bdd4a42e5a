import CurlLoop
import EventLoop
import SimBase

/// What a transfer was seen to do.
enum Seen: Equatable {
    case head(Int)
    case body(String)
    case complete
    case failed(TransportFailure)
}

/// A loop, a server on it and a pool that talks to it; it is the pool's delegate too.
final class Bench: TransferDelegate {
    let loop: Loop
    let server: TestServer
    var pool: CurlPool
    private(set) var seen: [TransferID: [Seen]] = [:]
    private(set) var heads: [TransferID: ResponseHead] = [:]
    private(set) var ends: [TransferID: TransferEnd] = [:]
    /// What waited each time that libcurl had taken of a streamed body.
    private(set) var left: [TransferID: [Int]] = [:]
    /// Called after each event was noted.
    var then: (TransferID, Seen) -> Void = { _, _ in }

    init(phones: Int, connectTimeout: Interval = .seconds(10), sources: [String] = []) throws {
        self.loop = try Loop(clock: .startingNow())
        self.server = try TestServer(loop: self.loop)
        self.pool = CurlPool(
            loop: self.loop,
            target: CurlTarget(
                port: self.server.port, addresses: ["127.0.0.1"], certificateAuthorities: nil,
                version: .http1,
                connectTimeout: connectTimeout, sourceAddresses: sources),
            phones: phones)
        self.pool.delegate = self
    }

    func request(
        _ phone: Int, _ method: TransferRequest.Method = .get, _ path: String = "/",
        headers: [HeaderField] = [],
        body: TransferRequest.Body = .none, receiveBuffer: TransferRequest.ReceiveBuffer = .reply,
        connectPort: UInt16? = nil
    ) -> TransferRequest {
        TransferRequest(
            phone: phone, method: method, url: "http://talaria.test:\(self.server.port)\(path)",
            headers: headers,
            body: body, receiveBuffer: receiveBuffer, connectPort: connectPort)
    }

    func get(_ phone: Int, _ path: String = "/") -> TransferID {
        self.pool.start(self.request(phone, .get, path))
    }

    /// Runs until all of these are over.
    func finish(_ transfers: TransferID...) -> Bool {
        self.run(until: { transfers.allSatisfy { self.ends[$0] != nil } })
    }

    /// Runs until `condition` holds, ten seconds at most.
    func run(until condition: () -> Bool) -> Bool {
        let deadline = self.loop.now() + .seconds(10)
        let tick = LoopTimer(loop: self.loop) { _ in }
        while !condition() {
            guard self.loop.now() < deadline else { return false }
            tick.arm(after: .milliseconds(5))
            self.loop.runOnce()
        }
        return true
    }

    /// Lets things happen that should not.
    func settle() {
        let end = self.loop.now() + .milliseconds(60)
        _ = self.run(until: { self.loop.now() >= end })
    }

    func transfer(_ transfer: TransferID, of phone: Int, replied head: ResponseHead, at moment: Instant) {
        self.heads[transfer] = head
        self.note(transfer, .head(head.status))
    }

    func transfer(_ transfer: TransferID, of phone: Int, received bytes: [UInt8], at moment: Instant) {
        self.note(transfer, .body(String(decoding: bytes, as: UTF8.self)))
    }

    func transfer(_ transfer: TransferID, of phone: Int, bodyLeft bytes: Int, at moment: Instant) {
        self.left[transfer, default: []].append(bytes)
    }

    func transfer(_ transfer: TransferID, of phone: Int, ended end: TransferEnd, at moment: Instant) {
        self.ends[transfer] = end
        self.note(transfer, end.failure.map { .failed($0.kind) } ?? .complete)
    }

    private func note(_ transfer: TransferID, _ what: Seen) {
        self.seen[transfer, default: []].append(what)
        self.then(transfer, what)
    }
}
