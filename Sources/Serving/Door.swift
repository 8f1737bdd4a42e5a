package import Backend
package import Faults
package import SimBase
package import Talaria

// The door of the server: events come in, effects go out, nothing else (STYLE.md rule 2). The driver owns sockets, or what
// stands for them; `Server` owns every decision about the bytes on them.

/// One connection of a server, as long as it lives.
package struct ConnectionID: Hashable, Sendable {
    /// Unique within a run, from 1: what observations call it.
    package let serial: UInt64
    /// Its place among those that are open; used again when it is over.
    package let slot: UInt32

    init(serial: UInt64, slot: UInt32) {
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
}

/// What a simulated Talaria is made of, wherever it is served.
package struct ServingSetup: Sendable {
    package var backend: BackendConfiguration
    package var shelf: Shelf
    package var random: KeyedRandom
    /// Nil leaves out the whole layer of faults: an empty list must come to the same.
    package var faults: [FaultSpec]?
    package var links: FleetLinks
    /// The monotonic clock of the machine at `Instant.zero`, nanoseconds: the stamps of events are written by it.
    package var clockZero: Int64
    /// What `GET /_sim/nonce` answers, so that a caller can know that it speaks to the server it started; nil where nobody
    /// has to ask.
    package var nonce: String?

    package init(
        backend: BackendConfiguration, shelf: Shelf, random: KeyedRandom, faults: [FaultSpec]?,
        links: FleetLinks, clockZero: Int64, nonce: String?
    ) {
        self.backend = backend
        self.shelf = shelf
        self.random = random
        self.faults = faults
        self.links = links
        self.clockZero = clockZero
        self.nonce = nonce
    }
}
