import Faults
import Ledger
import Observations
import Phone
import Plan
import Reports
import RunDriver
import RunJudge
import ScenarioFile
import Search
import SimBase
import VirtualWorld

/// Where a failure that is reported comes from.
enum FailureOrigin: Sendable {
    /// A seed of a search: how many seeds fail in this way, of how many, and the words that run it again.
    case search(failing: Int, of: Int, again: String)
    /// A saved plan, and the failure of the live run that it was made of; nil for a plan of a simulated run.
    case plan(String, live: LiveRecord.Failure?)
}

/// The report of a failing seed or plan: at most 45 lines of 100 columns (Docs/simulation.md section 8).
struct FailureReport {
    private static let columns = 100
    /// Lines of the timeline: the first ones, and those before the violation.
    private static let timelineHead = 6
    private static let timelineTail = 12
    private static let capturesMax = 3
    private static let faultsMax = 4
    /// The limit of a text of a live run, in UTF-8 bytes.
    static let textBytesMax = 400

    let failure: ShrunkFailure
    let result: Shrinker.Result
    let story: FailureStory
    /// The path of the saved plan.
    let plan: String
    let origin: FailureOrigin

    var text: String {
        let lines =
            self.head + [""] + self.smallest + [""] + self.timeline + [""] + self.explanation + self.commands
        return lines.map { Self.fitted($0) }.joined(separator: "\n") + "\n"
    }

    /// The first line: enough for a chat message.
    var title: String {
        let client = self.failure.kind.client.map { ", client \($0)" } ?? ""
        return
            "FAIL  \(self.failure.kind.name), seed \(self.failure.seed)\(client): \(self.summary)"
    }

    private var summary: String {
        guard let violation = self.story.violation else { return self.story.outcome.failure ?? "failed" }
        let phone = violation.device.map { "phone \($0.raw)" }
        let scan = violation.scan == .none ? nil : "scan \(violation.scan.raw)"
        let subject = [phone, scan].compactMap(\.self).joined(separator: ", ")
        return (subject.isEmpty ? "" : subject + ": ") + violation.text
    }

    private var head: [String] {
        var lines = [self.title]
        if case .invariant(let invariant, _) = self.failure.kind {
            lines.append("      expected: \(invariant.statement)")
        }
        if case .plan(_, let live?) = self.origin { lines.append("      live: \(Self.text(live))") }
        return lines
    }

    /// `stream.no-gap, phone 7, scan 2, at 12.480 s: …`.
    static func text(_ live: LiveRecord.Failure) -> String {
        let subject = live.subject.isEmpty ? "" : live.subject + ", "
        let text = Printable.line(live.text, bytesMax: Self.textBytesMax)
        return "\(live.name), \(subject)at \(Self.moment(live.at).trimmed): \(text)"
    }

    // MARK: The smallest plan

    private var smallest: [String] {
        let (before, after) = (self.failure.original.run.scenario, self.result.plan.run.scenario)
        let shape = PlanShape(self.result.plan)
        var lines = [
            "Smallest plan: \(self.counts(self.failure.original, before.faults)) reduced to \(shape.text)",
            "      \(self.result.trials) runs in \(self.failure.time.wholeMilliseconds) ms"
                + (self.result.isConfirmed ? ", each item that is left is needed" : ", not to the end"),
        ]
        let captures = self.result.plan.captures ?? []
        for capture in captures.prefix(Self.capturesMax) {
            lines.append(
                "  capture  \(Self.moment(capture.scheduled))  phone \(capture.device.raw), photo \(capture.ordinal)"
            )
        }
        if captures.count > Self.capturesMax {
            lines.append("  and \(captures.count - Self.capturesMax) more captures")
        }
        for fault in after.faults.prefix(Self.faultsMax) {
            lines.append("  fault    \(fault.id): \(ScenarioWriter.content(fault))")
        }
        if after.faults.count > Self.faultsMax {
            lines.append("  and \(after.faults.count - Self.faultsMax) more faults")
        }
        return lines
    }

