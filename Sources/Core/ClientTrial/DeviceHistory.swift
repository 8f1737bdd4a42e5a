import SimBase

/// The device ids that connections have shown.
struct DeviceHistory: Sendable {
    private static let connectionsMax = 20_000

    private var connections: [UInt64: String] = [:]

    /// Records the device id of a request. Returns the one that the connection had before, if that is another.
    mutating func seen(_ device: String, on connection: UInt64) -> String? {
        let known = self.connections[connection]
        if known != nil || self.connections.count < Self.connectionsMax {
            self.connections[connection] = device
        }
        return known.flatMap { $0 == device ? nil : $0 }
    }

    mutating func forget(_ connection: UInt64) { self.connections[connection] = nil }
}

extension ClientTrial {
    /// Finds device ids beyond those of the phones that there are. Returns the last of them, and what to say.
    func strangers() -> (client: String, text: String)? {
        guard let phones = self.rules.phones else { return nil }
        let clients = self.clients.entries.filter { $0.value.device != nil && $0.value.uploads > 0 }
        guard clients.count > phones, let last = clients.max(by: { $0.value.first < $1.value.first }) else {
            return nil
        }
        return (last.key, "\(clients.count) device ids of uploads; there are \(phones) phones")
    }
}
