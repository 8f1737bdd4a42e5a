import EventLoop
import Faults
import Observations
import Plan
import Reports
import RunArchive
package import RunDriver
package import RunJudge
package import ScenarioFile
import Search
import SimBase
import VirtualWorld

/// `simulate PLAN`: why a saved plan fails, as the shortest story that is left of it (Docs/simulation.md section 8).
///
/// A plan of a live run is searched for what that run broke. What the virtual world does not show is reported
/// with the first step at which the runs differ.
package struct PlanExplanation {
    /// Kinds of failures of one plan that are reported.
    private static let kindsMax = 5

    private let saved: SavedPlan
    private let path: String
    private let console: Console
    private let files: FailureFiles
    private let isQuiet: Bool

    /// - Parameter path: The file of the plan.
    /// - Parameter folder: The folder of the reports.
    package init(_ saved: SavedPlan, path: String, folder: String, isQuiet: Bool, console: Console) {
        self.saved = saved
        self.path = path
        self.console = console
        self.files = FailureFiles(folder: folder, console: console)
        self.isQuiet = isQuiet
    }

    /// Reports every failure of the plan, and returns the exit code of the process; nil if the plan has none.
    package func run() throws -> ExitCode? {
        let plan = WorldPlan(self.saved)
        guard let live = self.saved.live, !live.failures.isEmpty else {
            guard let outcome = Trial.outcome(of: plan, isStopped: { Interruption.isRequested }) else {
                return .interrupted
            }
            return outcome.isFailing ? self.tell(outcome.kinds.map { ($0, plan, nil) }) : nil
        }
        let check = LiveCheck(plan, live, isStopped: { Interruption.isRequested })
        guard !Interruption.isRequested else { return .interrupted }
        guard check.shown.isEmpty else {
            return self.tell(check.shown.map { ($0.kind, $0.plan, $0.failure) })
        }
        self.tellDifference(live, check)
        guard let others = check.others else { return .untrusted }
        return self.tell(others.kinds.map { ($0, others.plan, nil) })
    }

    // MARK: What fails

    private func tell(
        _ failures: [(kind: FailureKind, plan: WorldPlan, live: LiveRecord.Failure?)]
    ) -> ExitCode {
        var complaints: [OutputError.Failure] = []
        var codes: [ExitCode] = []
        let clock = LoopClock.startingNow()
        for failure in failures.prefix(Self.kindsMax) {
            guard !Interruption.isRequested else { return ExitCode.worst(codes + [.interrupted]) }
            if !self.isQuiet, self.console.isInteractive {
                self.console.progress("shrinking \(failure.kind.name)")
            }
            let before = clock.now()
            let result = Shrinker.shrink(
                failure.plan, failing: failure.kind, isStopped: { Interruption.isRequested })
            self.console.clearProgress()
            let shrunk = ShrunkFailure(
                kind: failure.kind, seed: failure.plan.run.scenario.seed, original: failure.plan,
                result: result, time: clock.now() - before)
            guard let result else {
                self.console.error("swiftwing-sim: \(failure.kind.name) did not fail alike twice")
                codes.append(.internalError)
                continue
            }
            codes.append(failure.kind == .simulation ? .internalError : .invariantBroken)
            complaints += self.files.tell(shrunk, result, .plan(self.path, live: failure.live), recipe: nil)
        }
        guard complaints.isEmpty else {
            self.console.error("swiftwing-sim: \(OutputError(failures: complaints, saved: []))")
            return .cannotWrite
        }
        return ExitCode.worst(codes)
    }

    // MARK: What does not

    private func tellDifference(_ live: LiveRecord, _ check: LiveCheck) {
        var lines = ["NOT SHOWN  the simulated run does not break what the live run broke"]
        lines += live.failures.prefix(Self.kindsMax).map { "  live       \(FailureReport.text($0))" }
        if live.failures.count > Self.kindsMax {
            lines.append("  and \(live.failures.count - Self.kindsMax) more failures")
        }
        lines.append(
            "  simulated  \(check.runs) runs: the plan as it is, and with other draws and orders of simultaneous events"
        )
        if let first = live.failures.first(where: { $0.device != nil }), let device = first.device {
            lines += self.difference(of: first, device, check.plan)
        }
        lines += [
            "  A simulated run has other times between requests, and no real sockets and bytes.", "",
            "Live        \(Printable.line(live.command))",
            "Replay      \(ShellWords.line(["swiftwing-sim", "replay", self.path]))",
        ]
        if check.others == nil {
            lines.append("The plan is kept as it is; exit code \(ExitCode.untrusted.rawValue).")
        } else {
            lines += ["It breaks something else:", ""]
        }
        for line in lines { self.console.outFolded(line) }
    }

    private func difference(
        of failure: LiveRecord.Failure, _ device: DeviceNumber, _ plan: WorldPlan
    ) -> [String] {
        let folder = self.path.lastIndex(of: "/").map { String(self.path[...$0]) } ?? "."
        let observed = PhoneLog.observations(
            of: [device], folder: folder, faults: RunReport.head(of: folder)?.faults ?? [])
        guard !observed.isEmpty else {
            return [
                "  \(RunDirectory.FileName.events) of the live run is not beside the plan: steps cannot be compared"
            ]
        }
        let difference = LiveDifference(live: observed, plan: plan, device: device, scan: failure.scan)
        let faults = plan.run.scenario.faults.map(\.id)
        func step(_ observation: Observation?) -> String {
            guard let observation else { return "nothing more" }
            let text =
                StoryText.text(observation, plan.run.journey(of: device), faults: faults) ?? "something else"
            let shown = Printable.line(text, bytesMax: FailureReport.textBytesMax)
            return "\(FailureReport.moment(observation.at).trimmed) \(shown)"
        }
        let subject = failure.subject
        var lines = [
            "  live       \(subject) \(Self.text(difference.liveEnd))",
            "  simulated  \(subject) \(Self.text(difference.simulatedEnd))",
        ]
        guard difference.live != nil || difference.simulated != nil else {
            return lines + ["  Both have the same \(difference.same) steps."]
        }
        lines.append(
            "  The first \(difference.same) steps are the same"
                + (difference.lastSame.map { ", up to: \(step($0))" } ?? "") + ". Then:")
        return lines + [
            "  live       \(step(difference.live))", "  simulated  \(step(difference.simulated))",
        ]
    }

    private static func text(_ end: LiveDifference.End) -> String {
        switch end {
        case .completed(let at): "is completed at \(FailureReport.moment(at).trimmed)"
        case .refused(let at): "is refused at \(FailureReport.moment(at).trimmed)"
        case .canceled(let at): "is canceled at \(FailureReport.moment(at).trimmed)"
        case .unfinished: "is not finished"
        }
    }
}
