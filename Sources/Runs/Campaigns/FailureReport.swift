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
    private static let linesMax = 45
    /// Lines of the timeline: the first ones, and at most so many before the violation.
    private static let timelineHead = 6
    private static let timelineTail = 12
    /// Lines that one sentence may take.
    private static let foldsMax = 3
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
        let before = (self.head + [""] + self.smallest + [""]).flatMap { Self.folded($0) }
        let after = ([""] + self.explanation).flatMap { Self.folded($0) } + self.commands
        let lines = before + self.timeline(linesMax: Self.linesMax - before.count - after.count) + after
        return lines.joined(separator: "\n") + "\n"
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
        return Figures.count(scans, "scan", "scans") + " and "
            + Figures.count(faults.count, "fault", "faults")
    }

    // MARK: The timeline

    /// At most so many lines, with the heading and the violation: fewer events before the violation are shown if the
    /// rest of the report is long.
    private func timeline(linesMax: Int) -> [String] {
        let violation = self.story.violation.map {
            Self.folded("  \(Self.moment($0.at))  VIOLATION  \($0.text)", indent: 25)
        }
        let tail = max(3, min(Self.timelineTail, linesMax - 2 - Self.timelineHead - (violation?.count ?? 0)))
        let faults = self.result.plan.run.scenario.faults.map(\.id)
        let told = self.story.observations.compactMap { observation in
            StoryText.text(observation, faults: faults).map { (observation, $0) }
        }
        let end = self.story.violation?.at ?? .distantFuture
        let until = told.lastIndex { $0.0.at <= end }.map { $0 + 1 } ?? told.count
        let shown = told[..<until]
        var lines: [String] = []
        for (index, entry) in shown.enumerated() {
            let isInMiddle = index >= Self.timelineHead && index < shown.count - tail
            if isInMiddle {
                let left = shown.count - tail - Self.timelineHead
                if index == Self.timelineHead { lines.append("  ... \(left) more lines") }
                continue
            }
            lines.append(Self.fitted(Self.line(entry.0, entry.1)))
        }
        return ["What happens, by the clock of the run:"] + lines + (violation ?? [])
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
            let first = difference.with.map { observation in
                let what = StoryText.text(observation, faults: faults)
                return ", and differs from \(Self.moment(observation.at).trimmed) on"
                    + (what.map { " (here: \(StoryText.side(observation)), \($0))" } ?? "")
            }
            lines.append("Without \(difference.fault) the run passes\(first ?? "").")
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
        line.count <= Self.columns ? line : String(line.prefix(Self.columns - 3)) + "..."
    }

    /// The text in lines of at most 100 columns, broken at spaces; what does not fit in the last line is cut.
    private static func folded(_ text: String, indent: Int = 6) -> [String] {
        var lines: [String] = []
        var rest = text[...]
        while rest.count > Self.columns, lines.count < Self.foldsMax - 1 {
            let room = rest.prefix(Self.columns + 1)
            guard let blank = room.lastIndex(of: " "),
                rest.distance(from: rest.startIndex, to: blank) > indent + 1
            else { break }
            lines.append(String(rest[..<blank]))
            rest = String(repeating: " ", count: indent) + rest[rest.index(after: blank)...]
        }
        return lines + [Self.fitted(String(rest))]
    }
}

extension String {
    var trimmed: String { String(self.drop { $0 == " " }) }
}
