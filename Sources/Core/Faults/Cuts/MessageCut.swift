package import SimBase

/// The position of an armed `reset`, `close` or `silence` in a message of a known length: a request, or a
/// response with a whole body. `StreamCutter` is its counterpart for event streams.
///
/// Bytes are counted over the whole message, including its head. A message that ends at or before the
/// position is not cut. A cut at once is
///
/// - for a request: after its head, which identifies the phone; the server does not act on the request;
/// - for a response: before its first byte. The server has acted, and the phone gets no response.
///
/// A time counts from the head of the request, or from the time of the response.
package struct MessageCut: Hashable, Sendable {
    package enum Place: Hashable, Sendable {
        case byte(Int)
        /// The message is cut if it is still in flight then.
        case after(Interval)
    }

    /// The fault's index in the scenario's list.
    package let fault: Int
    package let ending: CutEnding
    package let position: Place

    /// Nil when the fault cuts nothing off on that side, or where only a stream has positions.
    package init?(_ armed: ArmedFault, on side: ExchangeSide) {
        guard let cutting = armed.kind.cutting, cutting.side == side, !armed.kind.endsCleanly else {
            return nil  // A message of a known length has one clean end only.
        }
        let ahead: Int
        switch cutting.cut {
        case .betweenEvents: ahead = 0
        case .afterBytes(let bytes): ahead = bytes
        case .insideEvent, .insideUTF8, .insideLineEnd: return nil
        }
        switch armed.trigger {
        case .atOnce: self.position = .byte(ahead)
        case .afterBytes(let bytes): self.position = .byte(bytes.addingSaturating(ahead))
        case .afterTime(let time): self.position = .after(time)
        case .afterEvents: return nil
        }
        self.fault = armed.fault
        self.ending = cutting.ending
    }
}
