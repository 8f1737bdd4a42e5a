import Foundation
import Testing

extension SideBySide {
    /// Workers of a published Locust master, against `serve` on loopback.
    @Suite struct LocustTests {
        /// What `Tools/locust_run.py` found.
        private struct Test: Decodable {
            var code: Int32
            var workers: [Int32?]
            var rows, failures, exceptions: [[String: String]]
            var summary: MergedSummary?
            /// How many phones each worker had that handed over evidence, by its index.
            var evidence: [String: Int]
            var runs: [String]
            var log: String
            var worker_logs: [String]

            /// A row of the CSV file: a request type of one group.
            func row(_ type: String, _ group: String) -> [String: String]? {
                self.rows.first { $0["Type"] == type && $0["Name"] == group }
            }
        }

        /// The merged `summary.json`.
        private struct MergedSummary: Decodable {
            struct Group: Decodable {
                var devices: Int
                var scans: Summary.Scans
                var metrics: [String: Latency]
            }

            struct Latency: Decodable {
                var count: Int
                var failed: Int?
                var p50, p90, p95, p99, max: Double?

                private enum Key: String, CodingKey { case count, failed, p50, p90, p95, p99, max }

                init(from decoder: any Decoder) throws {
                    let fields = try? decoder.container(keyedBy: Key.self)
                    self.count = try fields?.decode(Int.self, forKey: .count) ?? 0
                    self.failed = try? fields?.decode(Int.self, forKey: .failed)
                    self.p50 = try? fields?.decode(Double.self, forKey: .p50)
                    self.p90 = try? fields?.decode(Double.self, forKey: .p90)
                    self.p95 = try? fields?.decode(Double.self, forKey: .p95)
                    self.p99 = try? fields?.decode(Double.self, forKey: .p99)
                    self.max = try? fields?.decode(Double.self, forKey: .max)
                }
            }

            struct Objective: Decodable {
                var metric: String
                /// Nil where it is not judged.
                var passed: Bool?

                private enum Key: String, CodingKey { case metric, passed }

                init(from decoder: any Decoder) throws {
                    let fields = try decoder.container(keyedBy: Key.self)
                    self.metric = try fields.decode(String.self, forKey: .metric)
                    self.passed = try? fields.decode(Bool.self, forKey: .passed)
                }
            }

            struct Invariant: Decodable {
                var id: String
                var violations: Figure
            }

            var exit: Int32
            var devices: Int
            var scans: Summary.Scans
            var groups: [String: Group]
            var invariants: [Invariant]
            var slos: [Objective]
            var complaints: [String]?
        }

        private static let python = Package.root.appending(path: ".build/bench/venv/bin/python")

        /// Readers who think, and others who come on schedule; some uploads are refused by the server for good.
        private static let scenario = """
            scenario: 1
            name: distributed
            description: Phones that a Locust master starts and stops.
            seed: 5
            drain: 10s
            fleet:
              readers:
                phones: 2
                think: 300ms..900ms
                photos: shelves
              rushed:
                phones: 1
                arrivals: 1/s
                spacing: poisson
                photos: shelves
            slo:
              scans.lost: count == 0
              upload.time: count < 100000 over 2s
            """

        private static func run(_ options: [String], serving changes: [String]) async throws -> Test {
            try #require(
                FileManager.default.isExecutableFile(atPath: Self.python.path),
                "there is no published Locust: run `make test`, which installs it")
            let scratch = try Scratch()
            let photos = scratch.folder.appending(path: "Images/shelves")
            try FileManager.default.createDirectory(at: photos, withIntermediateDirectories: true)
            try FileManager.default.copyItem(at: Package.photo, to: photos.appending(path: "shelf.jpg"))
            let scenario = try scratch.file("distributed.scenario", Data(Self.scenario.utf8))
            let script = Package.tests.appending(path: "Tools/locust_run.py").path
            let settings = ShortRun.set(["server.job-time=200ms..400ms", "server.rate-limit=off"] + changes)
            return try await ServeProcess.during(["--quiet"] + settings) { serve in
                let outcome = try await Subprocess.run(
                    Self.python,
                    [script, scratch.folder.path, Binary.path.path, scenario.path, serve.base] + options,
                    folder: scratch.folder, seconds: 90)
                try #require(outcome.code == 0, "\(outcome.complaint)")
                return try JSONDecoder().decode(Test.self, from: Data(outcome.output.utf8))
            }
        }

        /// Locust rounds to two digits. Where a percentile is between two requests, it takes the later one, and we the earlier one.
        private static func expect(
            _ text: String?, is percentile: Int, of ours: MergedSummary.Latency, _ what: String
        ) throws {
            let theirs = try #require(text.flatMap(Double.init), "\(what)")
            let (low, next) = percentile == 50 ? (ours.p50, ours.p90) : (ours.p95, ours.p99)
            let (least, later) = (try #require(low), try #require(next))
            let isBetween = ours.count * percentile % 100 == 0
            let most = isBetween ? later : least
            #expect(
                theirs >= least - max(0.6, least * 0.06) && theirs <= most + max(0.6, most * 0.06),
                "\(percentile)% of \(what): \(theirs) and \(least)...\(most)")
        }

