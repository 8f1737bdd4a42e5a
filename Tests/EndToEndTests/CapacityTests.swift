import Foundation
import Testing

extension SideBySide {
    /// How much a backend can take: steps of load against one whose limit is known.
    @Suite struct CapacityTests {
        /// Ten jobs of half a second at a time: 20 scans a second and no more. One that comes too early comes back after a minute.
        private static let fleet = """
            scenario: 1
            name: narrow
            fleet:
              scanners: {phones: 400, network: perfect, photos: {paint: 1}, ARRIVALS}
            server: {books: 1..1, job-time: 500ms, jobs-max: 10, rate-limit: off}
            slo: {scan.time: p(95) < 3s}
            drain: 3m

            """
        private static let steps = "arrivals: {steps: {from: 6/s, by: 4/s, to: 60/s, every: 12s}, refine: 2}"

        private struct Capacity: Decodable {
            struct Rate: Decodable { var text: String }
            struct Step: Decodable {
                var rate: Rate
                var held: Bool?
                var refinement: Bool
                var completed: Int
            }
            var text: String
            var ending: String?
            var held: Rate?
            var failed: Rate?
            var steps: [Step]
        }

        private struct Document: Decodable {
            var capacity: Capacity?
        }

        private static func scenario(_ load: String, in scratch: Scratch) throws -> String {
            let path = scratch.folder.appending(path: "narrow.scenario")
            try Data(Self.fleet.replacing("ARRIVALS", with: load).utf8).write(to: path)
            return path.path
        }

        private static func run(
            _ load: String, _ more: [String] = [], command: [String] = ["simulate"]
        ) async throws -> (outcome: Outcome, capacity: Capacity?, report: RunReport, scratch: Scratch) {
            let scratch = try Scratch()
            let folder = scratch.folder.appending(path: "report")
            let outcome = try await Subprocess.run(
                Binary.path,
                command + [try Self.scenario(load, in: scratch), "--output", folder.path, "--no-color"]
                    + more,
                environment: Subprocess.environment, seconds: 120)
            let report = RunReport(folder: folder)
            let data = (try? Data(contentsOf: folder.appending(path: "summary.json"))) ?? Data()
            let document = try? JSONDecoder().decode(Document.self, from: data)
            return (outcome, document?.capacity, report, scratch)
        }

        @Test func `the capacity is within a step of what is found by hand`() async throws {
            let found = try await Self.run(Self.steps)
            #expect(found.outcome.code == 0, "\(found.outcome)")
            let capacity = try #require(found.capacity)
            #expect(capacity.ending == "found")
            #expect(
                capacity.steps.filter { !$0.refinement }.map(\.rate.text) == [
                    "6/s", "10/s", "14/s", "18/s", "22/s",
                ])
            #expect(capacity.steps.filter { !$0.refinement }.map(\.held) == [true, true, true, true, false])
            #expect(capacity.steps.count { $0.refinement } == 2)
            #expect(["18/s", "19/s", "20/s"].contains(capacity.held?.text))
            #expect(["19/s", "20/s", "22/s"].contains(capacity.failed?.text))
            #expect(found.outcome.output.contains("Capacity: \(capacity.text)"))
            // Nothing is lost in the overload, and what it left is completed or waits.
            let summary = try found.report.summary()
            #expect(summary.scans.isConserved && summary.scans.lost == 0)
            // By hand.
            let below = try await Self.run("scans: 3, arrivals: [{rate: 18/s, for: 30s}]")
            #expect(below.outcome.code == 0 && below.capacity == nil, "\(below.outcome)")
            let above = try await Self.run("scans: 3, arrivals: [{rate: 22/s, for: 30s}]")
            #expect(above.outcome.code == 99, "\(above.outcome)")
        }

        @Test func `the report of the finished run has the same page, and the steps in each format`()
            async throws
        {
            let found = try await Self.run(Self.steps, ["--quiet"])
            let again = found.scratch.folder.appending(path: "again")
            let outcome = try await Binary.run(["report", found.report.folder.path, "--output", again.path])
            #expect(outcome.code == 0, "\(outcome)")
            for file in ["report.html", "report.md"] {
                #expect(try RunReport(folder: again).text(file) == found.report.text(file), "\(file)")
            }
            let page = try found.report.text("report.html")
            #expect(page.contains("id=\"capacity-chart\"") && page.contains("id=\"capacity-table\""))
            #expect(try found.report.text("report.md").contains("### Capacity"))
        }

        @Test func `steps that all hold say so`() async throws {
            let found = try await Self.run(
                "arrivals: {steps: {from: 4/s, by: 4/s, to: 8/s, every: 6s}}", ["--quiet"])
            #expect(found.outcome.code == 0, "\(found.outcome)")
            #expect(found.capacity?.ending == "not-reached" && found.capacity?.failed == nil)
            #expect(found.outcome.output.contains("not reached: held at 8/s, the fastest step"))
        }

        @Test func `a first step that fails ends with 99`() async throws {
            let found = try await Self.run(
                "arrivals: {steps: {from: 40/s, by: 4/s, to: 60/s, every: 6s}, refine: 2}", ["--quiet"])
            #expect(found.outcome.code == 99, "\(found.outcome)")
            #expect(found.capacity?.ending == "first-step-failed" && found.capacity?.held == nil)
        }

        @Test(arguments: [
            ["simulate", "--shard", "0/2"], ["simulate", "--seeds", "1..3"], ["run", "--processes", "2"],
        ])
        func `what has only a part of the fleet refuses steps`(words: [String]) async throws {
            let refused = try await Self.run(Self.steps, Array(words.dropFirst()), command: [words[0]])
            #expect(refused.outcome.code == 64, "\(refused.outcome)")
            #expect(
                refused.outcome.complaint.contains(
                    "`steps` cannot be used with \(words[1]): the next step is decided from what the whole fleet has measured so far"
                ), "\(refused.outcome)")
        }
    }
}
