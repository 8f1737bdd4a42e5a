package import Faults
package import Talaria

/// An event for a phone (Docs/style.md rule 2). The driver owns connections, files, pixels and clocks.
package enum PhoneEvent: Sendable {
    /// The phone starts for the first time in this run, with the content of its storage.
    case switchedOn(restored: [DurableScan], review: DurableReview = DurableReview())
    indirect case disturbed(PhoneDisturbance)
    /// The schedule wants a capture.
    case captureDue(Arrival, PhotoReference)
    /// The run is over for its user: the app goes to the background and is not opened again.
    case runEnded
    /// The flag of a rollout has this value from now on: it decides by which transport the jobs of later uploads are followed.
    case rolledOut(RolloutFlag)
    /// Every fault ends: whatever held the phone or its app ends, and the user takes the phone up again. No disturbance
    /// that was scheduled may be sent any more.
    case faultsEnded
    /// The outcome of a request of this process of the app. A process that no longer exists does not receive
    /// it.
    case app(AppEvent, process: UInt32)
    /// The writes so far are about to be made durable, record by record: answered with `.app(.store)` for each that the
    /// driver does not have, up to the one that a fault of the phone waits for.
    case flushing
    /// The data of the last flush is durable.
    case flushed
}

/// The start or end of a window of a phone, or its consequence.
package enum PhoneDisturbance: Hashable, Sendable {
    case begins(PhoneWindow)
    case ends(PhoneWindow)
    /// The phone's way leads through a time without a path, which is not a fault.
    case entersTunnel
    case leavesTunnel
    /// The time for connections of the old network is over.
    case oldPathGone
}
