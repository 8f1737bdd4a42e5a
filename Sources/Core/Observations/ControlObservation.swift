package import SimBase

/// What the operator of a live run did to it while it ran. It belongs to no phone: the device of such an observation is
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
}

extension ControlObservation: DescribedObservation {
    static var side: Side { .control }

    static let byName = named([stopped, paused, resumed, blank(phones), blank(fault), blank(offline)])

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
        }
    }
}
