import Faults

/// A cut of a connection, decided and on its way.
struct CutOrder: Sendable {
    /// Nil if it is not a fault's, but the end of the upstream.
    let cause: (fault: Int, key: ExchangeKey)?
    let ending: CutEnding

    init(fault: Int, key: ExchangeKey, ending: CutEnding) {
        self.cause = (fault, key)
        self.ending = ending
    }

    init(upstreamEndedBy ending: CutEnding) {
        self.cause = nil
        self.ending = ending
    }
}
