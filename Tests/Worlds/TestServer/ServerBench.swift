package import CurlLoop
package import EventLoop
package import SimBase

/// What a transfer was seen to do.
package enum Seen: Equatable, Sendable {
    case head(Int)
    case body(String)
    case complete
    case failed(TransportFailure)
}

/// A loop with a server on it, a client that talks to it, and the client's delegate.
package final class ServerBench<Pool: AnyObject>: TransferDelegate {
    package lazy var pool = self.makePool(self)
    package let loop: Loop
    package let server: TestServer
    package private(set) var seen: [TransferID: [Seen]] = [:]
    package private(set) var heads: [TransferID: ResponseHead] = [:]
    package private(set) var ends: [TransferID: TransferEnd] = [:]
    /// What waited each time that libcurl had taken of a streamed body.
    package private(set) var left: [TransferID: [Int]] = [:]
    /// Called after each event was noted.
    package var then: (TransferID, Seen) -> Void = { _, _ in }

    private let makePool: (ServerBench) -> Pool
    /// Nil without TLS.
    private let certificate: TestCertificate?

    package init(isSecure: Bool, makePool: @escaping (ServerBench) -> Pool) throws {
        self.makePool = makePool
        self.loop = try Loop(clock: .startingNow())
        self.certificate = isSecure ? try TestCertificate() : nil
        self.server = try TestServer(loop: self.loop, tls: self.certificate?.context)
    }

    package func target(
        connectTimeout: Interval, addresses: [String] = ["127.0.0.1"], sources: [String] = []
    ) -> CurlTarget {
        CurlTarget(
            port: self.server.port, addresses: addresses,
            certificateAuthorities: self.certificate?.authority, version: .http1,
            connectTimeout: connectTimeout, sourceAddresses: sources)
    }

    package func request(
        _ phone: Int, _ method: TransferRequest.Method = .get, _ path: String = "/",
        headers: [HeaderField] = [],
        body: TransferRequest.Body = .none, receiveBuffer: TransferRequest.ReceiveBuffer = .reply,
        connectPort: UInt16? = nil
    ) -> TransferRequest {
        TransferRequest(
            phone: phone, method: method,
            url: "\(self.certificate == nil ? "http" : "https")://talaria.test:\(self.server.port)\(path)",
            headers: headers,
            body: body, receiveBuffer: receiveBuffer, connectPort: connectPort)
    }

    /// Runs until all of these are over.
    package func finish(_ transfers: TransferID...) -> Bool {
        self.run(until: { transfers.allSatisfy { self.ends[$0] != nil } })
    }

    /// Runs until `condition` holds, ten seconds at most.
    package func run(until condition: () -> Bool) -> Bool {
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
    package func settle() {
        let end = self.loop.now() + .milliseconds(60)
        _ = self.run(until: { self.loop.now() >= end })
    }

    package func transfer(
        _ transfer: TransferID, of phone: Int, replied head: ResponseHead, at moment: Instant
    ) {
        self.heads[transfer] = head
        self.note(transfer, .head(head.status))
    }

    package func transfer(
        _ transfer: TransferID, of phone: Int, received bytes: [UInt8], at moment: Instant
    ) {
        self.note(transfer, .body(String(decoding: bytes, as: UTF8.self)))
    }

    package func transfer(_ transfer: TransferID, of phone: Int, bodyLeft bytes: Int, at moment: Instant) {
        self.left[transfer, default: []].append(bytes)
    }

    package func transfer(_ transfer: TransferID, of phone: Int, ended end: TransferEnd, at moment: Instant) {
        self.ends[transfer] = end
        self.note(transfer, end.failure.map { .failed($0.kind) } ?? .complete)
    }

    private func note(_ transfer: TransferID, _ what: Seen) {
        self.seen[transfer, default: []].append(what)
        self.then(transfer, what)
    }
}
