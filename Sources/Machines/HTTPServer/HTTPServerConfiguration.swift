package import Backend
package import Faults
package import Gateway
package import SimBase
package import Talaria
package import Wire

/// The origin server of an HTTP server.
package enum OriginConfiguration: Sendable {
    case simulated(BackendConfiguration, Shelf)
    /// A foreign backend, behind the fault gateway.
    case upstream(GatewayConfiguration)
    /// A recording that is played again. `wallClockAtZero`: milliseconds since 1970 at `Instant.zero`.
    case recorded(Recording, wallClockAtZero: Int64)
}

/// The configuration of an HTTP server.
package struct HTTPServerConfiguration: Sendable {
    package var origin: OriginConfiguration
    package var random: KeyedRandom
    /// Nil leaves out the whole layer of faults: an empty list must come to the same.
    package var faults: [FaultSpec]?
    package var links: FleetLinks
    /// The monotonic clock of the machine at `Instant.zero`, nanoseconds: the stamps of events are written by it.
    package var clockZero: Int64
    /// The response of `GET /_sim/nonce`, with which a caller verifies that it reached the server that it
    /// started; nil if no caller checks it.
    package var nonce: String?
    /// Whether every request is reported when it is over.
    package var reportsRequests = false
    /// Whether `GET /_sim` shows the state of the server.
    package var showsStatus = false
    /// The token of `POST /_sim/faults`; nil if there are no faults on demand.
    package var controlToken: String?
    /// Faults that are off until they are switched on by `POST /_sim/faults`, behind `faults` in the list.
    package var faultsOnDemand: [FaultSpec] = []
    /// The guard against pages of other sites; nil if only phones of this program can connect.
    package var crossSite: CrossSiteGuard?
    /// The trial of the clients; nil if they are not judged.
    package var clientWatch: ClientWatchConfiguration?
    /// Whether pages in a browser are supported: `?token=` if `Authorization` cannot be sent
    /// (Docs/contract.md section 7, C13), and responses that pages of other origins can read.
    package var isForBrowsers = false

    package init(
        origin: OriginConfiguration, random: KeyedRandom, faults: [FaultSpec]?, links: FleetLinks,
        clockZero: Int64, nonce: String?
    ) {
        self.origin = origin
        self.random = random
        self.faults = faults
        self.links = links
        self.clockZero = clockZero
        self.nonce = nonce
    }
}
