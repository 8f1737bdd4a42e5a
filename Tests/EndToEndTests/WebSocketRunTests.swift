import Foundation
import Testing

extension SideBySide {
    /// Jobs that are followed by WebSocket, with a client and a server that others wrote.
    @Suite struct WebSocketRunTests {
        private static let python = Package.root.appending(path: ".build/venv/bin/python")

        /// What the client saw, by the name of the check.
        private struct Check: Decodable {
            var check: String
            var types: [String]?
            var code, status: Int?
            var first, upgrade: String?
            var pong, token: Bool?
        }

        @Test func `a published client follows jobs on serve, and is refused and closed by the contract`()
            async throws
        {
            let serve = try await ServeProcess.start(
                Binary.path,
                [
                    "serve", "--port", "0", "--set", "server.job-time=2s..3s", "--set",
                    "server.rate-limit=off", "--set", "server.token-lifetime=20m",
                ])
            let script = Package.tests.appending(path: "Tools/websocket_client.py").path
            let outcome = try await Subprocess.run(
                Self.python, ["-B", "-W", "ignore", script, serve.base], seconds: 60)
            try #require(outcome.code == 0, "\(outcome.complaint)")
            let lines = outcome.output.split(separator: "\n").map { Data($0.utf8) }
            var checks: [String: Check] = [:]
            for line in lines {
                let check = try JSONDecoder().decode(Check.self, from: line)
                checks[check.check] = check
            }
            let followed = try #require(checks["followed"]?.types)
            #expect(followed.prefix(2) == ["ready_ack", "job_started"] && followed.last == "job_complete")
            #expect(checks["followed"]?.code == 1_000)
            #expect(checks["fragments"]?.first == "ready_ack" && checks["fragments"]?.pong == true)
            #expect(checks["used"]?.status == 401)
            #expect(checks["reconnected"]?.types?.dropFirst().first == "reconnected")
            #expect(checks["reconnected"]?.code == 1_000)
            #expect(checks["wrong"]?.status == 401 && checks["none"]?.status == 401)
            #expect(checks["plain"]?.status == 426 && checks["plain"]?.upgrade == "websocket")
            #expect(checks["refresh"]?.status == 200 && checks["refresh"]?.token == true)
            let line = try #require(lines.first { $0.starts(with: Data(#"{"check": "flaws""#.utf8)) })
            let flaws = try #require(try JSONSerialization.jsonObject(with: line) as? [String: Any])
            let codes = [
                "unmasked": 1_002, "reserved": 1_002, "continuation": 1_002, "not-utf8": 1_007,
                "binary": 1_003, "bad-code": 1_002, "too-long": 1_009,
            ]
            for (name, code) in codes { #expect(flaws[name] as? Int == code, "\(name)") }
        }

        @Test func `phones follow jobs of a published server, whatever it answers and however it closes`()
            async throws
        {
            let script = Package.root.appending(path: "Tests/Targets/sockets.py").path
            // Without arguments it tries all; 1013 waits for 30 s.
            let modes = ["plain", "1001", "1011", "4000", "401", "503"]
            let outcome = try await Subprocess.run(
                Self.python,
                ["-B", "-W", "ignore", script, "--binary", Binary.path.path] + modes, seconds: 560)
            #expect(outcome.code == 0, "\(outcome.output)\(outcome.complaint)")
            #expect(outcome.output == modes.map { "\($0): ok\n" }.joined())
        }
    }
}
