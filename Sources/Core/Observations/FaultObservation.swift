package import Talaria

/// A decision or an action of the fault layer. `fault` is the index of the fault in the scenario's list, from
/// 0.
package enum FaultObservation: Hashable, Sendable {
    /// The keyed draw for one exchange: equal in every run of the seed that reaches this key.
    case decided(fault: Int, Operation, attempt: UInt32, fires: Bool)
    case fired(fault: Int, Operation, attempt: UInt32)
    /// The fault cuts a stream of a foreign backend behind so many events, whether they were new or came again: the gateway alone
    /// knows which have passed.
    case passed(fault: Int, attempt: UInt32, events: Int)
    /// A fault of the phone or its link (`offline`), which belongs to no exchange.
    case began(fault: Int)
    case ended(fault: Int)
}

extension FaultObservation {
    func write(to fields: inout some FieldWriter & ~Copyable) {
        switch self {
        case .decided(let fault, let operation, let attempt, let fires):
            fields.begin(.fault, "decided")
            fields.fault(fault)
            fields.exchange(operation, attempt)
            fields.flag("fires", fires)
        case .fired(let fault, let operation, let attempt):
            fields.begin(.fault, "fired")
            fields.fault(fault)
            fields.exchange(operation, attempt)
        case .passed(let fault, let attempt, let events):
            fields.begin(.fault, "passed")
            fields.fault(fault)
            fields.attempt(attempt)
            fields.number("events", events)
        case .began(let fault):
            fields.begin(.fault, "began")
            fields.fault(fault)
        case .ended(let fault):
            fields.begin(.fault, "ended")
            fields.fault(fault)
        }
    }

    init(_ name: String, from fields: inout some FieldReader & ~Copyable) throws(MalformedObservation) {
        self =
            switch name {
            case "decided":
                .decided(
                    fault: try fields.fault(), try fields.operation(), attempt: try fields.attempt(),
                    fires: try fields.isTrue("fires"))
            case "fired":
                .fired(fault: try fields.fault(), try fields.operation(), attempt: try fields.attempt())
            case "passed":
                .passed(
                    fault: try fields.fault(), attempt: try fields.attempt(),
                    events: try fields.count("events"))
            case "began": .began(fault: try fields.fault())
            case "ended": .ended(fault: try fields.fault())
            default: throw MalformedObservation()
            }
    }
}
