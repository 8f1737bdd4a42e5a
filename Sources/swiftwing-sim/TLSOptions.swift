import LiveServer
import RunDriver
import RunJudge
import SimBase
import SystemIO
import TLS

/// The options that make a server speak TLS.
enum TLSOptions {
    static let options = [
        Option(
            name: "--tls", value: "DIR", isValueOptional: true,
            help:
                "serve https with a certificate made at the start; its authority is kept in DIR (default: ~/.local/share/swiftwing-sim/tls)"
        ),
        Option(
            name: "--tls-cert", value: "FILE",
            help: "serve https with this certificate, followed by those of its issuers (PEM)"),
        Option(name: "--tls-key", value: "FILE", help: "private key of --tls-cert, without a password (PEM)"),
    ]

    static let fileBytesMax = 1 << 20

    /// Returns what the options ask for, and prints what a client must trust; nil without TLS. `now`: seconds since 1970.
    static func context(_ arguments: Arguments, host: String, at now: Int64, _ console: Console) throws
        -> TLSContext?
    {
        let own = (certificate: arguments["--tls-cert"], key: arguments["--tls-key"])
        if arguments.has("--tls") {
            guard own == (nil, nil) else {
                throw CommandFailure(
                    .usage, "--tls cannot be combined with --tls-cert and --tls-key",
                    hint: "--tls makes a certificate, --tls-cert uses an existing one")
            }
            return try Self.issued(arguments, host, now, console)
        }
        switch own {
        case (nil, nil): return nil
        case (nil, .some):
            throw CommandFailure(.usage, "--tls-key requires --tls-cert FILE")
        case (.some, nil):
            throw CommandFailure(.usage, "--tls-cert requires --tls-key FILE")
        case (.some(let certificate), .some(let key)):
            return try Self.existing(certificate, key, now)
        }
    }

    // MARK: An existing certificate

    private static func existing(_ certificate: String, _ key: String, _ now: Int64) throws -> TLSContext {
        let (certificates, secret) = (try Self.contents(certificate), try Self.contents(key))
        do throws(TLSIdentityError) {
            return try TLSContext(certificates: certificates, key: secret, at: now)
        } catch {
            let path = error.isAboutKey ? key : certificate
            throw CommandFailure(
                .badData, "cannot use the \(error.isAboutKey ? "key" : "certificate") '\(path)': \(error)",
                hint: error.hint(certificate: certificate, key: key))
        }
    }

    private static func contents(_ path: String) throws -> [UInt8] {
        do throws(File.Unreadable) {
            return try File.contents(of: path, bytesMax: Self.fileBytesMax)
        } catch {
            if case .failed(_, let cause) = error {
                throw CommandFailure(.noInput, "cannot read '\(path)': \(cause.reason)")
            }
            throw CommandFailure(.badData, "\(error)")
        }
    }

    // MARK: A new certificate

    private static func issued(
        _ arguments: Arguments, _ host: String, _ now: Int64, _ console: Console
    ) throws -> TLSContext {
        let names = try Self.names(host: host, allowed: arguments.all("--allow-host"))
        let folder = try AuthorityFolder(arguments["--tls"] ?? "")
        let authority = try folder.authority(at: now)
        let files = authority.issue(for: names, at: now)
        let context: TLSContext
        do throws(TLSIdentityError) {
            context = try TLSContext(certificates: files.certificate, key: files.key, at: now)
        } catch {
            throw CommandFailure(.internalError, "the new certificate cannot be used: \(error)")
        }
        console.error("certificate authority: \(folder.certificatePath)")
        console.error("  SHA-256 \(authority.fingerprint)")
        console.error("  to trust it in the booted iOS simulator: \(folder.trustCommand)")
        return context
    }

    /// The names in a certificate. An address that means every address is none that a client uses.
    private static func names(host: String, allowed: [String]) throws -> [ServerName] {
        var texts = ["localhost", "127.0.0.1", "::1"]
        if IPAddress.isNumeric(host), !["0.0.0.0", "::"].contains(host) { texts.append(host) }
        var names: [ServerName] = []
        for text in texts + allowed {
            guard let name = ServerName(text) else {
                throw CommandFailure(
                    .usage, "a certificate cannot be for '\(text)'",
                    hint: "with --tls, --allow-host expects a host name or an address")
            }
            if !names.contains(name) { names.append(name) }
        }
        return names
    }
}

extension TLSIdentityError {
    /// Whether the key is wrong, and not the certificate.
    fileprivate var isAboutKey: Bool {
        switch self {
        case .noKey, .unreadableKey, .keyIsEncrypted, .keyDoesNotMatch: true
        case .noCertificate, .unreadableCertificate, .notValidYet, .expired, .tooManyCertificates, .refused:
            false
        }
    }

    fileprivate func hint(certificate: String, key: String) -> String? {
        switch self {
        case .keyIsEncrypted:
            "decrypt it: openssl pkey -in \(ShellWords.quoted(key)) -out decrypted.key"
        case .keyDoesNotMatch:
            "the first certificate in '\(certificate)' must be that of the key"
        case .noCertificate:
            "--tls-cert expects PEM: openssl x509 -inform der -in \(ShellWords.quoted(certificate)) -out server.pem"
        case .noKey: "--tls-key expects a file with -----BEGIN PRIVATE KEY-----"
        case .expired: "renew it, or let --tls make a certificate"
        case .unreadableCertificate, .unreadableKey, .notValidYet, .tooManyCertificates, .refused: nil
        }
    }
}
