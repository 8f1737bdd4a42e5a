package import Ledger
package import Metrics
package import Observations
import RunArchive
package import RunJudge
import RunMetrics
import SimBase
import Talaria

/// Results of runs, made without a run.
package enum Samples {
    /// 2026-11-21 09:30:00 UTC.
    package static let started: Int64 = 1_795_253_400_000

    /// The invariants of a live run that imports nothing.
    package static let invariants = Invariant.everywhere.filter {
        $0 != .rowsConserved && $0 != .lookupBilledOnce && $0 != .cancelFinal && $0 != .bookAnswered
            && $0 != .bookShown && $0 != .textKeptForCause
            && !$0.rawValue.hasPrefix("review.")
    }

    package static let waiting: [WaitingCause] = [.offline, .offline, .rateLimited, .offline, .rateLimited]

    package static func head(groups: [String]) -> RunHead {
        RunHead(
            tool: "swiftwing-sim 1.0.0", machine: "2 × a processor, 4096 MiB, a system",
            scenario: ScenarioIdentity(name: "flaky-network", description: "", file: []), seed: 42,
            world: .live, started: Self.started, hasBackendView: true,
            groups: groups.map { .init(name: $0, devices: 3) }, faults: ["offline-1"],
            command: ["swiftwing-sim", "run", "flaky-network"])
    }

    /// The judge of a run that `head` describes.
    package static func settings(objectives: [SLO] = []) -> JudgeSettings {
        var settings = JudgeSettings(
            shelf: Shelf(seed: 42, booksMin: 3, booksMax: 8), ledger: .embedded)
        settings.objectives = objectives
        return settings
    }

    /// Everything held; two groups, five scans wait.
    package static func passed() -> RunResult {
        Self.passed(command: ["swiftwing-sim", "run", "flaky-network.scenario", "--seed", "42"])
    }

    package static func passed(command: [String]) -> RunResult {
        let scans = Self.scans()
        var commuters = LedgerTotals()
        commuters.scans = scans
        commuters.books.expected = 540
        commuters.books.received = 540
        commuters.books.repeated = 12
        commuters.jobs.accepted = 131
        commuters.jobs.cleaned = 122
        commuters.jobs.abandoned = 4
        commuters.jobs.expired = 5
        commuters.jobs.abandonedByCause.add(3, to: "token-expired")
        commuters.jobs.abandonedByCause.add(1, to: "app-suspended")
        var readers = LedgerTotals()
        readers.scans.captured = 6
        readers.scans.completed = 6
        var totals = commuters
        totals.add(readers)
        var head = Self.head(groups: [])
        head.scenario = ScenarioIdentity(
            name: "flaky-network", description: "Commuters scan shelves while their link keeps dropping.",
            file: Array("scenario: 1\n".utf8))
        head.groups = [.init(name: "commuters", devices: 40), .init(name: "readers", devices: 2)]
        head.command = RerunCommand.words(command)
        var result = RunResult(
            head, length: .milliseconds(34_210), totals: totals,
            groups: [commuters, readers],
            verdicts: Self.invariants.map { Self.verdict($0, .held) },
            tables: MeasuredTables(disconnections: Disconnections(Self.disconnections())),
            metrics: Self.metrics())
        result.slos = Self.slos(Self.metrics())
        result.resources = Resources(
            client: .init(processor: .milliseconds(3_204), residentBytes: 48 << 20),
            backend: .init(processor: .milliseconds(1_100), residentBytes: 31 << 20),
            streamBytes: .init(sent: 70_000, received: 900_000))
        result.add([.quoted(.note, "event streams are not written out: events are skipped and counted only")])
        result.directory = "Reports/2026-11-21T093000Z-flaky-network-42"
        result.files = ["summary.json", "report.md", "events.ndjson", "scenario.resolved"]
        return result
    }

    package static func failedSLO() -> RunResult {
        var result = Self.passed()
        for _ in 0..<20 {
            result.metrics.record(.sseFirstEventTime, .milliseconds(812), in: MetricGroup(index: 0))
        }
        result.metrics.add(1, to: .scansWaiting, in: .none)
        result.slos = Self.slos(result.metrics)
        result.exitReasons = [.latencyObjectiveFailed]
        return result
    }

    package static func brokenInvariant() -> RunResult {
        var result = Self.passed()
        func violation(_ invariant: Invariant, _ device: UInt32, _ scan: UInt32, _ text: String) -> Violation
        {
            Violation(
                invariant: invariant, device: DeviceNumber(device), scan: ScanNumber(scan),
                at: Instant(nanoseconds: 12_480_312_000), text: text, isExpected: false)
        }
        let never = (1...4).map { violation(.bookNeverLost, UInt32($0) + 16, 2, "book 4 of 6 never came") }
        result.verdicts[Self.invariants.firstIndex(of: .bookNeverLost) ?? 0] = Verdict(
            invariant: .bookNeverLost, standing: .broken, violations: 4, expected: 1, examples: never)
        result.verdicts[Self.invariants.firstIndex(of: .streamNoGap) ?? 0] = Verdict(
            invariant: .streamNoGap, standing: .brokenAsExpected, violations: 2, expected: 2,
            examples: [violation(.streamNoGap, 3, 0, "resumed behind an event that it had not applied")])
        result.totals.scans.lost = 1
        result.totals.scans.completed -= 1
        result.totals.books.missing = 4
        result.totals.books.received -= 4
        result.add([.quoted(.warning, "3 photos of Images/shelves could not be read and were left out")])
        result.exitReasons = [.invariantBroken]
        return result
    }

    package static func interrupted() -> RunResult {
        var result = Self.passed()
        result.isInterrupted = true
        result.groups.removeLast()
        result.disconnections = Disconnections()
        result.slos = []
        result.exitReasons = [.interrupted]
        return result
    }

    /// The backend process died, and the phones' timers ran late.
    package static func aborted() -> RunResult {
        var result = Self.passed()
        result.failure = "the backend process died: killed by signal 9"
        result.add([.quoted(.complaint, "timers of the phones ran 812 ms late at p99")])
        result.isInterrupted = true
        result.exitReasons = [.internalError]
        return result
    }

    /// Against somebody else's backend.
    package static func foreign() -> RunResult {
        var result = Self.passed()
        for metric in Metric.needingBackend { result.metrics.cannotKnow(metric) }
        result.metrics.cannotKnow(.fault(id: "offline-1"))
        result.hasBackendView = false
        result.verdicts = Self.invariants.map { Self.verdict($0, $0.needsBackend ? .notAvailable : .held) }
        result.slos = Self.slos(result.metrics)
        result.resources.backend = nil
        return result
    }

    /// Everything that somebody else may have written is as bad as it can be.
    package static func hostile() -> RunResult {
        let bad =
            "\u{1B}]0;x\u{7}\u{1B}[2J\r\n\u{202E}|`<img src=x>@all\u{9B}"
            + String(repeating: "書", count: 9_999)
        var result = Self.brokenInvariant()
        result.scenario = ScenarioIdentity(name: bad, description: bad, file: [])
        for index in result.verdicts.indices {
            for example in result.verdicts[index].examples.indices {
                result.verdicts[index].examples[example].text = bad
            }
        }
        result.groups[0].name = bad
        result.totals.jobs.abandonedByCause.add(1, to: bad)
        result.metrics.fired(fault: bad, in: .none)
        result.failure = bad
        result.remarks = [Remark.Kind.note, .warning, .complaint].map { .quoted($0, bad) }
        return result
    }

    // MARK: Parts

    package static func verdict(_ invariant: Invariant, _ standing: Verdict.Standing) -> Verdict {
        Verdict(invariant: invariant, standing: standing, violations: 0, expected: 0, examples: [])
    }

    private static func scans() -> ScanTotals {
        var ledger = Ledger(shelf: Shelf(seed: 42, booksMin: 3, booksMax: 8), settings: .embedded)
        let device = DeviceNumber(0)
        func record(_ scan: UInt32, _ what: PhoneObservation) {
            ledger.record(Observation(at: .zero, device: device, scan: ScanNumber(scan), what: .phone(what)))
        }
        record(0, .launched(restored: 0))
        for index in Self.waiting.indices { record(UInt32(index) + 1, .captured(scheduled: .zero)) }
        ledger.finish(
            waitingOnDisk: Self.waiting.enumerated().map {
                WaitingRecord(device: device, scan: ScanNumber(UInt32($0.offset) + 1), cause: $0.element)
            }, at: .zero)
        var scans = ledger.totals.scans
        scans.captured += 115
        scans.completed = 112
        scans.refused = 3
        return scans
    }

    package static func slos(_ metrics: MetricTable) -> [SLOResult] {
        let vocabulary = SLOVocabulary(groups: metrics.groups, faults: [])
        let texts: [(String, String, SLO.Severity)] = [
            ("sse.connect.time", "p(95) < 400ms", .error),
            ("sse.first_event.time{group:commuters}", "p(95) < 500ms", .error),
            ("sse.event.latency", "p(99) < 60ms", .error),
            ("sse.connect.failed", "rate < 1%", .error),
            ("scans.waiting", "count == 0", .warn),
            ("scans.lost", "count == 0", .error),
        ]
        return texts.compactMap { metric, condition, severity in
            guard let selector = try? MetricSelector(parsing: metric, vocabulary: vocabulary),
                let condition = try? SLOCondition(parsing: condition, for: selector.metric.kind)
            else { return nil }
            return SLO(selector: selector, condition: condition, severity: severity, abort: false)
                .evaluate(against: metrics)
        }
    }

    /// An objective as a scenario writes it; nil for one that cannot be read.
    package static func slo(_ metric: String, _ condition: String) -> SLO? {
        guard
            let selector = try? MetricSelector(
                parsing: metric, vocabulary: SLOVocabulary(groups: [], faults: [])),
            let condition = try? SLOCondition(parsing: condition, for: selector.metric.kind)
        else { return nil }
        return SLO(selector: selector, condition: condition, severity: .error, abort: false)
    }

    private static func histogram(_ milliseconds: [Int64]) -> HDRHistogram {
        milliseconds.reduce(into: HDRHistogram()) { $0.record($1 * 1_000_000) }
    }

    private static func disconnections() -> [Disconnection] {
        [
            Disconnection(
                cause: .reset, count: 42, resumed: 40, restarted: 1, gaveUp: 1,
                reconnectTime: Self.histogram([110, 240, 1_210])),
            Disconnection(
                cause: .silence, count: 0, resumed: 0, restarted: 0, gaveUp: 0, reconnectTime: HDRHistogram()),
            Disconnection(
                cause: .offline, count: 20, resumed: 20, restarted: 0, gaveUp: 0,
                reconnectTime: Self.histogram([4_100, 4_380])),
        ]
    }

    package static func metrics() -> MetricTable {
        var table = MetricTable(groups: ["commuters", "readers"])
        let group = MetricGroup(index: 0)
        for scan in Int64(1)...120 {
            table.record(.preprocessTime, .microseconds(20_000 + scan * 91), in: group)
            table.record(.uploadTime, .microseconds(180_000 + scan * 2_511), in: group)
            table.record(.uploadServiceTime, .microseconds(90_000 + scan * 1_013), in: group)
            table.record(.sseConnectTime, .microseconds(120_000 + scan * 1_602), in: group)
            table.record(.sseFirstEventTime, .microseconds(30_000 + scan * 803), in: group)
            table.record(.sseEventLatency, .microseconds(55_000 - scan * 101), in: group)
            table.record(.scanTime, .milliseconds(1_900 + scan * 61), in: group)
            table.record(.generatorLateness, .microseconds(80 + scan * 4), in: group)
            table.record(.uploadFailed, failed: scan % 24 == 0, in: group)
            table.record(.sseConnectFailed, failed: false, in: group)
        }
        table.record(.resultsFailed, failed: true, in: group)
        table.add(6, to: .scansCompleted, in: MetricGroup(index: 1))
        table.add(5, to: .scansWaiting, in: group)
        table.add(720, to: .sseEvents, in: group)
        table.add(31, to: .ssePings, in: group)
        table.add(60, to: .sseResumes, in: group)
        table.add(1, to: .sseRestarts, in: group)
        table.add(2, to: .sseUnknown, in: group)
        for (status, count) in [(200, 240), (202, 131), (429, 28)] {
            for _ in 0..<count { table.answered(status: status, in: group) }
        }
        for id in ["rate-limit-1", "strip-books-1", "reset-1", "expire-token-1", "offline-1"] {
            table.declare(fault: id)
        }
        for (id, count) in [("rate-limit-1", 28), ("strip-books-1", 31), ("reset-1", 42), ("offline-1", 20)] {
            for _ in 0..<count { table.fired(fault: id, in: group) }
        }
        return table
    }
}
