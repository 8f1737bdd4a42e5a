/// Why a peer's frames cannot be read.
package enum WebSocketError: Error, Hashable, Sendable, CaseIterable {
    /// RSV1 to RSV3 without an extension (RFC 6455 section 5.2).
    case reservedBits
    case reservedOpcode
    /// A frame of a client that is not masked (RFC 6455 section 5.1).
    case unmasked
    /// A frame of a server that is masked (RFC 6455 section 5.1).
    case masked
    case fragmentedControl
    case controlTooLong
    /// A length in more bytes than it needs.
    case lengthNotShortest
    /// A length of 2^63 bytes or more.
    case lengthOutOfRange
    /// A continuation without a message to continue (RFC 6455 section 5.4).
    case unexpectedContinuation
    /// A new message inside the fragments of another (RFC 6455 section 5.4).
    case unfinishedMessage
    /// A close frame with one byte (RFC 6455 section 5.5.1).
    case closeBodyTooShort
    case badCloseCode
    /// A binary message where only text is read.
    case binaryMessage
    /// A text or a reason that is not UTF-8 (RFC 6455 section 8.1).
    case invalidUTF8
    case frameTooLarge
    case messageTooLarge

    /// The code of the close frame that answers it (RFC 6455 section 7.4.1).
    package var closeCode: WebSocketCloseCode {
        switch self {
        case .reservedBits, .reservedOpcode, .unmasked, .masked, .fragmentedControl, .controlTooLong,
            .lengthNotShortest, .lengthOutOfRange, .unexpectedContinuation, .unfinishedMessage,
            .closeBodyTooShort, .badCloseCode:
            .protocolError
        case .binaryMessage: .unsupportedData
        case .invalidUTF8: .invalidPayload
        case .frameTooLarge, .messageTooLarge: .messageTooBig
        }
    }
}
