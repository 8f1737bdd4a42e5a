import Device

/// What a phone has stored, and what it has written that is not known to be durable.
struct Storage: Sendable {
    private var durable = DurableState(keepsHistory: false)
    /// In order.
    private(set) var unflushed: [StoreChange] = []

    /// Unsettled scans that a fresh process finds: what was flushed, and nothing else.
    var scans: [DurableScan] { self.durable.scans }

    mutating func restore(_ scans: [DurableScan]) {
        for scan in scans { self.durable.apply(.put(scan)) }
    }

    mutating func write(_ change: StoreChange) { self.unflushed.append(change) }

    /// Everything written is durable from now on.
    mutating func flush() {
        guard !self.unflushed.isEmpty else { return }
        for change in self.unflushed { self.durable.apply(change) }
        self.unflushed.removeAll(keepingCapacity: true)
    }

    /// What was written and not flushed is gone.
    mutating func loseUnflushed() { self.unflushed = [] }

    mutating func wipe() {
        self.durable = DurableState(keepsHistory: false)
        self.unflushed = []
    }
}
