import Foundation
import Testing

/// `serve` with TLS, and an authority in a folder of its own.
final class TLSServe: Sendable {
    let process: ServeProcess
    private let scratch: Scratch

    var authority: String { self.scratch.folder.path + "/tls/ca.pem" }

    init(_ arguments: [String] = []) async throws {
        self.scratch = try Scratch()
        self.process = try await ServeProcess.start(
            ["--tls=\(self.scratch.folder.path)/tls", "--quiet"] + arguments)
    }

    /// What a script of `Tools` reports about this server.
    func told<Told: Decodable>(_ type: Told.Type, _ words: String..., seconds: Int = 50) async throws -> Told
    {
        try await Self.told(
            type, words[0], [self.process.base, self.authority] + words.dropFirst(), seconds: seconds)
    }

    static func told<Told: Decodable>(
        _ type: Told.Type, _ command: String, _ words: [String], seconds: Int
    ) async throws -> Told {
        let script = Package.tests.appending(path: "Tools/tls_client.py").path
        let outcome = try await Subprocess.run(
            URL(filePath: "/usr/bin/env"), ["python3", script, command] + words, seconds: seconds)
        try #require(outcome.code == 0, "\(outcome.complaint)")
        return try JSONDecoder().decode(type, from: Data(outcome.output.utf8))
    }

    static func shell(_ script: String, in folder: URL) async throws -> Outcome {
        try await Subprocess.run(URL(filePath: "/bin/sh"), ["-ec", script], folder: folder)
    }
}

extension SideBySide {
    /// `serve --tls`, as clients see it that others wrote.
    @Suite struct ServeTLSTests {
        private static let quick = ["--set", "server.job-time=300ms..500ms"]

        // MARK: Clients

        @Test func `curl uploads a photo and follows its stream`() async throws {
            let serve = try await TLSServe(Self.quick)
            #expect(serve.process.base.hasPrefix("https://127.0.0.1:"))
            var phone = Curl(base: serve.process.base)
            phone.authority = serve.authority
            let accepted = try await phone.upload([Curl.photo]).decoded(Accepted.self).data
            phone.token = accepted.authToken
            let events = StreamEvent.all(in: try await phone.stream(accepted.jobId).body)
            let books = try #require(try events.last?.decoded(CompletedData.self).books)
            let results = try await phone.get("/v3/jobs/scans/\(accepted.jobId)/results?format=lite")
            #expect(try results.decoded(Results.self).data.results == books)
            #expect(try await phone.delete("/v3/jobs/scans/\(accepted.jobId)/cleanup").status == 204)
            #expect(await serve.process.end() == 0)
        }

        @Test func `a gateway with TLS leads absolute links back to itself`() async throws {
            let serve = try await ServeProcess.start(Self.quick + ["--set", "server.links=absolute"])
            let scratch = try Scratch()
            let folder = scratch.folder.path
            let proxy = try await ServeProcess.start(
                Binary.path,
                ["proxy", "--port", "0", "--quiet", "--upstream", serve.base, "--tls=\(folder)"])
            var phone = Curl(base: proxy.base)
            phone.authority = folder + "/ca.pem"
            let accepted = try await phone.upload([Curl.photo]).decoded(Accepted.self).data
            #expect(accepted.sseUrl == "\(proxy.base)/v3/jobs/scans/\(accepted.jobId)/stream")
        }

        private struct Probe: Decodable, Equatable {
            var version: String
            var alpn: String?
            var names: [String]
            var days: Double
            var refused: [String: String?]
        }

        @Test func `Python's ssl module finds names, versions and protocols as iOS requires`() async throws {
            let serve = try await TLSServe(["--allow-host", "Talaria.test", "--allow-host", "10.0.0.7"])
            let probe = try await serve.told(Probe.self, "probe")
            #expect(
                probe
                    == Probe(
                        version: "TLSv1.3", alpn: "http/1.1",
                        names: ["localhost", "127.0.0.1", "0:0:0:0:0:0:0:1", "talaria.test", "10.0.0.7"],
                        days: probe.days,
                        refused: [
                            "TLS 1.1": "TLSV1_ALERT_PROTOCOL_VERSION", "TLS 1.2": nil,
                            "HTTP/2 only": "[SSL] tlsv1 alert no application protocol",
                            "other name": "CERTIFICATE_VERIFY_FAILED",
                            "untrusted": "CERTIFICATE_VERIFY_FAILED",
                        ]))
            #expect((365...398).contains(probe.days))
            for name in ["localhost", "talaria.test", "10.0.0.7"] {
                #expect(try await serve.told(Probe.self, "probe", name).version == "TLSv1.3", "\(name)")
            }
        }

