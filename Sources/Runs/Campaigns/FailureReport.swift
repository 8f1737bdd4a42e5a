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
import Talaria
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
    private static let linesMax = 44
    /// Lines that one sentence may take.
    private static let foldsMax = 3
    private static let capturesMax = 3
    private static let faultsMax = 4
    private static let remainsMax = 2
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
        let end = (["  At the end: " + self.remains] + [""] + self.explanation).flatMap { Self.folded($0) }
        let after = end + self.commands
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
        let noun = violation.device.map { WorkNoun(self.journey(of: $0)) } ?? WorkNoun(.scan)
        let scan = violation.scan == .none ? nil : "\(noun.one) \(violation.scan.raw)"
        let subject = [phone, scan].compactMap(\.self).joined(separator: ", ")
        return (subject.isEmpty ? "" : subject + ": ") + violation.text
    }

    /// What a phone of the plan does.
    func journey(of device: DeviceNumber) -> Journey { self.result.plan.run.journey(of: device) }

    private var head: [String] {
        var lines = [self.title]
        if case .invariant(let invariant, _) = self.failure.kind {
            lines.append("      expected: \(invariant.statement)")
        }
        if case .plan(_, let live?) = self.origin { lines.append("      live: \(Self.text(live))") }
        return lines + self.clientLines
    }

    /// The deviations of the client without which the plan passes.
    private var clientLines: [String] {
        guard let client = self.story.client else { return [] }
        guard client.isCause else { return ["      client: \(client.text)"] }
        let own = self.failure.kind.client.flatMap { ProfileTable.named($0)?.toggles } ?? []
        return client.needed.map { toggle in
            let origin = own.contains(toggle) ? "of that client" : "which the scenario switches on"
            return
                "      cause: \(toggle.key), \(origin): \(toggle.title) (\(toggle.source)). With it off, the run passes."
        }
            + client.settings.map {
                "      cause: `\($0)`, which the scenario sets. With the value of the profile, the run passes."
            }
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
        let captures = self.result.plan.captures ?? []
        var lines = [
            "Smallest plan: \(self.counts(self.failure.original, before.faults)) reduced to \(self.counts(self.result.plan, after.faults)) in \(self.result.trials) runs"
                + self.proof(after.faults.count)
        ]
        for capture in captures.prefix(Self.capturesMax) {
            lines.append(
                "  photo    \(Self.moment(capture.scheduled).trimmed)  phone \(capture.device.raw) takes its photo \(capture.ordinal)"
            )
        }
        if captures.count > Self.capturesMax {
            lines.append("  and \(captures.count - Self.capturesMax) more photos")
        }
        for fault in after.faults.prefix(Self.faultsMax) {
            lines.append("  fault    \(fault.id) \(FaultSentence.text(fault))")
        }
        if after.faults.count > Self.faultsMax {
            lines.append("  and \(after.faults.count - Self.faultsMax) more faults")
        }
        return lines
    }

    private func proof(_ faults: Int) -> String {
        guard self.result.isConfirmed else { return "; the search for a smaller one was not finished" }
        return faults > 0 ? "; without any one of them it passes" : ""
    }

    private func counts(_ plan: WorldPlan, _ faults: [FaultSpec]) -> String {
        let scans = plan.captures?.count ?? plan.run.expectedArrivals.scans
        return Figures.count(scans, "scan", "scans") + " and "
            + Figures.count(faults.count, "fault", "faults")
    }

    // MARK: The timeline

    /// At most so many lines, with the heading and the violation.
    private func timeline(linesMax: Int) -> [String] {
        let violation = self.story.violation.map {
            let when = $0.at == self.result.outcome.endedAt ? " (judged at the end of the run)" : ""
            return Self.folded("  \(Self.moment($0.at))  VIOLATION  \($0.text)\(when)", indent: 25)
        }
        let faults = self.result.plan.run.scenario.faults.map(\.id)
        let end = self.story.violation?.at ?? .distantFuture
        var told: [(Observation, String)] = []
        for observation in StoryOrder.causesFirst(self.story.observations) where observation.at <= end {
            guard let text = StoryText.text(observation, self.journey(of: observation.device), faults: faults)
            else { continue }
            if let last = told.last?.0, StoryOrder.isArrival(observation, of: last) {
                told[told.count - 1].1 += ", received at once"
            } else {
                told.append((observation, text))
            }
        }
        let excerpt = TimelineExcerpt(
            marks: told.map { Self.mark($0.0) }, linesMax: linesMax - 1 - (violation?.count ?? 0))
        let lines = excerpt.parts.flatMap { part -> [String] in
            switch part {
            case .lines(let range): told[range].map { Self.fitted(self.line($0.0, $0.1)) }
            case .left(let count): ["  ... \(Figures.count(count, "line", "lines")) left out"]
            }
        }
        return ["What happens, by the clock of the run (event ids are milliseconds since 1970):"] + lines
            + (violation ?? [])
    }

    /// The fault that begins or acts; nil for any other observation.
    private static func mark(_ observation: Observation) -> Int? {
        switch observation.what {
        case .fault(.fired(let fault, _, _)), .fault(.began(let fault)): fault
        case .fault, .phone, .backend, .network, .control: nil
        }
    }

    /// What the user has at the end of the run: `scan 1 is not finished; 0 of 1 book in the library`.
    private var remains: String {
        guard let violation = self.story.violation else { return "see the report of a replay" }
        let scans =
            violation.scan == .none
            ? Set(self.story.observations.map(\.scan)).subtracting([.none]).sorted { $0.raw < $1.raw }
            : [violation.scan]
        guard let device = violation.device, !scans.isEmpty else { return "see the report of a replay" }
        let noun = WorkNoun(self.journey(of: device))
        let more = scans.count - Self.remainsMax
        return scans.prefix(Self.remainsMax).map { scan in
            ScanRemains(self.story.observations.filter { $0.scan == scan }).text(scan, noun)
        }.joined(separator: "; ") + (more > 0 ? "; and \(Figures.count(more, noun)) more" : "")
    }

    private func line(_ observation: Observation, _ text: String) -> String {
        let noun = WorkNoun(self.journey(of: observation.device))
        let scan = observation.scan == .none ? "" : "\(noun.one) \(observation.scan.raw)"
        return
            "  \(Self.moment(observation.at))  \(Self.padded(StoryText.side(observation), 9)) "
            + "\(Self.padded(scan, 7)) \(text)"
    }

    // MARK: Why

    private var explanation: [String] {
        let faults = self.result.plan.run.scenario.faults.map(\.id)
        var lines: [String] = []
        if self.story.differences.isEmpty { lines.append("It fails without any fault.") }
        for difference in self.story.differences.prefix(2) where difference.isNeeded {
            func step(_ observation: Observation?) -> String {
                guard let observation else { return "nothing more" }
                let what =
                    StoryText.text(observation, self.journey(of: observation.device), faults: faults)
                    ?? "something that is not told"
                return "\(StoryText.side(observation)), \(what) (\(Self.moment(observation.at).trimmed))"
            }
            let at = [difference.with?.at, difference.without?.at].compactMap(\.self).min()
            let first = at.map {
                " The runs differ from \(Self.moment($0).trimmed) on. With it: \(step(difference.with)). Without it: \(step(difference.without))."
            }
            lines.append("Without \(difference.fault) the run passes.\(first ?? "")")
        }
        if let certain = self.story.likelihood.certainFrom {
            let first = self.story.likelihood.points.first?.failures ?? 0
            let all = Likelihood.forks
            lines.append(
                first == all
                    ? "Chance plays no part: all \(all) runs of the smallest plan with other random values fail, too."
                    : "Of \(all) runs of the smallest plan with other random values from the start, \(first) fail; with other ones from \(Self.moment(certain.at).trimmed) on, all."
            )
        }
        if case .search(let failing, let all, _) = self.origin {
            lines.append(
                "Seeds of the search, each with other faults, that fail in this way: \(failing) of \(all).")
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
        let digest = Hexadecimal.text(self.result.outcome.digest, digits: 16)
        return [
            "", "Replay      swiftwing-sim replay \(self.plan)",
            "All lines   swiftwing-sim inspect Reports/latest\(self.subject), after the replay", whole,
            "Keep it     cp \(self.plan) Scenarios/regressions/",
            "`replay` ends with exit code \(self.code.rawValue); two replays were equal (digest \(digest))",
        ]
    }

    /// The options of `inspect` for the phone and the scan that the failure is about.
    private var subject: String {
        guard let violation = self.story.violation, let device = violation.device else { return "" }
        let scan = violation.scan == .none ? "" : " --scan \(violation.scan.raw)"
        return " --phone \(device.raw)\(scan)"
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
        guard line.count > Self.columns else { return line }
        let room = line.prefix(Self.columns - 3)
        // A word is cut only if it fills half a line by itself.
        let end = room.lastIndex(of: " ").map { room.distance(from: room.startIndex, to: $0) } ?? 0
        return (end > Self.columns / 2 ? String(room.prefix(end)) + " " : String(room)) + "..."
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
