package import SimBase

/// A fault that the draws have chosen for one exchange, its trigger made definite. What remains is to reach it.
package struct ArmedFault: Hashable, Sendable {
    /// Its index in the scenario's list, from 0.
    package var fault: Int
    package var kind: FaultKind
    package var trigger: ArmedTrigger
    /// The window of the fault. A lasting fault (`FaultTraits.lasts`) affects an exchange only inside it.
    package var window: FaultWindow
    /// 64 uniform bits of this firing, for whatever the kind must still choose (the byte of a cut).
    package var draw: UInt64

    package init(
        fault: Int, kind: FaultKind, trigger: ArmedTrigger, window: FaultWindow = .always, draw: UInt64
    ) {
        self.fault = fault
        self.kind = kind
        self.trigger = trigger
        self.window = window
        self.draw = draw
    }
}

/// A trigger with its value drawn.
package enum ArmedTrigger: Hashable, Sendable {
    case atOnce
    /// The time since the response's head.
    case afterTime(Interval)
    case afterEvents(Int)
    case afterBytes(Int)
}
