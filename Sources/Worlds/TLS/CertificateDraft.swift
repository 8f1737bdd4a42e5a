internal import COpenSSL
import SimBase

/// A certificate that is not signed yet.
@safe struct CertificateDraft: ~Copyable {
    /// Version 3, as it is written (RFC 5280 section 4.1.2.1).
    private static let version3 = 2
    private static let organization = "swiftwing-sim"

    private let certificate: Certificate

    /// `from`, `to`: the first and the last second of its validity, seconds since 1970.
    init(name: String, serial: SerialNumber, from: Int64, to: Int64, _ key: borrowing PrivateKey) {
        guard let raw = unsafe X509_new() else {
            preconditionFailure("OpenSSL has no memory for a certificate")
        }
        unsafe self.certificate = Certificate(owning: raw)
        let subject = unsafe X509_get_subject_name(raw)
        unsafe Self.append("O", Self.organization, to: subject)
        unsafe Self.append("CN", name, to: subject)
        let isSet =
            unsafe X509_set_version(raw, Self.version3) == 1 && serial.set(in: self.certificate)
            && ASN1_TIME_set(X509_getm_notBefore(raw), time_t(from)) != nil
            && ASN1_TIME_set(X509_getm_notAfter(raw), time_t(to)) != nil
            && X509_set_pubkey(raw, key.raw) == 1
        precondition(isSet, "OpenSSL cannot make a certificate: \(OpenSSLErrors.takeReason())")
    }

    @unsafe private static func append(_ field: String, _ value: String, to name: OpaquePointer?) {
        let isAdded = unsafe X509_NAME_add_entry_by_txt(
            name, field, MBSTRING_FLAG, Array(value.utf8), Int32(value.utf8.count), -1, 0)
        precondition(isAdded == 1, "OpenSSL cannot make a name: \(OpenSSLErrors.takeReason())")
    }

    /// Adds extensions in the notation of openssl's configuration files, and signs with SHA-256.
    consuming func signed(
        by issuer: borrowing Certificate, _ key: borrowing PrivateKey,
        extensions: [(kind: Int32, value: String)]
    ) -> Certificate {
        unsafe self.sign(issuer.raw, key, extensions)
        return self.certificate
    }

    /// Adds extensions, and signs a certificate that is its own issuer.
    consuming func selfSigned(
        _ key: borrowing PrivateKey, extensions: [(kind: Int32, value: String)]
    ) -> Certificate {
        unsafe self.sign(self.certificate.raw, key, extensions)
        return self.certificate
    }

    @unsafe private func sign(
        _ issuer: OpaquePointer, _ key: borrowing PrivateKey, _ extensions: [(kind: Int32, value: String)]
    ) {
        for (kind, value) in extensions {
            let isAdded = unsafe shim_certificate_add_extension(self.certificate.raw, issuer, kind, value)
            precondition(isAdded == 1, "OpenSSL cannot add \(value): \(OpenSSLErrors.takeReason())")
        }
        let name = unsafe X509_get_subject_name(issuer)
        let isSigned =
            unsafe X509_set_issuer_name(self.certificate.raw, name) == 1
            && X509_sign(self.certificate.raw, key.raw, EVP_sha256()) > 0
        precondition(isSigned, "OpenSSL cannot sign: \(OpenSSLErrors.takeReason())")
    }
}

/// A random serial number of 16 bytes (RFC 5280 section 4.1.2.2).
struct SerialNumber {
    private let bytes: [UInt8]

    static func make() -> SerialNumber {
        var bytes = [UInt8](repeating: 0, count: 16)
        let isDrawn = unsafe bytes.withUnsafeMutableBufferPointer {
            unsafe RAND_bytes($0.baseAddress, Int32($0.count))
        }
        precondition(isDrawn == 1, "OpenSSL has no random numbers")
        // Positive, and not shorter than others.
        bytes[0] = bytes[0] & 0x7F | 0x40
        return SerialNumber(bytes: bytes)
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    /// Hexadecimal.
    var text: String { self.bytes.map { Hexadecimal.text(UInt64($0), digits: 2) }.joined() }

    func set(in certificate: borrowing Certificate) -> Bool {
        let number = unsafe BN_bin2bn(self.bytes, Int32(self.bytes.count), nil)
        defer { unsafe BN_free(number) }
        return unsafe BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate.raw)) != nil
    }
}