        @Test func `openssl verifies the chain strictly, for a server`() async throws {
            let serve = try await TLSServe()
            let scratch = try Scratch()
            let outcome = try await TLSServe.shell(
                """
                openssl s_client -connect 127.0.0.1:\(serve.process.port) -showcerts </dev/null 2>/dev/null \
                    | openssl x509 > server.pem
                openssl verify -x509_strict -purpose sslserver -verify_hostname localhost -CAfile '\(serve.authority)' \
                    server.pem
                openssl x509 -in server.pem -noout -text -certopt no_pubkey,no_sigdump
                """, in: scratch.folder)
            #expect(outcome.code == 0, "\(outcome.complaint)")
            #expect(outcome.output.contains("server.pem: OK"))
            #expect(outcome.output.contains("ecdsa-with-SHA256"))
            #expect(outcome.output.contains("TLS Web Server Authentication"))
        }

        @Test func `a run accepts the server with --cacert, and not without it`() async throws {
            let serve = try await TLSServe()
            let target = ["--target", "https://localhost:\(serve.process.port)"]
            let stranger = try await Subprocess.run(
                Binary.path, ["run", ShortRun.scenario, "--quiet"] + target)
            #expect(stranger.code == 69)
            #expect(stranger.complaint.contains("unable to get local issuer certificate"))
            let (outcome, process) = try await ShortRun.finished(
                target + ["--cacert", serve.authority] + ShortRun.set(["faults=[]"])
                    + ShortRun.objectiveOfScansAlone)
            #expect(outcome.code == 0, "\(outcome)")
            #expect(try process.report.summary().scans.completed == ShortRun.scans)
            #expect(try process.report.metricCount("net.tls.time") > 0)
        }

        // MARK: Ends

        private struct Ending: Decodable, Equatable {
            var end: String
            /// Also of an event that was cut.
            var events: [String]
            /// The last chunk has come.
            var whole: Bool
        }

        /// The job is slow: few events come before the client has connected.
        private static func options(_ fault: String) -> [String] {
            ["--set", "server.job-time=2s..2s"]
                + (fault.isEmpty ? [] : ["--set", "faults=[{\(fault), on: stream, after: 2 events}]"])
        }

        private static func ending(_ fault: String) async throws -> Ending {
            let serve = try await TLSServe(Self.options(fault))
            return try await serve.told(Ending.self, "stream", Package.photo.path)
        }

        @Test func `a stream that ends as it should ends with close_notify`() async throws {
            let seen = try await Self.ending("")
            #expect(seen.end == "close_notify" && seen.whole)
            #expect(seen.events.last == "completed")
        }

        @Test(arguments: [
            ("do: reset", "reset"), ("do: close", "close_notify"), ("do: end-cleanly", "close_notify"),
            ("do: silence", "timeout"),
        ]) func `a fault cuts a stream at the same place as without TLS`(fault: String, end: String)
            async throws
        {
            let seen = try await Self.ending(fault)
            let plain = try await ServeProcess.start(["--quiet"] + Self.options(fault))
            let expected = try await TLSServe.told(
                Ending.self, "stream", [plain.base, "-", Package.photo.path], seconds: 30)
            #expect(seen.end == end)
            #expect(expected.end == (end == "close_notify" ? "fin" : end))
            #expect(seen.events == expected.events && seen.whole == expected.whole)
            #expect(seen.events.count < 5 && seen.whole == (fault == "do: end-cleanly"))
        }

        // MARK: The authority

