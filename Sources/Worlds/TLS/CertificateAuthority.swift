internal import COpenSSL
import SimBase

/// A certificate authority that issues the certificate of one server. A client that trusts it trusts each
/// certificate that it issues, so the certificate of a server can be made again at each start.
@safe package struct CertificateAuthority: ~Copyable {
    /// A certificate and its private key as PEM files.
    package struct Files: Hashable, Sendable {
        package var certificate: [UInt8]
        package var key: [UInt8]

        package init(certificate: [UInt8], key: [UInt8]) {
            self.certificate = certificate
            self.key = key
        }
    }

    private static let day: Int64 = 86_400
    /// A clock of a client may be late.
    private static let backdating = Self.day
    /// iOS accepts at most 398 days from public authorities (https://support.apple.com/102028) and 825 days from others
    /// (https://support.apple.com/103769).
    package static let serverValidity = 397 * Self.day
    private static let authorityValidity = 3_650 * Self.day

    private let certificate: Certificate
    private let key: PrivateKey

    /// Reads the files of an authority that `make` returned. `now`: seconds since 1970.
    package init(_ files: Files, at now: Int64) throws(TLSIdentityError) {
        guard let certificate = try Certificate.next(in: PEMText(files.certificate)) else {
            throw .noCertificate
        }
        let key = try PrivateKey.read(files.key)
        guard certificate.matches(key) else { throw .keyDoesNotMatch }
        try certificate.checkValidity(at: now)
        self.certificate = certificate
        self.key = key
    }

    /// The SHA-256 fingerprint of the authority's certificate, as `A1:B2:…`.
    package var fingerprint: String {
        self.certificate.fingerprint.map { Hexadecimal.text(UInt64($0), digits: 2).uppercased() }
            .joined(separator: ":")
    }

    /// Makes a new authority, valid for ten years. `now`: seconds since 1970.
    package static func make(at now: Int64) -> Files {
        let key = PrivateKey.make()
        let serial = SerialNumber.make()
        // Trust stores find an issuer by its name: two authorities with the same name would be mixed up.
        let name = "swiftwing-sim authority \(serial.text.prefix(8))"
        let draft = CertificateDraft(
            name: name, serial: serial, from: now - Self.backdating, to: now + Self.authorityValidity, key)
        let certificate = draft.selfSigned(
            key,
            extensions: [
                (NID_basic_constraints, "critical,CA:TRUE,pathlen:0"),
                (NID_key_usage, "critical,keyCertSign,cRLSign"), (NID_subject_key_identifier, "hash"),
            ])
        return Files(certificate: certificate.pem, key: key.pem)
    }

    /// Makes a key and a certificate for servers with these names, which has what iOS requires
    /// (https://support.apple.com/103769): a key on P-256, a signature with SHA-256, the names as subject alternative names,
    /// the extended key usage of a server. `now`: seconds since 1970.
    package func issue(for names: [ServerName], at now: Int64) -> Files {
        precondition(!names.isEmpty, "a server has a name")
        let key = PrivateKey.make()
        let from = now - Self.backdating
        let draft = CertificateDraft(
            name: "swiftwing-sim", serial: SerialNumber.make(), from: from,
            to: min(from + Self.serverValidity, self.certificate.validity.to), key)
        let certificate = draft.signed(
            by: self.certificate, self.key,
            extensions: [
                (NID_basic_constraints, "critical,CA:FALSE"), (NID_key_usage, "critical,digitalSignature"),
                (NID_ext_key_usage, "serverAuth"),
                (NID_subject_alt_name, names.map(\.extensionText).joined(separator: ",")),
                (NID_subject_key_identifier, "hash"), (NID_authority_key_identifier, "keyid:always"),
            ])
        return Files(certificate: certificate.pem, key: key.pem)
    }
}
