internal import COpenSSL

// How a client verifies a server: whom it trusts, and for which name or address the certificate must be. It requires a
// certificate by `shim_context_be_http1_client`.

extension TLSContext {
    /// Trusts the authorities of a PEM file and of a folder; with neither, OpenSSL's own.
    func trust(file: String?, folder: String?) throws(TLSIdentityError) {
        OpenSSLErrors.clear()
        var result: Int32 = 1
        if let file { result = unsafe SSL_CTX_load_verify_file(self.raw, file) }
        if let folder, result == 1 { result = unsafe SSL_CTX_load_verify_dir(self.raw, folder) }
        if file == nil, folder == nil { result = unsafe SSL_CTX_set_default_verify_paths(self.raw) }
        guard result == 1 else { throw .refused(OpenSSLErrors.takeReason()) }
    }
}

extension ServerName {
    /// Accepts a certificate for this name or address only (RFC 9110 section 4.3.4), and tells the server the name.
    @unsafe func require(of connection: OpaquePointer) {
        unsafe SSL_set_hostflags(connection, UInt32(X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS))
        // An address is no server name (RFC 6066 section 3).
        let isSet =
            self.isAddress
            ? unsafe X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(connection), self.text) == 1
            : unsafe SSL_set1_host(connection, self.text) == 1
                && shim_set_server_name(connection, self.text) == 1
        precondition(isSet, "OpenSSL has no memory for a name")
    }
}
