import Foundation
import Testing

extension SideBySide {
    /// `proxy` in front of a backend that knows nothing of it.
    @Suite struct ProxyTests {
        private static let quick = ["--set", "server.job-time=300ms..500ms"]

        @Test func `curl follows a stream through the gateway`() async throws {
            let serve = try await ServeProcess.start(Self.quick)
            let proxy = try await ServeProcess.start(
                Binary.path, ["proxy", "--port", "0", "--upstream", serve.base])
            var phone = Curl(base: proxy.base)
            let upload = try await phone.upload([Curl.photo])
            #expect(upload.status == 202)
            let accepted = try upload.decoded(Accepted.self).data
            phone.token = accepted.authToken
            let stream = try await phone.stream(accepted.jobId)
            #expect(stream.status == 200)
            #expect(stream.headers["content-type"] == "text/event-stream")
            let events = StreamEvent.all(in: stream.body)
            let completed = try #require(events.last { !$0.isPing })
            #expect(completed.name == "completed")
            let books = try #require(try completed.decoded(CompletedData.self).books)
            let results = try await phone.get("/v3/jobs/scans/\(accepted.jobId)/results?format=lite")
            #expect(try results.decoded(Results.self).data.results == books)
            #expect(try await phone.delete("/v3/jobs/scans/\(accepted.jobId)/cleanup").status == 204)
            #expect(await proxy.end() == 0)
        }

        @Test func `faults of a scenario meet a foreign target in a gateway of the run's own`() async throws {
            let serve = try await ServeProcess.start(["--set", "server.job-time=300ms..900ms"])
            let (outcome, process) = try await ShortRun.finished(["--target", serve.base])
            #expect(outcome.code == 0, "\(outcome)")
            let summary = try process.report.summary()
            #expect(summary.scans.isConserved)
            #expect(summary.scans.lost == 0)
            for fault in ["rate-limit-1", "strip-books-1", "reset-1", "expire-token-1", "offline-1"] {
                #expect(try process.report.text("summary.json").contains("\"\(fault)\""))
            }
            let log = try process.report.text("events.ndjson")
            for fault in ["strip-books-1", "reset-1", "expire-token-1"] {
                #expect(log.contains("\"what\":\"fired\",\"fault\":\"\(fault)\""), "\(fault) fired")
            }
        }

        @Test func `the same seed directly and through the gateway ends with the same verdict`() async throws
        {
            let faults = ["--seed", "11"] + ShortRun.options
            let direct = try await ServeProcess.start([ShortRun.scenario] + faults)
            let plain = try await ServeProcess.start(
                [ShortRun.scenario] + faults + ShortRun.set(["faults=[]"]))
            let proxy = try await ServeProcess.start(
                Binary.path, ["proxy", "--port", "0", "--upstream", plain.base, ShortRun.scenario] + faults)
            var verdicts: [Verdict] = []
            for target in [direct.base, proxy.base] {
                let (outcome, process) = try await ShortRun.finished(
                    // The target has the faults of the scenario, and is not on trial.
                    ShortRun.set(["faults=[]", "trial.judge=off"]) + ["--seed", "11", "--target", target])
                let summary = try process.report.summary()
                verdicts.append(
                    Verdict(
                        exit: outcome.code, passed: summary.passed, captured: summary.scans.captured,
                        completed: summary.scans.completed, refused: summary.scans.refused,
                        waiting: summary.scans.waiting, lost: summary.scans.lost,
                        books: try Self.books(process.report), broken: summary.broken.map(\.id)))
            }
            #expect(verdicts[0] == verdicts[1])
            #expect(verdicts[0].exit == 0 && verdicts[0].completed == ShortRun.scans)
            #expect(verdicts[0].books > ShortRun.scans)
        }

        private struct Verdict: Equatable {
            var exit: Int32
            var passed: Bool
            var captured, completed, refused, waiting, lost, books: Int
            var broken: [String]
        }

        private static func books(_ report: RunReport) throws -> Int {
            struct Fields: Decodable {
                struct Books: Decodable { var received: Int }
                var books: Books
            }
            return try JSONDecoder().decode(Fields.self, from: Data(try report.text("summary.json").utf8))
                .books.received
        }

        @Test(arguments: [
            (HostileServer.Mode.http2Only, "not-http"), (.close, "connection-died"),
        ]) func `an upstream that is no Talaria is a 502 with a name`(
            mode: HostileServer.Mode, name: String
        ) async throws {
            let server = try await HostileServer(mode)
            let proxy = try await ServeProcess.start(
                Binary.path, ["proxy", "--port", "0", "--upstream", server.process.base])
            let reply = try await Curl(base: proxy.base).upload([Curl.photo])
            #expect(reply.status == 502)
            #expect(reply.headers["x-gateway-error"] == name)
        }

