package import SimBase
package import Talaria

/// What was done to a run while it ran, by its operator or by the rollout of its scenario. It belongs to no phone: the device of such an observation is
/// meaningless.
package enum ControlObservation: Hashable, Sendable {
    /// The run was ended, as by Ctrl-C.
    case stopped
    /// Arrivals are held back from here on.
    case paused
    case resumed
    /// From here on, `active` of the phones of a group capture.
    case phones(group: String, active: Int, phones: Int)
    /// The fault of the scenario with this index was started at once, on the phones that it has in the scenario.
    case fault(Int)
    /// All phones lost their path for some time.
    case offline(for: Interval)
    /// A stage of the rollout began, by its number from 1: from here on the new arm has this share of the phones.
    case rolloutStage(Int, share: Odds)
    /// A trigger held: from here on all phones have the old arm. `value`, `limit`: of the measure of the new arm; at most 100 %.
    case rolledBack(RolloutMeasure, value: Odds, limit: Odds)

    /// Whether the operator did it.
    package var isByOperator: Bool {
        switch self {
        case .stopped, .paused, .resumed, .phones, .fault, .offline: true
        case .rolloutStage, .rolledBack: false
        }
    }
}

extension ControlObservation: DescribedObservation {
    static var side: Side { .control }

    static let byName = named([
        stopped, paused, resumed, blank(phones), blank(fault), blank(offline), blank(rolloutStage),
        blank(rolledBack),
    ])

    func coded(by codec: inout some FieldCodec & ~Copyable) throws(MalformedObservation) -> Self? {
        switch self {
        case .stopped: codec.row("stopped", self)
        case .paused: codec.row("paused", self)
        case .resumed: codec.row("resumed", self)
        case .phones(let group, let active, let phones):
            try codec.row("phones", Self.phones, "group", "active", "phones", of: group, active, phones)
        case .fault(let fault):
            try codec.row("fault", { .fault($0.raw) }, "fault", of: FaultIndex(raw: fault))
        case .offline(let time): try codec.row("offline", Self.offline, "for_ns", of: time)
        case .rolloutStage(let number, let share):
            try codec.row("rollout-stage", Self.rolloutStage, "number", "share_ppm", of: number, share)
        case .rolledBack(let measure, let value, let limit):
            try codec.row(
                "rolled-back", Self.rolledBack, "measure", "value_ppm", "limit_ppm", of: measure, value, limit
            )
        }
    }
}
