import Foundation
import Testing

extension SideBySide {
    /// Spans and metrics of runs, at a collector that reads them by OpenTelemetry's own messages.
    @Suite struct OTLPTests {
        private static let python = Package.root.appending(path: ".build/otlp/venv/bin/python")

        private struct Seen: Decodable {
            struct Span: Decodable {
                var service, trace, span, parent, name: String
                var kind, status: Int
                var start, end: Int64
                var attributes: [String: Value]
                var resource: [String: Value]
            }

            struct Metric: Decodable {
                var kind, unit: String
            }

            /// A text, or something else in words.
            struct Value: Decodable {
                var text: String

                init(from decoder: any Decoder) throws {
                    let container = try decoder.singleValueContainer()
                    if let number = try? container.decode(Int64.self) {
                        self.text = String(number)
                    } else {
                        self.text = (try? container.decode(String.self)) ?? "another"
                    }
                }
            }

            var requests: Int
            var spans: [Span]
            var metrics: [String: Metric]
            var wrong: [String]

            /// By the backend, for phones: probes have no parent.
            var served: [Span] { self.spans.filter { $0.service == "talaria" && !$0.parent.isEmpty } }
            var ofPhones: [Span] { self.spans.filter { $0.service == "swiftwing-sim" } }
        }

        private struct Summary: Decodable {
            struct Export: Decodable, Equatable {
                var spans, dropped: Int
                var metrics: Bool
            }

            var otlp: Export?
            var started: String
            var warnings, notes: [String]

            init(of process: RunProcess) throws {
                self = try JSONDecoder().decode(
                    Summary.self, from: Data(try process.report.text("summary.json").utf8))
            }
        }

        private static func collector(_ options: [String] = []) async throws -> ServeProcess {
            try #require(
                FileManager.default.isExecutableFile(atPath: self.python.path),
                "there is no collector: run `make test`, which installs it")
            return try await ServeProcess.start(
                self.python, ["-B", Package.tests.appending(path: "Tools/collector.py").path] + options)
        }

        private static func seen(by collector: ServeProcess) async throws -> Seen {
            let body = try await Curl(base: collector.base).get("/_seen").body
            return try JSONDecoder().decode(Seen.self, from: Data(body.utf8))
        }

        /// A short run of four scans.
        private static func run(
            _ options: [String], command: String = "run", seconds: Int = 50
        ) async throws -> (outcome: Outcome, process: RunProcess) {
            let process = try RunProcess(
                ["staging-smoke"] + ShortRun.objectiveOfScansAlone
                    + ShortRun.set([
                        "fleet.testers.devices=4", "fleet.testers.scans=1", "fleet.testers.arrivals=8/s",
                    ]) + options, command: command)
            return (try await process.end(seconds: seconds), process)
        }

