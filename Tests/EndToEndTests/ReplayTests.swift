import Foundation
import Testing

extension SideBySide {
    /// Plans of virtual runs, as they ship.
    @Suite struct ReplayTests {
        private static func plan(_ scratch: Scratch, _ scenario: [String]) async throws -> String {
            let file = scratch.folder.appending(path: "run.plan.json").path
            let outcome = try await Subprocess.run(
                Binary.path,
                ["simulate"] + scenario + [
                    "--save-plan", file, "--output", scratch.folder.appending(path: "first").path, "--quiet",
                ], seconds: 60)
            try #require(outcome.code == 0, "\(outcome.complaint)")
            return file
        }

        @Test func `a plan gives the run that it was written of`() async throws {
            let scratch = try Scratch()
            let plan = try await Self.plan(scratch, ["flaky-network", "--phones", "6", "--settle", "5m"])
            let second = scratch.folder.appending(path: "second")
            let outcome = try await Subprocess.run(
                Binary.path, ["replay", plan, "--output", second.path, "--quiet"], seconds: 60)
            #expect(outcome.code == 0)
            #expect(!outcome.output.contains("does not reproduce"))
            let events = try ["first", "second"].map {
                try Data(contentsOf: scratch.folder.appending(path: "\($0)/events.ndjson"))
            }
            #expect(events[0] == events[1] && !events[0].isEmpty)
        }

        @Test func `verify finds two processes in agreement, and a canary out`() async throws {
            let scratch = try Scratch()
            let plan = try await Self.plan(scratch, ["flaky-network", "--phones", "6"])
            let verified = try await Subprocess.run(Binary.path, ["replay", plan, "--verify"], seconds: 60)
            #expect(verified.code == 0)
            #expect(verified.output.hasPrefix("identical in two processes with different hash seeds: "))
            let canary = try await Subprocess.run(
                Binary.path, ["replay", plan, "--verify", "--canary"], seconds: 60)
            #expect(canary.code == 70)
            let lines = canary.output.split(separator: "\n")
            #expect(lines.first == "NOT identical in two processes with different hash seeds")
            // The event, and what it brought about on either side.
            #expect(lines.count { $0.contains(/, event [0-9]+ \(digest [0-9a-f]{16}\):$/) } == 2)
            #expect(lines.count { $0.contains("PhoneObservation.photoPrepared") } == 2)
        }

        @Test func `a plan of another format says so and stops`() async throws {
            let scratch = try Scratch()
            let plan = try await Self.plan(scratch, ["flaky-network", "--phones", "1"])
            let text = try String(contentsOfFile: plan, encoding: .utf8)
            try text.replacing("\"plan\": 1,", with: "\"plan\": 7,").write(
                toFile: plan, atomically: true, encoding: .utf8)
            let outcome = try await Subprocess.run(Binary.path, ["replay", plan], seconds: 60)
            #expect(outcome.code == 65)
            #expect(
                outcome.complaint.contains(
                    "run.plan.json:2:11: the plan has format `7`; this program reads format 1"))
        }

        @Test func `a plan whose limits a run breaks ends with the last events, not in a hang`() async throws
        {
            let scratch = try Scratch()
            let plan = try await Self.plan(scratch, ["flaky-network", "--phones", "6"])
            let text = try String(contentsOfFile: plan, encoding: .utf8)
            let limited = text.replacing(/"heap-max": [0-9]+/, with: "\"heap-max\": 9")
            try limited.write(toFile: plan, atomically: true, encoding: .utf8)
            let outcome = try await Subprocess.run(
                Binary.path,
                ["replay", plan, "--output", scratch.folder.appending(path: "second").path, "--quiet"],
                seconds: 60)
            #expect(outcome.code == 70)
            #expect(outcome.output.contains("more than 9 events wait"))
            #expect(outcome.output.contains("the last events"))
        }

        @Test(arguments: RegressionPlans.all) func `what was mended stays mended`(plan: String) async throws {
            let scratch = try Scratch()
            let outcome = try await Subprocess.run(
                Binary.path,
                ["replay", plan, "--output", scratch.folder.appending(path: "report").path, "--quiet"],
                seconds: 120)
            #expect(outcome.code == 0, "\(outcome.output)")
        }
    }
}

/// The plans of `Scenarios/regressions`.
enum RegressionPlans {
    static let all: [String] = {
        let folder = Package.root.appending(path: "Scenarios/regressions")
        let files = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return files.filter { $0.hasSuffix(".plan.json") }.sorted().map { folder.appending(path: $0).path }
    }()
}
