import Foundation
import Testing

extension SideBySide {
    /// Ctrl-C, SIGTERM and SIGHUP at any time.
    @Suite struct InterruptionTests {
        static let announcement =
            "Interrupted: finishing and writing the report. Press Ctrl-C again to quit now."

        private struct Case: Sendable, CustomStringConvertible {
            var command: String
            var arguments: [String]
            var milliseconds: Int
            var signal = SIGINT

            /// Everything may have been judged by then, and the run be over.
            var isLate: Bool { self.command == "run" && self.milliseconds >= 6_000 }

            var description: String { "\(self.command), \(self.milliseconds) ms, signal \(self.signal)" }
        }

        /// Nothing that is captured here comes to an end: only the drain does, six seconds from the start.
        private static let unfinished =
            [ShortRun.scenario] + ShortRun.options
            + ShortRun.set(["server.job-time=1h", "drain=4s", "slo={scan.time: p(95) < 1s}"])

        private static let moments = [0, 20, 50, 100, 200, 400, 1_000, 2_000, 3_700, 6_000]
        private static let signals = [SIGINT, SIGTERM, SIGHUP]

        private static let cases: [Case] =
            Self.moments.enumerated().flatMap { index, moment in
                let signal = Self.signals[index % Self.signals.count]
                return [
                    Case(command: "run", arguments: Self.unfinished, milliseconds: moment, signal: signal),
                    Case(
                        command: "simulate", arguments: ["hour", "--phones", "4000"],
                        milliseconds: min(moment, 2_500), signal: signal),
                ]
            } + [Case(command: "run", arguments: Self.unfinished, milliseconds: 6_300)]

        @Test func `an interruption ends a run with 105 at any moment`() async throws {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for one in Self.cases { group.addTask { try await Self.interrupt(one) } }
                try await group.waitForAll()
            }
        }

        private static func interrupt(_ one: Case) async throws {
            let run = try RunProcess(one.arguments, command: one.command)
            try await run.waitForFirstAct()
            try await Task.sleep(for: .milliseconds(one.milliseconds))
            run.signal(one.signal)
            let outcome = try await run.end(seconds: 60)
            // The signal found no process any more.
            if one.isLate, outcome.complaint.isEmpty { return }
            #expect(outcome.code == 105, "\(one): \(outcome)")
            #expect(outcome.complaint.hasPrefix(Self.announcement), "\(one): \(outcome.complaint)")
            #expect(run.temporaryFolders == [], "\(one)")
            let report = run.report.folder.path
            let orphans = try await ProcessLine.all().filter { $0.command.contains(report) }
            #expect(orphans.isEmpty, "\(one): \(orphans)")
            guard run.report.files.contains("summary.json") else {
                #expect(outcome.complaint.contains("interrupted before the run started"), "\(one)")
                return
            }
            let summary = try run.report.summary()
            // Whoever interrupts the writing of a report gets the report that was being written.
            if one.isLate, summary.exit != 105 { return }
            #expect(summary.exit == 105 && !summary.passed && summary.broken.isEmpty, "\(one): \(outcome)")
            let words = outcome.output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
            #expect(
                !words.contains("planned scans captured")
                    || words.contains("planned scans captured until the interruption"), "\(one)")
            // Those of the scenario and the implicit ones: none is judged.
            #expect(
                outcome.output.firstMatch(of: /SLOs +\d+ not judged\n/) != nil, "\(one): \(outcome.output)")
            let again = try await Binary.run(["report", report, "--no-color"])
            #expect(again.code == 105, "\(one): \(again)")
        }

        @Test func `a second signal quits at once and leaves nothing behind`() async throws {
            let farewell =
                "Quit without a report. 'swiftwing-sim report DIR' makes one of what a live run has recorded."
            // On a busy machine the run may have written its report before it is stopped.
            for attempt in 1...5 {
                let run = try RunProcess(Self.unfinished)
                try await run.waitForBackend()
                try await Task.sleep(for: .milliseconds(500))
                #expect(run.temporaryFolders.count == 1)
                // The run can do nothing about the first before the second is there.
                run.signal(SIGINT)
                try await Task.sleep(for: .milliseconds(5))
                run.signal(SIGSTOP)
                try await Task.sleep(for: .milliseconds(600))
                for signal in [SIGTERM, SIGCONT] { run.signal(signal) }
                let outcome = try await run.end(seconds: 10)
                #expect(outcome.code == 105, "\(outcome)")
                #expect(run.temporaryFolders == [])
                if attempt < 5, run.report.files.contains("summary.json") { continue }
                #expect(outcome.complaint == "\(Self.announcement)\n\(farewell)\n")
                #expect(!run.report.files.contains("summary.json"), "there was no time for a report")
                return
            }
        }

        /// `timeout` signals the program and then its group.
        @Test func `signals of several kinds at once are one`() async throws {
            let run = try RunProcess(Self.unfinished)
            try await run.waitForBackend()
            try await Task.sleep(for: .milliseconds(500))
            for signal in [SIGSTOP, SIGINT, SIGTERM, SIGHUP, SIGCONT] { run.signal(signal) }
            let outcome = try await run.end(seconds: 30)
            #expect(outcome.code == 105, "\(outcome)")
            #expect(outcome.complaint.hasPrefix(Self.announcement), "\(outcome.complaint)")
            #expect(!outcome.complaint.contains("Quit without a report"), "\(outcome.complaint)")
            #expect(try run.report.summary().exit == 105)
        }

        @Test func `a replay in two processes can be interrupted`() async throws {
            let plan = "\(Package.root.path)/Scenarios/regressions/photo-asked-twice.plan.json"
            let run = try RunProcess([plan], command: "replay")
            try await run.waitForFirstAct()
            run.signal(SIGHUP)
            let outcome = try await run.end(seconds: 30)
            #expect(outcome.code == 105, "\(outcome)")
        }
    }
}
