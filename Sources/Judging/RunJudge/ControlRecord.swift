import Metrics
package import Observations
package import SimBase
import Talaria

/// What was done to a run while it ran, and when.
package struct ControlRecord: Hashable, Sendable {
    /// The limit of records that are kept. The log has all of them.
    package static let recordsMax = 1_000

    package var at: Instant
    package var action: ControlObservation
    /// The id of the fault that was started; nil for every other action.
    package var fault: String?

    package init(at: Instant, action: ControlObservation, fault: String? = nil) {
        self.at = at
        self.action = action
        self.fault = fault
    }

    /// `faults`: the ids of those of the scenario.
    package init(at: Instant, action: ControlObservation, faults: [String]) {
        self.init(at: at, action: action)
        if case .fault(let index) = action, faults.indices.contains(index) { self.fault = faults[index] }
    }

    /// The name of the action, as in the log.
    package var name: String {
        switch self.action {
        case .stopped: "stopped"
        case .paused: "paused"
        case .resumed: "resumed"
        case .phones: "phones"
        case .fault: "fault"
        case .offline: "offline"
        case .rolloutStage: "rollout-stage"
        case .rolledBack: "rolled-back"
        }
    }

    /// The action in a few words.
    package var text: String {
        switch self.action {
        case .stopped: "run stopped"
        case .paused: "arrivals paused"
        case .resumed: "arrivals resumed"
        case .phones(let group, let active, let phones): "\(active) of \(phones) phones of \(group) active"
        case .fault(let index): "fault \(self.fault ?? "#\(index)") started"
        case .offline(let time): "all phones offline for \(time.nanoseconds / 1_000_000_000) s"
        case .rolloutStage(let number, let share): "stage \(number) of the rollout: \(Self.text(share))"
        case .rolledBack(let measure, let value, let limit):
            "rolled back: \(measure.rawValue) of the new arm \(Self.text(value)), limit \(Self.text(limit))"
        }
    }

    private static func text(_ share: Odds) -> String {
        Threshold.share(perMillion: Int64(share.perMillion)).description
    }
}

extension RunResult {
    /// Whether the operator held load back.
    package var isHeldBack: Bool { self.heldBack > 0 || self.heldTime != .zero }
}
