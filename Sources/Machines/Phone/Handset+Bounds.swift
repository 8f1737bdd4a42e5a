package import SimBase

extension Handset {
    /// What the phone holds, with the limits that it must keep to. Mutating, so that it is asked where it stands and not
    /// copied first.
    package mutating func eachBound(_ look: (Bound) -> Void) {
        self.device.eachBound(look)
        look(Bound("HandsetLimits.heldWritesMax", self.held.count, max: HandsetLimits.heldWritesMax))
    }
}

extension HandsetEvent {
    /// Whether it may leave the phone with more than it had: not what comes with every piece of a stream.
    package var mayFill: Bool {
        switch self {
        case .replyBytes, .replyHead, .flushing, .flushed, .woke, .runEnded: false
        case .switchedOn, .act, .captureDue, .healed, .photoPrepared, .photoRejected, .replyEnded,
            .replyFailed:
            true
        }
    }
}
