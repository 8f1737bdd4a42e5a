import Ledger
import Metrics
import Observations
import RunArchive
import RunJudge
import SimBase

/// A command that leads on from a verdict.
struct NextStep {
    /// What it shows.
    let label: String
    let words: [String]

    var line: String { ShellWords.line(self.words) }
}

extension RunResult {
    /// What to run next, the most telling first.
    var nextSteps: [NextStep] {
        var steps: [NextStep] = []
        if let violation = self.firstViolation,
            let words = self.words(inspecting: violation.device, violation.scan)
        {
            steps.append(NextStep(label: "First violation", words: words))
        }
        guard let directory = self.directory else { return steps }
        steps += self.steps(in: directory)
        if steps.isEmpty, self.exit == .sloFailed, self.files.contains(RunDirectory.FileName.events) {
            steps.append(NextStep(label: "Phones", words: ["swiftwing-sim", "inspect", directory]))
        }
        return steps
    }

    /// What makes the run again; nil for a run that no command can make.
    var reproduction: NextStep? {
        self.command.isEmpty ? nil : NextStep(label: "Reproduce with", words: self.command)
    }

    /// Both, the reproduction last.
    var commands: [NextStep] { self.nextSteps + [self.reproduction].compactMap { $0 } }

    private func steps(in directory: String) -> [NextStep] {
        var steps: [NextStep] = []
        if let limit = self.scanTimeMissed, self.files.contains(RunDirectory.FileName.events) {
            let least = Threshold.time(nanoseconds: limit.nanoseconds).description
            steps.append(
                NextStep(
                    label: "Slow scans",
                    words: ["swiftwing-sim", "inspect", directory, "--slower-than", least]))
        }
        if self.files.contains(RunDirectory.FileName.plan) {
            let plan = RunDirectory.joined(directory, RunDirectory.FileName.plan)
            steps.append(NextStep(label: "Explain with", words: ["swiftwing-sim", "simulate", plan]))
        }
        return steps
    }

    /// The earliest violation of one phone that counts.
    private var firstViolation: Violation? {
        self.brokenInvariants.flatMap(\.examples).filter { !$0.isExpected && $0.device != nil }
            .min { $0.at < $1.at }
    }

    /// The command that shows what a phone did; nil without a folder or a phone.
    func command(inspecting device: DeviceNumber?, _ scan: ScanNumber) -> String? {
        self.words(inspecting: device, scan).map(ShellWords.line)
    }

    private func words(inspecting device: DeviceNumber?, _ scan: ScanNumber) -> [String]? {
        guard let directory = self.directory, let device else { return nil }
        return ["swiftwing-sim", "inspect", directory, "--device", String(device.raw)]
            + (scan == .none ? [] : ["--scan", String(scan.raw)])
    }
}
