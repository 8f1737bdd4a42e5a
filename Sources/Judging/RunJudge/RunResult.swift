package import Ledger
package import Metrics
package import RunMetrics
package import SimBase
package import Talaria

/// Everything that a report says about a run: all formats are made from this one value and from nothing else.
package struct RunResult: Sendable {
    // MARK: What ran

    /// Name and version of this program: `swiftwing-sim 1.0.0`.
    package var tool: String
    /// The machine of a live run; nil for a virtual run, or if it was not recorded.
    package var machine: String?
    package var scenario: ScenarioIdentity
    package var seed: UInt64
    package var world: WorldKind
    /// The wall clock at the start: milliseconds since 1970, UTC.
    package var started: Int64
    /// The time from the start to the end of the last phone.
    package var length: Interval
    /// The groups in the order of the scenario.
    package var groups: [GroupResult]
    package var labels: RunLabels

    // MARK: How it ended

    package var isInterrupted = false
    /// The reason why the run ended early, in one sentence: the backend process died, the target went away.
    package var failure: String?
    /// Which objective ended the run before its time, in one sentence.
    package var endedEarly: String?
    /// Why it did not pass; empty if it did.
    package var exitReasons: ExitReasons

    // MARK: What was found

    /// Whether the simulated backend's own observations were heard. Without them what only it can know is `n/a`.
    package var hasBackendView: Bool
    /// The totals of the whole fleet, including phones without a group.
    package var totals: LedgerTotals
    package var verdicts: [Verdict]
    package var slos: [SLOResult] = []
    package var disconnections: Disconnections
    /// The deviations from the contract in the server's responses and events.
    package var findings: FindingsTable
    package var metrics: MetricTable
    package var resources = Resources(client: nil, backend: nil)
    /// Open event streams, by the simulated backend's own count; nil if they were not counted.
    package var streamsOpen: GaugeSeries?
    /// The failures that the scenario expects.
    package var expectations = Expectations.none
    /// Coverage goals of the scenario that this run did not reach: it has not tested its subject.
    package var unreached: [CoverageGoal] = []
    /// What the operator did to the run while it ran, in the order of time.
    package var controls: [ControlRecord] = []
    /// Captures that were due and that the operator held back.
    package var heldBack = 0
    /// The time for which the operator held phones of closed groups.
    package var heldTime = PhoneTime.zero
    /// What a load in steps found; nil for every other load.
    package var capacity: CapacitySummary?
    /// What became of the rollout; nil in a run without one.
    package var rollout: RolloutSummary?
    /// Whether phones of the fleet are missing in it.
    package var isPartial = false
    /// Whether its phones are a part of the fleet, and others are merged with it.
    package internal(set) var isShard: Bool
    /// The time that unfinished scans had after the last arrival; nil if they had none.
    package var drained: Interval?
    /// Where the time of its slow scans went; nil if that is not known.
    package var slow: SlowTime?
    /// The errors as the phones saw them, the most frequent first.
    package var errors: [ErrorSummary.Row] = []

    // MARK: What else the reader must know

    package var remarks: [Remark] = []

    // MARK: Where it is

    /// The folder, as the user would name it; nil when nothing was written.
    package var directory: String?
    /// Names of the files in it, once they are written.
    package var files: [String] = []
    /// The words of the command that runs it again, unquoted and without secrets:
    /// `["swiftwing-sim", "run", "flaky-network", …]`.
    package var command: [String]
    /// The links of phones that have more than one in a run.
    package var itineraries: [RunConditions.Itinerary]

    /// `groups`: the totals of the groups of `head`, in their order.
    package init(
        _ head: RunHead, length: Interval, exitReasons: ExitReasons = [], totals: LedgerTotals,
        groups: [LedgerTotals],
        verdicts: [Verdict], tables: MeasuredTables, metrics: MetricTable
    ) {
        self.tool = head.tool
        self.machine = head.machine
        self.scenario = head.scenario
        self.seed = head.seed
        self.world = head.world
        self.started = head.started
        self.length = length
        let phones = head.phonesByGroup
        self.groups = zip(head.groups.indices, groups).map { index, totals in
            GroupResult(
                name: head.groups[index].name, devices: phones[index], journey: head.groups[index].journey,
                deviations: head.groups[index].deviations, totals: totals)
        }
        self.labels = head.labels
        self.isShard = !head.shard.isWhole
        self.exitReasons = exitReasons
        self.hasBackendView = head.hasBackendView
        self.totals = totals
        self.verdicts = verdicts
        self.disconnections = tables.disconnections
        self.findings = tables.findings
        self.metrics = metrics
        self.command = head.command
        self.itineraries = head.conditions.itineraries
    }

    /// Within 1 % of a gauge's peak.
    package static func nearPeak(_ count: Int) -> Int { count - count / 100 }

    /// Whether the load was the requested one, and was measured. A saturated generator measures itself.
    package var isTrustworthy: Bool { !self.remarks.contains { $0.kind == .complaint } }

    package mutating func take(_ errors: ErrorSummary) { self.errors = errors.byCount }

    package var devices: Int { self.groups.reduce(0) { $0 + $1.devices } }

    /// The limit of `scan.time` that the run did not meet; the lowest of several.
    package var scanTimeMissed: Interval? { self.scanTimeLimits(where: \.isBreach).min() }

    /// The limit of `scan.time` above which a scan is slow: the one that was missed, else the highest.
    package var scanTimeLimit: Interval? { self.scanTimeMissed ?? self.scanTimeLimits { _ in true }.max() }

    private func scanTimeLimits(where isMeant: (SLOResult) -> Bool) -> [Interval] {
        self.slos.compactMap { result in
            guard isMeant(result), result.slo.selector.metric == .latency(.scanTime),
                result.slo.condition.comparison == .less || result.slo.condition.comparison == .lessOrEqual,
                case .time(let nanoseconds) = result.slo.condition.threshold
            else { return nil }
            return Interval(nanoseconds: nanoseconds)
        }
    }

    /// The phones that the examples of broken invariants name, in the order of these, with the number of examples.
    package var violators: [(device: DeviceNumber, violations: Int)] {
        let broken = self.verdicts.filter { $0.standing == .broken || $0.standing == .brokenAsExpected }
        let all = broken.flatMap(\.examples)
        let first = broken.compactMap(\.examples.first).sorted { $0.at < $1.at }
        return (first + all).compactMap(\.device).reduce(into: []) { found, device in
            guard !found.contains(where: { $0.device == device }) else { return }
            found.append((device, all.count { $0.device == device }))
        }
    }

    /// The exit of the process (Docs/design.md section 4).
    package var exit: ExitCode { self.exitReasons.exit }

    /// Decides the exit code. `failures`: those of the program itself.
    mutating func judge(failures: ExitReasons) {
        self.exitReasons = self.judgement(failures: failures).reasons
    }

    func judgement(failures: ExitReasons) -> Judgement {
        var judgement = Judgement(
            verdicts: self.verdicts, totals: self.totals, slos: self.slos, failures: failures,
            isLoadComplete: self.isTrustworthy, isInterrupted: self.isInterrupted,
            expectations: self.expectations)
        judgement.groups = self.groupVerdicts
        judgement.isPartial = self.isPartial
        judgement.isEndedByObjective = self.endedEarly != nil
        judgement.lacksSituations = !self.unreached.isEmpty
        return judgement
    }

    /// The verdicts on each group.
    package var groupVerdicts: [GroupVerdicts] { self.groups.map { GroupVerdicts($0.name, $0.verdicts) } }

    /// Takes what the scenario expects to break off the verdicts.
    package mutating func expect(_ expectations: Expectations) {
        self.expectations = expectations
        let applied = expectations.applied(to: self.verdicts, self.groupVerdicts)
        self.verdicts = applied.fleet
        for index in self.groups.indices { self.groups[index].verdicts = applied.groups[index].verdicts }
    }

    /// Records that results could not be written. An earlier failure stays.
    package mutating func failOutput(_ text: String) {
        self.exitReasons.insert(.cannotWrite)
        self.failure = self.failure ?? text
    }
}

