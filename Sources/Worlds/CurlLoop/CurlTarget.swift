package import SimBase

/// The target of a pool's requests and its connection options.
package struct CurlTarget: Sendable {
    package enum Version: Sendable {
        case http1
        /// HTTP/2 by ALPN over TLS, else HTTP/1.1.
        case http2
    }

    /// The port that is connected to unless a request names another.
    package var port: UInt16
    /// Numeric addresses (see `Resolver`), tried in order; `--resolve` puts its own here. They are used whatever
    /// host a URL names, which still rules `Host`, SNI and the certificate check.
    package var addresses: [String]
    /// A PEM file of certificate authorities, or nil for the system's. Verification is always on.
    package var certificateAuthorities: String?
    package var version: Version
    package var connectTimeout: Interval
    /// Numeric source addresses, taken in turn by phone number; empty leaves the choice to the system.
    package var sourceAddresses: [String]

    package init(
        port: UInt16, addresses: [String], certificateAuthorities: String?, version: Version,
        connectTimeout: Interval, sourceAddresses: [String]
    ) {
        precondition(!addresses.isEmpty, "a target has an address")
        self.port = port
        self.addresses = addresses
        self.certificateAuthorities = certificateAuthorities
        self.version = version
        self.connectTimeout = connectTimeout
        self.sourceAddresses = sourceAddresses
    }
}

/// The way in which a phone's connections are closed.
package enum HangUp: Sendable {
    case fin
    case reset
}

/// Counters of a pool since its beginning, and gauges (`…Now`).
package struct CurlPoolCounts: Hashable, Sendable {
    package var transfersStarted = 0
    package var transfersRunningNow = 0
    package var socketsOpened = 0
    package var socketsOpenNow = 0
    package var socketsParkedNow = 0
    /// Opening refused by the system for lack of descriptors.
    package var descriptorsExhausted = 0
    /// Silent resends of libcurl that were refused.
    package var resendsRefused = 0
    /// Connections that could not be parked for lack of descriptors; idle ones among them say goodbye after all.
    package var parkingFailed = 0
    /// Bytes of the connections of streams, with their heads and TLS, while they were streams of the program's own client. libcurl
    /// counts none.
    package var streamBytesSent: Int64 = 0
    package var streamBytesReceived: Int64 = 0

    package init() {}

    /// Adds the counts of another pool.
    package mutating func add(_ other: CurlPoolCounts) {
        self.transfersStarted += other.transfersStarted
        self.transfersRunningNow += other.transfersRunningNow
        self.socketsOpened += other.socketsOpened
        self.socketsOpenNow += other.socketsOpenNow
        self.socketsParkedNow += other.socketsParkedNow
        self.descriptorsExhausted += other.descriptorsExhausted
        self.resendsRefused += other.resendsRefused
        self.parkingFailed += other.parkingFailed
        self.streamBytesSent += other.streamBytesSent
        self.streamBytesReceived += other.streamBytesReceived
    }
}
