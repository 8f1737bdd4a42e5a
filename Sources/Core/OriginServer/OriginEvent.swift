package import Faults

/// An event of an origin server: the simulated backend, the fault gateway or a recording. Events go in, effects come out
/// (Docs/style.md rule 2). The HTTP server owns connections, links and cuts.
package enum OriginEvent: Sendable {
    /// A head has arrived.
    indirect case requested(ExchangeID, OriginRequest, Caller, connection: UInt64, faults: [ArmedFault])
    /// The body of an upload that `.readUpload` requested is complete.
    case uploaded(ExchangeID, [UploadPart])
    case uploadFailed(ExchangeID, UploadFault)
    /// Bytes of the peer behind a request that was answered with `openSocket`.
    case received(ExchangeID, [UInt8])
    /// A request that is forwarded has gone to the upstream to its last byte.
    case forwarded(ExchangeID)
    /// The head of the upstream's answer has arrived.
    case upstreamReplied(ExchangeID, UpstreamHead)
    /// A part of the body of the upstream's answer has arrived.
    case upstreamReceived(ExchangeID, [UInt8])
    /// The upstream's answer is complete, or it failed.
    case upstreamEnded(ExchangeID, UpstreamFailure?)
    /// The peer is gone, or a fault ended the exchange: nothing more can be written.
    case aborted(ExchangeID)
    /// Somebody who watches the server changes a job.
    case changed(job: String, JobChange)
    /// The time of `nextWake` has come; an earlier call does no harm.
    case woke

    /// The exchange that the event belongs to.
    package var exchange: ExchangeID? {
        switch self {
        case .requested(let id, _, _, _, _), .uploaded(let id, _), .uploadFailed(let id, _),
            .received(let id, _),
            .forwarded(let id), .upstreamReplied(let id, _), .upstreamReceived(let id, _),
            .upstreamEnded(let id, _), .aborted(let id):
            id
        case .changed, .woke: nil
        }
    }
}
