import EventLoop
import Faults
import Plan
import Reports
import RunArchive
import RunDriver
import RunJudge
import Search
import SimBase
import SystemIO
import VirtualWorld

/// What a search prints and writes at its end: its failures, grouped by invariant and shape of the smallest plan, and what no
/// seed reached.
struct CampaignReport {
    /// Failing seeds that are named.
    private static let seedsNamed = 5
    /// Situations and kinds of faults that are named.
    private static let namesMax = 12
    /// Seeds from which on every kind of fault must have fired in one of them.
    static let seedsForAllFaults = 1_000

    /// Failures of one kind whose smallest plans have one shape and need the same deviations of their client.
    private struct Group {
        var kind: FailureKind
        var shape: PlanShape
        var client: ClientBisection?
        /// The smallest of them.
        var best: ShrunkFailure
        var seeds: [UInt64]
    }

    private let request: CampaignRequest
    private let findings: CampaignFindings
    private let console: Console
    private let groups: [Group]

    init(_ request: CampaignRequest, _ findings: CampaignFindings, console: Console) {
        self.request = request
        self.findings = findings
        self.console = console
        self.groups = Self.groups(of: findings)
    }

    private var tally: CampaignTally { self.findings.tally }

    /// Writes the plans and reports of the failures, prints the summary, and returns the exit code.
    func finish() -> ExitCode {
        var failures: [OutputError.Failure] = []
        var causes: [ClientBisection] = []
        for group in self.groups {
            let isKnown = group.client.map { $0.isCause && causes.contains($0) } ?? false
            failures += self.tell(group, isShort: isKnown)
            if let cause = group.client { causes.append(cause) }
        }
        for line in self.summary { self.console.outFolded(line) }
        guard failures.isEmpty else {
            self.console.error("swiftwing-sim: \(OutputError(failures: failures, saved: []))")
            return .cannotWrite
        }
        return self.code
    }

    private static func groups(of findings: CampaignFindings) -> [Group] {
        var groups: [Group] = []
        for failure in findings.shrunk {
            guard let plan = failure.result?.plan else { continue }
            let shape = PlanShape(plan)
            let client = ClientBisection.causes(behind: failure.kind, in: plan)
            let index = groups.firstIndex {
                $0.kind == failure.kind && $0.shape == shape && $0.client == client
            }
            if let index {
                groups[index].seeds.append(failure.seed)
            } else {
                groups.append(
                    Group(
                        kind: failure.kind, shape: shape, client: client, best: failure,
                        seeds: [failure.seed]))
            }
        }
        return groups.sorted { ($0.kind, $0.shape) < ($1.kind, $1.shape) }
    }

    // MARK: One failure

    /// Prints and saves the report of a group's smallest plan; a line of it where another group of the same cause was printed.
    private func tell(_ group: Group, isShort: Bool) -> [OutputError.Failure] {
        guard let result = group.best.result else { return [] }
        let origin = FailureOrigin.search(
            failing: self.tally.failures[group.kind]?.count ?? 0, of: self.tally.seeds,
            again: self.again(group.best.seed))
        return FailureFiles(folder: self.request.output, console: self.console)
            .tell(
                group.best, result, origin, recipe: self.request.plans.recipe(of: group.best.seed),
                isShort: isShort)
    }

    private func again(_ seed: UInt64) -> String {
        let words = self.request.words + ["--seeds", "\(seed)..\(seed)"]
        return ShellWords.line(["swiftwing-sim"] + words)
    }

    // MARK: The summary

    private var summary: [String] {
        let tally = self.tally
        let scenario = self.request.plans.scenario
        let missed = tally.unreached.filter { scenario.lacks(for: $0) == nil }
        let impossible = tally.unreached.compactMap { goal in
            scenario.lacks(for: goal).map { (need: $0, goal: goal) }
        }
        let milliseconds = max(1, self.findings.searchTime.wholeMilliseconds)
        var lines = [
            "\(Self.count(tally.seeds, "seed")) (\(self.request.seeds.text), faults: \(self.request.plans.source.rawValue)), \(Self.count(tally.scans, "scan")), \(tally.events) events in \(StoryText.time(self.findings.searchTime)): \(Int64(tally.seeds) * 1_000 / milliseconds) seeds/s, \(Int64(tally.events) * 1_000 / milliseconds) events/s, \(Self.count(self.request.jobs, "process", "processes"))"
        ]
        if let end = self.findings.endedEarly { lines.append("ended early: \(Self.text(end))") }
        for kind in tally.kinds { lines.append(self.line(of: kind)) }
        for group in self.groups {
            let client = group.client.map { "; \($0.text)" } ?? ""
            lines.append("  \(group.kind.name): \(group.shape.text)\(client) (\(group.seeds.count) shrunk)")
        }
        lines += self.simulationErrors
        if tally.scans == 0 { lines.append("not trustworthy: no scan was captured") }
        if !self.neverReached.isEmpty {
            lines.append("not trustworthy: no seed reached \(self.neverReached.joined(separator: ", "))")
        }
        if self.code == .success { lines.append("no failures") }
        lines.append(
            "situations: \(CoverageGoal.allCases.count - tally.unreached.count) of \(CoverageGoal.allCases.count) reached"
                + Self.list("; not reached: ", missed.map(\.rawValue))
                + Self.list("; not possible without ", impossible.map { "\($0.need): \($0.goal.rawValue)" }))
        if self.request.plans.source != .file { lines.append(self.faults) }
        lines.append(
            "digest \(Hexadecimal.text(tally.digest, digits: 16)); \(Self.count(self.findings.repeats, "seed")) run again alone, \(self.findings.unequal.count) with another result"
        )
        return lines
    }

