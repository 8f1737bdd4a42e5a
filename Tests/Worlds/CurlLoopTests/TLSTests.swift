import CSystem
import CurlLoop
import EventLoop
import SimBase
import SystemIO
import Testing

/// Against `openssl s_server`, where there is one: the certificate is checked against the URL's host, whatever alias
/// and address the connection is made to.
@Suite struct TLSTests {
    private static let openssl = "/usr/bin/openssl"

    @Test(.enabled(if: shim_is_executable("/usr/bin/openssl") != 0))
    func `verification is on, and against the host of the URL`() throws {
        let loop = try Loop(clock: .startingNow())
        let folder = try Self.makeCertificate(loop)
        defer { _ = try? Self.shell("rm -r '\(folder)'", loop) }
        let output = try Pipe()
        let writing = output.writing.number
        let server = try ChildProcess(
            ChildPlan(
                executable: Self.openssl,
                arguments: [
                    "s_server", "-accept", "127.0.0.1:0", "-cert", "\(folder)/cert.pem", "-key",
                    "\(folder)/key.pem",
                    "-www",
                ], environment: nil,
                inherited: [.init(source: writing, target: 1), .init(source: writing, target: 2)]), loop: loop
        ) { _ in }
        let accepting = try Self.readPort(output.takeReading(), loop)
        let port = try #require(accepting)
        let certificate = "\(folder)/cert.pem"
        for version in [CurlTarget.Version.http1, .http2] {
            let good = Self.fetch("https://talaria.test:\(port)/", trusting: certificate, version, port, loop)
            #expect(good.end?.failure == nil)
            #expect(good.status == 200)
            #expect(good.end.map { $0.stats.appConnect > $0.stats.connect } == true)
        }
        let stranger = Self.fetch("https://talaria.test:\(port)/", trusting: nil, .http1, port, loop)
        #expect(stranger.end?.failure?.kind == .tls)
        let other = Self.fetch("https://other.test:\(port)/", trusting: certificate, .http1, port, loop)
        #expect(other.end?.failure?.kind == .tls)
        withExtendedLifetime(server) {}
    }

    private static func fetch(
        _ url: String, trusting file: String?, _ version: CurlTarget.Version, _ port: UInt16, _ loop: Loop
    ) -> Outcome {
        let pool = CurlPool(
            loop: loop,
            target: CurlTarget(
                port: port, addresses: ["127.0.0.1"], certificateAuthorities: file, version: version,
                connectTimeout: .seconds(10), sourceAddresses: []), phones: 1)
        let outcome = Outcome()
        pool.delegate = outcome
        _ = pool.start(
            TransferRequest(
                phone: 0, method: .get, url: url, headers: [], body: .none, receiveBuffer: .reply))
        #expect(Self.run(loop, until: { outcome.end != nil }))
        return outcome
    }

    private static func makeCertificate(_ loop: Loop) throws -> String {
        try Self.shell(
            """
            folder=$(mktemp -d) && \(Self.openssl) req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes \
            -keyout $folder/key.pem -out $folder/cert.pem -days 2 -subj /CN=talaria.test \
            -addext subjectAltName=DNS:talaria.test 2>/dev/null && printf %s $folder
            """, loop)
    }

    /// The output of a script that succeeds.
    private static func shell(_ script: String, _ loop: Loop) throws -> String {
        let output = try Pipe()
        var cause: ChildExit.Cause?
        let plan = ChildPlan(
            executable: "/bin/sh", arguments: ["-c", script], environment: nil,
            inherited: [.init(source: output.writing.number, target: 1)])
        let child = try ChildProcess(plan, loop: loop) { cause = $0.cause }
        #expect(Self.run(loop, until: { cause != nil }))
        #expect(cause == .exited(code: 0))
        let reading = output.takeReading()
        var bytes: [UInt8] = []
        while case .bytes = DescriptorIO.read(reading.number, appendingTo: &bytes, limit: 4_096) {}
        withExtendedLifetime(child) {}
        return String(decoding: bytes, as: UTF8.self)
    }

    /// From the line `ACCEPT 127.0.0.1:PORT`.
    private static func readPort(_ output: consuming Descriptor, _ loop: Loop) throws -> UInt16? {
        try DescriptorIO.setNonblocking(output.number, true)
        var bytes: [UInt8] = []
        var port: UInt16?
        let number = output.number
        let isRead = Self.run(loop) {
            _ = DescriptorIO.read(number, appendingTo: &bytes, limit: 4_096)
            let line = String(decoding: bytes, as: UTF8.self).split(separator: "\n").first {
                $0.hasPrefix("ACCEPT")
            }
            port = line.flatMap { $0.split(separator: ":").last }.flatMap { UInt16($0) }
            return port != nil
        }
        return isRead ? port : nil
    }

    private static func run(_ loop: Loop, until condition: () -> Bool) -> Bool {
        let deadline = loop.now() + .seconds(20)
        let tick = LoopTimer(loop: loop) { _ in }
        while !condition() {
            guard loop.now() < deadline else { return false }
            tick.arm(after: .milliseconds(5))
            loop.runOnce()
        }
        return true
    }
}

private final class Outcome: TransferDelegate {
    var status: Int?
    var end: TransferEnd?

    func transfer(_ transfer: TransferID, of phone: Int, replied head: ResponseHead, at moment: Instant) {
        self.status = head.status
    }
    func transfer(_ transfer: TransferID, of phone: Int, received bytes: [UInt8], at moment: Instant) {}
    func transfer(_ transfer: TransferID, of phone: Int, ended end: TransferEnd, at moment: Instant) {
        self.end = end
    }
}
