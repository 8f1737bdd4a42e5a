import Foundation
import Testing

extension SideBySide {
    /// `run --dashboard`: the page that shows a run as it goes.
    @Suite struct DashboardTests {
        private static func tool(_ name: String, _ arguments: [String]) async throws -> Data {
            let script = Package.tests.appending(path: "Tools/\(name)").path
            let outcome = try await Subprocess.run(
                URL(filePath: "/usr/bin/env"), ["python3", script] + arguments, seconds: 55)
            try #require(outcome.code == 0, "\(outcome.complaint)")
            return Data(outcome.output.utf8)
        }

        /// Some seconds of phones that have no trouble.
        fileprivate static let calm =
            [ShortRun.scenario]
            + ShortRun.set([
                "fleet.commuters.phones=12", "fleet.commuters.scans=1", "fleet.commuters.arrivals=2/s",
                "fleet.commuters.preprocess=once", "server.job-time=300ms..900ms", "drain=20s", "faults=[]",
            ]) + ShortRun.objectiveOfScansAlone

        // MARK: Following

        private struct Followed: Decodable {
            var policy: String
            var frames: [String]
            var windows: [Int]
            var first, late, again: [String]
            var finished: String
            var whole: Bool
            var statuses: [String: Int]
        }

        @Test func `a run is followed from its first second to its last word`() async throws {
            let run = try RunProcess(Self.calm + ["--dashboard"])
            let url = try await run.dashboard()
            let followed = try JSONDecoder().decode(
                Followed.self, from: try await Self.tool("follow.py", [url]))
            let outcome = try await run.end(seconds: 30)
            #expect(outcome.hasPassed, "\(outcome)")

            let word = outcome.code == 0 ? "PASSED" : "NOT TRUSTWORTHY"
            #expect(
                followed.finished
                    == "\(word), exit code \(outcome.code); report in \(run.report.folder.path)")
            #expect(followed.whole, "the stream ended as it should")
            #expect(followed.frames.count >= 4)
            let counted = followed.frames.compactMap { $0.split(separator: "-").last.flatMap { Int($0) } }
            #expect(
                counted == Array(counted[0]..<(counted[0] + counted.count)), "a frame a second, none left out"
            )
            #expect(followed.windows == followed.windows.sorted())
            let grown = (followed.windows.last ?? 0) - (followed.windows.first ?? 0)
            #expect(grown >= 3, "the chart grew: \(followed.windows)")
            // Whoever comes late gets everything, whoever comes again only what has changed.
            let everything = [
                "conservation", "control", "disconnections", "errors", "faults", "findings", "generator",
                "head",
                "invariants", "latencies", "latency", "objectives", "time",
            ]
            #expect(followed.first == everything)
            #expect(followed.late == everything)
            #expect(followed.again.contains("head") && followed.again.contains("generator"))
            #expect(followed.policy.hasPrefix("default-src 'none'; style-src 'sha256-"))
            #expect(followed.statuses == ["elsewhere": 404, "post": 405, "head": 200, "rebound": 403])
        }

        // MARK: The page

        private struct Watched: Decodable {
            struct Look: Decodable {
                var title, line: String
                var charts: [String]
                var windows, beyond, scripts: Int
            }
            var console, requests: [String]
            var seen: [Look]
            var last: Look
            var text: String
        }

        @Test func `the page grows in a browser, asks for nothing else, and says how the run ended`()
            async throws
        {
            let bad = "</p><script>alert(1)</script><img src=x onerror=alert(2)>"
            let run = try RunProcess(
                Self.calm + ["--dashboard"] + ShortRun.set(["description=\(bad)"]))
            let url = try await run.dashboard()
            let watched = try JSONDecoder().decode(
                Watched.self, from: try await Self.tool("live_page.py", [url]))
            let outcome = try await run.end(seconds: 30)
            #expect(outcome.hasPassed, "\(outcome)")

            #expect(watched.console == [])
            #expect(watched.requests == [url, url + "events"], "one page, one stream, and none again")
            #expect(watched.last.scripts == 1)
            #expect(watched.last.line.hasPrefix("run finished: "))
            #expect(watched.last.line.contains("exit code \(outcome.code)"))
            #expect(
                watched.last.title.contains(outcome.code == 0 ? "Passed: flaky" : "Not trustworthy: flaky"))
            #expect(watched.text.contains(run.report.folder.path), "where the report lies")
            let charts = ["arrivals", "phones", "events", "over-upload-time", "over-sse-connect-time"]
            #expect(charts.allSatisfy(watched.last.charts.contains))
            #expect(watched.last.windows > (watched.seen.first { $0.windows > 0 }?.windows ?? 0))
            // The last look is on 390 pixels.
            #expect(watched.seen.allSatisfy { $0.beyond <= 0 } && watched.last.beyond <= 0)
        }

        // MARK: The end

        @Test func `nobody who looks on holds up the end of the run`() async throws {
            let run = try RunProcess(Self.calm + ["--dashboard"])
            let url = try await run.dashboard()
            let port = try #require(UInt16(url.split(separator: ":").last?.dropLast() ?? ""))
            // Pages that are never read, a connection that says nothing, and one that stops in the middle.
            let idlers = try (0..<50).map { _ in
                try Idler(port: port, saying: "GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
            }
            let silent = [try Idler(port: port, saying: ""), try Idler(port: port, saying: "GET / HTT")]
            let outcome = try await run.end(seconds: 50)
            let ended = Date()
            #expect(outcome.hasPassed, "\(outcome)")
            let written = try #require(
                try run.report.folder.appending(path: "summary.json").resourceValues(forKeys: [
                    .contentModificationDateKey
                ]).contentModificationDate)
            let waited = ended.timeIntervalSince(written)
            // The page of the run is written after its summary; a quarter of a second is for those who look on.
            #expect(waited < 2.5, "the process ended \(waited) s after its summary was there")
            #expect(try run.report.summary().exit == outcome.code)
            withExtendedLifetime((idlers, silent)) {}
        }

        // MARK: Where it may listen

        @Test func `a port that is taken is told before anything runs`() async throws {
            try await ServeProcess.during([]) { serve in
                let run = try RunProcess(ShortRun.arguments + ["--dashboard=\(serve.port)"])
                let outcome = try await run.end(seconds: 20)
                #expect(outcome.code == 69)
                #expect(
                    outcome.complaint.contains("the dashboard cannot listen on 127.0.0.1 port \(serve.port)"))
                #expect(outcome.complaint.contains("help: choose another port with --dashboard=PORT"))
                #expect(run.report.files == [])
            }
        }

        @Test(arguments: [
            ("0.0.0.0:80", "accepts only a loopback address"), ("example.org:80", "only a loopback address"),
            ("http", "expects PORT or HOST:PORT"), ("65536", "expects PORT or HOST:PORT"),
        ]) func `only this machine may look on`(address: String, complaint: String) async throws {
            let outcome = try await Binary.run(["run", "flaky-network", "--dashboard=\(address)"])
            #expect(outcome.code == 64)
            #expect(outcome.complaint.contains(complaint), "\(outcome.complaint)")
        }
    }
}

