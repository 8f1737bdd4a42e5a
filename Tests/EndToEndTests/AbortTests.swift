import Foundation
import Testing

extension SideBySide {
    /// An objective with `abort` ends the run as soon as it is broken.
    @Suite struct AbortTests {
        private static let options =
            [ShortRun.scenario] + ShortRun.options
            + ShortRun.set([
                "fleet.commuters.arrivals=2/s", "fleet.commuters.phones=60",
                "faults=[{do: http-error, on: upload, status: 503, retry-after: 5s, chance: 50%}]",
            ])

        @Test func `a broken objective ends the run, with its report and what was not captured`() async throws
        {
            let run = try RunProcess(
                Self.options + ShortRun.set(["slo={http.503: {expect: count < 3, abort: on}}"]))
            let outcome = try await run.end(seconds: 40)
            #expect(outcome.code == 99, "\(outcome)")
            #expect(outcome.complaint.contains(" s: http.503 count was "), "\(outcome.complaint)")
            #expect(outcome.output.contains("\n  Stopped after "))
            #expect(outcome.output.contains("an SLO with `abort` ended the run (exit code 99)"))
            let summary = try run.report.summary()
            // A minute of arrivals was planned.
            #expect((1..<100).contains(summary.scans.captured))
            #expect(summary.scans.isConserved && summary.scans.lost == 0)
        }

        /// Faster than the scenario is meant to be used, so that the test is short.
        fileprivate static let smoke =
            ["staging-smoke"]
            + ShortRun.set([
                "fleet.testers.phones=60", "fleet.testers.arrivals=10/s",
                "fleet.testers.request-timeout=1s", "trial.judge=off",
            ])

        fileprivate static func check(_ outcome: Outcome, _ run: RunProcess, of: String) throws {
            #expect(outcome.code == 99, "\(of): \(outcome)")
            #expect(outcome.complaint.contains("stopped after "), "\(of): \(outcome.complaint)")
            #expect(outcome.output.contains("\n  Stopped after "), "\(of): \(outcome.output)")
            let summary = try run.report.summary()
            // Twelve seconds of arrivals were planned.
            #expect((1..<110).contains(summary.scans.captured), "\(of)")
            #expect(summary.scans.isConserved && summary.scans.lost == 0, "\(of)")
            // One cause, one failure: the objective's.
            let junit = try run.report.text("junit.xml")
            #expect(junit.contains("run completed, load generator kept up"))
            #expect(junit.split(separator: "<failure ").count == 2, "\(of): \(junit)")
            #expect(!junit.contains("<error "), "\(of): \(junit)")
        }

        @Test(arguments: [HostileServer.Mode.unavailable, .unauthorized])
        func `the smoke test stops by itself where nothing works`(mode: HostileServer.Mode) async throws {
            let server = try await HostileServer(mode)
            let run = try RunProcess(Self.smoke + ["--target", server.process.base])
            try Self.check(try await run.end(seconds: 40), run, of: mode.rawValue)
            #expect(await server.process.end() == 0)
        }

        @Test func `a simulated run ends early as well, and alike each time`() async throws {
            let arguments =
                ["simulate", "staging-smoke", "--quiet", "--no-color"]
                + ShortRun.set(["faults=[{do: http-error, on: upload, status: 503, chance: 100%}]"])
            let runs = [try await Self.simulated(arguments), try await Self.simulated(arguments)]
            for run in runs {
                #expect(run.code == 99, "\(run)")
                #expect(run.complaint.hasPrefix("stopped after "), "\(run)")
                #expect(run.complaint.contains(" s: upload.attempts.failed rate was "), "\(run)")
            }
            func digest(_ outcome: Outcome) -> Substring? {
                outcome.output.split(separator: "\n").first { $0.contains("digest ") }
            }
            #expect(digest(runs[0]) != nil && digest(runs[0]) == digest(runs[1]))
            // The others are not judged, and what is left is not blamed on anybody.
            #expect(runs[0].output.contains("\nSLOs            1 failed, "), "\(runs[0].output)")
            #expect(
                runs[0].output.replacing(#/\s+/#, with: " ").contains(
                    "could not be judged because the run was cut short"))
        }

        private static func simulated(_ arguments: [String]) async throws -> Outcome {
            let scratch = try Scratch()
            return try await Binary.run(
                arguments + ["--output", scratch.folder.appending(path: "report").path])
        }

        @Test func `without abort the same objective waits for the end`() async throws {
            let run = try RunProcess(
                Self.options
                    + ShortRun.set([
                        "slo={http.503: count < 3}", "fleet.commuters.phones=12",
                        "fleet.commuters.arrivals=12/s",
                    ]))
            let outcome = try await run.end(seconds: 40)
            #expect(outcome.code == 99, "\(outcome)")
            #expect(try run.report.summary().scans.captured == ShortRun.scans)
        }
    }
}

extension SideBySide {
    /// Runs alone: a program that another test starts could get the port on which the target has listened.
    @Suite struct DeadTargetTests {
        @Test func `the smoke test stops by itself when the target dies`() async throws {
            let serve = try await ServeProcess.start(["staging-smoke", "--quiet"])
            let run = try RunProcess(SideBySide.AbortTests.smoke + ["--target", serve.base])
            try await run.waitForLog("an accepted upload") { $0.isPhone("upload-accepted") }
            serve.kill()
            try SideBySide.AbortTests.check(try await run.end(seconds: 40), run, of: "a target that dies")
        }
    }
}
