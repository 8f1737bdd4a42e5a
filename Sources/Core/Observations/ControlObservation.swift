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

extension ControlObservation {
    func write(to fields: inout some FieldWriter & ~Copyable) {
        switch self {
        case .stopped: fields.begin(.control, "stopped")
        case .paused: fields.begin(.control, "paused")
        case .resumed: fields.begin(.control, "resumed")
        case .phones(let group, let active, let phones):
            fields.begin(.control, "phones")
            fields.text("group", group)
            fields.number("active", active)
            fields.number("phones", phones)
        case .fault(let fault):
            fields.begin(.control, "fault")
            fields.fault(fault)
        case .offline(let time):
            fields.begin(.control, "offline")
            fields.time("for_ns", time)
        }
    }

    init(_ name: String, from fields: inout some FieldReader & ~Copyable) throws(MalformedObservation) {
        self =
            switch name {
            case "stopped": .stopped
            case "paused": .paused
            case "resumed": .resumed
            case "phones":
                .phones(
                    group: try fields.requiredText("group"), active: try fields.count("active"),
                    phones: try fields.count("phones"))
            case "fault": .fault(try fields.fault())
            case "offline": .offline(for: try fields.time("for_ns"))
            default: throw MalformedObservation()
            }
    }
}
