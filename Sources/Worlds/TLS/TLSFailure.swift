/// Why a TLS connection failed.
package enum TLSFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The client sent HTTP without TLS.
    case plainHTTP
    /// The client does not accept the certificate. The name of its alert (RFC 8446 section 6.2).
    case certificateRejected(alert: String)
    /// The client ended the connection by another alert.
    case alert(String)
    /// The client offers only versions before TLS 1.2.
    case versionTooOld
    /// The client offers protocols by ALPN, but not HTTP/1.1.
    case noHTTP1
    /// The client closed the connection in the middle of the handshake.
    case handshakeAbandoned
    /// What the client sent is not TLS, or is damaged. OpenSSL's words.
    case malformed(String)
    /// The certificate of the server is not accepted. OpenSSL's words.
    case untrusted(String)
    /// The server ended the connection by this alert.
    case serverAlert(String)
    /// The server offers only versions before TLS 1.2.
    case serverTooOld
    /// What the server sent is not TLS, or is damaged. OpenSSL's words.
    case serverMalformed(String)

    package var description: String {
        switch self {
        case .plainHTTP: "the client sent plain HTTP to a port for TLS: use https://"
        case .certificateRejected(let alert):
            "the client does not trust the certificate (alert: \(alert))"
        case .alert(let name): "the client ended the handshake or the connection (alert: \(name))"
        case .versionTooOld: "the client supports no TLS version from 1.2"
        case .noHTTP1: "the client offers protocols by ALPN, but not http/1.1"
        case .handshakeAbandoned:
            "the client closed the connection during the handshake; it may not trust the certificate"
        case .malformed(let reason): "the client sent what is not valid TLS (\(reason))"
        case .untrusted(let reason): "the certificate of the server is not accepted (\(reason))"
        case .serverAlert(let name): "the server ended the handshake or the connection (alert: \(name))"
        case .serverTooOld: "the server supports no TLS version from 1.2"
        case .serverMalformed(let reason): "the server sent what is not valid TLS (\(reason))"
        }
    }
}
