internal import COpenSSL

/// OpenSSL's `X509`.
@safe struct Certificate: ~Copyable {
    let raw: OpaquePointer

    init(owning raw: OpaquePointer) { unsafe self.raw = raw }

    deinit { unsafe X509_free(self.raw) }

    /// Takes the next certificate of a PEM file; nil at its end.
    static func next(in file: borrowing PEMText) throws(TLSIdentityError) -> Certificate? {
        OpenSSLErrors.clear()
        guard let raw = unsafe PEM_read_bio_X509(file.raw, nil, nil, nil) else {
            guard PEMText.isMissing() else { throw .unreadableCertificate(OpenSSLErrors.takeReason()) }
            OpenSSLErrors.clear()
            return nil
        }
        return unsafe Certificate(owning: raw)
    }

    func matches(_ key: borrowing PrivateKey) -> Bool {
        defer { OpenSSLErrors.clear() }
        return unsafe X509_check_private_key(self.raw, key.raw) == 1
    }

    /// The first second in which it is valid, and the last. Seconds since 1970.
    var validity: (from: Int64, to: Int64) {
        unsafe (Self.seconds(X509_get0_notBefore(self.raw)), Self.seconds(X509_get0_notAfter(self.raw)))
    }

    @unsafe private static func seconds(_ time: UnsafePointer<ASN1_TIME>?) -> Int64 {
        let epoch = unsafe ASN1_TIME_set(nil, 0)
        defer { unsafe ASN1_STRING_free(epoch) }
        var (days, seconds): (Int32, Int32) = (0, 0)
        unsafe ASN1_TIME_diff(&days, &seconds, epoch, time)
        return Int64(days) * 86_400 + Int64(seconds)
    }

    /// Throws if it is not valid at a time, in seconds since 1970.
    func checkValidity(at now: Int64) throws(TLSIdentityError) {
        let validity = self.validity
        guard now >= validity.from else { throw .notValidYet(from: validity.from) }
        guard now <= validity.to else { throw .expired(at: validity.to) }
    }

    var pem: [UInt8] {
        let file = PEMText([])
        precondition(
            unsafe PEM_write_bio_X509(file.raw, self.raw) == 1, "OpenSSL has no memory for a certificate")
        return file.bytes
    }

    /// SHA-256 of the certificate.
    var fingerprint: [UInt8] {
        var digest = [UInt8](repeating: 0, count: 32)
        unsafe X509_digest(self.raw, EVP_sha256(), &digest, nil)
        return digest
    }
}
