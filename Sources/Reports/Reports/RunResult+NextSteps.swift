import Ledger
import Metrics
import RunArchive
import RunJudge
import SimBase

/// A command that leads on from a verdict.
struct NextStep {
    let label: String
    /// What it shows, in a few words; empty where the label says it.
    let purpose: String
    let words: [String]

    fileprivate init(_ label: String, _ purpose: String, _ words: [String]) {
        self.label = label
        self.purpose = purpose
        self.words = words
    }

    var line: String { ShellWords.line(self.words) }
}

extension RunResult {
    /// What to run next, the most telling first.
    var nextSteps: [NextStep] {
        let violation = self.violationStep.map { [$0] } ?? []
        var steps = self.directory.map { self.steps(in: $0) } ?? []
        // Rules that no user notices come behind what users waited for.
        steps =
            self.harmlessViolations != nil && !self.breaches.isEmpty ? steps + violation : violation + steps
        if steps.isEmpty, self.exit == .sloFailed, let directory,
            self.files.contains(RunDirectory.FileName.events)
        {
            steps.append(
                NextStep("Phones", "those with the most problems", ["swiftwing-sim", "inspect", directory]))
        }
        if let words = self.commandWithoutChanges {
            steps.append(NextStep("Without it", "the same run without what was changed for it", words))
        }
        return steps
    }

    private var violationStep: NextStep? {
        guard let violation = self.firstViolation,
            let words = self.words(inspecting: violation.device, violation.scan)
        else { return nil }
        let phone = violation.device.map { "phone \($0.raw)" } ?? "the phone"
        return NextStep("First violation", "what \(phone) and the server did, step by step", words)
    }

    /// What makes the run again; nil for a run that no command can make.
    var reproduction: NextStep? {
        self.command.isEmpty ? nil : NextStep("Reproduce with", "", self.command)
    }

    /// Both, the reproduction last.
    var commands: [NextStep] { self.nextSteps + [self.reproduction].compactMap { $0 } }

    private func steps(in directory: String) -> [NextStep] {
        var steps: [NextStep] = []
        if let limit = self.scanTimeMissed, self.files.contains(RunDirectory.FileName.events) {
            let least = Threshold.time(nanoseconds: limit.nanoseconds).description
            steps.append(
                NextStep(
                    "Slow scans", "each of them, and what it waited for",
                    ["swiftwing-sim", "inspect", directory, "--slower-than", least]))
        }
        if self.files.contains(RunDirectory.FileName.plan), !self.isTargetAlone {
            let plan = RunDirectory.joined(directory, RunDirectory.FileName.plan)
            steps.append(
                NextStep(
                    "Explain with", "the same run in a simulation, reduced to what it needs to fail",
                    ["swiftwing-sim", "simulate", plan]))
        }
        return steps
    }

    /// The earliest of the first violations of one phone that count, of which the page has the excerpt.
    private var firstViolation: Violation? {
        self.brokenInvariants.compactMap(\.examples.first).filter { !$0.isExpected && $0.device != nil }
            .min { $0.at < $1.at }
    }

    /// The command that shows what a phone did; nil without a folder or a phone.
    func command(inspecting device: DeviceNumber?, _ scan: ScanNumber) -> String? {
        self.words(inspecting: device, scan).map(ShellWords.line)
    }

    private func words(inspecting device: DeviceNumber?, _ scan: ScanNumber) -> [String]? {
        guard let directory = self.directory, let device else { return nil }
        return ["swiftwing-sim", "inspect", directory, "--phone", String(device.raw)]
            + (scan == .none ? [] : ["--scan", String(scan.raw)])
    }
}
