internal import COpenSSL

/// What the connections of a server or of a client share: TLS 1.2 or newer, HTTP/1.1 by ALPN, sessions that are resumed by
/// tickets, no certificates of clients. A server has a certificate, a client authorities that it trusts.
///
/// It is not changed after it was made, and OpenSSL counts references to it atomically.
@safe package final class TLSContext: @unchecked Sendable {
    let raw: OpaquePointer

    /// Certificates in a file, beyond which it is an error.
    private static let certificatesMax = 10

    private init(_ method: OpaquePointer?) {
        guard let raw = unsafe SSL_CTX_new(method) else {
            preconditionFailure("OpenSSL cannot be initialized: \(OpenSSLErrors.takeReason())")
        }
        unsafe self.raw = raw
        precondition(unsafe shim_context_require_tls12(raw) == 1, "OpenSSL has no TLS 1.2")
        unsafe shim_context_release_buffers(raw)
    }

    /// A server's. Reads PEM files: the certificate, followed by those of its issuers, and the key. `now`: seconds since 1970.
    package convenience init(certificates: [UInt8], key: [UInt8], at now: Int64) throws(TLSIdentityError) {
        unsafe self.init(TLS_server_method())
        unsafe shim_context_keep_no_sessions(self.raw)
        unsafe shim_context_speak_http1(self.raw)
        try self.install(certificates, try PrivateKey.read(key), at: now)
    }

    /// A client's, which trusts the authorities of a PEM file and of a folder as `openssl rehash` makes it. With neither,
    /// OpenSSL's own.
    package convenience init(trustedFile file: String?, folder: String?) throws(TLSIdentityError) {
        unsafe self.init(TLS_client_method())
        precondition(unsafe shim_context_be_http1_client(self.raw) == 1, "OpenSSL has no ALPN")
        try self.trust(file: file, folder: folder)
    }

    private func install(
        _ certificates: [UInt8], _ key: borrowing PrivateKey, at now: Int64
    ) throws(TLSIdentityError) {
        let file = PEMText(certificates)
        guard let certificate = try Certificate.next(in: file) else { throw .noCertificate }
        guard certificate.matches(key) else { throw .keyDoesNotMatch }
        try certificate.checkValidity(at: now)
        try Self.check(unsafe SSL_CTX_use_certificate(self.raw, certificate.raw))
        try Self.check(unsafe SSL_CTX_use_PrivateKey(self.raw, key.raw))
        var count = 1
        while let issuer = try Certificate.next(in: file) {
            count += 1
            guard count <= Self.certificatesMax else { throw .tooManyCertificates(max: Self.certificatesMax) }
            try Self.check(unsafe shim_context_add_issuer(self.raw, issuer.raw))
        }
    }

    /// Throws OpenSSL's reason unless the result is that of a success.
    private static func check(_ result: Int32) throws(TLSIdentityError) {
        guard result == 1 else { throw .refused(OpenSSLErrors.takeReason()) }
    }

    deinit { unsafe SSL_CTX_free(self.raw) }

    /// OpenSSL's version, for example `OpenSSL 3.0.19 27 Jan 2026`.
    package static var libraryVersion: String { unsafe String(cString: OpenSSL_version(OPENSSL_VERSION)) }
}
