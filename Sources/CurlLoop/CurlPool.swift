package import EventLoop
package import SimBase

/// Where a pool's requests go, and how.
package struct CurlTarget: Sendable {
    package enum Version: Sendable {
        case http1
        /// HTTP/2 by ALPN over TLS, else HTTP/1.1.
        case http2
    }

    /// The URL's host, as the URL spells it.
    package var host: String
    package var port: UInt16
    /// Numeric addresses of the host (see `Resolver`), tried in order; `--resolve` puts its own here.
    package var addresses: [String]
    /// A PEM file of certificate authorities, or nil for the system's. Verification is always on.
    package var certificateAuthorities: String?
    package var version: Version
    package var connectTimeout: Interval
    /// Numeric source addresses, taken in turn by phone number; empty leaves the choice to the system.
    package var sourceAddresses: [String]

    package init(
        host: String, port: UInt16, addresses: [String], certificateAuthorities: String?, version: Version,
        connectTimeout: Interval, sourceAddresses: [String]
    ) {
        self.host = host
        self.port = port
        self.addresses = addresses
        self.certificateAuthorities = certificateAuthorities
        self.version = version
        self.connectTimeout = connectTimeout
        self.sourceAddresses = sourceAddresses
    }
}

/// How a phone's connections are closed.
package enum HangUp: Sendable {
    case fin
    case reset
}

/// Counters of a pool since its beginning.
package struct CurlPoolCounts: Hashable, Sendable {
    package var transfersStarted = 0
    package var socketsOpened = 0
    package var socketsOpenNow = 0
    package var socketsParkedNow = 0
    /// Opening refused by the system for lack of descriptors.
    package var descriptorsExhausted = 0
    /// Silent resends refused.
    package var resendsRefused = 0
    /// Connections that could not be parked for lack of descriptors and said goodbye after all.
    package var parkingFailed = 0
}

/// HTTP exchanges of many phones on one loop, by libcurl; each phone with connections of its own.
package final class CurlPool {
    /// Phones that share one multi handle: libcurl scans its connections on every request.
    package static let phonesPerMultiMax = 300

    package weak var delegate: (any TransferDelegate)?

    /// `phones` are numbered from 0.
    package init(loop: Loop, target: CurlTarget, phones: Int) {
        preconditionFailure("not built yet")
    }

    package var counts: CurlPoolCounts { CurlPoolCounts() }

    /// Begins an exchange; the delegate hears of it, never before this returns.
    package func start(_ request: TransferRequest) -> TransferID { preconditionFailure("not built yet") }

    /// Ends an exchange at once and closes its connection (FIN). The delegate hears nothing more of it. Nothing
    /// happens when it is over already.
    package func cancel(_ transfer: TransferID) {}

    /// Abandons all of a phone's exchanges and takes its connections away from libcurl without a word to the peer:
    /// they stay open and unread until `unpark`. The delegate hears nothing of it. The phone may start new exchanges.
    package func park(phone: Int) {}

    /// Closes a phone's parked connections with RST.
    package func unpark(phone: Int) {}

    /// Abandons all of a phone's exchanges and closes its connections, idle ones too.
    package func hangUp(phone: Int, by how: HangUp) {}
}
