package import Faults
package import Observations
package import OriginServer
package import SimBase
import Talaria
package import Wire

/// An effect of an HTTP server.
package enum ServerEffect: Sendable {
    /// Sends bytes that have passed the link to the peer.
    case send(ConnectionID, [UInt8])
    /// Like `send`, in a TCP segment of their own.
    case sendApart(ConnectionID, [UInt8])
    /// FIN after everything before. The connection is out of the server's hands: what still comes is thrown away.
    case finish(ConnectionID)
    /// The connection ends here by a fault, after everything before; answered with `.cutDone`. After a
    /// silence the server still owns it: `.gone` reports that its peer has given up.
    case cut(ConnectionID, CutEnding)
    /// Whether the connection is to be read. It is at first.
    case read(ConnectionID, Bool)
    case observe(Observation)
    /// An effect on a connection to the upstream; only a gateway has one.
    indirect case upstream(UpstreamEffect)
    /// A request is over. Only where somebody looks on (`HTTPServerConfiguration.reportsRequests`).
    indirect case served(ServedRequest)

    /// A placeholder for an effect that was taken out.
    package static var nothing: ServerEffect { .read(ConnectionID(serial: 0, slot: 0), true) }
}

/// One request and its outcome, for users who watch.
package struct ServedRequest: Sendable {
    package var began: Instant
    package var took = Interval.zero
    package var method: String
    /// The path without its query, which may contain a token.
    package var path: String
    /// Nil: it never got an answer.
    package var status: Int?
    /// The `X-Device-ID` that it came with.
    package var deviceID: String?
    /// The `Last-Event-ID` that it came with.
    package var lastEventID: String?
    package var scan: ScanNumber
    /// Of a path that is none of the contract, and that has been given an operation.
    package var isForeign = false
    /// The faults that affected it, by index in the scenario's list.
    package var faults: [Int] = []
}

/// An effect on the connections to a foreign backend.
package enum UpstreamEffect: Sendable {
    case forward(ExchangeID, ForwardedRequest)
    /// More of its body.
    case feed(ExchangeID, [UInt8])
    /// The request is complete.
    case endBody(ExchangeID)
    /// Pauses or resumes the response.
    case setPaused(ExchangeID, Bool)
    /// Releases the exchange.
    case release(ExchangeID)
    /// A phone's connection is over, and so are those that were made to the upstream for it.
    case hangUp(slot: UInt32)
    /// A request of the trial. Its outcome is reported like that of an exchange.
    case probe(ProbeOrder)
    /// The upstream failed, for the log.
    case failed(ExchangeID, UpstreamFailure)
}

/// A request on its way to a foreign backend.
package struct ForwardedRequest: Sendable {
    package var head: RequestHead
    package var resume: ResumePoint
    /// The index of the phone's connection among those that are open.
    package var slot: UInt32
    /// All of it is there.
    package var isComplete: Bool
    /// An answer that comes before the end of the request is kept back until then, unless it is a 413.
    package var isWorthDraining: Bool
}
