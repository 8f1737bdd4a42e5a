package import Faults
package import SimBase
package import Talaria

/// A change of a job that a fault of the server causes. The simulated backend changes the job itself; the gateway changes
/// what phones see of it.
package enum JobChange: Hashable, Sendable {
    /// The token becomes invalid, and the open streams end.
    case revokeToken
    /// The job is removed without an end. From then on, requests get this status, 404 or 410.
    case remove(status: Int)
    /// The job ends with an `error` event.
    case fail(code: String, retryable: Bool)
    /// The events of this stage, and all after them, come later.
    case slow(ScanPhase, by: Interval)
    /// The event buffer is lost: only a terminal event without its books can be replayed.
    case loseEvents

    /// The change that a fault of an open stream causes as soon as its trigger is reached; nil for a fault that changes
    /// what is written.
    init?(_ fault: ArmedFault) {
        switch fault.kind {
        case .expireToken: self = .revokeToken
        case .jobGone(let status): self = .remove(status: status)
        case .retryableError(let code): self = .fail(code: code, retryable: true)
        case .finalError(let code): self = .fail(code: code, retryable: false)
        case .slowStage(let stage, let by): self = .slow(stage, by: Self.draw(from: by, fault.draw))
        case .forgetEvents: self = .loseEvents
        case .rateLimit, .httpError, .stripBooks, .truncateResults, .reorderResults, .degraded,
            .unknownEvent, .badJSON, .eventShape, .latePing, .noPing, .twoTerminals, .endWithoutTerminal,
            .ignoreLastEventID, .socketClose, .socketFrames, .reset,
            .close, .endCleanly, .silence, .slice, .delay, .bandwidth, .loss, .refuse, .phone:
            return nil
        }
    }

    private static func draw(from range: ClosedRange<Interval>, _ draw: UInt64) -> Interval {
        let least = min(max(.zero, range.lowerBound), OriginLimits.intervalMax)
        let most = min(max(least, range.upperBound), OriginLimits.intervalMax)
        let width = UInt64((most - least).nanoseconds) + 1
        return least + Interval(nanoseconds: Int64(draw.multipliedFullWidth(by: width).high))
    }

    /// What the `error` event of a job that has failed says.
    package static func failure(
        job: String, code: String, retryable: Bool, payload: Journey.Payload = .photos
    ) -> ErrorData {
        let what =
            switch payload {
            case .photos: "photo"
            case .json: "batch"
            case .file: "file"
            }
        return ErrorData(
            jobId: job, code: code,
            message: retryable ? "The \(what) could not be read just now." : "The \(what) cannot be used.",
            retryable: retryable)
    }
}
