internal import Faults
import Observations
package import OriginServer
package import SimBase
package import Talaria
package import TargetTrial

/// The configuration of the fault gateway.
package struct GatewayConfiguration: Hashable, Sendable {
    /// The path under which the upstream has the contract's paths, without a slash at its end.
    package var basePath: String
    /// The maximum time from the last byte of a request to the head of the upstream's response.
    package var replyTime: Interval
    /// Milliseconds since 1970 at `Instant.zero`.
    package var wallClockAtZero: Int64
    /// Whether clients use https, as absolute links then say.
    package var isSecure = false
    /// Paths of the upstream that are none of the contract.
    package var paths = PathMap()
    /// What the upstream is held to; nil if it is not judged.
    package var trial: TrialRules?

    package init(basePath: String, replyTime: Interval, wallClockAtZero: Int64) {
        self.basePath = basePath
        self.replyTime = replyTime
        self.wallClockAtZero = wallClockAtZero
    }
}

/// The fault gateway in front of a foreign backend: it applies faults to forwarded data as the simulated
/// backend does to its own. A value that receives events with their time and returns effects.
///
/// Data that no fault affects passes byte for byte, as it arrives. Only data that must be read completely to
/// be rewritten is held: one event, the response to an upload, and results whose books a fault has degraded.
package struct Gateway: Sendable {
    /// An answer that must be rewritten may have so many bytes.
    static let heldBytesMax = 8 << 20
    /// An event or a message of more bytes passes unread.
    static let eventBytesMax = 4 << 20

    let configuration: GatewayConfiguration
    let random: KeyedRandom
    var now = Instant.zero
    var relays = SlotMap<ExchangeID, Relay>()
    var streams = SlotMap<ExchangeID, ProxiedStream>()
    var jobs = RelayedJobs()
    var faults: ServerFaults
    var deadlines = EventHeap<Deadline>()
    /// Sees what the upstream sends before a fault has changed it.
    var trial: TargetTrial?

    enum Deadline: Hashable, Sendable {
        case replyDeadline(ExchangeID)
        case fault(ExchangeID)
        case heldPiece(ExchangeID)
    }

    package init(configuration: GatewayConfiguration, random: KeyedRandom) {
        self.configuration = configuration
        self.random = random
        self.trial = configuration.trial.map { TargetTrial($0) }
        self.faults = ServerFaults(wallClockAtZero: configuration.wallClockAtZero)
    }

    /// Handles an event.
    ///
    /// - Returns: `nextWake`.
    @discardableResult package mutating func handle(
        _ event: OriginEvent, at moment: Instant, into effects: inout [OriginEffect]
    ) -> Instant? {
        self.now = max(self.now, moment)
        while let due = self.deadlines.popDue(at: self.now) { self.expired(due.element, into: &effects) }
        self.tryTarget(event, into: &effects)
        switch event {
        case .requested(let id, let request, let caller, let connection, let faults):
            self.requested(id, request, caller, connection, faults, into: &effects)
        case .forwarded(let id): self.forwarded(id)
        case .upstreamReplied(let id, let head): self.replied(id, head, into: &effects)
        case .upstreamReceived(let id, let bytes): self.received(id, bytes, into: &effects)
        case .upstreamEnded(let id, nil): self.completed(id, into: &effects)
        case .upstreamEnded(let id, let failure?): self.failed(id, failure, into: &effects)
        case .aborted(let id): self.aborted(id, into: &effects)
        case .uploaded, .uploadFailed: break  // Bodies pass; the gateway never asks for one.
        case .received(let id, let bytes): self.clientSent(id, bytes, into: &effects)
        case .changed, .woke: break  // The jobs are those of the upstream.
        }
        self.probeTarget(into: &effects)
        return self.nextWake
    }

    private mutating func expired(_ deadline: Deadline, into effects: inout [OriginEffect]) {
        switch deadline {
        case .replyDeadline(let id):
            guard case .asked(let due?)? = self.relays[id]?.phase, due <= self.now else { return }
            effects.append(.releaseUpstream(id))
            self.failed(id, .transport(.timedOut), into: &effects)
        case .fault(let id):
            if let alarm = self.faults.alarmPassed(of: id, at: self.now) {
                self.deadlines.insert(.fault(id), at: alarm)
            }
            self.applyFaults(of: id, into: &effects)
        case .heldPiece(let id): self.sendHeld(id, into: &effects)
        }
    }

    // MARK: Queries

    package var nextWake: Instant? {
        guard let probe = self.trial?.nextProbe else { return self.deadlines.nextAt }
        return self.deadlines.nextAt.map { min($0, probe) } ?? probe
    }
    package var streamsOpen: Int { self.streams.count }

    var timestamp: String {
        Timestamp.iso8601(
            unixMilliseconds: self.configuration.wallClockAtZero
                + (self.now - Instant.zero).wholeMilliseconds)
    }

    func metadata(_ exchange: ExchangeID) -> Metadata {
        Metadata(timestamp: self.timestamp, requestId: self.random.requestID(of: exchange))
    }

    func payload(_ whose: Caller, _ what: BackendObservation) -> OriginEffect {
        .observe(
            Observation(at: self.now, device: whose.device, scan: whose.scan, what: .backend(what)))
    }
}

/// One request that is not an open stream, and the state of its response (Docs/machines/gateway.md).
struct Relay: Sendable {
    enum Phase: Hashable, Sendable {
        /// The upstream has not answered. The deadline is nil until it has the request.
        case asked(deadline: Instant?)
        /// Its answer passes as it comes.
        case passing
        /// Its answer was 101: what both sides send passes as it comes.
        case switched
        /// Only so many bytes more of its answer pass.
        case cutting(left: Int)
        /// Its answer is read whole.
        case holding(UpstreamHead, Rewriting)
    }

    /// The change of a response that is read completely.
    enum Rewriting: Hashable, Sendable {
        case accepted
        case truncated(draw: UInt64)
        /// Books that a fault of the job has degraded, and the order that a fault of the answer gives them.
        case books(Degradation?, order: ArmedFault?)
        /// The status of a job that has failed for the phones, and not at the upstream.
        case failed
    }

    /// Nil for a request of no operation of a journey.
    let context: RequestContext?
    let jobID: String?
    let authority: String?
    /// It decides the form of an error instead of the answer.
    let version: APIVersion
    var phase = Phase.asked(deadline: nil)
    /// The bytes of a response that is read completely. Stored outside the phase, so that they are changed in
    /// place.
    var held: [UInt8] = []
}
