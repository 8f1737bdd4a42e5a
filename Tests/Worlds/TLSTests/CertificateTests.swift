import COpenSSL
import Testing

@testable import TLS

/// Certificates that are made, and those that are read.
@Suite struct CertificateTests {
    private static let day: Int64 = 86_400

    private static func server(_ names: String...) throws -> CertificateAuthority.Files {
        try CertificateAuthority(Session.authority, at: Session.now)
            .issue(for: names.compactMap(ServerName.init), at: Session.now)
    }

    private static func refusal(
        _ certificates: [UInt8], _ key: [UInt8], at now: Int64 = Session.now
    ) -> TLSIdentityError? {
        do throws(TLSIdentityError) {
            _ = try TLSContext(certificates: certificates, key: key, at: now)
            return nil
        } catch { return error }
    }

    private static func first(_ pem: [UInt8]) throws -> Certificate {
        guard let certificate = try Certificate.next(in: PEMText(pem)) else {
            throw TLSIdentityError.noCertificate
        }
        return certificate
    }

    /// A certificate as `openssl x509 -text` prints it.
    private static func text(_ pem: [UInt8]) throws -> String {
        let certificate = try Self.first(pem)
        let out = PEMText([])
        X509_print(out.raw, certificate.raw)
        return String(decoding: out.bytes, as: UTF8.self)
    }

    // MARK: Made

    @Test func `the certificate of a server has what iOS requires`() throws {
        let text = try Self.text(Self.server("localhost", "127.0.0.1", "::1", "*.talaria.test").certificate)
        for line in [
            "ASN1 OID: prime256v1", "Signature Algorithm: ecdsa-with-SHA256",
            "X509v3 Basic Constraints: critical\n                CA:FALSE",
            "X509v3 Key Usage: critical\n                Digital Signature",
            "X509v3 Extended Key Usage: \n                TLS Web Server Authentication",
            "DNS:localhost, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1, DNS:*.talaria.test",
        ] { #expect(text.contains(line), "\(line)") }
    }

    @Test func `it is valid from yesterday for at most 398 days, and not longer than its authority`() throws {
        let validity = try Self.first(Self.server("localhost").certificate).validity
        #expect(validity.from == Session.now - Self.day)
        #expect(validity.to - validity.from <= 398 * Self.day && validity.to > Session.now + 365 * Self.day)

        let late = Session.now + 3_600 * Self.day
        let last = try CertificateAuthority(Session.authority, at: late)
            .issue(for: [#require(ServerName("localhost"))], at: late)
        let end = try Self.first(Session.authority.certificate).validity.to
        #expect(try Self.first(last.certificate).validity.to == end)
    }

    @Test func `the authority issues certificates and nothing else`() throws {
        let text = try Self.text(Session.authority.certificate)
        for line in [
            "ASN1 OID: prime256v1", "X509v3 Basic Constraints: critical\n                CA:TRUE, pathlen:0",
            "X509v3 Key Usage: critical\n                Certificate Sign, CRL Sign",
        ] { #expect(text.contains(line), "\(line)") }
    }

    @Test func `two authorities differ in name, key and fingerprint`() throws {
        let files = (1...2).map { _ in CertificateAuthority.make(at: Session.now) }
        #expect(files[0].key != files[1].key)
        let subjects = try files.map { try Self.text($0.certificate).firstMatch(of: /Subject: .*/)?.output }
        #expect(subjects[0] != nil && subjects[0] != subjects[1])
        let prints = try files.map { try CertificateAuthority($0, at: Session.now).fingerprint }
        #expect(prints[0] != prints[1])
        #expect(prints[0].wholeMatch(of: /([0-9A-F]{2}:){31}[0-9A-F]{2}/) != nil)
    }

    // MARK: Read

    @Test func `a certificate with its issuer and its key is accepted`() throws {
        let files = try Self.server("localhost")
        #expect(Self.refusal(files.certificate + Session.authority.certificate, files.key) == nil)
    }

    @Test func `what cannot be used is refused with its reason`() throws {
        let files = try Self.server("localhost")
        let other = try Self.server("localhost")
        #expect(Self.refusal([], files.key) == .noCertificate)
        #expect(Self.refusal(files.key, files.key) == .noCertificate)
        #expect(Self.refusal(files.certificate, []) == .noKey)
        #expect(Self.refusal(files.certificate, files.certificate) == .noKey)
        #expect(Self.refusal(files.certificate, other.key) == .keyDoesNotMatch)
        #expect(Self.refusal(files.certificate, try Self.encrypted(files.key)) == .keyIsEncrypted)
        let from = Session.now - Self.day
        #expect(Self.refusal(files.certificate, files.key, at: from) == nil)
        #expect(Self.refusal(files.certificate, files.key, at: from - 1) == .notValidYet(from: from))
        let to = from + CertificateAuthority.serverValidity
        #expect(Self.refusal(files.certificate, files.key, at: to) == nil)
        #expect(Self.refusal(files.certificate, files.key, at: to + 1) == .expired(at: to))
        #expect(TLSIdentityError.expired(at: to).description.contains("2027-03-04T00:00:00.000Z"))
        let many = Array(repeating: Session.authority.certificate, count: 10).flatMap(\.self)
        #expect(Self.refusal(files.certificate + many, files.key) == .tooManyCertificates(max: 10))
        #expect(Self.refusal(files.certificate + many.dropLast(many.count / 10), files.key) == nil)
    }

    @Test func `damaged files are refused with OpenSSL's reason`() throws {
        let files = try Self.server("localhost")
        func damaged(_ pem: [UInt8]) -> [UInt8] {
            var pem = pem
            let middle = pem.count / 2
            pem.removeSubrange(middle..<middle + 8)
            return pem
        }
        guard case .unreadableCertificate(let reason) = Self.refusal(damaged(files.certificate), files.key),
            case .unreadableKey(let other) = Self.refusal(files.certificate, damaged(files.key))
        else {
            Issue.record("accepted")
            return
        }
        #expect(!reason.isEmpty && !other.isEmpty)
    }

    @Test func `an authority that has expired is refused`() {
        #expect(throws: TLSIdentityError.self) {
            _ = try CertificateAuthority(Session.authority, at: Session.now + 3_651 * Self.day)
        }
        #expect(throws: TLSIdentityError.keyDoesNotMatch) {
            var files = Session.authority
            files.key = Session.server.key
            _ = try CertificateAuthority(files, at: Session.now)
        }
    }

    /// The key with a password.
    private static func encrypted(_ pem: [UInt8]) throws -> [UInt8] {
        let key = try PrivateKey.read(pem)
        let out = PEMText([])
        PEM_write_bio_PKCS8PrivateKey(out.raw, key.raw, EVP_aes_128_cbc(), "secret", 6, nil, nil)
        return out.bytes
    }

    // MARK: Names

    @Test(arguments: [
        "localhost", "Talaria.Test", "a_b.local", "*.example.test", "127.0.0.1", "::1", "fe80::1",
        "2001:db8::7",
    ]) func `a name of a server is a host name or an address`(text: String) {
        #expect(ServerName(text)?.text == text.lowercased())
    }

    @Test(arguments: [
        "", ".", "a..b", "a b", "-a", "a-", "*", "a.*", "a,DNS:b", "a\nb", "1:2:3", "host:8080", "[::1]",
        "ä.test",
        String(repeating: "a", count: 64), String(repeating: "a.", count: 127) + "test",
    ]) func `anything else is no name`(text: String) {
        #expect(ServerName(text) == nil)
    }
}