extension EndToEnd {
    /// The standard port, which no other program may take meanwhile.
    @Suite struct DashboardPortTests {
        @Test func `a standard port that is taken is replaced by a free one, and the run says so`()
            async throws
        {
            // Somebody has it: this test, or whoever had it before.
            let holder = try? Listener(port: 5665)
            let run = try RunProcess(SideBySide.DashboardTests.calm + ["--dashboard"])
            let url = try await run.dashboard()
            let outcome = try await run.end(seconds: 30)
            withExtendedLifetime(holder) {}
            #expect(outcome.hasPassed, "\(outcome)")
            #expect(!url.hasSuffix(":5665/"))
            #expect(
                outcome.complaint.contains("port 5665 is in use, so the dashboard is on a free port"),
                "\(outcome.complaint)")
        }
    }
}

/// A port that is taken.
private final class Listener {
    private let number: Int32

    init(port: UInt16) throws {
        #if os(Linux)
            let kind = Int32(SOCK_STREAM.rawValue)
        #else
            let kind = SOCK_STREAM
        #endif
        self.number = socket(AF_INET, kind, 0)
        // As the dashboard does it: connections of an earlier run may be in TIME_WAIT.
        var yes: Int32 = 1
        setsockopt(self.number, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        let isTaken = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(self.number, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        try #require(isTaken && listen(self.number, 1) == 0, "the port is taken")
    }

    deinit { close(self.number) }
}

/// A connection that is opened, says something, and then neither reads nor ends.
private final class Idler {
    private let number: Int32

    init(port: UInt16, saying text: String) throws {
        #if os(Linux)
            let kind = Int32(SOCK_STREAM.rawValue)
        #else
            let kind = SOCK_STREAM
        #endif
        self.number = socket(AF_INET, kind, 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        let isConnected = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(self.number, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        try #require(isConnected, "the page does not listen")
        let bytes = Array(text.utf8)
        try #require(bytes.isEmpty || send(self.number, bytes, bytes.count, 0) == bytes.count)
    }

    deinit { close(self.number) }
}
