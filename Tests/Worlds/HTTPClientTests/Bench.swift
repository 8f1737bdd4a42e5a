import CurlLoop
import HTTPClient
import SimBase
import TestServer

/// A server, and a pool of either client that talks to it.
typealias Bench = ServerBench<ClientPool>

extension ServerBench<ClientPool> {
    convenience init(
        _ client: ClientPool.Client, phones: Int, connectTimeout: Interval = .seconds(10),
        sources: [String] = []
    ) throws {
        try self.init { bench in
            let pool = ClientPool(
                loop: bench.loop, target: bench.target(connectTimeout: connectTimeout, sources: sources),
                phones: phones, client: client)
            pool.delegate = bench
            return pool
        }
    }

    func get(_ phone: Int, _ path: String = "/") -> TransferID {
        self.pool.start(self.request(phone, .get, path))
    }
}
