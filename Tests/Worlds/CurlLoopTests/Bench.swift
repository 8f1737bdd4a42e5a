import CurlLoop
import SimBase
import TestServer

/// A server and a pool that talks to it.
typealias Bench = ServerBench<CurlPool>

extension ServerBench<CurlPool> {
    convenience init(phones: Int) throws {
        try self.init(isSecure: false) { bench in
            let pool = CurlPool(
                loop: bench.loop, target: bench.target(connectTimeout: .seconds(10), sources: []),
                phones: phones)
            pool.delegate = bench
            return pool
        }
    }

    func get(_ phone: Int) -> TransferID { self.pool.start(self.request(phone)) }
}