/// In which of the two worlds a run was made (Docs/design.md section 1).
package enum WorldKind: String, Hashable, Sendable {
    case live, virtual

    /// The name in reports for users.
    package var mode: String {
        switch self {
        case .live: "live"
        case .virtual: "simulated"
        }
    }
}

/// Which scenario ran.
package struct ScenarioIdentity: Hashable, Sendable {
    package var name: String
    package var description: String
    /// The SHA-256 of the file in lowercase hexadecimal.
    package var sha256: String

    package init(name: String, description: String, sha256: String) {
        self.name = name
        self.description = description
        self.sha256 = sha256
    }
}

/// One group of the fleet.
package struct GroupResult: Equatable, Sendable {
    package var name: String
    package var devices: Int
    package var journey = Journey.scan
    /// What its phones do otherwise than the client of the contract.
    package var deviations: [String] = []
    package var totals: LedgerTotals
    /// The verdicts of the run, on the phones of this group.
    package var verdicts: [Verdict] = []
    package var tables = MeasuredTables()
    package var errors = ErrorSummary()

    /// The name, with what the phones do where it is not a scan.
    package var title: String {
        self.journey == .scan ? self.name : "\(self.name) (\(self.journey.rawValue))"
    }
}

/// The resource usage of the processes; nil if it could not be measured.
package struct Resources: Hashable, Sendable {
    package struct Usage: Hashable, Sendable {
        /// Whole milliseconds, as in `summary.json`: a report that is made from the files rounds the same value.
        package let processor: Interval
        /// The largest resident size.
        package let residentBytes: Int64

        package init(processor: Interval, residentBytes: Int64) {
            self.processor = .milliseconds((processor.nanoseconds + 500_000) / 1_000_000)
            self.residentBytes = residentBytes
        }
    }

    /// Bytes on the connections of streams, with heads and TLS, as the phones send and receive them.
    package struct StreamBytes: Hashable, Sendable {
        package var sent: Int64
        package var received: Int64

        package init(sent: Int64, received: Int64) {
            self.sent = sent
            self.received = received
        }
    }

    package var client: Usage?
    package var backend: Usage?
    /// Nil where they were not counted: in the virtual world, and by libcurl.
    package var streamBytes: StreamBytes?

    package init(client: Usage?, backend: Usage?, streamBytes: StreamBytes? = nil) {
        self.client = client
        self.backend = backend
        self.streamBytes = streamBytes
    }
}