        @Test func `the phones and a backend with its own instrumentation have one trace for each scan`()
            async throws
        {
            let collector = try await Self.collector()
            let backend = try await ServeProcess.start(
                Self.python,
                [
                    "-B", Package.tests.appending(path: "Tools/traced_talaria.py").path, collector.base,
                    "--port", "0", "--job-time", "0.3..0.9", "--books", "3..8", "--rate-limit", "off",
                ])
            let (outcome, process) = try await Self.run(["--target", backend.base, "--otlp", collector.base])
            try #require(outcome.hasPassed, "\(outcome)")
            // Its exporter sends its spans three times a second.
            var seen = try await Self.seen(by: collector)
            let requests = seen.ofPhones.count { $0.kind == 3 }
            _ = try await Patience.until(seconds: 20) {
                seen = try await Self.seen(by: collector)
                return seen.served.count >= requests
            }
            #expect(seen.wrong == [])
            let ours = seen.ofPhones
            #expect(
                try Summary(of: process).otlp == .init(spans: ours.count, dropped: 0, metrics: true))
            #expect(ours.count { $0.name == "scan" && $0.parent.isEmpty } == 4)
            for (name, least) in [("upload", 4), ("stream", 4), ("preprocess", 1), ("cleanup", 4)] {
                #expect(ours.count { $0.name == name } >= least, "\(name)")
            }
            let children = seen.served
            for request in ours where request.kind == 3 {
                let served = children.filter { $0.trace == request.trace && $0.parent == request.span }
                #expect(served.count == 1, "\(request.name) \(request.trace)")
                guard let server = served.first else { continue }
                #expect(server.kind == 2 && server.start >= request.start - 1_000_000)
                #expect(server.name.hasPrefix(request.attributes["http.request.method"]?.text ?? "-"))
                #expect(server.name.hasSuffix(request.attributes["url.path"]?.text ?? "-"), "\(server.name)")
            }
            #expect(children.count == ours.count { $0.kind == 3 })
            let roots = Set(ours.filter { $0.name == "scan" }.map(\.trace))
            #expect(ours.allSatisfy { roots.contains($0.trace) } && roots.count == 4)
            #expect(seen.metrics["swiftwing_scan_time_seconds"]?.unit == "s")
            #expect(seen.metrics["swiftwing_run_passed"]?.kind == "gauge")
        }

        @Test func `a simulated run has spans of its own clock`() async throws {
            let collector = try await Self.collector(["--delay", "0.05"])
            let (outcome, process) = try await Self.run(["--otlp", collector.base], command: "simulate")
            #expect(outcome.code == 0, "\(outcome)")
            let seen = try await Self.seen(by: collector)
            let summary = try Summary(of: process)
            #expect(seen.wrong == [])
            #expect(summary.otlp == .init(spans: seen.spans.count, dropped: 0, metrics: true))
            #expect(seen.spans.count { $0.name == "scan" } == 4)
            #expect(seen.spans.allSatisfy { $0.resource["swiftwing.world"]?.text == "virtual" })
            let start = try Date(
                summary.started, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true))
            let first = Double(seen.spans.map(\.start).min() ?? 0) / 1e9 - start.timeIntervalSince1970
            #expect((-0.002..<1).contains(first), "\(first)")
        }

        private static let collectors: [(options: [String], says: String)] = [
            (["--refuse"], "status 400"), (["--silent"], "no answer within"),
        ]

        @Test(arguments: collectors) func `a collector that takes nothing costs the spans and nothing else`(
            options: [String], says: String
        ) async throws {
            let collector = try await Self.collector(options)
            let (outcome, process) = try await Self.run(["--otlp", collector.base])
            try #require(outcome.hasPassed, "\(outcome)")
            let summary = try Summary(of: process)
            let export = try #require(summary.otlp)
            #expect(export.spans == 0 && export.dropped > 16 && !export.metrics)
            let warning = try #require(summary.warnings.first { $0.hasPrefix("OTLP: ") })
            #expect(warning.contains("\(export.dropped) dropped"))
            #expect(warning.contains(says), "\(warning)")
        }

        @Test func `a collector that is away is told while the run goes on, and at its end`() async throws {
            let (outcome, process) = try await Self.run(["--otlp", "http://127.0.0.1:9/base/"])
            try #require(outcome.hasPassed, "\(outcome)")
            #expect(
                outcome.complaint.contains(
                    "the collector http://127.0.0.1:9/base takes no spans: connection refused; the run continues"
                ),
                "\(outcome.complaint)")
            let export = try #require(try Summary(of: process).otlp)
            #expect(export.spans == 0 && export.dropped > 16 && !export.metrics)
        }

        @Test func `a collector that is busy gets everything later`() async throws {
            let collector = try await Self.collector(["--busy", "2"])
            let (outcome, process) = try await Self.run(["--otlp", collector.base])
            try #require(outcome.hasPassed, "\(outcome)")
            let seen = try await Self.seen(by: collector)
            #expect(seen.wrong == [] && seen.requests > 3)
            #expect(Set(seen.spans.map { $0.trace + $0.span }).count == seen.spans.count)
            #expect(
                try Summary(of: process).otlp == .init(spans: seen.spans.count, dropped: 0, metrics: true))
        }

        @Test func `several processes export their spans, and the report has the sum`() async throws {
            let collector = try await Self.collector()
            let (outcome, process) = try await Self.run(["--otlp", collector.base, "--processes", "2"])
            try #require(outcome.hasPassed, "\(outcome)")
            let seen = try await Self.seen(by: collector)
            #expect(seen.wrong == [])
            #expect(
                try Summary(of: process).otlp == .init(spans: seen.spans.count, dropped: 0, metrics: true))
            #expect(Set(seen.spans.compactMap { $0.resource["swiftwing.shard"]?.text }) == ["0/2", "1/2"])
            #expect(Set(seen.spans.compactMap { $0.resource["swiftwing.run"]?.text }).count == 1)
        }

        private static let refused: [(arguments: [String], says: String)] = [
            (["run", "staging-smoke", "--otlp", "127.0.0.1:4318"], "--otlp expects an http or https URL"),
            (
                ["run", "staging-smoke", "--otlp", "http://127.0.0.1:4318?x"],
                "--otlp expects a URL without ? and #"
            ),
            (
                ["run", "staging-smoke", "--otlp", "http://a:b@127.0.0.1"],
                "--otlp does not accept a user name"
            ),
            (
                ["simulate", "staging-smoke", "--otlp", "http://example.com"],
                "add --allow-target example.com"
            ),
            (
                ["run", "staging-smoke", "--otlp", "http://example.com", "--allow-target", "a.test"],
                "--allow-target allows 'a.test', but the collector is 'example.com'"
            ),
            (["simulate", "staging-smoke", "--allow-target", "a.test"], "--allow-target requires --otlp"),
            (["run", "staging-smoke", "--allow-target", "a.test"], "--allow-target requires --target"),
            (
                ["simulate", "staging-smoke", "--seeds", "1..2", "--otlp", "http://127.0.0.1:4318"], "--otlp"
            ),
        ]

        @Test(arguments: refused) func `a collector that cannot be meant is refused before anything runs`(
            arguments: [String], says: String
        ) async throws {
            let outcome = try await Binary.run(arguments)
            #expect(outcome.code == 64, "\(outcome)")
            #expect(outcome.complaint.contains(says), "\(outcome.complaint)")
            #expect(!outcome.complaint.contains("a:b"))
        }
    }
}
