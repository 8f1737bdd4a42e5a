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
        ByteBuilder.text { text in
            text.append(literal: "00-")
            Self.appendTrace(self.run, self.device, self.scan, to: &text)
            text.append(UInt8(ascii: "-"))
            Hexadecimal.append(Self.span(self.operation, self.attempt), digits: 16, to: &text)
            text.append(literal: "-01")
        }
    }

    /// Appends the 32 digits of the id of a scan's trace.
    package static func appendTrace(
        _ run: UInt64, _ device: DeviceNumber, _ scan: ScanNumber, to text: inout ByteBuilder
    ) {
        Hexadecimal.append(run, digits: 16, to: &text)
        Hexadecimal.append(UInt64(device.raw), digits: 8, to: &text)
        Hexadecimal.append(UInt64(scan.raw), digits: 8, to: &text)
    }

    /// The id of a request's span.
    package static func span(_ operation: Operation, _ attempt: UInt32) -> UInt64 {
        UInt64(operation.rawValue) << 56 | UInt64(attempt)
    }

    /// The id of a span that is no request's: no operation has the number 0. `number`: from 1, which is the whole scan.
    package static func span(ownNumber number: UInt32) -> UInt64 { UInt64(number) }

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
