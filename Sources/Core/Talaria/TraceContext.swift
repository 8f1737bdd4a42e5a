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
        let text = headerValue.utf8
        // The hyphens are the bytes 2, 35 and 52; none follows.
        guard text.count > 52, headerValue.word(at: 0) << 40 == Self.beginning,
            headerValue.word(at: 28) >> 56 == Self.hyphen, headerValue.word(at: 45) >> 56 == Self.hyphen,
            !text.dropFirst(53).contains(UInt8(ascii: "-")),
            let run = Self.number(headerValue, at: 3), run != 0,
            let device = Hexadecimal.value(digits: headerValue.word(at: 19)),
            let scan = Hexadecimal.value(digits: headerValue.word(at: 27)),
            let span = Self.number(headerValue, at: 36),
            let operation = Operation(rawValue: UInt8(span >> 56)), span & 0x00FF_FFFF_0000_0000 == 0
        else { return nil }
        self.init(
            run: run, device: DeviceNumber(device), scan: ScanNumber(scan),
            operation: operation,
            attempt: UInt32(truncatingIfNeeded: span))
    }

    private static let hyphen = UInt64(UInt8(ascii: "-"))
    /// `00-` as the highest bytes of a word.
    private static let beginning = UInt64(0x2D_3030) << 40

    /// The value of sixteen digits.
    private static func number(_ text: String, at offset: Int) -> UInt64? {
        guard let high = Hexadecimal.value(digits: text.word(at: offset)),
            let low = Hexadecimal.value(digits: text.word(at: offset + 8))
        else { return nil }
        return UInt64(high) << 32 | UInt64(low)
    }
}
