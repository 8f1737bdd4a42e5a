import Foundation
import Testing

extension SideBySide {
    /// From a live run that fails to the smallest plan that fails alike.
    @Suite struct LivePlanRunTests {
        @Test func `a live run that fails leaves a plan, and the simulation explains it`() async throws {
            let (outcome, process) = try await ShortRun.finished(
                ShortRun.set(["fleet.commuters.resume=off"]))
            try #require(outcome.code == 97, "\(outcome)")
            let report = process.report.folder
            let plan = report.appending(path: "plan.json").path
            #expect(outcome.output.contains("Explain with    swiftwing-sim simulate "), "\(outcome.output)")
            let text = try String(contentsOfFile: plan, encoding: .utf8)
            #expect(text.contains(#""what": "stream."#) && text.contains(#""scope": "phone "#))
            #expect(text.utf8.count < 100_000)

            let story = process.folder.folder.appending(path: "story").path
            let told = try await Binary.run(["simulate", plan, "--quiet", "--output", story])
            #expect(told.code == 97, "\(told)")
            #expect(told.output.contains("      live: stream."), "\(told.output)")
            #expect(told.output.contains(" reduced to 1 scan and "), "\(told.output)")
            #expect(told.output.contains("VIOLATION"))
            let plans = try FileManager.default.contentsOfDirectory(atPath: story).filter {
                $0.hasPrefix("stream.") && $0.hasSuffix(".plan.json")
            }
            let smallest = try #require(plans.first)
            // The smallest plan fails by itself, and is reported in the same way.
            let again = try await Binary.run(
                ["simulate", "\(story)/\(smallest)", "--quiet", "--output", story + "-again"])
            #expect(again.code == 97 && !again.output.contains("live: "), "\(again)")
            let replay = try await Binary.run(
                ["replay", plan, "--quiet", "--output", process.folder.folder.appending(path: "replay").path])
            let note = "the plan is of a live run that broke stream."
            #expect(replay.output.contains(note), "\(replay.output)")
        }

        @Test func `a run that passes leaves a plan only on request`() async throws {
            let scratch = try Scratch()
            let plan = scratch.folder.appending(path: "saved.plan.json")
            let (outcome, process) = try await ShortRun.finished(["--save-plan", plan.path])
            try #require(outcome.code == 0, "\(outcome)")
            #expect(!process.report.files.contains("plan.json"))
            let output = ["--quiet", "--output", scratch.folder.appending(path: "run").path, "--force"]
            let replay = try await Binary.run(["replay", plan.path] + output)
            #expect(replay.code == 0, "\(replay)")
            let nothing = try await Binary.run(["simulate", plan.path] + output)
            #expect(nothing.code == 0 && nothing.output.contains("PASSED"), "\(nothing)")

            // What only the live run broke.
            let text = try String(contentsOf: plan, encoding: .utf8)
            let broken = text.replacing(
                #""failures": []"#,
                with:
                    #""failures": [{"what": "book.never-lost", "device": 0, "scan": 1, "at": "2s", "text": "gone"}]"#
            )
            try #require(broken != text)
            let beside = process.report.folder.appending(path: "broken.plan.json")
            try Data(broken.utf8).write(to: beside)
            let other = try await Binary.run(["simulate", beside.path] + output)
            #expect(other.code == 98, "\(other)")
            for part in [
                "NOT SHOWN", "live       book.never-lost, phone 0, scan 1, at 2.000 s: gone",
                "simulated  phone 0, scan 1 is completed at ", "Live        swiftwing-sim run ",
                "Replay      swiftwing-sim replay ",
            ] {
                #expect(other.output.contains(part), "\(part): \(other.output)")
            }
            // Away from its run, there is nothing to compare with.
            try Data(broken.utf8).write(to: plan)
            let away = try await Binary.run(["simulate", plan.path] + output)
            #expect(away.code == 98 && away.output.contains("events.ndjson of the live run is not beside"))
        }

        /// The plan has some of the phones, and other times: it would pass.
        @Test func `a run that only missed a time leaves no plan, and points at the slow scans`() async throws
        {
            let (outcome, process) = try await ShortRun.finished(ShortRun.set(["slo.scan.time=p(50) < 1ms"]))
            try #require(outcome.code == 99, "\(outcome)")
            #expect(!process.report.files.contains("plan.json"))
            #expect(!outcome.output.contains("Explain with"))
            #expect(outcome.output.contains("Slow scans"), "\(outcome.output)")
            let slow = try await Binary.run(["inspect", process.report.folder.path, "--slower-than", "1ms"])
            #expect(slow.code == 0 && slow.output.contains("phone"), "\(slow)")
        }

        @Test(.enabled(if: FileManager.default.fileExists(atPath: "/dev/full")))
        func `a plan that cannot be saved makes no run a success`() async throws {
            let (outcome, _) = try await ShortRun.finished(["--save-plan", "/dev/full"])
            #expect(outcome.code == 74 && outcome.output.contains("Latencies "), "\(outcome)")
        }

        @Test(arguments: [["--seed", "3"], ["--set", "seed=3"], ["--seeds", "1..2"], ["--settle", "1m"]])
        func `a plan takes no options of a scenario`(_ words: [String]) async throws {
            let plan = "Scenarios/regressions/photo-asked-twice.plan.json"
            let outcome = try await Binary.run(["simulate", plan] + words)
            #expect(outcome.code == 64, "\(outcome)")
            #expect(outcome.complaint.contains("\(words[0]) belongs to a scenario"), "\(outcome)")
        }
    }
}
