import SimBase

/// Why a certificate and its key cannot be used.
package enum TLSIdentityError: Error, Hashable, Sendable, CustomStringConvertible {
    case noCertificate
    case noKey
    /// With OpenSSL's words.
    case unreadableCertificate(String)
    case unreadableKey(String)
    case keyIsEncrypted
    case keyDoesNotMatch
    /// Seconds since 1970.
    case notValidYet(from: Int64)
    case expired(at: Int64)
    case tooManyCertificates(max: Int)
    /// OpenSSL does not use it, for example because its key is too short. OpenSSL's words.
    case refused(String)

    package var description: String {
        switch self {
        case .noCertificate: "there is no certificate in PEM format in the file"
        case .noKey: "there is no private key in PEM format in the file"
        case .unreadableCertificate(let reason): "a certificate is damaged (\(reason))"
        case .unreadableKey(let reason): "the private key is damaged (\(reason))"
        case .keyIsEncrypted: "the private key is encrypted with a password"
        case .keyDoesNotMatch: "the private key does not belong to the certificate"
        case .notValidYet(let from): "the certificate is valid only from \(Self.text(of: from))"
        case .expired(let moment): "the certificate has expired at \(Self.text(of: moment))"
        case .tooManyCertificates(let limit): "the file has more than \(limit) certificates"
        case .refused(let reason): "OpenSSL does not accept the certificate (\(reason))"
        }
    }

    private static func text(of seconds: Int64) -> String {
        Timestamp.iso8601(unixMilliseconds: seconds * 1_000)
    }
}
