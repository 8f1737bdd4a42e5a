import SimBase
import Talaria

/// The requests of one phone on whose answers faults have acted, the latest few.
struct FaultedAnswers: Sendable {
    private struct Request: Hashable, Sendable {
        let operation: Operation
        let scan: ScanNumber
        let attempt: UInt32
    }

    private static let requestsMax = 64

    private var requests: [Request] = []

    mutating func faultFired(_ operation: Operation, scan: ScanNumber, attempt: UInt32) {
        // What the events of a stream mean is judged by its scan.
        guard operation != .stream else { return }
        if self.requests.count == Self.requestsMax { self.requests.removeFirst() }
        self.requests.append(Request(operation: operation, scan: scan, attempt: attempt))
    }

    func areFaulted(_ operation: Operation, scan: ScanNumber, attempt: UInt32) -> Bool {
        self.requests.contains(Request(operation: operation, scan: scan, attempt: attempt))
    }
}
