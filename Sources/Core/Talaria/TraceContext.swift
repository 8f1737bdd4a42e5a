package import SimBase

/// The sender and purpose of a request, as a W3C `traceparent` header (Trace Context, section 3.2).
///
/// Trace id: run (64 bits), device (32), scan (32). Span id: operation (8 bits) and attempt (56). Never all zero,
/// because operations start at 1 and a run's id is never 0.
package struct TraceContext: Hashable, Sendable {
    package static let headerName = "traceparent"

    package var run: UInt64
    package var device: DeviceNumber
    package var scan: ScanNumber
    package var operation: Operation
    /// Counts the requests of this operation for this scan, from 1; it never starts over, not even with a new job.
    package var attempt: UInt32

    package init(run: UInt64, device: DeviceNumber, scan: ScanNumber, operation: Operation, attempt: UInt32) {
        self.run = run
        self.device = device
        self.scan = scan
        self.operation = operation
        self.attempt = attempt
    }

    /// `00-<32 hex>-<16 hex>-01`.
    package var headerValue: String {
        let span = UInt64(self.operation.rawValue) << 56 | UInt64(self.attempt)
        return ByteBuilder.text { text in
            text.append(literal: "00-")
            Hexadecimal.append(self.run, digits: 16, to: &text)
            Hexadecimal.append(UInt64(self.device.raw), digits: 8, to: &text)
            Hexadecimal.append(UInt64(self.scan.raw), digits: 8, to: &text)
            text.append(UInt8(ascii: "-"))
            Hexadecimal.append(span, digits: 16, to: &text)
            text.append(literal: "-01")
        }
    }

    /// Nil when the value is not a `traceparent` of ours.
    package init?(headerValue: String) {
        let bytes = Array(headerValue.utf8)
        let dash = UInt8(ascii: "-")
        guard bytes.count > 52, bytes.starts(with: "00-".utf8), bytes[35] == dash, bytes[52] == dash,
            !bytes[53...].contains(dash),
            let run = Hexadecimal.value(bytes[3..<19]), run != 0,
            let device = Hexadecimal.value(bytes[19..<27]), let scan = Hexadecimal.value(bytes[27..<35]),
            let span = Hexadecimal.value(bytes[36..<52]),
            let operation = Operation(rawValue: UInt8(span >> 56)), span & 0x00FF_FFFF_0000_0000 == 0
        else { return nil }
        self.init(
            run: run, device: DeviceNumber(UInt32(device)), scan: ScanNumber(UInt32(scan)),
            operation: operation,
            attempt: UInt32(truncatingIfNeeded: span))
    }
}
