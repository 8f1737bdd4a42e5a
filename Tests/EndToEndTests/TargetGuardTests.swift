import Foundation
import Testing

extension SideBySide {
    /// Load leaves this machine only when that was said twice; the production host wants it said three times.
    @Suite struct TargetGuardTests {
        private static let refused: [(arguments: [String], says: String)] = [
            (["http://example.com"], "'example.com' is not a loopback address"),
            (["http://192.0.2.7"], "'192.0.2.7' is not a loopback address"),
            (["http://[2001:db8::7]"], "'2001:db8::7' is not a loopback address"),
            (["http://127.example.com"], "'127.example.com' is not a loopback address"),
            (["http://①②⑦.0.0.1"], "expects a URL of ASCII characters"),
            (["http://１２７.0.0.1"], "expects a URL of ASCII characters"),
            (["http://2130706433"], "'2130706433' is not a loopback address"),
            (
                ["http://example.com", "--allow-target", "example.org"],
                "--allow-target allows 'example.org', but the target is 'example.com'"
            ),
            (
                ["http://a.test:80", "--resolve", "a.test:80:127.0.0.1,192.0.2.7"],
                "'a.test' is not a loopback address"
            ),
            (
                ["https://api.oooefam.net", "--allow-target", "api.oooefam.net"],
                "'api.oooefam.net' is the production host"
            ),
            (
                ["https://API.oooefam.net.", "--allow-target", "api.oooefam.net"],
                "'API.oooefam.net.' is the production host"
            ),
            (
                ["https://api.oooefam.net", "--allow-production"],
                "'api.oooefam.net' is not a loopback address"
            ),
        ]

        /// The calls that open a socket or give it an address, as strace saw them.
        private func socketCalls(_ arguments: [String]) async throws -> (outcome: Outcome, calls: [Substring])
        {
            let scratch = try Scratch()
            let log = try scratch.file("calls")
            let outcome = try await Subprocess.run(
                URL(filePath: "/usr/bin/env"),
                [
                    "strace", "-f", "-qq", "-e", "trace=%network", "-o", log.path, Binary.path.path, "run",
                    ShortRun.scenario, "--quiet", "--output", scratch.folder.path + "/report", "--target",
                ] + arguments, seconds: 60)
            let text = String(decoding: try Data(contentsOf: log), as: UTF8.self)
            return (
                outcome,
                text.split(separator: "\n").filter { $0.contains("socket(") || $0.contains("bind(") }
            )
        }

        @Test(arguments: refused) func `what was not allowed is refused before a socket is opened`(
            arguments: [String], says: String
        ) async throws {
            let (outcome, calls) = try await self.socketCalls(arguments)
            #expect(outcome.code == 64)
            #expect(outcome.complaint.contains(says), "\(outcome.complaint)")
            #expect(calls == [])
        }

        @Test(arguments: [
            ("192.0.2.7", "no connection can have the source address 192.0.2.7"),
            ("127.0.0.5,::1", "--source has '::1', but the target has 127.0.0.1"),
            ("127.0.0.5,", "--source expects numeric addresses, not ''"),
        ])
        func `a source address that cannot be used is refused`(source: String, says: String) async throws {
            let outcome = try await Binary.run([
                "run", ShortRun.scenario, "--target", "http://127.0.0.1:9", "--source", source,
            ])
            #expect(outcome.code == 64)
            #expect(outcome.complaint.contains(says), "\(outcome.complaint)")
        }

        @Test func `connections come from the source addresses that were given`() async throws {
            try await ServeProcess.during([]) { served in
                let (_, calls) = try await self.socketCalls([
                    served.base, "--source", "127.0.0.5,127.0.0.6", "--phones", "2",
                ])
                for address in ["127.0.0.5", "127.0.0.6"] {
                    #expect(calls.contains { $0.contains("bind(") && $0.contains(address) })
                }
            }
        }

        /// The same witness sees the socket of a target that is allowed.
        @Test func `a name whose stated addresses are loopback needs no permission`() async throws {
            let base = try await ServeProcess.during([]) { $0.base }
            let port = base.split(separator: ":").last ?? ""
            let (outcome, calls) = try await self.socketCalls([
                "http://a.test:\(port)", "--resolve", "a.test:\(port):127.0.0.1",
            ])
            #expect(outcome.code == 69, "\(outcome.complaint)")
            #expect(calls.contains { $0.contains("AF_INET") })
        }
    }
}
