import Foundation
import Testing

extension SideBySide {
    /// Runs against one backend, one after another: what its limit per device counts of them.
    @Suite struct SameDevicesTests {
        private struct Head: Decodable { var device_salt: String? }

        private struct Run {
            var outcome: Outcome
            /// Its folder goes with it.
            var process: RunProcess

            var report: RunReport { self.process.report }

            func salt(_ folder: String = "") throws -> String? {
                let head = Data(try self.report.text(folder + "run.json").utf8)
                return try JSONDecoder().decode(Head.self, from: head).device_salt
            }
        }

        /// As many scans as one device may upload in 20 minutes.
        private static let arguments =
            [ShortRun.scenario] + ShortRun.options + ShortRun.objectiveOfScansAlone
            + ShortRun.set([
                "faults=[]", "fleet.commuters.phones=2", "fleet.commuters.scans=10",
                "fleet.commuters.arrivals=40/s", "fleet.commuters.preprocess=once", "drain=10s",
            ])

        private static let limit = [
            "--set", "server.rate-limit=10 per 20m", "--set", "server.job-time=50ms..100ms",
        ]

        private static func run(
            _ serve: ServeProcess, _ more: [String] = []
        ) async throws -> Run {
            let run = try RunProcess(Self.arguments + ["--target", serve.base] + more)
            let outcome = try await run.end(seconds: 50)
            return Run(outcome: outcome, process: run)
        }

        private static func refused(_ report: RunReport) throws -> Int {
            try report.log().count { $0.isPhone("rate-limited") }
        }

        @Test
        func `the next run on a backend is not held to the limits of the last, unless its ids are asked for`()
            async throws
        {
            try await ServeProcess.during(["--quiet"] + Self.limit) { serve in
                let first = try await Self.run(serve)
                #expect(first.outcome.code == 0, "\(first.outcome)")
                let second = try await Self.run(serve)
                #expect(second.outcome.code == 0, "\(second.outcome)")
                #expect(try Self.refused(first.report) == 0 && Self.refused(second.report) == 0)
                let salts = try [first, second].map { try #require(try $0.salt()) }
                #expect(salts[0] != salts[1] && salts.allSatisfy { $0.count == 16 })
                #expect(second.outcome.output.contains("--same-devices=\(salts[1])"), "\(second.outcome)")

                let again = try await Self.run(serve, ["--same-devices=\(salts[0])"])
                #expect(again.outcome.code == 99, "\(again.outcome)")
                #expect(try again.salt() == salts[0])
                #expect(
                    try again.report.summary().warnings.contains {
                        $0.contains("answered 429 to the first upload of 2 phones")
                            && $0.contains("are from --same-devices")
                    })
                #expect(try first.report.summary().warnings.isEmpty)
                try await Self.expectNoMerge(first.report, salt: salts[0])
            }
        }

        /// A part of the same test, that is one with the same start, with device ids of another run.
        private static func expectNoMerge(_ report: RunReport, salt: String) async throws {
            let scratch = try Scratch()
            let twin = scratch.folder.appending(path: "twin")
            try FileManager.default.copyItem(at: report.folder, to: twin)
            let head = try report.text("run.json")
            try head.replacing("\"device_salt\": \"\(salt)\"", with: "\"device_salt\": \"7\"")
                .write(to: twin.appending(path: "run.json"), atomically: true, encoding: .utf8)
            let merged = try await Binary.run(
                ["report", report.folder.path, twin.path, "--output", scratch.folder.path + "/m"])
            #expect(merged.code == 65 && merged.complaint.contains("the salt of the device ids"), "\(merged)")
        }

        @Test func `processes share a salt that was drawn for them`() async throws {
            try await ServeProcess.during(["--quiet"] + Self.limit) { serve in
                let run = try await Self.run(
                    serve, ["--processes", "2", "--set", "fleet.commuters.phones=4"])
                #expect(run.outcome.code == 0, "\(run.outcome)")
                let salts = try ["shards/0-of-2/", "shards/1-of-2/"].map { try run.salt($0) }
                #expect(salts[0] != nil && salts[0] == salts[1])
                #expect(run.outcome.output.contains("--same-devices=\(salts[0] ?? "-")"), "\(run.outcome)")
                #expect(!run.outcome.output.contains("--new-devices"))
            }
        }

        @Test(arguments: [
            (
                ["--target", "http://127.0.0.1:9", "--shard", "0/2"],
                "--shard with a target requires --same-devices"
            ),
            (["--target", "http://127.0.0.1:9", "--same-devices", "pear"], "up to 16 hexadecimal digits"),
            (["--same-devices", "1"], "--same-devices requires --target"),
        ]) func `a salt that is missing, wrong or of no use is refused`(arguments: [String], says: String)
            async throws
        {
            let outcome = try await Binary.run(["run", "flaky-network"] + arguments)
            #expect(outcome.code == 64 && outcome.complaint.contains(says), "\(outcome)")
        }

        @Test func `shards of two salts are not those of one run`() async throws {
            try await ServeProcess.during(["--quiet"] + Self.limit) { serve in
                let start = Int(Date().timeIntervalSince1970) + 15
                func shard(_ index: Int, _ salt: String) async throws -> Run {
                    try await Self.run(
                        serve, ["--shard", "\(index)/2", "--same-devices", salt, "--start-at", String(start)])
                }
                async let one = shard(0, "1")
                async let other = shard(1, "2")
                let runs = try await [one, other]
                let scratch = try Scratch()
                let merged = try await Binary.run(
                    ["report"] + runs.map(\.report.folder.path) + ["--output", scratch.folder.path + "/m"])
                #expect(
                    merged.code == 65 && merged.complaint.contains("the salt of the device ids"), "\(merged)")
            }
        }
    }
}