    private func counts(_ plan: WorldPlan, _ faults: [FaultSpec]) -> String {
        let scans = plan.captures?.count ?? plan.run.expectedArrivals.scans
        return "\(scans) scans and \(faults.count) faults"
    }

    // MARK: The timeline

    private var timeline: [String] {
        let faults = self.result.plan.run.scenario.faults.map(\.id)
        let told = self.story.observations.compactMap { observation in
            StoryText.text(observation, faults: faults).map { (observation, $0) }
        }
        let end = self.story.violation?.at ?? .distantFuture
        let until = told.lastIndex { $0.0.at <= end }.map { $0 + 1 } ?? told.count
        let shown = told[..<until]
        var lines: [String] = []
        for (index, entry) in shown.enumerated() {
            let isInMiddle = index >= Self.timelineHead && index < shown.count - Self.timelineTail
            if isInMiddle {
                let left = shown.count - Self.timelineTail - Self.timelineHead
                if index == Self.timelineHead { lines.append("  ... \(left) more events") }
                continue
            }
            lines.append(Self.line(entry.0, entry.1))
        }
        if let violation = self.story.violation {
            lines.append("  \(Self.moment(violation.at))  VIOLATION  \(violation.text)")
        }
        return ["What happens (\(lines.count) of \(self.story.outcome.events) events)"] + lines
    }

    private static func line(_ observation: Observation, _ text: String) -> String {
        let scan = observation.scan == .none ? "" : "scan \(observation.scan.raw)"
        return "  \(self.moment(observation.at))  \(self.padded(StoryText.side(observation), 9)) "
            + "\(self.padded(scan, 7)) \(text)"
    }

    // MARK: Why

    private var explanation: [String] {
        let faults = self.result.plan.run.scenario.faults.map(\.id)
        var lines: [String] = []
        if self.story.differences.isEmpty { lines.append("It fails without any fault.") }
        for difference in self.story.differences.prefix(2) where difference.isNeeded {
            let with = difference.with.flatMap { StoryText.text($0, faults: faults) } ?? "something else"
            let at = difference.with.map { " at \(Self.moment($0.at).trimmed)" } ?? ""
            lines.append("Without \(difference.fault) the run passes. The first difference\(at): \(with)")
        }
        if let toggles = self.story.toggles { lines.append("Of the client: \(toggles.text)") }
        if let certain = self.story.likelihood.certainFrom {
            let first = self.story.likelihood.points.first?.failures ?? 0
            lines.append(
                first == Likelihood.forks
                    ? "It fails with all other draws that were tried (\(first) runs)"
                    : "With other draws from the start, \(first) of \(Likelihood.forks) runs fail; from \(Self.moment(certain.at).trimmed) on, all"
            )
        }
        if case .search(let failing, let all, _) = self.origin {
            lines.append("Seeds that fail in this way: \(failing) of \(all)")
        }
        return lines
    }

    /// What `replay` ends with.
    private var code: ExitCode {
        self.failure.kind == .simulation ? .internalError : .invariantBroken
    }

    private var commands: [String] {
        let whole =
            switch self.origin {
            case .search(_, _, let again): "Whole seed  \(again)"
            case .plan(let path, _): "Whole plan  \(ShellWords.line(["swiftwing-sim", "replay", path]))"
            }
        return [
            "", "Replay      swiftwing-sim replay \(self.plan)", whole,
            "Keep it     cp \(self.plan) Scenarios/regressions/",
            "digest \(Hexadecimal.text(self.result.outcome.digest, digits: 16)), replayed twice with the same result, exit code \(self.code.rawValue)",
        ]
    }

    // MARK: Layout

    static func moment(_ moment: Instant) -> String {
        let text = StoryText.seconds(moment.nanoseconds / 1_000_000) + " s"
        return String(repeating: " ", count: max(0, 10 - text.count)) + text
    }

    private static func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }

    private static func fitted(_ line: String) -> String {
        line.count <= Self.columns || line.contains("swiftwing-sim ") || line.hasPrefix("Keep")
            ? line : String(line.prefix(Self.columns - 3)) + "..."
    }
}

extension String {
    var trimmed: String { String(self.drop { $0 == " " }) }
}
