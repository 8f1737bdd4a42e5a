import Foundation
import Testing

extension SideBySide {
    /// `simulate`, as it ships.
    @Suite struct SimulateTests {
        /// Every scenario of the repository. The largest with fewer phones: each is one of many alike.
        private static let phonesMax = ["crowd": 500, "hour": 50, "day": 10]
        private static let scenarios = ScenarioNames.all
            .filter { !Self.broken.contains($0) && $0 != Self.compared }.map { name in
                Self.phonesMax[name].map { [name, "--phones", String($0)] } ?? [name]
            }
        /// Those of a client that loses scans.
        private static let broken = ["head-on-flaky-network"]
        /// Runs once for each of its transports, and compares them.
        private static let compared = "sse-against-websocket"

        private struct Run {
            var outcome: Outcome
            var report: RunReport
            private let scratch: Scratch

            init(_ arguments: [String], hashing: String? = nil) async throws {
                self.scratch = try Scratch()
                let folder = self.scratch.folder.appending(path: "report")
                var environment = Subprocess.environment
                environment["SWIFT_DETERMINISTIC_HASHING"] = hashing
                self.outcome = try await Subprocess.run(
                    Binary.path,
                    ["simulate"] + arguments + ["--output", folder.path, "--quiet", "--no-color"],
                    environment: environment, seconds: 120)
                self.report = RunReport(folder: folder)
            }

            func events() throws -> Data {
                try Data(contentsOf: self.report.folder.appending(path: "events.ndjson"))
            }

            /// The digest in the note.
            var digest: String? {
                self.outcome.output.firstMatch(of: /digest ([0-9a-f]{16})/).map { String($0.1) }
            }
        }

        @Test(arguments: scenarios) func `every scenario runs, the same to the byte in every process`(
            arguments: [String]
        ) async throws {
            let first = try await Run(arguments, hashing: "1")
            #expect(first.outcome.code == 0, "\(first.outcome.output)\(first.outcome.complaint)")
            let summary = try first.report.summary()
            #expect(summary.world == "virtual")
            #expect(summary.scans.isConserved && summary.scans.lost == 0 && summary.scans.captured > 0)
            #expect(summary.faults.values.allSatisfy { ($0.number ?? 0) > 0 }, "\(summary.faults)")
            let second = try await Run(arguments)
            #expect(try first.events() == second.events())
            #expect(first.digest == second.digest && first.digest != nil)
        }

        @Test func `a scenario with transports runs with each, the same in every process`() async throws {
            let first = try await Run([Self.compared], hashing: "1")
            #expect(first.outcome.code == 0, "\(first.outcome.output)\(first.outcome.complaint)")
            let second = try await Run([Self.compared])
            for transport in ["websocket", "sse"] {
                let reports = [first, second].map {
                    RunReport(folder: $0.report.folder.appending(path: transport))
                }
                let summary = try reports[0].summary()
                #expect(summary.scans.isConserved && summary.scans.lost == 0 && summary.scans.captured > 0)
                #expect(
                    try reports[0].text("events.ndjson") == reports[1].text("events.ndjson"), "\(transport)")
            }
            #expect(try first.report.text("transports.json") == second.report.text("transports.json"))
        }

        @Test(arguments: broken)
        func `a scenario of a client that loses scans ends with 0 while it does, the same in every process`(
            name: String
        ) async throws {
            let first = try await Run([name], hashing: "1")
            #expect(first.outcome.code == 0, "\(first.outcome.output)\(first.outcome.complaint)")
            let scans = try first.report.summary().scans
            #expect(scans.isConserved && scans.lost > 0)
            let second = try await Run([name])
            #expect(try first.events() == second.events())
            // A client without quirks loses nothing, and is not what the scenario expects.
            let sound = try await Run([name, "--set", "fleet.commuters.profile=contract"])
            #expect(sound.outcome.code == 97, "\(sound.outcome.output)")
            #expect(try sound.report.summary().scans.completed == scans.captured)
        }

        @Test func `a run that never comes to what its scenario names ends with 98`() async throws {
            let scratch = try Scratch()
            defer { withExtendedLifetime(scratch) {} }
            func run(_ moments: String) async throws -> Run {
                let file = scratch.folder.appending(path: "mine.scenario")
                try """
                scenario: 1
                fleet: {phones: {phones: 3, scans: 2, arrivals: 4/s, photos: shelves}}
                server: {job-time: 300ms}
                faults: [{do: strip-books, chance: 100%}]
                sometimes: [\(moments)]
                """.write(to: file, atomically: true, encoding: .utf8)
                return try await Run([file.path])
            }
            #expect(try await run("results-fetched").outcome.code == 0)
            let missed = try await run("results-fetched, slots-full")
            #expect(missed.outcome.code == 98)
            #expect(
                missed.outcome.output.contains("target situations not reached: slots-full"))
            let again = try await Binary.run(["report", missed.report.folder.path])
            #expect(again.output.contains("slots-full"), "\(again)")
        }

        @Test func `another seed is another run`() async throws {
            let arguments = ["flaky-network", "--phones", "10"]
            let first = try await Run(arguments + ["--seed", "1"])
            let second = try await Run(arguments + ["--seed", "2"])
            #expect(try first.events() != second.events())
            #expect(first.digest != second.digest)
        }

        @Test func `in a day jobs outlive their tokens, and the 401s show`() async throws {
            let run = try await Run(["day", "--phones", "10"])
            let summary = try run.report.summary()
            #expect(run.outcome.code == 0)
            #expect(summary.scans.completed == 50)
            #expect(summary.counters["books.missing"]?.number == 0)
            // Of half the streams when they come back, and of each clean-up.
            let refused = try #require(summary.counters["http.401"]?.number)
            #expect(refused >= 60)
            #expect((summary.counters["sse.pings"]?.number ?? 0) > 20_000)
        }

        @Test func `a run leaves the same files as a live one, and says how to run it again`() async throws {
            let run = try await Run(["token-expiry", "--phones", "6", "--seed", "77", "--trace"])
            #expect(
                run.report.files == RunReport.names)
            #expect(
                run.outcome.output.contains(
                    "swiftwing-sim simulate token-expiry --phones 6 --seed 77"))
            #expect(try run.report.text("events.ndjson").contains("\"kind\":\"progress\""))
        }
    }
}

/// The scenarios of the repository, by their names.
enum ScenarioNames {
    static let all: [String] = {
        let folder = Package.root.appending(path: "Scenarios")
        let files = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return files.filter { $0.hasSuffix(".scenario") }.map { String($0.dropLast(".scenario".count)) }
            .sorted()
    }()
}
