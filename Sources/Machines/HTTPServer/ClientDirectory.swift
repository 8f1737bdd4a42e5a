import Backend
import Observations
import OriginServer
import SimBase
import Talaria
import Wire

/// The identification of callers: by `traceparent` if the caller is one of our phones, otherwise by a hash of
/// the device id and the number of its uploads, so that faults and books of a foreign client are functions of
/// its identity.
struct ClientDirectory: Sendable {
    /// Foreign clients that are remembered; beyond it their counts start over.
    private static let foreignersMax = 10_000

    private struct ExternalClient: Sendable {
        var uploads: UInt32 = 0
        var requests: UInt32 = 0
    }

    private var foreigners: [UInt64: ExternalClient] = [:]
    /// The owner of each job, for requests that name a job but no caller.
    private var owners: [String: (device: DeviceNumber, scan: ScanNumber)] = [:]
    /// Jobs that were cleaned up or canceled, in a ring: somebody may still request them.
    private var gone: [String] = []
    private var goneNext = 0
    private static let goneMax = 1_024

    mutating func caller(
        of head: RequestHead, trace: TraceContext?, operation: Operation?, jobId: String?
    ) -> Caller {
        if let trace { return Caller(device: trace.device, scan: trace.scan, attempt: trace.attempt) }
        let hash = Digest.of(head.headers[HeaderName.deviceID] ?? "")
        if self.foreigners.count >= Self.foreignersMax { self.foreigners.removeAll() }
        var foreigner = self.foreigners[hash] ?? ExternalClient()
        defer { self.foreigners[hash] = foreigner }
        foreigner.requests &+= 1
        if operation == .upload { foreigner.uploads &+= 1 }
        if let owner = jobId.flatMap({ self.owners[$0] }) {
            return Caller(device: owner.device, scan: owner.scan, attempt: foreigner.requests)
        }
        return Caller(
            device: Caller.foreigner(hash),
            scan: operation == .upload ? ScanNumber(foreigner.uploads) : .none,
            attempt: operation == .upload ? foreigner.uploads : foreigner.requests)
    }

    private mutating func forgetLater(_ job: String) {
        if self.gone.count < Self.goneMax {
            self.gone.append(job)
        } else {
            self.owners[self.gone[self.goneNext]] = nil
            self.gone[self.goneNext] = job
            self.goneNext = (self.goneNext + 1) % Self.goneMax
        }
    }

    /// Follows the jobs, to know their clients.
    mutating func record(_ observation: Observation) {
        self.record(observation.what, observation.device, observation.scan)
    }

    /// A function of the payload: a `switch` over a member of an observation copies the observation.
    private mutating func record(_ what: ObservationPayload, _ device: DeviceNumber, _ scan: ScanNumber) {
        guard case .backend(let payload) = what else { return }
        switch payload {
        case .accepted(let job, _): self.owners[job] = (device, scan)
        case .expired(let job), .vanished(let job): self.owners[job] = nil
        case .cleaned(let job, effective: true), .canceled(let job): self.forgetLater(job)
        case .connected, .requested, .answered, .photosReceived, .streamOpened, .eventWritten, .pingWritten,
            .streamEnded,
            .finished, .problem, .rowsTaken, .bookLookedUp, .textLookedUp, .failed, .tokenRevoked,
            .tokenExchanged,
            .resultsServed, .found,
            .circuitOpened, .circuitClosed, .upstreamFailed, .targetBroke, .targetTried, .targetProbed,
            .targetEvent,
            .cleaned(_, effective: false):
            break
        }
    }
}
