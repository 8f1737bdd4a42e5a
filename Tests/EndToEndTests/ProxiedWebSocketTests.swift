import Foundation
import Testing

extension SideBySide {
    /// A server and a client of WebSocket that others wrote, with `proxy` between them.
    @Suite struct ProxiedWebSocketTests {
        private static let python = Package.root.appending(path: ".build/venv/bin/python")
        private static let script = Package.tests.appending(path: "Tools/proxied_websocket.py").path

        private static func startServer() async throws -> ServeProcess {
            try #require(
                FileManager.default.isExecutableFile(atPath: self.python.path),
                "there is no server of another make: run `make test`, which installs it")
            return try await ServeProcess.start(self.python, ["-B", self.script, "server"])
        }

        /// What the client saw at each address, a line each.
        private static func seen(at base: String) async throws -> [String] {
            let outcome = try await Subprocess.run(
                self.python, ["-B", self.script, "client", base], seconds: 60)
            try #require(outcome.code == 0, "\(outcome.complaint)")
            return outcome.output.split(separator: "\n").map(String.init)
        }

        @Test func `they do not notice it, but that a job's messages are not compressed`() async throws {
            let server = try await Self.startServer()
            let proxy = try await ServeProcess.start(
                Binary.path, ["proxy", "--port", "0", "--upstream", server.base])
            let direct = try await Self.seen(at: server.base)
            let proxied = try await Self.seen(at: proxy.base)
            #expect(direct.count == 5)
            #expect(
                direct[0].contains("\"job_complete 1769947200005 ")
                    && direct[0].contains("\"closed 1000 done\""))
            let extensions = "\"extensions permessage-deflate\""
            #expect(direct[0].contains(extensions) && direct[1].contains(extensions))
            #expect(
                proxied == [direct[0].replacingOccurrences(of: extensions, with: "\"extensions \"")]
                    + direct.dropFirst())
            #expect(await proxy.end() == 0)
        }

        @Test(arguments: ["/echo", "/ws/progress?jobId=scan_22222222-2222-4333-8444-555555555555"])
        func `the cases of Autobahn end as they do without it`(path: String) async throws {
            let server = try await Self.startServer()
            let proxy = try await ServeProcess.start(
                Binary.path, ["proxy", "--port", "0", "--upstream", server.base])
            let script = Package.root.appending(path: "Tests/SocketConformance/autobahn.py").path
            var verdicts: [[Substring]] = []
            for base in [server.base, proxy.base] {
                let url = "ws" + base.dropFirst(4) + path
                let outcome = try await Subprocess.run(
                    Self.python, ["-B", script, "server", url], seconds: 60)
                try #require(outcome.code == 0, "\(outcome.complaint)")
                // Whether a failure is noticed at once or a moment later depends on how the bytes came.
                verdicts.append(
                    outcome.output.replacing("NON-STRICT", with: "OK").split(separator: "\n"))
            }
            #expect(verdicts[0].count > 240 && verdicts[0].count { $0.hasSuffix(" OK OK") } > 200)
            #expect(verdicts[1] == verdicts[0])
        }

        @Test func `a fault of a scenario cuts a job's messages, and nothing else`() async throws {
            let scratch = try Scratch()
            defer { withExtendedLifetime(scratch) {} }
            let text = """
                scenario: 1
                name: cut-sockets
                fleet: {phones: {phones: 1, journey: bookshelf-scan, scans: 1, arrivals: 1/s}}
                faults: [{do: close, on: stream, after: 2 events}]
                """
            let scenario = try scratch.file("cut.scenario", Data(text.utf8)).path
            let server = try await Self.startServer()
            let proxy = try await ServeProcess.start(
                Binary.path, ["proxy", "--port", "0", "--upstream", server.base, scenario])
            let direct = try await Self.seen(at: server.base)
            let proxied = try await Self.seen(at: proxy.base)
            #expect(proxied.dropFirst() == direct.dropFirst())
            #expect(proxied[0].contains("\"job_progress 1769947200001 "))
            #expect(!proxied[0].contains("\"ping ") && proxied[0].contains("\"closed 1006 \""))
        }
    }
}
