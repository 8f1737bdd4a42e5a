package import SimBase

extension Phone {
    /// Calls `look` with each of the phone's collections and its limit.
    package func eachBound(_ look: (Bound) -> Void) {
        self.app.eachBound(look)
        look(Bound("PhoneLimits.heldWritesMax", self.held.count, max: PhoneLimits.heldWritesMax))
    }
}

extension PhoneEvent {
    /// Whether it may leave the phone with more than it had: not what comes with every piece of a stream.
    package var mayFill: Bool {
        switch self {
        case .app(.replyBytes, _), .app(.replyHead, _), .app(.woke, _), .flushing, .flushed, .runEnded: false
        case .app, .switchedOn, .disturbed, .captureDue, .rolledOut, .faultsEnded: true
        }
    }
}
