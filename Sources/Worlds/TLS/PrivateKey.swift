internal import COpenSSL

/// OpenSSL's `EVP_PKEY`.
@safe struct PrivateKey: ~Copyable {
    let raw: OpaquePointer

    private init(owning raw: OpaquePointer) { unsafe self.raw = raw }

    deinit { unsafe EVP_PKEY_free(self.raw) }

    /// A new key on the curve P-256.
    static func make() -> PrivateKey {
        guard let raw = unsafe shim_make_p256_key() else {
            preconditionFailure("OpenSSL cannot make a key: \(OpenSSLErrors.takeReason())")
        }
        return unsafe PrivateKey(owning: raw)
    }

    /// Reads the first key of a PEM file. A key that is encrypted with a password is an error.
    static func read(_ pem: [UInt8]) throws(TLSIdentityError) -> PrivateKey {
        // OpenSSL does not distinguish a file without a key from a key that it cannot read.
        guard pem.firstRange(of: Array("PRIVATE KEY-----".utf8)) != nil else { throw .noKey }
        let file = PEMText(pem)
        var isEncrypted: Int32 = 0
        OpenSSLErrors.clear()
        let raw = unsafe withUnsafeMutablePointer(to: &isEncrypted) { flag in
            unsafe PEM_read_bio_PrivateKey(
                file.raw, nil,
                { _, _, _, flag in
                    unsafe flag?.assumingMemoryBound(to: Int32.self).pointee = 1
                    return -1
                }, flag)
        }
        guard let raw = unsafe raw else {
            if isEncrypted != 0 {
                OpenSSLErrors.clear()
                throw .keyIsEncrypted
            }
            throw .unreadableKey(OpenSSLErrors.takeReason())
        }
        return unsafe PrivateKey(owning: raw)
    }

    /// As a PEM file without encryption (PKCS #8).
    var pem: [UInt8] {
        let file = PEMText([])
        let isWritten = unsafe PEM_write_bio_PKCS8PrivateKey(file.raw, self.raw, nil, nil, 0, nil, nil)
        precondition(isWritten == 1, "OpenSSL has no memory for a key")
        return file.bytes
    }
}

/// A memory BIO with a PEM file.
@safe struct PEMText: ~Copyable {
    let raw: OpaquePointer

    init(_ bytes: [UInt8]) {
        guard let raw = unsafe BIO_new(BIO_s_mem()) else {
            preconditionFailure("OpenSSL has no memory for a file")
        }
        unsafe self.raw = raw
        var count = 0
        guard !bytes.isEmpty else { return }
        let isWritten = unsafe bytes.withUnsafeBytes {
            unsafe BIO_write_ex(raw, $0.baseAddress, $0.count, &count)
        }
        precondition(isWritten == 1, "OpenSSL has no memory for a file")
    }

    deinit { unsafe BIO_free(self.raw) }

    var bytes: [UInt8] {
        var bytes: UnsafePointer<UInt8>?
        let count = unsafe shim_bio_contents(self.raw, &bytes)
        return unsafe Array(UnsafeBufferPointer(start: bytes, count: count))
    }

    /// Whether the last error is that the file has nothing more of what was asked for. It is left in the queue.
    static func isMissing() -> Bool {
        let code = ERR_peek_last_error()
        return ERR_GET_LIB(code) == ERR_LIB_PEM && ERR_GET_REASON(code) == PEM_R_NO_START_LINE
    }
}
