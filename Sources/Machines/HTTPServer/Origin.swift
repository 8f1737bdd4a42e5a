import Backend
import Gateway
import OriginServer
import SimBase
import Talaria

/// The origin server behind an HTTP server: one of three kinds, which receive the same events and return the same effects.
///
/// Optionals and no enum: an optional is changed in place, and a payload of an enum is moved out and back.
struct Origin: Sendable {
    private var backend: Backend?
    /// The way to a foreign backend.
    private var gateway: Gateway?
    private var player: RecordingPlayer?

    /// The differences that matter to a connection.
    struct Traits: Sendable {
        /// Bodies and answers pass as they come. Otherwise uploads are read as multipart, and answers are whole.
        let hasUpstream: Bool
        /// Events for phones of this program get a comment with the time at which they are passed to the
        /// link. For the event of a foreign backend that time would be read as the time of the backend.
        let stampsEvents: Bool
        /// The answers are not secret: pages of other sites may read them.
        let isPublic: Bool
        /// Paths that are none of the contract.
        var paths = PathMap()
    }

    init(_ setup: OriginConfiguration, random: KeyedRandom) {
        switch setup {
        case .simulated(let configuration, let shelf):
            self.backend = Backend(configuration: configuration, shelf: shelf, random: random)
        case .upstream(let configuration):
            self.gateway = Gateway(configuration: configuration, random: random)
        case .recorded(let recording, let wallClockAtZero):
            self.player = RecordingPlayer(recording, wallClockAtZero: wallClockAtZero)
        }
    }

    /// Continues with other draws, where it is simulated.
    mutating func redraw(_ random: KeyedRandom) { self.backend?.redraw(random) }

    /// Returns when the machine wants to be woken.
    mutating func handle(
        _ event: OriginEvent, at now: Instant, into effects: inout [OriginEffect]
    ) -> Instant? {
        if let wake = self.backend?.handle(event, at: now, into: &effects) { return wake }
        if let wake = self.gateway?.handle(event, at: now, into: &effects) { return wake }
        return self.player?.handle(event, at: now, into: &effects)
    }

    // MARK: Queries

    /// Jobs that are neither cleaned up nor expired.
    var jobsAlive: Int {
        self.backend?.jobsAlive ?? self.gateway?.jobsAlive ?? self.player?.jobsAlive ?? 0
    }

    /// Returns the newest jobs first, at most `count`.
    func summaries(max count: Int) -> [JobSummary] {
        self.backend?.summaries(max: count) ?? self.gateway?.summaries(max: count)
            ?? self.player?.summaries(max: count) ?? []
    }

    /// Reports the numbers that the origin keeps within limits. Only the simulated backend has any.
    func eachBound(_ look: (Bound) -> Void) { self.backend?.eachBound(look) }

    /// Whether a request shows a token that is not that of the job it requests. Only the simulated backend knows.
    func owner(ofToken authorization: String, target: String) -> TokenOwner {
        self.backend?.owner(ofToken: authorization, target: target) ?? .thisJob
    }

    /// The name on the status page.
    var name: String {
        self.backend != nil ? "simulated Talaria" : self.gateway != nil ? "fault gateway" : "recording"
    }
}

extension OriginConfiguration {
    var traits: Origin.Traits {
        switch self {
        case .simulated, .recorded: Origin.Traits(hasUpstream: false, stampsEvents: true, isPublic: true)
        case .upstream(let gateway):
            Origin.Traits(hasUpstream: true, stampsEvents: false, isPublic: false, paths: gateway.paths)
        }
    }
}
