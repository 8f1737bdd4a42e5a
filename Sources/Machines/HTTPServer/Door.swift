package import Backend
package import Faults
package import Gateway
package import OriginServer
package import SimBase
package import Talaria
package import Wire

// The door of the server: events come in, effects go out, nothing else (Docs/style.md rule 2). The driver
// owns sockets, or what stands for them; `Server` owns every decision about the bytes on them.

/// One connection of a server, as long as it lives.
package struct ConnectionID: Hashable, Sendable {
    /// Unique within a run, from 1: what observations call it.
    package let serial: UInt64
    /// Its place among those that are open; used again when it is over.
    package let slot: UInt32

    package init(serial: UInt64, slot: UInt32) {
        self.serial = serial
        self.slot = slot
    }
}

/// What happens to a server. Events of a connection that is over are late and change nothing.
package enum ServerEvent: Sendable {
    /// Bytes were read. The buffer is the driver's and is not kept.
    case received(ConnectionID, ArraySlice<UInt8>)
    /// So many bytes of a body were read whose content does not matter: part of a photo.
    case receivedFiller(ConnectionID, bytes: Int)
    /// The peer said its last word (FIN).
    case ended(ConnectionID)
    /// The connection is dead: reset, or given up by the driver.
    case gone(ConnectionID)
    /// The cut that was asked for has been made.
    case cutDone(ConnectionID)
    /// So many bytes wait for the peer to take them. Told only where somebody can be held up by it.
    case backlog(ConnectionID, bytes: Int)
    /// What comes from the foreign backend behind a gateway.
    case upstream(UpstreamEvent)
    /// The moment that `nextWake` asked for has come, or another.
    case woke
}

/// What a server wants done.
package enum ServerEffect: Sendable {
    /// These bytes have come through the link: the peer gets them.
    case send(ConnectionID, [UInt8])
    /// The same, in a segment of their own.
    case sendApart(ConnectionID, [UInt8])
    /// FIN after everything before. The connection is out of the server's hands: what still comes is thrown away.
    case finish(ConnectionID)
    /// The connection ends here by a fault, after everything before; answered with `.cutDone`. After a silence it is not
    /// out of the server's hands: `.gone` tells when its peer has given up.
    case cut(ConnectionID, CutEnding)
    /// Whether the connection is to be read. It is at first.
    case read(ConnectionID, Bool)
    case observe(Observation)
    /// Of a gateway only.
    indirect case upstream(UpstreamEffect)
    /// A request is over. Only where somebody looks on (`ServingSetup.tellsRequests`).
    indirect case served(ServedRequest)

    /// What stands where an effect was taken from.
    package static var nothing: ServerEffect { .read(ConnectionID(serial: 0, slot: 0), true) }
}

/// One request and what became of it, for people who look on.
package struct ServedRequest: Sendable {
    package var began: Instant
    package var took = Interval.zero
    package var method: String
    /// Without its query, which may hold a token.
    package var path: String
    /// Nil: it never got an answer.
    package var status: Int?
    /// The `X-Device-ID` that it came with.
    package var deviceID: String?
    package var scan: ScanNumber
    /// What it met, by their places in the scenario's list.
    package var faults: [Int] = []
}

/// What the way to a foreign backend tells.
package enum UpstreamEvent: Sendable {
    case replied(ExchangeID, UpstreamHead)
    case received(ExchangeID, [UInt8])
    /// The answer is complete, or never will be.
    case ended(ExchangeID, UpstreamFailure?)
    /// So many bytes of a request's body wait for the upstream to take them.
    case bodyLeft(ExchangeID, Int)
}

/// What is wanted of the way to a foreign backend.
package enum UpstreamEffect: Sendable {
    case forward(ExchangeID, ForwardedRequest)
    /// More of its body.
    case feed(ExchangeID, [UInt8])
    /// The request is complete.
    case endBody(ExchangeID)
    /// Nothing more of the answer is taken for now, or it is again.
    case setPaused(ExchangeID, Bool)
    /// Nothing more is wanted of it.
    case release(ExchangeID)
    /// A phone's connection is over, and so are those that were made to the upstream for it.
    case hangUp(slot: UInt32)
    /// The upstream failed, for the log.
    case failed(ExchangeID, UpstreamFailure)
}

/// A request on its way to a foreign backend.
package struct ForwardedRequest: Sendable {
    package var head: RequestHead
    package var resume: ResumePoint
    /// The place of the phone's connection among those that are open.
    package var slot: UInt32
    /// All of it is there.
    package var isComplete: Bool
    /// An answer that comes before the end of the request is kept back until then, unless it is a 413.
    package var isWorthDraining: Bool
}

/// Who answers.
package enum OriginSetup: Sendable {
    case simulated(BackendConfiguration, Shelf)
    /// A foreign backend, behind the fault gateway.
    case upstream(GatewayConfiguration)
    /// A recording that is played again. `wallClockAtZero`: milliseconds since 1970 at `Instant.zero`.
    case recorded(Recording, wallClockAtZero: Int64)
}

/// What a server is made of, wherever it serves.
package struct ServingSetup: Sendable {
    package var origin: OriginSetup
    package var random: KeyedRandom
    /// Nil leaves out the whole layer of faults: an empty list must come to the same.
    package var faults: [FaultSpec]?
    package var links: FleetLinks
    /// The monotonic clock of the machine at `Instant.zero`, nanoseconds: the stamps of events are written by it.
    package var clockZero: Int64
    /// What `GET /_sim/nonce` answers, so that a caller can know that it speaks to the server it started; nil where nobody
    /// has to ask.
    package var nonce: String?
    /// Every request is told when it is over.
    package var tellsRequests = false
    /// `GET /_sim` says what the server is doing.
    package var showsStatus = false
    /// What keeps pages of other sites out; nil where nobody but phones of this program can come.
    package var crossSite: CrossSiteGuard?
    /// For pages in a browser: `?token=` where `Authorization` cannot be sent (Docs/contract.md section 7,
    /// C13), and answers that a page of another origin may read.
    package var isForBrowsers = false

    package init(
        origin: OriginSetup, random: KeyedRandom, faults: [FaultSpec]?, links: FleetLinks,
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
