import Backend
import Gateway
import OriginServer
import SimBase

/// The origin server behind an HTTP server. All three kinds receive the same events and return the same
/// effects.
enum Origin: Sendable {
    case simulated(Backend)
    /// The way to a foreign backend.
    case gateway(Gateway)
    case recorded(RecordingPlayer)

    /// The differences that matter to a connection.
    struct Traits: Sendable {
        /// Bodies and answers pass as they come. Otherwise uploads are read as multipart, and answers are whole.
        let hasUpstream: Bool
        /// Events for phones of this program get a comment with the time at which they are passed to the
        /// link. For the event of a foreign backend that time would be read as the time of the backend.
        let stampsEvents: Bool
        /// The answers are not secret: pages of other sites may read them.
        let isPublic: Bool
    }

    init(_ setup: OriginConfiguration, random: KeyedRandom) {
        self =
            switch setup {
            case .simulated(let configuration, let shelf):
                .simulated(Backend(configuration: configuration, shelf: shelf, random: random))
            case .upstream(let configuration): .gateway(Gateway(configuration: configuration, random: random))
            case .recorded(let recording, let wallClockAtZero):
                .recorded(RecordingPlayer(recording, wallClockAtZero: wallClockAtZero))
            }
    }

    /// Continues with other draws, where it is simulated.
    mutating func redraw(_ random: KeyedRandom) {
        guard case .simulated(var backend) = self else { return }
        backend.redraw(random)
        self = .simulated(backend)
    }

    /// Handles an event. The machine is moved out and back, so that its buffers are not copied.
    ///
    /// - Returns: When the machine wants to be woken.
    mutating func handle(
        _ event: OriginEvent, at now: Instant, into effects: inout [OriginEffect]
    ) -> Instant? {
        switch consume self {
        case .simulated(var backend):
            let wake = backend.handle(event, at: now, into: &effects)
            self = .simulated(backend)
            return wake
        case .gateway(var gateway):
            let wake = gateway.handle(event, at: now, into: &effects)
            self = .gateway(gateway)
            return wake
        case .recorded(var player):
            let wake = player.handle(event, at: now, into: &effects)
            self = .recorded(player)
            return wake
        }
    }

    // MARK: Queries

    /// Jobs that are neither cleaned up nor expired.
    var jobsAlive: Int {
        switch self {
        case .simulated(let backend): backend.jobsAlive
        case .gateway(let gateway): gateway.jobsAlive
        case .recorded(let player): player.jobsAlive
        }
    }

    /// Returns the newest jobs first, at most `count`.
    func summaries(max count: Int) -> [JobSummary] {
        switch self {
        case .simulated(let backend): backend.summaries(max: count)
        case .gateway(let gateway): gateway.summaries(max: count)
        case .recorded(let player): player.summaries(max: count)
        }
    }

    /// Reports the numbers that the origin keeps within limits.
    func eachBound(_ look: (Bound) -> Void) {
        switch self {
        case .simulated(let backend): backend.eachBound(look)
        case .gateway, .recorded: break
        }
    }

    /// Whether a request shows a token that is not that of the job it requests. Only the simulated backend knows.
    func isTokenOfOtherJob(authorization: String, target: String) -> Bool {
        switch self {
        case .simulated(let backend): backend.isTokenOfOtherJob(authorization: authorization, target: target)
        case .gateway, .recorded: false
        }
    }
}

extension OriginConfiguration {
    var traits: Origin.Traits {
        switch self {
        case .simulated, .recorded: Origin.Traits(hasUpstream: false, stampsEvents: true, isPublic: true)
        case .upstream: Origin.Traits(hasUpstream: true, stampsEvents: false, isPublic: false)
        }
    }
}

extension Origin {
    /// The name on the status page.
    var name: String {
        switch self {
        case .simulated: "simulated Talaria"
        case .gateway: "fault gateway"
        case .recorded: "recording"
        }
    }
}
