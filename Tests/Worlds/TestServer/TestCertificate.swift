internal import EventLoop
internal import Foundation
internal import TLS

/// A certificate for `talaria.test`, and the authority that a client trusts as a file.
final class TestCertificate {
    let context: TLSContext
    /// The path of the file.
    let authority: String

    init() throws {
        let now = WallClock.now() / 1_000_000_000
        let files = CertificateAuthority.make(at: now)
        let server = try CertificateAuthority(files, at: now)
            .issue(for: ["talaria.test"].compactMap(ServerName.init), at: now)
        self.context = try TLSContext(certificates: server.certificate, key: server.key, at: now)
        self.authority = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
        try Data(files.certificate).write(to: URL(fileURLWithPath: self.authority))
    }

    deinit { try? FileManager.default.removeItem(atPath: self.authority) }
}
