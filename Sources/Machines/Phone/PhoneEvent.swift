package import Faults

/// What happens to a phone (Docs/style.md rule 2). The driver owns connections, files, pixels and clocks.
package enum PhoneEvent: Sendable {
    /// It is switched on for the first time in this run, with what its storage holds.
    case switchedOn(restored: [DurableScan])
    indirect case disturbed(PhoneDisturbance)
    /// The schedule wants a capture.
    case captureDue(Arrival, PhotoReference)
    /// The run is over for its user: the app is sent away, and nobody takes it up again.
    case runEnded
    /// Every fault ends: whatever held the phone or its app ends, and the user takes the phone up again. No disturbance
    /// that was scheduled may be sent any more.
    case faultsEnded
    /// What became of something that this process of the app asked for. A process that is gone does not receive it.
    case app(AppEvent, process: UInt32)
    /// The writes so far are about to be made durable, record by record: answered with `.app(.store)` for each that the
    /// driver does not have, up to the one that a fault of the phone waits for.
    case flushing
    /// What was answered to `.flushing` is durable.
    case flushed
}

/// One end of a window of a phone, or what follows from it.
package enum PhoneDisturbance: Hashable, Sendable {
    case begins(PhoneWindow)
    case ends(PhoneWindow)
    /// The phone's way leads through a time without a path, which is no fault.
    case entersTunnel
    case leavesTunnel
    /// Nobody waits any more for the connections of a network that the phone has left.
    case oldPathGone
}
