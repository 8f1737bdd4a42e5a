import COpenSSL

/// The client's side of a connection in memory. It verifies the server as a client with one trusted authority does.
package final class TLSClient {
    /// What it accepts and offers.
    package struct Settings {
        /// PEM.
        package var authority: [UInt8]
        /// Of the server that it means.
        package var host = "localhost"
        package var versionMax = TLS1_3_VERSION
        /// In order of preference; none: no ALPN.
        package var protocols: [String] = []

        package init(authority: [UInt8]) { self.authority = authority }
    }

    package enum Failure: Error, Hashable {
        /// OpenSSL's words, and those of the verification of the certificate if it failed.
        case openssl(String)
        case certificate(String)
    }

    private let context: OpaquePointer
    private let connection: OpaquePointer
    private let incoming: OpaquePointer
    private let outgoing: OpaquePointer

    package private(set) var plaintext: [UInt8] = []
    package private(set) var isClosed = false
    package private(set) var failure: Failure?

    package init(_ settings: Settings) {
        self.context = SSL_CTX_new(TLS_client_method())
        SSL_CTX_set_verify(self.context, SSL_VERIFY_PEER, nil)
        // Old versions are for the test that they are refused.
        SSL_CTX_set_security_level(self.context, 0)
        let store = SSL_CTX_get_cert_store(self.context)
        X509_VERIFY_PARAM_set_flags(X509_STORE_get0_param(store), UInt(X509_V_FLAG_X509_STRICT))
        let file = BIO_new_mem_buf(settings.authority, Int32(settings.authority.count))
        let authority = PEM_read_bio_X509(file, nil, nil, nil)
        X509_STORE_add_cert(store, authority)
        X509_free(authority)
        BIO_free(file)
        self.connection = SSL_new(self.context)
        self.incoming = BIO_new(BIO_s_mem())
        self.outgoing = BIO_new(BIO_s_mem())
        SSL_set_bio(self.connection, self.incoming, self.outgoing)
        SSL_ctrl(self.connection, SSL_CTRL_SET_MIN_PROTO_VERSION, Int(TLS1_VERSION), nil)
        SSL_ctrl(self.connection, SSL_CTRL_SET_MAX_PROTO_VERSION, Int(settings.versionMax), nil)
        // True only for an address.
        if X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(self.connection), settings.host) != 1 {
            SSL_set1_host(self.connection, settings.host)
        }
        let offered = settings.protocols.flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) }
        if !offered.isEmpty { SSL_set_alpn_protos(self.connection, offered, UInt32(offered.count)) }
        SSL_set_connect_state(self.connection)
    }

    deinit {
        SSL_free(self.connection)
        SSL_CTX_free(self.context)
    }

    package var isEstablished: Bool { SSL_is_init_finished(self.connection) != 0 }
    package var version: String { String(cString: SSL_get_version(self.connection)) }

    /// The protocol that the server chose; nil without one.
    package var chosenProtocol: String? {
        var bytes: UnsafePointer<UInt8>?
        var count: UInt32 = 0
        SSL_get0_alpn_selected(self.connection, &bytes, &count)
        guard count > 0 else { return nil }
        return String(decoding: UnsafeBufferPointer(start: bytes, count: Int(count)), as: UTF8.self)
    }

    /// Goes on with what the server has sent. Returns what is to be sent to it.
    package func receive(_ bytes: [UInt8]) -> [UInt8] {
        var count = 0
        if !bytes.isEmpty { BIO_write_ex(self.incoming, bytes, bytes.count, &count) }
        while self.failure == nil, !self.isClosed {
            ERR_clear_error()
            var piece = [UInt8](repeating: 0, count: 32 * 1_024)
            let result = SSL_read_ex(self.connection, &piece, piece.count, &count)
            guard result != 1 else {
                self.plaintext += piece[..<count]
                continue
            }
            let error = SSL_get_error(self.connection, result)
            if error == SSL_ERROR_WANT_READ { break }
            if error == SSL_ERROR_ZERO_RETURN { self.isClosed = true } else { self.fail() }
        }
        return self.takeOutgoing()
    }

    private func fail() {
        let code = ERR_get_error()
        let verified = SSL_get_verify_result(self.connection)
        self.failure =
            verified == Int(X509_V_OK)
            ? .openssl(ERR_reason_error_string(code).map { String(cString: $0) } ?? "")
            : .certificate(String(cString: X509_verify_cert_error_string(verified)))
    }

    package func send(_ plaintext: [UInt8]) -> [UInt8] {
        var count = 0
        SSL_write_ex(self.connection, plaintext, plaintext.count, &count)
        return self.takeOutgoing()
    }

    package func close() -> [UInt8] {
        SSL_shutdown(self.connection)
        return self.takeOutgoing()
    }

    private func takeOutgoing() -> [UInt8] {
        var bytes: UnsafePointer<UInt8>?
        let count = shim_bio_contents(self.outgoing, &bytes)
        defer { shim_bio_clear(self.outgoing) }
        return Array(UnsafeBufferPointer(start: bytes, count: count))
    }
}
