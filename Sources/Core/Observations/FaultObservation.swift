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

extension FaultObservation: DescribedObservation {
    static var side: Side { .fault }

    static let byName = named([
        blank(decided), blank(fired), blank(passed), blank(began), blank(ended),
    ])

    func coded(by codec: inout some FieldCodec & ~Copyable) throws(MalformedObservation) -> Self? {
        switch self {
        case .decided(let fault, let operation, let attempt, let fires):
            try codec.row(
                "decided", { .decided(fault: $0.raw, $1, attempt: $2, fires: $3) }, "fault", "operation",
                "attempt", "fires", of: FaultIndex(raw: fault), operation, attempt, fires)
        case .fired(let fault, let operation, let attempt):
            try codec.row(
                "fired", { .fired(fault: $0.raw, $1, attempt: $2) }, "fault", "operation", "attempt",
                of: FaultIndex(raw: fault), operation, attempt)
        case .passed(let fault, let attempt, let events):
            try codec.row(
                "passed", { .passed(fault: $0.raw, attempt: $1, events: $2) }, "fault", "attempt", "events",
                of: FaultIndex(raw: fault), attempt, events)
        case .began(let fault):
            try codec.row("began", { .began(fault: $0.raw) }, "fault", of: FaultIndex(raw: fault))
        case .ended(let fault):
            try codec.row("ended", { .ended(fault: $0.raw) }, "fault", of: FaultIndex(raw: fault))
        }
    }
}
