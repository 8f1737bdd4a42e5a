import Faults

/// A cut of a connection, decided and on its way.
struct CutOrder: Sendable {
    let fault: Int
    let key: ExchangeKey
    let ending: CutEnding
}