        @Test func `pages of other sites get nothing through a gateway, and no status`() async throws {
            let serve = try await ServeProcess.start([])
            let proxy = try await ServeProcess.start(
                Binary.path,
                [
                    "proxy", "--port", "0", "--upstream", serve.base, "--header", "X-Secret: 1",
                    "--allow-host", "talaria.example",
                ])
            let page = ["-H", "Sec-Fetch-Site: cross-site"]
            let (foreign, allowed) = (["-H", "Host: evil.example"], ["-H", "Host: talaria.example"])
            func status(_ server: ServeProcess, _ path: String, _ options: [String]) async throws -> Int {
                try await Curl(base: server.base).get(path, options).status
            }
            for options in [page, foreign] {
                #expect(try await status(proxy, "/v3/nowhere", options) == 403)
                #expect(try await status(proxy, "/_sim", options) == 403)
                #expect(try await status(serve, "/_sim", options) == 403)
                #expect(try await status(serve, "/v3/nowhere", options) == 404)
            }
            for options in [[], allowed] {
                #expect(try await status(proxy, "/v3/nowhere", options) == 404)
                #expect(try await status(proxy, "/_sim", options) == 200)
            }
        }

        @Test func `what is not loopback is not forwarded to unless it is allowed`() async throws {
            let outcome = try await Binary.run(["proxy", "--upstream", "http://staging.example:8080"])
            #expect(outcome.code == 64)
            #expect(outcome.complaint.contains("--allow-target staging.example"), "\(outcome)")
        }

        @Test func `an upstream is needed`() async throws {
            let outcome = try await Binary.run(["proxy"])
            #expect(outcome.code == 64)
            #expect(outcome.complaint.contains("requires --upstream URL"), "\(outcome)")
        }
    }
}

extension SideBySide {
    /// Runs alone: a program that another test starts could get the port on which the upstream has listened.
    @Suite struct DeadUpstreamTests {
        @Test func `an upstream that dies in the middle of streams costs time, and no scan`() async throws {
            let serve = try await ServeProcess.start(["--set", "server.job-time=2s..3s"])
            let process = try RunProcess(
                [ShortRun.scenario] + ShortRun.options
                    + ShortRun.set(["drain=6s"]) + ShortRun.objectiveOfScansAlone + ["--target", serve.base])
            try await process.waitForLog("a stream is open") { $0.isPhone("event-applied") }
            serve.kill()
            let outcome = try await process.end(seconds: 60)
            // Nothing is lost, and what had not finished is not a success.
            #expect(outcome.code == 99, "\(outcome)")
            let words = "scans had not finished 6 s after the last capture: "
            #expect(outcome.output.contains(words), "\(outcome.output)")
            let summary = try process.report.summary()
            #expect(summary.scans.isConserved && summary.scans.lost == 0)
            #expect(summary.scans.waiting > 0)
            #expect(outcome.output.contains("502 ×"), "what the gateway said in its place is counted")
        }
    }
}

extension SideBySide {
    /// What `serve` and `proxy` say on standard error, for people at work.
    @Suite struct RequestLogTests {
        @Test func `a request is one line, with what fault it met`() async throws {
            let scratch = try Scratch()
            let scenario = try scratch.file(
                "s.scenario",
                Data(
                    """
                    scenario: 1
                    fleet: {nobody: {phones: 1, arrivals: 1/s}}
                    faults: [{do: http-error, on: upload, status: 503}]
                    """.utf8))
            for arguments in [[], ["--quiet"]] {
                let log = try scratch.file("log")
                let serve = try await ServeProcess.start(
                    URL(filePath: "/bin/sh"),
                    [
                        "-c", #"exec "$0" serve --port 0 "$@" 2>'\#(log.path)'"#, Binary.path.path,
                        scenario.path,
                    ]
                        + arguments)
                let phone = Curl(base: serve.base)
                #expect(try await phone.upload([Curl.photo]).status == 503)
                #expect(try await phone.get("/v3/jobs/scans/none/stream?token=hush-hush").status >= 400)
                #expect(await serve.end() == 0)
                // What follows is about the clients.
                let all = try String(contentsOf: log, encoding: .utf8).split(separator: "\n").map(String.init)
                    .prefix { !$0.hasPrefix("clients: ") }
                guard arguments == [] else {
                    #expect(all.isEmpty)
                    continue
                }
                #expect(all.first?.hasSuffix("/_sim; Ctrl-C stops it") == true)
                // What deviates from the contract is above its request, indented.
                let lines = all.dropFirst().filter { !$0.hasPrefix(" ") }
                #expect(all.last { $0.hasPrefix(" ") }?.contains("stream request: ") == true, "\(all)")
                #expect(all.contains { $0.contains("query token: ") }, "\(all)")
                #expect(lines.count == 2)
                let upload = try #require(lines.first).split(separator: " ").map(String.init)
                #expect(upload[0].count == "20:00:00.000Z".count && upload[0].hasSuffix("Z"))
                #expect(upload[1...3] == ["POST", "/v3/jobs/scans", "503"])
                #expect(upload[4].hasSuffix("ms"))
                #expect(upload[5...] == ["device", Curl.device, "scan", "1", "fault", "http-error-1"])
                #expect(lines[1].contains(" GET /v3/jobs/scans/none/stream 4"))
                #expect(!all.contains { $0.contains("hush-hush") })
            }
        }

