import CurlLoop
import Imaging
import Phone
import SimBase

/// One phone of the fleet with what the driver keeps for it.
struct FleetPhone {
    var machine: Phone
    /// Whether the phone keeps its writes itself until they are flushed.
    let remembers: Bool
    /// Its requests in the hands of the client.
    var requests: [(id: RequestID, transfer: TransferID)] = []
    /// Tells apart the phones that have its place one after another, where phones start and stop.
    var opening = 0
    /// Whether it captures nothing more and closes once its scans are settled.
    var isClosing = false
    /// Photos that are ready, by scan.
    var photos: [(scan: ScanNumber, photo: PreparedPhoto)] = []

    var number: DeviceNumber { self.machine.number }
}

extension StoreChange {
    /// Whether nothing waits for it to be durable: a phone that resumes from an older event gets some again and drops them.
    var mayWait: Bool {
        switch self {
        case .lastEventID: true
        case .put, .book, .pending, .reviewed, .settled: false
        }
    }
}
