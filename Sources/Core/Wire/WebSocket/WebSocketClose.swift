import SimBase

/// A close code (RFC 6455 section 7.4 and IANA's WebSocket Close Code Number Registry).
package struct WebSocketCloseCode: RawRepresentable, Hashable, Sendable {
    package var rawValue: UInt16

    package init(rawValue: UInt16) { self.rawValue = rawValue }

    package static let normal = Self(rawValue: 1_000)
    package static let protocolError = Self(rawValue: 1_002)
    package static let unsupportedData = Self(rawValue: 1_003)
    /// Reported for a close frame without a code; never in a frame.
    package static let noStatus = Self(rawValue: 1_005)
    /// Reported for a connection that ended without a close frame; never in a frame.
    package static let abnormal = Self(rawValue: 1_006)
    package static let invalidPayload = Self(rawValue: 1_007)
    package static let policyViolation = Self(rawValue: 1_008)
    package static let messageTooBig = Self(rawValue: 1_009)
    package static let internalError = Self(rawValue: 1_011)

    /// Whether a close frame may have it: the registered codes but those that are only reported, and those of
    /// libraries and of applications (RFC 6455 section 7.4.2).
    package var isAllowedInFrame: Bool {
        switch self.rawValue {
        case 1_000...1_003, 1_007...1_014, 3_000...4_999: true
        default: false
        }
    }
}

/// What a close frame says (RFC 6455 section 5.5.1).
package struct WebSocketClose: Hashable, Sendable {
    /// The longest reason: what a control frame carries beside the code.
    package static let reasonBytesMax = WebSocketOpcode.controlBytesMax - 2

    package var code: WebSocketCloseCode
    /// At most `reasonBytesMax` bytes of UTF-8; empty if the code is `noStatus`.
    package var reason: String

    package init(_ code: WebSocketCloseCode, reason: String = "") {
        self.code = code
        self.reason = reason
    }

    /// Reads the body of a close frame.
    init(payload: [UInt8]) throws(WebSocketError) {
        guard !payload.isEmpty else {
            self.init(.noStatus)
            return
        }
        guard payload.count >= 2 else { throw .closeBodyTooShort }
        let code = WebSocketCloseCode(rawValue: UInt16(payload[0]) &<< 8 | UInt16(payload[1]))
        guard code.isAllowedInFrame else { throw .badCloseCode }
        guard let reason = String(validating: payload[2...], as: UTF8.self) else { throw .invalidUTF8 }
        self.init(code, reason: reason)
    }

    /// The body of a close frame.
    var payload: [UInt8] {
        guard self.code != .noStatus else { return [] }
        precondition(self.code.isAllowedInFrame, "a close code that is only reported")
        var payload = [UInt8(self.code.rawValue >> 8), UInt8(self.code.rawValue & 0xFF)]
        payload.append(text: self.reason)
        precondition(self.reason.utf8.count <= Self.reasonBytesMax, "a reason that is too long")
        return payload
    }
}