    /// How many kinds of faults fired, of those that the fleet can meet.
    private var faults: String {
        let scenario = self.request.plans.scenario
        let unfired = self.tally.unfired.filter { scenario.lacks(forFault: $0) == nil }
        let impossible = self.tally.unfired.compactMap { fault in
            scenario.lacks(forFault: fault).map { "\(fault) without \($0)" }
        }
        let possible = FaultTable.all.count - impossible.count
        return "faults: \(possible - unfired.count) of \(possible) kinds fired"
            + Self.list("; not fired: ", unfired) + Self.list("; not possible: ", impossible)
    }

    private func line(of kind: FailureKind) -> String {
        let seeds = self.tally.failures[kind] ?? []
        let client = kind.client.map { " (client \($0))" } ?? ""
        let named = seeds.prefix(Self.seedsNamed).map(String.init).joined(separator: ", ")
        let more = seeds.count > Self.seedsNamed ? ", ..." : ""
        return
            "FAIL  \(kind.name)\(client): \(Self.count(seeds.count, "seed")) (\(named)\(more))"
    }

    private var simulationErrors: [String] {
        var lines: [String] = []
        if let first = self.tally.firstFailure { lines.append("  seed \(first.seed): \(first.text)") }
        for crash in self.findings.crashes {
            lines.append("FAIL  seed \(crash.seed): the simulation was \(crash.cause)")
            lines.append(
                crash.lastEvent.map { "  the last event, with its time in ns: \($0)" }
                    ?? "  its last event is not known: run alone, the seed did not crash")
            lines += crash.complaint.map { "    " + $0 }
        }
        let missing = self.findings.missing(of: self.request.seeds.count)
        if missing > 0 { lines.append("FAIL  no result of \(Self.count(missing, "seed"))") }
        if self.findings.unrepeated > 0 {
            lines.append(
                "FAIL  no second result of \(self.findings.unrepeated) seeds that were run again alone")
        }
        for seed in self.findings.unsteady {
            lines.append("FAIL  seed \(seed) did not fail alike when it was run again")
        }
        for seed in self.findings.unequal {
            lines.append("FAIL  seed \(seed) had another digest when it was run alone")
        }
        return lines
    }

    private static func text(_ end: CampaignEnd) -> String {
        switch end {
        case .interrupted: "interrupted"
        case .budget(let time): "the time of --budget, \(StoryText.time(time)), is over"
        case .failures: "as many seeds fail as --stop-after allows"
        }
    }

    /// `1 seed`, `2 seeds`.
    private static func count(_ count: Int, _ one: String, _ many: String? = nil) -> String {
        "\(count) \(count == 1 ? one : many ?? one + "s")"
    }

    private static func list(_ lead: String, _ names: [String]) -> String {
        guard !names.isEmpty else { return "" }
        let more = names.count > Self.namesMax ? " and \(names.count - Self.namesMax) more" : ""
        return lead + names.prefix(Self.namesMax).joined(separator: ", ") + more
    }

    // MARK: The exit code

    private var code: ExitCode {
        let hasErrors = self.tally.kinds.contains(.simulation) || !self.findings.crashes.isEmpty
        let isUnsteady = !self.findings.unequal.isEmpty || !self.findings.unsteady.isEmpty
        let isIncomplete =
            self.findings.missing(of: self.request.seeds.count) > 0 || self.findings.unrepeated > 0
        let conditions: [(ExitReason, Bool)] = [
            (.invariantBroken, self.tally.kinds.contains { $0 != .simulation }),
            (.internalError, hasErrors || isUnsteady || isIncomplete),
            (.interrupted, self.findings.endedEarly == .interrupted),
            (.nothingCaptured, self.tally.scans == 0),
            (.situationNotReached, !self.neverReached.isEmpty),
            (.searchTooShort, self.isTooShort),
        ]
        return ExitReasons(conditions.filter(\.1).map(\.0)).exit
    }

    /// Whether its budget was over before a hundredth of its seeds had run: such a search shows nothing.
    private var isTooShort: Bool {
        guard case .budget? = self.findings.endedEarly else { return false }
        return self.tally.seeds * 100 < self.request.seeds.count
    }

    /// What a whole search must have come to, or it has tried too little.
    private var neverReached: [String] {
        guard self.findings.endedEarly == nil else { return [] }
        let goals = self.request.goals.filter { goal in self.tally.unreached.contains { $0.rawValue == goal }
        }
        let isLong = self.request.plans.source == .swarm && self.tally.seeds >= Self.seedsForAllFaults
        let scenario = self.request.plans.scenario
        return goals + (isLong ? self.tally.unfired.filter { scenario.lacks(forFault: $0) == nil } : [])
    }
}