        @Test func `users of a published master are phones, its figures are ours, and so is its exit code`()
            async throws
        {
            let test = try await Self.run(
                ["--workers", "3", "--users", "12", "--seconds", "6"],
                serving: [
                    "faults=[{do: http-error, on: upload, status: 503, code: X, chance: 30%}, "
                        + "{do: http-error, on: upload, status: 400, code: INVALID_IMAGE, chance: 30%}]"
                ])
            let summary = try #require(test.summary, "\(test.log)")
            #expect(test.code == summary.exit, "\(test.log)")
            // Nothing in the scenario explains why the backend refuses photos.
            #expect(test.code == 99, "\(test.log)")
            #expect(test.workers.count == 3 && test.workers.allSatisfy { [0, 99].contains($0) })
            #expect(test.runs.count == 3)
            #expect(test.exceptions.isEmpty)
            // In no window of the sum there are so many: what each worker counts does not say so.
            #expect(summary.slos.first { $0.metric == "upload.time" }?.passed == true, "\(test.log)")
            // Locust shares users out by the sizes of the groups.
            #expect(summary.groups["readers"]?.devices == 8)
            #expect(summary.groups["rushed"]?.devices == 4)
            #expect(summary.scans.isConserved && summary.scans.lost == 0 && summary.scans.refused > 0)
            for (name, group) in summary.groups {
                #expect(group.scans.completed >= group.devices, "\(name)")
                for (type, rate) in [
                    ("upload.time", "upload.failed"), ("upload.attempts", "upload.attempts.failed"),
                    ("cleanup.attempts", "cleanup.attempts.failed"),
                ] {
                    let row = try #require(test.row(type, name), "\(type) of \(name)")
                    let ours = try #require(group.metrics[rate], "\(rate) of \(name)")
                    #expect(Int(row["Request Count"] ?? "") == ours.count, "\(type) of \(name)")
                    #expect(Int(row["Failure Count"] ?? "") == ours.failed, "\(type) of \(name)")
                }
                for metric in ["upload.time", "sse.connect.time", "cleanup.time", "scan.time"] {
                    let row = try #require(test.row(metric, name), "\(metric) of \(name)")
                    let ours = try #require(group.metrics[metric], "\(metric) of \(name)")
                    let failures = try #require(Int(row["Failure Count"] ?? ""))
                    #expect(Int(row["Request Count"] ?? "") == ours.count + failures, "\(metric) of \(name)")
                    let most = try #require(Double(row["Max Response Time"] ?? ""))
                    #expect(abs(most - (ours.max ?? 0)) < 0.01, "\(metric) of \(name)")
                    for percentile in [50, 95] {
                        try Self.expect(
                            row["\(percentile)%"], is: percentile, of: ours, "\(metric) of \(name)")
                    }
                }
            }
            for status in ["400", "503"] {
                #expect(
                    test.failures.contains { $0["Error"] == "HTTP \(status)" && $0["Method"] == "upload" })
            }
        }

        @Test func `users move to a worker that joins and from one that is killed, whose phones are named`()
            async throws
        {
            let test = try await Self.run(
                ["--workers", "3", "--users", "12", "--seconds", "12", "--late", "1", "--kill-after", "2"],
                serving: [])
            #expect(test.code == 98, "\(test.log)")
            #expect(test.workers == [-9, 0, 0, 0], "\(test.worker_logs)")
            let summary = try #require(test.summary, "\(test.log)")
            #expect(summary.exit == 98)
            let complaint = try #require(summary.complaints?.first)
            #expect(complaint.contains(/no evidence of worker [0-3]: phones [0-9]/), "\(complaint)")
            #expect(summary.complaints?.count == 1, "\(summary.complaints ?? [])")
            #expect(summary.invariants.allSatisfy { $0.violations == .notAvailable })
            // The fourth took users of the others, and all of them took over those of the first.
            #expect(test.evidence.count == 3, "\(test.evidence)")
            #expect(test.evidence.values.allSatisfy { $0 >= 4 }, "\(test.evidence)")
            #expect(test.evidence.values.reduce(0, +) == summary.devices)
            #expect(test.worker_logs.count == 4 && test.worker_logs[3].contains("begins"))
            #expect(summary.devices >= 12, "\(test.log)")
            #expect(summary.scans.completed >= summary.devices && summary.scans.lost == 0)
        }

        @Test func `what the plugin answers its workers and makes of their evidence`() async throws {
            let scratch = try Scratch()
            let outcome = try await Subprocess.run(
                Self.python,
                [Package.tests.appending(path: "Tools/locustfile_check.py").path, scratch.folder.path],
                environment: Subprocess.environment.merging([
                    "SWIFTWING_SIM": Binary.path.path, "SWIFTWING_SCENARIO": "flaky-network",
                ]) { $1 })
            #expect(outcome.code == 0, "\(outcome.complaint)")
            #expect(outcome.complaint.contains("Ran 14 tests"), "\(outcome.complaint)")
        }

        @Test func `a time for reports that is none is refused`() async throws {
            let outcome = try await Subprocess.run(
                Self.python, ["-c", "import runpy; runpy.run_path('Distributed/locustfile.py')"],
                environment: Subprocess.environment.merging(["SWIFTWING_REPORT_SECONDS": "soon"]) { $1 })
            #expect(outcome.code == 1)
            #expect(
                outcome.complaint.contains(
                    "SWIFTWING_REPORT_SECONDS is a number of seconds from 1 to 86400, not 'soon'"),
                "\(outcome.complaint)")
        }

        @Test func `phones stop within seconds when the master is gone, and their evidence stays`()
            async throws
        {
            let test = try await Self.run(
                ["--workers", "1", "--users", "3", "--seconds", "30", "--quit-master-after", "1"], serving: []
            )
            #expect(test.code == -9)
            #expect(test.summary == nil)
            let log = try #require(test.worker_logs.first)
            #expect(log.contains("has not answered for 3 s: phones stop"), "\(log)")
            #expect(test.runs.count == 1)
        }
    }
}
