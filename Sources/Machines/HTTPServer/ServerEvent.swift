package import OriginServer

/// One connection of a server, as long as it lives.
package struct ConnectionID: Hashable, Sendable {
    /// Unique within a run, from 1: what observations call it.
    package let serial: UInt64
    /// Its index among those that are open; reused when it is over.
    package let slot: UInt32
}

/// An event of an HTTP server (Docs/style.md rule 2). The driver owns sockets; the server decides about their bytes.
/// Events of a connection that is over are late and change nothing.
package enum ServerEvent: Sendable {
    /// Bytes were read. The buffer is the driver's and is not kept.
    case received(ConnectionID, ArraySlice<UInt8>)
    /// The number of bytes that were read of a body whose content does not matter: part of a photo.
    case receivedFiller(ConnectionID, bytes: Int)
    /// The peer said its last word (FIN).
    case ended(ConnectionID)
    /// The connection is dead: reset, or given up by the driver.
    case gone(ConnectionID)
    /// The cut that was requested has been made.
    case cutDone(ConnectionID)
    /// The number of bytes that the peer has not taken yet. Sent only where a slow peer holds up somebody else.
    case backlog(ConnectionID, bytes: Int)
    /// An event of the foreign backend behind a gateway.
    case upstream(UpstreamEvent)
    /// The time that `nextWake` requested has come, or another.
    case woke
}

/// An event of the connections to a foreign backend.
package enum UpstreamEvent: Sendable {
    case replied(ExchangeID, UpstreamHead)
    case received(ExchangeID, [UInt8])
    /// The answer is complete, or never will be.
    case ended(ExchangeID, UpstreamFailure?)
    /// The number of bytes of a request's body that the upstream has not taken yet.
    case bodyLeft(ExchangeID, Int)
}
