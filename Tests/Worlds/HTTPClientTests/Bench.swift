import CurlLoop
import HTTPClient
import SimBase
import TestServer

/// A server, and a pool of either client that talks to it.
typealias Bench = ServerBench<ClientPool>

/// Each client, without TLS and with it.
enum Way: CaseIterable {
    case own
    case libcurl
    case ownWithTLS
    case libcurlWithTLS

    static let withoutTLS: [Way] = [.own, .libcurl]
    static let withTLS: [Way] = [.ownWithTLS, .libcurlWithTLS]
    /// With TLS, libcurl does not tell an answer that it cannot read from the end of the connection, and it sends on a
    /// connection whose close_notify it has not read.
    static let exact: [Way] = [.own, .libcurl, .ownWithTLS]

    var client: ClientPool.Client {
        switch self {
        case .own, .ownWithTLS: .own
        case .libcurl, .libcurlWithTLS: .libcurl
        }
    }

    var isSecure: Bool {
        switch self {
        case .own, .libcurl: false
        case .ownWithTLS, .libcurlWithTLS: true
        }
    }
}

extension ServerBench<ClientPool> {
    convenience init(
        _ way: Way, phones: Int, connectTimeout: Interval = .seconds(10),
        addresses: [String] = ["127.0.0.1"], sources: [String] = []
    ) throws {
        try self.init(isSecure: way.isSecure) { bench in
            let target = bench.target(
                connectTimeout: connectTimeout, addresses: addresses, sources: sources)
            let pool = ClientPool(
                loop: bench.loop, target: target,
                phones: phones, client: way.client)
            pool.delegate = bench
            return pool
        }
    }

    func get(_ phone: Int, _ path: String = "/") -> TransferID {
        self.pool.start(self.request(phone, .get, path))
    }

    /// The upload of a photo, which either client leaves to libcurl.
    func upload(_ phone: Int, connectPort: UInt16? = nil) -> TransferID {
        let part = TransferRequest.Part(
            name: "photo", filename: "a.jpg", contentType: "image/jpeg",
            content: PhotoSource(head: [1], shared: SharedBytes([UInt8](repeating: 2, count: 1_000))))
        let id = self.pool.start(
            self.request(phone, .post, "/scan", body: .multipart([part]), connectPort: connectPort))
        self.pool.flushPending()
        return id
    }
}
