internal import COpenSSL

/// OpenSSL's queue of errors. Each thread has its own. libcurl uses it, too: an operation whose error is read
/// begins with `clear`.
enum OpenSSLErrors {
    static func clear() { ERR_clear_error() }

    /// Takes the first error, which is the cause of those that follow it; 0 if there is none. The others are dropped.
    static func take() -> UInt {
        defer { ERR_clear_error() }
        return ERR_get_error()
    }

    /// OpenSSL's words for an error.
    static func reason(_ code: UInt) -> String {
        guard let text = unsafe ERR_reason_error_string(code) else { return "no reason given" }
        return unsafe String(cString: text)
    }

    /// Takes the first error and returns its words.
    static func takeReason() -> String { Self.reason(Self.take()) }
}

extension TLSFailure {
    /// From an error of OpenSSL on the server's side of a connection.
    init(_ code: UInt) {
        guard ERR_GET_LIB(code) == ERR_LIB_SSL else {
            self = .malformed(OpenSSLErrors.reason(code))
            return
        }
        let reason = ERR_GET_REASON(code)
        switch reason {
        case SSL_R_HTTP_REQUEST, SSL_R_HTTPS_PROXY_REQUEST: self = .plainHTTP
        case SSL_R_UNSUPPORTED_PROTOCOL, SSL_R_VERSION_TOO_LOW: self = .versionTooOld
        case SSL_R_NO_APPLICATION_PROTOCOL: self = .noHTTP1
        case SSL_AD_REASON_OFFSET..<SSL_AD_REASON_OFFSET + 256:
            self.init(alert: reason - SSL_AD_REASON_OFFSET)
        default: self = .malformed(OpenSSLErrors.reason(code))
        }
    }

    /// From an error of OpenSSL on the client's side. `verification`: the result for the certificate of the server.
    init(ofServer code: UInt, verification: Int) {
        guard verification == Int(X509_V_OK) else {
            self = .untrusted(unsafe String(cString: X509_verify_cert_error_string(verification)))
            return
        }
        let reason = ERR_GET_LIB(code) == ERR_LIB_SSL ? ERR_GET_REASON(code) : 0
        switch reason {
        case SSL_R_UNSUPPORTED_PROTOCOL, SSL_AD_REASON_OFFSET + SSL_AD_PROTOCOL_VERSION: self = .serverTooOld
        case SSL_AD_REASON_OFFSET..<SSL_AD_REASON_OFFSET + 256:
            self = .serverAlert(
                unsafe String(cString: SSL_alert_desc_string_long(reason - SSL_AD_REASON_OFFSET)))
        default: self = .serverMalformed(OpenSSLErrors.reason(code))
        }
    }

    private init(alert: Int32) {
        let name = unsafe String(cString: SSL_alert_desc_string_long(alert))
        switch alert {
        case SSL_AD_BAD_CERTIFICATE, SSL_AD_UNSUPPORTED_CERTIFICATE, SSL_AD_CERTIFICATE_REVOKED,
            SSL_AD_CERTIFICATE_EXPIRED, SSL_AD_CERTIFICATE_UNKNOWN, SSL_AD_UNKNOWN_CA:
            self = .certificateRejected(alert: name)
        default: self = .alert(name)
        }
    }
}
