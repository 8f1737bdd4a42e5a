import Device
import SimBase

/// What a phone has stored, and what it has written that is not known to be durable.
struct Storage: Sendable {
    private var durable = DurableState(keepsHistory: false)
    /// In order.
    private var unflushed: [StoreChange] = []

    /// Unsettled scans that a fresh process finds: what was flushed, and nothing else.
    var scans: [DurableScan] { self.durable.scans }

    mutating func restore(_ scans: [DurableScan]) {
        for scan in scans { self.durable.apply(.put(scan)) }
    }

    mutating func write(_ change: StoreChange) { self.unflushed.append(change) }

    /// Everything written is durable from now on, and is handed on in its order.
    mutating func flush(_ handOn: (StoreChange) -> Void) {
        for place in self.unflushed.indices {
            self.durable.apply(self.unflushed[place])
            handOn(self.unflushed[place])
        }
        self.unflushed.clear()
    }

    /// What was written and not flushed is gone.
    mutating func loseUnflushed() { self.unflushed = [] }

    mutating func wipe() {
        self.durable = DurableState(keepsHistory: false)
        self.unflushed = []
    }
}
