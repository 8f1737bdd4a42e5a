import SimBase
import Talaria

/// The name of one request of a phone.
struct RequestKey: Hashable, Sendable {
    let operation: Operation
    let scan: ScanNumber
    let attempt: UInt32

    init(_ operation: Operation, _ scan: ScanNumber, _ attempt: UInt32) {
        self.operation = operation
        self.scan = scan
        self.attempt = attempt
    }
}

extension Array {
    /// Appends an element, in place of the first where there are that many.
    mutating func append(_ element: Element, max: Int) {
        if self.count >= max { self.removeFirst() }
        self.append(element)
    }
}