        @Test func `the authority is made once, and only its owner can read its key`() async throws {
            let scratch = try Scratch()
            let folder = scratch.folder.appending(path: "deep/tls")
            let script = """
                timeout 1 '\(Binary.path.path)' serve --tls='\(folder.path)' || true
                """
            // Both at once: one of them makes it.
            async let one = TLSServe.shell(script, in: scratch.folder)
            async let other = TLSServe.shell(script, in: scratch.folder)
            let outcomes = try await [one, other, TLSServe.shell(script, in: scratch.folder)]
            let prints = outcomes.map { $0.complaint.firstMatch(of: /SHA-256 (\S+)/)?.output.1 }
            #expect(prints[0] != nil && Set(prints).count == 1)
            let command = "xcrun simctl keychain booted add-root-cert \(folder.path)/ca.pem"
            #expect(outcomes.allSatisfy { $0.complaint.contains(command) })
            #expect(outcomes.allSatisfy { $0.output.hasPrefix("listening https://127.0.0.1:") })
            #expect(Self.mode(folder.appending(path: "ca.key")) == 0o600)
            #expect(Self.mode(folder) == 0o700)
            #expect(
                try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == [
                    "ca.key", "ca.pem",
                ])
        }

        private static func mode(_ file: URL) -> Int? {
            (try? FileManager.default.attributesOfItem(atPath: file.path))?[.posixPermissions] as? Int
        }

        @Test func `the authority is in the data folder of the user`() async throws {
            let scratch = try Scratch()
            var environment = Subprocess.environment.merging(["HOME": scratch.folder.path]) { $1 }
            environment["XDG_DATA_HOME"] = nil
            let script = "timeout 1 '\(Binary.path.path)' serve --tls || true"
            let outcome = try await Subprocess.run(
                URL(filePath: "/bin/sh"), ["-c", script], environment: environment)
            let file = scratch.folder.path + "/.local/share/swiftwing-sim/tls/ca.pem"
            #expect(outcome.complaint.contains(file), "\(outcome)")
            #expect(FileManager.default.fileExists(atPath: file))
        }

        @Test(arguments: [
            ("rm ca.key", "one of its files is missing"), ("echo > ca.pem", "there is no certificate"),
            ("openssl genpkey -algorithm ED25519 -out ca.key", "the private key does not belong"),
        ]) func `an authority that cannot be used is named with what to do`(damage: String, reason: String)
            async throws
        {
            let scratch = try Scratch()
            let serve = "'\(Binary.path.path)' serve --tls=."
            let outcome = try await TLSServe.shell(
                "timeout 1 \(serve) 2>/dev/null || true; \(damage); \(serve)", in: scratch.folder)
            #expect(outcome.code == 65)
            #expect(outcome.complaint.contains(reason), "\(outcome.complaint)")
            #expect(outcome.complaint.contains("remove ca.pem and ca.key"))
        }

        // MARK: One's own certificate

        private static let certificate =
            "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=own -addext subjectAltName=DNS:localhost 2>/dev/null"

        @Test func `one's own certificate is served`() async throws {
            let scratch = try Scratch()
            let made = try await TLSServe.shell(
                "\(Self.certificate) -days 2 -keyout own.key -out own.pem", in: scratch.folder)
            #expect(made.code == 0, "\(made.complaint)")
            let path = scratch.folder.path
            let serve = try await ServeProcess.start(
                ["--quiet", "--tls-cert", "\(path)/own.pem", "--tls-key", "\(path)/own.key"])
            var phone = Curl(base: "https://localhost:\(serve.port)")
            phone.authority = path + "/own.pem"
            #expect(try await phone.upload([Curl.photo]).status == 202)
        }

        private static let mistakes: [(options: String, code: Int32, says: String)] = [
            ("--tls-cert own.pem", 64, "--tls-cert requires --tls-key FILE"),
            ("--tls-key own.key", 64, "--tls-key requires --tls-cert FILE"),
            ("--tls --tls-cert own.pem --tls-key own.key", 64, "--tls cannot be combined"),
            (
                "--tls-cert none.pem --tls-key own.key", 66,
                "cannot read 'none.pem': No such file or directory"
            ),
            (
                "--tls-cert own.pem --tls-key none.key", 66,
                "cannot read 'none.key': No such file or directory"
            ),
            (
                "--tls-cert own.pem --tls-key other.key", 65,
                "the private key does not belong to the certificate"
            ),
            ("--tls-cert own.pem --tls-key secret.key", 65, "openssl pkey -in secret.key"),
            (
                "--tls-cert own.key --tls-key own.key", 65,
                "cannot use the certificate 'own.key': there is no certificate"
            ),
            (
                "--tls-cert own.pem --tls-key own.pem", 65,
                "cannot use the key 'own.pem': there is no private key"
            ),
            ("--tls-cert old.pem --tls-key old.key", 65, "the certificate has expired at 20"),
            ("--tls=tls --allow-host 'two words'", 64, "a certificate cannot be for 'two words'"),
        ]

        @Test func `what cannot be served is refused with its reason`() async throws {
            let scratch = try Scratch()
            // x509 can begin a certificate's life now only; with no days at all it has ended a second later.
            let made = try await TLSServe.shell(
                """
                \(Self.certificate) -days 2 -keyout own.key -out own.pem
                openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out other.key
                openssl pkey -in own.key -aes128 -passout pass:secret -out secret.key
                openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=old -keyout old.key \
                    -out old.csr 2>/dev/null
                openssl x509 -req -in old.csr -signkey old.key -days 0 -out old.pem 2>/dev/null
                sleep 1.1
                """, in: scratch.folder)
            #expect(made.code == 0, "\(made.complaint)")
            for mistake in Self.mistakes {
                let outcome = try await TLSServe.shell(
                    "'\(Binary.path.path)' serve \(mistake.options)", in: scratch.folder)
                #expect(outcome.code == mistake.code, "\(mistake.options): \(outcome)")
                #expect(outcome.complaint.contains(mistake.says), "\(mistake.options): \(outcome.complaint)")
                #expect(outcome.output == "")
            }
        }

        @Test func `the log tells which connections fail and why`() async throws {
            let scratch = try Scratch()
            let port = 20_000 + Int(ProcessInfo.processInfo.processIdentifier) % 9_000
            let outcome = try await TLSServe.shell(
                """
                timeout 5 '\(Binary.path.path)' serve --port \(port) --tls=. & sleep 1
                curl -sS -i http://127.0.0.1:\(port)/v3 || true
                curl -sS https://127.0.0.1:\(port)/v3 2>/dev/null || true
                curl -sS --cacert ca.pem https://127.0.0.1:\(port)/v3/none || true
                kill $! ; wait
                """, in: scratch.folder)
            #expect(
                outcome.output.contains("This port is for TLS. Use https:// instead of http://."),
                "\(outcome)")
            #expect(
                outcome.complaint.contains("TLS: the client sent plain HTTP to a port for TLS: use https://"))
            #expect(
                outcome.complaint.contains(
                    "TLS: the client does not trust the certificate (alert: unknown CA)"))
            #expect(outcome.complaint.contains("GET /v3/none 404"))
        }
    }
}