        @Test func `the proxy says what a request has that the contract does not define`() async throws {
            let scratch = try Scratch()
            let log = try scratch.file("log")
            let serve = try await ServeProcess.start([])
            let proxy = try await ServeProcess.start(
                URL(filePath: "/bin/sh"),
                [
                    "-c", #"exec "$0" proxy --port 0 --upstream "$1" 2>'\#(log.path)'"#, Binary.path.path,
                    serve.base,
                ])
            let phone = Curl(base: proxy.base)
            #expect(try await phone.upload([Curl.photo]).status == 202)
            #expect(try await phone.get("/v3/jobs/scans/none/stream?token=hush-hush").status >= 400)
            #expect(try await phone.get("/v3/books?title=hush-hush").status == 404)
            #expect(try await phone.delete("/v3/jobs/scans").status == 405)
            #expect(await proxy.end() == 0)
            let text = try String(contentsOf: log, encoding: .utf8)
            let prefix = "  not in the API contract: "
            let lines = text.split(separator: "\n").filter { $0.hasPrefix(prefix) }
                .map { String($0.dropFirst(prefix.count)) }
            #expect(
                lines == [
                    "stream request: query token: expected a parameter of the contract, was an unknown parameter",
                    "stream request: header Accept: expected text/event-stream, was another value (*/*)",
                    "stream request: header Authorization: expected a bearer token, was missing",
                    "path: expected one of the contract, was /v3/books; no fault acts on it (see --path)",
                    "method: expected POST, was DELETE; no fault acts on it (see --path)",
                ], "\(text)")
            #expect(!text.contains("hush-hush"))
        }

        /// The backend, and a proxy in front of it with these options.
        private static func tickets(_ options: [String]) async throws -> (
            backend: ServeProcess, proxy: ServeProcess
        ) {
            let backend = try await ServeProcess.start(
                URL(filePath: "/usr/bin/env"),
                ["python3", "-B", Package.tests.appending(path: "Tools/tickets.py").path])
            let paths = ["/tickets/*/events=stream", "POST /tickets=upload", "/tickets/*=results"]
            let proxy = try await ServeProcess.start(
                Binary.path,
                ["proxy", "--port", "0", "--upstream", backend.base] + paths.flatMap { ["--path", $0] }
                    + options)
            return (backend, proxy)
        }

        @Test func `faults act on paths of another backend that are given an operation`() async throws {
            let events = "/tickets/7/events"
            let (backend, proxy) = try await Self.tickets([
                "--fault", "{do: http-error, on: upload, status: 503}",
                "--fault", "{do: end-cleanly, on: stream, after: 2 events, cut: between-events}",
            ])
            let (phone, straight) = (Curl(base: proxy.base), Curl(base: backend.base))
            let refused = try await phone.get("/tickets", ["-X", "POST", "-d", "spine"])
            #expect(refused.status == 503 && refused.body.contains(#""instance":"/tickets""#))
            let cut = StreamEvent.all(in: try await phone.get(events, ["-N"]).body)
            #expect(cut.map(\.name) == ["tick", "tick"])
            let whole = try await straight.get(events, ["-N"]).body
            #expect(StreamEvent.all(in: whole).count == 5)
            #expect(try await phone.get("/tickets/7").body == "open")
            #expect(try await phone.get("/other").status == 404)
            #expect(await proxy.end() == 0)
            backend.kill()
            // Without a fault every byte passes.
            let plain = try await Self.tickets([])
            let passed = Curl(base: plain.proxy.base)
            #expect(try await passed.get(events, ["-N"]).body == whole)
            let posted = try await passed.get("/tickets", ["-X", "POST", "-d", "spine"])
            #expect(posted.status == 201 && posted.body == "ticket 7")
            #expect(await plain.proxy.end() == 0)
            plain.backend.kill()
        }

        @Test(arguments: ["/events", "events=stream", "/events=streams", "GET POST /events=stream"])
        func `a path without an operation is refused`(text: String) async throws {
            let refused = try await Binary.run(
                ["proxy", "--upstream", "http://127.0.0.1:9", "--path", text])
            #expect(refused.code == 64)
            #expect(refused.complaint.contains("--path expects PATH=OPERATION, not '\(text)'"), "\(refused)")
        }
    }
}