extension EndToEnd {
    /// What takes the processors.
    @Suite struct ServeTLSLoadTests {
        private struct Memory: Decodable {
            /// KiB.
            var before: Int
            var after: Int
        }

        @Test func `a thousand connections leave nothing behind`() async throws {
            let serve = try await TLSServe()
            let memory = try await serve.told(
                Memory.self, "many", "\(serve.process.processID)", "1000")
            #expect(memory.after - memory.before < 512, "KiB: \(memory)")
        }

        private struct Seen: Decodable {
            var error: String?
            var events: [String]?
            var last: Bool?
            var cleanup: Int?
        }

        @Test func `a page in Chromium follows an event source over https`() async throws {
            let serve = try await TLSServe([
                "--browser", "--set", "server.job-time=2s", "--set", "server.ping=500ms",
            ])
            let script = Package.tests.appending(path: "Tools/browser.py").path
            let outcome = try await Subprocess.run(
                URL(filePath: "/usr/bin/env"), ["python3", script, serve.process.base, "eventsource"],
                seconds: 50)
            try #require(outcome.code == 0, "\(outcome.complaint)")
            let seen = try JSONDecoder().decode(Seen.self, from: Data(outcome.output.utf8))
            #expect(seen.error == nil && seen.last == true && seen.cleanup == 204)
            #expect(seen.events?.first == "progress" && seen.events?.last == "completed")
        }
    }
}
